//! A zone, or as much of one as some answers need, with signatures that are made when an answer has them.
//!
//! The RRSIG records that the answering engine puts into a message have the right length but no signatures: in their
//! place stands the number of the RRset. [`Excerpt::complete`] puts the signatures in.

use crate::InternetError;
use crate::chain::cuts;
use crate::keys::ZoneKeys;
use crate::query::HEADER;
use crate::signatures::Signatures;
use bytes::Bytes;
use dnsrig_answer::{Answers, Options, Reply, Responder, Scratch, Transport};
use dnsrig_zone::{Name, Record, Zone, label_count, push_canonical_rdata};
use domain::base::iana::{Class, OptRcode, Rtype};
use domain::base::name::ToName;
use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

/// Octets of an RRSIG's data before the signer's name (RFC 4034 section 3.1).
const RRSIG_HEAD: usize = 18;
/// Octets of the number that stands where a signature belongs.
const MARK: usize = 4;
/// The largest answers over UDP that any server gives; each has a limit of its own.
pub(crate) const UDP_PAYLOAD: u16 = 4096;

/// From when to when signatures are valid, in seconds since 1970 modulo 2^32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Validity {
    pub inception: u32,
    pub expiration: u32,
}

/// A zone or a part of it, ready to be answered from.
#[derive(Debug)]
pub(crate) struct Excerpt {
    responder: Responder,
    signing: Option<Signing>,
    /// Octets that it takes, about.
    pub octets: usize,
    /// What of these is for signing.
    pub parts: SigningOctets,
}

/// Octets that an excerpt takes for being signed, about.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SigningOctets {
    pub keys: usize,
    /// The RRsets that may have to be signed.
    pub to_sign: usize,
}

#[derive(Debug)]
struct Signing {
    keys: Arc<ZoneKeys>,
    tasks: Box<[Task]>,
}

/// An RRset that may have to be signed.
#[derive(Debug)]
struct Task {
    records: Box<[Record]>,
    /// The RRSIG's data up to the signature.
    head: Bytes,
    /// Whether the key-signing key signs it.
    is_dnskey: bool,
    signature: OnceLock<Arc<[u8]>>,
}

impl Excerpt {
    /// One that refuses every query.
    pub fn refusing() -> Result<Self, InternetError> {
        Ok(Self {
            responder: Responder::new([], options())?,
            signing: None,
            octets: 0,
            parts: SigningOctets::default(),
        })
    }

    /// An unsigned zone.
    pub fn unsigned(zone: Zone) -> Result<Self, InternetError> {
        let octets = octets_of(&zone);
        Ok(Self {
            responder: Responder::new([Arc::new(zone)], options())?,
            signing: None,
            octets,
            parts: SigningOctets::default(),
        })
    }

    /// A signed zone, which has its DNSKEY, NSEC and NSEC3 records already.
    pub fn signed(
        zone: Zone,
        keys: Arc<ZoneKeys>,
        validity: Validity,
    ) -> Result<Self, InternetError> {
        let cuts: HashSet<Name> = cuts(&zone).into_iter().collect();
        let mut tasks: Vec<Task> = Vec::new();
        let mut signatures = Vec::new();
        for rrset in zone.rrsets().filter(|rrset| is_signed(&rrset[0], &cuts)) {
            let is_dnskey = rrset[0].rtype == Rtype::DNSKEY;
            let head = rrsig_head(zone.origin(), &rrset[0], &keys, validity);
            let key = if is_dnskey {
                &keys.ksk
            } else {
                keys.for_data()
            };
            let mut rdata = head.to_vec();
            rdata.extend_from_slice(&(tasks.len() as u32).to_be_bytes());
            let octets = key.public().signature_octets().unwrap_or(MARK);
            rdata.resize(head.len() + octets, 0);
            signatures.push(Record {
                rtype: Rtype::RRSIG,
                rdata: rdata.into(),
                ..rrset[0].clone()
            });
            tasks.push(Task {
                records: rrset.into(),
                head,
                is_dnskey,
                signature: OnceLock::new(),
            });
        }
        let origin = zone.origin().clone();
        let records = [zone.records(), &signatures].concat();
        let zone = Zone::new(origin, records);
        let parts = SigningOctets {
            keys: keys.octets(),
            to_sign: 256 * tasks.len(),
        };
        let octets = octets_of(&zone) + parts.keys + parts.to_sign;
        Ok(Self {
            responder: Responder::new([Arc::new(zone)], options())?,
            signing: Some(Signing {
                keys,
                tasks: tasks.into(),
            }),
            octets,
            parts,
        })
    }

    /// Answers `message`, with signatures; `None`: there is no answer, or no signature can be made.
    pub fn answer(
        &self,
        message: &[u8],
        transport: Transport,
        answering: &mut Scratch,
        out: &mut [u8],
        signatures: &Signatures,
    ) -> Option<usize> {
        let reply = self.responder.answer(message, transport, answering, out);
        let Reply::Message { len, rcode } = reply else {
            return None;
        };
        if !matches!(
            rcode,
            OptRcode::REFUSED | OptRcode::FORMERR | OptRcode::NOTIMP
        ) {
            self.complete(&mut out[..len], signatures).ok()?;
        }
        Some(len)
    }

    /// Puts the signatures into a message that [`Excerpt::responder`] wrote.
    fn complete(&self, message: &mut [u8], signatures: &Signatures) -> Result<(), InternetError> {
        match &self.signing {
            Some(signing) => signing.complete(message, signatures),
            None => Ok(()),
        }
    }

    /// Makes all signatures at once.
    pub fn presign(&self, signatures: &Signatures) -> Result<(), InternetError> {
        let Some(signing) = &self.signing else {
            return Ok(());
        };
        signing
            .tasks
            .iter()
            .try_for_each(|task| task.signature(&signing.keys, signatures).map(drop))
    }
}

impl Signing {
    fn complete(&self, message: &mut [u8], signatures: &Signatures) -> Result<(), InternetError> {
        let mut at = HEADER;
        let count = |at: usize| usize::from(u16::from_be_bytes([message[at], message[at + 1]]));
        let (questions, records) = (count(4), count(6) + count(8) + count(10));
        for _ in 0..questions {
            at = name_end(message, at) + 4;
        }
        for _ in 0..records {
            let fixed = name_end(message, at);
            let rtype = u16::from_be_bytes([message[fixed], message[fixed + 1]]);
            let length = u16::from_be_bytes([message[fixed + 8], message[fixed + 9]]);
            let rdata = fixed + 10;
            at = rdata + usize::from(length);
            if Rtype::from_int(rtype) == Rtype::RRSIG {
                let place = name_end(message, rdata + RRSIG_HEAD);
                let mark = [0, 1, 2, 3].map(|octet| message[place + octet]);
                let task = &self.tasks[u32::from_be_bytes(mark) as usize];
                let signature = task.signature(&self.keys, signatures)?;
                message[place..at].copy_from_slice(signature);
            }
        }
        Ok(())
    }
}

impl Task {
    fn signature(&self, keys: &ZoneKeys, signatures: &Signatures) -> Result<&[u8], InternetError> {
        if let Some(signature) = self.signature.get() {
            return Ok(signature);
        }
        let key = if self.is_dnskey {
            &keys.ksk
        } else {
            keys.for_data()
        };
        let signature = signatures.signature(key, &self.signed_data())?;
        Ok(self.signature.get_or_init(|| signature))
    }

    /// What a signature is of (RFC 4034 section 3.1.8.1); the records are in canonical order.
    fn signed_data(&self) -> Vec<u8> {
        let mut data = self.head.to_vec();
        for record in &self.records {
            data.extend(record.owner.as_slice().iter().map(u8::to_ascii_lowercase));
            data.extend_from_slice(&record.rtype.to_int().to_be_bytes());
            data.extend_from_slice(&Class::IN.to_int().to_be_bytes());
            data.extend_from_slice(&record.ttl.to_be_bytes());
            let length = data.len();
            data.extend_from_slice(&[0; 2]);
            push_canonical_rdata(record.rtype, &record.rdata, &mut data);
            let octets = (data.len() - length - 2) as u16;
            data[length..length + 2].copy_from_slice(&octets.to_be_bytes());
        }
        data
    }
}

fn options() -> Options {
    Options {
        answers: Answers::Minimal,
        udp_payload: UDP_PAYLOAD,
    }
}

/// Octets that a zone takes in memory, about.
pub(crate) fn octets_of(zone: &Zone) -> usize {
    let of_record = |record: &Record| 320 + 2 * (record.owner.len() + record.rdata.len());
    2048 + zone.records().iter().map(of_record).sum::<usize>()
}

/// Whether an RRset is signed: not glue, and of a delegation only what the parent says (RFC 4035 section 2.2).
fn is_signed(record: &Record, cuts: &HashSet<Name>) -> bool {
    if cuts.is_empty() {
        return true;
    }
    if cuts.contains(&record.owner) {
        return matches!(record.rtype, Rtype::DS | Rtype::NSEC);
    }
    let mut ancestors = record.owner.iter_suffixes().skip(1);
    !ancestors.any(|ancestor| cuts.contains(&ancestor.to_name::<Bytes>()))
}

/// The data of an RRSIG record up to the signature (RFC 4034 section 3.1).
fn rrsig_head(apex: &Name, record: &Record, keys: &ZoneKeys, validity: Validity) -> Bytes {
    let key = match record.rtype {
        Rtype::DNSKEY => &keys.ksk,
        _ => keys.for_data(),
    };
    let owner = record.owner.as_slice();
    let labels = label_count(owner) - usize::from(owner.starts_with(b"\x01*"));
    let mut head = Vec::with_capacity(RRSIG_HEAD + apex.len());
    head.extend_from_slice(&record.rtype.to_int().to_be_bytes());
    head.push(key.algorithm().number());
    head.push(labels as u8);
    head.extend_from_slice(&record.ttl.to_be_bytes());
    head.extend_from_slice(&validity.expiration.to_be_bytes());
    head.extend_from_slice(&validity.inception.to_be_bytes());
    head.extend_from_slice(&key.tag().to_be_bytes());
    head.extend(apex.as_slice().iter().map(u8::to_ascii_lowercase));
    head.into()
}

/// Where the possibly compressed name at `at` ends, in a message of the answering engine.
fn name_end(message: &[u8], mut at: usize) -> usize {
    loop {
        match message[at] {
            0 => return at + 1,
            length @ 1..=63 => at += 1 + usize::from(length),
            _ => return at + 2,
        }
    }
}
