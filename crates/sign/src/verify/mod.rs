//! Verifying signed zone files of any size: every signature, and the whole chain of denial.

mod chain;
mod keys;
mod names;
mod nsec3;
mod signatures;

use crate::{Algorithm, SignError};
use chain::ChainCheck;
use dnsrig_zone::flow::{Batch, Opening, ZoneFlow, over_names};
use dnsrig_zone::pool::{InOrder, Pool};
use dnsrig_zone::text::shown_name;
use dnsrig_zone::{FilePlace, PackedRecord, PackedRecords, Position, Warning, same_name};
use domain::base::iana::Rtype;
use keys::ZoneKeys;
use names::{Checked, check_batch};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// How a zone is to be verified.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verification {
    /// The time at which signatures have to be valid, in seconds since 1970 modulo 2^32.
    pub now: u32,
    /// Leaves out whether the validity of signatures includes `now`.
    pub ignores_times: bool,
    /// The data of the DS records that the parent zone has, one of which must be of a key that signs the DNSKEY RRset.
    pub ds: Vec<Vec<u8>>,
    /// Faults to keep; of more, only the number is known.
    pub faults_max: usize,
}

/// One thing that is wrong, with its record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The record, or a record of the name.
    pub at: Position,
    /// The owner name.
    pub owner: String,
    /// The type that it is about.
    pub rtype: Rtype,
    /// What is wrong, and where that is not plain, what follows from it.
    pub what: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            at,
            owner,
            rtype,
            what,
        } = self;
        write!(f, "{at}: {owner} {rtype}: {what}")
    }
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// The zone's apex.
    pub zone: String,
    /// Records read.
    pub records: u64,
    /// RRsets that have to be signed.
    pub rrsets: u64,
    /// Signatures that are valid.
    pub signatures: u64,
    /// Names of the chain of denial.
    pub chain_names: u64,
    /// `NSEC`, `NSEC3` or none.
    pub chain: Option<&'static str>,
    /// The algorithms of the zone's keys.
    pub algorithms: Vec<String>,
    /// The first faults.
    pub faults: Vec<Fault>,
    /// All faults.
    pub fault_count: u64,
    /// The first warnings about the text.
    pub warnings: Vec<Warning>,
}

/// Verifies the signed zone file of `opening`: that every RRset that has to be signed is, by every algorithm of the zone's
/// keys, that every signature is valid, and that the chain of denial has every name once, with its types, and is closed.
///
/// Faults are no error: see [`Verified::faults`].
pub fn verify_file(
    opening: &Opening<'_>,
    pool: &Pool,
    verification: &Verification,
) -> Result<Verified, SignError> {
    over_names(opening, pool, |flow| {
        Verifying::new(flow, pool, verification)?.run(flow, opening)
    })
}

/// What all batches have in common.
#[derive(Debug)]
struct Zone {
    verification: Verification,
    keys: ZoneKeys,
    chain: ChainCheck,
    /// The apex in lower case.
    signer: Box<[u8]>,
    apex_labels: usize,
    files: Arc<[Arc<Path>]>,
}

impl Zone {
    fn fault(&self, record: &PackedRecord<'_>, rtype: Rtype, what: impl Into<String>) -> Fault {
        self.fault_at(record.place, record.owner, rtype, what)
    }

    fn fault_at(
        &self,
        place: FilePlace,
        owner: &[u8],
        rtype: Rtype,
        what: impl Into<String>,
    ) -> Fault {
        let file = self
            .files
            .get(usize::from(place.file))
            .or(self.files.first());
        Fault {
            at: Position {
                file: file.cloned().unwrap_or_else(|| Arc::from(Path::new("-"))),
                line: place.line,
                column: u32::from(place.column),
            },
            owner: shown_name(owner),
            rtype,
            what: what.into(),
        }
    }
}

struct Verifying<'p> {
    zone: Arc<Zone>,
    pool: &'p Pool,
    checking: InOrder<Checked>,
    links: nsec3::Collected,
    /// NSEC3 records of an owner that may have more in the next batch.
    carried: PackedRecords,
    found: Verified,
    first: Option<Batch>,
}

impl<'p> Verifying<'p> {
    fn new(
        flow: &mut ZoneFlow<'_>,
        pool: &'p Pool,
        verification: &Verification,
    ) -> Result<Self, SignError> {
        let first = flow.next_batch()?;
        let apex = flow.apex();
        let files = flow.files();
        let (keys, faults) = ZoneKeys::new(&apex, first.as_ref());
        let mut zone = Zone {
            verification: verification.clone(),
            chain: ChainCheck::new(&apex, first.as_ref()),
            keys,
            signer: apex.to_ascii_lowercase().into(),
            apex_labels: dnsrig_zone::label_count(&apex),
            files,
        };
        let mut found = Verified {
            zone: shown_name(&apex),
            chain: zone.chain.name(),
            algorithms: zone.keys.algorithm_names(),
            ..Verified::default()
        };
        if let Some(first) = &first {
            let faults = faults
                .into_iter()
                .map(|(what, place)| zone.fault_at(place, &apex, Rtype::DNSKEY, what));
            let faults: Vec<Fault> = faults.collect();
            let more = zone.keys.check_ds(&verification.ds, first);
            let more = more
                .into_iter()
                .map(|what| zone.fault_at(FilePlace::default(), &apex, Rtype::DNSKEY, what));
            let more: Vec<Fault> = more.collect();
            found.take_faults(faults, verification);
            found.take_faults(more, verification);
        }
        zone.keys.finish();
        Ok(Self {
            zone: Arc::new(zone),
            pool,
            checking: InOrder::default(),
            links: nsec3::Collected::default(),
            carried: PackedRecords::default(),
            found,
            first,
        })
    }

    fn run(
        mut self,
        flow: &mut ZoneFlow<'_>,
        opening: &Opening<'_>,
    ) -> Result<Verified, SignError> {
        let mut next = self.first.take();
        while let Some(mut batch) = next {
            batch.nsec3 = self.whole_nsec3(std::mem::take(&mut batch.nsec3));
            self.submit(batch);
            next = flow.next_batch()?;
        }
        let rest = std::mem::take(&mut self.carried);
        if !rest.is_empty() {
            let zone = self.zone.clone();
            self.push(move || names::check_nsec3(&zone, &rest));
        }
        while !self.checking.is_empty() {
            self.take();
        }
        self.check_nsec3_chain(opening)?;
        self.found.warnings = flow.warnings().0.to_vec();
        Ok(self.found)
    }

    /// The records of whole owners of an NSEC3 chain; those of the last owner wait for the next batch.
    fn whole_nsec3(&mut self, records: PackedRecords) -> PackedRecords {
        if records.is_empty() {
            return records;
        }
        let mut whole = std::mem::take(&mut self.carried);
        whole.append(&records);
        let last = whole.get(whole.len() - 1).owner.to_vec();
        let mut first = whole.len();
        while first > 0 && same_name(whole.get(first - 1).owner, &last) {
            first -= 1;
        }
        for index in first..whole.len() {
            self.carried.push(&whole.get(index));
        }
        let mut kept = PackedRecords::default();
        for index in 0..first {
            kept.push(&whole.get(index));
        }
        kept
    }

    fn submit(&mut self, batch: Batch) {
        let zone = self.zone.clone();
        self.push(move || check_batch(&zone, &batch));
    }

    fn push(&mut self, job: impl FnOnce() -> Checked + Send + 'static) {
        if self.checking.len() >= self.pool.depth() {
            self.take();
        }
        self.checking.push(self.pool.submit(job));
    }

    fn take(&mut self) {
        let Some(checked) = self.checking.take() else {
            return;
        };
        self.found.records += checked.records;
        self.found.rrsets += checked.rrsets;
        self.found.signatures += checked.signatures;
        self.found.chain_names += checked.chain_names;
        self.found
            .take_faults(checked.faults, &self.zone.verification);
        self.links.add(checked.links);
    }

    /// Compares the NSEC3 chain that the names need with the one that is there.
    fn check_nsec3_chain(&mut self, opening: &Opening<'_>) -> Result<(), SignError> {
        let Some(hashing) = self.zone.chain.hashing() else {
            return Ok(());
        };
        let links = std::mem::take(&mut self.links);
        self.found.chain_names = links.records() as u64;
        let wrong = links.compare();
        if wrong.is_empty() {
            return Ok(());
        }
        let names = nsec3::names_of(&wrong, &hashing, opening, self.pool)?;
        let zone = self.zone.clone();
        let faults = wrong.into_iter().map(|wrong| {
            let name = names.get(&wrong.hash);
            wrong.fault(&zone, name)
        });
        self.found
            .take_faults(faults.collect(), &self.zone.verification);
        Ok(())
    }
}

impl Verified {
    fn take_faults(&mut self, faults: Vec<Fault>, verification: &Verification) {
        self.fault_count += faults.len() as u64;
        let room = verification.faults_max.saturating_sub(self.faults.len());
        self.faults.extend(faults.into_iter().take(room));
    }
}

/// The name of an algorithm, or its number if it is unknown.
fn algorithm_name(number: u8) -> String {
    match Algorithm::from_number(number) {
        Ok(algorithm) => algorithm.to_string(),
        Err(_) => format!("algorithm {number}"),
    }
}
