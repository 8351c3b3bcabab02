//! The crate as its users see it: one program, since linking takes longer than most of these tests.

mod capture;
mod capture_damage;
mod capture_tools;
#[path = "../common/captures.rs"]
mod captures;
#[path = "../common/mod.rs"]
mod common;
mod messages;
mod synthesis;
mod text;
#[path = "../common/tools.rs"]
mod tools;
