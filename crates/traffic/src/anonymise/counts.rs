//! What was done.

use super::check::CheckSummary;
use super::encode::MessageLeftOut;
use super::options::Fate;
use crate::read::{AssemblyCounts, PacketCounts, ReadSummary};
use serde::Serialize;

/// What was replaced in messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ContentCounts {
    /// Names that became others.
    pub names: u64,
    /// Addresses in record data.
    pub addresses: u64,
    /// Record data of which a part was hidden: texts, and types that are not known.
    pub hidden_data: u64,
    /// Record data hidden because they are not as their type says.
    pub odd_data: u64,
    /// Signatures of messages (TSIG, SIG(0), TKEY) left out.
    pub signatures: u64,
    /// Messages with octets after their last record, which were left out.
    pub octets_after: u64,
    /// EDNS options.
    pub options: OptionCounts,
}

/// EDNS options by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OptionCounts {
    /// Kept as they were.
    pub kept: u64,
    /// Cookies and name server ids, which got pseudonyms.
    pub pseudonyms: u64,
    /// Client subnets, whose addresses were mapped.
    pub subnets: u64,
    /// With names, which were mapped.
    pub names: u64,
    /// With texts, which were left out.
    pub texts: u64,
    /// Hidden: padding, and options that are not known.
    pub hidden: u64,
}

impl ContentCounts {
    /// Counts an option.
    pub fn option(&mut self, fate: Fate) {
        *match fate {
            Fate::Plain => &mut self.options.kept,
            Fate::Pseudonym => &mut self.options.pseudonyms,
            Fate::Subnet => &mut self.options.subnets,
            Fate::Name => &mut self.options.names,
            Fate::Text => &mut self.options.texts,
            Fate::Hidden => &mut self.options.hidden,
        } += 1;
    }

    /// Adds the counts of another thread.
    pub fn add(&mut self, other: &Self) {
        self.names += other.names;
        self.addresses += other.addresses;
        self.hidden_data += other.hidden_data;
        self.odd_data += other.odd_data;
        self.signatures += other.signatures;
        self.octets_after += other.octets_after;
        let (options, others) = (&mut self.options, &other.options);
        options.kept += others.kept;
        options.pseudonyms += others.pseudonyms;
        options.subnets += others.subnets;
        options.names += others.names;
        options.texts += others.texts;
        options.hidden += others.hidden;
    }
}

/// Messages, by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MessageCounts {
    /// Written.
    pub written: u64,
    /// Left out, as not all of them was captured.
    pub cut: u64,
    /// Left out as malformed: it cannot be told what their octets are.
    pub malformed: u64,
    /// Left out, as their opcode gives them another form.
    pub opcode: u64,
    /// Left out, as they or names in them would be too long.
    pub too_long: u64,
    /// Left out, as they are from before 1970 or after 2106, times that no pcap file can hold.
    pub time: u64,
}

impl MessageCounts {
    /// Counts a message.
    pub fn count(&mut self, outcome: Result<(), MessageLeftOut>) {
        *match outcome {
            Ok(()) => &mut self.written,
            Err(MessageLeftOut::Cut) => &mut self.cut,
            Err(MessageLeftOut::Malformed) => &mut self.malformed,
            Err(MessageLeftOut::Opcode) => &mut self.opcode,
            Err(MessageLeftOut::TooLong) => &mut self.too_long,
            Err(MessageLeftOut::Time) => &mut self.time,
        } += 1;
    }

    /// Adds the counts of another thread.
    pub fn add(&mut self, other: &Self) {
        self.written += other.written;
        self.cut += other.cut;
        self.malformed += other.malformed;
        self.opcode += other.opcode;
        self.too_long += other.too_long;
        self.time += other.time;
    }
}

/// What a run of anonymisation did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AnonymiseSummary {
    /// What was read.
    pub read: ReadSummary,
    /// Packets that were left out, as they hold nothing of DNS.
    pub left_out: PacketCounts,
    /// Messages.
    pub messages: MessageCounts,
    /// What was replaced in them.
    pub contents: ContentCounts,
    /// What was put together of packets.
    pub assembly: AssemblyCounts,
    /// Messages of DNS over TLS, HTTPS and QUIC, which were written as if sent over TCP or UDP to port 53.
    pub in_clear: u64,
    /// Octets of the file that was written.
    pub octets: u64,
    /// What the search for originals in the output looked at.
    pub check: CheckSummary,
}
