//! Where synthetic questions take their names from.

use crate::error::StreamError;
use crate::halt::Halt;
use crate::look_up::look_up_wire;
use crate::questions::{Question, Questions};
use crate::synthesis::{FEWER, owned};
use dnsrig_zone::PresentationName;
use dnsrig_zone::lookup::{Outcome, ZoneIndex};
use domain::base::Name;
use domain::base::iana::Rtype;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::collections::HashSet;

/// How often each type is asked for among names that have it, in the manner of ISC-2008's table of F-root; types not
/// listed count as 1, and types with 0 are never asked for by themselves.
const WEIGHTS: [(Rtype, u32); 13] = [
    (Rtype::A, 61),
    (Rtype::AAAA, 8),
    (Rtype::PTR, 10),
    (Rtype::MX, 6),
    (Rtype::SOA, 6),
    (Rtype::SRV, 2),
    (Rtype::NS, 1),
    (Rtype::DS, 0),
    (Rtype::RRSIG, 0),
    (Rtype::NSEC, 0),
    (Rtype::NSEC3, 0),
    (Rtype::NSEC3PARAM, 0),
    (Rtype::DNSKEY, 0),
];

/// Letters and digits of random labels.
const LABEL_OCTETS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";
const SHORTEST_LABEL: usize = 6;
const LONGEST_LABEL: usize = 12;
/// Random names tried for one question before the zone is said to have none that does not exist.
const TRIES: u32 = 1000;

fn weight(rtype: Rtype) -> u32 {
    WEIGHTS
        .iter()
        .find(|(listed, _)| *listed == rtype)
        .map_or(1, |(_, weight)| *weight)
}

/// Every name and type of a zone that is answered with data or a referral, to be drawn by the type's weight.
pub struct ExistingNames<'z> {
    questions: Vec<Question<'z>>,
    /// Sum of the weights up to and with each question.
    cumulative: Vec<u64>,
}

impl<'z> ExistingNames<'z> {
    /// Lists the zone's names and types, and its zone cuts, which give referrals; wildcards' own names and what is below cuts
    /// are left out.
    pub fn new(zone: &'z ZoneIndex) -> Result<Self, StreamError> {
        let mut names = Self {
            questions: Vec::new(),
            cumulative: Vec::new(),
        };
        let mut total = 0;
        for node in zone.node_ids() {
            let name = zone.name(node);
            if zone.zone_cut(node) == Some(node) {
                // Resolvers meet a zone cut on the way to an address below it.
                total += u64::from(weight(Rtype::A));
                names.questions.push(Question {
                    name: name.for_slice(),
                    rtype: Rtype::A,
                });
                names.cumulative.push(total);
                continue;
            }
            if !zone.is_authoritative(node) {
                continue;
            }
            if name.as_slice().starts_with(b"\x01*") {
                continue;
            }
            for rrset in zone.rrsets_at(node) {
                // An alias is met by asking for an address.
                let rtype = match zone.rrset(rrset).rtype {
                    Rtype::CNAME => Rtype::A,
                    rtype => rtype,
                };
                if weight(rtype) > 0 {
                    total += u64::from(weight(rtype));
                    names.questions.push(Question {
                        name: name.for_slice(),
                        rtype,
                    });
                    names.cumulative.push(total);
                }
            }
        }
        if names.questions.is_empty() {
            let why = format!(
                "the zone {} has no data to ask for",
                PresentationName(zone.zone().origin())
            );
            return Err(StreamError::NothingExists { why });
        }
        Ok(names)
    }

    /// Draws a question by weight.
    pub fn draw(&self, rng: &mut ChaCha8Rng) -> Question<'z> {
        let total = self.cumulative.last().copied().unwrap_or(1);
        let drawn = rng.random_range(0..total);
        self.questions[self.cumulative.partition_point(|&sum| sum <= drawn)]
    }
}

/// Random names that do not exist, each given out once.
pub struct DenialNames<'z> {
    zone: &'z ZoneIndex,
    /// Names to make others of, as (wire name, type).
    bases: Vec<(&'z [u8], Rtype)>,
    given: HashSet<Vec<u8>>,
    wire: Vec<u8>,
}

impl<'z> DenialNames<'z> {
    /// Makes names of those of the log that belong to the zone, else of the zone's own.
    pub fn new(zone: &'z ZoneIndex, log: Option<&'z Questions>) -> Self {
        let mut bases: Vec<(&[u8], Rtype)> = match log {
            Some(log) => log
                .iter()
                .map(|question| (question.name.as_slice(), question.rtype))
                .collect(),
            None => ExistingNames::new(zone).map_or_else(
                |_| Vec::new(),
                |names| {
                    names
                        .questions
                        .iter()
                        .map(|question| (question.name.as_slice(), question.rtype))
                        .collect()
                },
            ),
        };
        if bases.is_empty() {
            bases.push((zone.zone().origin().as_slice(), Rtype::A));
        }
        Self {
            zone,
            bases,
            given: HashSet::new(),
            wire: Vec::new(),
        }
    }

    /// Notes the name in `wire` as given out; says whether it had not been.
    fn give_out(&mut self) -> Result<bool, StreamError> {
        let given = self.given.len() as u64;
        let noted = self.given.try_reserve(1).map_err(Halt::from);
        let name = noted.and_then(|()| owned(&self.wire));
        let name = name.map_err(|halt| halt.in_making(given, FEWER))?;
        Ok(self.given.insert(name))
    }

    /// Draws a name that does not exist and was not given out before.
    ///
    /// The first label of a name is replaced by a random one; to the apex one is added.
    pub fn draw(&mut self, rng: &mut ChaCha8Rng) -> Result<Question<'_>, StreamError> {
        for _ in 0..TRIES {
            let (base, rtype) = self.bases[rng.random_range(0..self.bases.len())];
            let parent = match base.len() > self.zone.zone().origin().len() {
                true => &base[1 + usize::from(base[0])..],
                false => base,
            };
            self.wire.clear();
            let label_len = rng.random_range(SHORTEST_LABEL..=LONGEST_LABEL);
            self.wire.push(label_len as u8);
            for _ in 0..label_len {
                self.wire
                    .push(LABEL_OCTETS[rng.random_range(0..LABEL_OCTETS.len())]);
            }
            self.wire.extend_from_slice(parent);
            let denied = matches!(
                look_up_wire(self.zone, &self.wire, rtype),
                Outcome::NxDomain { .. }
            );
            if denied && self.give_out()? {
                let name = Name::from_slice(&self.wire).expect("looked up, so a whole name");
                return Ok(Question { name, rtype });
            }
        }
        Err(StreamError::NothingDenied {
            zone: PresentationName(self.zone.zone().origin()).to_string(),
            tries: TRIES,
        })
    }
}
