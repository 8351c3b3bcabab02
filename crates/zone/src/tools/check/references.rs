//! What records point to.

use super::findings::Findings;
use super::names::Cut;
use super::rules::Rule;
use super::targets::{Found, Targets, target_of};
use crate::NameKind;
use crate::canonical::{is_at_or_below, same_name};
use crate::error::ZoneError;
use crate::flow::{Batch, OwnerGroup, ZoneFlow};
use crate::packed::PackedRecord;
use crate::pool::InOrder;
use crate::text::shown_name;
use domain::base::iana::Rtype;
use std::sync::Arc;

/// Goes over the zone to find what `targets` asks for, and once more to name the records that point to nothing.
pub(super) fn check(
    flow: &mut ZoneFlow<'_>,
    targets: Targets,
    most: usize,
    findings: &mut Findings,
) -> Result<(), ZoneError> {
    let targets = Arc::new(targets);
    over_batches(flow, &targets, most, findings, find)?;
    if targets.may_lack() {
        over_batches(flow, &targets, most, findings, report)?;
    }
    Ok(())
}

fn over_batches(
    flow: &mut ZoneFlow<'_>,
    targets: &Arc<Targets>,
    most: usize,
    findings: &mut Findings,
    work: fn(&Batch, Option<Cut>, &Targets, &mut Findings),
) -> Result<(), ZoneError> {
    flow.rewind()?;
    let pool = flow.pool();
    let mut parts: InOrder<Findings> = InOrder::default();
    let mut cut: Option<Cut> = None;
    while let Some(batch) = flow.next_batch()? {
        let before = cut.clone();
        if let Some(last) = batch.names().rev().find_map(|name| Cut::of(&name)) {
            cut = Some(last);
        }
        let (targets, mut part) = (targets.clone(), Findings::new(flow.files(), most));
        parts.push(pool.submit(move || {
            work(&batch, before, &targets, &mut part);
            part
        }));
        if parts.len() > pool.depth()
            && let Some(part) = parts.take()
        {
            findings.add(part);
        }
    }
    while let Some(part) = parts.take() {
        findings.add(part);
    }
    Ok(())
}

/// Notes what the names of `batch` are, and glue that is of no name server.
fn find(batch: &Batch, mut cut: Option<Cut>, targets: &Targets, findings: &mut Findings) {
    for name in batch.names() {
        targets.answer(&name, &batch.apex);
        if let Some(new) = Cut::of(&name) {
            cut = Some(new);
        }
        // Names below a DNAME are reported as such.
        let may_be_glue =
            name.kind != NameKind::Authoritative && cut.as_ref().is_some_and(|cut| !cut.is_dname);
        if may_be_glue {
            unneeded_glue(&name, targets, findings);
        }
    }
}

fn unneeded_glue(name: &OwnerGroup<'_>, targets: &Targets, findings: &mut Findings) {
    let is_address = |record: &PackedRecord<'_>| matches!(record.rtype, Rtype::A | Rtype::AAAA);
    if let Some(record) = name.records.iter().find(is_address)
        && !targets.is_name_server(name.owner())
    {
        findings.note(Rule::UnneededGlue, &record, || {
            format!(
                "{} is at or below a delegation and no NS record of the zone names it, so its addresses are never answered; remove them",
                shown_name(name.owner())
            )
        });
    }
}

/// Notes the records of `batch` whose targets lack something.
fn report(batch: &Batch, _cut: Option<Cut>, targets: &Targets, findings: &mut Findings) {
    for name in batch.names().filter(|name| name.kind != NameKind::BelowCut) {
        for record in name.records.iter() {
            let target = target_of(&record).filter(|target| is_at_or_below(target, &batch.apex));
            if let Some(target) = target {
                let found = targets.find(target, &batch.apex);
                if let Some((rule, what)) = judge(&record, target, found) {
                    findings.note(rule, &record, || what);
                }
            }
        }
    }
}

/// The rule that a record breaks by pointing to `target`.
fn judge(record: &PackedRecord<'_>, target: &[u8], found: Found<'_>) -> Option<(Rule, String)> {
    let head = || {
        format!(
            "{} {} names {}",
            shown_name(record.owner),
            record.rtype,
            shown_name(target)
        )
    };
    let lacks_address = || {
        let what = match found {
            Found::OtherData => "has no A or AAAA record",
            _ => "does not exist in the zone",
        };
        format!(
            "{}, which {what}; add its address, or name another host",
            head()
        )
    };
    match (record.rtype, found) {
        (_, Found::Address) => None,
        (Rtype::CNAME, Found::Nothing) if !same_name(target, record.owner) => Some((
            Rule::DanglingAlias,
            format!(
                "{}, which does not exist in the zone; add records there, or remove the alias",
                head()
            ),
        )),
        (Rtype::CNAME, _) | (Rtype::SOA, Found::BelowCut(_)) => None,
        (Rtype::SOA, _) => Some((Rule::SoaNames, lacks_address())),
        (_, Found::Alias) => Some((
            Rule::TargetAlias,
            format!(
                "{}, which is an alias; name the host that it stands for",
                head()
            ),
        )),
        (Rtype::NS, Found::BelowCut(cut)) => Some(missing_glue(record, target, cut, head())),
        (_, Found::BelowCut(_)) => None,
        (_, Found::OtherData | Found::Nothing) => {
            Some((Rule::TargetWithoutAddress, lacks_address()))
        }
    }
}

fn missing_glue(
    record: &PackedRecord<'_>,
    target: &[u8],
    cut: &[u8],
    head: String,
) -> (Rule, String) {
    let target = shown_name(target);
    match is_at_or_below(cut, record.owner) {
        true => (
            Rule::MissingGlue,
            format!(
                "{head}, which can be found only by asking it; add glue, an A or AAAA record of {target}"
            ),
        ),
        false => (
            Rule::MissingSiblingGlue,
            format!(
                "{head}, which is in the delegation {}, and has no glue; add an A or AAAA record of {target}",
                shown_name(cut)
            ),
        ),
    }
}
