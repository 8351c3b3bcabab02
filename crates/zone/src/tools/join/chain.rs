//! Whether the chains of NSEC and NSEC3 records go on from piece to piece.

use crate::flow::OwnerGroup;
use crate::packed::PackedRecord;
use crate::rdata::name_length;
use crate::{parent, same_name};
use domain::base::iana::Rtype;

/// The next name of the NSEC record of the last name that had one.
#[derive(Debug, Default)]
pub(super) struct NsecChain {
    last: Option<Last>,
}

#[derive(Debug)]
struct Last {
    owner: Box<[u8]>,
    /// What it names next.
    next: Box<[u8]>,
    piece: usize,
}

/// A place where a chain is broken.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Break {
    /// The name before.
    pub owner: Box<[u8]>,
    /// What it names next.
    pub next: Box<[u8]>,
    /// What comes next.
    pub found: Box<[u8]>,
}

fn next_name<'a>(name: &OwnerGroup<'a>) -> Option<&'a [u8]> {
    let nsec = name
        .records
        .iter()
        .find(|record| record.rtype == Rtype::NSEC)?;
    nsec.rdata.get(..name_length(nsec.rdata)?)
}

impl NsecChain {
    /// Takes names of one piece that follow each other; only where the piece is another than before it looks at the first.
    pub fn take<'a>(
        &mut self,
        piece: usize,
        names: impl DoubleEndedIterator<Item = OwnerGroup<'a>> + Clone,
    ) -> Result<(), Break> {
        if let Some(last) = &self.last
            && last.piece != piece
        {
            let first = names.clone().find(|name| next_name(name).is_some());
            if let Some(first) = first
                && !same_name(first.owner(), &last.next)
            {
                return Err(Break {
                    owner: last.owner.clone(),
                    next: last.next.clone(),
                    found: first.owner().into(),
                });
            }
        }
        let last = names
            .rev()
            .find_map(|name| Some((name.owner(), next_name(&name)?)));
        if let Some((owner, next)) = last {
            self.last = Some(Last {
                owner: owner.into(),
                next: next.into(),
                piece,
            });
        }
        Ok(())
    }

    /// Ends the zone, whose apex the last NSEC record must name.
    pub fn end(self, apex: &[u8]) -> Result<(), Break> {
        match self.last {
            Some(last) if !same_name(&last.next, apex) => Err(Break {
                owner: last.owner,
                next: last.next,
                found: apex.into(),
            }),
            _ => Ok(()),
        }
    }
}

/// The chains of NSEC3 records, one for each set of parameters.
#[derive(Debug, Default)]
pub(super) struct Nsec3Chains(Vec<Nsec3Chain>);

#[derive(Debug)]
struct Nsec3Chain {
    /// Hash algorithm, iterations and salt as in RDATA, flags left out.
    parameters: Vec<u8>,
    first: Box<[u8]>,
    last: Box<[u8]>,
    next: Vec<u8>,
}

impl Nsec3Chains {
    /// Takes the next record in the order of owners; others than NSEC3 mean nothing.
    pub fn take(&mut self, record: &PackedRecord<'_>) -> Result<(), Break> {
        let Some((parameters, next)) = fields(record) else {
            return Ok(());
        };
        let chain = self
            .0
            .iter_mut()
            .find(|chain| chain.parameters == parameters);
        let Some(chain) = chain else {
            self.0.push(Nsec3Chain {
                parameters,
                first: record.owner.into(),
                last: record.owner.into(),
                next,
            });
            return Ok(());
        };
        chain.check(record.owner)?;
        chain.last = record.owner.into();
        chain.next = next;
        Ok(())
    }

    /// Ends the zone: each chain must come back to where it began.
    pub fn end(self) -> Result<(), Break> {
        self.0
            .iter()
            .try_for_each(|chain| chain.check(&chain.first))
    }
}

impl Nsec3Chain {
    /// Whether the last record names `found`.
    fn check(&self, found: &[u8]) -> Result<(), Break> {
        let label = found
            .split_first()
            .and_then(|(&length, rest)| rest.get(..usize::from(length)));
        let hash = data_encoding::BASE32HEX_NOPAD.encode(&self.next);
        if label.is_some_and(|label| label.eq_ignore_ascii_case(hash.as_bytes())) {
            return Ok(());
        }
        let mut next = vec![hash.len() as u8];
        next.extend_from_slice(hash.as_bytes());
        next.extend_from_slice(parent(found).unwrap_or(&[0]));
        Err(Break {
            owner: self.last.clone(),
            next: next.into(),
            found: found.into(),
        })
    }
}

/// Parameters and next hash of an NSEC3 record (RFC 5155 section 3.2).
fn fields(record: &PackedRecord<'_>) -> Option<(Vec<u8>, Vec<u8>)> {
    if record.rtype != Rtype::NSEC3 {
        return None;
    }
    let rdata = record.rdata;
    let salt_end = 5 + usize::from(*rdata.get(4)?);
    let mut parameters = vec![rdata[0]];
    parameters.extend_from_slice(rdata.get(2..salt_end)?);
    let length = usize::from(*rdata.get(salt_end)?);
    let next = rdata.get(salt_end + 1..salt_end + 1 + length)?;
    Some((parameters, next.to_vec()))
}
