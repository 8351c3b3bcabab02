//! The DER encoding of RSA private keys: a sequence of nine integers (RFC 8017 appendix A.1.2).

use zeroize::Zeroizing;

const INTEGER: u8 = 0x02;
const SEQUENCE: u8 = 0x30;

/// Encodes non-negative `integers`, each big-endian, as a sequence.
pub(super) fn encode_integers(integers: &[&[u8]]) -> Zeroizing<Vec<u8>> {
    let mut body = Zeroizing::new(Vec::with_capacity(4096));
    for integer in integers {
        let start = integer
            .iter()
            .position(|&octet| octet != 0)
            .unwrap_or(integer.len());
        let digits = &integer[start..];
        let needs_zero = digits.first().is_none_or(|&octet| octet & 0x80 != 0);
        body.push(INTEGER);
        push_length(&mut body, digits.len() + usize::from(needs_zero));
        if needs_zero {
            body.push(0);
        }
        body.extend_from_slice(digits);
    }
    let mut sequence = Zeroizing::new(Vec::with_capacity(body.len() + 4));
    sequence.push(SEQUENCE);
    push_length(&mut sequence, body.len());
    sequence.extend_from_slice(&body);
    sequence
}

fn push_length(target: &mut Vec<u8>, length: usize) {
    let octets = length.to_be_bytes();
    let start = octets
        .iter()
        .position(|&octet| octet != 0)
        .unwrap_or(octets.len() - 1);
    if length > 0x7F {
        target.push(0x80 | (octets.len() - start) as u8);
    }
    target.extend_from_slice(&octets[start..]);
}

/// The integers of a sequence of nothing but integers, leading zeros removed; `None` if `der` is something else.
pub(super) fn decode_integers(der: &[u8]) -> Option<Vec<&[u8]>> {
    let (mut body, rest) = value(der, SEQUENCE)?;
    if !rest.is_empty() {
        return None;
    }
    let mut integers = Vec::new();
    while !body.is_empty() {
        let (integer, rest) = value(body, INTEGER)?;
        let start = integer
            .iter()
            .position(|&octet| octet != 0)
            .unwrap_or(integer.len());
        integers.push(&integer[start..]);
        body = rest;
    }
    Some(integers)
}

/// The value of the element at the start of `der`, which must have `tag`, and what follows it.
fn value(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&[found, first], rest) = der.split_first_chunk()?;
    let count = usize::from(first & 0x7F);
    if found != tag || first & 0x80 != 0 && count > 4 {
        return None;
    }
    let (length, rest) = match first & 0x80 {
        0 => (count, rest),
        _ => {
            let (octets, rest) = rest.split_at_checked(count)?;
            (
                octets
                    .iter()
                    .fold(0, |length, &octet| length << 8 | usize::from(octet)),
                rest,
            )
        }
    };
    rest.split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trip() {
        let long = vec![0xAB; 300];
        let integers: [&[u8]; 4] = [b"", b"\x01", b"\x80\x00", &long];
        let der = encode_integers(&integers);
        assert_eq!(der[..4], [SEQUENCE, 0x82, 0x01, 0x3C]);
        assert_eq!(der[4..13], [INTEGER, 1, 0, INTEGER, 1, 1, INTEGER, 3, 0]);
        assert_eq!(decode_integers(&der).unwrap(), integers);
    }

    #[test]
    fn refuses_the_rest() {
        for der in [
            &b""[..],
            b"\x30",
            b"\x30\x02\x02",
            b"\x30\x00\x00",
            b"\x31\x00",
            b"\x30\x85\x01\x01\x01\x01\x01",
            b"\x30\x84\xFF\xFF\xFF\xFF",
        ] {
            assert_eq!(decode_integers(der), None);
        }
    }
}
