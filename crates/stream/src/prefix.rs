//! Address prefixes such as `192.0.2.0/24`.

use serde::Deserialize;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// An IPv4 or IPv6 prefix; the address has no bits beyond its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Prefix {
    address: IpAddr,
    len: u8,
}

impl Prefix {
    /// The address.
    pub fn address(&self) -> IpAddr {
        self.address
    }

    /// The number of bits that count.
    pub fn len(&self) -> u8 {
        self.len
    }

    /// Whether no bit counts, so that every address of the family is inside.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether `address` is inside.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.address.is_ipv4() == address.is_ipv4() && masked(address, self.len) == self.address
    }
}

/// `address` with the bits beyond the first `len` cleared.
fn masked(address: IpAddr, len: u8) -> IpAddr {
    match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(len)).unwrap_or(0);
            Ipv4Addr::from_bits(address.to_bits() & mask).into()
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(len)).unwrap_or(0);
            Ipv6Addr::from_bits(address.to_bits() & mask).into()
        }
    }
}

impl FromStr for Prefix {
    type Err = String;

    /// Reads `address/length`, or an address, which is the prefix of that one address.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!("'{text}' is not an address or prefix such as 192.0.2.0/24 or 2001:db8::/32")
        };
        let (address, len) = match text.split_once('/') {
            Some((address, len)) => (address, Some(len)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let len = match len {
            None => most,
            // A sign, which numbers may have, is none of a prefix.
            Some(len) if !len.bytes().all(|octet| octet.is_ascii_digit()) => return Err(wrong()),
            Some(len) => len
                .parse()
                .ok()
                .filter(|&len| len <= most)
                .ok_or_else(wrong)?,
        };
        let prefix = Self {
            address: masked(address, len),
            len,
        };
        if prefix.address != address {
            return Err(format!(
                "'{text}' has bits beyond its length; write {prefix}"
            ));
        }
        Ok(prefix)
    }
}

impl TryFrom<String> for Prefix {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_read_and_contain_their_addresses() {
        for (prefix, inside, outside) in [
            ("192.0.2.0/24", "192.0.2.255", "192.0.3.0"),
            ("192.0.2.1", "192.0.2.1", "192.0.2.2"),
            ("0.0.0.0/0", "255.1.2.3", "::1"),
            ("2001:db8::/33", "2001:db8:7fff::", "2001:db8:8000::"),
            ("::/0", "ff::1", "127.0.0.1"),
            ("1::", "1::", "1::1"),
            ("1::/16", "1:ffff::", "2::"),
            ("::/128", "::", "::1"),
        ] {
            let prefix: Prefix = prefix.parse().unwrap();
            assert!(
                prefix.contains(inside.parse().unwrap()),
                "{prefix} {inside}"
            );
            assert!(
                !prefix.contains(outside.parse().unwrap()),
                "{prefix} {outside}"
            );
            assert_eq!(prefix.to_string().parse(), Ok(prefix));
        }
    }

    #[test]
    fn what_is_no_prefix_is_refused() {
        for text in [
            "",
            "192.0.2.0/33",
            "192.0.2/24",
            "::/129",
            "a/b",
            "192.0.2.0/",
            "1::/",
            "::/+5",
            "::/-0",
        ] {
            assert!(
                text.parse::<Prefix>()
                    .unwrap_err()
                    .contains("is not an address"),
                "{text}"
            );
        }
        let error = "192.0.2.1/24".parse::<Prefix>().unwrap_err();
        assert!(error.contains("write 192.0.2.0/24"), "{error}");
    }
}
