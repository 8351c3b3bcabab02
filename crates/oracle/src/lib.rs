//! Tests only: what the simulated Internet answers, judged by the validator of the crate domain (`tests/validator`).
//!
//! A crate of its own, tested by itself: what it takes of domain is in no other build.
