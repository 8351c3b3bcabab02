//! Streams for which there is not enough memory: an error, not the end of the process. The limit is the whole process's, so
//! this is one test alone.

use dnsrig_stream::generate::{GenerationPlan, generate};
use dnsrig_stream::text::queries;
use dnsrig_stream::{MessageOptions, QueryLog, StreamError};
use std::io::Write;
use std::sync::atomic::AtomicBool;

/// Address space that is left.
const ROOM: u64 = 64 << 20;

#[test]
fn want_of_memory_is_an_error_that_says_what_to_lower() {
    let running = AtomicBool::new(false);
    let options = MessageOptions::default();
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let line = format!("{}.test A padding=4096\n", "a".repeat(60));
    for _ in 0..50 {
        file.write_all(line.repeat(1000).as_bytes()).unwrap();
    }
    let mut timed = tempfile::NamedTempFile::new().unwrap();
    for time in (0..50_000).rev() {
        writeln!(timed, "a.test A padding=2048 time={time}").unwrap();
    }
    let mut log = tempfile::NamedTempFile::new().unwrap();
    for _ in 0..1000 {
        log.write_all(
            "a.very.long.name.for.a.query.log.test A\n"
                .repeat(2000)
                .as_bytes(),
        )
        .unwrap();
    }
    limit_address_space();
    let plan = GenerationPlan {
        patterns: vec!["{az:40}.{az:40}.com".to_owned()],
        types: "A".to_owned(),
        queries: 20_000_000,
        seed: 1,
    };
    let error = generate(&plan, &options, &running).unwrap_err().to_string();
    assert_eq!(
        error,
        "not enough memory for 20000000 queries: lower --count"
    );
    for path in [file.path(), timed.path()] {
        let error = queries::read(path, &options, false, &running).unwrap_err();
        assert!(matches!(error, StreamError::NoMemory { .. }), "{error}");
        assert!(error.to_string().contains(path.to_str().unwrap()));
    }
    let error = QueryLog::read(log.path(), false, &running).unwrap_err();
    assert!(matches!(error, StreamError::NoMemory { .. }), "{error}");
}

/// Leaves this process [`ROOM`] beside what it has.
fn limit_address_space() {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = statm.split(' ').next().unwrap().parse().unwrap();
    let limit = pages * 4096 + ROOM;
    let limit = libc::rlimit {
        rlim_cur: limit,
        rlim_max: limit,
    };
    // SAFETY: `limit` is a valid rlimit that outlives the call.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) }, 0);
}
