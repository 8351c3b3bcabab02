//! Signing as a whole: against the RFCs' examples, against other signers and validators, and for zones of any shape.

mod again;
mod appendices;
mod bind_tools;
mod common;
mod files;
mod folder;
mod given;
mod key_text;
mod offline;
mod previous;
mod refused;
mod retired;
mod shapes;
mod validators;
mod verifying;
mod warned;
mod zonemd;
