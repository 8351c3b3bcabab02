use super::*;
use proptest::prelude::*;

#[test]
fn bitmaps_of_types_that_there_are_pass() {
    for bitmap in [
        &b""[..],
        // A, MX, RRSIG, NSEC, TYPE1234 of RFC 4034 section 4.3, but for the last.
        b"\0\x06\x40\x01\0\0\0\x03",
        b"\0\x06\x40\x01\0\0\0\x03\x01\x01\x40",
        // NXNAME (RFC 9824).
        b"\0\x11\0\0\0\0\0\x03\0\0\0\0\0\0\0\0\0\0\x80",
    ] {
        assert!(are_types(bitmap), "{bitmap:?}");
    }
    // BIND's TYPE65534.
    let private = [&b"\0\x01\x22\xff\x20"[..], &[0; 31], &[2]].concat();
    assert!(are_types(&private));
    assert!(are_first_types(b"\x22\0\0\0\0\x03"));
}

#[test]
fn octets_that_are_no_bitmap_of_types_do_not() {
    for octets in [
        &b"\0"[..],
        b"\0\0",
        b"\0\x21\x40\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01",
        // Zeros at the end, no type, cut, twice, backwards.
        b"\0\x02\x40\0",
        b"\0\x01\x80",
        b"\0\x06\x40\x01\0\0\0",
        b"\0\x01\x40\0\x01\x40",
        b"\x01\x01\x40\0\x01\x40",
        // OPT; types that nobody has been given.
        b"\0\x06\0\0\0\0\0\x40",
        b"\x03\x04\x0a\x0b\x0c\x0d",
        b"\0\x20\xde\xad\xbe\xef\x01\x02NSEC-LEAK-NSEC-LEAK-NSEC!!",
    ] {
        assert!(!are_types(octets), "{octets:?}");
    }
    for octets in [
        &b"\xde\xad\xbe\xef\x01\x02NXT-LEAK"[..],
        b"\x40\0",
        &[0x40; 17],
    ] {
        assert!(!are_first_types(octets), "{octets:?}");
    }
}

#[test]
fn parameters_stay_only_as_their_numbers_say() {
    for (key, value) in [
        (0, &b"\0\x01\0\x04"[..]),
        (2, b""),
        (3, b"\x20\xfb"),
        (8, b""),
    ] {
        assert_eq!(parameter(key, value), Parameter::Plain, "{key} {value:?}");
    }
    assert_eq!(parameter(1, b"\x02h3\x02h2"), Parameter::Protocols);
    for (key, value) in [
        (0, &b"\x0a\x0b\x0c\x0d"[..]),
        (0, b"\0\x04\0\x01"),
        (0, b"\0\x01\0"),
        (1, b"\x02h3\x09h2"),
        (1, b"\0\x02h2"),
        (2, b"\xde\xad"),
        (3, b"\x01"),
        (3, b"\x0a\x0b\x0c\x0d"),
        (8, b"OHTTP"),
        (7, b"/dns-query{?dns}"),
    ] {
        assert_eq!(parameter(key, value), Parameter::Hidden, "{key} {value:?}");
    }
}

proptest! {
    /// Four octets that are no types pass in no window.
    #[test]
    fn addresses_are_no_bitmaps(window in 2_u8..128, address: [u8; 4], before in 0_usize..28) {
        prop_assume!(address != [0; 4]);
        let bits = [&vec![0; before][..], &address].concat();
        prop_assert!(!are_types(&[&[window, bits.len() as u8][..], &bits].concat()));
    }
}
