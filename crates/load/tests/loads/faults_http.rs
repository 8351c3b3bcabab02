//! Loads over DoH against servers that do harm: every query is accounted for under the name of what happened.

use super::common::{PATIENT, Server, answer, config, load, try_load};
use super::http::{DATA, END_STREAM, GOAWAY, Http, RST_STREAM, serve};
use super::link::{Link, listen_only, server, tls, with_tls};
use dnsrig_load::{LoadConfig, LoadReport, Route, TransportKind};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

const SHORT: Duration = Duration::from_millis(200);
const DNS: &str = "application/dns-message";

fn doh(server: SocketAddr, queries: u64, timeout: Duration) -> LoadConfig {
    LoadConfig {
        routes: vec![Route::new(TransportKind::Doh, server)],
        timeout,
        ..config(server, queries)
    }
}

/// A server that answers the probe, and then does as told with each connection.
fn bad_server(talk: impl Fn(Http) + Send + Sync + 'static) -> Server {
    server(TransportKind::Doh, move |number, link| {
        if number == 0 {
            return serve(link);
        }
        if let Some(http) = Http::accept(link, &[]) {
            talk(http);
        }
        true
    })
}

/// The report of a load against a server that does as told with each query.
fn report(
    queries: u64,
    timeout: Duration,
    reply: impl Fn(&mut Http, u32, &[u8]) + Send + Sync + 'static,
) -> LoadReport {
    let server = bad_server(move |mut http| {
        while let Some((stream, query)) = http.query() {
            reply(&mut http, stream, &query);
        }
    });
    load(&doh(server.address, queries, timeout))
}

#[test]
fn a_good_server_answers_all() {
    let report = report(500, PATIENT, |http, stream, query| {
        http.answer(stream, query);
    });
    assert_eq!((report.answered, report.connections.opened), (500, 1));
}

#[test]
fn http_statuses_are_counted_one_by_one() {
    let report = report(60, PATIENT, |http, stream, _| {
        let status = ["404", "429", "500"][(stream / 2 % 3) as usize];
        http.respond(stream, status, "text/html", b"<h1>no</h1>");
    });
    assert_eq!((report.refused, report.refusals["http_status"]), (60, 60));
    let counted: Vec<_> = report.http_statuses.into_iter().collect();
    assert_eq!(counted, [(404, 20), (429, 20), (500, 20)]);
}

#[test]
fn a_server_that_never_speaks_http_is_said() {
    let server = server(TransportKind::Doh, |_, link| {
        listen_only(link);
        true
    });
    let error = try_load(&doh(server.address, 1, SHORT)).unwrap_err();
    assert!(error.to_string().contains("no answer"), "{error}");
}

#[test]
fn other_content_is_refused() {
    let report = report(20, PATIENT, |http, stream, query| {
        http.respond(stream, "200", "text/html", &answer(query));
    });
    assert_eq!(report.refusals["http_content"], 20);
}

#[test]
fn reset_streams_are_counted() {
    let report = report(20, PATIENT, |http, stream, _| {
        http.frame(RST_STREAM, 0, stream, &[0, 0, 0, 7]);
    });
    assert_eq!(report.refusals["stream_reset"], 20);
    assert_eq!(report.connections.closed_by_peer, 0);
}

#[test]
fn answers_that_are_none_are_malformed() {
    let report = report(30, SHORT, |http, stream, query| {
        let good = answer(query);
        match stream / 2 % 3 {
            0 => http.respond(stream, "200", DNS, b"garbage"),
            1 => http.respond(stream, "200", DNS, query),
            _ => http.respond(stream, "200", DNS, &[&good[..], b"more"].concat()),
        }
    });
    assert_eq!((report.answered, report.timed_out), (0, 30));
    let of = |name: &str| report.malformations[name];
    assert_eq!(
        (of("short"), of("not_a_response"), of("trailing")),
        (10, 10, 10)
    );
}

#[test]
fn answers_to_another_question_are_unmatched() {
    let report = report(20, SHORT, |http, stream, query| {
        let mut other = answer(query);
        other[14] ^= 0x15;
        http.respond(stream, "200", DNS, &other);
    });
    assert_eq!((report.unmatched, report.timed_out), (20, 20));
}

#[test]
fn content_longer_or_shorter_than_said_is_malformed() {
    let report = report(20, SHORT, |http, stream, query| {
        let said = if stream / 2 % 2 == 0 { "5" } else { "500" };
        http.head(
            stream,
            "200",
            &[("content-type", DNS), ("content-length", said)],
        );
        http.frame(DATA, END_STREAM, stream, &answer(query));
    });
    let of = |name: &str| report.malformations[name];
    assert_eq!((of("long"), of("cut"), report.timed_out), (10, 10, 20));
}

#[test]
fn silence_times_out() {
    let report = report(40, SHORT, |_, _, _| {});
    assert_eq!((report.timed_out, report.answered), (40, 0));
}

#[test]
fn a_server_that_goes_away_loses_what_it_has_not_answered() {
    let server = bad_server(|mut http| {
        for _ in 0..5 {
            if let Some((stream, query)) = http.query() {
                http.answer(stream, &query);
            }
        }
        http.frame(GOAWAY, 0, 0, &[0; 8]);
    });
    let report = load(&doh(server.address, 100, PATIENT));
    assert!(report.answered > 0 && report.connections.closed_by_peer > 1);
    assert_eq!(report.timed_out, 0);
}

#[test]
fn half_an_answer_is_cut() {
    let server = bad_server(|mut http| {
        if let Some((stream, query)) = http.query() {
            http.head(stream, "200", &[("content-type", DNS)]);
            http.frame(DATA, 0, stream, &query[..10]);
        }
        http.link.say_goodbye();
        listen_only(http.link);
    });
    let report = load(&doh(server.address, 20, PATIENT));
    assert!(report.malformations["cut"] > 0);
    assert_eq!(report.refusals["connection_lost"], 20);
}

#[test]
fn broken_rules_of_http_break_the_session_off() {
    type Breach = fn(&mut Http);
    let breaches: [(&str, Breach); 3] = [
        ("an oversized frame", |http| {
            let _ = http.link.write_all(&[0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 1]);
            let _ = http.link.flush();
        }),
        ("DATA of no stream", |http| http.frame(DATA, 0, 0, b"x")),
        ("SETTINGS of a wrong length", |http| {
            http.frame(crate::http::SETTINGS, 0, 0, &[1]);
        }),
    ];
    for (name, breach) in breaches {
        let server = bad_server(move |mut http| {
            breach(&mut http);
            listen_only(http.link);
        });
        let report = load(&doh(server.address, 20, PATIENT));
        assert_eq!(report.refusals["protocol_error"], 20, "{name}");
    }
}

#[test]
fn a_server_that_permits_no_stream_does_not_hang_the_load() {
    let server = server(TransportKind::Doh, |number, link| {
        if number == 0 {
            return serve(link);
        }
        let no_streams = [0, 3, 0, 0, 0, 0];
        if let Some(mut http) = Http::accept(link, &no_streams) {
            while http.query().is_some() {}
        }
        true
    });
    let report = load(&doh(server.address, 40, SHORT));
    assert_eq!(report.sent, 40);
    assert_eq!(report.answered, 0);
}

#[test]
fn a_server_of_http_1_is_said_at_once() {
    let talk = |_: u64, link: &mut dyn Link| {
        let _ = link.shake_hands();
        let _ = link.write_all(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
        let _ = link.flush();
        listen_only(link);
        true
    };
    for alpn in [b"h2".as_slice(), b"http/1.1"] {
        let config = Arc::new(tls(alpn, rustls::ALL_VERSIONS));
        let server = with_tls(config, talk);
        let error = try_load(&doh(server.address, 1, PATIENT)).unwrap_err();
        assert!(
            error.to_string().contains("does not answer over"),
            "{error}"
        );
    }
}
