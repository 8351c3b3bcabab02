//! Any query of a stream with any settings, and any octets as its answer. The first octet says which settings.
#![no_main]

use dnsrig_load::answer::{Answer, HEADER_LEN, question_section};
use dnsrig_load::dress::{DressSettings, Dresser, Sending, TsigCheck};
use libfuzzer_sys::fuzz_target;

const SECRET: &str = "hmac-sha256:key.example:c2VjcmV0";

fuzz_target!(|input: (u8, &[u8], &[u8])| {
    let (choice, query, answer) = input;
    let Some(question) = question_section(query).filter(|_| query.len() >= HEADER_LEN) else { return };
    let settings = DressSettings {
        cookies: choice & 1 != 0,
        randomise_case: choice & 2 != 0,
        tsig: (choice & 4 != 0).then(|| SECRET.parse().expect("a key")),
        seed: 1,
    };
    let Some(mut dresser) = Dresser::new(&settings, 2, 4) else { return };
    let sending = Sending { client: 1, slot: 3, id: 0xabcd, query: 9 };
    let count = u16::from_be_bytes([query[4], query[5]]);
    for _ in 0..2 {
        let sent = dresser.dress(sending, query, 1_800_000_000).to_vec();
        assert!(sent.len() <= query.len().max(65535), "it fits a DNS message");
        let mut echo = sent;
        echo[2] |= 0x80;
        for received in [&echo[..], answer] {
            let Ok(answer) = Answer::new(received) else { continue };
            let inspection = dresser.inspect(sending, (count, question), &answer, 1_800_000_000);
            assert_ne!(inspection.tsig, Some(TsigCheck::Verified), "nobody else has the key");
        }
    }
});
