//! Verifying signed zone files of any size: every signature, and the whole chain of denial.

mod chain;
mod gathering;
mod keys;
mod names;
mod nsec3;
mod signatures;
mod zonemd;

use crate::{Algorithm, SignError};
use chain::ChainCheck;
use dnsrig_zone::flow::{Batch, Opening, RecordSorter, ZoneFlow, over_names};
use dnsrig_zone::pool::{InOrder, Pool};
use dnsrig_zone::text::shown_name;
use dnsrig_zone::zonemd::ZonemdHash;
use dnsrig_zone::{FilePlace, PackedRecord, PackedRecords, Position, Warning, ZoneError};
use domain::base::iana::Rtype;
use gathering::{Gathering, arrange};
use keys::ZoneKeys;
use names::{Checked, check_batch, check_nsec3};
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use zonemd::Digests;

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
    /// The digests of the zone (RFC 8976) that are right.
    pub digests: Vec<ZonemdHash>,
    /// The first faults.
    pub faults: Vec<Fault>,
    /// All faults.
    pub fault_count: u64,
    /// The first warnings about the text, and those about ZONEMD records of unknown kinds.
    pub warnings: Vec<Warning>,
}

/// Verifies the signed zone file of `opening`: that every RRset that has to be signed is, by every algorithm of the zone's
/// keys, that every signature is valid, and that the chain of denial has every name once, with its types, and is closed. A
/// zone with ZONEMD records is gone over once more for its digest.
///
/// Faults are no error: see [`Verified::faults`].
pub fn verify_file(
    opening: &Opening<'_>,
    pool: &Pool,
    verification: &Verification,
) -> Result<Verified, SignError> {
    let verify = |sorts: bool| {
        let gathering = || match sorts {
            true => Gathering::sorting(opening),
            false => Gathering::in_order(),
        };
        over_names(opening, pool, |flow| {
            Verifying::new(flow, pool, verification, gathering())?.run(flow, opening)
        })
    };
    match verify(false) {
        // The names are in order, since these are sorted otherwise, but the NSEC3 records among them are not.
        Err(SignError::Zone(ZoneError::NotSorted)) => verify(true),
        done => done,
    }
}

/// What is wrong with a record that stands there.
type Placed = (String, FilePlace);

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
    /// What is wrong with the keys and the chain as a whole; `first` begins with the apex.
    fn apex_faults(&self, first: &Batch, keys: Vec<Placed>, chain: Vec<Placed>) -> Vec<Fault> {
        let mut records = first.records().iter();
        let soa = records.find(|record| record.rtype == Rtype::SOA);
        let place = soa.map_or_else(FilePlace::default, |soa| soa.place);
        let of = |rtype: Rtype, faults: Vec<Placed>| {
            let faults = faults.into_iter();
            faults.map(move |(what, place)| self.fault_at(place, &first.apex, rtype, what))
        };
        let ds = self.keys.check_ds(&self.verification.ds, first).into_iter();
        let mut faults: Vec<Fault> = of(Rtype::DNSKEY, keys)
            .chain(of(Rtype::DNSKEY, ds.map(|what| (what, place)).collect()))
            .chain(of(Rtype::NSEC3PARAM, chain))
            .collect();
        if matches!(self.chain, ChainCheck::None) && !self.keys.keys.is_empty() {
            let what = "the apex has neither an NSEC nor an NSEC3PARAM record of a known algorithm: the zone has no chain of denial";
            faults.push(self.fault_at(place, &first.apex, Rtype::NSEC, what));
        }
        faults
    }

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
    nsec3: Gathering<'p>,
    found: Verified,
    first: Option<Batch>,
    digests: Digests,
}

impl<'p> Verifying<'p> {
    fn new(
        flow: &mut ZoneFlow<'_>,
        pool: &'p Pool,
        verification: &Verification,
        nsec3: Gathering<'p>,
    ) -> Result<Self, SignError> {
        let first = flow.next_batch()?;
        let apex = flow.apex();
        let files = flow.files();
        let (keys, key_faults) = ZoneKeys::new(first.as_ref());
        let (chain, chain_faults) = ChainCheck::new(first.as_ref());
        let mut zone = Zone {
            verification: verification.clone(),
            chain,
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
            let faults = zone.apex_faults(first, key_faults, chain_faults);
            found.take_faults(faults, verification);
        }
        let digests = Digests::new(first.as_ref());
        found.take_faults(digests.faults(&zone), verification);
        found.warnings = digests.warnings(&zone);
        zone.keys.finish();
        Ok(Self {
            digests,
            zone: Arc::new(zone),
            pool,
            checking: InOrder::default(),
            links: nsec3::Collected::default(),
            nsec3,
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
        let mut hashes = RecordSorter::new(opening);
        while let Some(mut batch) = next {
            if !self.digests.is_empty() {
                hashes.push(batch.nsec3.clone(), self.pool)?;
            }
            batch.nsec3 = self
                .nsec3
                .add(std::mem::take(&mut batch.nsec3), self.pool)?;
            self.submit(batch);
            next = flow.next_batch()?;
        }
        let rest = std::mem::replace(&mut self.nsec3, Gathering::in_order());
        rest.finish(self.pool, |records| self.submit_nsec3(records))?;
        while !self.checking.is_empty() {
            self.take();
        }
        self.check_nsec3_chain(opening)?;
        let of_text = flow.warnings().0.iter().cloned();
        self.found.warnings.splice(0..0, of_text);
        if !self.digests.is_empty() {
            flow.rewind()?;
            let nsec3 = hashes.finish(self.pool)?;
            let faults = self
                .digests
                .verify(flow, nsec3, &self.zone, &mut self.found)?;
            self.found.take_faults(faults, &self.zone.verification);
        }
        Ok(self.found)
    }

    fn submit(&mut self, mut batch: Batch) {
        let zone = self.zone.clone();
        self.push(move || {
            arrange(&mut batch.nsec3);
            check_batch(&zone, &batch)
        });
    }

    fn submit_nsec3(&mut self, mut records: PackedRecords) {
        let zone = self.zone.clone();
        self.push(move || {
            arrange(&mut records);
            check_nsec3(&zone, &records)
        });
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
