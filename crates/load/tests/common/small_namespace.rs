//! A network namespace with four local ports.

use std::fs;
use std::io;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::thread;

/// Does something where there are four ports: in a thread with a network namespace of its own. Without root, it is skipped.
pub fn in_small_namespace(test: impl FnOnce() + Send + 'static) {
    let test = || match enter_small_namespace() {
        Ok(()) => test(),
        Err(error) => eprintln!("skipped: making a network namespace, which needs root: {error}"),
    };
    thread::spawn(test).join().unwrap();
}

/// Moves the calling thread, and those that it starts, into the namespace.
fn enter_small_namespace() -> io::Result<()> {
    // SAFETY: takes no pointers; the namespace is this thread's alone.
    if unsafe { libc::unshare(libc::CLONE_NEWNET) } < 0 {
        return Err(io::Error::last_os_error());
    }
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    // SAFETY: an all-zero ifreq is a valid one.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    request.ifr_name[0] = b'l' as libc::c_char;
    request.ifr_name[1] = b'o' as libc::c_char;
    request.ifr_ifru.ifru_flags = libc::IFF_UP as libc::c_short;
    // SAFETY: `request` is what this call takes, and outlives it.
    if unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &request) } < 0 {
        return Err(io::Error::last_os_error());
    }
    fs::write("/proc/sys/net/ipv4/ip_local_port_range", "40000 40003")
}
