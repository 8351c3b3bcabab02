//! Everything that is counted of a capture.

use super::clients::{Asked, Clients};
use super::habits::{Habit, Outcome};
use super::histogram::Histogram;
use super::names::{MissingTally, NameTally};
use super::pending::{Pending, PendingQueries};
use super::seconds::Seconds;
use super::seen::AnswersSeen;
use crate::message::{Message, Transport};
use crate::wire::{Opt, Section, View};
use foldhash::fast::FixedState;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hash};

const QUERY: u8 = 0;
const NOTIFY: u8 = 4;
const UPDATE: u8 = 5;
const NOERROR: u16 = 0;
const NXDOMAIN: u16 = 3;
const TYPE_NS: u16 = 2;
const TYPE_CNAME: u16 = 5;
const TYPE_SOA: u16 = 6;
const TYPE_PTR: u16 = 12;
const TYPE_A: u16 = 1;
const TYPE_AAAA: u16 = 28;
const TYPE_ANY: u16 = 255;
const OPTION_COOKIE: u16 = 10;
/// The share of queries with an answer from which on answers tell of all, whatever else. With fewer it may be the capture that lacks
/// them, as one from where answers take another way: [`AnswersSeen`] tells.
const LEAST_ANSWERED: f64 = 0.1;
/// The same for what one query has to do with the one before it, which needs to be answered, too.
const LEAST_ANSWERED_IN_ROW: f64 = 0.5;

/// Queries of one class and type.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TypeTally {
    pub count: u64,
    pub answered: u64,
    pub failed: u64,
    pub no_data: u64,
}

/// What queries have.
#[derive(Clone, Debug, Default)]
pub(super) struct QueryTally {
    pub count: u64,
    pub rd: u64,
    pub ad: u64,
    pub cd: u64,
    pub edns: u64,
    pub dnssec_ok: u64,
    pub cookies: u64,
    pub sizes: BTreeMap<u16, u64>,
    pub by_tcp: u64,
}

/// What answers have.
#[derive(Clone, Debug, Default)]
pub(super) struct AnswerTally {
    pub count: u64,
    pub failed: u64,
    /// Those with RD, and of them those that failed.
    pub rd: u64,
    pub rd_failed: u64,
    pub aa: u64,
    pub ra: u64,
    pub ad: u64,
    pub by_udp: u64,
    pub truncated: u64,
    pub referrals: u64,
    pub addresses: u64,
    pub aliases: u64,
    pub rcodes: BTreeMap<u16, u64>,
}

/// A capture in counts.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub seconds: Seconds,
    pub types: BTreeMap<(u16, u16), TypeTally>,
    /// Requests of other opcodes, and the RCODEs of their answers.
    pub opcodes: BTreeMap<u8, (u64, BTreeMap<u16, u64>)>,
    pub queries: QueryTally,
    pub answers: AnswerTally,
    pub clients: Clients,
    pub names: NameTally,
    pub missing_names: NameTally,
    pub missing: MissingTally,
    pub latency: Histogram,
    pub pending: PendingQueries,
    seen: AnswersSeen,
    /// Whether there are queries, and not only the server's side.
    pub has_queries: bool,
    pub malformed: u64,
}

/// The hash of anything, the same in every run.
pub(super) fn hash_of(what: &(impl Hash + ?Sized)) -> u64 {
    FixedState::default().hash_one(what)
}

impl Tally {
    /// Counts a message.
    pub fn message(&mut self, message: &Message<'_>) {
        let Ok(view) = View::parse(message.octets) else {
            self.malformed += 1;
            return;
        };
        match (view.header.opcode(), view.header.is_answer()) {
            (QUERY, false) => self.query(message, &view),
            (QUERY, true) => self.answer(message, &view),
            (opcode @ (UPDATE | NOTIFY), false) => self.opcodes.entry(opcode).or_default().0 += 1,
            (opcode @ (UPDATE | NOTIFY), true) => {
                let rcodes = &mut self.opcodes.entry(opcode).or_default().1;
                *rcodes.entry(view.rcode(None)).or_default() += 1;
            }
            _ => {}
        }
    }

    fn answered_share(&self) -> f64 {
        self.answers.count as f64 / self.queries.count.max(1) as f64
    }

    /// Whether answers tell how queries are answered, and what is asked for.
    pub fn has_answers(&self) -> bool {
        self.answered_share() >= LEAST_ANSWERED || self.seen.are_all()
    }

    /// Whether answers tell what clients do again, and what together.
    pub fn has_answers_in_row(&self) -> bool {
        self.answered_share() >= LEAST_ANSWERED_IN_ROW
    }

    fn query(&mut self, message: &Message<'_>, view: &View<'_>) {
        let Some(question) = view.question else {
            return;
        };
        self.has_queries = true;
        let opt = view.opt().ok().flatten();
        let asked = asked(message, view);
        let habit = self.asked(&asked, view, opt.as_ref(), message.transport);
        let query = Pending {
            time_ns: message.time_ns,
            habit,
            has_rd: view.header.recursion_desired(),
        };
        let client = (message.source, message.destination);
        let id = (client, view.header.id, question.qtype, asked.name);
        self.pending.add(hash_of(&id), query);
        let pair = (message.source.address, message.destination.address);
        self.seen.query(hash_of(&pair));
    }

    /// Counts what clients ask; gives what they knew then.
    fn asked(
        &mut self,
        asked: &Asked,
        view: &View<'_>,
        opt: Option<&Opt<'_>>,
        transport: Transport,
    ) -> Habit {
        let class = view.question.map_or(0, |question| question.qclass);
        self.seconds.add(asked.time_ns);
        self.types.entry((class, asked.qtype)).or_default().count += 1;
        let queries = &mut self.queries;
        queries.count += 1;
        queries.rd += u64::from(view.header.recursion_desired());
        queries.ad += u64::from(view.header.authentic_data() && !view.header.is_answer());
        queries.cd += u64::from(view.header.checking_disabled());
        queries.by_tcp += u64::from(!matches!(transport, Transport::Udp | Transport::Unknown));
        if let Some(opt) = opt {
            queries.edns += 1;
            queries.dnssec_ok += u64::from(opt.dnssec_ok);
            queries.cookies += u64::from(opt.options().any(|option| option.code == OPTION_COOKIE));
            *queries.sizes.entry(opt.udp_size).or_default() += 1;
        }
        self.clients.query(asked)
    }

    fn answer(&mut self, message: &Message<'_>, view: &View<'_>) {
        let Some(question) = view.question else {
            return;
        };
        let opt = view.opt().ok().flatten();
        let mut asked = asked(message, view);
        let client = (message.destination, message.source);
        let id = (client, view.header.id, question.qtype, asked.name);
        let habit = match self.pending.take(hash_of(&id)) {
            Some(query) => {
                let latency_ns = message.time_ns.saturating_sub(query.time_ns).max(0);
                self.latency.add(latency_ns as u64);
                let pair = (message.destination.address, message.source.address);
                self.seen.answer(hash_of(&pair));
                asked.time_ns = query.time_ns;
                self.answers.rd += u64::from(query.has_rd);
                query.habit
            }
            // The answer to a query from before the capture.
            None if self.has_queries => return,
            None => {
                self.answers.rd += u64::from(view.header.recursion_desired());
                self.asked(&asked, view, opt.as_ref(), message.transport)
            }
        };
        let outcome = self.answered(message, view, opt.as_ref(), &asked);
        self.clients.answered(&asked, outcome, habit);
    }

    /// Counts how a query was answered, and tells it.
    fn answered(
        &mut self,
        message: &Message<'_>,
        view: &View<'_>,
        opt: Option<&Opt<'_>>,
        asked: &Asked,
    ) -> Outcome {
        let question = view.question.expect("checked by the caller");
        let rcode = view.rcode(opt);
        let header = view.header;
        let found = Found::of(view, asked.qtype);
        let has_failed = rcode != NOERROR;
        let has_no_data =
            !has_failed && !header.is_truncated() && !found.has_data && !found.is_referral;
        let answers = &mut self.answers;
        answers.count += 1;
        *answers.rcodes.entry(rcode).or_default() += 1;
        answers.failed += u64::from(has_failed);
        answers.rd_failed += u64::from(has_failed && header.recursion_desired());
        answers.aa += u64::from(header.is_authoritative());
        answers.ra += u64::from(header.recursion_available());
        answers.ad += u64::from(header.authentic_data() && !has_failed);
        let by_udp = message.transport == Transport::Udp;
        answers.by_udp += u64::from(by_udp);
        answers.truncated += u64::from(by_udp && header.is_truncated());
        answers.referrals += u64::from(found.is_referral);
        if matches!(asked.qtype, TYPE_A | TYPE_AAAA) && found.has_data {
            answers.addresses += 1;
            answers.aliases += u64::from(found.has_alias);
        }
        let of_type = self
            .types
            .entry((question.qclass, asked.qtype))
            .or_default();
        of_type.answered += 1;
        of_type.failed += u64::from(has_failed);
        of_type.no_data += u64::from(has_no_data);
        let is_missing = rcode == NXDOMAIN;
        let names = match is_missing {
            true => &mut self.missing_names,
            false => &mut self.names,
        };
        names.add(question.name, asked.name, asked.qtype == TYPE_PTR);
        if is_missing && asked.qtype != TYPE_PTR {
            self.missing.add(question.name);
        }
        if let Some(ttl_s) = found.ttl_s {
            names.add_lifetime(ttl_s);
            self.clients.answer(asked, ttl_s);
        }
        match (has_failed, has_no_data) {
            (true, _) => Outcome::Failed(rcode),
            (_, true) => Outcome::NoData,
            _ if found.is_referral => Outcome::Referral,
            _ => Outcome::Data {
                is_authoritative: header.is_authoritative(),
            },
        }
    }
}

/// A query, or the one that an answer is to.
fn asked(message: &Message<'_>, view: &View<'_>) -> Asked {
    let (name, qtype) = view
        .question
        .map_or((&[][..], 0), |question| (question.name, question.qtype));
    let client = match view.header.is_answer() {
        true => message.destination,
        false => message.source,
    };
    // Case does not tell names apart (RFC 4343).
    let mut lower = [0; crate::wire::MAX_NAME_LEN];
    let lower = &mut lower[..name.len()];
    lower.copy_from_slice(name);
    lower.make_ascii_lowercase();
    Asked {
        client: client.address,
        time_ns: message.time_ns,
        qtype,
        name: hash_of(&*lower),
    }
}

/// What an answer holds.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    has_data: bool,
    has_alias: bool,
    is_referral: bool,
    /// How long it lives, data by the least TTL, and denial as RFC 2308 section 5 has it.
    ttl_s: Option<u32>,
}

impl Found {
    fn of(view: &View<'_>, qtype: u16) -> Self {
        let mut found = Self::default();
        let (mut least_s, mut denial_s, mut has_servers) = (None::<u32>, None, false);
        for record in view.records().map_while(Result::ok) {
            match (record.section, record.rtype) {
                (Section::Answer, rtype) => {
                    found.has_alias |= rtype == TYPE_CNAME && qtype != TYPE_CNAME;
                    found.has_data |= rtype == qtype || qtype == TYPE_ANY;
                    least_s = Some(least_s.unwrap_or(u32::MAX).min(record.ttl));
                }
                (Section::Authority, TYPE_SOA) => {
                    let minimum = record
                        .data()
                        .last_chunk::<4>()
                        .map(|octets| u32::from_be_bytes(*octets));
                    denial_s = Some(record.ttl.min(minimum.unwrap_or(u32::MAX)));
                }
                (Section::Authority, TYPE_NS) => {
                    has_servers = true;
                    denial_s = Some(record.ttl);
                }
                _ => {}
            }
        }
        let header = view.header;
        found.is_referral =
            has_servers && header.answers == 0 && !header.is_authoritative() && header.rcode() == 0;
        found.ttl_s = least_s.or(denial_s);
        found
    }
}
