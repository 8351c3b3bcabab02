//! `traffic mix`: queries of another stream added to a stream, or put in place of its own.

use super::convert::{MessagesLeftOut, StreamWriter, Written, no_queries, write_all};
use super::input::{Dice, Form, InputSummary, StandIns, each_message};
use crate::error::TrafficError;
use crate::message::{Endpoint, Message, SentLen};
use crate::read::Reading;
use crate::wire::Header;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// Queries of the other stream that are handed over at once.
const BATCH: usize = 1024;
/// Batches that wait.
const WAITING: usize = 4;
/// No more queries are added to each: beyond it, the base is of no account.
const MOST: f64 = 1000.0;

/// How two streams are mixed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mixing {
    /// What the files of the base are.
    pub base: Form,
    /// What the other files are.
    pub other: Form,
    /// What is written.
    pub to: Form,
    /// Queries added for each of the base: 0.1 adds a tenth, at random places.
    pub augment: f64,
    /// The share of queries of the base that the other's take the place of, at random.
    pub substitute: f64,
    /// The seed of what is random.
    pub seed: u64,
    /// What stands for that which query files do not tell.
    #[serde(default)]
    pub stand_ins: StandIns,
}

/// What was mixed.
#[derive(Clone, Debug, Serialize)]
pub struct Mixed {
    /// What was read of the base.
    #[serde(flatten)]
    pub input: InputSummary,
    /// What was written.
    #[serde(flatten)]
    pub written: Written,
    /// Queries of the base.
    pub base_queries: u64,
    /// Answers in the base, which are left out: not all would fit what is asked.
    pub base_answers: u64,
    /// Queries added.
    pub added: u64,
    /// Queries that others took the place of.
    pub substituted: u64,
    /// How often the other stream was begun.
    pub times_read: u64,
}

impl Mixing {
    fn check(&self) -> Result<(), TrafficError> {
        let is_share = |value: f64, most: f64| (0.0..=most).contains(&value);
        let why = if !is_share(self.augment, MOST) {
            format!(
                "{} is not a number of queries to add for each, from 0 to {MOST}",
                self.augment
            )
        } else if !is_share(self.substitute, 1.0) {
            format!("{} is not a share of queries from 0 to 1", self.substitute)
        } else if self.augment == 0.0 && self.substitute == 0.0 {
            "nothing is to be added, nor anything to take the place of queries; say how much"
                .to_owned()
        } else {
            return Ok(());
        };
        Err(TrafficError::Setting { why })
    }
}

/// Writes the queries of `base` to `output` with those of `other` among them, in the order of `other`, which begins anew when
/// it ends.
///
/// A query that takes another's place has its time, its client, its server and its ID; so has one that is added, but for the
/// client, if `other` is a capture, and for the ID.
///
/// # Errors
/// Those of [`crate::read::run`], [`TrafficError::Setting`], [`TrafficError::NoQueries`], [`TrafficError::Stream`],
/// [`TrafficError::Write`] and [`TrafficError::Output`].
pub fn mix(
    base: &Reading<'_>,
    other: &Reading<'_>,
    mixing: &Mixing,
    output: &Path,
) -> Result<Mixed, TrafficError> {
    mixing.check()?;
    let (sender, receiver) = sync_channel(WAITING);
    thread::scope(|scope| {
        let reader = thread::Builder::new()
            .spawn_scoped(scope, move || hand_over(other, mixing, &sender))
            .map_err(|source| TrafficError::Threads { source })?;
        let mut mixer = Mixer {
            writer: StreamWriter::create(output, mixing.to)?,
            augment: Dice::new(mixing.seed, mixing.augment),
            // Of another key, so that it is not the same queries that are meant.
            substitute: Dice::new(mixing.seed ^ 1 << 63, mixing.substitute),
            keeps_clients: mixing.other == Form::Capture,
            others: Others {
                receiver,
                batch: Vec::new().into_iter(),
                times_read: 0,
            },
            counts: Counts::default(),
            octets: Vec::new(),
        };
        let input = write_all(base, mixing.base, &mixing.stand_ins, |incoming| {
            mixer.message(&incoming.message, incoming.is_timed)
        })?;
        let written = mixer.writer.written();
        if written.messages_written == 0 {
            let left_out = MessagesLeftOut {
                answers: mixer.counts.base_answers,
                ..written.messages_left_out
            };
            return Err(no_queries(base, &input, &left_out));
        }
        let mixed = mixer.finish(input)?;
        // It has nobody to hand over to any more, and ends.
        drop(reader.join());
        Ok(mixed)
    })
}

/// A query of the other stream.
struct Query {
    octets: Vec<u8>,
    client: Endpoint,
}

/// What comes from the other stream.
enum Handed {
    Queries(Vec<Query>),
    /// It begins.
    Begin,
    Failed(TrafficError),
}

/// Reads the other stream over and over, until nobody takes its queries.
fn hand_over(other: &Reading<'_>, mixing: &Mixing, sender: &SyncSender<Handed>) {
    loop {
        if sender.send(Handed::Begin).is_err() {
            return;
        }
        let mut batch = Vec::with_capacity(BATCH);
        let (mut queries, mut is_wanted) = (0_u64, true);
        let read = each_message(other, mixing.other, &mixing.stand_ins, |incoming| {
            let message = &incoming.message;
            let is_query = Header::parse(message.octets).is_some_and(|header| !header.is_answer());
            if !is_query || message.is_cut {
                return ControlFlow::Continue(());
            }
            queries += 1;
            batch.push(Query {
                octets: message.octets.to_vec(),
                client: message.source,
            });
            if batch.len() == BATCH {
                is_wanted = sender
                    .send(Handed::Queries(std::mem::take(&mut batch)))
                    .is_ok();
            }
            match is_wanted {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        });
        let end = match read {
            Err(error) => Handed::Failed(error),
            Ok(_) if queries == 0 => Handed::Failed(TrafficError::Setting {
                why: "the stream to be mixed in has no query; give one that has".to_owned(),
            }),
            Ok(_) => Handed::Queries(batch),
        };
        let is_over = matches!(end, Handed::Failed(_));
        if !is_wanted || sender.send(end).is_err() || is_over {
            return;
        }
    }
}

/// The queries of the other stream, one after the other.
struct Others {
    receiver: Receiver<Handed>,
    batch: std::vec::IntoIter<Query>,
    times_read: u64,
}

impl Others {
    fn next(&mut self) -> Result<Query, TrafficError> {
        loop {
            if let Some(query) = self.batch.next() {
                return Ok(query);
            }
            match self.receiver.recv() {
                Ok(Handed::Queries(batch)) => self.batch = batch.into_iter(),
                Ok(Handed::Begin) => self.times_read += 1,
                Ok(Handed::Failed(error)) => return Err(error),
                Err(_) => return Err(TrafficError::Interrupted),
            }
        }
    }
}

#[derive(Default)]
struct Counts {
    base_queries: u64,
    base_answers: u64,
    added: u64,
    substituted: u64,
}

struct Mixer {
    writer: StreamWriter,
    augment: Dice,
    substitute: Dice,
    keeps_clients: bool,
    others: Others,
    counts: Counts,
    octets: Vec<u8>,
}

impl Mixer {
    fn message(&mut self, message: &Message<'_>, is_timed: bool) -> Result<(), TrafficError> {
        if Header::parse(message.octets).is_none_or(Header::is_answer) {
            self.counts.base_answers += 1;
            return Ok(());
        }
        let number = self.counts.base_queries;
        self.counts.base_queries += 1;
        if self.substitute.times(number) == 0 {
            self.writer.message(message, is_timed)?;
        } else {
            self.counts.substituted += 1;
            let other = self.others.next()?;
            self.octets.clear();
            self.octets.extend_from_slice(&other.octets);
            self.octets[..2].copy_from_slice(&message.octets[..2]);
            let octets = &self.octets;
            let own = Message {
                octets,
                is_cut: false,
                sent_len: SentLen::Own,
                ..*message
            };
            self.writer.message(&own, is_timed)?;
        }
        for _ in 0..self.augment.times(number) {
            self.counts.added += 1;
            let other = self.others.next()?;
            let source = match self.keeps_clients {
                true => other.client,
                false => message.source,
            };
            let added = Message {
                source,
                octets: &other.octets,
                is_cut: false,
                sent_len: SentLen::Own,
                ..*message
            };
            self.writer.message(&added, is_timed)?;
        }
        Ok(())
    }

    fn finish(self, input: InputSummary) -> Result<Mixed, TrafficError> {
        Ok(Mixed {
            input,
            written: self.writer.finish()?,
            base_queries: self.counts.base_queries,
            base_answers: self.counts.base_answers,
            added: self.counts.added,
            substituted: self.counts.substituted,
            times_read: self.others.times_read,
        })
    }
}
