//! pcap files.

use super::session::{Exchange, Session};
use super::{AbandonedSession, FileSink, Packets, Sink, Transaction, Written};
use crate::error::TrafficError;
use crate::message::Endpoint;
use crate::write::packet::push_udp;
use crate::write::{OutputFile, PcapWriter, link, push_record, write_error};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::PathBuf;

/// Octets that are written at a time.
const BLOCK_LEN: usize = 1 << 18;

/// A packet that is sent later than now: its time, its number in the order of making, and where it is.
type Later = Reverse<(i64, u64, u32)>;

/// Writes the packets of traffic in the order of their times. Those that are still to come are in memory: as many as there are
/// while an answer is under way.
pub(in super::super) struct PacketFile {
    path: PathBuf,
    file: PcapWriter<OutputFile>,
    packets: Packets,
    later: BinaryHeap<Later>,
    /// What `later` numbers, and numbers that are free.
    made: Vec<Vec<u8>>,
    free: Vec<u32>,
    number: u64,
    packet: Vec<u8>,
    block: Vec<u8>,
    block_packets: u64,
    written: Written,
}

impl PacketFile {
    /// Writes those of `packets` to `file`.
    pub fn new(file: OutputFile, packets: Packets) -> Self {
        Self {
            path: file.path().to_owned(),
            file: PcapWriter::with_link_type(file, link::RAW),
            packets,
            later: BinaryHeap::new(),
            made: Vec::new(),
            free: Vec::new(),
            number: 0,
            packet: Vec::with_capacity(2048),
            block: Vec::with_capacity(BLOCK_LEN + (1 << 12)),
            block_packets: 0,
            written: Written::default(),
        }
    }

    /// Writes everything that is sent before `time_ns`, and at that time.
    fn write_until(&mut self, time_ns: i64) -> Result<(), TrafficError> {
        while let Some(&Reverse((next_ns, _, place))) = self.later.peek() {
            if next_ns > time_ns {
                break;
            }
            self.later.pop();
            let packet = std::mem::take(&mut self.made[place as usize]);
            let written = self.write(next_ns, &packet);
            self.made[place as usize] = packet;
            self.free.push(place);
            written?;
        }
        Ok(())
    }

    fn write(&mut self, time_ns: i64, packet: &[u8]) -> Result<(), TrafficError> {
        push_record(time_ns, packet, packet.len() as u32, &mut self.block);
        self.block_packets += 1;
        match self.block.len() >= BLOCK_LEN {
            true => self.write_block(),
            false => Ok(()),
        }
    }

    fn write_block(&mut self) -> Result<(), TrafficError> {
        let records = self
            .file
            .records(link::RAW, &self.block, self.block_packets);
        records.map_err(|source| write_error(&self.path, source))?;
        self.written.items += self.block_packets;
        self.written.octets += self.block.len() as u64;
        self.block.clear();
        self.block_packets = 0;
        Ok(())
    }

    /// Keeps the packet that `make` appends to its buffer until `time_ns`.
    fn keep(&mut self, time_ns: i64, make: impl FnOnce(&mut Vec<u8>)) {
        let place = self.free.pop().unwrap_or_else(|| {
            self.made.push(Vec::with_capacity(512));
            (self.made.len() - 1) as u32
        });
        let packet = &mut self.made[place as usize];
        packet.clear();
        make(packet);
        self.later.push(Reverse((time_ns, self.number, place)));
        self.number += 1;
    }

    fn keep_session(&mut self, session: &Session<'_>) {
        session.segments(|segment| {
            let is_wanted = match segment.is_of_server {
                true => self.packets.has_answers(),
                false => self.packets.has_queries(),
            };
            if is_wanted {
                self.keep(segment.time_ns, |packet| session.push(segment, packet));
            }
        });
    }

    fn udp(&mut self, from: Endpoint, to: Endpoint, message: &[u8]) {
        self.packet.clear();
        if !push_udp(from, to, message, &mut self.packet) {
            self.written.left_out += 1;
        }
    }
}

impl Sink for PacketFile {
    fn wants_answers(&self) -> bool {
        self.packets.has_answers()
    }

    fn transaction(&mut self, transaction: &Transaction<'_>) -> Result<(), TrafficError> {
        let Transaction {
            time_ns,
            client,
            server,
            ..
        } = *transaction;
        self.write_until(time_ns)?;
        if transaction.is_tcp {
            let session = Session {
                time_ns,
                client,
                server,
                round_trip_ns: transaction.round_trip_ns,
                exchange: Some(Exchange {
                    query: transaction.query,
                    answer: transaction.answer,
                }),
            };
            self.keep_session(&session);
            return self.write_until(time_ns);
        }
        if self.packets.has_queries() {
            self.udp(client, server, transaction.query);
            let packet = std::mem::take(&mut self.packet);
            let written = self.write(time_ns, &packet);
            self.packet = packet;
            written?;
        }
        if let Some((answer, latency_ns)) =
            transaction.answer.filter(|_| self.packets.has_answers())
        {
            let answered_ns = time_ns.saturating_add_unsigned(latency_ns);
            self.keep(answered_ns, |packet| {
                push_udp(server, client, answer, packet);
            });
        }
        Ok(())
    }

    fn abandoned_session(&mut self, session: &AbandonedSession) -> Result<(), TrafficError> {
        self.write_until(session.time_ns)?;
        let session = Session {
            time_ns: session.time_ns,
            client: session.client,
            server: session.server,
            round_trip_ns: session.round_trip_ns,
            exchange: None,
        };
        self.keep_session(&session);
        Ok(())
    }
}

impl FileSink for PacketFile {
    fn finish(mut self: Box<Self>) -> Result<Written, TrafficError> {
        self.write_until(i64::MAX)?;
        self.write_block()?;
        let file = self.file.finish();
        file.map_err(|source| write_error(&self.path, source))?
            .finish()?;
        Ok(self.written)
    }
}
