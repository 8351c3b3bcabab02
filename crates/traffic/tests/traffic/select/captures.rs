//! Captures to read, and what is in those that were written.

use dnsrig_traffic::read::{Ports, Reading, messages};
use dnsrig_traffic::write::PcapWriter;
use dnsrig_traffic::{Endpoint, Message, SentLen, TrafficError, Transport};
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

pub const SECOND: i64 = 1_000_000_000;
pub const START: i64 = 1_700_000_000 * SECOND;

/// A message in memory of its own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sent {
    pub time_ns: i64,
    pub source: Endpoint,
    pub destination: Endpoint,
    pub transport: Transport,
    pub octets: Vec<u8>,
}

impl Sent {
    /// A query of client number `client` at `START` and so many ns.
    pub fn query(after_ns: i64, client: u32, name: &str, qtype: u16) -> Self {
        let [_, a, b, c] = client.to_be_bytes();
        Self {
            time_ns: START + after_ns,
            source: Endpoint::new([10, a, b, c], 4000),
            destination: Endpoint::new([192, 0, 2, 53], 53),
            transport: Transport::Udp,
            octets: message(after_ns as u16, 0x0100, name, qtype),
        }
    }

    pub fn by(self, transport: Transport) -> Self {
        Self { transport, ..self }
    }

    /// The answer to a query, 5 us later, with response code `rcode`.
    pub fn answer(&self, rcode: u8) -> Self {
        let mut octets = self.octets.clone();
        octets[2] |= 0x80;
        octets[3] |= rcode;
        Self {
            time_ns: self.time_ns + 5000,
            source: self.destination,
            destination: self.source,
            transport: self.transport,
            octets,
        }
    }

    /// The name asked, in presentation format.
    pub fn name(&self) -> String {
        dnsrig_zone::text::shown_name(
            dnsrig_traffic::wire::Question::parse(&self.octets)
                .unwrap()
                .name,
        )
    }

    fn message(&self) -> Message<'_> {
        Message {
            time_ns: self.time_ns,
            source: self.source,
            destination: self.destination,
            transport: self.transport,
            octets: &self.octets,
            is_cut: false,
            sent_len: SentLen::Own,
            number: 1,
        }
    }
}

/// A message with one question of class IN; `name` has no escapes.
pub fn message(id: u16, flags: u16, name: &str, qtype: u16) -> Vec<u8> {
    let mut message = Vec::new();
    for field in [id, flags, 1, 0, 0, 0] {
        message.extend_from_slice(&field.to_be_bytes());
    }
    for label in name.split('.').filter(|label| !label.is_empty()) {
        message.push(label.len() as u8);
        message.extend_from_slice(label.as_bytes());
    }
    message.push(0);
    message.extend_from_slice(&qtype.to_be_bytes());
    message.extend_from_slice(&[0, 1]);
    message
}

/// A folder with captures.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn capture(&self, name: &str, sent: &[Sent]) -> PathBuf {
        self.capture_of_link(name, 1, sent)
    }

    pub fn capture_of_link(&self, name: &str, link_type: u16, sent: &[Sent]) -> PathBuf {
        let mut writer = PcapWriter::with_link_type(Vec::new(), link_type);
        for sent in sent {
            assert_eq!(writer.message(&sent.message()).unwrap(), None);
        }
        let path = self.path(name);
        fs::write(&path, writer.finish().unwrap()).unwrap();
        path
    }

    /// Names of the files that are there.
    pub fn files(&self) -> Vec<String> {
        let mut files: Vec<String> = fs::read_dir(self.0.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        files.sort();
        files
    }
}

/// Lets `work` read `files` with `threads` threads.
pub fn with_reading<T>(
    files: &[PathBuf],
    threads: usize,
    work: impl FnOnce(&Reading<'_>) -> Result<T, TrafficError>,
) -> Result<T, TrafficError> {
    let cancel = AtomicBool::new(false);
    work(&Reading {
        files,
        ports: &Ports::default(),
        threads: threads.try_into().ok(),
        cancel: &cancel,
        progress: &|_| (),
    })
}

/// All messages of a capture.
pub fn read(path: &Path) -> Vec<Sent> {
    let mut found = Vec::new();
    with_reading(&[path.to_owned()], 1, |reading| {
        messages(reading, |message| {
            assert!(!message.is_cut);
            found.push(Sent {
                time_ns: message.time_ns,
                source: message.source,
                destination: message.destination,
                transport: message.transport,
                octets: message.octets.to_vec(),
            });
            ControlFlow::Continue(())
        })
    })
    .unwrap();
    found
}

/// Queries and answers of several clients for names in two zones, some by TCP.
pub fn traffic() -> Vec<Sent> {
    let names = [
        "www.example.com",
        "EXAMPLE.com",
        "mail.example.net",
        "a.b.example.com",
        "example.org",
    ];
    let mut sent = Vec::new();
    for number in 0..200_u32 {
        let name = names[number as usize % names.len()];
        let transport = if number % 7 == 0 {
            Transport::Tcp
        } else {
            Transport::Udp
        };
        let qtype = if number % 3 == 0 { 28 } else { 1 };
        let query =
            Sent::query(i64::from(number) * 1_000_000, number % 13, name, qtype).by(transport);
        let answer = query.answer(if number % 5 == 4 { 3 } else { 0 });
        sent.extend([query, answer]);
    }
    sent
}
