//! How many packets of a capture are read in a second of CPU time: `cargo bench -p dnsrig-stream --bench capture [FILE ...]`.
//!
//! Without files, it makes a capture of 2,000,000 UDP queries of 20,000 clients over Ethernet, with a response after each.

use dnsrig_stream::capture::{CaptureOptions, read};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

const QUERIES: u32 = 2_000_000;
const CLIENTS: u32 = 20_000;
const REPETITIONS: usize = 7;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut files: Vec<PathBuf> = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench")
        .map(PathBuf::from)
        .collect();
    let folder = tempfile::tempdir()?;
    if files.is_empty() {
        let file = folder.path().join("made.pcap");
        make(&file)?;
        files.push(file);
    }
    for file in files {
        measure(&file)?;
    }
    Ok(())
}

fn measure(file: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let mut rates = Vec::new();
    for _ in 0..REPETITIONS {
        let start = cpu_time();
        let (_, summary) = read(file, &CaptureOptions::default(), &AtomicBool::new(false))?;
        rates.push(summary.packets as f64 / (cpu_time() - start).as_secs_f64() / 1e6);
        if rates.len() == 1 {
            println!(
                "{}: {} packets, {} queries, {} clients",
                file.display(),
                summary.packets,
                summary.queries,
                summary.clients
            );
        }
    }
    rates.sort_by(f64::total_cmp);
    println!(
        "median {:.1} Mpkt/s, from {:.1} to {:.1}",
        rates[REPETITIONS / 2],
        rates[0],
        rates[REPETITIONS - 1]
    );
    Ok(())
}

/// What this thread has used of a processor, in the kernel and outside: other work on the machine hardly changes it.
fn cpu_time() -> Duration {
    let mut used = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `used` is a valid timespec for the time of the call.
    let result = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut used) };
    assert_eq!(result, 0, "Linux has a clock of the thread's CPU time");
    Duration::new(used.tv_sec as u64, used.tv_nsec as u32)
}

/// Writes queries for `nNNNNNNN.example.test` and responses of twice their length.
fn make(file: &Path) -> std::io::Result<()> {
    let mut file = BufWriter::new(std::fs::File::create(file)?);
    file.write_all(b"\xd4\xc3\xb2\xa1\x02\0\x04\0\0\0\0\0\0\0\0\0\0\0\x04\0\x01\0\0\0")?;
    for number in 0..QUERIES {
        let mut message = vec![0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 8];
        message.extend_from_slice(format!("n{number:07}").as_bytes());
        message.extend_from_slice(b"\x07example\x04test\0\0\x01\0\x01");
        // A multiplier without a common factor spreads the clients.
        let client = (10 << 24) | (number.wrapping_mul(7919) % CLIENTS);
        write_packet(
            &mut file,
            number,
            (client, 40_000),
            (0x7F00_0001, 53),
            &message,
        )?;
        message[2] |= 0x80;
        message.resize(message.len() * 2, 0);
        write_packet(
            &mut file,
            number,
            (0x7F00_0001, 53),
            (client, 40_000),
            &message,
        )?;
    }
    file.flush()
}

fn write_packet(
    file: &mut impl Write,
    number: u32,
    source: (u32, u16),
    destination: (u32, u16),
    message: &[u8],
) -> std::io::Result<()> {
    let (udp_len, ip_len) = (8 + message.len() as u16, 28 + message.len() as u16);
    let len = u32::from(ip_len) + 14;
    for field in [
        1_700_000_000 + number / 1_000_000,
        number % 1_000_000,
        len,
        len,
    ] {
        file.write_all(&field.to_le_bytes())?;
    }
    file.write_all(b"\0\0\0\0\0\x01\0\0\0\0\0\x02\x08\0\x45\0")?;
    file.write_all(&ip_len.to_be_bytes())?;
    file.write_all(b"\0\0\0\0\x40\x11\0\0")?;
    file.write_all(&source.0.to_be_bytes())?;
    file.write_all(&destination.0.to_be_bytes())?;
    for field in [source.1, destination.1, udp_len, 0] {
        file.write_all(&field.to_be_bytes())?;
    }
    file.write_all(message)
}
