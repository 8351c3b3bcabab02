//! Names that nobody has chosen: made of the number of a name whenever it is needed, and never stored.

mod labels;
mod set;

use super::random::{Purpose, Random, at, mix, scale};
use super::ranks::Shares;
use crate::profile::Profile;
use domain::base::iana::Rtype;
use labels::{push_hosts_label, push_letters, push_syllables, push_text};
use set::{NameSet, USUAL_SUFFIXES, USUAL_UNKNOWN_SUFFIXES};

/// Labels that precede the name of a service (RFC 2782).
const SERVICES: [&[&str]; 4] = [
    &["_ldap", "_tcp", "dc", "_msdcs"],
    &["_kerberos", "_udp"],
    &["_sip", "_tcp"],
    &["_autodiscover", "_tcp"],
];
/// Names of class CHAOS by which servers tell who they are (RFC 4892).
const OF_SERVERS: [[&str; 2]; 4] = [
    ["version", "bind"],
    ["hostname", "bind"],
    ["id", "server"],
    ["version", "server"],
];

/// What kind of name it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// One that exists.
    Existing,
    /// Of the root zone itself.
    Roots,
    /// Of a server, in class CHAOS.
    Servers,
    /// Below a last label that does not exist.
    UnknownSuffix,
    /// One label of random letters.
    RandomLabel,
    /// An IPv4 address.
    Address,
    /// One that does not exist, below a last label that does.
    UnknownName,
}

/// A name: what kind, and its number among them. The more popular it is, the smaller its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct NameId {
    pub kind: Kind,
    pub number: u64,
}

impl NameId {
    /// Bits that hardly any other name has.
    #[inline]
    pub fn hash(self) -> u64 {
        mix(self.number << 3 | self.kind as u64)
    }
}

/// All names.
#[derive(Debug)]
pub(super) struct Names {
    seed: u64,
    existing: NameSet,
    missing: NameSet,
    kinds: Shares<Kind>,
    /// Kinds for types of which no host asks for addresses.
    kinds_of_domains: Shares<Kind>,
    /// Names so far that are asked for once only.
    fresh: u64,
}

impl Names {
    /// The names of `profile`.
    pub fn new(profile: &Profile, seed: u64) -> Self {
        let missing = &profile.missing;
        let kinds = [
            (Kind::UnknownSuffix, missing.unknown_suffix),
            (Kind::UnknownName, missing.unknown_name),
            (Kind::RandomLabel, missing.random_label),
            (Kind::Address, missing.address),
        ];
        let of_domains = match missing.unknown_suffix + missing.unknown_name > 0.0 {
            true => &kinds[..2],
            false => &kinds[..],
        };
        Self {
            seed,
            existing: NameSet::new(&profile.names, &USUAL_SUFFIXES),
            missing: NameSet::new(&profile.missing_names, &USUAL_UNKNOWN_SUFFIXES),
            kinds_of_domains: Shares::new(of_domains.iter().copied()),
            kinds: Shares::new(kinds),
            fresh: 0,
        }
    }

    /// Draws a name that exists.
    pub fn existing(&mut self, random: &mut Random) -> NameId {
        let number = self.existing.draw(&mut self.fresh, random);
        NameId {
            kind: Kind::Existing,
            number,
        }
    }

    /// Draws a name that does not exist, to be asked for with type `rtype`.
    pub fn missing(&mut self, rtype: Rtype, random: &mut Random) -> NameId {
        let kinds = match rtype {
            Rtype::A | Rtype::AAAA | Rtype::HTTPS => &self.kinds,
            _ => &self.kinds_of_domains,
        };
        let kind = *kinds.of(random.bits());
        let number = self.missing.draw(&mut self.fresh, random);
        NameId { kind, number }
    }

    /// A name that nobody has asked for.
    pub fn fresh(&mut self, like: NameId) -> NameId {
        self.fresh += 1;
        let set = match like.kind {
            Kind::Existing => &self.existing,
            _ => &self.missing,
        };
        NameId {
            number: set.count + self.fresh,
            ..like
        }
    }

    /// How long clients keep the answer about this name.
    pub fn ttl_s(&self, name: NameId) -> u32 {
        let set = match name.kind {
            Kind::Existing => &self.existing,
            _ => &self.missing,
        };
        *set.ttl_s.of(mix(self.bits(name)))
    }

    fn bits(&self, name: NameId) -> u64 {
        at(
            self.seed,
            Purpose::Name,
            name.number << 3 | name.kind as u64,
        )
    }

    /// Appends `name` in wire format, as it is asked for with type `rtype`.
    pub fn push(&self, name: NameId, rtype: Rtype, target: &mut Vec<u8>) {
        let bits = self.bits(name);
        match (name.kind, rtype) {
            (Kind::Servers, _) => {
                let labels = OF_SERVERS[scale(bits, OF_SERVERS.len() as u64) as usize];
                labels.iter().for_each(|label| push_text(label, target));
            }
            (Kind::Roots, Rtype::NS | Rtype::SOA | Rtype::ANY | Rtype::DNSKEY) => {}
            (Kind::Roots, _) => {
                target.extend_from_slice(&[1, b'a' + (name.number % 13) as u8]);
                push_text("root-servers", target);
                push_text("net", target);
            }
            (kind, Rtype::PTR) => push_reverse(kind != Kind::Existing, bits, target),
            (Kind::RandomLabel, _) => push_letters(bits, 7 + scale(mix(bits), 9) as usize, target),
            (Kind::Address, _) => {
                for octet in (bits as u32).to_be_bytes() {
                    push_text(&octet.to_string(), target);
                }
            }
            (kind, _) => self.push_host(kind, name.number, bits, rtype, target),
        }
        target.push(0);
    }

    /// Appends the labels of a host, a service or a domain.
    fn push_host(&self, kind: Kind, number: u64, bits: u64, rtype: Rtype, target: &mut Vec<u8>) {
        let set = match kind {
            Kind::Existing => &self.existing,
            _ => &self.missing,
        };
        let domain = number / set.of_a_domain;
        let of_domain = at(self.seed, Purpose::Label, domain << 3 | kind as u64);
        let suffixes = match kind {
            Kind::UnknownSuffix => &self.missing.suffixes,
            _ => &self.existing.suffixes,
        };
        let suffix = suffixes.of(mix(of_domain ^ 1));
        let labels =
            push_service(rtype, bits, target).unwrap_or_else(|| match is_of_domains(rtype) {
                true => set.labels_of(number, bits).min(2),
                false => set.labels_of(number, bits),
            });
        // The last label of a name that does not exist may be one that does.
        let labels = labels.max(1 + u32::from(kind == Kind::UnknownName));
        if labels > 2 {
            push_hosts_label(
                mix(of_domain ^ 3).wrapping_add(number % set.of_a_domain),
                target,
            );
            for place in 3..labels {
                push_letters(
                    mix(bits ^ u64::from(place)),
                    3 + (bits >> place) as usize % 8,
                    target,
                );
            }
        }
        if labels > 1 {
            let octets = *set.label_octets.of(mix(of_domain ^ 4)) as usize;
            match kind {
                // With a digit at its end, which names that exist do not have.
                Kind::UnknownName => {
                    push_letters(of_domain, octets.max(2), target);
                    let last = target.len() - 1;
                    target[last] = b'0' + (number % 10) as u8;
                }
                _ => push_syllables(domain, octets, of_domain, target),
            }
        }
        target.push(suffix.len() as u8);
        target.extend_from_slice(suffix);
    }
}

/// Appends what precedes the name of a service, or of a domain's policy; gives how many labels follow.
fn push_service(rtype: Rtype, bits: u64, target: &mut Vec<u8>) -> Option<u32> {
    match rtype {
        Rtype::SRV => {
            let service = SERVICES[scale(mix(bits ^ 2), SERVICES.len() as u64) as usize];
            service.iter().for_each(|label| push_text(label, target));
        }
        Rtype::TXT if bits & 3 == 0 => push_text("_dmarc", target),
        _ => return None,
    }
    Some(2)
}

/// Whether one asks for this type of domains rather than of hosts.
fn is_of_domains(rtype: Rtype) -> bool {
    matches!(
        rtype,
        Rtype::SOA | Rtype::NS | Rtype::MX | Rtype::ANY | Rtype::DS | Rtype::DNSKEY | Rtype::TXT
    )
}

/// Appends the reverse name of an address (RFC 1035 section 3.5, RFC 3596 section 2.5); a private one (RFC 1918) if it is to be
/// missing.
fn push_reverse(is_private: bool, bits: u64, target: &mut Vec<u8>) {
    let [mut first, second, third, fourth] = (bits as u32).to_be_bytes();
    if bits >> 60 == 0 && !is_private {
        for place in 0..24 {
            let nibble = mix(bits ^ place) & 15;
            target.extend_from_slice(&[1, b"0123456789abcdef"[nibble as usize]]);
        }
        // 2001:db8::/32 (RFC 3849).
        "8bd01002"
            .bytes()
            .for_each(|nibble| target.extend_from_slice(&[1, nibble]));
        push_text("ip6", target);
    } else {
        first = match is_private {
            true => 10,
            // Unicast, without 10 and 127.
            false => 11 + first % 116,
        };
        for octet in [fourth, third, second, first] {
            push_text(&octet.to_string(), target);
        }
        push_text("in-addr", target);
    }
    push_text("arpa", target);
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::base::Name;
    use std::collections::HashSet;

    fn text(names: &Names, name: NameId, rtype: Rtype) -> String {
        let mut wire = Vec::new();
        names.push(name, rtype, &mut wire);
        Name::from_slice(&wire).unwrap().to_string()
    }

    fn of(kind: Kind, number: u64) -> NameId {
        NameId { kind, number }
    }

    #[test]
    fn existing_and_missing_names_do_not_meet() {
        for profile in ["root-2006", "resolver-2022"] {
            let mut names = Names::new(&Profile::open(profile).unwrap(), 1);
            let mut random = Random::new(1, Purpose::Questions);
            let types = [Rtype::A, Rtype::SRV, Rtype::SOA, Rtype::PTR];
            let (mut existing, mut missing) = (HashSet::new(), HashSet::new());
            for number in 0..20_000_usize {
                let rtype = types[number % 4];
                let (is, is_not) = (
                    names.existing(&mut random),
                    names.missing(rtype, &mut random),
                );
                existing.insert(text(&names, is, rtype));
                missing.insert(text(&names, is_not, rtype));
            }
            assert!(existing.len() > 5000 && missing.len() > 1000);
            let both: Vec<_> = existing.intersection(&missing).collect();
            assert!(both.is_empty(), "{profile}: {both:?}");
        }
    }

    #[test]
    fn different_numbers_are_different_names_with_the_labels_of_the_profile() {
        let profile = Profile::open("root-2006").unwrap();
        let names = Names::new(&profile, 1);
        let mut seen = HashSet::new();
        let mut of_labels = [0_u32; 8];
        for number in 0..50_000 {
            let name = text(&names, of(Kind::Existing, number), Rtype::A);
            let labels = name.split('.').count();
            of_labels[labels] += 1;
            if labels > 1 {
                assert!(seen.insert(name.clone()), "{name}");
            }
        }
        for [labels, share] in profile.names.labels {
            let found = f64::from(of_labels[labels as usize]) / 50_000.0;
            assert!(
                (found - share).abs() < 0.01,
                "{labels}: {found}, not {share}"
            );
        }
    }

    #[test]
    fn names_suit_their_types() {
        let names = Names::new(&Profile::open("root-2006").unwrap(), 1);
        let existing = of(Kind::Existing, 12_345);
        let reverse = text(&names, existing, Rtype::PTR);
        assert!(reverse.ends_with(".arpa"), "{reverse}");
        let service = text(&names, of(Kind::UnknownSuffix, 7), Rtype::SRV);
        assert!(service.starts_with('_'), "{service}");
        assert!(text(&names, existing, Rtype::SOA).split('.').count() <= 2);
        assert!(text(&names, of(Kind::UnknownSuffix, 7), Rtype::PTR).ends_with("10.in-addr.arpa"));
        assert_eq!(text(&names, of(Kind::Roots, 3), Rtype::SOA), ".");
        assert_eq!(
            text(&names, of(Kind::Roots, 3), Rtype::A),
            "d.root-servers.net"
        );
        let address = text(&names, of(Kind::Address, 9), Rtype::A);
        assert!(address.parse::<std::net::Ipv4Addr>().is_ok(), "{address}");
        let letters = text(&names, of(Kind::RandomLabel, 9), Rtype::A);
        assert!(
            (7..=15).contains(&letters.len()) && !letters.contains('.'),
            "{letters}"
        );
    }
}
