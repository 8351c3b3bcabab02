//! Loads over TCP and DoT against servers that do harm: every query is accounted for under the name of what happened.

use super::common::{PATIENT, answer, config, load, try_load};
use super::link::{Link, listen_only, read_message, serve, server, tls, with_tls, write_message};
use dnsrig_load::{LoadConfig, LoadReport, Route, TlsVersions, TransportKind};
use rustls::version::TLS12;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

const SHORT: Duration = Duration::from_millis(200);

fn over(kind: TransportKind, server: SocketAddr, queries: u64, timeout: Duration) -> LoadConfig {
    LoadConfig {
        routes: vec![Route::new(kind, server)],
        timeout,
        ..config(server, queries)
    }
}

/// The reports of a load over TCP and one over DoT against a server that answers the probe, and then does as told.
fn reports(
    queries: u64,
    timeout: Duration,
    talk: fn(&mut dyn Link) -> bool,
) -> impl Iterator<Item = LoadReport> {
    let kinds = [TransportKind::Tcp, TransportKind::Dot];
    kinds.into_iter().map(move |kind| {
        let server = server(
            kind,
            move |number, link| {
                if number == 0 { serve(link) } else { talk(link) }
            },
        );
        load(&over(kind, server.address, queries, timeout))
    })
}

#[test]
fn a_server_that_dies_is_survived() {
    for report in reports(300, PATIENT, |link| {
        for _ in 0..30 {
            if let Some(query) = read_message(link) {
                write_message(link, &answer(&query));
            }
        }
        false
    }) {
        assert!(report.answered > 0 && report.timed_out == 0);
        assert!(
            report.refusals["connect_failed"] > 0 && report.connections.failed > 0,
            "{:?}",
            report.refusals
        );
    }
}

#[test]
fn connections_closed_after_each_answer_are_opened_again() {
    for report in reports(60, PATIENT, |link| {
        if let Some(query) = read_message(link) {
            write_message(link, &answer(&query));
        }
        true
    }) {
        let connections = report.connections;
        assert!(connections.opened > 1 && connections.closed_by_peer > 1);
        assert_eq!(report.answered + report.refusals["connection_lost"], 60);
        assert!(report.answered > 0);
    }
}

#[test]
fn connections_closed_as_soon_as_they_are_open_are_lost() {
    for report in reports(60, PATIENT, |link| {
        let _ = link.shake_hands();
        true
    }) {
        assert_eq!(report.refusals["connection_lost"], 60);
        assert_eq!(report.connections.closed_by_peer, report.connections.opened);
    }
}

#[test]
fn connections_closed_in_order_without_an_answer_are_lost() {
    for report in reports(60, PATIENT, |link| {
        let _ = link.shake_hands();
        link.say_goodbye();
        listen_only(link);
        true
    }) {
        assert_eq!(report.refusals["connection_lost"], 60);
        assert_eq!(report.malformed, 0);
    }
}

#[test]
fn answers_to_another_id_or_question_are_unmatched() {
    for report in reports(20, SHORT, |link| {
        let mut number = 0;
        while let Some(query) = read_message(link) {
            let mut other = answer(&query);
            other[if number % 2 == 0 { 0 } else { 14 }] ^= 0x15;
            write_message(link, &other);
            number += 1;
        }
        true
    }) {
        assert_eq!((report.unmatched, report.timed_out), (20, 20));
    }
}

#[test]
fn garbage_has_a_name_for_each_kind() {
    for report in reports(10, SHORT, |link| {
        while let Some(query) = read_message(link) {
            let good = answer(&query);
            let mut counting = good.clone();
            counting[7] = 1;
            write_message(link, &[]);
            write_message(link, b"garbage");
            write_message(link, &query);
            write_message(link, &good[..15]);
            write_message(link, &counting);
            write_message(link, &[&good[..], b"more"].concat());
        }
        true
    }) {
        assert_eq!((report.answered, report.timed_out), (0, 10));
        let of = |name: &str| report.malformations[name];
        assert_eq!((of("short"), of("not_a_response")), (20, 10));
        assert_eq!(
            (of("question"), of("records"), of("trailing")),
            (10, 10, 10)
        );
    }
}

#[test]
fn silence_times_out() {
    for report in reports(40, SHORT, |link| {
        listen_only(link);
        true
    }) {
        assert_eq!((report.sent, report.timed_out), (40, 40));
        assert_eq!(report.connections.opened, 1);
    }
}

#[test]
fn half_a_frame_is_cut_or_times_out() {
    for report in reports(20, PATIENT, |link| {
        if let Some(query) = read_message(link) {
            let _ = link.write_all(&[0, query.len() as u8, 1, 2, 3]);
            let _ = link.flush();
            link.say_goodbye();
            listen_only(link);
        }
        true
    }) {
        assert!(report.malformations["cut"] > 0);
        assert_eq!(report.refusals["connection_lost"], 20);
    }
    for report in reports(20, SHORT, |link| {
        if let Some(query) = read_message(link) {
            let _ = link.write_all(&[0, query.len() as u8, 1, 2, 3]);
            let _ = link.flush();
            listen_only(link);
        }
        true
    }) {
        assert_eq!((report.timed_out, report.malformed), (20, 0));
    }
}

#[test]
fn messages_longer_than_their_frame_are_malformed() {
    for report in reports(40, SHORT, |link| {
        while let Some(query) = read_message(link) {
            let answer = answer(&query);
            let frame = [&(answer.len() as u16 - 5).to_be_bytes(), answer.as_slice()].concat();
            if link.write_all(&frame).and_then(|()| link.flush()).is_err() {
                break;
            }
        }
        true
    }) {
        assert_eq!((report.answered, report.timed_out), (0, 40));
        assert!(report.malformations["question"] > 0);
    }
}

#[test]
fn an_endless_torrent_is_read_without_hanging() {
    for report in reports(20, SHORT, |link| {
        let _ = link.shake_hands();
        let frame = [&[0, 12][..], &[0x80; 12]].concat().repeat(1_000);
        while link.write_all(&frame).is_ok() {}
        true
    }) {
        assert_eq!(report.answered, 0);
        assert!(report.malformed > 1_000);
    }
}

#[test]
fn octets_that_are_no_tls_break_an_open_session_off() {
    let server = server(TransportKind::Dot, |number, link| {
        if number == 0 {
            return serve(link);
        }
        if let Some(query) = read_message(link) {
            write_message(link, &answer(&query));
            let _ = link.below().write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
            let mut raw = link.below();
            let _ = std::io::copy(&mut raw, &mut std::io::sink());
        }
        true
    });
    let report = load(&over(TransportKind::Dot, server.address, 40, PATIENT));
    let broken_off = report.refusals["protocol_error"] + report.refusals["connection_lost"];
    assert_eq!(report.answered + broken_off, 40);
    assert!(report.refusals["protocol_error"] > 0);
    assert!(report.connections.closed_by_peer > 0);
}

#[test]
fn an_alert_ends_the_handshake() {
    let config = Arc::new(tls(b"dot", &[&TLS12]));
    let server = with_tls(config, |_, link| serve(link));
    let mut asked = over(TransportKind::Dot, server.address, 10, PATIENT);
    assert_eq!(load(&asked).answered, 10, "TLS 1.2 is offered, too");
    asked.routes[0].tls.versions = TlsVersions::Tls13;
    let error = try_load(&asked).unwrap_err();
    assert!(error.to_string().contains("handshake failed"), "{error}");
}

#[test]
fn handshakes_that_are_never_answered_time_out() {
    let server = server(TransportKind::Dot, |number, link| {
        if number == 0 {
            return serve(link);
        }
        let mut raw = link.below();
        let _ = std::io::copy(&mut raw, &mut std::io::sink());
        true
    });
    let report = load(&over(TransportKind::Dot, server.address, 20, PATIENT));
    assert_eq!(report.refusals["handshake_timed_out"], 20);
    assert_eq!(
        (report.connections.tried, report.connections.failed),
        (1, 1)
    );
}
