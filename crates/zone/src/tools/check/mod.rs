//! Semantic checks of a zone.

mod apex;
mod findings;
mod names;
mod references;
mod rules;
mod targets;
mod zonemd;

pub use rules::{Finding, Rule, Severity};

use crate::error::ZoneError;
use crate::flow::{Batch, Opening, RecordSorter, ZoneFlow, over_names};
use crate::pool::{InOrder, Pool};
use crate::zonemd::Claim;
use domain::base::iana::Rtype;
use findings::Findings;
use names::Cut;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use targets::{NameHasher, Targets, Wanted};

/// What was found in a zone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// The zone's apex, as wire octets.
    pub apex: Box<[u8]>,
    /// Records.
    pub records: u64,
    /// The first findings, in the order of the file.
    pub findings: Vec<Finding>,
    /// All findings by rule.
    pub counts: BTreeMap<Rule, u64>,
    /// Whether there are ZONEMD records that can be verified, and all of them have the digest of the zone.
    pub has_verified_digest: bool,
}

impl Checked {
    /// The number of findings of this severity.
    pub fn count(&self, severity: Severity) -> u64 {
        let of_it = self
            .counts
            .iter()
            .filter(|(rule, _)| rule.severity() == severity);
        of_it.map(|(_, count)| count).sum()
    }
}

/// Checks the zone of `opening` by all rules, and keeps `most` findings; all are counted.
///
/// Signatures and the completeness of NSEC and NSEC3 chains are not looked at; verifying does that. The zone is gone over twice,
/// a third time if something is missing that records point to, and once more for a ZONEMD record. Memory grows with
/// the names in the zone that records point to, by some 40 octets each.
pub fn check(opening: &Opening<'_>, pool: &Pool, most: usize) -> Result<Checked, ZoneError> {
    let opening = Opening {
        keeps_faults: true,
        ..opening.clone()
    };
    over_names(&opening, pool, |flow| {
        let mut checking = Checking {
            findings: Findings::new(flow.files(), most),
            targets: Targets::default(),
            zonemd: Vec::new(),
            nsec3: RecordSorter::new(&opening),
            records: 0,
        };
        checking.look_at_names(flow, most)?;
        let (warnings, warning_count) = flow.warnings();
        note_warnings(warnings, warning_count, &mut checking.findings);
        let mut findings = checking.findings;
        if !checking.targets.is_empty() {
            references::check(flow, checking.targets, most, &mut findings)?;
        }
        let mut has_verified_digest = false;
        if !checking.zonemd.is_empty() {
            flow.rewind()?;
            has_verified_digest = zonemd::verify(
                flow,
                checking.nsec3.finish(pool)?,
                &checking.zonemd,
                &mut findings,
            )?;
        }
        let order = |finding: &Finding| {
            let at = finding.at.as_ref();
            at.map(|at| (at.file.clone(), at.line, at.column))
        };
        findings.kept.sort_by_cached_key(order);
        Ok(Checked {
            apex: flow.apex()[..].into(),
            records: checking.records,
            findings: findings.kept,
            counts: findings.counts,
            has_verified_digest,
        })
    })
}

fn note_warnings(warnings: &[crate::error::Warning], count: u64, findings: &mut Findings) {
    for warning in warnings {
        findings.kept.push(Finding {
            rule: Rule::Ttl,
            at: Some(warning.at.clone()),
            what: warning.what.clone(),
        });
    }
    if count > 0 {
        *findings.counts.entry(Rule::Ttl).or_default() += count;
    }
}

struct Checking<'a> {
    findings: Findings,
    targets: Targets,
    zonemd: Vec<Claim>,
    nsec3: RecordSorter<'a>,
    records: u64,
}

struct Part {
    findings: Findings,
    wanted: Wanted,
}

impl Checking<'_> {
    /// Checks what can be told from each name alone, and collects the names that records point to.
    fn look_at_names(&mut self, flow: &mut ZoneFlow<'_>, most: usize) -> Result<(), ZoneError> {
        let pool = flow.pool();
        let mut parts: InOrder<Part> = InOrder::default();
        let mut cut: Option<Cut> = None;
        let mut is_first = true;
        while let Some(mut batch) = flow.next_batch()? {
            self.records += (batch.records().len() + batch.nsec3.len()) as u64;
            if std::mem::take(&mut is_first)
                && let Some(apex) = batch.names().next()
            {
                apex::check(&apex, &mut self.findings);
                self.zonemd = zonemd::records(&apex, &mut self.findings);
            }
            if !self.zonemd.is_empty() {
                self.nsec3.push(batch.nsec3.clone(), pool)?;
            }
            for fault in std::mem::take(&mut batch.faults) {
                self.findings.note_fault(&fault);
            }
            let before = cut.clone();
            if let Some(last) = batch.names().rev().find_map(|name| Cut::of(&name)) {
                cut = Some(last);
            }
            let (files, hasher) = (flow.files(), self.targets.hasher());
            parts.push(pool.submit(move || of_batch(&batch, before, files, most, &hasher)));
            if parts.len() > pool.depth() {
                self.take(parts.take());
            }
        }
        while let Some(part) = parts.take() {
            self.take(Some(part));
        }
        Ok(())
    }

    fn take(&mut self, part: Option<Part>) {
        if let Some(part) = part {
            self.findings.add(part.findings);
            self.targets.ask(part.wanted);
        }
    }
}

fn of_batch(
    batch: &Batch,
    mut cut: Option<Cut>,
    files: Arc<[Arc<Path>]>,
    most: usize,
    hasher: &NameHasher,
) -> Part {
    let mut part = Part {
        findings: Findings::new(files, most),
        wanted: Wanted::default(),
    };
    for name in batch.names() {
        names::check(&name, &batch.apex, cut.as_ref(), &mut part.findings);
        if let Some(new) = Cut::of(&name) {
            cut = Some(new);
        }
        part.wanted.take(&name, &batch.apex, hasher);
    }
    for record in batch
        .nsec3
        .iter()
        .filter(|record| record.rtype == Rtype::NSEC3)
    {
        names::check_nsec3_owner(&record, &batch.apex, &mut part.findings);
    }
    part
}
