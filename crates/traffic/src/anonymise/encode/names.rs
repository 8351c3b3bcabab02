//! Names of messages, compressed where they were.

use super::{Encoder, Fault, MessageLeftOut};
use crate::anonymise::names::Mapped;
use crate::anonymise::pieces::zeros;
use crate::wire::{NameBuffer, read_name, skip_name, whole_name_len};

/// A compression pointer reaches so many octets (RFC 1035 section 4.1.4).
const MAX_POINTER: usize = 0x3FFF;

/// Where labels were, and where they are now, in the order of both.
#[derive(Default)]
pub(super) struct Places(Vec<(u16, u16)>);

impl Places {
    /// Forgets all of them.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Forgets where labels are that were at `place` or after it.
    pub fn forget_from(&mut self, place: usize) {
        let kept = self
            .0
            .partition_point(|&(before, _)| usize::from(before) < place);
        self.0.truncate(kept);
    }

    /// Where what was at `place` stands now.
    fn of(&self, place: u16) -> Option<u16> {
        let found = self.0.binary_search_by_key(&place, |&(before, _)| before);
        found.ok().map(|index| self.0[index].1)
    }

    /// Appends `name`, which stands at `at` without pointers, and stays as it is.
    fn write_whole(&mut self, name: &[u8], at: usize, output: &mut Vec<u8>, start: usize) {
        let place = output.len() - start;
        output.extend_from_slice(name);
        let mut label = 0;
        while name[label] > 0 {
            if at + label <= MAX_POINTER && place + label <= MAX_POINTER {
                self.0.push(((at + label) as u16, (place + label) as u16));
            }
            label += 1 + usize::from(name[label]);
        }
    }

    /// Appends the labels `rest` for the name at `at`, one by one until the message points to others that stand in the output
    /// already. `inner` has a bit for each label that depends on those before it, and so is no other name's beginning.
    fn write(
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
                if let Some(place) = self.of(target).filter(|_| inner & 1 == 0) {
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
                self.0.push((at as u16, place as u16));
            }
            output.extend_from_slice(label);
            at += 1 + usize::from(message[at]);
            (rest, inner) = (after, inner >> 1);
        }
    }
}

impl Encoder<'_> {
    /// Appends the name at `at`; gives where it ends in the message.
    pub(super) fn name(
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
                && let Some(place) = self.places.of(target)
            {
                output.extend_from_slice(&(0xC000 | place).to_be_bytes());
                return Ok(at + 2);
            }
        }
        self.whole_name(message, at, output, start)
    }

    /// Appends a name that is more than a pointer to one before it.
    fn whole_name(
        &mut self,
        message: &[u8],
        at: usize,
        output: &mut Vec<u8>,
        start: usize,
    ) -> Result<usize, MessageLeftOut> {
        let Self {
            names,
            contents,
            name,
            mapped,
            places,
            ..
        } = self;
        // Most names are whole where they stand, as those of questions, and need no copy.
        let whole = whole_name_len(message, at).map(|len| &message[at..at + len]);
        let (name, end) = match whole {
            Some(whole) => (whole, at + whole.len()),
            None => {
                let end = read_name(message, at, name).map_err(|_| MessageLeftOut::Malformed)?;
                (name.as_slice(), end)
            }
        };
        match names.map(name, contents, mapped) {
            Mapped::Same if whole.is_some() => places.write_whole(name, at, output, start),
            Mapped::Same => places.write(message, at, name, 0, output, start),
            Mapped::Changed { inner } => {
                places.write(message, at, mapped, inner, output, start);
                self.counts.names += 1;
            }
            Mapped::TooLong => return Err(MessageLeftOut::TooLong),
        }
        Ok(end)
    }

    pub(super) fn name_in_data(
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

    /// Appends what stands for the uncompressed name that an option holds.
    pub(super) fn name_in_option(
        &mut self,
        data: &[u8],
        output: &mut Vec<u8>,
    ) -> Result<(), Fault> {
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
