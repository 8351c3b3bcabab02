//! TLS, as sessions over TCP and QUIC have it: cipher suites and certificates, from the settings to what rustls wants.

mod certificates;
mod suites;

pub use certificates::verifier;
pub use suites::provider;

use crate::LoadError;

/// An error of a setting.
pub fn setting(option: &'static str, reason: String) -> LoadError {
    LoadError::Setting { option, reason }
}
