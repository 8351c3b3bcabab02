//! Columns of transactions, laid out as Arrow has them.

use crate::message::{Message, Transport};
use crate::stats::ANSWER_TIMEOUT_NS;
use crate::wire::View;
use dnsrig_zone::text::push_name;
use domain::base::iana::{Class, Rtype};
use std::io::Write;

/// Rows of a full batch.
pub const BATCH_ROWS: usize = if cfg!(test) { 64 } else { 65_536 };
/// Octets of queries with which a batch is full.
const BATCH_OCTETS: usize = 16 << 20;

/// Values of different lengths: where each ends in `data`, after a 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Values {
    /// Ends, in octets, one more than there are values.
    pub offsets: Vec<i32>,
    /// The values, one after the other.
    pub data: Vec<u8>,
}

impl Default for Values {
    fn default() -> Self {
        Self {
            offsets: vec![0],
            data: Vec::new(),
        }
    }
}

impl Values {
    /// Appends a value, which `write` appends to the data. A full batch is far from 2 GiB.
    fn push(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.data);
        self.offsets.push(self.data.len() as i32);
    }
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Column {
    /// Times in ns since 1970.
    TimeNs(Vec<i64>),
    /// Durations in ns; negative where there is none.
    DurationNs(Vec<i64>),
    /// Numbers; 65,535 where there is none, if it says so.
    Numbers {
        /// The numbers.
        values: Vec<u16>,
        /// Whether the last number stands for none.
        has_none: bool,
    },
    /// Text.
    Text(Values),
    /// Octets.
    Octets(Values),
}

/// Transactions, a row for each.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// The number of its first row.
    first_row: u64,
    /// The next row with the same key, 0 for none, and the hash of the question.
    links: Vec<(u64, u64)>,
    times_ns: Vec<i64>,
    clients: Values,
    client_ports: Vec<u16>,
    servers: Values,
    server_ports: Vec<u16>,
    transports: Values,
    ids: Vec<u16>,
    names: Values,
    types: Values,
    classes: Values,
    queries: Values,
    /// Negative without an answer.
    latencies_ns: Vec<i64>,
    rcodes: Vec<u16>,
    answer_flags: Vec<u16>,
    answer_octets: Vec<u16>,
}

/// Stands for a number that is not known; no response code, flags of answers or lengths of answers are so large but a
/// message of 65,535 octets, which is then not told from none.
const NONE: u16 = u16::MAX;

/// What becomes part of a row of an answer.
pub(super) struct Answer {
    pub time_ns: i64,
    pub rcode: u16,
    pub flags: u16,
    /// Octets that were sent, if that is known.
    pub octets: Option<usize>,
}

impl Batch {
    /// Rows.
    pub fn len(&self) -> usize {
        self.times_ns.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.times_ns.is_empty()
    }

    /// An empty batch that begins with the row number `first_row`.
    pub(super) fn new(first_row: u64) -> Self {
        Self {
            first_row,
            ..Self::default()
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.len() >= BATCH_ROWS || self.queries.data.len() >= BATCH_OCTETS
    }

    pub(super) fn first_row(&self) -> u64 {
        self.first_row
    }

    pub(super) fn last_time_ns(&self) -> i64 {
        self.times_ns.last().copied().unwrap_or(i64::MIN)
    }

    /// The next row with the key of the row at `place`.
    pub(super) fn next(&self, place: usize) -> Option<u64> {
        Some(self.links[place].0).filter(|next| *next != 0)
    }

    pub(super) fn set_next(&mut self, place: usize, row: u64) {
        self.links[place].0 = row;
    }

    pub(super) fn is_answered(&self, place: usize) -> bool {
        self.latencies_ns[place] >= 0
    }

    /// Whether the row at `place` has no answer yet, and one to `question` (0 for any) at `time_ns` could be its.
    pub(super) fn waits(&self, place: usize, question: u64, time_ns: i64) -> bool {
        let after = time_ns.saturating_sub(self.times_ns[place]);
        let is_asked = question == 0 || question == self.links[place].1;
        is_asked && !self.is_answered(place) && (0..=ANSWER_TIMEOUT_NS).contains(&after)
    }

    /// Appends the row of a query.
    pub(super) fn push(&mut self, message: &Message<'_>, view: &View<'_>, question_hash: u64) {
        self.links.push((0, question_hash));
        let (client, server) = (message.source, message.destination);
        self.times_ns.push(message.time_ns);
        self.clients
            .push(|text| drop(write!(text, "{}", client.address)));
        self.client_ports.push(client.port);
        self.servers
            .push(|text| drop(write!(text, "{}", server.address)));
        self.server_ports.push(server.port);
        self.transports.push(|text| {
            text.extend_from_slice(Transport::name(message.transport).as_bytes());
        });
        self.ids.push(view.header.id);
        let question = view.question;
        self.names.push(|text| {
            if let Some(question) = question {
                push_name(question.name, text);
            }
        });
        self.types.push(|text| {
            if let Some(question) = question {
                drop(write!(text, "{}", Rtype::from_int(question.qtype)));
            }
        });
        self.classes.push(|text| {
            if let Some(question) = question {
                drop(write!(text, "{}", Class::from_int(question.qclass)));
            }
        });
        // With the ID in a column of its own, equal queries are equal, and pack well.
        self.queries.push(|octets| {
            octets.extend_from_slice(&[0, 0]);
            octets.extend_from_slice(&message.octets[2..]);
        });
        self.latencies_ns.push(-1);
        for column in [
            &mut self.rcodes,
            &mut self.answer_flags,
            &mut self.answer_octets,
        ] {
            column.push(NONE);
        }
    }

    /// Sets what is known of the answer of the row at `place`.
    pub(super) fn set_answer(&mut self, place: usize, answer: &Answer) {
        self.latencies_ns[place] = answer.time_ns - self.times_ns[place];
        self.rcodes[place] = answer.rcode;
        self.answer_flags[place] = answer.flags;
        let octets = answer.octets.and_then(|octets| octets.try_into().ok());
        self.answer_octets[place] = octets.unwrap_or(NONE);
    }

    /// The columns with their names.
    pub fn into_columns(self) -> [(&'static str, Column); 15] {
        let all = |values| Column::Numbers {
            values,
            has_none: false,
        };
        let some = |values| Column::Numbers {
            values,
            has_none: true,
        };
        [
            ("time", Column::TimeNs(self.times_ns)),
            ("client", Column::Text(self.clients)),
            ("client_port", all(self.client_ports)),
            ("server", Column::Text(self.servers)),
            ("server_port", all(self.server_ports)),
            ("transport", Column::Text(self.transports)),
            ("id", all(self.ids)),
            ("name", Column::Text(self.names)),
            ("type", Column::Text(self.types)),
            ("class", Column::Text(self.classes)),
            ("query", Column::Octets(self.queries)),
            ("latency", Column::DurationNs(self.latencies_ns)),
            ("rcode", some(self.rcodes)),
            ("answer_flags", some(self.answer_flags)),
            ("answer_octets", some(self.answer_octets)),
        ]
    }
}
