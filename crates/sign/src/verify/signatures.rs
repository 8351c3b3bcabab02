//! The signatures of a batch, verified many at a time.

use super::{Fault, Zone, algorithm_name};
use dnsrig_zone::dates::push_date;
use dnsrig_zone::flow::RecordRange;
use dnsrig_zone::text::shown_name;
use dnsrig_zone::{PackedRecord, label_count, push_canonical_rdata, same_name};
use domain::base::iana::Rtype;
use std::ops::Range;

/// Octets of an RRSIG's data before the signer's name (RFC 4034 section 3.1).
const HEAD: usize = 18;

/// One signature to verify.
struct Task<'a> {
    record: PackedRecord<'a>,
    key: usize,
    data: Range<usize>,
    is_valid: bool,
}

/// An RRset and its signatures.
struct Set<'a> {
    record: PackedRecord<'a>,
    tasks: Range<usize>,
}

/// Collects what has to be verified of a batch.
pub(super) struct Signatures<'a> {
    zone: &'a Zone,
    data: Vec<u8>,
    tasks: Vec<Task<'a>>,
    sets: Vec<Set<'a>>,
    pub faults: Vec<Fault>,
}

impl<'a> Signatures<'a> {
    pub fn new(zone: &'a Zone) -> Self {
        Self {
            zone,
            data: Vec::new(),
            tasks: Vec::new(),
            sets: Vec::new(),
            faults: Vec::new(),
        }
    }

    /// RRsets so far.
    pub fn sets(&self) -> usize {
        self.sets.len()
    }

    /// Takes an RRset that has to be signed, and the RRSIG records that cover it.
    pub fn rrset(&mut self, rrset: &RecordRange<'a>, signatures: &RecordRange<'a>) {
        let first = self.tasks.len();
        for signature in signatures.iter() {
            if let Err(what) = self.signature(rrset, signature) {
                let fault = self.zone.fault(&signature, Rtype::RRSIG, what);
                self.faults.push(fault);
            }
        }
        self.sets.push(Set {
            record: rrset.get(0),
            tasks: first..self.tasks.len(),
        });
    }

    /// Checks the fields of a signature (RFC 4035 section 5.3.1) and takes note of it; `Err` says what is wrong.
    fn signature(
        &mut self,
        rrset: &RecordRange<'a>,
        signature: PackedRecord<'a>,
    ) -> Result<(), String> {
        let zone = self.zone;
        let fields = signature.rdata;
        let record = rrset.get(0);
        let covered = record.rtype;
        let signer_end = HEAD + zone.signer.len();
        if fields.len() <= signer_end {
            return Err(format!(
                "the signature of {covered} is too short, or its signer is not the zone"
            ));
        }
        let signer = &fields[HEAD..signer_end];
        if !same_name(signer, &zone.signer) {
            return Err(format!(
                "the signature of {covered} names another signer than {}",
                shown_name(&zone.signer)
            ));
        }
        let number = |at: usize| {
            u32::from_be_bytes([fields[at], fields[at + 1], fields[at + 2], fields[at + 3]])
        };
        let is_wildcard = record.owner.starts_with(b"\x01*");
        let labels = label_count(record.owner) - usize::from(is_wildcard);
        if usize::from(fields[3]) != labels {
            return Err(format!(
                "the signature of {covered} has {} labels, its owner {labels}",
                fields[3]
            ));
        }
        if number(4) != record.ttl_s {
            return Err(format!(
                "the signature of {covered} is for the TTL {}, but the records have {}",
                number(4),
                record.ttl_s
            ));
        }
        check_times(zone, covered, number(12), number(8))?;
        let (algorithm, tag) = (fields[2], u16::from_be_bytes([fields[16], fields[17]]));
        let Some(key) = zone.keys.matching(algorithm, tag, covered).next() else {
            let name = algorithm_name(algorithm);
            let mut revoked = zone.keys.matching(algorithm, tag, Rtype::DNSKEY);
            return Err(match revoked.next() {
                Some(_) => format!(
                    "the signature of {covered} is by a revoked key, which validators do not use (RFC 5011 section 2.1): {name} with tag {tag}"
                ),
                None => format!(
                    "the signature of {covered} is by a key that the zone has not: {name} with tag {tag}"
                ),
            });
        };
        let start = self.data.len();
        self.data.extend_from_slice(&fields[..HEAD]);
        self.data.extend_from_slice(&zone.signer);
        for record in rrset.iter() {
            self.push_record(&record);
        }
        self.tasks.push(Task {
            record: signature,
            key,
            data: start..self.data.len(),
            is_valid: false,
        });
        Ok(())
    }

    /// Appends a record in canonical form (RFC 4034 section 6.2).
    fn push_record(&mut self, record: &PackedRecord<'_>) {
        let start = self.data.len();
        self.data.extend_from_slice(record.owner);
        // Length octets are below the letters.
        self.data[start..].make_ascii_lowercase();
        self.data.extend(record.rtype.to_int().to_be_bytes());
        self.data.extend([0, 1]);
        self.data.extend(record.ttl_s.to_be_bytes());
        self.data.extend((record.rdata.len() as u16).to_be_bytes());
        push_canonical_rdata(record.rtype, record.rdata, &mut self.data);
    }

    /// Verifies everything; returns the number of valid signatures and the faults.
    pub fn verify(mut self) -> (u64, Vec<Fault>) {
        for key in 0..self.zone.keys.keys.len() {
            self.verify_by(key);
        }
        for index in 0..self.tasks.len() {
            if !self.tasks[index].is_valid {
                self.try_other_keys(index);
            }
        }
        for set in &self.sets {
            self.faults
                .extend(set_faults(self.zone, set, &self.tasks[set.tasks.clone()]));
        }
        let valid = self.tasks.iter().filter(|task| task.is_valid).count();
        (valid as u64, self.faults)
    }

    fn verify_by(&mut self, key: usize) {
        let Some(public) = &self.zone.keys.keys[key].public else {
            return;
        };
        let signer_end = HEAD + self.zone.signer.len();
        let chosen: Vec<usize> = (0..self.tasks.len())
            .filter(|&index| self.tasks[index].key == key)
            .collect();
        let signed: Vec<(&[u8], &[u8])> = chosen
            .iter()
            .map(|&index| {
                let task = &self.tasks[index];
                (
                    &self.data[task.data.clone()],
                    &task.record.rdata[signer_end..],
                )
            })
            .collect();
        let mut valid = Vec::new();
        public.verify_batch(&signed, &mut valid);
        for (index, is_valid) in chosen.into_iter().zip(valid) {
            self.tasks[index].is_valid = is_valid;
        }
    }

    /// Several keys can have one tag (RFC 4034 appendix B).
    fn try_other_keys(&mut self, index: usize) {
        let zone = self.zone;
        let task = &self.tasks[index];
        let key = &zone.keys.keys[task.key];
        let signature = &task.record.rdata[HEAD + zone.signer.len()..];
        let data = &self.data[task.data.clone()];
        let verifies = |key: &usize| {
            let public = zone.keys.keys[*key].public.as_ref();
            public.is_some_and(|public| public.verify(data, signature))
        };
        let covered = task.record.covered().unwrap_or(Rtype::RRSIG);
        let mut others = zone
            .keys
            .matching(key.algorithm, key.tag, covered)
            .filter(|other| *other != task.key);
        if let Some(key) = others.find(verifies) {
            self.tasks[index].key = key;
            self.tasks[index].is_valid = true;
        }
    }
}

/// What is wrong with the signatures of one RRset.
fn set_faults(zone: &Zone, set: &Set<'_>, tasks: &[Task<'_>]) -> Vec<Fault> {
    let rtype = set.record.rtype;
    let mut faults = Vec::new();
    for task in tasks.iter().filter(|task| !task.is_valid) {
        let key = &zone.keys.keys[task.key];
        if key.public.is_some() {
            let what = format!(
                "the signature of {rtype} by the key with tag {} ({}) is wrong",
                key.tag,
                algorithm_name(key.algorithm)
            );
            faults.push(zone.fault(&task.record, Rtype::RRSIG, what));
        }
    }
    for &algorithm in &zone.keys.algorithms {
        let is_signed = |task: &Task<'_>| {
            let key = &zone.keys.keys[task.key];
            task.is_valid && key.algorithm == algorithm && !key.is_revoked()
        };
        if !tasks.iter().any(is_signed) {
            let what = format!("no valid signature of {}", algorithm_name(algorithm));
            faults.push(zone.fault(&set.record, rtype, what));
        }
    }
    if rtype == Rtype::DNSKEY {
        let whats = dnskey_faults(zone, tasks).into_iter();
        faults.extend(whats.map(|what| zone.fault(&set.record, rtype, what)));
    }
    faults
}

/// What is wrong with who signs the DNSKEY RRset.
fn dnskey_faults(zone: &Zone, tasks: &[Task<'_>]) -> Vec<String> {
    let mut faults = Vec::new();
    let signs = |key: usize| tasks.iter().any(|task| task.is_valid && task.key == key);
    let keys = zone.keys.keys.iter().enumerate();
    let seps = keys.filter(|(_, key)| key.is_sep() && key.public.is_some());
    for (index, key) in seps.clone().filter(|(_, key)| key.is_revoked()) {
        if !signs(index) {
            faults.push(format!(
                "the revoked key with tag {} ({}) does not sign the DNSKEY RRset, so nobody learns of its revocation (RFC 5011 section 2.1)",
                key.tag,
                algorithm_name(key.algorithm)
            ));
        }
    }
    // DS records say more than a flag that validators do not go by (RFC 4034 section 2.1.1).
    if !zone.verification.ds.is_empty() {
        return faults;
    }
    let is_signed = tasks
        .iter()
        .any(|task| task.is_valid && !zone.keys.keys[task.key].is_revoked());
    let mut entries = seps.filter(|(_, key)| !key.is_revoked()).peekable();
    if is_signed && entries.peek().is_some() && !entries.any(|(index, _)| signs(index)) {
        faults.push(
            "no key with the SEP flag signs the DNSKEY RRset, so DS records of these keys lead nowhere; give those that the parent zone has"
                .into(),
        );
    }
    faults
}

/// Times wrap around (RFC 4034 section 3.1.5).
fn check_times(zone: &Zone, covered: Rtype, inception: u32, expiration: u32) -> Result<(), String> {
    let verification = &zone.verification;
    let shown = |seconds: u32| {
        let mut text = Vec::new();
        push_date(seconds, &mut text);
        String::from_utf8_lossy(&text).into_owned()
    };
    let is_before = |a: u32, b: u32| (b.wrapping_sub(a) as i32) > 0;
    if is_before(expiration, inception) {
        return Err(format!("the signature of {covered} ends before it begins"));
    }
    if verification.ignores_times {
        return Ok(());
    }
    if is_before(verification.now, inception) {
        return Err(format!(
            "the signature of {covered} is valid only from {}",
            shown(inception)
        ));
    }
    if is_before(expiration, verification.now) {
        return Err(format!(
            "the signature of {covered} expired on {}",
            shown(expiration)
        ));
    }
    Ok(())
}
