//! Where a model's records go: text and counts.

use super::Progress;
use super::random::{self, Purpose};
use crate::Statistics;
use domain::base::iana::Rtype;
use std::fmt;
use std::io::Write;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;

/// Text that is handed on at once, in octets.
const CHUNK: usize = 1 << 18;

/// What a worker hands to the writer.
pub(super) enum Message {
    /// Lines, whole ones.
    Lines(Vec<u8>, Progress),
    /// One part of the zone is complete.
    PartDone,
}

/// A DS record's data (RFC 4034 section 5.1) with a digest of SHA-256.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct DelegationSigner {
    pub key_tag: u16,
    pub algorithm: u8,
    pub digest: [u8; 32],
}

impl DelegationSigner {
    /// The data for `place`: algorithm 13 in 62 % of all, 8 in 32 %, 10 in 3 %, 15 in 2 % and 14 in 1 %.
    pub fn some(seed: u64, place: u64) -> Self {
        let bits = |number| random::at(seed, Purpose::DelegationSigner, place << 3 | number);
        let mut digest = [0; 32];
        for (number, octets) in digest.chunks_exact_mut(8).enumerate() {
            octets.copy_from_slice(&bits(number as u64 + 1).to_le_bytes());
        }
        let first = bits(0);
        let algorithm = match random::scale(first as u32, 100) {
            0..62 => 13,
            62..94 => 8,
            94..97 => 10,
            97..99 => 15,
            _ => 14,
        };
        Self {
            key_tag: (first >> 48) as u16,
            algorithm,
            digest,
        }
    }
}

impl fmt::Display for DelegationSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const HEX: &[u8; 16] = b"0123456789ABCDEF";
        let mut digits = [0; 64];
        for (pair, octet) in digits.chunks_exact_mut(2).zip(self.digest) {
            pair[0] = HEX[usize::from(octet >> 4)];
            pair[1] = HEX[usize::from(octet & 15)];
        }
        let digits = std::str::from_utf8(&digits).map_err(|_| fmt::Error)?;
        write!(f, "{} {} 2 {digits}", self.key_tag, self.algorithm)
    }
}

/// Takes the records of one worker, RRset by RRset, and counts them.
pub(super) struct Sink<'a> {
    text: Vec<u8>,
    /// What was written so far. Records, RRsets and types are counted here, all else by the model.
    pub counts: Statistics,
    names_since: u64,
    sender: &'a SyncSender<Message>,
    cancel: &'a AtomicBool,
    is_over: bool,
}

impl<'a> Sink<'a> {
    pub fn new(sender: &'a SyncSender<Message>, cancel: &'a AtomicBool) -> Self {
        Self {
            text: Vec::with_capacity(CHUNK + (CHUNK >> 3)),
            counts: Statistics::default(),
            names_since: 0,
            sender,
            cancel,
            is_over: false,
        }
    }

    /// Whether nobody wants more records: the work was cancelled, or the target takes no more.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// One of the names that were asked for is complete.
    pub fn name_done(&mut self) {
        self.names_since += 1;
        if self.text.len() >= CHUNK {
            self.hand_on();
        }
    }

    /// One part of the zone is complete.
    pub fn part_done(&mut self) {
        self.hand_on();
        self.is_over |= self.sender.send(Message::PartDone).is_err();
    }

    /// A zone that is complete already.
    pub fn whole(&mut self, text: &[u8], counts: Statistics) {
        self.text.extend_from_slice(text);
        self.names_since += counts.records as u64;
        self.counts = counts;
    }

    fn hand_on(&mut self) {
        let lines = std::mem::replace(&mut self.text, Vec::with_capacity(CHUNK + (CHUNK >> 3)));
        let progress = Progress {
            names: std::mem::take(&mut self.names_since),
            octets: lines.len() as u64,
        };
        self.is_over |= self.cancel.load(Ordering::Relaxed)
            || self.sender.send(Message::Lines(lines, progress)).is_err();
    }

    /// Starts the RRset of `owner` and `rtype`, of `records` records.
    fn rrset(&mut self, rtype: Rtype, records: usize) {
        self.counts.rrsets += 1;
        self.counts.records += records;
        *self.counts.types.entry(rtype).or_default() += records;
    }

    fn head(&mut self, owner: &[u8], head: &str) {
        self.text.extend_from_slice(owner);
        self.text.extend_from_slice(head.as_bytes());
    }

    /// An RRset whose data are shown as they are; `head` is TTL, class and type with spaces around them.
    pub fn plain(&mut self, owner: &[u8], rtype: Rtype, head: &str, data: &[&[u8]]) {
        self.rrset(rtype, data.len());
        for data in data {
            self.head(owner, head);
            self.text.extend_from_slice(data);
            self.text.push(b'\n');
        }
    }

    /// An A RRset of one record.
    pub fn address(&mut self, owner: &[u8], head: &str, address: Ipv4Addr) {
        self.rrset(Rtype::A, 1);
        self.head(owner, head);
        writeln!(self.text, "{address}").expect("a Vec takes any text");
    }

    /// An AAAA RRset of one record.
    pub fn address6(&mut self, owner: &[u8], head: &str, address: Ipv6Addr) {
        self.rrset(Rtype::AAAA, 1);
        self.head(owner, head);
        writeln!(self.text, "{address}").expect("a Vec takes any text");
    }

    /// A DS RRset, in canonical order.
    pub fn delegation_signers(&mut self, owner: &[u8], head: &str, signers: &[DelegationSigner]) {
        self.rrset(Rtype::DS, signers.len());
        for signer in signers {
            self.head(owner, head);
            writeln!(self.text, "{signer}").expect("a Vec takes any text");
        }
    }
}
