use super::*;
use crate::transport::http2::huffman;
use proptest::prelude::*;

fn octets(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    let octet = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(octet).collect()
}

fn status(status: u16) -> Head {
    Head {
        status: Some(status),
        ..Head::default()
    }
}

/// RFC 7541 appendices C.5 and C.6: three answers, with a table of 256 octets, without and with Huffman coding.
#[test]
fn decodes_the_answers_of_the_standard() {
    let plain = [
        "4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3120 474d \
         546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
        "4803 3330 37c1 c0bf",
        "88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970 7738 666f \
         6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b \
         2076 6572 7369 6f6e 3d31",
    ];
    let coded = [
        "4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 \
         8f0b 97c8 e9ae 82ae 43d3",
        "4883 640e ffc1 c0bf",
        "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 \
         dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07",
    ];
    for blocks in [plain, coded] {
        let mut decoder = Decoder {
            max_size: 256,
            ..Decoder::default()
        };
        for ((block, status_code), size) in blocks.iter().zip([302, 307, 200]).zip([222, 222, 215])
        {
            assert_eq!(decoder.decode(&octets(block)), Ok(status(status_code)));
            assert_eq!(decoder.size, size);
        }
    }
}

/// RFC 7541 appendix C.2: the forms of a field.
#[test]
fn decodes_the_fields_of_the_standard() {
    for (block, size) in [
        (
            "400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572",
            55,
        ),
        ("040c 2f73 616d 706c 652f 7061 7468", 0),
        ("1008 7061 7373 776f 7264 0673 6563 7265 74", 0),
        ("82", 0),
    ] {
        let mut decoder = Decoder::default();
        assert_eq!(decoder.decode(&octets(block)), Ok(Head::default()));
        assert_eq!(decoder.size, size);
    }
}

/// RFC 7541 appendix C.1.
#[test]
fn integers_are_those_of_the_standard() {
    for (value, prefix, encoded) in [
        (10, 5, &[0x0a][..]),
        (1_337, 5, &[0x1f, 0x9a, 0x0a]),
        (42, 8, &[0x2a]),
    ] {
        let mut block = Vec::new();
        append_integer(&mut block, 0, prefix, value);
        assert_eq!(block, encoded);
        assert_eq!(integer(&mut &block[..], prefix), Ok(value));
    }
}

#[test]
fn knows_the_fields_that_matter() {
    let mut decoder = Decoder::default();
    let mut block = vec![0x88];
    append_integer(&mut block, 0x40, 6, 31);
    append_string(&mut block, b"application/dns-message");
    append_integer(&mut block, 0x40, 6, 28);
    append_string(&mut block, b"129");
    let head = Head {
        status: Some(200),
        is_dns_message: true,
        content_length: Some(129),
        is_malformed: false,
    };
    assert_eq!(decoder.decode(&block), Ok(head));
    assert_eq!(
        decoder.decode(&[0x88, 0xbf, 0xbe]),
        Ok(head),
        "from the tables"
    );
    assert_eq!(
        decoder.decode(&[0x88, 0x89]).map(|head| head.is_malformed),
        Ok(true)
    );
    assert_eq!(
        decoder.decode(&[0x9c]).map(|head| head.is_malformed),
        Ok(true),
        "content-length without a value"
    );
}

#[test]
fn refuses_blocks_that_do_not_decode() {
    for (what, block) in [
        ("index 0", &[0x80][..]),
        ("index past the table", &[0xbe]),
        ("name past the table", &[0x7f, 0x00, 0x01, b'a']),
        (
            "integer without end",
            &[0xff, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01],
        ),
        ("integer that is cut", &[0xff, 0x80]),
        ("string that is cut", &[0x08, 0x03, b'2', b'0']),
        ("string that is missing", &[0x08]),
        ("coded string that does not decode", &[0x08, 0x81, 0x00]),
        ("size above the limit", &[0x3f, 0xe2, 0x1f]),
        ("size after a field", &[0x88, 0x20]),
    ] {
        assert_eq!(Decoder::default().decode(block), Err(BadBlock), "{what}");
    }
    assert_eq!(
        Decoder::default().decode(&[0x20, 0x3f, 0xe1, 0x1f]),
        Ok(Head::default()),
        "up to the limit"
    );
}

#[test]
fn an_entry_larger_than_the_table_empties_it() {
    let mut decoder = Decoder::default();
    let mut block = Vec::new();
    append_integer(&mut block, 0x40, 6, 31);
    append_string(&mut block, b"application/dns-message");
    decoder.decode(&block).unwrap();
    assert_eq!((decoder.size, decoder.table.len()), (12 + 23 + 32, 1));
    let mut block = Vec::new();
    append_integer(&mut block, 0x40, 6, 31);
    append_string(&mut block, &[b'x'; 5_000]);
    decoder.decode(&block).unwrap();
    assert_eq!((decoder.size, decoder.table.len()), (0, 0));
}

#[derive(Clone, Debug)]
struct Literal {
    name: Vec<u8>,
    value: Vec<u8>,
    is_indexed: bool,
    is_coded: bool,
}

fn append_coded(block: &mut Vec<u8>, string: &[u8], is_coded: bool) {
    if is_coded {
        let coded = huffman::encode(string);
        append_integer(block, 0x80, 7, coded.len());
        block.extend(coded);
    } else {
        append_string(block, string);
    }
}

proptest! {
    /// Against a plain table with names and values.
    #[test]
    fn the_table_holds_what_it_should(
        fields in proptest::collection::vec(
            (proptest::collection::vec(any::<u8>(), 1..200), proptest::collection::vec(any::<u8>(), 0..900), any::<bool>(), any::<bool>())
                .prop_map(|(name, value, is_indexed, is_coded)| Literal { name, value, is_indexed, is_coded }),
            1..60,
        ),
    ) {
        let mut decoder = Decoder::default();
        let mut model: VecDeque<usize> = VecDeque::new();
        for field in fields {
            let mut block = vec![if field.is_indexed { 0x40 } else { 0x10 }];
            append_coded(&mut block, &field.name, field.is_coded);
            append_coded(&mut block, &field.value, !field.is_coded);
            prop_assert_eq!(decoder.decode(&block), Ok(Head::default()));
            if field.is_indexed {
                model.push_front(field.name.len() + field.value.len() + 32);
                while model.iter().sum::<usize>() > TABLE_SIZE {
                    model.pop_back();
                }
            }
            prop_assert_eq!(decoder.size, model.iter().sum::<usize>());
            prop_assert!(decoder.table.iter().map(|entry| entry.size).eq(model.iter().copied()));
        }
    }

    #[test]
    fn any_octets_are_read_without_panic(blocks in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..100), 0..10)) {
        let mut decoder = Decoder::default();
        for block in blocks {
            let _ = decoder.decode(&block);
            prop_assert!(decoder.size <= TABLE_SIZE);
        }
    }

    #[test]
    fn integers_come_back(value in 0usize..1 << 27, prefix in 4u32..8) {
        let mut block = Vec::new();
        append_integer(&mut block, 0, prefix, value);
        let mut rest = &block[..];
        prop_assert_eq!(integer(&mut rest, prefix), Ok(value));
        prop_assert!(rest.is_empty());
    }
}
