//! Queries whose answer over UDP is truncated, sent again over TCP.

use super::common::{PATIENT, Server, answer, config, load, read_frame, udp_and_tcp, write_frame};
use dnsrig_load::{LoadConfig, LoadReport, ScheduleKind};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::Duration;

/// A server over UDP that truncates the answers for which `truncates` says so, and does as told over TCP.
fn servers(
    truncates: impl Fn(u64) -> bool + Send + 'static,
    talk: impl Fn(u64, TcpStream) -> bool + Send + Sync + 'static,
) -> (Server, Server) {
    let (udp, tcp) = udp_and_tcp();
    tcp.listen(64).unwrap();
    let udp = Server::udp_on(udp, move |number, query| {
        let mut answer = answer(query);
        answer[2] |= u8::from(truncates(number)) << 1;
        Some(vec![answer])
    });
    (udp, Server::tcp_on(tcp.into(), talk))
}

fn serve(_: u64, mut stream: TcpStream) -> bool {
    while let Some(query) = read_frame(&mut stream) {
        write_frame(&mut stream, &answer(&query));
    }
    true
}

fn with_fallback(server: SocketAddr, queries: u64) -> LoadConfig {
    LoadConfig {
        tcp_fallback: true,
        timeout: PATIENT,
        ..config(server, queries)
    }
}

/// Queries sent, moved and answered over UDP, and sent, answered and refused over TCP.
fn by_transport(report: &LoadReport) -> [u64; 6] {
    let [udp, tcp] = report.transports.as_slice() else {
        panic!("UDP and TCP have a report each");
    };
    assert_eq!(tcp.moved, 0);
    let of_tcp = [tcp.sent, tcp.answered, tcp.refused];
    [[udp.sent, udp.moved, udp.answered], of_tcp]
        .concat()
        .try_into()
        .unwrap()
}

#[test]
fn truncated_answers_are_asked_for_again_over_tcp() {
    for (threads, clients) in [(1, 1), (2, 4)] {
        let (udp, _tcp) = servers(|_| true, serve);
        let report = load(&LoadConfig {
            threads: Some(threads),
            ..with_fallback(udp.address, 500).with_clients(clients)
        });
        assert_eq!((report.sent, report.answered), (500, 500));
        assert_eq!((report.moved_to_tcp, report.truncated), (500, 0));
        assert_eq!(by_transport(&report), [500, 500, 0, 500, 500, 0]);
        // A connection is closed when nothing is in flight on it any more.
        let connections = report.connections;
        assert!((clients as u64..=500).contains(&connections.opened));
        assert!(connections.closed + clients as u64 >= connections.opened);
        assert_eq!(report.query_bytes_mean, report.response_bytes_mean);
    }
}

#[test]
fn who_asks_one_at_a_time_has_a_connection_for_each() {
    let (udp, _tcp) = servers(|_| true, serve);
    let report = load(&LoadConfig {
        schedule: ScheduleKind::ClosedLoop {
            outstanding: 1,
            max_rate_qps: None,
        },
        ..with_fallback(udp.address, 100)
    });
    assert_eq!((report.sent, report.answered), (100, 100));
    assert_eq!(report.connections.opened, 100);
}

/// A server may serve one connection at a time: who keeps it with nothing to ask would have the others wait for ever.
#[test]
fn connections_are_not_kept_from_others() {
    let (udp, tcp) = udp_and_tcp();
    tcp.listen(64).unwrap();
    let udp = Server::udp_on(udp, |_, query| {
        let mut answer = answer(query);
        answer[2] |= 2;
        Some(vec![answer])
    });
    let listener: std::net::TcpListener = tcp.into();
    let one_by_one = thread::spawn(move || {
        let mut answered = 0;
        while answered < 200 {
            let (mut stream, _) = listener.accept().unwrap();
            while let Some(query) = read_frame(&mut stream) {
                write_frame(&mut stream, &answer(&query));
                answered += 1;
            }
        }
    });
    let report = load(&with_fallback(udp.address, 200).with_clients(20));
    assert_eq!((report.answered, report.moved_to_tcp), (200, 200));
    one_by_one.join().unwrap();
}

#[test]
fn whole_answers_are_not() {
    let (udp, _tcp) = servers(|number| number % 2 == 1, serve);
    let report = load(&with_fallback(udp.address, 400));
    assert_eq!((report.answered, report.moved_to_tcp), (400, 200));
    assert_eq!(by_transport(&report), [400, 200, 200, 200, 200, 0]);
}

#[test]
fn sizes_are_those_of_answers_that_ended_queries() {
    let talk = |_: u64, mut stream: TcpStream| {
        while let Some(query) = read_frame(&mut stream) {
            let mut answer = answer(&query);
            // A record of type NULL, with 100 octets, for the root.
            answer[7] = 1;
            answer.extend([&[0, 0, 10, 0, 1, 0, 0, 0, 0, 0, 100][..], &[0; 100]].concat());
            write_frame(&mut stream, &answer);
        }
        true
    };
    let (udp, _tcp) = servers(|_| true, talk);
    let report = load(&with_fallback(udp.address, 50));
    let record = report.response_bytes_mean.unwrap() - report.query_bytes_mean.unwrap();
    assert_eq!((report.answered, record.round()), (50, 111.0));
}

#[test]
fn answers_that_are_truncated_over_tcp_too_are_answers() {
    let (udp, _tcp) = servers(
        |_| true,
        |_, mut stream| {
            while let Some(query) = read_frame(&mut stream) {
                let mut answer = answer(&query);
                answer[2] |= 2;
                write_frame(&mut stream, &answer);
            }
            true
        },
    );
    let report = load(&with_fallback(udp.address, 50));
    assert_eq!((report.answered, report.moved_to_tcp), (50, 50));
    assert_eq!(report.truncated, 50);
}

#[test]
fn answers_that_were_cut_are_truncated_ones() {
    let cut = |_: u64, query: &[u8]| {
        let mut answer = answer(query);
        answer[2] |= 2;
        // Counts three records and has part of one.
        answer[7] = 3;
        answer.extend(b"\xc0\x0c\0\x01\0\x01\0\0");
        Some(vec![answer])
    };
    let alone = Server::udp(cut);
    let report = load(&LoadConfig {
        timeout: PATIENT,
        ..config(alone.address, 50)
    });
    assert_eq!((report.answered, report.truncated), (50, 50));
    assert_eq!(report.malformed, 0);

    let (udp, tcp) = udp_and_tcp();
    tcp.listen(64).unwrap();
    let (udp, _tcp) = (Server::udp_on(udp, cut), Server::tcp_on(tcp.into(), serve));
    let report = load(&with_fallback(udp.address, 50));
    assert_eq!((report.answered, report.moved_to_tcp), (50, 50));
}

#[test]
fn latency_goes_on_counting() {
    const DELAY: Duration = Duration::from_millis(20);
    let (udp, tcp) = udp_and_tcp();
    tcp.listen(64).unwrap();
    let udp = Server::udp_on(udp, |_, query| {
        thread::sleep(DELAY);
        let mut answer = answer(query);
        answer[2] |= 2;
        Some(vec![answer])
    });
    let _tcp = Server::tcp_on(tcp.into(), serve);
    for schedule in [
        ScheduleKind::ClosedLoop {
            outstanding: 1,
            max_rate_qps: None,
        },
        ScheduleKind::FixedRate { rate_qps: 100.0 },
    ] {
        let report = load(&LoadConfig {
            schedule,
            ..with_fallback(udp.address, 5)
        });
        let tcp = &report.transports[1];
        let least_ns = Some(DELAY.as_nanos() as u64 * 999 / 1000);
        assert_eq!(tcp.answered, 5);
        assert!(tcp.latency_ns.least >= least_ns && report.latency_ns.least >= least_ns);
    }
}

#[test]
fn a_server_without_tcp_refuses_what_was_moved() {
    for threads in [1, 2] {
        let (udp, _taken) = udp_and_tcp();
        let udp = Server::udp_on(udp, |_, query| {
            let mut answer = answer(query);
            answer[2] |= 2;
            Some(vec![answer])
        });
        let report = load(&LoadConfig {
            threads: Some(threads),
            ..with_fallback(udp.address, 60)
        });
        assert_eq!((report.moved_to_tcp, report.refused), (60, 60));
        assert_eq!(by_transport(&report), [60, 60, 0, 60, 0, 60]);
        assert!(
            report.refusals["connect_failed"] > 0,
            "{:?}",
            report.refusals
        );
        // Not by the evidence for a bottleneck: of a load as short as this one, other programs may be it.
        assert!(
            report
                .tainted
                .iter()
                .any(|why| why.contains("were refused")),
            "{:?}",
            report.tainted
        );
    }
}

#[test]
fn a_server_that_is_silent_over_tcp_times_out_what_was_moved() {
    let (udp, _tcp) = servers(
        |_| true,
        |_, mut stream| {
            while read_frame(&mut stream).is_some() {}
            true
        },
    );
    let report = load(&LoadConfig {
        timeout: Duration::from_millis(200),
        ..with_fallback(udp.address, 40)
    });
    assert_eq!((report.moved_to_tcp, report.timed_out), (40, 40));
    assert_eq!(report.transports[1].timed_out, 40);
}

#[test]
fn a_server_that_closes_each_connection_loses_what_was_moved() {
    let (udp, _tcp) = servers(|_| true, |_, _| true);
    let report = load(&with_fallback(udp.address, 60));
    assert_eq!(report.moved_to_tcp, 60);
    assert_eq!(report.refused, 60);
    assert!(report.refusals["connection_lost"] > 0);
}
