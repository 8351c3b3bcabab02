//! The digest of the signed zone (RFC 8976): computed from what was written, and put where zeros were kept for it.

use super::apex::zonemd_rdata;
use super::names::SignedBatch;
use super::plan::{Chain, Plan};
use super::tasks::{Rrset, Tasks};
use crate::SignError;
use dnsrig_zone::flow::Opening;
use dnsrig_zone::output::{TextOutput, Written};
use dnsrig_zone::pool::Pool;
use dnsrig_zone::text::push_record;
use dnsrig_zone::zonemd::zone_digests;
use dnsrig_zone::{FilePlace, PackedRecord, PackedRecords};
use domain::base::iana::Rtype;
use std::path::Path;

/// Lines that are to be replaced by others of the same length: what they are, and the octet of the output they begin with.
#[derive(Debug)]
struct Placeholder {
    at: u64,
    octets: usize,
}

/// Where the output has the ZONEMD records without digests, and their signatures.
#[derive(Debug)]
pub(super) struct Placeholders {
    records: Placeholder,
    signatures: Placeholder,
}

impl Placeholders {
    /// Finds them in the batch with the apex, whose lines begin with the octet `at` of the output.
    pub fn find(plan: &Plan, batch: &SignedBatch, at: u64) -> Option<Self> {
        let find = |lines: &[u8]| {
            let found = memchr::memmem::find(&batch.text, lines)?;
            Some(Placeholder {
                at: at + found as u64,
                octets: lines.len(),
            })
        };
        if batch.zonemd_signatures.is_empty() {
            return None;
        }
        let mut lines = Vec::new();
        zonemd_records(plan)
            .iter()
            .for_each(|record| push_record(&record, &mut lines));
        Some(Self {
            records: find(&lines)?,
            signatures: find(&batch.zonemd_signatures)?,
        })
    }

    /// Reads `output` again, and puts the digests of it and their signatures into it.
    pub fn fill(
        &self,
        plan: &Plan,
        opening: &Opening<'_>,
        pool: &Pool,
        output: &mut TextOutput<'_>,
    ) -> Result<(), SignError> {
        let written = output.written()?;
        let (path, text) = match &written {
            Written::File(path) => (path.as_path(), None),
            Written::Text(text) => (Path::new("-"), Some(text.clone())),
        };
        let again = Opening {
            path,
            text,
            changes: None,
            leaves_out_orphans: false,
            progress: &|_| {},
            ..opening.clone()
        };
        let has_nsec3 = matches!(plan.signing.chain, Chain::Nsec3(_));
        let digests = zone_digests(&again, pool, has_nsec3, &plan.apex.digests)?;
        let records = with_digests(plan, &digests);
        let mut lines = Vec::new();
        records
            .iter()
            .for_each(|record| push_record(&record, &mut lines));
        replace(output, &self.records, &lines)?;
        lines.clear();
        push_signatures(plan, &records, &mut lines)?;
        replace(output, &self.signatures, &lines)
    }
}

fn replace(
    output: &mut TextOutput<'_>,
    placeholder: &Placeholder,
    lines: &[u8],
) -> Result<(), SignError> {
    if lines.len() != placeholder.octets {
        // All signatures of a key have one length, and so do all digests.
        return Err(SignError::Crypto {
            what: "signing the digest of the zone",
        });
    }
    Ok(output.patch(placeholder.at, lines)?)
}

/// The ZONEMD records of the apex.
fn zonemd_records(plan: &Plan) -> PackedRecords {
    let mut found = PackedRecords::default();
    for record in plan.apex.records.iter() {
        if record.rtype == Rtype::ZONEMD {
            found.push(&record);
        }
    }
    found
}

fn with_digests(plan: &Plan, digests: &[Vec<u8>]) -> PackedRecords {
    let mut records = PackedRecords::default();
    let zeros = zonemd_records(plan);
    let hashes = plan.apex.digests.iter().zip(digests);
    for (zero, (hash, digest)) in zeros.iter().zip(hashes) {
        let rdata = zonemd_rdata(plan.apex.serial, *hash, digest);
        records.push(&PackedRecord {
            rdata: &rdata,
            place: FilePlace::default(),
            ..zero
        });
    }
    records
}

/// Signs the ZONEMD records, and appends the lines of the signatures.
fn push_signatures(
    plan: &Plan,
    records: &PackedRecords,
    lines: &mut Vec<u8>,
) -> Result<(), SignError> {
    let first = records.get(0);
    let rrset = Rrset {
        owner: first.owner,
        rtype: Rtype::ZONEMD,
        ttl_s: first.ttl_s,
        existing: None,
    };
    let mut tasks = Tasks::new(plan);
    let rdatas = records.iter().map(|record| record.rdata);
    tasks.rrset(&rrset, &plan.data_keys, rdatas);
    tasks.resolve()?;
    tasks.push_lines(first.owner, 0..tasks.len(), lines);
    Ok(())
}
