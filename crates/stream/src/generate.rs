//! Streams of names made from patterns, such as `{az:4}.com`, VRSN-2025's names of four letters.
//!
//! In a pattern `{n}` is the query's number in the stream, counted from 0, and `{n:8}` the same with leading zeros;
//! `{hex:8}`, `{az:4}`, `{az09:6}` and `{09:3}` are so many random characters of 0 to 9 and a to f, a to z, both, or 0 to 9.

mod pattern;
mod shares;

use crate::error::StreamError;
use crate::halt::Halt;
use crate::message::{MessageOptions, compose_query};
use crate::stream::{MAX_QUERIES, QueryStream};
use domain::base::Name;
use domain::base::iana::Class;
use pattern::Pattern;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Deserialize;
use shares::TypeShares;
use std::sync::atomic::{AtomicBool, Ordering};

/// Queries made between two looks at the cancel flag.
const CANCEL_CHECK: u64 = 4096;

/// What to generate.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GenerationPlan {
    /// Patterns of names; every query takes one of them at random, all with the same chance.
    pub patterns: Vec<String>,
    /// Types with their shares, such as `A=70,AAAA=30`; every query takes one of them at random.
    pub types: String,
    /// How many queries.
    pub queries: u64,
    /// The seed of everything random: the same plan gives the same stream.
    pub seed: u64,
}

/// Generates the stream of `plan`, each message with `options`.
///
/// # Errors
/// [`StreamError::BadPlan`] with what is wrong in it, [`StreamError::NoMemory`], or [`StreamError::Interrupted`] once `cancel` is set.
pub fn generate(
    plan: &GenerationPlan,
    options: &MessageOptions,
    cancel: &AtomicBool,
) -> Result<QueryStream, StreamError> {
    let last = plan
        .queries
        .checked_sub(1)
        .ok_or_else(|| StreamError::BadPlan {
            input: "0 queries".into(),
            why: "a stream has at least one".into(),
        })?;
    if plan.queries > MAX_QUERIES as u64 {
        return Err(StreamError::BadPlan {
            input: format!("{} queries", plan.queries),
            why: format!("a stream has at most {MAX_QUERIES}; lower --count"),
        });
    }
    let patterns = plan
        .patterns
        .iter()
        .map(|text| {
            Pattern::parse(text, last).map_err(|why| StreamError::BadPlan {
                input: text.clone(),
                why,
            })
        })
        .collect::<Result<Vec<_>, _>>()?;
    if patterns.is_empty() {
        return Err(StreamError::BadPlan {
            input: "no pattern".into(),
            why: "give one such as {az:4}.com".into(),
        });
    }
    let types = TypeShares::parse(&plan.types).map_err(|why| StreamError::BadPlan {
        input: plan.types.clone(),
        why,
    })?;
    let mut rng = ChaCha8Rng::seed_from_u64(plan.seed);
    let mut stream = QueryStream::default();
    let (mut name, mut message) = (Vec::with_capacity(256), Vec::with_capacity(512));
    let no_memory = |halt: Halt| halt.in_making(plan.queries, "lower --count");
    for number in 0..plan.queries {
        if number % CANCEL_CHECK == 0 && cancel.load(Ordering::Relaxed) {
            return Err(StreamError::Interrupted);
        }
        let pattern = match &patterns[..] {
            [only] => only,
            several => &several[rng.random_range(0..several.len())],
        };
        name.clear();
        pattern.append_name(number, &mut rng, &mut name);
        let name = Name::from_slice(&name).expect("a pattern makes names only");
        message.clear();
        compose_query(name, types.draw(&mut rng), Class::IN, options, &mut message);
        stream.try_push(&message).map_err(no_memory)?;
    }
    Ok(stream)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::questions::Questions;
    use std::collections::HashMap;

    fn plan(patterns: &[&str], types: &str, queries: u64) -> GenerationPlan {
        GenerationPlan {
            patterns: patterns.iter().map(|&pattern| pattern.to_owned()).collect(),
            types: types.to_owned(),
            queries,
            seed: 7,
        }
    }

    fn names(plan: &GenerationPlan) -> Vec<String> {
        let stream = generate(plan, &MessageOptions::default(), &AtomicBool::new(false)).unwrap();
        let questions = Questions::of_stream(&stream).unwrap();
        questions
            .iter()
            .map(|question| format!("{} {}", question.name, question.rtype))
            .collect()
    }

    #[test]
    fn names_follow_the_pattern() {
        let names = names(&plan(&["x{n}-{n:3}.{az:4}.{hex:2}{09:1}.com."], "AAAA", 11));
        assert!(
            names[0].starts_with("x0-000.") && names[10].starts_with("x10-010."),
            "{names:?}"
        );
        for name in &names {
            let labels: Vec<_> = name.strip_suffix(".com AAAA").unwrap().split('.').collect();
            assert!(
                labels[1].len() == 4 && labels[1].bytes().all(|octet| octet.is_ascii_lowercase()),
                "{name}"
            );
            assert!(
                labels[2].len() == 3 && u32::from_str_radix(labels[2], 16).is_ok(),
                "{name}"
            );
        }
    }

    #[test]
    fn the_seed_decides_and_shares_are_kept() {
        let mut plan = plan(&["{az:4}.com", "{az:4}.net"], "A=70,AAAA=30", 20_000);
        let first = names(&plan);
        assert_eq!(first, names(&plan));
        let mut counts = HashMap::<_, f64>::new();
        for name in &first {
            *counts.entry(name.split_once('.').unwrap().1).or_default() += 1.0 / 20_000.0;
        }
        for (what, share) in [
            ("com A", 0.35),
            ("net A", 0.35),
            ("com AAAA", 0.15),
            ("net AAAA", 0.15),
        ] {
            assert!((counts[what] - share).abs() < 0.02, "{counts:?}");
        }
        plan.seed += 1;
        assert_ne!(first, names(&plan));
    }

    #[test]
    fn what_makes_no_names_is_refused_with_the_reason() {
        let long = "a".repeat(60) + "{hex:4}.test";
        let cases = [
            (plan(&[], "A", 1), "no pattern"),
            (plan(&["a.test"], "A", 0), "0 queries"),
            (
                plan(&["a.test"], "A", MAX_QUERIES as u64 + 1),
                "lower --count",
            ),
            (plan(&["a..test"], "A", 1), "empty label"),
            (plan(&[&long], "A", 1), "64 octets"),
            (plan(&["{n}.test"], "A=x", 1), "A=x"),
            (plan(&["{n}.test"], "", 1), "no type"),
            (plan(&["{n}.test"], "A=0", 1), "all shares are 0"),
            (plan(&["{n.test"], "A", 1), "without }"),
            (plan(&["n}.test"], "A", 1), "without {"),
            (plan(&["{foo:3}.test"], "A", 1), "{foo:3}"),
            (plan(&["{hex}.test"], "A", 1), "{hex}"),
            (plan(&["a b.test"], "A", 1), "' '"),
        ];
        for (plan, expected) in cases {
            let error =
                generate(&plan, &MessageOptions::default(), &AtomicBool::new(false)).unwrap_err();
            assert!(
                error.to_string().contains(expected),
                "{error}, not {expected}"
            );
        }
    }

    #[test]
    fn a_set_flag_stops_it() {
        let result = generate(
            &plan(&["{n}.test"], "A", 9),
            &MessageOptions::default(),
            &AtomicBool::new(true),
        );
        assert!(matches!(result, Err(StreamError::Interrupted)));
    }
}
