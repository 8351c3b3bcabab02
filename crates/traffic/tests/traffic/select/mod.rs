//! Streams made of captures: filtered, partitioned, sampled, mixed, converted, warped.

mod captures;
mod converting;
mod filtering;
mod mixing;
mod partitioning;
mod sampling;
mod warping;
