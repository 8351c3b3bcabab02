//! Signatures over RRsets (RFC 4034 section 3, RFC 4035 section 2.2), on several threads.

use crate::{KeyPair, SignError, SigningParameters};
use bytes::Bytes;
use dnsrig_zone::{Name, Record, canonical_rdata};
use domain::base::iana::{Class, Rtype};
use domain::base::name::{Label, ToName};
use std::sync::atomic::{AtomicUsize, Ordering};

/// One signature to make.
pub(crate) struct Task<'a> {
    pub rrset: &'a [Record],
    pub key: &'a KeyPair,
}

/// Tasks that a thread takes at once: enough to make taking them free, few enough to share RSA work evenly.
const BATCH: usize = 16;

/// The place of a batch among all, and its signatures.
type Batch = (usize, Vec<Record>);

/// Makes the RRSIG records of `tasks`, in their order.
pub(crate) fn sign_all(
    tasks: &[Task<'_>],
    parameters: &SigningParameters,
) -> Result<Vec<Record>, SignError> {
    let batches: Vec<&[Task<'_>]> = tasks.chunks(BATCH).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut made = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(batch) = batches.get(index) else {
                return Ok(made);
            };
            let records: Result<Vec<Record>, SignError> =
                batch.iter().map(|task| sign(task, parameters)).collect();
            made.push((index, records?));
        }
    };
    let threads = parameters.threads.get().min(batches.len().max(1));
    let results: Vec<Result<Vec<Batch>, SignError>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut results = vec![work()];
        for worker in workers {
            results.push(
                worker
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            );
        }
        results
    });
    let mut made = Vec::with_capacity(batches.len());
    for result in results {
        made.extend(result?);
    }
    made.sort_by_key(|(index, _)| *index);
    Ok(made.into_iter().flat_map(|(_, records)| records).collect())
}

/// Makes the RRSIG record of one RRset by one key.
fn sign(task: &Task<'_>, parameters: &SigningParameters) -> Result<Record, SignError> {
    let first = &task.rrset[0];
    let signer: Name = task.key.owner().to_canonical_name();
    let mut rdata = Vec::with_capacity(64 + signer.len() + 512);
    rdata.extend(first.rtype.to_int().to_be_bytes());
    rdata.push(task.key.algorithm().number());
    rdata.push(label_count(&first.owner));
    rdata.extend(first.ttl.to_be_bytes());
    rdata.extend(parameters.expiration.to_be_bytes());
    rdata.extend(parameters.inception.to_be_bytes());
    rdata.extend(task.key.tag().to_be_bytes());
    rdata.extend_from_slice(signer.as_slice());
    let mut data = rdata.clone();
    push_canonical(&mut data, task.rrset);
    task.key.sign_into(&data, &mut rdata)?;
    Ok(Record {
        owner: first.owner.clone(),
        rtype: Rtype::RRSIG,
        class: Class::IN,
        ttl: first.ttl,
        rdata: Bytes::from(rdata),
    })
}

/// Appends `rrset` in canonical form and order (RFC 4034 section 6); a zone's records are in that order already.
fn push_canonical(target: &mut Vec<u8>, rrset: &[Record]) {
    let owner: Name = rrset[0].owner.to_canonical_name();
    for record in rrset {
        let rdata = canonical_rdata(record.rtype, &record.rdata);
        target.extend_from_slice(owner.as_slice());
        target.extend(record.rtype.to_int().to_be_bytes());
        target.extend(record.class.to_int().to_be_bytes());
        target.extend(record.ttl.to_be_bytes());
        target.extend((rdata.len() as u16).to_be_bytes());
        target.extend_from_slice(&rdata);
    }
}

/// The labels field: without root and without a leading asterisk (RFC 4034 section 3.1.3).
fn label_count(owner: &Name) -> u8 {
    let labels = owner.label_count() - 1;
    let is_wildcard = owner.first() == Label::wildcard();
    // A name has at most 127 labels.
    (labels - usize::from(is_wildcard)) as u8
}
