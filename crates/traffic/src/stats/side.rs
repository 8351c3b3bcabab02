//! What is counted of queries, and the same of answers.

use super::counter::{Counter, TypeCounter};
use super::histogram::Histogram;
use super::rates::Rates;
use super::shapes::{Shape, Shapes};
use crate::message::{Message, Transport};
use crate::wire::{Header, Opt, Question};
use serde::{Deserialize, Serialize};

const NS_PER_S: i64 = 1_000_000_000;

/// Counts of the messages of opcode QUERY in one direction; [`Side::opcodes`] alone counts the others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Side {
    /// Messages of opcode QUERY.
    pub messages: u64,
    /// All messages, by opcode.
    pub opcodes: Counter,
    /// Messages by question.
    pub types: TypeCounter,
    /// Answers with another RCODE than NOERROR, by question.
    pub failed_types: TypeCounter,
    /// Messages by RCODE; queries have zero, too.
    pub rcodes: Counter,
    /// Messages by second.
    pub rates: Rates,
    /// Octets of whole messages.
    pub octets: Histogram,
    /// Messages by transport, in the order of [`Transport::ALL`].
    pub transports: [u64; Transport::ALL.len()],
    /// Messages over IPv4 and over IPv6.
    pub families: [u64; 2],
    /// Messages with flags.
    pub flags: Flags,
    /// EDNS.
    pub edns: Edns,
    /// The second that messages come in just now, which [`Side::rates`] has not yet.
    #[serde(skip)]
    second: Second,
    /// Messages by what they have in common, which no other count has yet but size, rates and options.
    #[serde(skip)]
    shapes: Shapes,
}

/// How many messages have each flag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flags {
    /// AA.
    pub aa: u64,
    /// TC.
    pub tc: u64,
    /// RD.
    pub rd: u64,
    /// Answers with RD and another RCODE than NOERROR.
    pub rd_failed: u64,
    /// RA.
    pub ra: u64,
    /// AD.
    pub ad: u64,
    /// CD.
    pub cd: u64,
}

/// How many messages have an OPT record, and what it says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edns {
    /// Messages with an OPT record.
    pub messages: u64,
    /// Those of them with DO.
    pub dnssec_ok: u64,
    /// Those of them with another version than 0.
    pub other_versions: u64,
    /// By the UDP payload size that they give.
    pub udp_sizes: Counter,
    /// Options by their code; one that a message repeats counts again.
    pub options: Counter,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Second {
    start_ns: i64,
    count: u32,
}

impl Side {
    /// Counts a message of opcode QUERY, which has `len` octets if that is known.
    #[inline]
    pub fn add(
        &mut self,
        message: &Message<'_>,
        header: Header,
        question: Option<&Question<'_>>,
        opt: Option<&Opt<'_>>,
        len: Option<usize>,
    ) {
        self.count_second(message.time_ns);
        if let Some(len) = len {
            self.octets.add(len as u64);
        }
        if let Some(opt) = opt {
            for option in opt.options() {
                self.edns.options.add(option.code);
            }
        }
        if let Some((shape, count)) = self.shapes.add(Shape::of(message, header, question, opt)) {
            self.count(shape, count);
        }
    }

    #[cold]
    fn count(&mut self, shape: Shape, count: u64) {
        let (header, rcode) = (shape.header(), shape.rcode());
        let has_failed = rcode != 0;
        self.messages += count;
        self.opcodes.add_count(header.opcode().into(), count);
        self.rcodes.add_count(rcode, count);
        if let Some((qclass, qtype)) = shape.question() {
            self.types.add_count(qclass, qtype, count);
            if has_failed {
                self.failed_types.add_count(qclass, qtype, count);
            }
        }
        self.transports[shape.transport()] += count;
        self.families[usize::from(shape.is_ipv6())] += count;
        self.flags.add(header, has_failed, count);
        if let Some(opt) = shape.opt() {
            self.edns.add(&opt, count);
        }
    }

    #[inline]
    fn count_second(&mut self, time_ns: i64) {
        if time_ns.wrapping_sub(self.second.start_ns) as u64 >= NS_PER_S as u64 {
            self.end_second();
            self.second.start_ns = time_ns.div_euclid(NS_PER_S).saturating_mul(NS_PER_S);
        }
        self.second.count += 1;
    }

    /// Brings all counts up to date.
    pub fn bring_up_to_date(&mut self) {
        self.end_second();
        for (shape, count) in self.shapes.take() {
            self.count(shape, count);
        }
    }

    fn end_second(&mut self) {
        if self.second.count > 0 {
            self.rates
                .add(self.second.start_ns.div_euclid(NS_PER_S), self.second.count);
            self.second.count = 0;
        }
    }

    /// Adds what is in `other`; both must be up to date.
    pub fn merge(&mut self, other: &Self) {
        self.messages += other.messages;
        self.opcodes.merge(&other.opcodes);
        self.types.merge(&other.types);
        self.failed_types.merge(&other.failed_types);
        self.rcodes.merge(&other.rcodes);
        self.rates.merge(&other.rates);
        self.octets.merge(&other.octets);
        for (own, other) in self.transports.iter_mut().zip(other.transports) {
            *own += other;
        }
        for (own, other) in self.families.iter_mut().zip(other.families) {
            *own += other;
        }
        self.flags.merge(&other.flags);
        self.edns.merge(&other.edns);
    }
}

impl Flags {
    fn add(&mut self, header: Header, has_failed: bool, count: u64) {
        let flags = [
            (&mut self.aa, header.is_authoritative()),
            (&mut self.tc, header.is_truncated()),
            (&mut self.rd, header.recursion_desired()),
            (
                &mut self.rd_failed,
                header.recursion_desired() && has_failed,
            ),
            (&mut self.ra, header.recursion_available()),
            (&mut self.ad, header.authentic_data()),
            (&mut self.cd, header.checking_disabled()),
        ];
        for (flag, is_set) in flags {
            *flag += u64::from(is_set) * count;
        }
    }

    fn merge(&mut self, other: &Self) {
        self.aa += other.aa;
        self.tc += other.tc;
        self.rd += other.rd;
        self.rd_failed += other.rd_failed;
        self.ra += other.ra;
        self.ad += other.ad;
        self.cd += other.cd;
    }
}

impl Edns {
    /// Counts OPT records without their options.
    fn add(&mut self, opt: &Opt<'_>, count: u64) {
        self.messages += count;
        self.dnssec_ok += u64::from(opt.dnssec_ok) * count;
        self.other_versions += u64::from(opt.version != 0) * count;
        self.udp_sizes.add_count(opt.udp_size, count);
    }

    fn merge(&mut self, other: &Self) {
        self.messages += other.messages;
        self.dnssec_ok += other.dnssec_ok;
        self.other_versions += other.other_versions;
        self.udp_sizes.merge(&other.udp_sizes);
        self.options.merge(&other.options);
    }
}
