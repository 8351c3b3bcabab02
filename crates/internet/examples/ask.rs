//! A simulated Internet behind two pipes: what tests that cannot be linked to it ask (crates/oracle).
//!
//! `ask SEED SIGNED_AT_S QUESTIONS` first reads a profile, then writes the root's hints, the trust anchor and as many
//! questions as clients would ask, one a line. Then it answers: to an octet that is 1 for TCP and 0 for UDP, four octets of a server's address and
//! a query it writes the answer, or nothing at all. Everything both ways has its length before it, in four octets.

use dnsrig_answer::Transport;
use dnsrig_internet::{Arrived, Internet, InternetOptions, Profile, QueryNames, Scratch};
use std::error::Error;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

/// The share of questions for names that do not exist.
const MISSING_SHARE: f64 = 0.3;

fn write(out: &mut impl Write, octets: &[u8]) -> io::Result<()> {
    out.write_all(&(octets.len() as u32).to_be_bytes())?;
    out.write_all(octets)?;
    out.flush()
}

/// What comes next; none at the end.
fn read(input: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut len = [0; 4];
    match input.read_exact(&mut len) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        result => result?,
    }
    let mut octets = vec![0; u32::from_be_bytes(len) as usize];
    input.read_exact(&mut octets)?;
    Ok(Some(octets))
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [seed, signed_at_s, questions] = &arguments[..] else {
        return Err("usage: ask SEED SIGNED_AT_S QUESTIONS".into());
    };
    let mut input = io::stdin().lock();
    let profile = read(&mut input)?.ok_or("no profile comes")?;
    let profile = Profile::parse("standard input", std::str::from_utf8(&profile)?)?;
    let seed: u64 = seed.parse()?;
    let options = InternetOptions {
        has_distances: false,
        memory_octets: 64 << 20,
        ..InternetOptions::new(seed, signed_at_s.parse()?)
    };
    let internet = Internet::new(&profile, options)?;
    let mut out = io::stdout().lock();
    write(&mut out, internet.root_hints().as_bytes())?;
    write(&mut out, internet.trust_anchor()?.as_bytes())?;
    let asked = QueryNames::new(&internet, seed, MISSING_SHARE).take(questions.parse()?);
    let lines: String = asked
        .map(|asked| format!("{} {}\n", asked.name, asked.rtype))
        .collect();
    write(&mut out, lines.as_bytes())?;
    let mut scratch = Scratch::default();
    let mut answer = vec![0; 65_535];
    while let Some(asked) = read(&mut input)? {
        let [is_tcp, a, b, c, d, message @ ..] = &asked[..] else {
            return Err("a question is too short".into());
        };
        let arrived = Arrived {
            server: IpAddr::V4(Ipv4Addr::new(*a, *b, *c, *d)),
            transport: match is_tcp {
                0 => Transport::Udp,
                _ => Transport::Tcp,
            },
            message,
            now: Duration::ZERO,
        };
        let len = internet.answer(&arrived, &mut scratch, &mut answer).len;
        write(&mut out, &answer[..len.unwrap_or(0)])?;
    }
    Ok(())
}
