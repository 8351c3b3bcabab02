//! Signing zone files of any size: read, chained, signed and written a batch of names at a time, on all threads.

mod apex;
pub(crate) mod chain;
mod given;
mod kept;
mod keys;
mod links;
mod names;
mod plan;
mod refusals;
mod state;
mod tasks;
mod zonemd;

pub use apex::SerialPolicy;
pub use keys::{OtherKeys, Publication, key_signing_keys};
pub use plan::{Chain, Digests, FileSigning, KEEPS_NONE};
pub use state::state_path;

use crate::{KeyPair, SignError};
use dnsrig_zone::flow::{Opening, ZoneFlow, over_names};
use dnsrig_zone::output::TextOutput;
use dnsrig_zone::pool::{InOrder, Pool};
use dnsrig_zone::zonemd::ZonemdHash;
use dnsrig_zone::{NamedFile, PackedRecords, Warning, ZoneError};
use kept::with_kept_chain;
use keys::SavedKeys;
use links::Links;
use names::{SignedBatch, sign_batch};
use plan::{EndOfWork, Plan};
use state::{State, StateWriter};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zonemd::Placeholders;

/// What was signed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SignedFile {
    /// The zone's apex, as wire octets.
    pub apex: Box<[u8]>,
    /// The serial number of the SOA record written.
    pub serial: u32,
    /// Records written.
    pub records: u64,
    /// Octets written.
    pub octets: u64,
    /// What became of signatures.
    pub signatures: Counts,
    /// The chain of denial; never [`Chain::Kept`].
    pub chain: Chain,
    /// Names in it.
    pub chain_names: u64,
    /// The digests of the zone that its ZONEMD records have.
    pub digests: Vec<ZonemdHash>,
    /// Why there is no state file of it, though there was to be one.
    pub trouble: Option<String>,
    /// The first warnings.
    pub warnings: Vec<Warning>,
    /// All warnings.
    pub warning_count: u64,
}

/// What became of signatures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Made anew.
    pub made: u64,
    /// Kept from the input.
    pub kept: u64,
    /// Of those kept, found valid by the key rather than by the state file.
    pub verified: u64,
    /// In the input and not kept: expired or about to, of other keys, or over data that changed.
    pub dropped: u64,
}

impl Counts {
    fn add(&mut self, other: Self) {
        self.made += other.made;
        self.kept += other.kept;
        self.verified += other.verified;
        self.dropped += other.dropped;
    }
}

/// Signs the zone file of `opening` with `keys` and writes it to `target`: in canonical order, one record a line, the SOA
/// record first, the records of an NSEC3 chain last.
///
/// ZONEMD records get the digest of the signed zone, for which this is read again, twice if it has an NSEC3 chain.
///
/// Where the input is signed already, signatures that are still valid, outlive the refresh interval and cover what the
/// zone now has are kept, and the chain is repaired. That they are valid is known from the state file beside the input,
/// which an earlier signing wrote, or else is verified. With changes ([`Opening::changes`]) signatures of names that these
/// do not touch are kept without looking at what they sign.
pub fn sign_file(
    opening: &Opening<'_>,
    pool: &Pool,
    keys: Arc<[KeyPair]>,
    signing: &FileSigning,
    target: &Path,
) -> Result<SignedFile, SignError> {
    signing.check(opening.changes.is_some())?;
    let state = State::load(opening.path, &keys, signing)?;
    over_names(&opening_for(opening, signing), pool, |flow| {
        let writer = StateWriter::new(signing, target, &state, opening.changes.is_some());
        Signing::new(
            flow,
            keys.clone(),
            signing,
            state.clone(),
            opening,
            Targets {
                output: Box::new(|| TextOutput::create(target, opening, pool)),
                path: target.to_path_buf(),
                state: writer,
                pool,
            },
        )?
        .run(flow)
    })
}

/// Signs the zone of `opening` like [`sign_file`], without state file, and returns its text.
pub fn sign_text(
    opening: &Opening<'_>,
    pool: &Pool,
    keys: &Arc<[KeyPair]>,
    signing: &FileSigning,
) -> Result<Vec<u8>, SignError> {
    signing.check(opening.changes.is_some())?;
    over_names(&opening_for(opening, signing), pool, |flow| {
        let mut text = Vec::new();
        let memory = &mut text;
        let state = Arc::new(State::none(keys.len()));
        let writer = StateWriter::none();
        let keys = keys.clone();
        let targets = Targets {
            output: Box::new(move || Ok(TextOutput::memory(memory, pool))),
            path: PathBuf::from("-"),
            state: writer,
            pool,
        };
        Signing::new(flow, keys, signing, state, opening, targets)?.run(flow)?;
        Ok(text)
    })
}

/// Names that have only what signing added once are gone, unless that is what is to be signed.
fn opening_for<'a>(opening: &Opening<'a>, signing: &FileSigning) -> Opening<'a> {
    Opening {
        leaves_out_orphans: signing.chain != Chain::Given,
        ..opening.clone()
    }
}

/// Where the signed zone and its state file go, and who does the work.
struct Targets<'p> {
    /// Begins the zone file.
    output: Box<dyn FnOnce() -> Result<TextOutput<'p>, ZoneError> + 'p>,
    path: PathBuf,
    state: StateWriter,
    pool: &'p Pool,
}

/// A zone file being signed.
struct Signing<'p> {
    opening: &'p Opening<'p>,
    plan: Arc<Plan>,
    output: TextOutput<'p>,
    target: PathBuf,
    /// Batches being signed.
    signing: InOrder<Result<SignedBatch, SignError>>,
    links: Links,
    /// The NSEC3 chain of the input.
    nsec3: PackedRecords,
    state: StateWriter,
    signed: SignedFile,
    pool: &'p Pool,
    first: Option<dnsrig_zone::flow::Batch>,
    /// Where digests of the zone go.
    placeholders: Option<Placeholders>,
    _end: EndOfWork,
}

impl<'p> Signing<'p> {
    fn new(
        flow: &mut ZoneFlow<'_>,
        keys: Arc<[KeyPair]>,
        signing: &FileSigning,
        state: Arc<State>,
        opening: &'p Opening<'p>,
        targets: Targets<'p>,
    ) -> Result<Self, SignError> {
        let first = flow.next_batch()?;
        let changes = flow.changes();
        let signing = with_kept_chain(signing, &flow.apex(), first.as_ref(), opening)?;
        let plan = Plan::new(&flow.apex(), first.as_ref(), keys, &signing, state, changes)?;
        let plan = Arc::new(plan);
        Ok(Self {
            _end: EndOfWork(plan.clone()),
            opening,
            placeholders: None,
            output: (targets.output)()?,
            target: targets.path,
            signing: InOrder::default(),
            links: Links::default(),
            nsec3: PackedRecords::default(),
            state: targets.state,
            signed: SignedFile {
                apex: flow.apex()[..].into(),
                serial: plan.apex.serial,
                chain: plan.signing.chain.clone(),
                ..SignedFile::default()
            },
            plan,
            pool: targets.pool,
            first,
        })
    }

    fn run(mut self, flow: &mut ZoneFlow<'_>) -> Result<SignedFile, SignError> {
        let mut next = self.first.take();
        while let Some(mut batch) = next {
            self.nsec3.append(&batch.nsec3);
            batch.nsec3 = PackedRecords::default();
            let (plan, files) = (self.plan.clone(), flow.files());
            self.submit(move || sign_batch(&plan, &batch, &files))?;
            next = flow.next_batch()?;
        }
        self.drain()?;
        self.nsec3_chain()?;
        self.drain()?;
        if let Some(placeholders) = &self.placeholders {
            placeholders.fill(&self.plan, self.opening, self.pool, &mut self.output)?;
            self.signed.digests = self.plan.apex.digests.clone();
        }
        let (warnings, warning_count) = flow.warnings();
        self.signed.warnings = warnings.to_vec();
        self.signed.warning_count = warning_count;
        let folder = &self.plan.signing.publication.saves_keys_in;
        let saved = SavedKeys::write(&self.plan.keys, folder.as_deref())?;
        let (octets, named) = self.output.rename()?;
        // From here on the zone may be served, even if what follows fails.
        saved.keep();
        let synced = named.map_or(Ok(()), NamedFile::sync);
        synced.map_err(|source| SignError::NotOnDisk {
            file: self.target,
            source,
        })?;
        self.signed.octets = octets;
        let Counts { made, kept, .. } = self.signed.signatures;
        self.signed.trouble = self.state.finish(made + kept);
        Ok(self.signed)
    }

    fn submit(
        &mut self,
        job: impl FnOnce() -> Result<SignedBatch, SignError> + Send + 'static,
    ) -> Result<(), SignError> {
        if self.signing.len() >= self.pool.depth() {
            self.take()?;
        }
        let plan = self.plan.clone();
        self.signing.push(self.pool.submit(move || {
            plan.check_end()?;
            job()
        }));
        Ok(())
    }

    fn drain(&mut self) -> Result<(), SignError> {
        while !self.signing.is_empty() {
            self.take()?;
        }
        Ok(())
    }

    /// Takes what the earliest batch gave.
    fn take(&mut self) -> Result<(), SignError> {
        let Some(batch) = self.signing.take_unless(self.opening.cancel)? else {
            return Ok(());
        };
        let batch = batch?;
        if !batch.zonemd_signatures.is_empty() {
            self.placeholders = Placeholders::find(&self.plan, &batch, self.output.octets());
        }
        self.output.write(&batch.text)?;
        self.signed.records += batch.records;
        self.signed.chain_names += batch.chain_names;
        self.signed.signatures.add(batch.counts);
        self.links.add(batch.links);
        self.state.add(batch.digests);
        Ok(())
    }

    /// Signs the NSEC3 chain: of the names that were signed, or the one that the zone has.
    fn nsec3_chain(&mut self) -> Result<(), SignError> {
        let links = std::mem::take(&mut self.links);
        let old = std::mem::take(&mut self.nsec3);
        for job in links::chain_jobs(&self.plan, links, old)? {
            self.submit(job)?;
        }
        Ok(())
    }
}
