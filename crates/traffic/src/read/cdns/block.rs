//! A block of C-DNS (RFC 8618 section 7.3.2): transactions, and the tables that they refer to.

use super::cbor::Cbor;
use super::damaged;
use crate::read::source::Fault;
use std::io::Read;

/// Octets that a block may take in memory, far more than any collector writes into one (a few MiB).
const MAX_BLOCK_LEN: usize = 512 << 20;

/// A block.
#[derive(Debug, Default)]
pub struct Block {
    /// The set of the file's parameters that hold for it.
    pub parameters: u64,
    /// The time from which others count: seconds since 1970, and ticks.
    pub earliest: (i64, u64),
    pub addresses: Vec<Box<[u8]>>,
    pub class_types: Vec<ClassType>,
    /// Names, and data of records.
    pub names: Vec<Box<[u8]>>,
    pub signatures: Vec<Signature>,
    /// Lists of indexes into `questions`.
    pub question_lists: Vec<Box<[u64]>>,
    pub questions: Vec<Record>,
    /// Lists of indexes into `records`.
    pub record_lists: Vec<Box<[u64]>>,
    pub records: Vec<Record>,
    pub malformed_data: Vec<MalformedData>,
    pub transactions: Vec<Transaction>,
    pub malformed: Vec<Malformed>,
    /// Octets that all of it takes.
    len: usize,
}

/// A type with a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassType {
    pub rtype: u16,
    pub class: u16,
}

/// What many transactions have in common.
#[derive(Clone, Copy, Debug, Default)]
pub struct Signature {
    pub server_address: Option<u64>,
    pub server_port: Option<u16>,
    /// Bit 0: IPv6; bits 1 to 4: the transport.
    pub transport: Option<u64>,
    pub flags: Option<u64>,
    pub opcode: u64,
    pub dns_flags: u64,
    pub query_rcode: u64,
    pub class_type: Option<u64>,
    pub edns_version: u64,
    pub udp_size: Option<u16>,
    pub opt_data: Option<u64>,
    pub response_rcode: u64,
}

/// A record, or a question (which has only the first two).
#[derive(Clone, Copy, Debug, Default)]
pub struct Record {
    pub name: u64,
    pub class_type: u64,
    pub ttl: u32,
    pub data: Option<u64>,
}

/// A transaction.
#[derive(Clone, Copy, Debug, Default)]
pub struct Transaction {
    pub ticks: u64,
    pub client_address: Option<u64>,
    pub client_port: u16,
    pub id: u16,
    pub signature: Option<u64>,
    pub delay_ticks: i64,
    pub name: Option<u64>,
    /// Octets of the query and of the response as they were sent, where that is known.
    pub lens: [Option<u16>; 2],
    pub query: Sections,
    pub response: Sections,
}

/// The lists of records of a message's sections.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sections {
    /// All questions but the first.
    pub questions: Option<u64>,
    /// Answer, authority, additional.
    pub records: [Option<u64>; 3],
}

/// A message that the collector could not read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Malformed {
    pub ticks: u64,
    pub client_address: Option<u64>,
    pub client_port: u16,
    pub data: Option<u64>,
}

/// What such a message held, and who got it.
#[derive(Clone, Debug, Default)]
pub struct MalformedData {
    pub server_address: Option<u64>,
    pub server_port: Option<u16>,
    pub transport: Option<u64>,
    pub octets: Box<[u8]>,
}

impl Block {
    /// Reads a block.
    pub fn read<R: Read>(cbor: &mut Cbor<R>) -> Result<Self, Fault> {
        let mut block = Self::default();
        cbor.map(|cbor, key| match key {
            0 => block.preamble(cbor),
            2 => block.tables(cbor),
            3 => cbor.array(|cbor| {
                let item = transaction(cbor)?;
                block.count(size_of::<Transaction>())?;
                block.transactions.push(item);
                Ok(())
            }),
            5 => cbor.array(|cbor| {
                let item = malformed(cbor)?;
                block.count(size_of::<Malformed>())?;
                block.malformed.push(item);
                Ok(())
            }),
            _ => cbor.skip(),
        })?;
        Ok(block)
    }

    /// Counts memory.
    fn count(&mut self, len: usize) -> Result<(), Fault> {
        self.len += len;
        match self.len <= MAX_BLOCK_LEN {
            true => Ok(()),
            false => Err(damaged("a block that takes more than 512 MiB")),
        }
    }

    fn preamble<R: Read>(&mut self, cbor: &mut Cbor<R>) -> Result<(), Fault> {
        cbor.map(|cbor, key| {
            match key {
                0 => {
                    let mut numbers = Vec::new();
                    cbor.array(|cbor| match numbers.len() {
                        ..2 => {
                            numbers.push(cbor.unsigned()?);
                            Ok(())
                        }
                        _ => Err(damaged("a time of more than two numbers")),
                    })?;
                    let [seconds, ticks] = numbers[..] else {
                        return Err(damaged("a time of fewer than two numbers"));
                    };
                    self.earliest = (i64::try_from(seconds).unwrap_or(i64::MAX), ticks);
                }
                1 => self.parameters = cbor.unsigned()?,
                _ => cbor.skip()?,
            }
            Ok(())
        })
    }

    fn tables<R: Read>(&mut self, cbor: &mut Cbor<R>) -> Result<(), Fault> {
        cbor.map(|cbor, key| match key {
            0 => self.each(cbor, |block| &mut block.addresses, octets),
            1 => self.each(cbor, |block| &mut block.class_types, class_type),
            2 => self.each(cbor, |block| &mut block.names, octets),
            3 => self.each(cbor, |block| &mut block.signatures, signature),
            4 => self.each(cbor, |block| &mut block.question_lists, indexes),
            5 => self.each(cbor, |block| &mut block.questions, record),
            6 => self.each(cbor, |block| &mut block.record_lists, indexes),
            7 => self.each(cbor, |block| &mut block.records, record),
            8 => self.each(cbor, |block| &mut block.malformed_data, malformed_data),
            _ => cbor.skip(),
        })
    }

    /// Reads an array into a table; `read` also gives the octets that an item takes beside itself.
    fn each<R: Read, T>(
        &mut self,
        cbor: &mut Cbor<R>,
        table: impl Fn(&mut Self) -> &mut Vec<T>,
        read: impl Fn(&mut Cbor<R>) -> Result<(T, usize), Fault>,
    ) -> Result<(), Fault> {
        cbor.array(|cbor| {
            let (item, len) = read(cbor)?;
            self.count(size_of::<T>() + len)?;
            table(self).push(item);
            Ok(())
        })
    }
}

fn octets<R: Read>(cbor: &mut Cbor<R>) -> Result<(Box<[u8]>, usize), Fault> {
    let octets: Box<[u8]> = cbor.string()?.into();
    let len = octets.len();
    Ok((octets, len))
}

fn indexes<R: Read>(cbor: &mut Cbor<R>) -> Result<(Box<[u64]>, usize), Fault> {
    let mut indexes = Vec::new();
    cbor.array(|cbor| {
        if indexes.len() > usize::from(u16::MAX) {
            return Err(damaged("a section of more records than a message may have"));
        }
        indexes.push(cbor.unsigned()?);
        Ok(())
    })?;
    let len = size_of_val(&indexes[..]);
    Ok((indexes.into(), len))
}

/// An unsigned number of at most 16 bits.
fn u16_of<R: Read>(cbor: &mut Cbor<R>) -> Result<u16, Fault> {
    let number = cbor.unsigned()?;
    number
        .try_into()
        .map_err(|_| damaged("a number above 65535 where a field of DNS should be"))
}

/// The size of a message. RFC 8618 sets no bound, and collectors may count what no message has: then it is not known.
fn size_of_message<R: Read>(cbor: &mut Cbor<R>) -> Result<Option<u16>, Fault> {
    Ok(cbor.unsigned()?.try_into().ok())
}

fn class_type<R: Read>(cbor: &mut Cbor<R>) -> Result<(ClassType, usize), Fault> {
    let mut made = ClassType::default();
    cbor.map(|cbor, key| {
        match key {
            0 => made.rtype = u16_of(cbor)?,
            1 => made.class = u16_of(cbor)?,
            _ => cbor.skip()?,
        }
        Ok(())
    })?;
    Ok((made, 0))
}

fn signature<R: Read>(cbor: &mut Cbor<R>) -> Result<(Signature, usize), Fault> {
    let mut made = Signature::default();
    cbor.map(|cbor, key| {
        match key {
            0 => made.server_address = Some(cbor.unsigned()?),
            1 => made.server_port = Some(u16_of(cbor)?),
            2 => made.transport = Some(cbor.unsigned()?),
            4 => made.flags = Some(cbor.unsigned()?),
            5 => made.opcode = cbor.unsigned()?,
            6 => made.dns_flags = cbor.unsigned()?,
            7 => made.query_rcode = cbor.unsigned()?,
            8 => made.class_type = Some(cbor.unsigned()?),
            13 => made.edns_version = cbor.unsigned()?,
            14 => made.udp_size = size_of_message(cbor)?,
            15 => made.opt_data = Some(cbor.unsigned()?),
            16 => made.response_rcode = cbor.unsigned()?,
            // Among them the counts, which follow from the sections.
            _ => cbor.skip()?,
        }
        Ok(())
    })?;
    Ok((made, 0))
}

fn record<R: Read>(cbor: &mut Cbor<R>) -> Result<(Record, usize), Fault> {
    let mut made = Record::default();
    cbor.map(|cbor, key| {
        match key {
            0 => made.name = cbor.unsigned()?,
            1 => made.class_type = cbor.unsigned()?,
            2 => made.ttl = cbor.unsigned()? as u32,
            3 => made.data = Some(cbor.unsigned()?),
            _ => cbor.skip()?,
        }
        Ok(())
    })?;
    Ok((made, 0))
}

fn malformed_data<R: Read>(cbor: &mut Cbor<R>) -> Result<(MalformedData, usize), Fault> {
    let mut made = MalformedData::default();
    cbor.map(|cbor, key| {
        match key {
            0 => made.server_address = Some(cbor.unsigned()?),
            1 => made.server_port = Some(u16_of(cbor)?),
            2 => made.transport = Some(cbor.unsigned()?),
            3 => made.octets = cbor.string()?.into(),
            _ => cbor.skip()?,
        }
        Ok(())
    })?;
    let len = made.octets.len();
    Ok((made, len))
}

fn transaction<R: Read>(cbor: &mut Cbor<R>) -> Result<Transaction, Fault> {
    let mut made = Transaction::default();
    cbor.map(|cbor, key| {
        match key {
            0 => made.ticks = cbor.unsigned()?,
            1 => made.client_address = Some(cbor.unsigned()?),
            2 => made.client_port = u16_of(cbor)?,
            3 => made.id = u16_of(cbor)?,
            4 => made.signature = Some(cbor.unsigned()?),
            6 => made.delay_ticks = cbor.integer()?,
            7 => made.name = Some(cbor.unsigned()?),
            8 => made.lens[0] = size_of_message(cbor)?,
            9 => made.lens[1] = size_of_message(cbor)?,
            11 => made.query = sections(cbor)?,
            12 => made.response = sections(cbor)?,
            _ => cbor.skip()?,
        }
        Ok(())
    })?;
    Ok(made)
}

fn sections<R: Read>(cbor: &mut Cbor<R>) -> Result<Sections, Fault> {
    let mut made = Sections::default();
    cbor.map(|cbor, key| {
        match key {
            0 => made.questions = Some(cbor.unsigned()?),
            1 => made.records[0] = Some(cbor.unsigned()?),
            2 => made.records[1] = Some(cbor.unsigned()?),
            3 => made.records[2] = Some(cbor.unsigned()?),
            _ => cbor.skip()?,
        }
        Ok(())
    })?;
    Ok(made)
}

fn malformed<R: Read>(cbor: &mut Cbor<R>) -> Result<Malformed, Fault> {
    let mut made = Malformed::default();
    cbor.map(|cbor, key| {
        match key {
            0 => made.ticks = cbor.unsigned()?,
            1 => made.client_address = Some(cbor.unsigned()?),
            2 => made.client_port = u16_of(cbor)?,
            3 => made.data = Some(cbor.unsigned()?),
            _ => cbor.skip()?,
        }
        Ok(())
    })?;
    Ok(made)
}
