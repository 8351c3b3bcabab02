//! Queries signed by dnsrig and verified by `domain`, answers the other way round; then one octet of the answer is changed.
#![no_main]

use dnsrig_load::answer::{Answer, HEADER_LEN, question_section};
use dnsrig_load::dress::{DressSettings, Dresser, Sending, TsigAlgorithm, TsigCheck, TsigKey};
use domain::base::iana::{OptionCode, Rcode};
use domain::base::opt::UnknownOptData;
use domain::base::{Message, MessageBuilder, Name};
use domain::rdata::tsig::Time48;
use domain::tsig::{Algorithm, Key, KeyName, ServerTransaction};
use libfuzzer_sys::fuzz_target;
use std::str::FromStr;

const NOW_S: u64 = 1_800_000_000;
const KEY_NAME: &str = "key.example";
const SENDING: Sending = Sending { client: 0, slot: 2, id: 0xabcd, query: 9 };

fn keys(number: u8, secret: &[u8]) -> (TsigKey, Key) {
    let (ours, theirs) = match number % 4 {
        0 => (TsigAlgorithm::HmacSha1, Algorithm::Sha1),
        1 => (TsigAlgorithm::HmacSha256, Algorithm::Sha256),
        2 => (TsigAlgorithm::HmacSha384, Algorithm::Sha384),
        _ => (TsigAlgorithm::HmacSha512, Algorithm::Sha512),
    };
    let our_name = Name::from_str(KEY_NAME).expect("a name");
    let their_name = KeyName::from_str(KEY_NAME).expect("a name");
    let their_key = Key::new(theirs, secret, their_name, None, None).expect("a key without truncation");
    (TsigKey::new(our_name, ours, secret.to_vec()), their_key)
}

/// The answer that `domain` gives to a signed query: FORMERR, signed, with an option that holds `data`.
fn answer_of_domain(sent: &[u8], key: &Key, data: &[u8]) -> Option<Vec<u8>> {
    let mut request = Message::from_octets(sent.to_vec()).expect("it has a header");
    // domain looks for TSIG only if it can read everything before it.
    request.additional().ok()?;
    let transaction = ServerTransaction::request(key, &mut request, Time48::from_u64(NOW_S))
        .unwrap_or_else(|error| panic!("domain says {}", error.error()))
        .expect("the query is signed");
    let mut builder = MessageBuilder::new_vec();
    builder.header_mut().set_id(SENDING.id);
    builder.header_mut().set_qr(true);
    builder.header_mut().set_rcode(Rcode::FORMERR);
    let mut additional = builder.additional();
    let option = UnknownOptData::new(OptionCode::from_int(65001), data).expect("it is short");
    additional.opt(|opt| opt.push(&option)).expect("there is room");
    transaction.answer(&mut additional, Time48::from_u64(NOW_S)).expect("there is room");
    Some(additional.finish())
}

fuzz_target!(|input: (u8, &[u8], &[u8], &[u8], u16, u8)| {
    let (number, secret, query, data, place, flip) = input;
    let Some(question) = question_section(query).filter(|_| query.len() >= HEADER_LEN) else { return };
    let (our_key, their_key) = keys(number, secret);
    let settings = DressSettings { tsig: Some(our_key), ..DressSettings::default() };
    let mut dresser = Dresser::new(&settings, 1, 4).expect("it signs");
    let sent = dresser.dress(SENDING, query, NOW_S).to_vec();
    if sent.len() == query.len() || data.len() > 1000 {
        return;
    }
    let Some(mut received) = answer_of_domain(&sent, &their_key, data) else { return };
    let count = u16::from_be_bytes([query[4], query[5]]);
    let mut inspect = |received: &[u8]| {
        let answer = Answer::new(received).ok()?;
        Some(dresser.inspect(SENDING, (count, question), &answer, NOW_S))
    };
    assert_eq!(inspect(&received).expect("domain's answer is read").tsig, Some(TsigCheck::Verified));

    let place = 2 + usize::from(place) % (received.len() - 2);
    received[place] ^= flip;
    // The names of key and algorithm are signed in lower case.
    let may_go_unseen = flip == 0 || flip == 0x20 && received[place].is_ascii_alphabetic();
    if let Some(inspection) = inspect(&received) {
        assert!(may_go_unseen || inspection.must_ignore(), "octet {place} ^ {flip}: {inspection:?}");
    }
});
