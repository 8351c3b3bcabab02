//! Answering one question from one zone.

use crate::message::{Full, MessageWriter, Owner, Section};
use crate::query::HEADER_LEN;
use crate::responder::{Answers, Transport};
use crate::wire::{RECORD_FIXED_LEN, ZoneWire};
use dnsrig_zone::lookup::{DenialKind, LookupName, NodeId, Outcome, RrsetId, Via};
use domain::base::iana::{OptRcode, Rtype};

/// How many aliases in a row are followed; as many as BIND follows.
const MAX_ALIASES: usize = 16;
/// Longest name in wire format (RFC 1035 section 3.1).
const MAX_NAME_LEN: usize = 255;

/// One question being answered.
pub(crate) struct Answering<'a> {
    pub zone: &'a ZoneWire,
    pub answers: Answers,
    pub transport: Transport,
    pub rtype: Rtype,
    pub dnssec_ok: bool,
    /// The name to look up next.
    pub name: &'a mut LookupName,
    /// NSEC or NSEC3 RRsets that the authority section needs.
    pub proof: &'a mut Vec<RrsetId>,
    /// RRsets that the message holds.
    pub written: &'a mut Vec<RrsetId>,
    pub writer: MessageWriter<'a>,
    pub authoritative: bool,
    pub rcode: OptRcode,
}

/// What the last look-up of a chain of aliases ended in.
enum Ending {
    /// With data.
    Positive,
    /// With an alias that leads out of the zone, or round in a circle.
    Unfinished,
    Negative,
    Referral {
        ns: RrsetId,
        ds: Option<RrsetId>,
    },
}

impl Answering<'_> {
    /// Writes all sections; [`Full`] if something that belongs in the response did not fit.
    pub fn run(&mut self) -> Result<(), Full> {
        match self.fill_answer()? {
            Ending::Positive => {
                self.put_proof()?;
                self.put_extras();
            }
            Ending::Unfinished => self.put_proof()?,
            Ending::Negative => {
                let (soa, ttl) = (self.zone.soa, self.zone.negative_ttl);
                self.put(
                    Section::Authority,
                    Owner::Name(self.zone.owner(soa)),
                    soa,
                    Some(ttl),
                )?;
                self.put_proof()?;
            }
            Ending::Referral { ns, ds } => {
                self.put_own(Section::Authority, ns)?;
                let signed = self.zone.index.denial_kind() != DenialKind::None;
                if let Some(ds) = ds.filter(|_| self.dnssec_ok && signed) {
                    self.put_own(Section::Authority, ds)?;
                }
                self.put_proof()?;
                self.put_glue(ns)?;
            }
        }
        Ok(())
    }

    fn fill_answer(&mut self) -> Result<Ending, Full> {
        let mut owner = Owner::At(HEADER_LEN);
        for aliases in 0..MAX_ALIASES {
            let outcome = self.zone.index.lookup(self.name, self.rtype);
            if aliases == 0 {
                self.know_question(&outcome);
            }
            if self.dnssec_ok {
                self.zone
                    .index
                    .denial_proof(self.name, &outcome, self.proof);
            }
            match outcome {
                Outcome::NotAuthoritative => return Ok(Ending::Unfinished),
                Outcome::Answer { rrset, .. } => {
                    self.put(Section::Answer, owner, rrset, None)?;
                    return Ok(Ending::Positive);
                }
                Outcome::Any { node, .. } => return self.put_any(owner, node),
                Outcome::NoData { .. } => return Ok(Ending::Negative),
                Outcome::NxDomain { .. } => {
                    // The last name of a chain decides (RFC 6604 section 3).
                    self.rcode = OptRcode::NXDOMAIN;
                    return Ok(Ending::Negative);
                }
                Outcome::Referral { ns, ds, .. } => {
                    // AA speaks of the first owner in the answer section (RFC 1035 section 4.1.1).
                    self.authoritative = aliases > 0;
                    return Ok(Ending::Referral { ns, ds });
                }
                Outcome::Cname { rrset, via, .. } => {
                    if via == Via::Exact && self.written.contains(&rrset) {
                        return Ok(Ending::Unfinished);
                    }
                    owner = self.follow_cname(owner, rrset)?;
                }
                Outcome::Dname { node, rrset } => {
                    match self.follow_dname(owner, node, rrset)? {
                        // For these types the CNAME made from the DNAME is the answer.
                        Some(_) if matches!(self.rtype, Rtype::CNAME | Rtype::ANY) => {
                            return Ok(Ending::Positive);
                        }
                        Some(target) => owner = target,
                        None => return Ok(Ending::Unfinished),
                    }
                }
            }
        }
        Ok(Ending::Unfinished)
    }

    /// Makes the part of the question's name that the zone has known for compression.
    fn know_question(&mut self, outcome: &Outcome) {
        let index = &self.zone.index;
        let node = match *outcome {
            Outcome::Answer { node, via, .. }
            | Outcome::Any { node, via }
            | Outcome::Cname { node, via, .. }
            | Outcome::NoData { node, via } => match via {
                Via::Exact => node,
                Via::Wildcard { .. } => index.parent(node).unwrap_or(node),
            },
            Outcome::Dname { node, .. } => node,
            Outcome::NxDomain {
                closest_encloser, ..
            } => closest_encloser,
            Outcome::Referral { cut, .. } => cut,
            Outcome::NotAuthoritative => return,
        };
        let mut name = self.zone.node_name(node);
        for labels in (1..=index.labels(node)).rev() {
            self.writer
                .know(name, HEADER_LEN + self.name.suffix_start(labels));
            name = self.zone.names.parent(name);
        }
    }

    fn put_any(&mut self, owner: Owner, node: NodeId) -> Result<Ending, Full> {
        let index = &self.zone.index;
        let is_data = |id: &RrsetId| !matches!(index.span(*id).rtype, Rtype::RRSIG | Rtype::NSEC);
        match self.transport {
            Transport::Udp => {
                let one = index
                    .rrsets_at(node)
                    .find(is_data)
                    .or(index.rrsets_at(node).next());
                if let Some(rrset) = one {
                    self.put(Section::Answer, owner, rrset, None)?;
                }
            }
            _ => {
                for rrset in index.rrsets_at(node) {
                    // Signatures come as an RRset of their own here.
                    let records = &index.span(rrset).records;
                    self.writer
                        .put(self.zone, Section::Answer, owner, [records, &(0..0)], None)?;
                    self.written.push(rrset);
                }
            }
        }
        Ok(Ending::Positive)
    }

    fn follow_cname(&mut self, owner: Owner, rrset: RrsetId) -> Result<Owner, Full> {
        self.put(Section::Answer, owner, rrset, None)?;
        let (record, octets) = self.zone.record(self.zone.index.span(rrset).records.start);
        let target = record.names[0].ok_or(Full)?;
        self.name.set(&octets[RECORD_FIXED_LEN..]).ok_or(Full)?;
        Ok(Owner::Name(target))
    }

    /// Replaces the DNAME's owner in the name by its target (RFC 6672 section 2.2); `None` if the result is too long.
    fn follow_dname(
        &mut self,
        owner: Owner,
        node: NodeId,
        rrset: RrsetId,
    ) -> Result<Option<Owner>, Full> {
        if !self.written.contains(&rrset) {
            self.put_own(Section::Answer, rrset)?;
        }
        let records = self.zone.index.rrset(rrset).records;
        let target = &records[0].rdata;
        let prefix_len = self.name.suffix_start(self.zone.index.labels(node));
        let len = prefix_len + target.len();
        if len > MAX_NAME_LEN {
            self.rcode = OptRcode::YXDOMAIN;
            return Ok(None);
        }
        let mut name = [0; MAX_NAME_LEN];
        name[..prefix_len].copy_from_slice(&self.name.wire()[..prefix_len]);
        name[prefix_len..len].copy_from_slice(target);
        let at = self.writer.put_synthesised_cname(
            owner,
            &self.zone.names,
            records[0].ttl,
            &name[..len],
        )?;
        self.name.set(&name[..len]).ok_or(Full)?;
        Ok(Some(Owner::At(at)))
    }

    fn put_proof(&mut self) -> Result<(), Full> {
        for place in 0..self.proof.len() {
            self.put_own(Section::Authority, self.proof[place])?;
        }
        Ok(())
    }

    /// Addresses of the name servers of a delegation; without the in-domain ones a referral is of no use (RFC 9471 section 3.1).
    fn put_glue(&mut self, ns: RrsetId) -> Result<(), Full> {
        let (required, optional) = self.zone.additional(ns);
        for &rrset in required {
            self.put_own(Section::Additional, rrset)?;
        }
        for &rrset in optional {
            self.put_if_it_fits(Section::Additional, rrset);
        }
        Ok(())
    }

    /// What goes with data beyond the answer itself.
    fn put_extras(&mut self) {
        let full = match self.rtype {
            // These are large and asked for by validators, who have no use for more; BIND leaves it out as well.
            Rtype::DNSKEY | Rtype::CDNSKEY | Rtype::DS | Rtype::CDS => false,
            _ => self.answers == Answers::Full,
        };
        if let Some(ns) = self.zone.ns.filter(|_| full) {
            self.put_if_it_fits(Section::Authority, ns);
        }
        // Whoever asks for name servers wants their addresses; this is how resolvers prime (RFC 9609 section 4.1).
        if full || self.rtype == Rtype::NS {
            self.put_addresses();
        }
    }

    /// The addresses of all hosts that RRsets written so far name.
    fn put_addresses(&mut self) {
        for place in 0..self.written.len() {
            let (required, optional) = self.zone.additional(self.written[place]);
            for &rrset in required.iter().chain(optional) {
                self.put_if_it_fits(Section::Additional, rrset);
            }
        }
    }

    fn put_if_it_fits(&mut self, section: Section, rrset: RrsetId) {
        if !self.written.contains(&rrset) {
            // Leaving out what was not asked for is no truncation (RFC 2181 section 9).
            let _ = self.put_own(section, rrset);
        }
    }

    /// Writes an RRset under its own owner name, with signatures if they are wanted.
    fn put_own(&mut self, section: Section, rrset: RrsetId) -> Result<(), Full> {
        self.put(section, Owner::Name(self.zone.owner(rrset)), rrset, None)
    }

    fn put(
        &mut self,
        section: Section,
        owner: Owner,
        rrset: RrsetId,
        ttl: Option<u32>,
    ) -> Result<(), Full> {
        let span = self.zone.index.span(rrset);
        let signatures = if self.dnssec_ok {
            &span.signatures
        } else {
            &(0..0)
        };
        self.writer
            .put(self.zone, section, owner, [&span.records, signatures], ttl)?;
        self.written.push(rrset);
        Ok(())
    }
}
