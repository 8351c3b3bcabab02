//! Socket options and thread settings that the standard library lacks.

use super::Wire;
use crate::LoadError;
use socket2::Socket;
use std::io;
use std::mem;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

/// Kernel buffer asked for at each UDP socket, in octets, so that bursts of answers find room.
pub const UDP_BUFFER: usize = 8 << 20;

/// Index of the drop counter in what `SO_MEMINFO` gives (linux/sock_diag.h).
const SK_MEMINFO_DROPS: usize = 8;

/// Makes the kernel's buffers of a socket as large as permitted, up to [`UDP_BUFFER`].
pub fn enlarge_buffers(socket: BorrowedFd<'_>) {
    let size = UDP_BUFFER as libc::c_int;
    for (forced, plain) in [
        (libc::SO_RCVBUFFORCE, libc::SO_RCVBUF),
        (libc::SO_SNDBUFFORCE, libc::SO_SNDBUF),
    ] {
        // The forced form needs CAP_NET_ADMIN; the plain one is silently limited by net.core.rmem_max. Smaller buffers
        // are no error: what they lose is counted as socket drops.
        if set_option(socket, libc::SOL_SOCKET, forced, size).is_err() {
            let _ = set_option(socket, libc::SOL_SOCKET, plain, size);
        }
    }
}

/// Asks for the time of arrival with each datagram.
///
/// # Errors
/// The kernel's.
pub fn stamp_arrivals(socket: BorrowedFd<'_>) -> io::Result<()> {
    set_option(socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, 1)
}

/// Has datagrams of one length that arrived one after the other received together, where the kernel has them so: from a
/// network interface with generic receive offload, or from a sender on this machine that uses segmentation offload
/// (udp(7), `UDP_GRO`; Linux 5.0). Older kernels go on without.
pub fn take_together(socket: BorrowedFd<'_>) {
    let _ = set_option(socket, libc::SOL_UDP, libc::UDP_GRO, 1);
}

/// Asks for ICMP errors together with the datagram that each is about.
///
/// # Errors
/// The kernel's.
pub fn queue_errors(socket: BorrowedFd<'_>, server: SocketAddr) -> io::Result<()> {
    match server {
        SocketAddr::V4(_) => set_option(socket, libc::IPPROTO_IP, libc::IP_RECVERR, 1),
        SocketAddr::V6(_) => set_option(socket, libc::IPPROTO_IPV6, libc::IPV6_RECVERR, 1),
    }
}

/// Gives a socket its local address. The port is chosen when it connects, so that as many sockets as there are ports can
/// connect to each server from each address, not as many as there are ports in all.
///
/// # Errors
/// The kernel's.
pub fn bind_source(socket: &Socket, source: IpAddr) -> io::Result<()> {
    // Sockets of IPv6 take this option at the level of IPv4, too.
    set_option(
        socket.as_fd(),
        libc::IPPROTO_IP,
        libc::IP_BIND_ADDRESS_NO_PORT,
        1,
    )?;
    socket.bind(&SocketAddr::new(source, 0).into())
}

/// Checks that sockets to `server` can have these local addresses.
///
/// # Errors
/// [`LoadError::Setting`] for the first one that is of another family or not an address of this machine.
pub fn check_sources(server: SocketAddr, sources: &[IpAddr]) -> Result<(), LoadError> {
    for source in sources {
        let fail = |reason| {
            Err(LoadError::Setting {
                option: "sources",
                reason,
            })
        };
        if source.is_ipv4() != server.is_ipv4() {
            return fail(format!(
                "{source} and the server's address {} are of different families; give addresses of one",
                server.ip()
            ));
        }
        // That all its ports are taken is another matter.
        if let Err(error) = std::net::UdpSocket::bind((*source, 0))
            && error.kind() != io::ErrorKind::AddrInUse
        {
            return fail(format!(
                "{source} cannot be used: {error}; give addresses that are configured here (ip address)"
            ));
        }
    }
    Ok(())
}

/// What crossed the wire in a TCP connection so far, by the kernel's count; nothing if there is no such count.
pub fn tcp_wire(socket: BorrowedFd<'_>) -> Wire {
    // SAFETY: an all-zero tcp_info is a valid one; it holds integers alone.
    let mut info: libc::tcp_info = unsafe { mem::zeroed() };
    let mut len = mem::size_of_val(&info) as libc::socklen_t;
    // SAFETY: `info` has room for `len` octets, and both outlive the call. Older kernels fill in less.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut info).cast(),
            &mut len,
        )
    };
    if result < 0 {
        return Wire::default();
    }
    Wire {
        octets_sent: info.tcpi_bytes_sent,
        octets_received: info.tcpi_bytes_received,
        packets_sent: u64::from(info.tcpi_segs_out),
        packets_received: u64::from(info.tcpi_segs_in),
    }
}

fn set_option(
    socket: BorrowedFd<'_>,
    level: libc::c_int,
    name: libc::c_int,
    value: libc::c_int,
) -> io::Result<()> {
    // SAFETY: the option's value is an int, and that is the size given.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            name,
            (&raw const value).cast(),
            mem::size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

/// Datagrams that the kernel dropped at this socket since it was made.
///
/// It is the counter of `SO_RXQ_OVFL`, fetched once instead of with each datagram; the kernel keeps 32 bits of it.
pub fn drops(socket: BorrowedFd<'_>) -> u64 {
    let mut info = [0u32; SK_MEMINFO_DROPS + 1];
    let mut len = mem::size_of_val(&info) as libc::socklen_t;
    // SAFETY: `info` has room for `len` octets, and both outlive the call.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MEMINFO,
            info.as_mut_ptr().cast(),
            &mut len,
        )
    };
    if result < 0 {
        0
    } else {
        u64::from(info[SK_MEMINFO_DROPS])
    }
}

/// An ICMP error about a datagram.
#[derive(Clone, Copy, Debug)]
pub struct IcmpError {
    /// Octets copied of that datagram.
    pub payload_len: usize,
    /// It said that nothing listens at the port.
    pub port_unreachable: bool,
}

/// Control data is aligned as its headers need it; there is room for a time stamp and an error with its sender.
#[repr(C, align(8))]
struct ErrorControl([u8; 256]);

/// Takes one ICMP error off a socket's error queue and copies the start of the datagram it is about to `payload`.
///
/// Gives `None` if the queue is empty.
pub fn take_error(socket: BorrowedFd<'_>, payload: &mut [u8]) -> Option<IcmpError> {
    let mut control = ErrorControl([0; 256]);
    let mut buffer = libc::iovec {
        iov_base: payload.as_mut_ptr().cast(),
        iov_len: payload.len(),
    };
    // SAFETY: an all-zero msghdr is a valid one without name, buffers and control data.
    let mut header: libc::msghdr = unsafe { mem::zeroed() };
    header.msg_iov = &mut buffer;
    header.msg_iovlen = 1;
    header.msg_control = control.0.as_mut_ptr().cast();
    header.msg_controllen = control.0.len() as _;
    // SAFETY: `header` points to `control` and `buffer`, that to `payload`, and all outlive the call.
    let len = unsafe {
        libc::recvmsg(
            socket.as_raw_fd(),
            &mut header,
            libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT,
        )
    };
    Some(IcmpError {
        payload_len: usize::try_from(len).ok()?,
        port_unreachable: error_number(&header) == Some(libc::ECONNREFUSED as u32),
    })
}

/// The error number in the control data of a received error.
fn error_number(header: &libc::msghdr) -> Option<u32> {
    // SAFETY: the kernel has filled in `header` and the control data it points to; the macros stay within that.
    let mut control = unsafe { libc::CMSG_FIRSTHDR(header) };
    while !control.is_null() {
        // SAFETY: it is not null, so it points to a whole header.
        let (level, kind) = unsafe { ((*control).cmsg_level, (*control).cmsg_type) };
        if matches!(
            (level, kind),
            (libc::IPPROTO_IP, libc::IP_RECVERR) | (libc::IPPROTO_IPV6, libc::IPV6_RECVERR)
        ) {
            // SAFETY: control data of these two types begins with a sock_extended_err.
            let error = unsafe {
                libc::CMSG_DATA(control)
                    .cast::<libc::sock_extended_err>()
                    .read_unaligned()
            };
            return Some(error.ee_errno);
        }
        // SAFETY: as above.
        control = unsafe { libc::CMSG_NXTHDR(header, control) };
    }
    None
}

/// The shortest turns that may be asked for (Linux 6.12, kernel/sched/syscalls.c: 0.1 to 100 ms).
const TURN_NS: u64 = 100_000;

/// Pins the calling thread to one CPU.
///
/// # Errors
/// [`LoadError::System`] if there is no such CPU or it may not be used.
pub fn pin_to_cpu(cpu: usize) -> Result<(), LoadError> {
    let fail = |source| {
        Err(LoadError::system(
            format!("pinning a thread to CPU {cpu}"),
            source,
        ))
    };
    // SAFETY: an all-zero cpu_set_t is the empty set.
    let mut set: libc::cpu_set_t = unsafe { mem::zeroed() };
    if cpu >= libc::CPU_SETSIZE as usize {
        return fail(io::Error::from_raw_os_error(libc::EINVAL));
    }
    // SAFETY: `cpu` is below the set's size.
    unsafe { libc::CPU_SET(cpu, &mut set) };
    // SAFETY: `set` outlives the call and has the size given; 0 is the calling thread.
    let result = unsafe { libc::sched_setaffinity(0, mem::size_of_val(&set), &set) };
    if result < 0 {
        fail(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

/// Lets the calling thread's timers fire at their time instead of up to 50 us late, to be batched with others.
pub fn wake_precisely() {
    // SAFETY: takes no pointers. If it fails, timers are less precise, which the send-time error shows.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong) };
}

/// Lets the calling thread run soon after it wakes up, beside others on its processor, too: its turns are short.
///
/// Since Linux 6.12 a thread that wakes up may interrupt a running one whose turns are longer, instead of waiting some milliseconds
/// for its end. Before, and where the system does not allow it, this changes nothing, which the send-time error shows.
pub fn take_short_turns() {
    // Another policy, such as a real-time one, is what the user chose.
    let usual = |found: &libc::sched_attr| found.sched_policy == libc::SCHED_OTHER as u32;
    let Some(mut scheduling) = scheduling().filter(usual) else {
        return;
    };
    scheduling.sched_runtime = TURN_NS;
    // SAFETY: `scheduling` outlives the call, which reads it and finds its size in it; 0 is the calling thread.
    unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const scheduling, 0) };
}

/// How the system schedules the calling thread; none where it does not tell.
fn scheduling() -> Option<libc::sched_attr> {
    // SAFETY: all octets of it may be zero.
    let mut found: libc::sched_attr = unsafe { mem::zeroed() };
    let size = size_of_val(&found) as libc::c_uint;
    // SAFETY: `found` outlives the call and has the size given; 0 is the calling thread.
    let told = unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &raw mut found, size, 0) };
    (told == 0).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_become_short_and_nothing_else_of_scheduling_changes() {
        let thread = std::thread::spawn(|| {
            // SAFETY: takes no pointers.
            unsafe { libc::nice(3) };
            let before = scheduling().unwrap();
            if before.sched_policy != libc::SCHED_OTHER as u32 {
                // Who runs the tests chose another way, which stays.
                return;
            }
            take_short_turns();
            let after = scheduling().unwrap();
            assert_eq!(after.sched_policy, before.sched_policy);
            assert_eq!(after.sched_nice, before.sched_nice);
            // Systems before Linux 6.12 have no turns of a thread's own, and say 0.
            assert!([0, TURN_NS].contains(&after.sched_runtime));
            assert!(before.sched_runtime == 0 || after.sched_runtime == TURN_NS);
        });
        thread.join().unwrap();
    }
}
