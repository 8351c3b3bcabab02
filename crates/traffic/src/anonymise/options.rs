//! What becomes of EDNS options.

use super::cryptopan::CachedPan;
use super::names::NamePolicy;
use super::prf::Prf;

/// Groups of values that get pseudonyms.
const CLIENT_COOKIE: u8 = 1;
const SERVER_COOKIE: u8 = 2;
const NAME_SERVER_ID: u8 = 3;
/// Octets of a client's part of a cookie (RFC 7873 section 4).
const CLIENT_COOKIE_LEN: usize = 8;
/// The option with a client's subnet (RFC 7871).
pub const CLIENT_SUBNET: u16 = 8;
/// The option with cookies (RFC 7873).
pub const COOKIE: u16 = 10;

/// The option with key tags of trust anchors (RFC 8145).
const KEY_TAG: u16 = 14;
/// The root zone's keys that have been trust anchors (<https://www.iana.org/dnssec/files>).
const ROOT_KEY_TAGS: [u16; 3] = [19036, 20326, 38696];
/// The option with a zone's version (RFC 9660).
const ZONE_VERSION: u16 = 19;

/// What becomes of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fate {
    /// It stays as it is.
    Plain,
    /// It gets a pseudonym of its length.
    Pseudonym,
    /// The address in it is mapped.
    Subnet,
    /// The name in it is mapped.
    Name,
    /// Its text is left out.
    Text,
    /// Its octets become zeros.
    Hidden,
}

/// What becomes of the option `code` with `data` (<https://www.iana.org/assignments/dns-parameters>). Those that are not known
/// are hidden: they have held Ethernet addresses and ids of clients. So are known ones that hold what they should not.
pub fn fate(code: u16, data: &[u8], policy: NamePolicy) -> Fate {
    match code {
        KEY_TAG if policy == NamePolicy::Pseudonyms => Fate::Hidden,
        2 | 5..=7 | 9 | 11 | KEY_TAG | ZONE_VERSION if is_as_defined(code, data) => Fate::Plain,
        // NSID.
        3 | COOKIE => Fate::Pseudonym,
        CLIENT_SUBNET => Fate::Subnet,
        // CHAIN, Report-Channel.
        13 | 18 => Fate::Name,
        // Extended DNS Error: texts tell addresses and names of servers.
        15 => Fate::Text,
        // Among them padding (12), which is zeros.
        _ => Fate::Hidden,
    }
}

/// Whether `data` are no more than what the option `code` is for, so that nothing else is carried in them.
fn is_as_defined(code: u16, data: &[u8]) -> bool {
    let is_list_of = |known: fn(u8) -> bool| {
        let is_first = |(place, number)| !data[..place].contains(number);
        data.iter().all(|number| known(*number)) && data.iter().enumerate().all(is_first)
    };
    let (durations, rest) = data.as_chunks::<4>();
    let are_durations = rest.is_empty() && durations.iter().all(|seconds| seconds[0] <= 1);
    match code {
        // UL, a lease or two (RFC 9664).
        2 => matches!(data.len(), 4 | 8) && are_durations,
        // DAU, DHU, N3U (RFC 6975): the numbers that IANA has given to algorithms, each once.
        5 => is_list_of(|number| matches!(number, 1..=3 | 5..=8 | 10 | 12..=17 | 23 | 252..=254)),
        6 => is_list_of(|number| matches!(number, 1..=6)),
        7 => is_list_of(|number| number == 1),
        // EXPIRE (RFC 7314).
        9 => matches!(data.len(), 0 | 4) && are_durations,
        // TCP-KEEPALIVE (RFC 7828).
        11 => matches!(data.len(), 0 | 2),
        // Others than the root zone's tell whose trust anchors these are.
        KEY_TAG => {
            let (tags, rest) = data.as_chunks::<2>();
            let is_root = |tag: &[u8; 2]| ROOT_KEY_TAGS.contains(&u16::from_be_bytes(*tag));
            rest.is_empty() && tags.len() <= ROOT_KEY_TAGS.len() && tags.iter().all(is_root)
        }
        // Nothing, or labels, SOA-SERIAL, the serial (RFC 9660).
        ZONE_VERSION => matches!(data, [] | [0..=127, 0, _, _, _, _]),
        _ => false,
    }
}

/// Writes what stands for the data of an option with this `fate` to `output`; a name is the caller's affair.
pub fn write(
    (code, fate): (u16, Fate),
    data: &[u8],
    policy: NamePolicy,
    hosts: &mut CachedPan<'_>,
    values: &Prf,
    output: &mut Vec<u8>,
) {
    let start = output.len();
    match fate {
        Fate::Plain if code == ZONE_VERSION && policy == NamePolicy::Pseudonyms => {
            output.extend_from_slice(&data[..data.len().min(2)]);
            output.resize(start + data.len(), 0);
        }
        Fate::Plain => output.extend_from_slice(data),
        Fate::Pseudonym if code == COOKIE => {
            output.extend_from_slice(data);
            let cookie = &mut output[start..];
            let (client, server) = cookie.split_at_mut(CLIENT_COOKIE_LEN.min(cookie.len()));
            values.replace(CLIENT_COOKIE, client);
            values.replace(SERVER_COOKIE, server);
        }
        Fate::Pseudonym => {
            output.extend_from_slice(data);
            values.replace(NAME_SERVER_ID, &mut output[start..]);
        }
        Fate::Subnet => {
            if !write_subnet(data, hosts, output) {
                output.truncate(start);
                output.resize(start + data.len(), 0);
            }
        }
        Fate::Text => output.extend_from_slice(&data[..data.len().min(2)]),
        Fate::Name | Fate::Hidden => output.resize(start + data.len(), 0),
    }
}

/// Writes a client's subnet with its address mapped; says whether it was well-formed.
fn write_subnet(data: &[u8], hosts: &mut CachedPan<'_>, output: &mut Vec<u8>) -> bool {
    let Some((&[family_high, family, source, scope], address)) = data.split_first_chunk::<4>()
    else {
        return false;
    };
    let len = u32::from(source);
    if family_high != 0 || address.len() != usize::from(source).div_ceil(8) {
        return false;
    }
    output.extend_from_slice(&[family_high, family, source, scope]);
    let mut whole = [0; 16];
    match (family, address.len()) {
        (1, ..=4) => {
            whole[..address.len()].copy_from_slice(address);
            let [a, b, c, d, ..] = whole;
            let mapped = hosts.v4_prefix(u32::from_be_bytes([a, b, c, d]), len);
            output.extend_from_slice(&mapped.to_be_bytes()[..address.len()]);
        }
        (2, ..=16) => {
            whole[..address.len()].copy_from_slice(address);
            let mapped = hosts.v6_prefix(u128::from_be_bytes(whole), len);
            output.extend_from_slice(&mapped.to_be_bytes()[..address.len()]);
        }
        _ => return false,
    }
    true
}

#[cfg(test)]
mod tests {
    use super::super::cryptopan::CryptoPan;
    use super::super::seen::Seen;
    use super::*;
    use proptest::prelude::*;
    use std::net::{Ipv4Addr, Ipv6Addr};

    fn written(code: u16, data: &[u8]) -> Vec<u8> {
        written_by(NamePolicy::Keep, code, data)
    }

    fn written_by(policy: NamePolicy, code: u16, data: &[u8]) -> Vec<u8> {
        let pan = CryptoPan::new(&[3; 32]);
        let mut output = b"before".to_vec();
        write(
            (code, fate(code, data, policy)),
            data,
            policy,
            &mut CachedPan::new(&pan, &Seen::default()),
            &Prf::new([4; 16]),
            &mut output,
        );
        output.split_off(6)
    }

    #[test]
    fn subnets_are_prefixes_of_their_clients() {
        let pan = CryptoPan::new(&[3; 32]);
        let client = pan.v4(Ipv4Addr::new(192, 0, 2, 77).to_bits()).to_be_bytes();
        assert_eq!(
            written(8, &[0, 1, 24, 0, 192, 0, 2]),
            [&[0, 1, 24, 0], &client[..3]].concat()
        );
        let mut address = client;
        address[2] &= 0xFE;
        assert_eq!(
            written(8, &[0, 1, 23, 24, 192, 0, 2]),
            [&[0, 1, 23, 24], &address[..3]].concat()
        );
        let address = "2001:db8:1:2::".parse::<Ipv6Addr>().unwrap();
        let client = pan.v6(address.to_bits()).to_be_bytes();
        let data = [&[0, 2, 56, 48], &address.octets()[..7]].concat();
        assert_eq!(written(8, &data), [&[0, 2, 56, 48], &client[..7]].concat());
        assert_eq!(written(8, &[0, 1, 0, 0]), [0, 1, 0, 0]);
    }

    #[test]
    fn subnets_that_are_none_are_hidden() {
        for data in [
            &[0, 1, 24][..],
            &[0, 1, 24, 0, 192, 0],
            &[0, 3, 8, 0, 1],
            &[1, 1, 8, 0, 1],
            &[0, 1, 40, 0, 1, 2, 3, 4, 5],
        ] {
            assert_eq!(written(8, data), vec![0; data.len()]);
        }
    }

    #[test]
    fn cookies_keep_their_parts_and_lengths() {
        let query = written(10, &[1, 2, 3, 4, 5, 6, 7, 8]);
        let both = written(10, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 9, 9, 9, 9, 9]);
        assert_eq!((query.len(), both.len()), (8, 16));
        assert_eq!(query, both[..8]);
        assert!(query != [1, 2, 3, 4, 5, 6, 7, 8] && both[8..] != [9; 8]);
        assert_eq!(written(10, &[1, 2, 3]).len(), 3);
    }

    #[test]
    fn other_options_are_kept_cut_or_hidden() {
        assert_eq!(written(11, &[0, 100]), [0, 100]);
        assert_eq!(written(15, b"\0\x16at 192.0.2.1"), [0, 22]);
        assert_eq!(written(65001, &[0xAA; 6]), [0; 6]);
        assert_eq!(written(12, &[1; 20]), [0; 20]);
        assert_eq!(written(3, b""), b"");
        let id = written(3, b"ns1.example");
        assert!(id.len() == 11 && id != b"ns1.example");
    }

    #[test]
    fn options_that_are_as_defined_stay() {
        for (code, data) in [
            (2, &[0, 0, 28, 32][..]),
            (2, &[0, 0, 28, 32, 0, 18, 117, 0]),
            (5, &[5, 7, 8, 10, 13, 14, 15, 16]),
            (6, &[1, 2, 4]),
            (7, &[1]),
            (9, &[]),
            (9, &[0, 54, 238, 128]),
            (11, &[]),
            (14, &[0x4F, 0x66, 0x97, 0x28]),
            (19, &[]),
            (19, &[2, 0, 120, 195, 157, 45]),
        ] {
            assert_eq!(written(code, data), data, "option {code}");
        }
        // Serials and key tags tell zones.
        let pseudonyms = |code, data| written_by(NamePolicy::Pseudonyms, code, data);
        assert_eq!(
            pseudonyms(19, &[2, 0, 120, 195, 157, 45]),
            [2, 0, 0, 0, 0, 0]
        );
        assert_eq!(pseudonyms(14, &[0x4F, 0x66]), [0, 0]);
    }

    #[test]
    fn options_with_anything_else_are_hidden() {
        for (code, data) in [
            (2, &[10, 11, 12, 13][..]),
            (2, &[0, 0, 0]),
            (5, &[10, 11, 12, 13]),
            (5, &[8, 8]),
            (6, &[7]),
            (7, &[1, 1]),
            (9, &[10, 11, 12, 13]),
            (9, &[0, 0, 0, 0, 0, 0, 0, 1]),
            (11, &[10, 11, 12, 13]),
            (14, &[10, 11, 12, 13]),
            (14, &[0x4F]),
            (19, &[2, 1, 10, 11, 12, 13]),
            (19, &[2, 0, 1]),
        ] {
            assert_eq!(written(code, data), vec![0; data.len()], "option {code}");
        }
    }

    proptest! {
        /// Whatever the option, no text and no address of a client passes in it, and lengths stay but for error texts.
        #[test]
        fn what_is_no_option_of_its_code_passes_in_none(code in 0_u16..64, data in "[A-Z0-9:.]{9,40}", last: [u8; 4]) {
            prop_assume!(code != 15);
            let data = [data.as_bytes(), &last].concat();
            for policy in [NamePolicy::Keep, NamePolicy::Pseudonyms] {
                let written = written_by(policy, code, &data);
                prop_assert_eq!(written.len(), data.len());
                let keeps = |part: &[u8]| written.windows(part.len()).any(|found| found == part);
                prop_assert!(!keeps(&data[..4]) && (last == [0; 4] || !keeps(&last)));
            }
        }
    }
}
