//! Signing zone files of any size: read, chained, signed and written a batch of names at a time, on all threads.

mod apex;
pub(crate) mod chain;
mod changes;
mod given;
mod kept;
mod keys;
mod links;
mod names;
mod offline;
mod plan;
mod previous;
mod refusals;
mod rrsig;
mod state;
mod tasks;
mod warnings;
mod zonemd;

use apex::Apex;
pub use apex::SerialPolicy;
pub use keys::{OtherKeys, Publication, key_signing_keys, zone_signing_keys};
pub use offline::OfflineKey;
pub use plan::{Chain, Digests, FileSigning, KEEPS_NONE, RetiredKey};
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
use previous::{Previous, is_after, lost_keys, serial_remark, with_previous};
use state::{State, StateWriter};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zonemd::Placeholders;

/// Warnings about names that are kept; of more, only the number is known.
const WARNINGS_MAX: usize = 100;

/// What was signed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SignedFile {
    /// The zone's apex, as wire octets.
    pub apex: Box<[u8]>,
    /// The serial number of the SOA record written.
    pub serial: u32,
    /// The TTL of the DNSKEY records written.
    pub dnskey_ttl_s: u32,
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
    /// Key-signing keys whose private part is not at hand, and whose signature of the DNSKEY RRset was kept.
    pub offline_keys: Vec<OfflineKey>,
    /// What the settings leave to be desired.
    pub remarks: Vec<String>,
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
    /// The longest TTL of the signatures written.
    pub ttl_max_s: u32,
}

impl Counts {
    fn add(&mut self, other: Self) {
        self.made += other.made;
        self.kept += other.kept;
        self.verified += other.verified;
        self.dropped += other.dropped;
        self.ttl_max_s = self.ttl_max_s.max(other.ttl_max_s);
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
/// do not touch are kept without looking at what they sign. With an earlier version ([`FileSigning::previous`]) all this is taken
/// from that, so that the input may be the zone without signatures.
pub fn sign_file(
    opening: &Opening<'_>,
    pool: &Pool,
    keys: Arc<[KeyPair]>,
    signing: &FileSigning,
    target: &Path,
) -> Result<SignedFile, SignError> {
    signing.check(opening.changes.as_deref())?;
    let has_signatures = signing.previous.as_deref().unwrap_or(opening.path);
    let state = State::load(has_signatures, &keys, signing)?;
    over_names(&opening_for(opening, signing), pool, |flow| {
        with_previous(opening, pool, signing, flow, |flow, previous| {
            let targets = Targets {
                output: Box::new(|| TextOutput::create(target, opening, pool)),
                path: target.to_path_buf(),
                state: StateWriter::new(signing, target, &state, opening.changes.is_some()),
                pool,
            };
            let input = Input { opening, previous };
            Signing::new(flow, input, keys.clone(), signing, state.clone(), targets)?.run(flow)
        })
    })
}

/// Signs the zone of `opening` like [`sign_file`], without state file, and returns its text.
pub fn sign_text(
    opening: &Opening<'_>,
    pool: &Pool,
    keys: &Arc<[KeyPair]>,
    signing: &FileSigning,
) -> Result<Vec<u8>, SignError> {
    signing.check(opening.changes.as_deref())?;
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
        let input = Input {
            opening,
            previous: None,
        };
        Signing::new(flow, input, keys, signing, state, targets)?.run(flow)?;
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

/// What is signed beside the names that go by.
struct Input<'p, 'f, 'a> {
    opening: &'p Opening<'p>,
    previous: Option<Previous<'f, 'a>>,
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
struct Signing<'p, 'f, 'a> {
    opening: &'p Opening<'p>,
    previous: Option<Previous<'f, 'a>>,
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

impl<'p, 'f, 'a> Signing<'p, 'f, 'a> {
    fn new(
        flow: &mut ZoneFlow<'_>,
        input: Input<'p, 'f, 'a>,
        keys: Arc<[KeyPair]>,
        signing: &FileSigning,
        state: Arc<State>,
        targets: Targets<'p>,
    ) -> Result<Self, SignError> {
        let Input { opening, previous } = input;
        let first = flow.next_batch()?;
        let earlier = previous.as_ref().map(|previous| previous.first().clone());
        let apex = flow.apex();
        let signing = match &previous {
            Some(previous) => {
                with_kept_chain(signing, &apex, earlier.as_deref(), previous.opening())?
            }
            None => with_kept_chain(signing, &apex, first.as_ref(), opening)?,
        };
        let changes = flow.changes();
        let (first_names, earlier) = (first.as_ref(), earlier.as_deref());
        let plan = Plan::new(&apex, first_names, keys, &signing, state, changes, earlier)?;
        let plan = Arc::new(plan);
        let mut remarks = warnings::of_settings(&signing);
        remarks.extend_from_slice(&plan.offline.remarks);
        if let Some(earlier) = earlier {
            remarks.extend(lost_keys(&plan, earlier)?);
        }
        Ok(Self {
            previous,
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
                dnskey_ttl_s: plan.apex.dnskey_ttl_s,
                chain: plan.signing.chain.clone(),
                offline_keys: plan.offline.keys.clone(),
                remarks,
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
            let own = std::mem::take(&mut batch.nsec3);
            let earlier = match &mut self.previous {
                None => {
                    self.nsec3.append(&own);
                    None
                }
                Some(previous) => {
                    let earlier = previous.beside(&batch)?;
                    self.nsec3.append(&previous.take_nsec3());
                    Some(earlier)
                }
            };
            let (plan, files) = (self.plan.clone(), flow.files());
            self.submit(move || sign_batch(&plan, &batch, earlier.as_deref(), &files))?;
            next = flow.next_batch()?;
        }
        if let Some(previous) = self.previous.take() {
            self.nsec3.append(&previous.finish()?);
        }
        self.drain()?;
        self.nsec3_chain()?;
        self.drain()?;
        if let Some(placeholders) = &self.placeholders {
            placeholders.fill(&self.plan, self.opening, self.pool, &mut self.output)?;
            self.signed.digests = self.plan.apex.digests.clone();
        }
        self.take_warnings(flow);
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

    /// Takes the warnings about the text, which come before those about what it says, and about the serial number.
    fn take_warnings(&mut self, flow: &ZoneFlow<'_>) {
        let (of_text, count) = flow.warnings();
        self.signed.warnings.splice(0..0, of_text.iter().cloned());
        self.signed.warning_count += count;
        let Apex {
            serial,
            previous_serial,
            ..
        } = self.plan.apex;
        if let (Some(path), Some(earlier)) = (&self.plan.signing.previous, previous_serial)
            && !is_after(serial, earlier)
            && (is_after(earlier, serial) || self.has_changed(path))
        {
            let remark = serial_remark(path, serial, earlier);
            self.signed.remarks.push(remark);
        }
    }

    /// Whether the zone is plainly not what the file `previous` has: changes that are not signed show in its length.
    fn has_changed(&self, previous: &Path) -> bool {
        let length = std::fs::metadata(previous).map(|found| found.len());
        self.signed.signatures.made > 0 || length.ok() != Some(self.output.octets())
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
        let room = WARNINGS_MAX.saturating_sub(self.signed.warnings.len());
        self.signed.warning_count += batch.warnings.len() as u64;
        self.signed
            .warnings
            .extend(batch.warnings.into_iter().take(room));
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
