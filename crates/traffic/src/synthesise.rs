//! Synthetic traffic: the queries that the clients of a profile send, and their answers.
//!
//! A stream is made second by second, in order, and written as it is made, so that its length costs no memory. What can be
//! exact is exact: how many queries there are, of each type, with each outcome, with RD, by TCP. Everything random follows from
//! the seed.
//!
//! Addresses are of blocks that belong to nobody (10.0.0.0/8, 2001:db8::/32), and names are made of numbers.

mod answer;
mod cache;
mod clients;
mod names;
mod output;
mod plan;
mod query;
mod questions;
mod quotas;
mod random;
mod ranks;
mod seconds;
mod slots;
mod summary;
#[cfg(test)]
mod tests;
mod urn;

pub use output::{Format, Packets};
pub use plan::Plan;
pub use summary::SynthesisSummary;

use crate::error::TrafficError;
use crate::message::Endpoint;
use crate::profile::Profile;
use crate::write::OutputFile;
use answer::{Answering, Asked};
use clients::Population;
use dnsrig_stream::asked::AskedQueries;
use output::{AbandonedSession, Columns, FileSink, Lines, PacketFile, Sink, Transaction};
use plan::Size;
use query::Dress;
use questions::Questions;
use random::{Purpose, Random};
use slots::{SECOND_NS, Slot};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// The port of DNS servers.
const SERVER_PORT: u16 = 53;
/// The ports of clients (RFC 6056 section 3.2 lets them be all but the well-known ones).
const FIRST_PORT: u64 = 1024;
const PORTS: u64 = 65_536 - FIRST_PORT;

/// How synthesis is watched and stopped.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// Set by another thread to end the work, which then fails.
    pub cancel: &'a AtomicBool,
    /// Told now and then how many queries were made.
    pub progress: &'a dyn Fn(u64),
}

/// Writes traffic as `profile` describes it to `path`; `-` is standard output. The file has its name only when it is complete.
///
/// # Errors
/// [`TrafficError::Plan`] if there is no such traffic, [`TrafficError::Write`], [`TrafficError::Output`], or
/// [`TrafficError::Interrupted`].
pub fn synthesise(
    profile: &Profile,
    plan: &Plan,
    path: &Path,
    watch: &Watch<'_>,
) -> Result<SynthesisSummary, TrafficError> {
    let mut synthesis = Synthesis::new(profile, plan)?;
    let file = OutputFile::create(path)?;
    let mut sink: Box<dyn FileSink> = match plan.format {
        Format::Pcap => Box::new(PacketFile::new(file, plan.packets)),
        Format::Text => Box::new(Lines::new(file, false)),
        Format::Binary => Box::new(Lines::new(file, true)),
    };
    synthesis.run(&mut *sink, watch)?;
    let written = sink.finish()?;
    Ok(synthesis.summary(&written))
}

/// Makes traffic as `profile` describes it and keeps who asks when for what: what [`Format::Text`] would write, whatever the
/// plan's format is. Requests that such a file cannot hold (of other opcodes than QUERY, say) are not among them.
///
/// # Errors
/// [`TrafficError::Plan`] if there is no such traffic, [`TrafficError::Stream`] if memory does not suffice, or
/// [`TrafficError::Interrupted`].
pub fn synthesise_asked(
    profile: &Profile,
    plan: &Plan,
    watch: &Watch<'_>,
) -> Result<AskedQueries, TrafficError> {
    let mut synthesis = Synthesis::new(profile, plan)?;
    let mut columns = Columns::default();
    synthesis.run(&mut columns, watch)?;
    Ok(columns.into_asked())
}

/// Traffic that is being made.
struct Synthesis {
    size: Size,
    /// Requests of each second.
    seconds: Vec<u64>,
    population: Population,
    questions: Questions,
    dress: Dress,
    answering: Answering,
    random: Draws,
    made: summary::Made,
    query: Vec<u8>,
    answer: Vec<u8>,
}

/// Random numbers for what is independent of each other.
struct Draws {
    slots: Random,
    questions: Random,
    messages: Random,
    answers: Random,
}

impl Synthesis {
    fn new(profile: &Profile, plan: &Plan) -> Result<Self, TrafficError> {
        let refused = |why: String| TrafficError::Plan {
            profile: profile.name.clone(),
            why,
        };
        let size = plan.size(profile).map_err(refused)?;
        let scale = size.rate_qps / profile.rate.mean_qps;
        let population = Population::new(profile, scale, plan.seed).map_err(refused)?;
        let course = seconds::Course {
            rate: &profile.rate,
            mean_qps: size.rate_qps,
            start_s: size.start_ns.div_euclid(SECOND_NS as i64),
            duration_s: size.duration_s,
            seed: plan.seed,
        };
        let requests = size.queries + quotas::other_requests(profile, size.queries);
        Ok(Self {
            seconds: course.counts(requests),
            size,
            population,
            questions: Questions::new(profile, size.queries, plan.seed),
            dress: Dress::new(&profile.queries),
            answering: Answering::new(&profile.answers),
            random: Draws {
                slots: Random::new(plan.seed, Purpose::Slots),
                questions: Random::new(plan.seed, Purpose::Questions),
                messages: Random::new(plan.seed, Purpose::Messages),
                answers: Random::new(plan.seed, Purpose::Answers),
            },
            made: summary::Made::default(),
            query: Vec::with_capacity(512),
            answer: Vec::with_capacity(2048),
        })
    }

    fn run(&mut self, sink: &mut dyn Sink, watch: &Watch<'_>) -> Result<(), TrafficError> {
        let seconds = std::mem::take(&mut self.seconds);
        let mut requests = Vec::new();
        for (second, &count) in (0_u64..).zip(&seconds) {
            let rest_ns = self.size.duration_ns().saturating_sub(second * SECOND_NS);
            for slice in slots::slices(rest_ns.clamp(1, SECOND_NS), count) {
                if watch.cancel.load(Ordering::Relaxed) {
                    return Err(TrafficError::Interrupted);
                }
                slots::fill(
                    &mut requests,
                    slice,
                    &self.population,
                    &mut self.random.slots,
                );
                for slot in &requests {
                    self.request(slot, second, sink)?;
                }
                (watch.progress)(self.made.requests);
            }
        }
        Ok(())
    }

    /// Makes one request and what goes with it.
    #[inline]
    fn request(
        &mut self,
        slot: &Slot,
        second: u64,
        sink: &mut dyn Sink,
    ) -> Result<(), TrafficError> {
        let since_ns = second * SECOND_NS + u64::from(slot.offset_ns);
        let time_ns = self.size.start_ns.saturating_add_unsigned(since_ns);
        let random = &mut self.random;
        let population = &self.population;
        let (category, request, name) = self.questions.draw(
            slot.client,
            second as u32,
            population,
            &mut random.questions,
        );
        self.dress.compose(
            &category,
            &request,
            self.questions.wire(),
            &mut random.messages,
            &mut self.query,
        );
        let (client, server) = population.addresses(slot.client);
        let ports = random.messages.bits();
        let server = Endpoint::new(server, SERVER_PORT);
        let round_trip_ns = population.round_trip_ns(slot.client);
        if request.has_abandoned_session {
            sink.abandoned_session(&AbandonedSession {
                time_ns,
                client: Endpoint::new(client, port_of(ports << 32)),
                server,
                round_trip_ns,
            })?;
        }
        let mut latency_ns = None;
        if sink.wants_answers() {
            let asked = Asked {
                category: &category,
                request: &request,
                query: &self.query,
                name_bits: name.hash(),
                ttl_s: self.questions.ttl_s(name),
            };
            latency_ns = self
                .answering
                .compose(&asked, &mut random.answers, &mut self.answer);
        }
        self.made
            .count(&category, &request, slot.client, self.query.len());
        sink.transaction(&Transaction {
            time_ns,
            client: Endpoint::new(client, port_of(ports)),
            server,
            is_tcp: request.is_tcp,
            round_trip_ns,
            query: &self.query,
            answer: latency_ns.map(|latency_ns| (&self.answer[..], latency_ns)),
        })
    }

    fn summary(&self, written: &output::Written) -> SynthesisSummary {
        self.made
            .summary(&self.size, self.questions.cached(), written)
    }
}

/// The port of a client by random bits.
fn port_of(bits: u64) -> u16 {
    (FIRST_PORT + random::scale(bits, PORTS)) as u16
}
