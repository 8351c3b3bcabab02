//! Names that stand for addresses: `in-addr.arpa` (RFC 1035 section 3.5), classless delegations in it (RFC 2317), `ip6.arpa`
//! (RFC 3596 section 2.5) and its forerunner `ip6.int`; and telephone numbers in `e164.arpa` (RFC 6116).

use super::NamePolicy;
use super::labels_of::{Labels, push_label};
use super::pseudonyms::Pseudonyms;
use super::suffixes::is_service;
use crate::anonymise::cryptopan::CachedPan;

/// The zones in which labels stand for addresses or numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zone {
    /// Octets of IPv4 addresses.
    InAddr,
    /// Nibbles of IPv6 addresses.
    Ip6,
    /// Digits of telephone numbers, which are somebody's: all labels get pseudonyms.
    E164,
}

impl Zone {
    /// The zone that a name is in.
    pub fn of(labels: &Labels<'_>) -> Option<Self> {
        Self::with_behind(labels, 0)
    }

    /// The last zone inside a name, where a search domain was put behind it, and how many labels are behind it.
    pub fn inside(labels: &Labels<'_>) -> Option<(Self, usize)> {
        (1..labels.len()).find_map(|behind| Some((Self::with_behind(labels, behind)?, behind)))
    }

    fn with_behind(labels: &Labels<'_>, behind: usize) -> Option<Self> {
        match (labels.nth_back(behind + 1)?, labels.nth_back(behind)?) {
            (b"in-addr", b"arpa") => Some(Self::InAddr),
            (b"ip6", b"arpa" | b"int") => Some(Self::Ip6),
            (b"e164", b"arpa") => Some(Self::E164),
            _ => None,
        }
    }
}

/// Writes what stands for a name in `zone` to `output`, with as many labels up to the zone's last; `behind` labels after that
/// are the caller's affair.
pub fn map(
    (zone, behind): (Zone, usize),
    labels: &Labels<'_>,
    policy: NamePolicy,
    pseudonyms: &mut Pseudonyms<'_>,
    pan: &mut CachedPan<'_>,
    output: &mut Vec<u8>,
) {
    let address = match zone {
        Zone::InAddr => octets(labels, behind, pan),
        Zone::Ip6 => nibbles(labels, behind, pan),
        Zone::E164 => Vec::new(),
    };
    let zone_at = labels.len() - 2 - behind;
    let before = zone_at - address.len();
    for place in 0..before {
        let label = labels.get(place);
        let known = (place + 1 == before).then_some(address.len());
        let stays = |label: &[u8]| stays(zone, policy, known, label);
        match stays(label) {
            true => push_label(output, label),
            false => push_label(output, pseudonyms.label(labels, place, stays).as_slice()),
        }
    }
    for label in address.iter().rev() {
        push_label(output, label.as_bytes());
    }
    let (zone, rest) = (labels.tail(zone_at), labels.tail(zone_at + 2));
    output.extend_from_slice(&zone[..zone.len() - rest.len()]);
}

/// Whether a label stays as it is that is before an address: directly before its `known` labels, or `None`. One with digits may
/// be part of an address all the same; one that has the form of the address's next label stays, so that no other takes that
/// form.
fn stays(zone: Zone, policy: NamePolicy, known: Option<usize>, label: &[u8]) -> bool {
    let is_next = match (zone, known) {
        (Zone::E164, _) => return false,
        (_, None) => false,
        (Zone::InAddr, Some(known)) => {
            octet(label).is_some() || known >= 3 && Classless::parse(label).is_some()
        }
        (Zone::Ip6, Some(_)) => nibble(label).is_some(),
    };
    let has_digit = label.iter().any(u8::is_ascii_digit);
    is_next || is_service(label) || policy == NamePolicy::Keep && !has_digit
}

/// What stands for the octets of a name in `in-addr.arpa`, the first octet of the address first.
fn octets(labels: &Labels<'_>, behind: usize, pan: &mut CachedPan<'_>) -> Vec<String> {
    let below = |place: usize| labels.nth_back(place + 2 + behind);
    let known: Vec<u8> = (0..4)
        .map_while(|place| below(place).and_then(octet))
        .collect();
    let mut address = [0; 4];
    address[..known.len()].copy_from_slice(&known);
    let address = u32::from_be_bytes(address);
    let mapped = pan.v4_prefix(address, 8 * known.len() as u32).to_be_bytes();
    let mut made: Vec<String> = mapped[..known.len()].iter().map(u8::to_string).collect();
    if let Some(range) = below(3)
        .filter(|_| known.len() == 3)
        .and_then(Classless::parse)
    {
        made.push(range.mapped(address, pan));
        if let Some(last) = below(4).and_then(octet) {
            let host = pan.v4(address | u32::from(last));
            made.push((host as u8).to_string());
        }
    }
    made
}

/// What stands for the nibbles of a name in `ip6.arpa`, the first nibble of the address first.
fn nibbles(labels: &Labels<'_>, behind: usize, pan: &mut CachedPan<'_>) -> Vec<String> {
    let known: Vec<u8> = (0..32)
        .map_while(|place| labels.nth_back(place + 2 + behind).and_then(nibble))
        .collect();
    let places = (0..known.len()).map(|place| 124 - 4 * place);
    let address = known
        .iter()
        .zip(places.clone())
        .fold(0, |address, (nibble, place)| {
            address | u128::from(*nibble) << place
        });
    let mapped = pan.v6_prefix(address, 4 * known.len() as u32);
    places
        .map(|place| format!("{:x}", mapped >> place & 0xF))
        .collect()
}

/// A label of an octet: a decimal number without needless zeros.
pub fn octet(label: &[u8]) -> Option<u8> {
    let is_plain = matches!(
        label,
        [b'0'] | [b'1'..=b'9'] | [b'1'..=b'9', _] | [b'1'..=b'9', _, _]
    );
    let number = label.iter().try_fold(0_u16, |number, octet| {
        octet
            .is_ascii_digit()
            .then(|| number * 10 + u16::from(octet - b'0'))
    });
    number
        .filter(|_| is_plain)
        .and_then(|number| number.try_into().ok())
}

/// A label of a nibble, in small letters.
pub fn nibble(label: &[u8]) -> Option<u8> {
    match label {
        [digit @ b'0'..=b'9'] => Some(digit - b'0'),
        [letter @ b'a'..=b'f'] => Some(letter - b'a' + 10),
        _ => None,
    }
}

/// A label for a part of a network of 256 addresses, as RFC 2317 proposes and others vary: its first address with the length
/// of its prefix (`0/25`, `0-25`) or with its last address (`0-127`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Classless {
    first: u8,
    separator: u8,
    len: u32,
    /// Whether it tells its last address.
    by_last: bool,
}

impl Classless {
    fn parse(label: &[u8]) -> Option<Self> {
        let place = label
            .iter()
            .position(|octet| matches!(octet, b'/' | b'-'))?;
        let (first, second) = (octet(&label[..place])?, octet(&label[place + 1..])?);
        let separator = label[place];
        let of_len = |len: u32, by_last| {
            let is_aligned = u32::from(first) & ((1 << (32 - len)) - 1) == 0;
            is_aligned.then_some(Self {
                first,
                separator,
                len,
                by_last,
            })
        };
        let by_len = matches!(second, 24..=32)
            .then(|| of_len(second.into(), false))
            .flatten();
        by_len.or_else(|| {
            let size = u32::from(second.checked_sub(first)?) + 1;
            size.is_power_of_two()
                .then(|| of_len(32 - size.ilog2(), true))
                .flatten()
        })
    }

    /// What stands for it in the network of 256 addresses that `address` is in.
    fn mapped(self, address: u32, pan: &mut CachedPan<'_>) -> String {
        let first = pan.v4_prefix(address | u32::from(self.first), self.len) as u8;
        let second = match self.by_last {
            true => u32::from(first) + (1 << (32 - self.len)) - 1,
            false => self.len,
        };
        format!("{first}{}{second}", char::from(self.separator))
    }
}
