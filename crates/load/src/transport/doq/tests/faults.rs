//! What goes wrong between client and server.

use super::driver::Load;
use super::server::{Identity, Server, serve};
use crate::clock::Clock;
use crate::config::SessionSettings;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Passes datagrams between one client and a server, and does harm to them.
struct Path {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Path {
    /// `harm` is given the number of each datagram and its octets, and gives what is passed on instead.
    fn new(server: SocketAddr, harm: impl Fn(u64, &[u8]) -> Vec<Vec<u8>> + Send + 'static) -> Self {
        let near = UdpSocket::bind("127.0.0.1:0").unwrap();
        let far = UdpSocket::bind("127.0.0.1:0").unwrap();
        far.connect(server).unwrap();
        for socket in [&near, &far] {
            socket
                .set_read_timeout(Some(Duration::from_millis(1)))
                .unwrap();
        }
        let address = near.local_addr().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let flag = stop.clone();
        let thread = thread::spawn(move || {
            let mut buffer = [0; 65_536];
            let mut client = None;
            let mut number = 0;
            while !flag.load(Ordering::Relaxed) {
                if let Ok((len, from)) = near.recv_from(&mut buffer) {
                    client = Some(from);
                    for datagram in harm(number, &buffer[..len]) {
                        let _ = far.send(&datagram);
                    }
                    number += 1;
                }
                if let (Ok(len), Some(client)) = (far.recv(&mut buffer), client) {
                    for datagram in harm(number, &buffer[..len]) {
                        let _ = near.send_to(&datagram, client);
                    }
                    number += 1;
                }
            }
        });
        Self {
            address,
            stop,
            thread: Some(thread),
        }
    }
}

impl Drop for Path {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[test]
fn lost_datagrams_are_sent_again() {
    let server = Server::good();
    let path = Path::new(server.address, |number, octets| {
        if number % 7 == 3 {
            Vec::new()
        } else {
            vec![octets.to_vec()]
        }
    });
    let mut load = Load::new(path.address, 1, &SessionSettings::default());
    load.run(200);
    assert_eq!((load.seen.answered, load.seen.opened()), (200, 1));
}

#[test]
fn garbage_repeated_and_damaged_datagrams_do_no_harm() {
    let server = Server::good();
    let path = Path::new(server.address, |number, octets| {
        let mut damaged = octets.to_vec();
        let place = number as usize % damaged.len();
        damaged[place] ^= 0x55;
        let mut garbage = vec![number as u8; 1 + number as usize % 1300];
        garbage[0] |= 0x40;
        vec![garbage, damaged, octets.to_vec(), octets.to_vec()]
    });
    let mut load = Load::new(path.address, 1, &SessionSettings::default());
    load.run(200);
    assert_eq!((load.seen.answered, load.seen.opened()), (200, 1));
}

#[test]
fn a_server_that_dies_and_comes_back_is_survived() {
    let talk = |_, incoming: quinn::Incoming| async move {
        if let Ok(connection) = incoming.await {
            serve(connection).await;
        }
    };
    let config = Identity::new().config(b"doq");
    let server = Server::new(config.clone(), talk);
    let address = server.address;
    for clients in [1, 4] {
        let mut load = Load::new(address, clients, &SessionSettings::default());
        load.run(100);
        assert_eq!(load.seen.answered, 100);
        let mut dead = Load::new(address, clients, &SessionSettings::default());
        dead.run(20);
        drop(dead);
    }
    let mut load = Load::new(address, 4, &SessionSettings::default());
    load.run(100);
    drop(server);
    let died_ns = load.clock.now_ns();
    load.run(140);
    assert!((died_ns..=load.clock.now_ns()).contains(&load.seen.last_refusal_ns));
    assert_eq!(load.seen.answered, 100);
    assert!(load.seen.closed_by_peer == 4 && load.seen.failed["connect_failed"] > 0);
    let _server = Server::at(address, config, talk);
    load.window = 4;
    let before = load.sent;
    // Pauses of clients may still refuse a few.
    load.run(before + 200);
    assert!(load.seen.answered >= 250, "{}", load.seen.answered);
}
