//! Record types in presentation format, and bitmaps of them.

use domain::base::iana::Rtype;
use std::str::FromStr;

/// The types that stand in nearly all bitmaps and signatures.
const COMMON: [(&str, Rtype); 18] = [
    ("RRSIG", Rtype::RRSIG),
    ("NSEC", Rtype::NSEC),
    ("NS", Rtype::NS),
    ("DS", Rtype::DS),
    ("A", Rtype::A),
    ("AAAA", Rtype::AAAA),
    ("NSEC3", Rtype::NSEC3),
    ("SOA", Rtype::SOA),
    ("MX", Rtype::MX),
    ("TXT", Rtype::TXT),
    ("DNSKEY", Rtype::DNSKEY),
    ("CNAME", Rtype::CNAME),
    ("PTR", Rtype::PTR),
    ("NSEC3PARAM", Rtype::NSEC3PARAM),
    ("SRV", Rtype::SRV),
    ("CAA", Rtype::CAA),
    ("CDS", Rtype::CDS),
    ("CDNSKEY", Rtype::CDNSKEY),
];

/// The type with this mnemonic, or written as TYPE and its number (RFC 3597 section 5).
pub(crate) fn mnemonic_type(text: &[u8]) -> Option<Rtype> {
    let common = COMMON.iter().find(|(name, _)| name.as_bytes() == text);
    if let Some((_, rtype)) = common {
        return Some(*rtype);
    }
    let text = std::str::from_utf8(text).ok()?;
    Rtype::from_str(&text.replace("NSAP-PTR", "NSAPPTR")).ok()
}

/// Appends the mnemonic of `rtype`.
pub(crate) fn push_mnemonic(rtype: Rtype, target: &mut Vec<u8>) {
    match COMMON.iter().find(|(_, common)| *common == rtype) {
        Some((name, _)) => target.extend_from_slice(name.as_bytes()),
        None => target.extend_from_slice(rtype.to_string().as_bytes()),
    }
}

/// Appends the bitmap of `types` (RFC 4034 section 4.1.2), which are sorted here; nothing for no types.
pub fn push_type_bitmap(types: &mut [Rtype], target: &mut Vec<u8>) {
    types.sort_unstable_by_key(|rtype| rtype.to_int());
    for window in types.chunk_by(|a, b| a.to_int() >> 8 == b.to_int() >> 8) {
        let mut octets = [0u8; 32];
        for rtype in window {
            let low = rtype.to_int() & 0xFF;
            octets[usize::from(low >> 3)] |= 0x80 >> (low & 7);
        }
        let last = window.last().map_or(0, |rtype| rtype.to_int() & 0xFF);
        let length = usize::from(last >> 3) + 1;
        target.push((window[0].to_int() >> 8) as u8);
        target.push(length as u8);
        target.extend_from_slice(&octets[..length]);
    }
}

/// The types of a bitmap, in order; stops where the octets are no bitmap.
pub fn bitmap_types(mut bitmap: &[u8]) -> impl Iterator<Item = Rtype> + '_ {
    let mut window: (u16, &[u8], u16) = (0, &[], 0);
    std::iter::from_fn(move || {
        loop {
            let (high, octets, next) = window;
            let limit = octets.len() as u16 * 8;
            let found =
                (next..limit).find(|&low| octets[usize::from(low >> 3)] & 0x80 >> (low & 7) != 0);
            if let Some(low) = found {
                window.2 = low + 1;
                return Some(Rtype::from_int(high << 8 | low));
            }
            let [number, length, rest @ ..] = bitmap else {
                return None;
            };
            let octets = rest.get(..usize::from(*length).min(32))?;
            window = (u16::from(*number), octets, 0);
            bitmap = rest.get(usize::from(*length)..)?;
        }
    })
}

/// Whether `bitmap` is one as RFC 4034 section 4.1.2 wants it: windows in order, each of 1 to 32 octets, the last not zero.
pub fn is_bitmap(mut bitmap: &[u8]) -> bool {
    let mut last = -1;
    while let [number, length, rest @ ..] = bitmap {
        let length = usize::from(*length);
        let is_window = i32::from(*number) > last
            && (1..=32).contains(&length)
            && rest.get(length - 1).is_some_and(|&octet| octet != 0);
        if !is_window {
            return false;
        }
        last = i32::from(*number);
        bitmap = &rest[length..];
    }
    bitmap.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::rdata::dnssec::RtypeBitmapBuilder;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bitmaps_are_those_of_domain(numbers in proptest::collection::btree_set(any::<u16>(), 0..20)) {
            let mut types: Vec<Rtype> = numbers.iter().rev().map(|&number| Rtype::from_int(number)).collect();
            let mut ours = Vec::new();
            push_type_bitmap(&mut types, &mut ours);
            let mut builder = RtypeBitmapBuilder::<Vec<u8>>::new();
            for rtype in &types {
                builder.add(*rtype).unwrap();
            }
            let finished = builder.finalize();
            prop_assert_eq!(&ours[..], finished.as_slice());
            prop_assert!(is_bitmap(&ours));
            prop_assert_eq!(bitmap_types(&ours).collect::<Vec<_>>(), types);
        }

        #[test]
        fn any_octets_are_taken(octets in proptest::collection::vec(any::<u8>(), 0..80)) {
            let types: Vec<Rtype> = bitmap_types(&octets).collect();
            if is_bitmap(&octets) {
                let mut again = Vec::new();
                push_type_bitmap(&mut types.clone(), &mut again);
                prop_assert_eq!(again, octets);
            }
        }
    }
}
