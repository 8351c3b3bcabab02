//! Loads with cookies, random case and TSIG against servers that do them right and wrong.

use super::common::{PATIENT, Server, answer, config, load};
use aws_lc_rs::hmac;
use dnsrig_load::LoadConfig;
use dnsrig_load::dress::DressSettings;
use std::net::SocketAddr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const SHORT: Duration = Duration::from_millis(300);

/// Octets that an OPT record with a client cookie adds to a query, and before its cookies.
const WITH_CLIENT_COOKIE: usize = 23;
const BEFORE_COOKIES: usize = 15;

fn dressed(server: SocketAddr, timeout: Duration, dress: DressSettings) -> LoadConfig {
    LoadConfig {
        dress,
        timeout,
        ..config(server, 100)
    }
}

fn cookies() -> DressSettings {
    DressSettings {
        cookies: true,
        ..DressSettings::default()
    }
}

fn question_end(message: &[u8]) -> usize {
    let name = message[12..].iter().position(|octet| *octet == 0).unwrap();
    12 + name + 5
}

/// The answer with these cookies, and RCODE with its upper bits.
fn with_cookies(query: &[u8], cookies: &[u8], rcode: u16) -> Vec<u8> {
    let mut answer = answer(&query[..question_end(query)]);
    answer[11] = 1;
    answer[3] |= rcode as u8 & 0x0f;
    let cookie_len = cookies.len() as u16;
    answer.extend([0, 0, 41, 4, 208, (rcode >> 4) as u8, 0, 0, 0]);
    answer.extend((cookie_len + 4).to_be_bytes());
    answer.extend([0, 10]);
    answer.extend(cookie_len.to_be_bytes());
    answer.extend(cookies);
    answer
}

/// The cookies of a query.
fn cookies_of(query: &[u8]) -> &[u8] {
    &query[question_end(query) + BEFORE_COOKIES..]
}

#[test]
fn cookies_are_learnt_and_sent() {
    let server = Server::udp(|number, query| {
        if number == 0 {
            return Some(vec![answer(query)]);
        }
        let cookies = cookies_of(query);
        let known = [&cookies[..8], b"server's cookie."].concat();
        // BADCOOKIE asks for the cookie that comes with it.
        let rcode = if cookies == known { 0 } else { 23 };
        Some(vec![with_cookies(query, &known, rcode)])
    });
    let report = load(&dressed(server.address, PATIENT, cookies()).with_clients(4));
    assert_eq!(report.answered, 100);
    assert!(report.rcodes["BADCOOKIE"] >= 4 && report.rcodes["NOERROR"] > 0);
    assert_eq!(report.cookies["bad_cookie"], report.rcodes["BADCOOKIE"]);
    assert_eq!(report.cookies["known"], report.rcodes["NOERROR"]);
}

#[test]
fn servers_without_cookies_are_accounted_for() {
    let server = Server::udp(|_, query| Some(vec![answer(query)]));
    let report = load(&dressed(server.address, PATIENT, cookies()));
    // The query's own OPT record came back, and with it its client cookie alone.
    assert_eq!(report.answered, 100);
    assert_eq!(report.cookies["wrong_length"], 100);
    let bare = Server::udp(|_, query| Some(vec![bare(query)]));
    let report = load(&dressed(bare.address, PATIENT, cookies()));
    assert_eq!((report.answered, report.cookies["absent"]), (100, 100));
}

/// An answer without additional records.
fn bare(query: &[u8]) -> Vec<u8> {
    let mut answer = answer(&query[..question_end(query)]);
    answer[11] = 0;
    answer
}

#[test]
fn another_client_s_cookie_answers_nothing() {
    let server = Server::udp(|number, query| {
        if number == 0 {
            return Some(vec![answer(query)]);
        }
        assert!(query.len() >= question_end(query) + WITH_CLIENT_COOKIE);
        Some(vec![with_cookies(query, b"another'server's cookie.", 0)])
    });
    let report = load(&dressed(server.address, SHORT, cookies()));
    assert_eq!((report.timed_out, report.unmatched), (100, 100));
    assert_eq!(report.cookies["wrong_client"], 100);
}

#[test]
fn case_is_random_and_what_servers_make_of_it_is_counted() {
    let dress = || DressSettings {
        randomise_case: true,
        ..DressSettings::default()
    };
    let mut upper = 0u64;
    let (sender, seen) = std::sync::mpsc::channel();
    let keeping = Server::udp(move |_, query| {
        upper += u64::from(query[12..].iter().any(u8::is_ascii_uppercase));
        let _ = sender.send(upper);
        Some(vec![answer(query)])
    });
    let report = load(&dressed(keeping.address, PATIENT, dress()));
    assert_eq!((report.answered, report.case_changed), (100, 0));
    drop(keeping);
    assert!(seen.into_iter().last() > Some(80));

    let lowering = Server::udp(|_, query| {
        let mut answer = answer(query);
        answer[12..].make_ascii_lowercase();
        Some(vec![answer])
    });
    let report = load(&dressed(lowering.address, PATIENT, dress()));
    assert_eq!(report.answered, 100);
    assert!(report.case_changed > 80, "{}", report.case_changed);

    let other = Server::udp(|_, query| {
        let mut answer = answer(query);
        answer[13] = b'#';
        Some(vec![answer])
    });
    let report = load(&dressed(other.address, SHORT, dress()));
    assert_eq!((report.timed_out, report.unmatched), (100, 100));
}

const KEY_NAME: &[u8] = b"\x03key\x07example\0";
const ALGORITHM: &[u8] = b"\x0bhmac-sha256\0";
const SECRET: &[u8] = b"a secret of 32 octets, no fewer.";
/// The same in base64, as a command line has it.
const KEY: &str = "key.example:YSBzZWNyZXQgb2YgMzIgb2N0ZXRzLCBubyBmZXdlci4=";
/// Octets of a TSIG record with this key; those from its MAC on.
const TSIG_LEN: usize = 13 + 10 + 13 + 8 + 2 + 32 + 6;
const FROM_MAC: usize = 32 + 6;

fn signed() -> DressSettings {
    DressSettings {
        tsig: Some(KEY.parse().unwrap()),
        ..DressSettings::default()
    }
}

/// The answer to a signed query, signed with a secret at a time (RFC 8945 sections 4.2 and 5.3.1).
fn signed_answer(query: &[u8], secret: &[u8], time_s: u64) -> Vec<u8> {
    let (unsigned, _) = query.split_at(query.len() - TSIG_LEN);
    let request_mac = &query[query.len() - FROM_MAC..][..32];
    let mut answer = answer(unsigned);
    answer[11] -= 1;
    let time_and_fudge = [&time_s.to_be_bytes()[2..], &[1, 44]].concat();
    let digested = [
        &[0, 32],
        request_mac,
        &answer,
        KEY_NAME,
        &[0, 255, 0, 0, 0, 0],
        ALGORITHM,
        &time_and_fudge,
        &[0; 4],
    ]
    .concat();
    let mac = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), &digested);
    let rdata = [
        ALGORITHM,
        &time_and_fudge,
        &[0, 32],
        mac.as_ref(),
        &query[..2],
        &[0; 4],
    ]
    .concat();
    answer.extend(KEY_NAME);
    answer.extend([0, 250, 0, 255, 0, 0, 0, 0, 0, rdata.len() as u8]);
    answer.extend(rdata);
    answer[11] += 1;
    answer
}

fn now_s() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs()
}

/// A server for signed queries; probes are not signed.
fn server(reply: impl Fn(&[u8]) -> Vec<u8> + Send + 'static) -> Server {
    Server::udp(move |_, query| {
        let answer = if query[11] == 0 {
            answer(query)
        } else {
            reply(query)
        };
        Some(vec![answer])
    })
}

#[test]
fn signed_answers_are_verified() {
    let server = server(|query| signed_answer(query, SECRET, now_s()));
    for threads in [1, 2] {
        let report = load(&LoadConfig {
            threads: Some(threads),
            ..dressed(server.address, PATIENT, signed())
        });
        assert_eq!((report.answered, report.tsig["verified"]), (100, 100));
    }
}

#[test]
fn answers_with_a_wrong_signature_answer_nothing() {
    for (name, reply) in [
        (
            "wrong",
            (|query: &[u8]| signed_answer(query, b"another secret", now_s()))
                as fn(&[u8]) -> Vec<u8>,
        ),
        ("time", |query| {
            signed_answer(query, SECRET, now_s() - 3_600)
        }),
        ("missing", bare),
    ] {
        let server = server(reply);
        let report = load(&dressed(server.address, SHORT, signed()));
        assert_eq!((report.timed_out, report.unmatched), (100, 100), "{name}");
        assert_eq!(report.tsig[name], 100, "{:?}", report.tsig);
    }
}
