//! The files that a pass writes.

use super::{Clock, Counted, Select, Selection};
use crate::error::TrafficError;
use crate::message::{Message, Transport};
use crate::read::{Datagrams, Decoded, Packet, decode};
use crate::write::{NoPacket, OutputFile, PACKET_HEADER_LEN, PcapWriter, set_time, write_error};
use std::io;
use std::path::PathBuf;

/// The files that are written.
pub struct Output<'w, 'c, S: Select> {
    pub selection: &'w Selection<'w, S>,
    pub writers: Vec<PcapWriter<OutputFile>>,
    pub paths: &'w [PathBuf],
    pub counted: Counted<S::Tally>,
    pub not_written: u64,
    pub not_written_time: u64,
    pub clock: Option<Clock<'c>>,
    pub error: Option<TrafficError>,
}

impl<S: Select> Output<'_, '_, S> {
    /// Writes packets as they were.
    pub fn records(&mut self, place: usize, link_type: u16, packets: u64, records: &mut [u8]) {
        if let Some(clock) = &mut self.clock
            && let Err(error) = set_times(records, clock)
        {
            self.error.get_or_insert(error);
            return;
        }
        let written = self.writers[place].records(link_type, records, packets);
        self.note(place, written);
    }

    /// Writes the TCP segment in `packet`, if segments stay as they are.
    pub fn segment(&mut self, packet: &Packet<'_>) {
        let selection = self.selection;
        if !selection.select.keeps_segments() {
            return;
        }
        if let Some(place) = selection.segment_place(packet) {
            self.packet(place, packet);
        }
    }

    /// Writes one packet as it was.
    pub fn packet(&mut self, place: usize, packet: &Packet<'_>) {
        let Some(time_ns) = self.time_ns(packet.at.time_ns) else {
            return;
        };
        let (link_type, len) = (packet.at.link_type, packet.at.original_len);
        let written = self.writers[place].packet(time_ns, link_type, packet.octets, len);
        self.note_one(place, written);
    }

    /// Takes the messages out of a packet that holds several UDP datagrams.
    pub fn merged(&mut self, packet: &Packet<'_>) {
        if let Decoded::Message(message) = decode(packet, self.selection.ports) {
            for message in Datagrams::of(&message).into_iter().flatten() {
                self.assembled(message);
            }
        }
    }

    /// Takes a message out of TCP, out of fragments, or of one datagram of several.
    pub fn assembled(&mut self, message: Message<'_>) {
        let selection = self.selection;
        let is_written = message.transport == Transport::Tcp && selection.select.keeps_segments();
        let place = selection.place(&mut self.counted, &message);
        if let Some(place) = place.filter(|_| !is_written) {
            self.message(place, message);
        }
    }

    /// Writes a message of a format without packets.
    pub fn bare(&mut self, place: usize, packet: &Packet<'_>) {
        if let Decoded::Message(message) = decode(packet, self.selection.ports) {
            self.message(place, message);
        }
    }

    fn message(&mut self, place: usize, message: Message<'_>) {
        let Some(time_ns) = self.time_ns(message.time_ns) else {
            return;
        };
        let written = self.writers[place].message(&Message { time_ns, ..message });
        self.note_one(place, written);
    }

    /// When what was captured at `time_ns` is said to be; `None` if there is no such time, which is noted.
    fn time_ns(&mut self, time_ns: i64) -> Option<i64> {
        let Some(clock) = &mut self.clock else {
            return Some(time_ns);
        };
        let said = clock(time_ns).map_err(|error| {
            self.error.get_or_insert(error);
        });
        said.ok()
    }

    fn note_one(&mut self, place: usize, written: io::Result<Option<NoPacket>>) {
        if let Ok(Some(NoPacket::Time)) = written {
            self.not_written_time += 1;
            return;
        }
        self.note(place, written.map(|left_out| u64::from(left_out.is_some())));
    }

    fn note(&mut self, place: usize, written: io::Result<u64>) {
        match written {
            Ok(left_out) => self.not_written += left_out,
            Err(source) => {
                let error = write_error(&self.paths[place], source);
                self.error.get_or_insert(error);
            }
        }
    }

    /// Ends all files, and gives them their names together.
    pub fn finish(self) -> Result<S::Tally, TrafficError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let mut files = Vec::new();
        for (writer, path) in self.writers.into_iter().zip(self.paths) {
            let file = writer.finish();
            files.push(file.map_err(|source| write_error(path, source))?);
        }
        files.into_iter().try_for_each(OutputFile::finish)?;
        Ok(self.counted.tally)
    }
}

/// Sets the times of packets with headers of pcap to what `clock` says.
fn set_times(records: &mut [u8], clock: &mut Clock<'_>) -> Result<(), TrafficError> {
    let mut at = 0;
    while let Some(header) = records.get_mut(at..at + PACKET_HEADER_LEN) {
        let field = |header: &[u8], at: usize| {
            u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
        };
        let len = field(header, 8) as usize;
        let time_ns = i64::from(field(header, 0)) * 1_000_000_000 + i64::from(field(header, 4));
        set_time(clock(time_ns)?, header);
        at += PACKET_HEADER_LEN + len;
    }
    Ok(())
}
