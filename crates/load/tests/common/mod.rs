//! Small servers on loopback that behave as told, and short loads against them.

#![allow(dead_code, reason = "each test program uses its own part of these")]

use dnsrig_load::{LoadConfig, LoadError, LoadReport, ScheduleKind, StopCondition, run};
use dnsrig_stream::QueryStream;
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
    pub fn udp(mut reply: impl FnMut(u64, &[u8]) -> Option<Vec<Vec<u8>>> + Send + 'static) -> Self {
        let socket = UdpSocket::bind(LOOPBACK).unwrap();
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
        let listener = TcpListener::bind(LOOPBACK).unwrap();
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
    let report = try_load(config).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        report.sent,
        report.answered + report.timed_out + report.refused + report.abandoned
    );
    assert_eq!(report.answered, report.rcodes.values().sum::<u64>());
    assert_eq!(report.refused, report.refusals.values().sum::<u64>());
    assert_eq!(
        report.sent,
        report
            .intervals
            .iter()
            .map(|interval| interval.figures.sent)
            .sum::<u64>()
    );
    assert_eq!(
        report.answered,
        report
            .intervals
            .iter()
            .map(|interval| interval.figures.answered)
            .sum::<u64>()
    );
    assert_eq!(
        report.answered,
        dnsrig_load::histogram::decode(&report.latency_histogram)
            .unwrap()
            .len()
    );
    assert!(!report.evidence.is_empty());
    report
}

pub fn try_load(config: &LoadConfig) -> Result<LoadReport, LoadError> {
    run(&stream(100), config, &AtomicBool::new(false), |_| {
        ControlFlow::Continue(())
    })
}
