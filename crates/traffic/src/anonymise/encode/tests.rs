use super::*;
use crate::anonymise::key::Key;
use crate::wire::{Opt, labels, read_name};
use proptest::prelude::*;
use std::sync::LazyLock;

static KEYS: LazyLock<KeySet> = LazyLock::new(|| KeySet::new(&Key::new([5; 32])));
static SEEN: LazyLock<Seen> = LazyLock::new(Seen::default);
static SUFFIXES: LazyLock<KeptSuffixes> = LazyLock::new(KeptSuffixes::default);

const A: u16 = 1;
const PTR: u16 = 12;
const TXT: u16 = 16;

fn encode(policy: NamePolicy, message: &[u8]) -> Result<Vec<u8>, MessageLeftOut> {
    let mut output = b"before".to_vec();
    let rules = Rules {
        policy,
        keys: &KEYS,
        suffixes: &SUFFIXES,
        seen: &SEEN,
    };
    let encoded = Encoder::new(&rules).encode(message, &mut output);
    let written = output.split_off(6);
    assert!(encoded.is_ok() || written.is_empty());
    encoded.map(|()| written)
}

fn kept(message: &[u8]) -> Vec<u8> {
    encode(NamePolicy::Keep, message).unwrap()
}

fn pseudonyms(message: &[u8]) -> Vec<u8> {
    encode(NamePolicy::Pseudonyms, message).unwrap()
}

fn name(text: &str) -> Vec<u8> {
    let labels = text.split('.').filter(|label| !label.is_empty());
    let mut name: Vec<u8> = labels
        .flat_map(|label| [&[label.len() as u8], label.as_bytes()].concat())
        .collect();
    name.push(0);
    name
}

fn record(owner: &[u8], rtype: u16, data: &[u8]) -> Vec<u8> {
    let fixed = [
        &rtype.to_be_bytes()[..],
        &[0, 1, 0, 0, 14, 16],
        &(data.len() as u16).to_be_bytes(),
    ];
    [owner, &fixed.concat(), data].concat()
}

/// An answer to a question for `qname`, with records in the answer section and in the additional one.
fn answer(qname: &str, qtype: u16, answers: &[Vec<u8>], additionals: &[Vec<u8>]) -> Vec<u8> {
    let counts = [
        0,
        1,
        0,
        answers.len() as u8,
        0,
        0,
        0,
        additionals.len() as u8,
    ];
    let mut message = [&[0xAB, 0xCD, 0x85, 0x80][..], &counts, &name(qname)].concat();
    message.extend_from_slice(&qtype.to_be_bytes());
    message.extend_from_slice(&[0, 1]);
    message.extend(answers.concat());
    message.extend(additionals.concat());
    message
}

fn records(message: &[u8]) -> Vec<Record<'_>> {
    View::parse(message)
        .unwrap()
        .records()
        .map(Result::unwrap)
        .collect()
}

fn name_at(message: &[u8], at: usize) -> String {
    let mut name = NameBuffer::default();
    read_name(message, at, &mut name).unwrap();
    let labels = labels(name.as_slice()).map(|label| String::from_utf8_lossy(label).into_owned());
    labels.collect::<Vec<_>>().join(".")
}

fn v4(address: [u8; 4]) -> [u8; 4] {
    KEYS.contents.v4(u32::from_be_bytes(address)).to_be_bytes()
}

#[test]
fn readable_names_and_public_data_stay_and_addresses_change() {
    let owner = [0xC0, 12];
    let cname = record(&owner, 5, &[&b"\x05alias"[..], &[0xC0, 16]].concat());
    // The alias stands after the header, a name of 17 octets with its type and class, and 12 octets before the data.
    let alias = [0xC0, 12 + 17 + 4 + 12];
    let address = record(&alias, A, &[192, 0, 2, 1]);
    let message = answer("www.example.com", A, &[cname, address], &[]);
    let encoded = kept(&message);
    assert_eq!(encoded.len(), message.len());
    let found = records(&encoded);
    assert_eq!(name_at(&encoded, found[0].rdata.start), "alias.example.com");
    assert_eq!(name_at(&encoded, found[1].owner), "alias.example.com");
    assert_eq!(found[1].data(), v4([192, 0, 2, 1]));
    assert_eq!((&encoded[..12], found[1].ttl), (&message[..12], 3600));
}

#[test]
fn pseudonyms_keep_the_message_as_long_and_compressed() {
    let cname = record(&[0xC0, 12], 5, &[&b"\x05alias"[..], &[0xC0, 16]].concat());
    let message = answer("www.example.com", A, &[cname], &[]);
    let encoded = pseudonyms(&message);
    assert_eq!(encoded.len(), message.len());
    let question = name_at(&encoded, 12);
    let target = name_at(&encoded, records(&encoded)[0].rdata.start);
    assert!(question.ends_with(".com") && !question.contains("example"));
    assert_eq!(question.split('.').next_back(), Some("com"));
    assert_eq!(
        question.split_once('.').unwrap().1,
        target.split_once('.').unwrap().1
    );
    assert_eq!(name_at(&encoded, records(&encoded)[0].owner), question);
}

#[test]
fn names_that_get_longer_move_what_is_after_them() {
    let host = |octet: u8| format!("{octet}.2.0.192.in-addr.arpa");
    for octet in 0..=255 {
        let data = [&b"\x04host"[..], &[0xC0, 12]].concat();
        let message = answer(
            &host(octet),
            PTR,
            &[record(&[0xC0, 12], PTR, &data)],
            &[record(&name("x.test"), A, &[1, 2, 3, 4])],
        );
        let encoded = kept(&message);
        let [a, b, c, d] = v4([192, 0, 2, octet]);
        let mapped = format!("{d}.{c}.{b}.{a}.in-addr.arpa");
        assert_eq!(name_at(&encoded, 12), mapped);
        let found = records(&encoded);
        assert_eq!(
            name_at(&encoded, found[0].rdata.start),
            format!("host.{mapped}")
        );
        assert_eq!(name_at(&encoded, found[1].owner), "x.test");
        assert_eq!(found[1].rdata.end, encoded.len());
    }
}

#[test]
fn a_pointer_into_an_address_is_not_followed() {
    // 2.0.192.bl.test alone is no address and stays; with 1 before it, all of it is one.
    let inner = record(&[&b"\x011"[..], &[0xC0, 12]].concat(), A, &[127, 0, 0, 2]);
    let message = answer("2.0.192.bl.test", A, &[inner], &[]);
    let encoded = kept(&message);
    let [a, b, c, d] = v4([192, 0, 2, 1]);
    assert_eq!(name_at(&encoded, 12), "2.0.192.bl.test");
    assert_eq!(
        name_at(&encoded, records(&encoded)[0].owner),
        format!("{d}.{c}.{b}.{a}.bl.test")
    );
    // The other way round, a name that begins inside an address is written whole.
    let outer = record(&[0xC0, 14], A, &[127, 0, 0, 2]);
    let message = answer("1.2.0.192.bl.test", A, &[outer], &[]);
    let encoded = kept(&message);
    assert_eq!(name_at(&encoded, 12), format!("{d}.{c}.{b}.{a}.bl.test"));
    assert_eq!(
        name_at(&encoded, records(&encoded)[0].owner),
        "2.0.192.bl.test"
    );
}

#[test]
fn texts_and_unknown_types_are_hidden_at_their_lengths() {
    let text = record(&[0xC0, 12], TXT, b"\x09192.0.2.1\x02ab");
    let unknown = record(&[0xC0, 12], 65280, &[192, 0, 2, 1]);
    let odd = record(&[0xC0, 12], A, &[192, 0, 2, 1, 5]);
    let odd_name = record(&[0xC0, 12], 15, b"\0\x01\x03abc");
    let encoded = kept(&answer("x.test", TXT, &[text, unknown, odd, odd_name], &[]));
    let found: Vec<&[u8]> = records(&encoded).iter().map(Record::data).collect();
    assert_eq!(
        found,
        [&b"\x09xxxxxxxxx\x02xx"[..], &[0; 4], &[0; 5], &[0; 6]]
    );
}

#[test]
fn signatures_of_messages_are_left_out_and_counted_down() {
    let tsig = record(&name("key.example"), 250, &[1; 30]);
    let sig0 = record(&[0], 24, &[0; 30]);
    let rrsig = record(
        &[0xC0, 12],
        46,
        &[
            &[0, 1, 8, 2, 0, 0, 0, 9, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3][..],
            &name("example.com"),
            &[7; 64],
        ]
        .concat(),
    );
    let message = answer(
        "example.com",
        A,
        std::slice::from_ref(&rrsig),
        &[sig0, tsig],
    );
    let encoded = kept(&message);
    let found = records(&encoded);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].data(), &rrsig[12..]);
    assert_eq!(encoded[10..12], [0, 0]);
    // What tells the zone goes where names get pseudonyms.
    let encoded = pseudonyms(&message);
    let data = records(&encoded)[0].data().to_vec();
    assert_eq!(data.len(), rrsig.len() - 12);
    assert_eq!(data[..8], [0, 1, 8, 2, 0, 0, 0, 9]);
    assert!(data[8..18] == [0; 10] && data.ends_with(&[0; 64]));
}

#[test]
fn service_parameters_have_their_addresses_mapped() {
    let parameters = b"\0\x01\0\x03\x02h3\0\x04\0\x08\xC0\0\x02\x01\xC0\0\x02\x02\0\x05\0\x02\xAA\xBB\0\x06\0\x10\x20\x01\x0D\xB8\0\0\0\0\0\0\0\0\0\0\0\x01";
    let data = [&[0, 1, 0], &parameters[..]].concat();
    let encoded = kept(&answer(
        "x.test",
        65,
        &[record(&[0xC0, 12], 65, &data)],
        &[],
    ));
    let found = records(&encoded)[0].data().to_vec();
    assert_eq!(found.len(), data.len());
    let mut wanted = data;
    wanted[14..18].copy_from_slice(&v4([192, 0, 2, 1]));
    wanted[18..22].copy_from_slice(&v4([192, 0, 2, 2]));
    wanted[26..28].copy_from_slice(&[0, 0]);
    let v6 = KEYS.contents.v6(0x2001_0DB8_0000_0000_0000_0000_0000_0001);
    wanted[32..48].copy_from_slice(&v6.to_be_bytes());
    assert_eq!(found, wanted);
}

#[test]
fn only_what_services_and_bitmaps_are_for_stays() {
    let tuple = |key: u8, value: &[u8]| [&[0, key, 0, value.len() as u8], value].concat();
    let secret: &[u8] = b"\xde\xad\xbe\xefLEAK";
    let alpn = b"\x02h3\x05alice\x08http/1.1";
    let service = |values: [&[u8]; 5]| {
        let all = (0..)
            .zip(values)
            .map(|(number, value)| tuple([0, 1, 2, 3, 8][number], value));
        [b"\0\x01\0".to_vec(), all.collect::<Vec<_>>().concat()].concat()
    };
    let next = name("m.x.test");
    let bitmap = [&next[..], b"\0\x08", secret].concat();
    let first = [&next[..], secret].concat();
    let csync = [b"\0\0\0\x01\0\x03\0\x08", secret].concat();
    let honest = [&next[..], b"\0\x06\x40\x01\0\0\0\x03"].concat();
    let records_of = |policy| {
        let owner = [0xC0, 12];
        let message = answer(
            "x.test",
            65,
            &[
                record(&owner, 65, &service([secret, alpn, secret, secret, secret])),
                record(
                    &owner,
                    65,
                    &service([b"\0\x03", alpn, b"", b"\x20\xfb", b""]),
                ),
                record(&owner, 47, &bitmap),
                record(&owner, 30, &first),
                record(&owner, 62, &csync),
                record(&owner, 47, &honest),
            ],
            &[],
        );
        let encoded = encode(policy, &message).unwrap();
        let data = records(&encoded);
        let data = data.iter().map(|record| record.data().to_vec());
        data.collect::<Vec<_>>()
    };
    let zeros: &[u8] = &[0; 8];
    let filled = b"\x02h3\x05xxxxx\x08http/1.1";
    let wanted = [
        service([zeros, filled, zeros, zeros, zeros]),
        service([b"\0\x03", filled, b"", b"\x20\xfb", b""]),
        vec![0; bitmap.len()],
        vec![0; first.len()],
        vec![0; csync.len()],
    ];
    assert_eq!(records_of(NamePolicy::Keep)[..5], wanted);
    assert_eq!(records_of(NamePolicy::Pseudonyms)[..5], wanted);
    assert_eq!(records_of(NamePolicy::Keep)[5], honest);
}

#[test]
fn options_are_replaced_in_place() {
    let options = b"\0\x08\0\x07\0\x01\x18\0\xC0\0\x02\0\x0A\0\x08\x01\x02\x03\x04\x05\x06\x07\x08\0\x0F\0\x05\0\x16bad\xFD\xE9\0\x06\xAA\xBB\xCC\xDD\xEE\xFF";
    let opt = [
        &[0, 0, 41, 4, 208, 0, 0, 128, 0][..],
        &[0, options.len() as u8],
        options,
    ]
    .concat();
    let encoded = kept(&answer("x.test", A, &[], &[opt]));
    let found = records(&encoded);
    let opt = Opt::of(&found[0]);
    assert!(opt.dnssec_ok && opt.udp_size == 1232);
    let options: Vec<(u16, &[u8])> = opt
        .options()
        .map(|option| (option.code, option.data))
        .collect();
    let subnet = KEYS
        .hosts
        .v4(u32::from_be_bytes([192, 0, 2, 0]))
        .to_be_bytes();
    assert_eq!(
        options[0],
        (8, &[&[0, 1, 24, 0], &subnet[..3]].concat()[..])
    );
    assert!(
        options[1].0 == 10 && options[1].1.len() == 8 && options[1].1 != [1, 2, 3, 4, 5, 6, 7, 8]
    );
    assert_eq!(options[2..], [(15, &[0, 22][..]), (65001, &[0; 6])]);
    assert_eq!(found[0].rdata.end, encoded.len());
}

#[test]
fn updates_without_data_and_messages_without_questions_are_encoded() {
    let mut update = answer(
        "example.com",
        6,
        &[record(&name("host.example.com"), A, b"")],
        &[],
    );
    update[2] = 0x28;
    assert_eq!(kept(&update), update);
    let empty = [1, 2, 0x80, 5, 0, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(kept(&empty), empty);
}

#[test]
fn what_cannot_be_told_is_left_out() {
    let whole = answer(
        "www.example.com",
        A,
        &[record(&[0xC0, 12], A, &[1, 2, 3, 4])],
        &[],
    );
    for cut in [0, 11, 20, 30, whole.len() - 1] {
        assert_eq!(
            encode(NamePolicy::Keep, &whole[..cut]),
            Err(MessageLeftOut::Malformed)
        );
    }
    let mut status = whole.clone();
    status[2] = 0x10;
    assert_eq!(
        encode(NamePolicy::Keep, &status),
        Err(MessageLeftOut::Opcode)
    );
    // Octets after the last record are not carried over.
    assert_eq!(kept(&[&whole[..], b"192.0.2.1"].concat()), kept(&whole));
}

proptest! {
    #[test]
    fn any_octets_are_encoded_or_left_out(octets: Vec<u8>, is_kept: bool) {
        let policy = if is_kept { NamePolicy::Keep } else { NamePolicy::Pseudonyms };
        if let Ok(encoded) = encode(policy, &octets) {
            prop_assert!(View::parse(&encoded).is_ok());
        }
    }

    /// What is encoded is a whole message with the same types, and encoding follows from the message alone.
    #[test]
    fn damaged_messages_stay_readable(place in 0_usize..200, octet: u8, is_kept: bool) {
        let policy = if is_kept { NamePolicy::Keep } else { NamePolicy::Pseudonyms };
        let cname = record(&[0xC0, 12], 5, &[&b"\x05alias"[..], &[0xC0, 16]].concat());
        let address = record(&[0xC0, 45], A, &[192, 0, 2, 1]);
        let opt = b"\0\0\x29\x04\xD0\0\0\x80\0\0\x0B\0\x08\0\x07\0\x01\x18\0\xC0\0\x02".to_vec();
        let mut message = answer("www.example.com", A, &[cname, address], &[opt]);
        let place = place % message.len();
        message[place] = octet;
        if let Ok(encoded) = encode(policy, &message) {
            prop_assert_eq!(encode(policy, &message).unwrap(), &encoded[..]);
            let types = |message| records(message).iter().map(|record| record.rtype).collect::<Vec<_>>();
            let wanted: Vec<u16> = types(&message).into_iter().filter(|rtype| !rdata::LEFT_OUT.contains(rtype)).collect();
            prop_assert!(types(&encoded) == wanted || wanted.contains(&rdata::SIG));
        }
    }
}
