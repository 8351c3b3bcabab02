//! How many packets are characterised in a second of CPU time: `cargo bench -p dnsrig-traffic --bench stats -- FILE ...`.
//!
//! `bench/capture_targets` makes a capture, and runs the same against other programs.

use dnsrig_traffic::read::{Ports, Reading};
use dnsrig_traffic::stats::{StatsOptions, gather};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

const REPETITIONS: usize = 5;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = std::env::args().skip(1);
    let files: Vec<PathBuf> = arguments
        .filter(|argument| argument != "--bench")
        .map(PathBuf::from)
        .collect();
    for file in files {
        for threads in [1, 2] {
            for names in [0, StatsOptions::default().names] {
                measure(&file, threads, names)?;
            }
        }
    }
    Ok(())
}

fn measure(file: &Path, threads: usize, names: usize) -> Result<(), Box<dyn std::error::Error>> {
    let options = StatsOptions {
        names,
        ..StatsOptions::default()
    };
    let files = [file.to_owned()];
    let reading = Reading {
        files: &files,
        ports: &Ports::default(),
        threads: NonZeroUsize::new(threads),
        cancel: &AtomicBool::new(false),
        progress: &|_| (),
    };
    let mut by_cpu = Vec::new();
    let mut by_wall = Vec::new();
    for _ in 0..REPETITIONS {
        let (cpu, wall) = (cpu_time(), Instant::now());
        let packets = gather(&reading, &options)?.packets as f64 / 1e6;
        by_cpu.push(packets / (cpu_time() - cpu).as_secs_f64());
        by_wall.push(packets / wall.elapsed().as_secs_f64());
    }
    let median = |rates: &mut Vec<f64>| {
        rates.sort_by(f64::total_cmp);
        rates[REPETITIONS / 2]
    };
    println!(
        "{}, {threads} threads, {}: median {:.1} Mpkt in a second of CPU time, {:.1} Mpkt/s",
        file.display(),
        if names == 0 {
            "without names"
        } else {
            "with names"
        },
        median(&mut by_cpu),
        median(&mut by_wall)
    );
    Ok(())
}

/// What this process has used of processors: other work on the machine hardly changes it.
fn cpu_time() -> Duration {
    let mut used = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `used` is a valid timespec for the time of the call.
    let result = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut used) };
    assert_eq!(result, 0, "Linux has a clock of the process's CPU time");
    Duration::new(used.tv_sec as u64, used.tv_nsec as u32)
}
