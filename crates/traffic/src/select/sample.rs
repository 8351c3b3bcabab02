//! `traffic sample`: all queries of some clients.

mod search;

use super::clients::{ClientHash, Share};
use super::expression::Travel;
use super::pass::{Passed, Select, pass};
use crate::error::TrafficError;
use crate::message::Message;
use crate::read::Reading;
use crate::stats::Distinct;
use crate::stats::hashing::Hashing;
use crate::wire::View;
use serde::Serialize;
use std::path::Path;

/// How large a sample is to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SampleSize {
    /// So many of all clients.
    Clients(Share),
    /// As many clients as send so many queries a second on average, taken in the order of their numbers; of several keys the
    /// one that comes nearest.
    Rate(f64),
    /// So many of all clients, by the one of several keys with which they send nearly so many queries a second.
    ClientsAtRate(Share, f64),
}

/// Which clients a sample has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// How many.
    pub size: SampleSize,
    /// The key of the hash by which they are chosen, or the first that is tried.
    pub key: u64,
}

/// A sample, and how it compares with the whole.
#[derive(Clone, Debug, Serialize)]
pub struct Sampled {
    /// What was read and written.
    #[serde(flatten)]
    pub passed: Passed,
    /// The key by which clients were chosen.
    pub key: u64,
    /// The share of all clients that was asked for or found: with the same key, other files give the same clients.
    pub clients_asked: f64,
    /// The captures.
    pub whole: SetSummary,
    /// The sample.
    pub sample: SetSummary,
    /// Queries of the sample by those of the whole.
    pub queries_share: f64,
    /// Time from the first query of the whole to the last, in seconds.
    pub seconds: f64,
    /// The standard error of the numbers of clients and questions, as a share.
    pub count_error: f64,
}

/// What the whole has, or the sample.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SetSummary {
    /// Queries (QR=0).
    pub queries: u64,
    /// Queries a second, on average over the time of the whole.
    pub mean_qps: f64,
    /// Clients that sent them, estimated.
    pub clients: u64,
    /// Different questions (name, type and class), estimated.
    pub questions: u64,
    /// The share of queries whose question was not asked before: what a cache that forgets nothing misses. Estimated.
    pub cold_miss_share: f64,
}

/// Writes all packets of the sampled clients to the pcap file `output`, what servers sent them included.
///
/// With a rate to reach, the captures are read once more, before, and every client takes about 50 octets of memory.
///
/// # Errors
/// Those of [`crate::read::run`], [`TrafficError::NoMessages`], [`TrafficError::Setting`], [`TrafficError::Write`] and
/// [`TrafficError::Output`].
pub fn sample(
    reading: &Reading<'_>,
    sampling: &Sampling,
    output: &Path,
) -> Result<Sampled, TrafficError> {
    let (key, share) = match sampling.size {
        SampleSize::Clients(share) => (sampling.key, share),
        SampleSize::Rate(qps) => search::search(reading, qps, None, sampling.key)?,
        SampleSize::ClientsAtRate(share, qps) => {
            search::search(reading, qps, Some(share), sampling.key)?
        }
    };
    let chosen = Chosen {
        hash: ClientHash::new(key),
        share,
    };
    let (passed, tally) = pass(reading, &chosen, &[output.to_owned()], None)?;
    let seconds = tally.span.seconds();
    let (whole, sample) = (tally.whole.summary(seconds), tally.sample.summary(seconds));
    Ok(Sampled {
        passed,
        key,
        clients_asked: share.value(),
        queries_share: ratio(sample.queries as f64, whole.queries as f64),
        whole,
        sample,
        seconds,
        count_error: Distinct::ERROR,
    })
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// The first and the last time of queries.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Span(Option<(i64, i64)>);

impl Span {
    fn add(&mut self, time_ns: i64) {
        self.join(Self(Some((time_ns, time_ns))));
    }

    fn join(&mut self, other: Self) {
        self.0 = match (self.0, other.0) {
            (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
            (a, b) => a.or(b),
        };
    }

    fn seconds(self) -> f64 {
        self.0
            .map_or(0.0, |(first, last)| last.abs_diff(first) as f64 / 1e9)
    }
}

/// Whether a message is a query, which counts; what is no whole message counts as none.
fn is_query(view: Option<&View<'_>>) -> bool {
    view.is_some_and(|view| !view.header.is_answer())
}

/// What a sample has, by what rule.
struct Chosen {
    hash: ClientHash,
    share: Share,
}

#[derive(Default)]
struct Tally {
    whole: Set,
    sample: Set,
    span: Span,
}

#[derive(Default)]
struct Set {
    queries: u64,
    clients: Distinct,
    questions: Distinct,
}

impl Set {
    fn add(&mut self, client: u64, question: u64) {
        self.queries += 1;
        // The upper bits are alike in a sample, which is chosen by them.
        self.clients.add(client.rotate_left(32));
        self.questions.add(question);
    }

    fn join(&mut self, other: &Self) {
        self.queries += other.queries;
        self.clients.merge(&other.clients);
        self.questions.merge(&other.questions);
    }

    fn summary(&self, seconds: f64) -> SetSummary {
        let most = self.queries as f64;
        let questions = self.questions.count().min(most);
        SetSummary {
            queries: self.queries,
            mean_qps: ratio(most, seconds),
            clients: self.clients.count().min(most).round() as u64,
            questions: questions.round() as u64,
            cold_miss_share: ratio(questions, most),
        }
    }
}

impl Select for Chosen {
    type Tally = Tally;

    fn keeps_segments(&self) -> bool {
        true
    }

    fn segment(&self, travel: &Travel) -> Option<usize> {
        self.share.has(self.hash.of(travel.client)).then_some(0)
    }

    #[inline]
    fn message(
        &self,
        tally: &mut Tally,
        travel: &Travel,
        _message: &Message<'_>,
        view: Option<&View<'_>>,
    ) -> Option<usize> {
        let client = self.hash.of(travel.client);
        let is_chosen = self.share.has(client);
        if is_query(view) {
            let question = view.and_then(|view| view.question).map_or(0, |question| {
                Hashing::fixed().question(question.name, question.qtype, question.qclass)
            });
            tally.whole.add(client, question);
            if is_chosen {
                tally.sample.add(client, question);
            }
            tally.span.add(travel.time_ns);
        }
        is_chosen.then_some(0)
    }

    fn add(tally: &mut Tally, other: Tally) {
        tally.whole.join(&other.whole);
        tally.sample.join(&other.sample);
        tally.span.join(other.span);
    }
}
