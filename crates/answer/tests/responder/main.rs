//! The responder and the server by themselves.

mod answers;
mod encrypted;
mod properties;
mod serving;
mod test_zone;
