//! Whether servers can be where a profile puts them.

use super::Addresses;
use super::check::{Checked, between, share};
use std::net::{Ipv4Addr, Ipv6Addr};

/// Networks that no server can be in, with their lengths and what they are for (RFC 6890).
const NOT_IPV4: [(Ipv4Addr, u8, &str); 5] = [
    (Ipv4Addr::UNSPECIFIED, 8, "hosts without an address"),
    (
        Ipv4Addr::new(127, 0, 0, 0),
        8,
        "the loopback device: dnsrig internet serve --loopback puts the servers there",
    ),
    (Ipv4Addr::new(169, 254, 0, 0), 16, "single links"),
    (Ipv4Addr::new(224, 0, 0, 0), 4, "multicast"),
    (Ipv4Addr::new(240, 0, 0, 0), 4, "nothing yet, and broadcast"),
];
const NOT_IPV6: [(Ipv6Addr, u8, &str); 3] = [
    // ::, ::1 and addresses of IPv4 in IPv6.
    (
        Ipv6Addr::UNSPECIFIED,
        16,
        "hosts without an address, loopback and mapped IPv4 addresses",
    ),
    (
        Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0),
        10,
        "single links",
    ),
    (Ipv6Addr::new(0xff00, 0, 0, 0, 0, 0, 0, 0), 8, "multicast"),
];

/// Whether two prefixes, each at the upper end of 128 bits, have an address in common.
fn overlap(one: (u128, u8), other: (u128, u8)) -> bool {
    let length = u32::from(one.1.min(other.1));
    (one.0 ^ other.0).checked_shr(128 - length).unwrap_or(0) == 0
}

impl Addresses {
    /// Fails unless servers can have these addresses in a namespace of their own.
    pub(super) fn check(&self) -> Checked {
        between("addresses.ipv4_length", self.ipv4_length.into(), 8, 20)?;
        between("addresses.ipv6_length", self.ipv6_length.into(), 16, 64)?;
        share("addresses.ipv6_share", self.ipv6_share)?;
        if self.ipv4.to_bits() & (u32::MAX >> self.ipv4_length) != 0 {
            return Err(has_more_bits("ipv4", &self.ipv4, self.ipv4_length));
        }
        if self.ipv6.to_bits() & (u128::MAX >> self.ipv6_length) != 0 {
            return Err(has_more_bits("ipv6", &self.ipv6, self.ipv6_length));
        }
        let high = |ipv4: Ipv4Addr| u128::from(ipv4.to_bits()) << 96;
        for (network, length, what) in NOT_IPV4 {
            if overlap((high(self.ipv4), self.ipv4_length), (high(network), length)) {
                let prefix = format!("addresses.ipv4 {}/{}", self.ipv4, self.ipv4_length);
                return Err(is_not_for_servers(
                    &prefix,
                    &format!("{network}/{length}"),
                    what,
                ));
            }
        }
        // Without any server there, it does not matter where it is.
        let has_ipv6 = self.ipv6_share > 0.0;
        let prefix = (self.ipv6.to_bits(), self.ipv6_length);
        for (network, length, what) in NOT_IPV6.into_iter().filter(|_| has_ipv6) {
            if overlap(prefix, (network.to_bits(), length)) {
                let prefix = format!("addresses.ipv6 {}/{}", self.ipv6, self.ipv6_length);
                return Err(is_not_for_servers(
                    &prefix,
                    &format!("{network}/{length}"),
                    what,
                ));
            }
        }
        Ok(())
    }
}

fn has_more_bits(field: &str, address: &dyn std::fmt::Display, length: u8) -> String {
    format!(
        "addresses.{field} {address} has bits beyond its {length} bits of prefix; set these to 0"
    )
}

fn is_not_for_servers(prefix: &str, network: &str, what: &str) -> String {
    format!(
        "{prefix} has addresses of {network}, which are for {what}; choose another prefix, such as 198.18.0.0/15 or 2001:2::/48"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;

    #[test]
    fn servers_are_where_servers_can_be() {
        let shipped = Profile::load("small").unwrap().addresses;
        let ipv4 = |ipv4: &str, ipv4_length| Addresses {
            ipv4: ipv4.parse().unwrap(),
            ipv4_length,
            ..shipped
        };
        let ipv6 = |ipv6: &str, ipv6_length| Addresses {
            ipv6: ipv6.parse().unwrap(),
            ipv6_length,
            ..shipped
        };
        for (addresses, said) in [
            (ipv4("0.0.0.0", 8), "0.0.0.0/8 has"),
            (ipv4("127.16.0.0", 16), "--loopback"),
            (
                ipv4("169.0.0.0", 8),
                "of 169.254.0.0/16, which are for single links",
            ),
            (ipv4("169.254.16.0", 20), "single links"),
            (ipv4("224.0.0.0", 15), "multicast"),
            (ipv4("255.254.0.0", 15), "broadcast"),
            (ipv6("::", 48), "addresses.ipv6 ::/48 has"),
            (ipv6("fe80::", 64), "single links"),
            (ipv6("fe80::", 16), "single links"),
            (ipv6("ff02::", 48), "multicast"),
        ] {
            let refused = addresses.check().unwrap_err();
            assert!(refused.contains(said), "{refused}");
        }
        for addresses in [
            ipv4("10.0.0.0", 8),
            ipv4("223.255.0.0", 16),
            ipv4("169.253.0.0", 16),
            ipv6("fd00::", 16),
            ipv6("fec0::", 64),
            Addresses {
                ipv6_share: 0.0,
                ..ipv6("::", 64)
            },
        ] {
            assert_eq!(addresses.check(), Ok(()));
        }
    }
}
