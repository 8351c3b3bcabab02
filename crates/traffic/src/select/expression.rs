//! What `traffic filter` keeps: terms such as `zone example.com`, joined by `and`, `or`, `not` and parentheses.
//!
//! A term is a word (`query`, `tc`, ...), or a key and values joined by commas, one of which must hold. Terms on what a
//! message says do not hold for one that is no whole DNS message.

mod parser;
mod time;

pub use time::parse_time;

use crate::message::Transport;
use crate::wire::View;
use dnsrig_stream::Prefix;
use std::net::IpAddr;

/// A condition on DNS messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expression(Node);

/// How a packet or message travelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Travel {
    /// When, in ns since 1970.
    pub time_ns: i64,
    /// The end that sends queries.
    pub client: IpAddr,
    /// The other end.
    pub server: IpAddr,
    /// What carried it.
    pub transport: Transport,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Node {
    All(Vec<Node>),
    Any(Vec<Node>),
    Not(Box<Node>),
    Travel(TravelTerm),
    Message(MessageTerm),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum TravelTerm {
    Client(Vec<Prefix>),
    Server(Vec<Prefix>),
    Transport(Vec<Transport>),
    /// At this time or later.
    After(i64),
    /// Before this time.
    Before(i64),
}

/// Names are in wire format and lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
enum MessageTerm {
    Answer(bool),
    /// The question's name is one of these, or below it.
    Zone(Vec<Box<[u8]>>),
    Name(Vec<Box<[u8]>>),
    Type(Vec<u16>),
    Class(Vec<u16>),
    /// Of an answer, with the upper bits in its OPT record.
    Rcode(Vec<u16>),
    Opcode(Vec<u8>),
    /// One of the bits of the header's second line.
    Flag(u16),
    Edns,
    DnssecOk,
}

impl Expression {
    /// Reads an expression.
    ///
    /// # Errors
    /// Says what is wrong, and what can be written.
    pub fn parse(text: &str) -> Result<Self, String> {
        parser::parse(text).map(Self)
    }

    /// Whether its ends and its transport alone decide about a message, so that TCP connections are wanted whole or not at all.
    pub fn is_of_ends(&self) -> bool {
        self.0.is_of_ends()
    }

    /// Whether a packet that travelled so is wanted; for expressions of ends and transports alone.
    pub fn takes_packet(&self, travel: &Travel) -> bool {
        self.0.takes(travel, None)
    }

    /// Whether a message is wanted; `view` is none if it is no whole one.
    #[inline]
    pub fn takes(&self, travel: &Travel, view: Option<&View<'_>>) -> bool {
        self.0.takes(travel, view)
    }
}

impl Node {
    fn is_of_ends(&self) -> bool {
        match self {
            Self::All(nodes) | Self::Any(nodes) => nodes.iter().all(Self::is_of_ends),
            Self::Not(node) => node.is_of_ends(),
            Self::Travel(TravelTerm::After(_) | TravelTerm::Before(_)) | Self::Message(_) => false,
            Self::Travel(_) => true,
        }
    }

    fn takes(&self, travel: &Travel, view: Option<&View<'_>>) -> bool {
        match self {
            Self::All(nodes) => nodes.iter().all(|node| node.takes(travel, view)),
            Self::Any(nodes) => nodes.iter().any(|node| node.takes(travel, view)),
            Self::Not(node) => !node.takes(travel, view),
            Self::Travel(term) => term.holds(travel),
            Self::Message(term) => view.is_some_and(|view| term.holds(view)),
        }
    }
}

impl TravelTerm {
    fn holds(&self, travel: &Travel) -> bool {
        let is_in = |prefixes: &[Prefix], address: IpAddr| {
            prefixes.iter().any(|prefix| prefix.contains(address))
        };
        match self {
            Self::Client(prefixes) => is_in(prefixes, travel.client),
            Self::Server(prefixes) => is_in(prefixes, travel.server),
            Self::Transport(transports) => transports.contains(&travel.transport),
            Self::After(time_ns) => travel.time_ns >= *time_ns,
            Self::Before(time_ns) => travel.time_ns < *time_ns,
        }
    }
}

impl MessageTerm {
    fn holds(&self, view: &View<'_>) -> bool {
        let header = view.header;
        let question = view.question.as_ref();
        match self {
            Self::Answer(is_answer) => header.is_answer() == *is_answer,
            Self::Zone(zones) => question
                .is_some_and(|question| zones.iter().any(|zone| is_below(question.name, zone))),
            Self::Name(names) => question.is_some_and(|question| {
                names
                    .iter()
                    .any(|name| name.eq_ignore_ascii_case(question.name))
            }),
            Self::Type(types) => question.is_some_and(|question| types.contains(&question.qtype)),
            Self::Class(classes) => {
                question.is_some_and(|question| classes.contains(&question.qclass))
            }
            Self::Rcode(rcodes) => {
                let opt = view.opt().unwrap_or_default();
                header.is_answer() && rcodes.contains(&view.rcode(opt.as_ref()))
            }
            Self::Opcode(opcodes) => opcodes.contains(&header.opcode()),
            Self::Flag(bits) => header.flags & bits != 0,
            Self::Edns => view.opt().unwrap_or_default().is_some(),
            Self::DnssecOk => view
                .opt()
                .unwrap_or_default()
                .is_some_and(|opt| opt.dnssec_ok),
        }
    }
}

/// Whether `name` is `zone`, which is in lower case, or below it; both are uncompressed.
#[inline]
pub(crate) fn is_below(name: &[u8], zone: &[u8]) -> bool {
    let Some(start) = name.len().checked_sub(zone.len()) else {
        return false;
    };
    if !name[start..].eq_ignore_ascii_case(zone) {
        return false;
    }
    // The end of the name is that of the zone; now a label has to begin there.
    let mut at = 0;
    while at < start {
        at += 1 + usize::from(name[at]);
    }
    at == start
}

#[cfg(test)]
mod tests;
