//! The signatures of a batch: what is signed, which of the input's are kept, and making the others.

use super::Counts;
use super::plan::{Plan, SigningKey};
use super::rrsig::{HEAD, expiration_of, lasts, push_canonical_record, spread};
use super::state::digest_of;
use crate::SignError;
use dnsrig_zone::flow::RecordRange;
use dnsrig_zone::text::push_record;
use dnsrig_zone::{FilePlace, PackedRecord, label_count, same_name};
use domain::base::iana::Rtype;
use std::ops::Range;

/// Signatures between two looks whether they are still wanted: half a second of RSA with 4096 bits.
const MAKE_AT_ONCE: usize = 64;

/// The number of a key that signs nothing here.
const ELSEWHERE: usize = usize::MAX;

/// One signature.
#[derive(Debug)]
struct Task {
    /// Index into the plan's signing keys, or [`ELSEWHERE`].
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
        self.counts.ttl_max_s = self.counts.ttl_max_s.max(rrset.ttl_s);
        for &key in keys {
            let start = self.data.len();
            self.push_head(rrset, &self.plan.signing_keys[key], expiration);
            let lasting = self.lasting(rrset, key, start);
            if let Some((key, found)) = lasting
                && self.is_untouched(rrset)
            {
                let signature = self.take_existing(start, &found);
                self.counts.kept += 1;
                self.push_done(key, start, signature);
                continue;
            }
            for rdata in rdatas.clone() {
                let (owner, rtype, ttl_s) = (rrset.owner, rrset.rtype, rrset.ttl_s);
                push_canonical_record(owner, rtype, ttl_s, rdata, &mut self.data);
            }
            let data = start..self.data.len();
            let task = match lasting {
                Some((key, found)) => self.existing(key, data, &found, expiration),
                None => Task {
                    key,
                    data,
                    signature: 0..0,
                    state: TaskState::Missing,
                    digest: None,
                    expiration,
                },
            };
            self.tasks.push(task);
        }
    }

    /// The end of the validity of new signatures of `rrset`: earlier by its share of the jitter.
    fn expiration(&self, rrset: &Rrset<'_>) -> u32 {
        let signing = &self.plan.signing;
        let latest = match signing.keys_expiration {
            Some(expiration) if self.is_of_keys(rrset) => expiration,
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

    /// Whether `rrset` is one that keys sign which are marked for that.
    fn is_of_keys(&self, rrset: &Rrset<'_>) -> bool {
        matches!(rrset.rtype, Rtype::DNSKEY | Rtype::CDS | Rtype::CDNSKEY)
            && rrset.owner.len() == self.plan.signer.len()
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

    /// A signature of the input by `key`, or by a retired one that it comes after, that has the right fields and lasts; what its
    /// new form begins with is at `start`. With the key's number.
    fn lasting<'a>(
        &self,
        rrset: &Rrset<'a>,
        key: usize,
        start: usize,
    ) -> Option<(usize, PackedRecord<'a>)> {
        let existing = rrset.existing.as_ref()?;
        let by_key = |key: usize| {
            let mut records = existing.iter();
            let found = records.find(|record| self.is_lasting(record.rdata, key, start))?;
            Some((key, found))
        };
        let mut predecessors = self.plan.predecessors(key);
        by_key(key).or_else(|| match self.is_of_keys(rrset) {
            true => None,
            false => predecessors.find_map(by_key),
        })
    }

    fn is_lasting(&self, fields: &[u8], key: usize, start: usize) -> bool {
        let plan = self.plan;
        let SigningKey {
            tag,
            signature_octets,
            until,
            ..
        } = &plan.signing_keys[key];
        let head = &self.data[start..start + HEAD];
        fields.len() == HEAD + plan.signer.len() + signature_octets
            && fields[..8] == head[..8]
            && fields[16..HEAD] == tag.to_be_bytes()
            && same_name(&fields[HEAD..HEAD + plan.signer.len()], &plan.signer)
            && lasts(fields, &plan.signing)
            && until.is_none_or(|until| until.wrapping_sub(expiration_of(fields)) as i32 >= 0)
    }

    /// Whether signatures of `rrset` are taken as they are, without looking at what they sign, since no change touches it.
    fn is_untouched(&self, rrset: &Rrset<'_>) -> bool {
        // Signing itself changes the apex: serial number, keys, CDS, parameters of the chain.
        let is_apex = rrset.owner.len() == self.plan.signer.len();
        let changes = self.plan.changes.as_ref();
        changes.is_some_and(|changes| {
            !is_apex && !self.plan.signing.verifies_kept && !changes.touches(rrset.owner)
        })
    }

    /// Takes a signature by `key` whose fields begin at `start`, the last of [`Tasks::data`], as valid.
    fn push_done(&mut self, key: usize, start: usize, signature: Range<usize>) {
        self.tasks.push(Task {
            key,
            data: start..self.data.len(),
            signature,
            state: TaskState::Done,
            digest: None,
            expiration: 0,
        });
    }

    /// Takes the data of an RRSIG record of which it is known that it is valid, by a key that signs nothing here.
    pub fn keep(&mut self, rdata: &[u8]) {
        let (start, first) = (self.data.len(), self.signatures.len());
        let (head, signature) = rdata.split_at(HEAD + self.plan.signer.len());
        self.data.extend_from_slice(head);
        self.signatures.extend_from_slice(signature);
        self.counts.kept += 1;
        self.counts.verified += 1;
        let signature = first..self.signatures.len();
        self.push_done(ELSEWHERE, start, signature);
    }

    /// Puts the times and the tag that a signature of the input has into the form that begins at `start`; where it is kept.
    fn take_existing(&mut self, start: usize, found: &PackedRecord<'_>) -> Range<usize> {
        self.data[start + 8..start + HEAD].copy_from_slice(&found.rdata[8..HEAD]);
        let signature = self.signatures.len();
        self.signatures
            .extend_from_slice(&found.rdata[HEAD + self.plan.signer.len()..]);
        signature..self.signatures.len()
    }

    /// A signature of the input by `key` over `data`, verified unless the state file knows it.
    fn existing(
        &mut self,
        key: usize,
        data: Range<usize>,
        found: &PackedRecord<'_>,
        expiration: u32,
    ) -> Task {
        let signature = self.take_existing(data.start, found);
        let mut task = Task {
            key,
            data,
            signature,
            state: TaskState::Candidate,
            digest: None,
            expiration,
        };
        task.digest = self.digest(&task);
        if task
            .digest
            .is_some_and(|digest| self.plan.state.knows(digest))
        {
            task.state = TaskState::Done;
            self.counts.kept += 1;
        }
        task
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
        }
        // Those that were found not to be valid too.
        (0..self.plan.keys.len()).try_for_each(|key| self.make(key))
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
            // Retired keys make none.
            let algorithm = self.plan.signing_keys[key].algorithm;
            if key >= self.plan.keys.len()
                && let Some(successor) = self.plan.successor(algorithm)
            {
                task.key = successor;
            }
            let times = [task.expiration, self.plan.signing.inception].map(u32::to_be_bytes);
            let tag = self.plan.signing_keys[task.key].tag.to_be_bytes();
            let start = task.data.start;
            self.data[start + 8..start + 16].copy_from_slice(times.as_flattened());
            self.data[start + 16..start + HEAD].copy_from_slice(&tag);
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
        let pair = &self.plan.keys[key];
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
