//! The NSEC3 chain of a zone that is verified: what the names need against what is there (RFC 5155 section 7.1).

use super::names::shown_types;
use super::{Fault, Zone};
use crate::SignError;
use crate::zonefile::chain::{FLAG_OPT_OUT, types_at};
use data_encoding::{BASE32_DNSSEC, BASE32HEX_NOPAD};
use dnsrig_zone::flow::{Batch, Opening, OwnerGroup, over_names};
use dnsrig_zone::lookup::{Hash, Nsec3Params};
use dnsrig_zone::pool::Pool;
use dnsrig_zone::text::shown_name;
use dnsrig_zone::{
    FilePlace, NameKind, PackedRecord, empty_non_terminals, label_count, parent, push_type_bitmap,
    same_name,
};
use domain::base::iana::Rtype;
use std::collections::{HashMap, HashSet};

/// A name that the chain has to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Needed {
    hash: Hash,
    /// An ancestor of a name; where the ancestor has records of its own, those count.
    is_ancestor: bool,
    /// Only where opt-out does not cover it: an insecure delegation, or an ancestor of such.
    is_optional: bool,
    bitmap: u32,
}

/// An NSEC3 record that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Present {
    hash: Hash,
    next: Hash,
    opts_out: bool,
    bitmap: u32,
    line: u32,
    file: u16,
}

/// The part of a batch.
#[derive(Debug, Default)]
pub(super) struct BatchLinks {
    needed: Vec<Needed>,
    present: Vec<Present>,
    bitmaps: Vec<Vec<u8>>,
}

impl BatchLinks {
    fn bitmap(&mut self, bitmap: &[u8]) -> u32 {
        let found = self.bitmaps.iter().rposition(|known| known == bitmap);
        let number = found.unwrap_or_else(|| {
            self.bitmaps.push(bitmap.to_vec());
            self.bitmaps.len() - 1
        });
        number as u32
    }

    /// Adds the names of `batch`.
    pub fn names(&mut self, zone: &Zone, hashing: &Nsec3Params, batch: &Batch) {
        let mut types = Vec::new();
        let mut bitmap = Vec::new();
        let empty = self.bitmap(&[]);
        let mut needed = Vec::new();
        for_each_hashed(zone.apex_labels, hashing, batch, |hash, what| {
            let name = match what {
                Hashed::Ancestor { is_secure, .. } => {
                    needed.push(Needed {
                        hash,
                        is_ancestor: true,
                        is_optional: !is_secure,
                        bitmap: empty,
                    });
                    return;
                }
                Hashed::Name(name) => name,
            };
            let is_secure = is_secure(name);
            types_at(&name.records, name.kind, &mut types);
            if is_secure {
                types.push(Rtype::RRSIG);
            }
            bitmap.clear();
            push_type_bitmap(&mut types, &mut bitmap);
            needed.push(Needed {
                hash,
                is_ancestor: false,
                is_optional: !is_secure,
                bitmap: self.bitmap(&bitmap),
            });
        });
        self.needed = needed;
    }

    /// Adds a record; `Err` says why it is no part of the chain.
    pub fn record(
        &mut self,
        zone: &Zone,
        hashing: &Nsec3Params,
        record: &PackedRecord<'_>,
    ) -> Result<(), String> {
        let is_one_below = parent(record.owner).is_some_and(|above| same_name(above, &zone.signer));
        let label = &record.owner[1..1 + usize::from(record.owner[0])];
        let hash = is_one_below
            .then(|| BASE32_DNSSEC.decode(label).ok())
            .flatten()
            .and_then(|hash| Hash::try_from(hash).ok())
            .ok_or("the owner is not a hash below the apex")?;
        if Nsec3Params::from_rdata(record.rdata).as_ref() != Some(hashing) {
            return Err("other parameters than the NSEC3PARAM record at the apex".into());
        }
        let after_salt = &record.rdata[5 + hashing.salt.len()..];
        let next = after_salt
            .split_first()
            .and_then(|(&length, rest)| rest.split_at_checked(usize::from(length)));
        let Some((next, bitmap)) = next else {
            return Err("the data end too early".into());
        };
        let next = Hash::try_from(next).map_err(|_| "the next hash has not 20 octets")?;
        let bitmap = self.bitmap(bitmap);
        self.present.push(Present {
            hash,
            next,
            opts_out: record.rdata[1] & FLAG_OPT_OUT != 0,
            bitmap,
            line: record.place.line,
            file: record.place.file,
        });
        Ok(())
    }
}

/// What was hashed.
enum Hashed<'n, 'a> {
    Name(&'n OwnerGroup<'a>),
    /// A name above one of the batch, below the apex.
    Ancestor {
        owner: &'a [u8],
        below: &'n OwnerGroup<'a>,
        is_secure: bool,
    },
}

/// Whether a name has to be in the chain also where opt-out is used.
fn is_secure(name: &OwnerGroup<'_>) -> bool {
    name.kind != NameKind::Delegation || name.has(Rtype::DS)
}

/// Hashes the names of a batch that can be in a chain, and their ancestors: each once among those of secure names and once
/// among all, but again in every batch.
fn for_each_hashed(
    apex_labels: usize,
    hashing: &Nsec3Params,
    batch: &Batch,
    mut take: impl FnMut(Hash, Hashed<'_, '_>),
) {
    let mut lower = Vec::new();
    let mut hash = |owner: &[u8]| {
        lower.clear();
        lower.extend_from_slice(owner);
        lower.make_ascii_lowercase();
        hashing.hash(&lower)
    };
    let (mut previous, mut previous_secure) = (&batch.apex[..], &batch.apex[..]);
    for name in batch.names().filter(|name| name.kind != NameKind::BelowCut) {
        let owner = name.owner();
        let is_secure = is_secure(&name);
        let before = if is_secure { previous_secure } else { previous };
        for ancestor in empty_non_terminals(apex_labels, before, owner) {
            let what = Hashed::Ancestor {
                owner: ancestor,
                below: &name,
                is_secure,
            };
            take(hash(ancestor), what);
        }
        take(hash(owner), Hashed::Name(&name));
        previous = owner;
        if is_secure {
            previous_secure = owner;
        }
    }
}

/// The chain of the whole zone.
#[derive(Debug, Default)]
pub(super) struct Collected {
    needed: Vec<Needed>,
    present: Vec<Present>,
    bitmaps: Vec<Vec<u8>>,
    numbers: HashMap<Vec<u8>, u32>,
}

/// What is wrong with one hash.
#[derive(Debug)]
pub(super) struct Wrong {
    pub hash: Hash,
    what: String,
    place: FilePlace,
}

impl Wrong {
    /// The fault, about `name` if the hash is known to be of that name.
    pub fn fault(self, zone: &Zone, name: Option<&(Vec<u8>, FilePlace)>) -> Fault {
        let hash = BASE32HEX_NOPAD.encode(&self.hash);
        let Some((owner, place)) = name else {
            let mut fault = zone.fault_at(self.place, &zone.signer, Rtype::NSEC3, self.what);
            fault.owner = format!("{hash}.{}", shown_name(&zone.signer));
            return fault;
        };
        let place = if self.place.line == 0 {
            *place
        } else {
            self.place
        };
        let what = format!("{} (hash {hash})", self.what);
        zone.fault_at(place, owner, Rtype::NSEC3, what)
    }
}

impl Collected {
    pub fn add(&mut self, batch: BatchLinks) {
        let numbers: Vec<u32> = batch
            .bitmaps
            .into_iter()
            .map(|bitmap| {
                *self.numbers.entry(bitmap).or_insert_with_key(|bitmap| {
                    self.bitmaps.push(bitmap.clone());
                    self.bitmaps.len() as u32 - 1
                })
            })
            .collect();
        let number = |number: u32| numbers[number as usize];
        self.needed
            .extend(batch.needed.into_iter().map(|needed| Needed {
                bitmap: number(needed.bitmap),
                ..needed
            }));
        self.present
            .extend(batch.present.into_iter().map(|present| Present {
                bitmap: number(present.bitmap),
                ..present
            }));
    }

    /// NSEC3 records that are there.
    pub fn records(&self) -> usize {
        self.present.len()
    }

    /// What is wrong, in the order of the hashes.
    pub fn compare(mut self) -> Vec<Wrong> {
        self.needed.sort_unstable();
        self.needed.dedup_by_key(|needed| needed.hash);
        self.present.sort_unstable();
        let mut wrong = Vec::new();
        let mut present = self.present.iter().peekable();
        // The record whose interval the next hash lies in; the last one's goes around.
        let mut before = self.present.last();
        for needed in &self.needed {
            while let Some(surplus) = present.next_if(|present| present.hash < needed.hash) {
                wrong.push(surplus.wrong("no name of the zone has this hash"));
                before = Some(surplus);
            }
            match present.next_if(|present| present.hash == needed.hash) {
                Some(found) => {
                    if found.bitmap != needed.bitmap {
                        let types = shown_types(&self.bitmaps[needed.bitmap as usize]);
                        wrong.push(found.wrong(&format!("the types are not {types}")));
                    }
                    before = Some(found);
                }
                None if needed.is_optional && before.is_some_and(|before| before.opts_out) => {}
                None => wrong.push(Wrong {
                    hash: needed.hash,
                    what: "the name has no NSEC3 record".into(),
                    place: FilePlace::default(),
                }),
            }
        }
        wrong.extend(present.map(|surplus| surplus.wrong("no name of the zone has this hash")));
        let next = self.present.iter().skip(1).chain(self.present.first());
        for (record, next) in self.present.iter().zip(next) {
            if record.next != next.hash {
                let next = BASE32HEX_NOPAD.encode(&next.hash);
                wrong.push(record.wrong(&format!("the next hash is not {next}")));
            }
        }
        wrong
    }
}

impl Present {
    fn wrong(&self, what: &str) -> Wrong {
        Wrong {
            hash: self.hash,
            what: what.into(),
            place: FilePlace {
                file: self.file,
                line: self.line,
                column: 1,
            },
        }
    }
}

/// The names that have the hashes in `wrong`, and where they stand, found by going over the zone once more.
pub(super) fn names_of(
    wrong: &[Wrong],
    hashing: &Nsec3Params,
    opening: &Opening<'_>,
    pool: &Pool,
) -> Result<HashMap<Hash, (Vec<u8>, FilePlace)>, SignError> {
    let wanted: HashSet<Hash> = wrong.iter().map(|wrong| wrong.hash).collect();
    over_names(opening, pool, |flow| {
        let mut names = HashMap::new();
        let apex_labels = label_count(&flow.apex());
        while let Some(batch) = flow.next_batch()? {
            for_each_hashed(apex_labels, hashing, &batch, |hash, what| {
                let (owner, at) = match what {
                    Hashed::Name(name) => (name.owner(), name),
                    Hashed::Ancestor { owner, below, .. } => (owner, below),
                };
                if wanted.contains(&hash) {
                    names.insert(hash, (owner.to_vec(), at.records.get(0).place));
                }
            });
        }
        Ok(names)
    })
}
