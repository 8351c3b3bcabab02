//! Queries of clients, in columns: when, by whom, for what. What a stream for other names is made of.

use crate::error::StreamError;
use crate::halt::Halt;
use crate::text::queries::Client;
use crate::timed::ClientNumbers;
use dnsrig_zone::NumberedTexts;
use domain::base::iana::Rtype;
use std::collections::TryReserveError;
use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Octets written by one system call.
const BLOCK_LEN: usize = 1 << 18;
/// Queries between two looks at the cancel flag.
const CANCEL_CHECK: usize = 1 << 16;
/// What names of addresses end in (RFC 1035 section 3.5, RFC 3596 section 2.5).
const ADDRESSES: &[u8] = b".arpa.";
/// Types for which a name is asked again, with another name in its place; of others the type goes with the name.
const KEPT_TYPES: [Rtype; 3] = [Rtype::A, Rtype::AAAA, Rtype::HTTPS];

/// What a query is beside its name: its type if that is kept, and its EDNS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// The EDNS size; 0 as well where there is no EDNS.
    edns_size: u16,
    /// The type's place in [`KEPT_TYPES`], counted from 1; 0: not kept.
    kept: u8,
    /// Bit 0: EDNS. Bit 1: DO.
    flags: u8,
}

impl Form {
    /// The form of a query of a type by its number, with EDNS of a size and the DO bit, or without.
    pub fn new(rtype: u16, edns_size: Option<u16>, do_bit: bool) -> Self {
        let place = KEPT_TYPES.iter().position(|kept| kept.to_int() == rtype);
        Self {
            edns_size: edns_size.unwrap_or(0),
            kept: place.map_or(0, |place| place as u8 + 1),
            flags: u8::from(edns_size.is_some()) | u8::from(do_bit) << 1,
        }
    }

    fn rtype(self) -> Option<Rtype> {
        let place = usize::from(self.kept).checked_sub(1)?;
        KEPT_TYPES.get(place).copied()
    }
}

impl fmt::Display for Form {
    /// The options of a line of a query file, each with a space after it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.flags & 1 != 0 {
            write!(f, "edns={} ", self.edns_size)?;
        }
        match self.flags & 2 {
            0 => Ok(()),
            _ => f.write_str("do=1 "),
        }
    }
}

/// A query as it is added.
#[derive(Clone, Copy, Debug)]
pub struct AskedQuery<'a> {
    /// When, in ns since some moment.
    pub time_ns: u64,
    /// By whom.
    pub client: Client,
    /// The name as written, letters as they are to be told apart.
    pub name: &'a [u8],
    /// Its type and EDNS.
    pub form: Form,
}

/// Queries in the order in which they were added, which is that of their times. A query takes 20 octets; a name about 14
/// beside its own, a client about 60.
#[derive(Debug, Default)]
pub struct AskedQueries {
    times_ns: Vec<u64>,
    clients: Vec<u32>,
    names: Vec<u32>,
    forms: Vec<Form>,
    client_numbers: ClientNumbers<Client>,
    client_list: Vec<Client>,
    name_numbers: NumberedTexts,
}

/// Which queries are written, and when the first of them would be asked.
#[derive(Clone, Debug)]
pub struct Part<'a> {
    /// Times in ns since the first query of all; the part's own times count from the beginning of this.
    pub span_ns: Range<u64>,
    /// Of each client whether its queries are in (not 0); `None`: all are.
    pub kept: Option<&'a [u8]>,
}

impl AskedQueries {
    /// Appends a query. A time before that of the query before it becomes that.
    ///
    /// # Errors
    /// [`StreamError::NoMemory`]; what was there stays.
    pub fn push(&mut self, query: &AskedQuery<'_>) -> Result<(), StreamError> {
        self.try_push(query)
            .map_err(|halt| halt.in_making(self.len() as u64 + 1, "make fewer"))
    }

    fn try_push(&mut self, query: &AskedQuery<'_>) -> Result<(), Halt> {
        self.reserve()?;
        let client = self.client_numbers.number(query.client)?;
        if client as usize == self.client_list.len() {
            self.client_list.push(query.client);
        }
        let (name, _) = self.name_numbers.number(query.name)?;
        let latest_ns = self.times_ns.last().copied().unwrap_or(0);
        self.times_ns.push(query.time_ns.max(latest_ns));
        self.clients.push(client);
        self.names.push(name);
        self.forms.push(query.form);
        Ok(())
    }

    fn reserve(&mut self) -> Result<(), TryReserveError> {
        self.times_ns.try_reserve(1)?;
        self.clients.try_reserve(1)?;
        self.names.try_reserve(1)?;
        self.forms.try_reserve(1)?;
        self.client_list.try_reserve(1)
    }

    /// Appends a query as a line of a query file has it: `name type [key=value ...]`, without time and client; options but
    /// `edns` and `do` are left out.
    ///
    /// # Errors
    /// [`StreamError::NoMemory`].
    pub fn push_line(
        &mut self,
        line: &str,
        time_ns: u64,
        client: Client,
    ) -> Result<(), StreamError> {
        let mut fields = line.split_ascii_whitespace();
        let name = fields.next().unwrap_or_default();
        let rtype: Option<Rtype> = fields.next().and_then(|text| text.parse().ok());
        let (mut edns_size, mut do_bit) = (None, false);
        for (key, value) in fields.filter_map(|field| field.split_once('=')) {
            match key {
                "edns" => edns_size = value.parse().ok(),
                "do" => do_bit = value == "1",
                _ => {}
            }
        }
        self.push(&AskedQuery {
            time_ns,
            client,
            name: name.as_bytes(),
            // What has no mnemonic is none of the types that are kept.
            form: Form::new(rtype.map_or(0, Rtype::to_int), edns_size, do_bit),
        })
    }

    /// The number of queries.
    pub fn len(&self) -> usize {
        self.times_ns.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.times_ns.is_empty()
    }

    /// How many clients ask. They are numbered in the order of their first queries.
    pub fn client_count(&self) -> usize {
        self.client_list.len()
    }

    /// How many different names are asked for. They are numbered in the order in which they are first asked for.
    pub fn name_count(&self) -> usize {
        self.name_numbers.texts().len()
    }

    /// Of each name, whether it is that of an address.
    pub fn are_addresses(&self) -> impl Iterator<Item = bool> {
        let texts = self.name_numbers.texts();
        (0..texts.len()).map(|number| {
            texts
                .get(number)
                .is_some_and(|name| name.ends_with(ADDRESSES))
        })
    }

    /// The time from the first query to the last, in ns.
    pub fn span_ns(&self) -> u64 {
        self.times_ns
            .last()
            .map_or(0, |last| last - self.first_ns())
    }

    /// How many queries come less than `end_ns` after the first.
    pub fn count_before(&self, end_ns: u64) -> usize {
        let first_ns = self.first_ns();
        self.times_ns
            .partition_point(|time_ns| time_ns - first_ns < end_ns)
    }

    fn first_ns(&self) -> u64 {
        self.times_ns.first().copied().unwrap_or(0)
    }

    /// Writes the queries of a part as a query file to `path`, with the name and the number of the type that `question` gives for a name's
    /// number in the name's place; gives how many there are. The file is made, or overwritten.
    ///
    /// # Errors
    /// Those of the system; of kind [`io::ErrorKind::Interrupted`] once `cancel` is set.
    pub fn write<'q>(
        &self,
        path: &Path,
        part: &Part<'_>,
        question: impl Fn(u32) -> (&'q [u8], u16),
        cancel: &AtomicBool,
    ) -> io::Result<u64> {
        let mut file = BufWriter::with_capacity(BLOCK_LEN, File::create(path)?);
        let (start, end) = (
            self.count_before(part.span_ns.start),
            self.count_before(part.span_ns.end),
        );
        let is_kept = |client: u32| match part.kept {
            Some(kept) => kept.get(client as usize).is_some_and(|kept| *kept != 0),
            None => true,
        };
        let first_ns = self.first_ns() + part.span_ns.start;
        let mut written = 0;
        for index in start..end {
            if index % CANCEL_CHECK == 0 && cancel.load(Ordering::Relaxed) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let client = self.clients[index];
            if !is_kept(client) {
                continue;
            }
            let form = self.forms[index];
            let (name, rtype) = question(self.names[index]);
            file.write_all(name)?;
            let since_ns = self.times_ns[index] - first_ns;
            writeln!(
                file,
                " {} {form}time={}.{:09} client={}",
                form.rtype().unwrap_or(Rtype::from_int(rtype)),
                since_ns / 1_000_000_000,
                since_ns % 1_000_000_000,
                self.client_list[client as usize],
            )?;
            written += 1;
        }
        file.flush()?;
        Ok(written)
    }
}

#[cfg(test)]
mod tests;
