//! Compares the responder with real authoritative servers and validators on the same zones.

mod compare;
mod questions;
mod servers;
mod signed;
mod validate;
