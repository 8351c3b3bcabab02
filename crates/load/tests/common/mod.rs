//! Small servers on loopback that behave as told, and short loads against them.

#![allow(dead_code, reason = "each test program uses its own part of these")]

use dnsrig_load::report::TransportReport;
use dnsrig_load::{
    IntervalFigures, LoadConfig, LoadError, LoadReport, Progress, ScheduleKind, StopCondition, run,
};
use dnsrig_stream::QueryStream;
use socket2::{Domain, Socket, Type};
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

pub const LOOPBACK: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 0);

/// Time enough for any answer on a busy machine.
pub const PATIENT: Duration = Duration::from_secs(20);

/// How often servers look whether they are to stop.
const POLL: Duration = Duration::from_millis(20);

/// A thread that serves until it is dropped.
pub struct Server {
    pub address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    pub fn spawn(address: SocketAddr, serve: impl FnOnce(&AtomicBool) + Send + 'static) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        Self {
            address,
            stop,
            thread: Some(thread::spawn(move || serve(&flag))),
        }
    }

    /// A UDP server that calls `reply` with the number (the probe is 0) and octets of each query and sends what it
    /// gives; `None` makes it close its socket.
    pub fn udp(reply: impl FnMut(u64, &[u8]) -> Option<Vec<Vec<u8>>> + Send + 'static) -> Self {
        Self::udp_on(UdpSocket::bind(LOOPBACK).unwrap(), reply)
    }

    /// The same on a socket.
    pub fn udp_on(
        socket: UdpSocket,
        mut reply: impl FnMut(u64, &[u8]) -> Option<Vec<Vec<u8>>> + Send + 'static,
    ) -> Self {
        socket.set_read_timeout(Some(POLL)).unwrap();
        Self::spawn(socket.local_addr().unwrap(), move |stop| {
            let mut buffer = [0; 4096];
            let mut number = 0;
            while !stop.load(Ordering::Relaxed) {
                let Ok((len, peer)) = socket.recv_from(&mut buffer) else {
                    continue;
                };
                let Some(answers) = reply(number, &buffer[..len]) else {
                    return;
                };
                for answer in answers {
                    let _ = socket.send_to(&answer, peer);
                }
                number += 1;
            }
        })
    }

    /// A TCP server that calls `talk` with the number of each connection (the probe's is 0), in a thread of its own;
    /// it stops listening when `talk` gives `false`.
    pub fn tcp(talk: impl Fn(u64, TcpStream) -> bool + Send + Sync + 'static) -> Self {
        Self::tcp_on(TcpListener::bind(LOOPBACK).unwrap(), talk)
    }

    /// The same with a listener.
    pub fn tcp_on(
        listener: TcpListener,
        talk: impl Fn(u64, TcpStream) -> bool + Send + Sync + 'static,
    ) -> Self {
        listener.set_nonblocking(true).unwrap();
        Self::spawn(listener.local_addr().unwrap(), move |stop| {
            let open = AtomicBool::new(true);
            thread::scope(|scope| {
                let mut number = 0;
                while !stop.load(Ordering::Relaxed) && open.load(Ordering::Relaxed) {
                    match listener.accept() {
                        Ok((stream, _)) => {
                            stream.set_nonblocking(false).unwrap();
                            let (talk, open) = (&talk, &open);
                            scope.spawn(move || {
                                open.fetch_and(talk(number, stream), Ordering::Relaxed)
                            });
                            number += 1;
                        }
                        Err(_) => thread::sleep(Duration::from_millis(1)),
                    }
                }
                drop(listener);
            });
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// An address whose port is free both for UDP, as the socket has it, and for TCP; that is taken, without being listened
/// at, as long as the other socket lives.
pub fn udp_and_tcp() -> (UdpSocket, Socket) {
    for _ in 0..100 {
        let udp = UdpSocket::bind(LOOPBACK).unwrap();
        let tcp = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        tcp.set_reuse_address(true).unwrap();
        if tcp.bind(&udp.local_addr().unwrap().into()).is_ok() {
            return (udp, tcp);
        }
    }
    panic!("no port is free for both UDP and TCP");
}

/// Reads one framed message, or `None` at the end of the connection.
pub fn read_frame(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut len = [0; 2];
    read_exact(stream, &mut len)?;
    let mut message = vec![0; usize::from(u16::from_be_bytes(len))];
    read_exact(stream, &mut message)?;
    Some(message)
}

fn read_exact(stream: &mut TcpStream, mut buffer: &mut [u8]) -> Option<()> {
    while !buffer.is_empty() {
        match stream.read(buffer) {
            Ok(0) => return None,
            Ok(count) => buffer = &mut buffer[count..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
    Some(())
}

/// Writes one framed message.
pub fn write_frame(stream: &mut TcpStream, message: &[u8]) {
    let _ = stream.write_all(&[&(message.len() as u16).to_be_bytes(), message].concat());
}

/// The good answer to a query: NOERROR without records.
pub fn answer(query: &[u8]) -> Vec<u8> {
    let mut answer = query.to_vec();
    answer[2] |= 0x80;
    answer
}

/// A stream of `count` queries for different names.
pub fn stream(count: usize) -> QueryStream {
    let mut stream = QueryStream::default();
    for number in 0..count {
        let label = format!("name{number}");
        let mut query = vec![0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, label.len() as u8];
        query.extend_from_slice(label.as_bytes());
        query.extend_from_slice(b"\x07example\0\0\x01\0\x01");
        stream.push(&query);
    }
    stream
}

/// A closed loop of 20 queries in flight that sends `queries` and waits 300 ms for answers.
pub fn config(server: SocketAddr, queries: u64) -> LoadConfig {
    LoadConfig {
        schedule: ScheduleKind::ClosedLoop {
            outstanding: 20,
            max_rate_qps: None,
        },
        stop: StopCondition {
            queries: Some(queries),
            ..StopCondition::default()
        },
        timeout: Duration::from_millis(300),
        ..LoadConfig::new(server)
    }
}

/// Runs a load and checks what holds for every report.
pub fn load(config: &LoadConfig) -> LoadReport {
    checked(try_load(config))
}

/// The same of a stream.
pub fn load_of(stream: &QueryStream, config: &LoadConfig) -> LoadReport {
    let goes_on = |_: &Progress<'_>| ControlFlow::Continue(());
    checked(run(stream, config, &AtomicBool::new(false), goes_on))
}

/// A report, after a check of what holds for every one.
pub fn checked(report: Result<LoadReport, LoadError>) -> LoadReport {
    let report = report.unwrap_or_else(|error| panic!("{error}"));
    let ended = report.answered + report.timed_out + report.refused + report.abandoned;
    assert_eq!(report.sent, ended);
    assert_eq!(report.answered, report.rcodes.values().sum::<u64>());
    assert_eq!(report.refused, report.refusals.values().sum::<u64>());
    assert_eq!(report.malformed, report.malformations.values().sum::<u64>());
    let histogram = dnsrig_load::histogram::decode(&report.latency_histogram).unwrap();
    assert_eq!(report.answered, histogram.len());
    assert!(!report.evidence.is_empty());
    let connections = &report.connections;
    assert!(connections.tried >= connections.opened + connections.failed);
    assert!(connections.opened >= connections.closed_by_peer + connections.closed);
    check_intervals(&report);
    check_transports(&report);
    report
}

/// All intervals together are the whole.
fn check_intervals(report: &LoadReport) {
    let over_all = |count: fn(&IntervalFigures) -> u64| {
        let intervals = report.intervals.iter();
        intervals
            .map(|interval| count(&interval.figures))
            .sum::<u64>()
    };
    assert_eq!(report.intervals_left_out, 0);
    assert_eq!(report.sent, over_all(|figures| figures.sent));
    assert_eq!(report.answered, over_all(|figures| figures.answered));
    assert_eq!(report.timed_out, over_all(|figures| figures.timed_out));
    assert_eq!(report.refused, over_all(|figures| figures.refused));
    assert_eq!(report.late, over_all(|figures| figures.late));
    let strays = report.unmatched + report.malformed;
    assert_eq!(strays, over_all(|figures| figures.strays));
    let tried = over_all(|figures| figures.connections.tried);
    assert_eq!(report.connections.tried, tried);
}

/// All transports together are the whole, where a query that was moved counts once.
fn check_transports(report: &LoadReport) {
    if report.transports.is_empty() {
        return;
    }
    for part in &report.transports {
        let ended = part.answered + part.timed_out + part.refused + part.abandoned;
        assert_eq!(part.sent, ended + part.moved);
    }
    let over_all = |count: fn(&TransportReport) -> u64| {
        let parts = report.transports.iter();
        parts.map(count).sum::<u64>()
    };
    assert_eq!(report.moved_to_tcp, over_all(|part| part.moved));
    let sent = over_all(|part| part.sent);
    assert_eq!(report.sent + report.moved_to_tcp, sent);
    assert_eq!(report.answered, over_all(|part| part.answered));
    assert_eq!(report.timed_out, over_all(|part| part.timed_out));
    assert_eq!(report.refused, over_all(|part| part.refused));
    assert_eq!(report.abandoned, over_all(|part| part.abandoned));
    assert_eq!(report.unmatched, over_all(|part| part.unmatched));
    assert_eq!(report.malformed, over_all(|part| part.malformed));
    assert_eq!(report.truncated, over_all(|part| part.truncated));
    assert_eq!(report.bytes.sent, over_all(|part| part.bytes.sent));
    assert_eq!(report.bytes.received, over_all(|part| part.bytes.received));
    let octets = over_all(|part| part.wire.octets_sent);
    assert_eq!(report.wire.octets_sent, octets);
    let rates: f64 = report.transports.iter().map(|part| part.qps).sum();
    assert!((report.qps - rates).abs() <= 1e-6 * report.qps);
}

pub fn try_load(config: &LoadConfig) -> Result<LoadReport, LoadError> {
    let goes_on = |_: &Progress<'_>| ControlFlow::Continue(());
    run(&stream(100), config, &AtomicBool::new(false), goes_on)
}
