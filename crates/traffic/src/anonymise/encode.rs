//! DNS messages encoded anew, with everything that tells of somebody replaced.
//!
//! A name is compressed where it was before, so that messages keep their lengths as far as names keep theirs.

use super::counts::ContentCounts;
use super::cryptopan::CachedPan;
use super::key::KeySet;
use super::names::{KeptSuffixes, Mapped, NameMapper, NamePolicy};
use super::options::{self, Fate};
use super::pieces::{Tuples, write_texts, zeros};
use super::rdata::{self, Parameter, Part};
use super::seen::Seen;
use crate::wire::{
    HEADER_LEN, Header, NameBuffer, Record, Section, TYPE_OPT, View, read_name, skip_name,
};

/// Opcodes whose messages have questions and records: QUERY, NOTIFY and UPDATE.
const OPCODES: [u8; 3] = [0, 4, 5];
/// A compression pointer reaches so many octets (RFC 1035 section 4.1.4).
const MAX_POINTER: usize = 0x3FFF;
/// The most octets of a message, over TCP.
const MAX_MESSAGE_LEN: usize = 0xFFFF;

/// Why a message is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MessageLeftOut {
    /// Not all of it was captured.
    Cut,
    /// It is malformed, so that it cannot be told what its octets are.
    Malformed,
    /// Its opcode gives it another form (IQUERY, STATUS, DSO), or none.
    Opcode,
    /// It, or a name in it, would be longer than it may be.
    TooLong,
}

/// What messages are encoded by.
#[derive(Clone, Copy)]
pub struct Rules<'k> {
    /// What becomes of names.
    pub policy: NamePolicy,
    /// By which everything is replaced.
    pub keys: &'k KeySet,
    /// Names that stay among pseudonyms.
    pub suffixes: &'k KeptSuffixes,
    /// Is told what is replaced by what.
    pub seen: &'k Seen,
}

/// Encodes messages; one for each thread.
pub struct Encoder<'k> {
    /// Maps addresses of packets and client subnets.
    pub hosts: CachedPan<'k>,
    contents: CachedPan<'k>,
    names: NameMapper<'k>,
    policy: NamePolicy,
    keys: &'k KeySet,
    seen: &'k Seen,
    /// Where labels were, and where they are now, in the order of both.
    places: Vec<(u16, u16)>,
    name: NameBuffer,
    mapped: Vec<u8>,
    /// What was seen.
    pub counts: ContentCounts,
}

impl<'k> Encoder<'k> {
    /// An encoder that has nothing at hand yet.
    pub fn new(rules: &Rules<'k>) -> Self {
        let Rules {
            policy,
            keys,
            suffixes,
            seen,
        } = *rules;
        Self {
            hosts: CachedPan::new(&keys.hosts, seen),
            contents: CachedPan::new(&keys.contents, seen),
            names: NameMapper::new(policy, keys, suffixes),
            policy,
            keys,
            seen,
            places: Vec::new(),
            name: NameBuffer::default(),
            mapped: Vec::new(),
            counts: ContentCounts::default(),
        }
    }

    /// Appends what stands for `message` to `output`.
    ///
    /// # Errors
    /// A [`MessageLeftOut`]; then `output` is as it was.
    pub fn encode(&mut self, message: &[u8], output: &mut Vec<u8>) -> Result<(), MessageLeftOut> {
        let start = output.len();
        let encoded = self.whole(message, output, start);
        if encoded.is_err() {
            output.truncate(start);
        }
        encoded
    }

    fn whole(
        &mut self,
        message: &[u8],
        output: &mut Vec<u8>,
        start: usize,
    ) -> Result<(), MessageLeftOut> {
        let header = Header::parse(message).ok_or(MessageLeftOut::Malformed)?;
        if !OPCODES.contains(&header.opcode()) {
            return Err(MessageLeftOut::Opcode);
        }
        let view = View::parse(message).map_err(|_| MessageLeftOut::Malformed)?;
        self.places.clear();
        output.extend_from_slice(&message[..HEADER_LEN]);
        let mut at = HEADER_LEN;
        for _ in 0..header.questions {
            let end = self.name(message, at, output, start)?;
            let fixed = message.get(end..end + 4).ok_or(MessageLeftOut::Malformed)?;
            output.extend_from_slice(fixed);
            at = end + 4;
        }
        let mut records = view.records();
        let mut counts = [0; 3];
        for record in records.by_ref() {
            let record = record.map_err(|_| MessageLeftOut::Malformed)?;
            if self.record(&record, output, start)? {
                counts[record.section as usize] += 1;
            }
        }
        self.counts.octets_after += u64::from(records.offset() < message.len());
        for (count, place) in counts.iter().zip([6, 8, 10]) {
            output[start + place..start + place + 2].copy_from_slice(&u16::to_be_bytes(*count));
        }
        match output.len() - start > MAX_MESSAGE_LEN {
            true => Err(MessageLeftOut::TooLong),
            false => Ok(()),
        }
    }

    /// Appends a record; says whether it was not left out.
    fn record(
        &mut self,
        record: &Record<'_>,
        output: &mut Vec<u8>,
        start: usize,
    ) -> Result<bool, MessageLeftOut> {
        let message = record.message;
        let signs_message = record.rtype == rdata::SIG && record.data().starts_with(&[0, 0]);
        if rdata::LEFT_OUT.contains(&record.rtype) || signs_message {
            self.counts.signatures += 1;
            return Ok(false);
        }
        self.name(message, record.owner, output, start)?;
        let fixed = &message[record.fixed..record.fixed + 8];
        output.extend_from_slice(fixed);
        let len_at = output.len();
        output.extend_from_slice(&[0, 0]);
        let is_opt = record.rtype == TYPE_OPT && record.section == Section::Additional;
        let written = match is_opt {
            true => self.options(record.data(), output),
            false => self.data(record, output, start),
        };
        if let Err(fault) = written {
            let Fault::NotAsItsType = fault else {
                return Err(MessageLeftOut::TooLong);
            };
            self.counts.odd_data += 1;
            output.truncate(len_at + 2);
            self.forget_from(record.rdata.start);
            output.resize(len_at + 2 + record.rdata.len(), 0);
        }
        let len = u16::try_from(output.len() - len_at - 2).map_err(|_| MessageLeftOut::TooLong)?;
        output[len_at..len_at + 2].copy_from_slice(&len.to_be_bytes());
        Ok(true)
    }

    /// Appends the name at `at`; gives where it ends in the message.
    fn name(
        &mut self,
        message: &[u8],
        at: usize,
        output: &mut Vec<u8>,
        start: usize,
    ) -> Result<usize, MessageLeftOut> {
        // The root, which owns every OPT record.
        if message.get(at) == Some(&0) {
            output.push(0);
            return Ok(at + 1);
        }
        if let Some(&[high, low]) = message
            .get(at..at + 2)
            .and_then(|octets| octets.first_chunk())
        {
            let target = u16::from_be_bytes([high & 0x3F, low]);
            if high >= 0xC0
                && let Some(place) = self.place_of(target)
            {
                output.extend_from_slice(&(0xC000 | place).to_be_bytes());
                return Ok(at + 2);
            }
        }
        let mut name = std::mem::take(&mut self.name);
        let written = self.whole_name(message, at, &mut name, output, start);
        self.name = name;
        written
    }

    /// Appends a name that is more than a pointer to one before it.
    fn whole_name(
        &mut self,
        message: &[u8],
        at: usize,
        name: &mut NameBuffer,
        output: &mut Vec<u8>,
        start: usize,
    ) -> Result<usize, MessageLeftOut> {
        let end = read_name(message, at, name).map_err(|_| MessageLeftOut::Malformed)?;
        let mut mapped = std::mem::take(&mut self.mapped);
        let outcome = self
            .names
            .map(name.as_slice(), &mut self.contents, &mut mapped);
        let (rest, inner) = match outcome {
            Mapped::Same => (name.as_slice(), 0),
            Mapped::Changed { inner } => (&mapped[..], inner),
            Mapped::TooLong => (&[][..], 0),
        };
        self.counts.names += u64::from(matches!(outcome, Mapped::Changed { .. }));
        self.labels(message, at, rest, inner, output, start);
        self.mapped = mapped;
        match outcome {
            Mapped::TooLong => Err(MessageLeftOut::TooLong),
            _ => Ok(end),
        }
    }

    /// Appends the labels `rest` for the name at `at`, one by one until the message points to others that stand in the output
    /// already. `inner` has a bit for each label that depends on those before it, and so is no other name's beginning.
    fn labels(
        &mut self,
        message: &[u8],
        mut at: usize,
        mut rest: &[u8],
        mut inner: u128,
        output: &mut Vec<u8>,
        start: usize,
    ) {
        let mut is_pointed = false;
        while let Some(&len) = rest.first() {
            if message[at] >= 0xC0 {
                let target = u16::from_be_bytes([message[at] & 0x3F, message[at + 1]]);
                if let Some(place) = self.place_of(target).filter(|_| inner & 1 == 0) {
                    output.extend_from_slice(&(0xC000 | place).to_be_bytes());
                    return;
                }
                (at, is_pointed) = (target.into(), true);
                continue;
            }
            let (label, after) = rest.split_at(1 + usize::from(len));
            let place = output.len() - start;
            let is_place = !is_pointed && len > 0 && inner & 1 == 0;
            if is_place && at <= MAX_POINTER && place <= MAX_POINTER {
                self.places.push((at as u16, place as u16));
            }
            output.extend_from_slice(label);
            at += 1 + usize::from(message[at]);
            (rest, inner) = (after, inner >> 1);
        }
    }

    /// Where what was at `place` stands now.
    fn place_of(&self, place: u16) -> Option<u16> {
        let found = self
            .places
            .binary_search_by_key(&place, |&(before, _)| before);
        found.ok().map(|index| self.places[index].1)
    }

    /// Forgets where labels are that were at `place` or after it.
    fn forget_from(&mut self, place: usize) {
        let kept = self
            .places
            .partition_point(|&(before, _)| usize::from(before) < place);
        self.places.truncate(kept);
    }

    /// Appends the data of a record.
    fn data(
        &mut self,
        record: &Record<'_>,
        output: &mut Vec<u8>,
        start: usize,
    ) -> Result<(), Fault> {
        let message = &record.message[..record.rdata.end];
        let mut at = record.rdata.start;
        // Deletions and conditions of updates have no data (RFC 2136 section 2.4).
        if record.rdata.is_empty() {
            return Ok(());
        }
        for part in rdata::parts(record.rtype, record.class) {
            let rest = message.len() - at;
            let len = match part {
                Part::Name => {
                    at = self.name_in_data(message, at, output, start)?;
                    continue;
                }
                Part::Ipv4 => 4,
                Part::Ipv6 => 16,
                Part::Plain(len) | Part::OfZone(len) => *len,
                Part::Text => 1 + usize::from(*message.get(at).ok_or(Fault::NotAsItsType)?),
                _ => rest,
            };
            let octets = message.get(at..at + len).ok_or(Fault::NotAsItsType)?;
            self.part(*part, octets, output)?;
            at += len;
        }
        match at == message.len() {
            true => Ok(()),
            false => Err(Fault::NotAsItsType),
        }
    }

    fn name_in_data(
        &mut self,
        message: &[u8],
        at: usize,
        output: &mut Vec<u8>,
        start: usize,
    ) -> Result<usize, Fault> {
        skip_name(message, at).ok_or(Fault::NotAsItsType)?;
        self.name(message, at, output, start)
            .map_err(|left_out| match left_out {
                MessageLeftOut::TooLong => Fault::TooLong,
                _ => Fault::NotAsItsType,
            })
    }

    /// Appends what stands for a part of data other than a name.
    fn part(&mut self, part: Part, octets: &[u8], output: &mut Vec<u8>) -> Result<(), Fault> {
        let hides_zones = self.policy == NamePolicy::Pseudonyms;
        match part {
            Part::Ipv4 => self.addresses_v4(octets, output)?,
            Part::Ipv6 => self.addresses_v6(octets, output)?,
            Part::Text | Part::Texts => write_texts(octets, output).ok_or(Fault::NotAsItsType)?,
            Part::ServiceParameters => self.parameters(octets, output)?,
            Part::Hidden => zeros(octets.len(), output),
            Part::OfZone(_) | Part::OfZoneRest if hides_zones => zeros(octets.len(), output),
            _ => output.extend_from_slice(octets),
        }
        self.counts.hidden_data +=
            u64::from(matches!(part, Part::Hidden | Part::Text | Part::Texts));
        Ok(())
    }

    fn addresses_v4(&mut self, octets: &[u8], output: &mut Vec<u8>) -> Result<(), Fault> {
        let (addresses, rest) = octets.as_chunks::<4>();
        for address in addresses {
            let mapped = self.contents.v4(u32::from_be_bytes(*address));
            output.extend_from_slice(&mapped.to_be_bytes());
        }
        self.counts.addresses += addresses.len() as u64;
        rest.is_empty().then_some(()).ok_or(Fault::NotAsItsType)
    }

    fn addresses_v6(&mut self, octets: &[u8], output: &mut Vec<u8>) -> Result<(), Fault> {
        let (addresses, rest) = octets.as_chunks::<16>();
        for address in addresses {
            let mapped = self.contents.v6(u128::from_be_bytes(*address));
            output.extend_from_slice(&mapped.to_be_bytes());
        }
        self.counts.addresses += addresses.len() as u64;
        rest.is_empty().then_some(()).ok_or(Fault::NotAsItsType)
    }

    fn parameters(&mut self, octets: &[u8], output: &mut Vec<u8>) -> Result<(), Fault> {
        for (key, range) in Tuples::of(octets) {
            let value = &octets[range.ok_or(Fault::NotAsItsType)?];
            output.extend_from_slice(&key.to_be_bytes());
            output.extend_from_slice(&(value.len() as u16).to_be_bytes());
            match rdata::parameter(key) {
                Parameter::Plain => output.extend_from_slice(value),
                Parameter::Ipv4 => self.addresses_v4(value, output)?,
                Parameter::Ipv6 => self.addresses_v6(value, output)?,
                Parameter::Hidden => zeros(value.len(), output),
            }
        }
        Ok(())
    }

    /// Appends the options of an OPT record.
    fn options(&mut self, octets: &[u8], output: &mut Vec<u8>) -> Result<(), Fault> {
        for (code, range) in Tuples::of(octets) {
            let data = &octets[range.ok_or(Fault::NotAsItsType)?];
            output.extend_from_slice(&code.to_be_bytes());
            let len_at = output.len();
            output.extend_from_slice(&[0, 0]);
            let fate = options::fate(code);
            if code == options::COOKIE {
                self.seen.cookie(data);
            }
            match fate {
                Fate::Name => self.name_in_option(data, output)?,
                _ => options::write(code, data, &mut self.hosts, &self.keys.values, output),
            }
            self.counts.option(fate);
            let len = (output.len() - len_at - 2) as u16;
            output[len_at..len_at + 2].copy_from_slice(&len.to_be_bytes());
        }
        Ok(())
    }

    /// Appends what stands for the uncompressed name that an option holds.
    fn name_in_option(&mut self, data: &[u8], output: &mut Vec<u8>) -> Result<(), Fault> {
        let mut name = NameBuffer::default();
        if read_name(data, 0, &mut name) != Ok(data.len()) || name.as_slice() != data {
            zeros(data.len(), output);
            return Ok(());
        }
        match self.names.map(data, &mut self.contents, &mut self.mapped) {
            Mapped::Same => output.extend_from_slice(data),
            Mapped::Changed { .. } => output.extend_from_slice(&self.mapped),
            Mapped::TooLong => return Err(Fault::TooLong),
        }
        Ok(())
    }
}

/// Why data of a record cannot be encoded.
enum Fault {
    /// They are not as their type says; they become zeros.
    NotAsItsType,
    /// A name would be too long.
    TooLong,
}

#[cfg(test)]
mod tests;
