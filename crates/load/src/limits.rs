//! Limits of the process.

use std::fs;
use std::mem;

/// Open files that a load needs beside those of its clients.
const OTHER_FILES: u64 = 256;

/// Raises the limit of open files, as far as permitted, if `clients` clients with a socket each need that.
///
/// What is not permitted shows when the sockets are opened.
pub fn raise_file_limit(clients: usize) {
    let Some(limit) = file_limit() else {
        return;
    };
    let needed = clients as u64 + OTHER_FILES;
    if limit.rlim_cur >= needed {
        return;
    }
    // The hard limit, too, may be raised by a privileged process, up to fs.nr_open.
    let most = fs::read_to_string("/proc/sys/fs/nr_open")
        .ok()
        .and_then(|text| text.trim().parse().ok())
        .unwrap_or(limit.rlim_max);
    let hard = limit.rlim_max.max(needed.min(most));
    if !set_file_limit(needed.min(hard), hard) {
        set_file_limit(limit.rlim_max, limit.rlim_max);
    }
}

fn file_limit() -> Option<libc::rlimit> {
    // SAFETY: an all-zero rlimit is a valid one.
    let mut limit: libc::rlimit = unsafe { mem::zeroed() };
    // SAFETY: `limit` is a valid place for the result.
    (unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) } == 0).then_some(limit)
}

fn set_file_limit(soft: u64, hard: u64) -> bool {
    let limit = libc::rlimit {
        rlim_cur: soft,
        rlim_max: hard,
    };
    // SAFETY: `limit` is a valid rlimit that outlives the call.
    unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) == 0 }
}
