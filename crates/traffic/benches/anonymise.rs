//! How many packets are anonymised in a second of CPU time, with the search of the output:
//! `cargo bench -p dnsrig-traffic --bench anonymise [FILE ...]`.
//!
//! Without files, it makes a capture of 1,000,000 queries of 50,000 clients of both families and as many answers. Few clients
//! and names are asked for often, as in real traffic; one in three queries has a client subnet and a cookie.

use dnsrig_traffic::anonymise::{AnonymiseSettings, Key, NamePolicy, anonymise};
use dnsrig_traffic::read::{Ports, Reading};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

const QUERIES: u64 = 1_000_000;
const CLIENTS: u64 = 50_000;
const NAMES: u64 = 200_000;
const REPETITIONS: usize = 5;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = std::env::args().skip(1);
    let mut files: Vec<PathBuf> = arguments
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
        for names in [NamePolicy::Keep, NamePolicy::Pseudonyms] {
            measure(&file, names, &folder.path().join("out.pcap"))?;
        }
    }
    Ok(())
}

fn measure(
    file: &Path,
    names: NamePolicy,
    output: &Path,
) -> Result<(), Box<dyn std::error::Error>> {
    let settings = AnonymiseSettings {
        names,
        keep: Vec::new(),
    };
    let files = [file.to_owned()];
    let reading = Reading {
        files: &files,
        ports: &Ports::default(),
        threads: None,
        cancel: &AtomicBool::new(false),
        progress: &|_| (),
    };
    let mut rates = Vec::new();
    for _ in 0..REPETITIONS {
        let (cpu, wall) = (cpu_time(), Instant::now());
        let summary = anonymise(&reading, &Key::new([1; 32]), &settings, output)?;
        let packets = summary.read.packets() as f64 / 1e6;
        rates.push((
            packets / (cpu_time() - cpu).as_secs_f64(),
            packets / wall.elapsed().as_secs_f64(),
        ));
    }
    rates.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (cpu, wall) = rates[REPETITIONS / 2];
    println!(
        "{}, names {names:?}: median {cpu:.2} Mpkt in a second of CPU time, {wall:.2} Mpkt/s; from {:.2} to {:.2}",
        file.display(),
        rates[0].0,
        rates[REPETITIONS - 1].0
    );
    Ok(())
}

/// What this process has used of processors, in the kernel and outside: other work on the machine hardly changes it.
fn cpu_time() -> Duration {
    let mut used = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `used` is a valid timespec for the time of the call.
    let result = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut used) };
    assert_eq!(result, 0, "Linux has a clock of the process' CPU time");
    Duration::new(used.tv_sec as u64, used.tv_nsec as u32)
}

/// A number below `below`, of which low ones come often.
fn skewed(number: u64, below: u64) -> u64 {
    let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    let uniform = mixed as f64 / f64::from(u32::MAX);
    (uniform.powi(4) * below as f64) as u64
}

fn make(file: &Path) -> std::io::Result<()> {
    let mut file = BufWriter::new(std::fs::File::create(file)?);
    file.write_all(b"\xd4\xc3\xb2\xa1\x02\0\x04\0\0\0\0\0\0\0\0\0\0\0\x04\0\x01\0\0\0")?;
    for number in 0..QUERIES {
        let client = skewed(number, CLIENTS);
        let name = skewed(number.wrapping_mul(31), NAMES);
        let mut message = vec![0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 3];
        message.extend_from_slice(b"www");
        let domain = format!("shop{name}");
        message.push(domain.len() as u8);
        message.extend_from_slice(domain.as_bytes());
        message.extend_from_slice(b"\x02co\x02uk\0\0\x01\0\x01");
        let mut query = message.clone();
        if number % 3 == 0 {
            query[11] = 1;
            query.extend_from_slice(b"\0\0\x29\x04\xD0\0\0\x80\0\0\x17\0\x08\0\x07\0\x01\x18\0");
            query.extend_from_slice(&(client as u32).to_le_bytes()[..3]);
            query.extend_from_slice(b"\0\x0A\0\x08");
            query.extend_from_slice(&client.wrapping_mul(0x1234_5678_9ABC_DEF1).to_be_bytes());
        }
        let to_server = (client, false);
        write_packet(&mut file, number, to_server, &query)?;
        message[2] |= 0x80;
        message[7] = 2;
        for address in [name as u32, name as u32 + 7] {
            message.extend_from_slice(b"\xC0\x0C\0\x01\0\x01\0\0\x01\x2C\0\x04");
            message.extend_from_slice(&address.wrapping_mul(2_654_435_761).to_be_bytes());
        }
        write_packet(&mut file, number, (client, true), &message)?;
    }
    file.flush()
}

/// Writes a datagram between a client, one in four of which has an IPv6 address, and the server.
fn write_packet(
    file: &mut impl Write,
    number: u64,
    (client, is_answer): (u64, bool),
    message: &[u8],
) -> std::io::Result<()> {
    let is_ipv6 = client.is_multiple_of(4);
    let udp_len = 8 + message.len() as u16;
    let len = 14 + if is_ipv6 { 40 } else { 20 } + u32::from(udp_len);
    let time = 1_700_000_000 + (number / 1_000_000) as u32;
    for field in [time, (number % 1_000_000) as u32, len, len] {
        file.write_all(&field.to_le_bytes())?;
    }
    let kind = if is_ipv6 { 0x86DD_u16 } else { 0x0800 };
    file.write_all(b"\x02\0\0\0\0\x01\x02\0\0\0\0\x02")?;
    file.write_all(&kind.to_be_bytes())?;
    let mixed = client.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes();
    let ends = match is_ipv6 {
        true => {
            file.write_all(&[0x60, 0, 0, 0])?;
            file.write_all(&udp_len.to_be_bytes())?;
            file.write_all(&[17, 64])?;
            let mut address = vec![0x20, 1, 0x0D, 0xB8];
            address.extend_from_slice(&[&mixed[..4], &mixed].concat());
            [address, vec![0xFD; 16]]
        }
        false => {
            file.write_all(b"\x45\0")?;
            file.write_all(&(20 + udp_len).to_be_bytes())?;
            file.write_all(b"\0\0\0\0\x40\x11\0\0")?;
            [mixed[..4].to_vec(), vec![192, 0, 2, 53]]
        }
    };
    let (client_port, server_port) = (40_000_u16, 53);
    let (source, destination) = (usize::from(is_answer), usize::from(!is_answer));
    file.write_all(&ends[source])?;
    file.write_all(&ends[destination])?;
    let ports = [client_port, server_port];
    for field in [ports[source], ports[destination], udp_len, 0] {
        file.write_all(&field.to_be_bytes())?;
    }
    file.write_all(message)
}
