//! Keys, their files and tokens: against BIND's, Knot's and ldns' tools, and SoftHSM.

mod common;
mod directory;
mod files;
mod oracles;
mod token;
