//! The signatures of a batch: what is signed, which of the input's are kept, and making the others.

use super::Counts;
use super::plan::{Plan, SigningKey};
use super::state::digest_of;
use crate::SignError;
use dnsrig_zone::flow::RecordRange;
use dnsrig_zone::text::push_record;
use dnsrig_zone::{FilePlace, PackedRecord, label_count, push_canonical_rdata, same_name};
use domain::base::iana::Rtype;
use std::ops::Range;

/// Octets of an RRSIG's data before the signer's name (RFC 4034 section 3.1).
const HEAD: usize = 18;
const CLASS_IN: [u8; 2] = [0, 1];
/// Signatures between two looks whether they are still wanted: half a second of RSA with 4096 bits.
const MAKE_AT_ONCE: usize = 64;

/// One signature.
#[derive(Debug)]
struct Task {
    /// Index into the plan's signing keys.
    key: usize,
    /// What is signed, in [`Tasks::data`]: the RRSIG's own fields, then the RRset in canonical form.
    data: Range<usize>,
    /// The signature, in [`Tasks::signatures`].
    signature: Range<usize>,
    state: TaskState,
    /// The digest of data and signature, if it was computed.
    digest: Option<u128>,
    /// The validity that a new signature gets.
    expiration: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TaskState {
    /// To be made.
    Missing,
    /// One of the input that has to be verified.
    Candidate,
    /// Valid.
    Done,
}

/// An RRset that is to be signed.
pub(super) struct Rrset<'a> {
    pub owner: &'a [u8],
    pub rtype: Rtype,
    pub ttl_s: u32,
    /// Signatures of it that the input has, as data of RRSIG records.
    pub existing: Option<RecordRange<'a>>,
}

/// The signatures of a batch.
pub(super) struct Tasks<'p> {
    plan: &'p Plan,
    data: Vec<u8>,
    signatures: Vec<u8>,
    tasks: Vec<Task>,
    pub counts: Counts,
}

impl<'p> Tasks<'p> {
    pub fn new(plan: &'p Plan) -> Self {
        Self {
            plan,
            data: Vec::new(),
            signatures: Vec::new(),
            tasks: Vec::new(),
            counts: Counts::default(),
        }
    }

    /// The number of signatures so far.
    pub fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Takes an RRset whose records have the data `rdatas`, in canonical order, for each key that is to sign it.
    pub fn rrset<'a>(
        &mut self,
        rrset: &Rrset<'_>,
        keys: &[usize],
        rdatas: impl Iterator<Item = &'a [u8]> + Clone,
    ) {
        let expiration = self.expiration(rrset);
        for &key in keys {
            let start = self.data.len();
            self.push_head(rrset, &self.plan.signing_keys[key], expiration);
            if let Some(task) = self.untouched(rrset, key, start) {
                self.tasks.push(task);
                continue;
            }
            for rdata in rdatas.clone() {
                self.push_record(rrset, rdata);
            }
            let data = start..self.data.len();
            let task = self.existing(rrset, key, data.clone()).unwrap_or(Task {
                key,
                data,
                signature: 0..0,
                state: TaskState::Missing,
                digest: None,
                expiration,
            });
            self.tasks.push(task);
        }
    }

    /// The end of the validity of new signatures of `rrset`: earlier by its share of the jitter.
    fn expiration(&self, rrset: &Rrset<'_>) -> u32 {
        let signing = &self.plan.signing;
        let is_of_keys = matches!(rrset.rtype, Rtype::DNSKEY | Rtype::CDS | Rtype::CDNSKEY)
            && rrset.owner.len() == self.plan.signer.len();
        let latest = match signing.keys_expiration {
            Some(expiration) if is_of_keys => expiration,
            _ => signing.expiration,
        };
        match signing.jitter_s {
            0 => latest,
            jitter_s => {
                let share = spread(rrset.owner, rrset.rtype) % (u64::from(jitter_s) + 1);
                latest.wrapping_sub(share as u32)
            }
        }
    }

    fn push_head(&mut self, rrset: &Rrset<'_>, key: &SigningKey, expiration: u32) {
        let is_wildcard = rrset.owner.starts_with(b"\x01*");
        // Without root and without a leading asterisk (RFC 4034 section 3.1.3).
        let labels = label_count(rrset.owner) - usize::from(is_wildcard);
        self.data.extend(rrset.rtype.to_int().to_be_bytes());
        self.data.extend([key.algorithm, labels as u8]);
        self.data.extend(rrset.ttl_s.to_be_bytes());
        self.data.extend(expiration.to_be_bytes());
        self.data.extend(self.plan.signing.inception.to_be_bytes());
        self.data.extend(key.tag.to_be_bytes());
        self.data.extend_from_slice(&self.plan.signer);
    }

    /// Appends a record in canonical form (RFC 4034 section 6.2).
    fn push_record(&mut self, rrset: &Rrset<'_>, rdata: &[u8]) {
        let start = self.data.len();
        self.data.extend_from_slice(rrset.owner);
        // Length octets are below the letters.
        self.data[start..].make_ascii_lowercase();
        self.data.extend(rrset.rtype.to_int().to_be_bytes());
        self.data.extend(CLASS_IN);
        self.data.extend(rrset.ttl_s.to_be_bytes());
        self.data.extend((rdata.len() as u16).to_be_bytes());
        push_canonical_rdata(rrset.rtype, rdata, &mut self.data);
    }

    /// A signature of the input by `key` that has the right fields, whose new form begins at `start`, and lasts.
    fn lasting<'a>(&self, rrset: &Rrset<'a>, key: usize, start: usize) -> Option<PackedRecord<'a>> {
        let plan = self.plan;
        let octets = plan.signing_keys[key].signature_octets;
        let head = &self.data[start..start + HEAD];
        rrset.existing.as_ref()?.iter().find(|record| {
            let fields = record.rdata;
            fields.len() == HEAD + plan.signer.len() + octets
                && fields[..8] == head[..8]
                && fields[16..HEAD] == head[16..HEAD]
                && same_name(&fields[HEAD..HEAD + plan.signer.len()], &plan.signer)
                && lasts(fields, plan)
        })
    }

    /// A signature of the input over what the changes do not touch: taken as it is, without looking at what it signs.
    fn untouched(&mut self, rrset: &Rrset<'_>, key: usize, start: usize) -> Option<Task> {
        let changes = self.plan.changes.as_ref()?;
        // Signing itself changes the apex: serial number, keys, CDS, parameters of the chain.
        let is_apex = rrset.owner.len() == self.plan.signer.len();
        if is_apex || self.plan.signing.verifies_kept || changes.touches(rrset.owner) {
            return None;
        }
        let found = self.lasting(rrset, key, start)?;
        self.data[start + 8..start + 16].copy_from_slice(&found.rdata[8..16]);
        let signature = self.signatures.len();
        self.signatures
            .extend_from_slice(&found.rdata[HEAD + self.plan.signer.len()..]);
        self.counts.kept += 1;
        Some(Task {
            key,
            data: start..self.data.len(),
            signature: signature..self.signatures.len(),
            state: TaskState::Done,
            digest: None,
            expiration: 0,
        })
    }

    /// A signature of the input by `key` that has the right fields and lasts.
    fn existing(&mut self, rrset: &Rrset<'_>, key: usize, data: Range<usize>) -> Option<Task> {
        let plan = self.plan;
        let found = self.lasting(rrset, key, data.start)?;
        let head = &self.data[data.start..data.start + HEAD];
        let expiration = u32::from_be_bytes([head[8], head[9], head[10], head[11]]);
        // Verified with the times that it has.
        self.data[data.start + 8..data.start + 16].copy_from_slice(&found.rdata[8..16]);
        let start = self.signatures.len();
        self.signatures
            .extend_from_slice(&found.rdata[HEAD + plan.signer.len()..]);
        let mut task = Task {
            key,
            data,
            signature: start..self.signatures.len(),
            state: TaskState::Candidate,
            digest: None,
            expiration,
        };
        task.digest = self.digest(&task);
        if task.digest.is_some_and(|digest| plan.state.knows(digest)) {
            task.state = TaskState::Done;
            self.counts.kept += 1;
        }
        Some(task)
    }

    fn digest(&self, task: &Task) -> Option<u128> {
        let secret = self.plan.signing_keys[task.key].secret.as_ref()?;
        let signature = &self.signatures[task.signature.clone()];
        Some(digest_of(secret, &self.data[task.data.clone()], signature))
    }

    /// Verifies what has to be verified and makes what is missing.
    pub fn resolve(&mut self) -> Result<(), SignError> {
        for key in 0..self.plan.signing_keys.len() {
            self.verify(key);
            self.make(key)?;
        }
        Ok(())
    }

    /// The signatures by one key that are in `state`.
    fn of_key(&self, key: usize, state: TaskState) -> Vec<usize> {
        (0..self.tasks.len())
            .filter(|&index| self.tasks[index].key == key && self.tasks[index].state == state)
            .collect()
    }

    /// Verifies the candidates of one key.
    fn verify(&mut self, key: usize) {
        let candidates = self.of_key(key, TaskState::Candidate);
        if candidates.is_empty() {
            return;
        }
        let signed: Vec<(&[u8], &[u8])> = candidates
            .iter()
            .map(|&index| {
                let task = &self.tasks[index];
                (
                    &self.data[task.data.clone()],
                    &self.signatures[task.signature.clone()],
                )
            })
            .collect();
        let mut valid = Vec::new();
        self.plan.signing_keys[key]
            .public
            .verify_batch(&signed, &mut valid);
        for (index, is_valid) in candidates.into_iter().zip(valid) {
            let task = &mut self.tasks[index];
            if is_valid {
                task.state = TaskState::Done;
                self.counts.kept += 1;
                self.counts.verified += 1;
                continue;
            }
            task.state = TaskState::Missing;
            task.digest = None;
            let times = [task.expiration, self.plan.signing.inception].map(u32::to_be_bytes);
            let start = task.data.start + 8;
            self.data[start..start + 8].copy_from_slice(times.as_flattened());
        }
    }

    /// Makes the missing signatures of one key.
    fn make(&mut self, key: usize) -> Result<(), SignError> {
        for missing in self.of_key(key, TaskState::Missing).chunks(MAKE_AT_ONCE) {
            self.plan.check_end()?;
            self.make_some(key, missing)?;
        }
        Ok(())
    }

    fn make_some(&mut self, key: usize, missing: &[usize]) -> Result<(), SignError> {
        let data: Vec<&[u8]> = missing
            .iter()
            .map(|&index| &self.data[self.tasks[index].data.clone()])
            .collect();
        let first = self.signatures.len();
        let pair = &self.plan.keys[self.plan.signing_keys[key].key];
        pair.sign_batch(&data, &mut self.signatures)?;
        let octets = (self.signatures.len() - first) / missing.len();
        for (number, &index) in missing.iter().enumerate() {
            let start = first + number * octets;
            let task = &mut self.tasks[index];
            task.signature = start..start + octets;
            task.state = TaskState::Done;
            self.counts.made += 1;
            let digest = self.digest(&self.tasks[index]);
            self.tasks[index].digest = digest;
        }
        Ok(())
    }

    /// Appends the RRSIG records of `range` of the signatures, all of one owner, in canonical order.
    pub fn push_lines(&self, owner: &[u8], range: Range<usize>, text: &mut Vec<u8>) {
        let mut order: Vec<(usize, Vec<u8>)> =
            range.map(|index| (index, self.rdata(index))).collect();
        order.sort_by(|(_, a), (_, b)| a.cmp(b));
        for (index, rdata) in order {
            let ttl = self.tasks[index].data.start + 4;
            let ttl = &self.data[ttl..ttl + 4];
            push_record(
                &PackedRecord {
                    owner,
                    rtype: Rtype::RRSIG,
                    ttl_s: u32::from_be_bytes([ttl[0], ttl[1], ttl[2], ttl[3]]),
                    rdata: &rdata,
                    place: FilePlace::default(),
                },
                text,
            );
        }
    }

    /// The data of the RRSIG record.
    fn rdata(&self, index: usize) -> Vec<u8> {
        let task = &self.tasks[index];
        let start = task.data.start;
        let head = &self.data[start..start + HEAD + self.plan.signer.len()];
        [head, &self.signatures[task.signature.clone()]].concat()
    }

    /// The digests of all signatures.
    pub fn digests(&self) -> Vec<u128> {
        self.tasks.iter().filter_map(|task| task.digest).collect()
    }
}

/// Whether a signature is valid now and for longer than the refresh interval; times wrap around (RFC 4034 section 3.1.5).
fn lasts(fields: &[u8], plan: &Plan) -> bool {
    let time = |at: usize| {
        u32::from_be_bytes([fields[at], fields[at + 1], fields[at + 2], fields[at + 3]])
    };
    let signing = &plan.signing;
    let left = time(8).wrapping_sub(signing.now) as i32;
    let age = signing.now.wrapping_sub(time(12)) as i32;
    age >= 0 && i64::from(left) > i64::from(signing.refresh_s)
}

/// A number that is the same for the same RRset in any version and on any machine, and evenly spread (FNV-1a).
fn spread(owner: &[u8], rtype: Rtype) -> u64 {
    let octets = owner.iter().map(u8::to_ascii_lowercase);
    let hash = octets
        .chain(rtype.to_int().to_be_bytes())
        .fold(0xCBF2_9CE4_8422_2325u64, |hash, octet| {
            (hash ^ u64::from(octet)).wrapping_mul(0x0100_0000_01B3)
        });
    // The low bits of FNV-1a alone are not even enough.
    hash ^ hash >> 32
}
