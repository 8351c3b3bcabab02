//! Answers per second without sockets, on one core: `cargo bench -p dnsrig-internet`.

use dnsrig_answer::Transport;
use dnsrig_internet::{Arrived, Internet, InternetOptions, Profile, QueryNames, Scratch};
use std::hint::black_box;
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// How often all answers are given.
const REPETITIONS: usize = 21;
/// Questions that are asked over and over.
const QUESTIONS: usize = 2000;

/// Messages that servers of `internet` have answers for, each with a server: each question to all that do not refuse it.
fn messages(internet: &Internet, dnssec_ok: bool) -> Vec<(IpAddr, Vec<u8>)> {
    let mut scratch = Scratch::default();
    let mut out = vec![0; 65_535];
    let mut messages = Vec::new();
    for asked in QueryNames::new(internet, 1, 0.1).take(QUESTIONS) {
        let mut message = vec![0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1];
        message.extend_from_slice(asked.name.as_slice());
        message.extend_from_slice(&asked.rtype.to_int().to_be_bytes());
        message.extend_from_slice(&[0, 1, 0, 0, 41, 4, 208, 0, 0]);
        message.extend_from_slice(&[if dnssec_ok { 0x80 } else { 0 }, 0, 0, 0]);
        // The root's servers would have most of the answers otherwise.
        for server in internet.servers().servers().iter().skip(2) {
            let server = IpAddr::V4(server.ipv4);
            let arrived = Arrived {
                server,
                transport: Transport::Udp,
                message: &message,
                now: Duration::ZERO,
            };
            let answer = internet.answer(&arrived, &mut scratch, &mut out);
            if answer.len.is_some() && out[3] & 15 != 5 {
                messages.push((server, message.clone()));
            }
        }
    }
    messages
}

fn main() {
    let profile = Profile::load("small").expect("a profile");
    let options = InternetOptions {
        has_distances: false,
        ..InternetOptions::new(1, 1_669_900_000)
    };
    let internet = Internet::new(&profile, options).expect("an Internet");
    for (name, dnssec_ok) in [("warm, without DO", false), ("warm, with DO", true)] {
        let messages = messages(&internet, dnssec_ok);
        let mut rates: Vec<f64> = (0..REPETITIONS)
            .map(|_| messages.len() as f64 / answer_all(&internet, &messages).as_secs_f64() / 1e3)
            .collect();
        rates.sort_by(f64::total_cmp);
        println!(
            "{name:<18} {:6.0} k answers/s, from {:.0} to {:.0}",
            rates[REPETITIONS / 2],
            rates[0],
            rates[REPETITIONS - 1]
        );
    }
}

fn answer_all(internet: &Internet, messages: &[(IpAddr, Vec<u8>)]) -> Duration {
    let mut scratch = Scratch::default();
    let mut out = vec![0; 65_535];
    let start = Instant::now();
    for (server, message) in messages {
        let arrived = Arrived {
            server: *server,
            transport: Transport::Udp,
            message,
            now: Duration::ZERO,
        };
        black_box(internet.answer(&arrived, &mut scratch, &mut out));
    }
    start.elapsed()
}
