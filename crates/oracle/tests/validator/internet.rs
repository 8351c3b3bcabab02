//! A simulated Internet in a process of its own, and what it is asked.

use bytes::Bytes;
use domain::base::iana::Rtype;
use std::io::{BufReader, Read, Write};
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

/// A name that owns its octets.
pub type Name = domain::base::Name<Bytes>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    Udp,
    Tcp,
}

pub struct Internet {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    /// The root's name servers, as resolvers read them.
    pub hints: String,
    /// The root's DS records.
    pub anchor: String,
    /// What clients would ask.
    pub questions: Vec<(Name, Rtype)>,
}

/// The program, which the tests of the rest of the workspace build.
fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let program = test
        .parent()
        .unwrap()
        .with_file_name("examples")
        .join("ask");
    assert!(
        program.exists(),
        "{} is not there; run `make test-rust`, or `cargo test --release --workspace --exclude dnsrig-oracle --no-run` first",
        program.display()
    );
    program
}

impl Internet {
    /// The Internet of a profile, in TOML, with `count` questions; signed now, as the validator knows no time but
    /// the clock's.
    pub fn start(profile: &str, seed: u64, count: usize) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let mut child = Command::new(program())
            .args([seed, now.as_secs(), count as u64].map(|number| number.to_string()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut internet = Self {
            input: child.stdin.take(),
            output: BufReader::new(child.stdout.take().unwrap()),
            child,
            hints: String::new(),
            anchor: String::new(),
            questions: Vec::new(),
        };
        internet.write(profile.as_bytes());
        let mut text = || String::from_utf8(internet.read().to_vec()).unwrap();
        let (hints, anchor, questions) = (text(), text(), text());
        internet.questions = questions.lines().map(question).collect();
        (internet.hints, internet.anchor) = (hints, anchor);
        internet
    }

    fn write(&mut self, octets: &[u8]) {
        let whole = [&(octets.len() as u32).to_be_bytes(), octets].concat();
        let input = self.input.as_mut().unwrap();
        input.write_all(&whole).expect("it has not ended");
    }

    fn read(&mut self) -> Bytes {
        let mut len = [0; 4];
        self.output.read_exact(&mut len).expect("it has not ended");
        let mut octets = vec![0; u32::from_be_bytes(len) as usize];
        self.output.read_exact(&mut octets).unwrap();
        octets.into()
    }

    /// What a server answers; empty if it does not.
    pub fn ask(&mut self, server: Ipv4Addr, transport: Transport, message: &[u8]) -> Bytes {
        let is_tcp = u8::from(transport == Transport::Tcp);
        self.write(&[&[is_tcp][..], &server.octets(), message].concat());
        self.read()
    }
}

impl Drop for Internet {
    fn drop(&mut self) {
        // It ends when nothing can be asked any more.
        drop(self.input.take());
        let _ = self.child.wait();
    }
}

fn question(line: &str) -> (Name, Rtype) {
    let (name, rtype) = line.split_once(' ').unwrap();
    (name.parse().unwrap(), rtype.parse().unwrap())
}
