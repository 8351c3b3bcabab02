//! Streams made from a zone and, if there is one, a query log, by JPRS-2010's method.
//!
//! - *existence*: questions answered with data or a referral: those of the log, else names and types drawn from the zone.
//! - *denial*: random names made from the same names, each looked up in the zone and found not to exist.
//! - *normal*: the log as it is, else existence with a share of denial mixed in.

use crate::error::StreamError;
use crate::look_up::{exists, look_up};
use crate::names::{DenialNames, ExistingNames};
use crate::questions::{Question, Questions};
use dnsrig_zone::PresentationName;
use dnsrig_zone::lookup::{Outcome, ZoneIndex};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use std::collections::HashSet;

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
/// A [`StreamError`] that says why no such stream can be made from this zone and log.
pub fn synthesise(
    zone: &ZoneIndex,
    log: Option<&Questions>,
    kind: StreamKind,
    queries: usize,
    seed: u64,
) -> Result<(Questions, StreamSummary), StreamError> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let own = log.map(|log| of_zone(zone, log)).transpose()?;
    let questions = match (kind, &own) {
        (StreamKind::Existence, Some(own)) => existing(zone, own)?,
        (StreamKind::Existence, None) => {
            let names = ExistingNames::new(zone)?;
            draw(queries, || names.draw(&mut rng))
        }
        (StreamKind::Denial, own) => {
            let mut names = DenialNames::new(zone, own.as_ref());
            let mut questions = Questions::default();
            for _ in 0..queries {
                questions.push(names.draw(&mut rng)?);
            }
            questions
        }
        (StreamKind::Normal { .. }, Some(own)) => own.clone(),
        (StreamKind::Normal { denial_share }, None) => {
            mixed(zone, queries, denial_share, &mut rng)?
        }
    };
    let mut summary = summarise(zone, &questions);
    summary.outside_zone = log.map_or(0, Questions::len) - own.as_ref().map_or(0, Questions::len);
    Ok((questions, summary))
}

fn draw<'a>(queries: usize, mut next: impl FnMut() -> Question<'a>) -> Questions {
    let mut questions = Questions::default();
    for _ in 0..queries {
        questions.push(next());
    }
    questions
}

/// Mixes exactly `denial_share` of denial, to the nearest question, evenly at random into existence.
fn mixed(
    zone: &ZoneIndex,
    queries: usize,
    denial_share: f64,
    rng: &mut ChaCha8Rng,
) -> Result<Questions, StreamError> {
    let existing = ExistingNames::new(zone)?;
    let mut denied = DenialNames::new(zone, None);
    let mut questions = Questions::default();
    let mut denials_left = (queries as f64 * denial_share.clamp(0.0, 1.0)).round() as usize;
    for left in (1..=queries).rev() {
        if rng.random_range(0..left) < denials_left {
            denials_left -= 1;
            questions.push(denied.draw(rng)?);
        } else {
            questions.push(existing.draw(rng));
        }
    }
    Ok(questions)
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

fn summarise(zone: &ZoneIndex, questions: &Questions) -> StreamSummary {
    let mut names = HashSet::new();
    let (mut answers, mut nodata, mut nxdomain, mut referrals) = (0, 0, 0, 0);
    for question in questions.iter() {
        names.insert(question.name.as_slice().to_ascii_lowercase());
        match look_up(zone, question) {
            Outcome::NoData { .. } => nodata += 1,
            Outcome::NxDomain { .. } => nxdomain += 1,
            Outcome::Referral { .. } => referrals += 1,
            _ => answers += 1,
        }
    }
    let share = |count: u32| f64::from(count) / questions.len().max(1) as f64;
    StreamSummary {
        queries: questions.len(),
        unique_names: names.len(),
        answer_share: share(answers),
        nodata_share: share(nodata),
        nxdomain_share: share(nxdomain),
        referral_share: share(referrals),
        outside_zone: 0,
    }
}
