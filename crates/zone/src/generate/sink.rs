//! Where a model's records go: text and counts.

use crate::Statistics;
use crate::generate::Progress;
use domain::base::iana::Rtype;
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

/// Takes the records of one worker, RRset by RRset, and counts them.
pub(super) struct Sink<'a> {
    text: Vec<u8>,
    /// What was written so far, but for records and RRsets by way of `types`.
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
        const HEX: &[u8; 16] = b"0123456789ABCDEF";
        self.rrset(Rtype::DS, signers.len());
        for signer in signers {
            self.head(owner, head);
            write!(self.text, "{} {} 2 ", signer.key_tag, signer.algorithm)
                .expect("a Vec takes any text");
            for octet in signer.digest {
                self.text.push(HEX[usize::from(octet >> 4)]);
                self.text.push(HEX[usize::from(octet & 15)]);
            }
            self.text.push(b'\n');
        }
    }
}
