//! Too few open files, in a program of its own, since the limit is that of the whole process.

mod common;

use common::{Server, answer, config, load, read_frame, write_frame};
use dnsrig_load::{LoadConfig, Route, ScheduleKind, TransportKind};

/// Takes the right to raise hard limits from the calling thread.
fn give_up_privileges() {
    // Version 3 of the header, this thread; effective, permitted and inheritable capabilities, of which none (capset(2)).
    let header = [0x2008_0522u32, 0];
    let none = [0u32; 6];
    // SAFETY: both point to what the call takes, and outlive it.
    unsafe { libc::syscall(libc::SYS_capset, header.as_ptr(), none.as_ptr()) };
}

#[test]
fn connections_beyond_the_limit_are_refused_as_such() {
    let server = Server::tcp(|_, mut stream| {
        while let Some(query) = read_frame(&mut stream) {
            write_frame(&mut stream, &answer(&query));
        }
        true
    });
    give_up_privileges();
    let limit = libc::rlimit {
        rlim_cur: 60,
        rlim_max: 60,
    };
    // SAFETY: `limit` is a valid rlimit that outlives the call.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) }, 0);
    let mut route = Route::new(TransportKind::Tcp, server.address);
    route.clients = Some(100);
    let report = load(&LoadConfig {
        routes: vec![route],
        schedule: ScheduleKind::ClosedLoop {
            outstanding: 100,
            max_rate_qps: None,
        },
        ..config(server.address, 500)
    });
    assert!(report.refusals["no_file"] > 0, "{:?}", report.refusals);
    assert!(report.connections.failed > 0);
}
