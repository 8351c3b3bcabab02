//! Names and addresses that users type.

use crate::errors::{Kind, exception};
use dnsrig_zone::Name;
use pyo3::prelude::*;
use std::net::IpAddr;
use std::str::FromStr;

/// Reads a domain name that a user typed; the final dot may be missing.
pub fn parse_name(text: &str) -> PyResult<Name> {
    Name::from_str(text).map_err(|error| {
        exception(
            Kind::Input,
            format!("'{text}' is not a domain name: {error}; write one such as example.test."),
        )
    })
}

/// Reads an IP address; names are not looked up, since a load goes to one known address.
pub fn parse_address(text: &str) -> PyResult<IpAddr> {
    text.parse().map_err(|_| {
        exception(
            Kind::Input,
            format!("'{text}' is not an IP address; give one such as 127.0.0.1 or ::1"),
        )
    })
}
