//! Findings of a part of a zone: all are counted, the first are kept.

use super::rules::{Finding, Rule};
use crate::FilePlace;
use crate::error::ZoneError;
use crate::packed::PackedRecord;
use crate::read::position;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Findings, and what their places need.
#[derive(Debug)]
pub(super) struct Findings {
    files: Arc<[Arc<Path>]>,
    most: usize,
    pub kept: Vec<Finding>,
    pub counts: BTreeMap<Rule, u64>,
}

impl Findings {
    /// No findings yet; `most` are kept.
    pub fn new(files: Arc<[Arc<Path>]>, most: usize) -> Self {
        Self {
            files,
            most,
            kept: Vec::new(),
            counts: BTreeMap::new(),
        }
    }

    /// Notes that `record` breaks `rule`.
    pub fn note(&mut self, rule: Rule, record: &PackedRecord<'_>, what: impl FnOnce() -> String) {
        self.note_at(rule, Some(record.place), what);
    }

    /// Notes that something at `place` breaks `rule`.
    pub fn note_at(&mut self, rule: Rule, place: Option<FilePlace>, what: impl FnOnce() -> String) {
        *self.counts.entry(rule).or_default() += 1;
        if self.kept.len() < self.most {
            let at = place.map(|place| position(&self.files, place));
            self.kept.push(Finding {
                rule,
                at,
                what: what(),
            });
        }
    }

    /// Notes what keeps the file from being a zone.
    pub fn note_fault(&mut self, fault: &ZoneError) {
        let (rule, at) = match fault {
            ZoneError::OutOfZone { at, .. } => (Rule::OutOfZone, at),
            ZoneError::BesideCname { at, .. } => (Rule::BesideCname, at),
            ZoneError::SeveralSoas { at, .. } | ZoneError::SoaBelowApex { at, .. } => {
                (Rule::Soa, at)
            }
            _ => return,
        };
        *self.counts.entry(rule).or_default() += 1;
        if self.kept.len() < self.most {
            // The error begins with its place, which the finding has of its own.
            let text = fault.to_string();
            let what = text.strip_prefix(&format!("{at}: ")).unwrap_or(&text);
            self.kept.push(Finding {
                rule,
                at: Some(at.clone()),
                what: what.into(),
            });
        }
    }

    /// Adds what another part has.
    pub fn add(&mut self, other: Self) {
        for (rule, count) in other.counts {
            *self.counts.entry(rule).or_default() += count;
        }
        let room = self.most.saturating_sub(self.kept.len());
        self.kept.extend(other.kept.into_iter().take(room));
    }
}
