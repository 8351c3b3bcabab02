//! What of a zone can be signed, and will not do all the same.

use super::plan::{Chain, FileSigning, Plan};
use super::refusals::position;
use dnsrig_zone::flow::{OwnerGroup, RecordRange};
use dnsrig_zone::text::shown_name;
use dnsrig_zone::{NameKind, PackedRecord, Warning};
use domain::base::iana::Rtype;
use std::path::Path;
use std::sync::Arc;

/// Octets of a DNS message over TCP (RFC 1035 section 4.2.2).
const MESSAGE_OCTETS_MAX: usize = 65_535;
/// Octets of a response beside its question's name and its answer: header, type and class, OPT record (RFC 6891 section 6.1).
const MESSAGE_FIXED: usize = 12 + 4 + 11;
/// Octets of a record beside its data, its owner being compressed (RFC 1035 section 4.1.4).
const RECORD_FIXED: usize = 2 + 10;
/// Octets of the data of an RRSIG record before the signer's name (RFC 4034 section 3.1).
const RRSIG_FIXED: usize = 18;
/// Iterations beyond which validators may take a zone for insecure, and beyond which they may fail (RFC 9276 section 3.2).
const ITERATIONS_INSECURE: u16 = 100;
const ITERATIONS_FAIL: u16 = 500;

/// What the settings leave to be desired.
pub(super) fn of_settings(signing: &FileSigning) -> Vec<String> {
    let Chain::Nsec3(parameters) = &signing.chain else {
        return Vec::new();
    };
    let iterations = parameters.iterations;
    let why = match iterations {
        0 => return Vec::new(),
        _ if iterations > ITERATIONS_FAIL => {
            "with which validators may refuse all answers of the zone (RFC 9276 section 3.2)"
        }
        _ if iterations > ITERATIONS_INSECURE => {
            "with which validators may take the zone for insecure (RFC 9276 section 3.2)"
        }
        _ => "which costs servers and validators much and protects little (RFC 9276 section 3.1)",
    };
    Vec::from([format!(
        "NSEC3 with {iterations} additional iterations, {why}; sign with -3 - and without -H"
    )])
}

/// What is wrong with a name that is signed.
pub(super) fn of_name(name: &OwnerGroup<'_>, files: &[Arc<Path>], warnings: &mut Vec<Warning>) {
    if name.kind == NameKind::Delegation && name.owner().starts_with(b"\x01*") {
        let ns = name.records.iter().find(|record| record.rtype == Rtype::NS);
        if let Some(ns) = ns {
            warnings.push(warning(
                files,
                &ns,
                "NS records at a wildcard, which servers and validators treat differently (RFC 4592 section 4.2); delegate each name of its own".into(),
            ));
        }
    }
}

/// What is wrong with the requests of the apex to its parent to delete all DS records (RFC 8078 section 4).
pub(super) fn of_deletion(
    apex: &RecordRange<'_>,
    files: &[Arc<Path>],
    warnings: &mut Vec<Warning>,
) {
    let of = |rtype: Rtype| apex.iter().filter(move |record| record.rtype == rtype);
    for (rtype, other) in [(Rtype::CDS, Rtype::CDNSKEY), (Rtype::CDNSKEY, Rtype::CDS)] {
        let Some(deletion) = of(rtype).find(asks_for_deletion) else {
            continue;
        };
        let all = || of(rtype).chain(of(other));
        if let Some(beside) = all().find(|record| !asks_for_deletion(record)) {
            warnings.push(warning(
                files,
                &beside,
                format!(
                    "a {} record of a key beside a {rtype} record that asks the parent to delete all DS records, so parents do nothing; remove one of them (RFC 8078 section 4)",
                    beside.rtype
                ),
            ));
            return;
        }
        if !of(other).any(|record| asks_for_deletion(&record)) {
            warnings.push(warning(
                files,
                &deletion,
                format!(
                    "a {rtype} record asks the parent to delete all DS records, but no {other} record does, so a parent that looks at these does not; add one (RFC 8078 section 4)"
                ),
            ));
        }
    }
}

/// Warns of an RRset that is to get a signature of each of `keys`, if no DNS message can have both.
pub(super) fn of_size(
    plan: &Plan,
    rrset: &RecordRange<'_>,
    keys: &[usize],
    files: &[Arc<Path>],
    warnings: &mut Vec<Warning>,
) {
    let owner = rrset.get(0).owner;
    let data: usize = rrset
        .iter()
        .map(|record| RECORD_FIXED + record.rdata.len())
        .sum();
    let signature = |&key: &usize| {
        RECORD_FIXED + RRSIG_FIXED + plan.signer.len() + plan.signing_keys[key].signature_octets
    };
    let signatures: usize = keys.iter().map(signature).sum();
    let octets = MESSAGE_FIXED + owner.len() + data + signatures;
    if octets > MESSAGE_OCTETS_MAX {
        let first = rrset.get(0);
        let what = format!(
            "{} {} and its signatures take {octets} octets, more than a DNS message can have ({MESSAGE_OCTETS_MAX}), so no server can answer with them; make the data smaller",
            shown_name(owner),
            first.rtype
        );
        warnings.push(warning(files, &first, what));
    }
}

/// Whether a CDS or CDNSKEY record asks the parent to remove all DS records: its algorithm is 0 (RFC 8078 section 4).
pub(super) fn asks_for_deletion(record: &PackedRecord<'_>) -> bool {
    let algorithm = match record.rtype {
        Rtype::CDS => record.rdata.get(2),
        Rtype::CDNSKEY => record.rdata.get(3),
        _ => None,
    };
    algorithm == Some(&0)
}

fn warning(files: &[Arc<Path>], record: &PackedRecord<'_>, what: String) -> Warning {
    Warning {
        at: position(files, record),
        what,
    }
}
