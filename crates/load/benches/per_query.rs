//! What dressing a query and reading its answer cost, in nanoseconds per call: the least of several rounds.
//!
//! `cargo bench -p dnsrig-load --bench per_query`

use dnsrig_load::answer::{Answer, question_section};
use dnsrig_load::dress::{DressSettings, Dresser, Sending, TsigAlgorithm};
use std::hint::black_box;
use std::time::Instant;

/// Rounds are shorter than a time slice, so that the least one was not interrupted.
const ROUNDS: usize = 500;
const CALLS: u32 = 1_000;
const NOW_S: u64 = 1_800_000_000;

fn measure(name: &str, mut call: impl FnMut(u32)) {
    let round = |call: &mut dyn FnMut(u32)| {
        let start = Instant::now();
        (0..CALLS).for_each(&mut *call);
        start.elapsed().as_nanos() as f64 / f64::from(CALLS)
    };
    let least = (0..ROUNDS)
        .map(|_| round(&mut call))
        .fold(f64::INFINITY, f64::min);
    println!("{name:60} {least:8.1} ns");
}

fn message(flags: [u8; 2], counts: [u8; 4], body: &[&[u8]]) -> Vec<u8> {
    let mut message = vec![0, 0, flags[0], flags[1]];
    message.extend(counts.iter().flat_map(|count| [0, *count]));
    message.extend(body.concat());
    message
}

const QUESTION: &[u8] = b"\x03www\x07example\x03com\0\0\x01\0\x01";
const OPT: &[u8] = &[0, 0, 41, 4, 208, 0, 0, 0, 0, 0, 0];

fn record(owner: &[u8], rrtype: u8, data: &[u8]) -> Vec<u8> {
    let head = [0, rrtype, 0, 1, 0, 0, 14, 16, 0, data.len() as u8];
    [owner, &head, data].concat()
}

fn answers() -> [(&'static str, Vec<u8>); 4] {
    let a = record(b"\xc0\x0c", 1, &[192, 0, 2, 1]);
    let ns: Vec<u8> = [&b"\x03ns1\xc0\x10"[..], b"\x03ns2\xc0\x10"]
        .iter()
        .flat_map(|data| record(b"\xc0\x10", 2, data))
        .collect();
    let ns_targets = [33 + 16 + 12, 33 + 16 + 18 + 12];
    let glue: Vec<u8> = ns_targets
        .iter()
        .flat_map(|target| record(&[0xc0, *target], 1, &[192, 0, 2, 53]))
        .collect();
    let soa = record(
        b"\xc0\x10",
        6,
        &[&b"\x03ns1\xc0\x10\x04host\xc0\x10"[..], &[0; 20]].concat(),
    );
    let rrsig = record(b"\xc0\x10", 46, &[7; 110]);
    let nsec = record(b"\x04name\xc0\x10", 47, &[7; 24]);
    [
        ("no record", message([0x84, 0], [1, 0, 0, 0], &[QUESTION])),
        (
            "A, OPT",
            message([0x84, 0], [1, 1, 0, 1], &[QUESTION, &a, OPT]),
        ),
        (
            "A, 2 NS, 2 A, OPT",
            message([0x84, 0], [1, 1, 2, 3], &[QUESTION, &a, &ns, &glue, OPT]),
        ),
        (
            "NXDOMAIN: SOA, RRSIG, 2 x (NSEC, RRSIG), OPT",
            message(
                [0x84, 3],
                [1, 0, 6, 1],
                &[QUESTION, &soa, &rrsig, &nsec, &rrsig, &nsec, &rrsig, OPT],
            ),
        ),
    ]
}

fn dressers() -> Vec<(&'static str, DressSettings)> {
    let none = DressSettings::default();
    let mut all = vec![
        (
            "0x20",
            DressSettings {
                randomise_case: true,
                ..none.clone()
            },
        ),
        (
            "cookies",
            DressSettings {
                cookies: true,
                ..none.clone()
            },
        ),
        (
            "0x20 and cookies",
            DressSettings {
                randomise_case: true,
                cookies: true,
                ..none.clone()
            },
        ),
    ];
    for algorithm in TsigAlgorithm::ALL {
        let key = format!("{}:key.example:c2VjcmV0c2VjcmV0c2VjcmV0", algorithm.name());
        let tsig = Some(key.parse().expect("a key"));
        all.push((
            algorithm.name(),
            DressSettings {
                tsig,
                ..none.clone()
            },
        ));
    }
    all
}

fn main() {
    for (name, octets) in answers() {
        Answer::new(&octets).expect("it is an answer");
        measure(&format!("read an answer: {name}"), |_| {
            let answer = Answer::new(black_box(&octets)).expect("it is an answer");
            black_box(answer.rcode());
        });
    }
    let (_, octets) = &answers()[1];
    let answer = Answer::new(octets).expect("it is an answer");
    measure("compare the question", |_| {
        black_box(answer.compare_question(1, black_box(QUESTION)));
    });

    let query = message([1, 0], [1, 0, 0, 1], &[QUESTION, OPT]);
    let question = question_section(&query).expect("it parses");
    let sending = |call: u32| Sending {
        client: (call % 100) as usize,
        slot: call % 6400,
        id: call as u16,
        query: call as usize,
    };
    for (name, settings) in dressers() {
        let mut dresser = Dresser::new(&settings, 100, 6400).expect("it changes something");
        measure(&format!("dress a query: {name}"), |call| {
            black_box(dresser.dress(sending(call), black_box(&query), NOW_S));
        });
        // As a server without the key would answer: with its query.
        let echoes: Vec<Vec<u8>> = (0..6400)
            .map(|call| {
                let mut echo = dresser.dress(sending(call), &query, NOW_S).to_vec();
                echo[2] |= 0x80;
                echo
            })
            .collect();
        measure(&format!("read and inspect its answer: {name}"), |call| {
            let call = call % 6400;
            let answer = Answer::new(&echoes[call as usize]).expect("it is an answer");
            black_box(dresser.inspect(sending(call), (1, question), &answer, NOW_S));
        });
    }
}
