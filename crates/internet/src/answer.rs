//! Answering: which server was asked, which of its zones the question is for, and what it does with EDNS and sizes.

use crate::excerpt::Excerpt;
use crate::hosting::Hosting;
use crate::internet::Internet;
use crate::limits::Limited;
use crate::query::{FLAG_RESPONSE, HEADER, Opt, find_opt, question_end};
use crate::random::{Purpose, at, unit};
use crate::ready::Demand;
use crate::registry::{Delegation, Registry};
use crate::reverse::ReverseZone;
use crate::servers::{EdnsHabit, Habits, Manner, ServerId};
use crate::zones::ExcerptKey;
use dnsrig_answer::{Scratch as AnswerScratch, Transport};
use dnsrig_zone::lookup::LookupName;
use domain::base::iana::Rtype;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// The longest query that is answered, in octets.
pub const QUERY_LEN_MAX: usize = 4096;
/// UDP answers without EDNS have at most this many octets (RFC 1035 section 4.2.1).
const UDP_WITHOUT_EDNS: u16 = 512;

const FLAG_TRUNCATED: u8 = 0x02;
const FORMERR: u8 = 1;

/// A query as it came.
#[derive(Clone, Copy, Debug)]
pub struct Arrived<'a> {
    /// The address that it was sent to.
    pub server: IpAddr,
    /// UDP or TCP.
    pub transport: Transport,
    /// Its octets.
    pub message: &'a [u8],
    /// Time since the Internet began to be.
    pub now: Duration,
}

/// What becomes of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Octets of the answer, which begins the buffer; none: there is no answer.
    pub len: Option<usize>,
    /// How long the answer takes to arrive, over UDP; over TCP as long as from query to answer.
    pub delay: Duration,
    /// The server that was asked; none at the address: nothing is there.
    pub server: Option<ServerId>,
    /// The type asked for; 0 if that cannot be read.
    pub rtype: u16,
}

/// Memory that answering needs, to be used again; one for each thread.
pub struct Scratch {
    pub(crate) name: LookupName,
    pub(crate) answering: AnswerScratch,
    query: Box<[u8; QUERY_LEN_MAX]>,
}

impl Default for Scratch {
    fn default() -> Self {
        Self {
            name: LookupName::default(),
            answering: AnswerScratch::default(),
            query: Box::new([0; QUERY_LEN_MAX]),
        }
    }
}

/// A zone of the Internet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ZoneId {
    Root,
    Registry(u32),
    Domain(u32, u64),
    Operator(u32),
    Reverse(ReverseZone),
}

/// Zones that one name can be in: the root, arpa, in-addr.arpa, and those of one, two and three octets.
const DEPTH_MAX: usize = 6;

impl Internet {
    /// Answers a query, writing to `out`, which should have 65,535 octets; the same query gets the same octets whenever and
    /// wherever, unless a rate limit stands in the way.
    ///
    /// Any octets may come. A zone that cannot be made, for want of memory for its keys, is answered for by no answer.
    pub fn answer(&self, arrived: &Arrived<'_>, scratch: &mut Scratch, out: &mut [u8]) -> Answer {
        let mut answer = Answer {
            len: None,
            delay: Duration::ZERO,
            server: self.servers.at(arrived.server),
            rtype: 0,
        };
        let message = arrived.message;
        let question = question_end(message);
        if let Some(end) = question {
            answer.rtype = u16::from_be_bytes([message[end - 4], message[end - 3]]);
        }
        let Some(server) = answer.server.filter(|_| message.len() <= QUERY_LEN_MAX) else {
            return answer;
        };
        if self.outages.has(&self.servers, server, arrived.now) {
            return answer;
        }
        let is_udp = arrived.transport == Transport::Udp;
        let manner = self.servers.manner(server);
        if self.options.has_distances {
            let (delay, is_lost) = self.servers.distance(server, &manner, occasion(message));
            answer.delay = delay;
            if is_udp && is_lost {
                return answer;
            }
        }
        if is_udp {
            match self.rate_limits.count(server, arrived.now) {
                Limited::Send => {}
                Limited::Drop => return answer,
                Limited::Truncate => {
                    answer.len = header_only(message, question, FLAG_TRUNCATED, 0, out);
                    return answer;
                }
            }
        }
        answer.len = self.respond_again(arrived, (server, &manner), question, scratch, out);
        answer
    }

    /// Responds as before, if it has, over UDP.
    fn respond_again(
        &self,
        arrived: &Arrived<'_>,
        (server, manner): (ServerId, &Manner),
        question: Option<usize>,
        scratch: &mut Scratch,
        out: &mut [u8],
    ) -> Option<usize> {
        let habits = manner.habits;
        let is_udp = arrived.transport == Transport::Udp;
        let asked = question
            .filter(|_| is_udp)
            .and_then(|end| Demand::of(manner.alike, arrived.message, end));
        let Some(asked) = asked else {
            return self.respond(arrived, (server, habits), question, scratch, out);
        };
        if let Some(len) = self.ready.get(&asked, arrived.message, out) {
            return Some(len);
        }
        let len = self.respond(arrived, (server, habits), question, scratch, out)?;
        self.ready.put(&asked, &out[..len]);
        Some(len)
    }

    fn respond(
        &self,
        arrived: &Arrived<'_>,
        (server, habits): (ServerId, Habits),
        question: Option<usize>,
        scratch: &mut Scratch,
        out: &mut [u8],
    ) -> Option<usize> {
        let Scratch {
            name,
            answering,
            query,
        } = scratch;
        let mut message = arrived.message;
        let question = question.filter(|_| name.set(&message[HEADER..]).is_some());
        let opt = question.and_then(|end| find_opt(message, end));
        let copy = &mut query[..message.len()];
        match (habits.edns, opt) {
            (EdnsHabit::FormErr, Some(_)) => {
                return header_only(message, question, 0, FORMERR, out);
            }
            (EdnsHabit::Ignored, Some(opt)) => message = opt.removed(message, copy),
            (EdnsHabit::Sound, Some(opt)) if arrived.transport == Transport::Udp => {
                message = opt.limited(message, copy, habits.udp_payload);
            }
            _ => {}
        }
        let rtype = question.map_or(0, |end| {
            u16::from_be_bytes([message[end - 4], message[end - 3]])
        });
        let excerpt = match question {
            Some(_) if Rtype::from_int(rtype) != Rtype::AXFR => {
                self.excerpt_for(server, name, Rtype::from_int(rtype))?
            }
            _ => None,
        };
        let excerpt = excerpt.as_deref().unwrap_or(&self.refusing);
        let signatures = &self.signatures;
        let len = excerpt.answer(message, arrived.transport, answering, out, signatures)?;
        if opt.is_some() && habits.edns == EdnsHabit::Sound {
            Opt::announce(&mut out[..len], habits.udp_payload);
        }
        Some(len)
    }

    /// What a server answers from; `Some(None)` if it has no zone for the question, `None` if the zone cannot be made.
    #[expect(
        clippy::option_option,
        reason = "two different reasons for having nothing"
    )]
    fn excerpt_for(
        &self,
        server: ServerId,
        name: &LookupName,
        rtype: Rtype,
    ) -> Option<Option<Arc<Excerpt>>> {
        let (zones, count) = self.zones_of(name);
        let zones = &zones[..count];
        let served = |zone: &&ZoneId| self.serves(server, **zone);
        // The nearest, but for DS the one above the zone cut, if the server has that (RFC 4035 section 3.1.4.1).
        let is_apex = self.depth(zones[0]) == name.labels();
        let above = match rtype == Rtype::DS && count > 1 && is_apex {
            true => zones[1..].iter().find(served),
            false => None,
        };
        let Some(zone) = above.or_else(|| zones.iter().find(served)) else {
            return Some(None);
        };
        self.excerpt(self.excerpt_key(*zone, name)).ok().map(Some)
    }

    /// The part of `zone` that answers for `name`, which is in it.
    pub(crate) fn excerpt_key(&self, zone: ZoneId, name: &LookupName) -> ExcerptKey {
        match zone {
            ZoneId::Root => ExcerptKey::Root,
            ZoneId::Registry(number) => {
                let registry = &self.registries[number as usize];
                let part = self.part_for(registry, label(name, registry.depth + 1));
                ExcerptKey::Registry(number, part)
            }
            ZoneId::Domain(registry, index) => ExcerptKey::Domain(registry, index),
            ZoneId::Operator(zone) => ExcerptKey::Operator(zone),
            ZoneId::Reverse(zone) => ExcerptKey::Reverse(zone),
        }
    }

    /// The zones that a name is in, the nearest first, and how many they are.
    pub(crate) fn zones_of(&self, name: &LookupName) -> ([ZoneId; DEPTH_MAX], usize) {
        let mut zones = [ZoneId::Root; DEPTH_MAX];
        let mut count = 1;
        let mut push = |zone| {
            zones[count] = zone;
            count += 1;
        };
        let top = label(name, 1).unwrap_or_default();
        if let Some(&number) = self.registry_by_label.get(top) {
            let mut next = Some(Delegation::Registry(number));
            let mut within = number;
            while let Some(delegation) = next.take() {
                push(match delegation {
                    Delegation::Domain(index) => ZoneId::Domain(within, index),
                    Delegation::Operator(zone) => ZoneId::Operator(zone),
                    Delegation::Registry(number) => {
                        within = number;
                        let registry: &Registry = &self.registries[number as usize];
                        let below = label(name, registry.depth + 1);
                        next = below.and_then(|label| registry.find(label).0);
                        ZoneId::Registry(number)
                    }
                });
            }
        } else if let Some(reverse) = &self.reverse {
            reverse.walk(name, |zone| push(ZoneId::Reverse(zone)));
        }
        zones[..count].reverse();
        (zones, count)
    }

    /// Labels of a zone's name.
    fn depth(&self, zone: ZoneId) -> usize {
        match zone {
            ZoneId::Root => 0,
            ZoneId::Registry(number) => self.registries[number as usize].depth,
            ZoneId::Domain(registry, _) => 1 + self.registries[registry as usize].depth,
            ZoneId::Operator(zone) => {
                let registry = self.operators[zone as usize].registry;
                1 + self.registries[registry as usize].depth
            }
            ZoneId::Reverse(zone) => self.reverse.as_ref().map_or(0, |tree| tree.depth(zone)),
        }
    }

    fn serves(&self, server: ServerId, zone: ZoneId) -> bool {
        let is_of = |set| match server {
            ServerId::Listed(number) => self.servers.servers()[number as usize].set == set,
            ServerId::Own(_) => false,
        };
        match zone {
            ZoneId::Root => is_of(self.root_set),
            ZoneId::Registry(number) => is_of(self.registries[number as usize].set),
            ZoneId::Operator(zone) => is_of(self.operators[zone as usize].sets[0]),
            ZoneId::Reverse(zone) => self.reverse_set(zone).is_some_and(is_of),
            ZoneId::Domain(registry, index) => {
                let part = self.registries[registry as usize].number;
                match self.hosting.of(part, index) {
                    Hosting::Operator(set) => is_of(set) && !self.is_lame(server, part, index),
                    Hosting::Own(count) => (0..count)
                        .any(|number| self.servers.own_server(part, index, number).0 == server),
                }
            }
        }
    }

    /// Whether a server of a domain's set has no zone for it; the first of the set always has.
    fn is_lame(&self, server: ServerId, part: u64, index: u64) -> bool {
        let share = self.profile.faults.lame_share;
        let ServerId::Listed(number) = server else {
            return false;
        };
        if share == 0.0 {
            return false;
        }
        let bits = at(self.options.seed, Purpose::Lame, part, index);
        let set = self.servers.servers()[number as usize].set;
        let has_others = self.servers.of_set(set).len() > 1;
        has_others && self.servers.is_last(number) && unit(bits) < share
    }
}

/// The label number `from_right` of a name, counted from 1 at the right.
pub(crate) fn label(name: &LookupName, from_right: usize) -> Option<&[u8]> {
    if name.labels() < from_right {
        return None;
    }
    let suffix = name.suffix(from_right);
    suffix.get(1..1 + usize::from(suffix[0]))
}

/// Tells queries apart for loss and jitter: a resolver that asks again uses another ID.
fn occasion(message: &[u8]) -> u64 {
    let mut folded = 0u64;
    for chunk in message.chunks(8) {
        let mut octets = [0; 8];
        octets[..chunk.len()].copy_from_slice(chunk);
        folded =
            folded.rotate_left(23).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ u64::from_le_bytes(octets);
    }
    folded
}

/// Writes a response without records: header and question.
fn header_only(
    message: &[u8],
    question: Option<usize>,
    flags: u8,
    rcode: u8,
    out: &mut [u8],
) -> Option<usize> {
    let end = question?;
    if message[2] & FLAG_RESPONSE != 0 || end > out.len().min(UDP_WITHOUT_EDNS.into()) {
        return None;
    }
    out[..end].copy_from_slice(&message[..end]);
    out[2] = message[2] & 0x79 | FLAG_RESPONSE | flags;
    out[3] = rcode;
    out[4..HEADER].copy_from_slice(&[0, 1, 0, 0, 0, 0, 0, 0]);
    Some(end)
}
