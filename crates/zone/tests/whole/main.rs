//! The crate as its users see it: one program, since linking takes longer than most of these tests.

mod flow;
mod flow_cases;
mod generate;
mod generate_models;
mod oracle;
mod properties;
mod read;
mod tools;
mod tools_check;
mod write;
#[path = "../zones/mod.rs"]
mod zones;
