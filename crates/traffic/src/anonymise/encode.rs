//! DNS messages encoded anew, with everything that tells of somebody replaced.
//!
//! A name is compressed where it was before, so that messages keep their lengths as far as names keep theirs.

mod names;

use super::counts::ContentCounts;
use super::cryptopan::CachedPan;
use super::key::KeySet;
use super::names::{KeptSuffixes, NameMapper, NamePolicy};
use super::options::{self, Fate};
use super::pieces::{Tuples, write_protocols, write_texts, zeros};
use super::rdata::{self, Parameter, Part};
use super::seen::Seen;
use crate::wire::{HEADER_LEN, Header, NameBuffer, Record, Section, TYPE_OPT, View};
use names::Places;

/// Opcodes whose messages have questions and records: QUERY, NOTIFY and UPDATE.
const OPCODES: [u8; 3] = [0, 4, 5];
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
    /// It is from before 1970 or after 2106, times that no pcap file can hold.
    Time,
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
    places: Places,
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
            places: Places::default(),
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
            self.places.forget_from(record.rdata.start);
            output.resize(len_at + 2 + record.rdata.len(), 0);
        }
        let len = u16::try_from(output.len() - len_at - 2).map_err(|_| MessageLeftOut::TooLong)?;
        output[len_at..len_at + 2].copy_from_slice(&len.to_be_bytes());
        Ok(true)
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

    /// Appends what stands for a part of data other than a name.
    fn part(&mut self, part: Part, octets: &[u8], output: &mut Vec<u8>) -> Result<(), Fault> {
        let hides_zones = self.policy == NamePolicy::Pseudonyms;
        match part {
            Part::Ipv4 => self.addresses_v4(octets, output)?,
            Part::Ipv6 => self.addresses_v6(octets, output)?,
            Part::Text | Part::Texts => write_texts(octets, output).ok_or(Fault::NotAsItsType)?,
            Part::Types if !rdata::are_types(octets) => return Err(Fault::NotAsItsType),
            Part::FirstTypes if !rdata::are_first_types(octets) => return Err(Fault::NotAsItsType),
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
            match rdata::parameter(key, value) {
                Parameter::Plain => output.extend_from_slice(value),
                Parameter::Protocols => write_protocols(value, output),
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
            let fate = options::fate(code, data, self.policy);
            if code == options::COOKIE {
                self.seen.cookie(data);
            }
            match fate {
                Fate::Name => self.name_in_option(data, output)?,
                _ => options::write(
                    (code, fate),
                    data,
                    self.policy,
                    &mut self.hosts,
                    &self.keys.values,
                    output,
                ),
            }
            self.counts.option(fate);
            let len = (output.len() - len_at - 2) as u16;
            output[len_at..len_at + 2].copy_from_slice(&len.to_be_bytes());
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
