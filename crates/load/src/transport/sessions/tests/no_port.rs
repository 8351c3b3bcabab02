//! No port left, in a network namespace that has four.

use super::*;
use std::fs;
use std::os::fd::AsRawFd;

/// Moves the calling thread into a network namespace of its own, with four local ports.
fn enter_small_namespace() -> std::io::Result<()> {
    // SAFETY: takes no pointers; the namespace is this thread's alone.
    if unsafe { libc::unshare(libc::CLONE_NEWNET) } < 0 {
        return Err(std::io::Error::last_os_error());
    }
    let socket = std::net::UdpSocket::bind("0.0.0.0:0")?;
    // SAFETY: an all-zero ifreq is a valid one.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    request.ifr_name[0] = b'l' as libc::c_char;
    request.ifr_name[1] = b'o' as libc::c_char;
    request.ifr_ifru.ifru_flags = libc::IFF_UP as libc::c_short;
    // SAFETY: `request` is what this call takes, and outlives it.
    if unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &request) } < 0 {
        return Err(std::io::Error::last_os_error());
    }
    fs::write("/proc/sys/net/ipv4/ip_local_port_range", "40000 40003")
}

#[test]
fn no_port_is_left() {
    thread::spawn(|| {
        if let Err(error) = enter_small_namespace() {
            eprintln!("skipped: making a network namespace, which needs root: {error}");
            return;
        }
        let listener = TcpListener::bind("127.0.0.1:53").unwrap();
        let server = listener.local_addr().unwrap();
        let run = |sources: &[&str], clients| {
            let sources: Vec<_> = sources
                .iter()
                .map(|source| source.parse().unwrap())
                .collect();
            let transport = Tcp::open(server, &sources, clients, &SessionSettings::default());
            let mut load = Driver::new(transport.unwrap());
            for client in 0..clients {
                load.ask(client, 1);
            }
            load.until(|load| {
                load.record.opened() + load.record.failed(Refusal::NoPort) == clients
            });
            (load.record.opened(), load.record.refusals.clone())
        };
        assert_eq!(run(&[], 6), (4, vec![Refusal::NoPort; 2]));
        assert_eq!(run(&["127.0.1.1"], 5), (4, vec![Refusal::NoPort]));
        let sources = ["127.0.2.1", "127.0.2.2", "127.0.2.3"];
        assert_eq!(
            run(&sources, 12),
            (12, vec![]),
            "ports are a matter of each source address"
        );
    })
    .join()
    .unwrap();
}
