//! Streams made from a zone and, if there is one, a query log, by JPRS-2010's method.
//!
//! - *existence*: questions answered with data or a referral: those of the log, else names and types drawn from the zone.
//! - *denial*: random names made from the same names, each looked up in the zone and found not to exist.
//! - *normal*: the log as it is, else existence with a share of denial mixed in.

use crate::error::StreamError;
use crate::halt::Halt;
use crate::look_up::{exists, look_up};
use crate::names::{DenialNames, ExistingNames};
use crate::questions::{Question, Questions};
use dnsrig_zone::PresentationName;
use dnsrig_zone::lookup::{Outcome, ZoneIndex};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};

/// What to do when memory does not suffice.
pub(crate) const FEWER: &str = "lower -n, or give a smaller query log";
/// Names of a foreign log that an error shows.
const EXAMPLES: usize = 3;

/// Which stream is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StreamKind {
    /// Names that exist.
    Existence,
    /// Names that do not exist.
    Denial,
    /// The log as it is, or existence with this share of denial (0 to 1).
    Normal {
        /// The share; without effect when there is a log.
        denial_share: f64,
    },
}

/// What is in a stream that was made.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StreamSummary {
    /// Questions in the stream.
    pub queries: usize,
    /// Different names among them, letter case ignored.
    pub unique_names: usize,
    /// Share of questions answered with data.
    pub answer_share: f64,
    /// Share of questions whose name exists without the type.
    pub nodata_share: f64,
    /// Share of questions whose name does not exist.
    pub nxdomain_share: f64,
    /// Share of questions answered with a referral.
    pub referral_share: f64,
    /// Questions of the log that are not for the zone; they were left out.
    pub outside_zone: usize,
}

/// Makes a stream of `kind` for the zone.
///
/// `queries` is the number of questions; a stream that is taken from a log has as many as the log. The same `seed`
/// gives the same stream.
///
/// # Errors
/// A [`StreamError`] that says why no such stream can be made from this zone and log, or [`StreamError::Interrupted`] once
/// `cancel` is set.
pub fn synthesise(
    zone: &ZoneIndex,
    log: Option<&Questions>,
    kind: StreamKind,
    queries: usize,
    seed: u64,
    cancel: &AtomicBool,
) -> Result<(Questions, StreamSummary), StreamError> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let own = log.map(|log| of_zone(zone, log)).transpose()?;
    let mut made = Made {
        questions: Questions::default(),
        queries,
        cancel,
    };
    let questions = match (kind, &own) {
        (StreamKind::Existence, Some(own)) => existing(zone, own)?,
        (StreamKind::Existence, None) => {
            let names = ExistingNames::new(zone)?;
            for _ in 0..queries {
                made.push(names.draw(&mut rng))?;
            }
            made.questions
        }
        (StreamKind::Denial, own) => {
            let mut names = DenialNames::new(zone, own.as_ref());
            for _ in 0..queries {
                made.push(names.draw(&mut rng)?)?;
            }
            made.questions
        }
        (StreamKind::Normal { .. }, Some(own)) => own.clone(),
        (StreamKind::Normal { denial_share }, None) => mixed(zone, denial_share, &mut rng, made)?,
    };
    let mut summary = summarise(zone, &questions, cancel)?;
    summary.outside_zone = log.map_or(0, Questions::len) - own.as_ref().map_or(0, Questions::len);
    Ok((questions, summary))
}

/// The questions so far of `queries` that are wanted.
struct Made<'c> {
    questions: Questions,
    queries: usize,
    cancel: &'c AtomicBool,
}

impl Made<'_> {
    fn push(&mut self, question: Question<'_>) -> Result<(), StreamError> {
        check(self.cancel)
            .and_then(|()| self.questions.try_push(question))
            .map_err(|halt| halt.in_making(self.queries as u64, FEWER))
    }
}

fn check(cancel: &AtomicBool) -> Result<(), Halt> {
    match cancel.load(Ordering::Relaxed) {
        true => Err(Halt::Cancelled),
        false => Ok(()),
    }
}

/// Mixes exactly `denial_share` of denial, to the nearest question, evenly at random into existence.
fn mixed(
    zone: &ZoneIndex,
    denial_share: f64,
    rng: &mut ChaCha8Rng,
    mut made: Made<'_>,
) -> Result<Questions, StreamError> {
    let existing = ExistingNames::new(zone)?;
    let mut denied = DenialNames::new(zone, None);
    let queries = made.queries;
    let mut denials_left = (queries as f64 * denial_share.clamp(0.0, 1.0)).round() as usize;
    for left in (1..=queries).rev() {
        if rng.random_range(0..left) < denials_left {
            denials_left -= 1;
            made.push(denied.draw(rng)?)?;
        } else {
            made.push(existing.draw(rng))?;
        }
    }
    Ok(made.questions)
}

/// The log's questions for names at or below the apex.
fn of_zone(zone: &ZoneIndex, log: &Questions) -> Result<Questions, StreamError> {
    let mut own = Questions::default();
    for question in log.iter() {
        if !matches!(look_up(zone, question), Outcome::NotAuthoritative) {
            own.push(question);
        }
    }
    if own.is_empty() {
        let examples: Vec<_> = log
            .iter()
            .take(EXAMPLES)
            .map(|question| question.name.to_string())
            .collect();
        return Err(StreamError::NotOfZone {
            questions: log.len(),
            zone: PresentationName(zone.zone().origin()).to_string(),
            examples: examples.join(", "),
        });
    }
    Ok(own)
}

fn existing(zone: &ZoneIndex, log: &Questions) -> Result<Questions, StreamError> {
    let mut found = Questions::default();
    for question in log
        .iter()
        .filter(|&question| exists(look_up(zone, question)))
    {
        found.push(question);
    }
    if found.is_empty() {
        let why = format!(
            "none of the log's {} questions for the zone is for a name that exists",
            log.len()
        );
        return Err(StreamError::NothingExists { why });
    }
    Ok(found)
}

fn summarise(
    zone: &ZoneIndex,
    questions: &Questions,
    cancel: &AtomicBool,
) -> Result<StreamSummary, StreamError> {
    let failed = |halt: Halt| halt.in_making(questions.len() as u64, FEWER);
    let mut names = HashSet::new();
    let (mut answers, mut nodata, mut nxdomain, mut referrals) = (0, 0, 0, 0);
    for question in questions.iter() {
        check(cancel).map_err(failed)?;
        let mut name = owned(question.name.as_slice()).map_err(failed)?;
        name.make_ascii_lowercase();
        names.try_reserve(1).map_err(|error| failed(error.into()))?;
        names.insert(name);
        match look_up(zone, question) {
            Outcome::NoData { .. } => nodata += 1,
            Outcome::NxDomain { .. } => nxdomain += 1,
            Outcome::Referral { .. } => referrals += 1,
            _ => answers += 1,
        }
    }
    let share = |count: u32| f64::from(count) / questions.len().max(1) as f64;
    Ok(StreamSummary {
        queries: questions.len(),
        unique_names: names.len(),
        answer_share: share(answers),
        nodata_share: share(nodata),
        nxdomain_share: share(nxdomain),
        referral_share: share(referrals),
        outside_zone: 0,
    })
}

/// `octets` in memory of their own, as far as there is memory.
pub(crate) fn owned(octets: &[u8]) -> Result<Vec<u8>, Halt> {
    let mut owned = Vec::new();
    owned.try_reserve_exact(octets.len())?;
    owned.extend_from_slice(octets);
    Ok(owned)
}
