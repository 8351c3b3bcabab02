//! What was found in the output, and the packet of the input that it comes from.

use crate::TrafficError;
use crate::anonymise::names::NamePolicy;
use crate::message::Message;
use crate::read::{Chunk, Datagrams, Decoded, Packet, PerChunk, Ports, Reading, decode, run};
use std::ops::ControlFlow;

/// Something that must not be in the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The packet's number in the output.
    pub packet: u64,
    /// When it was captured.
    pub time_ns: i64,
    /// From which port to which.
    pub ports: [u16; 2],
    /// The message's ID, if it is a datagram.
    pub id: Option<[u8; 2]>,
    /// What is where in it.
    pub what: String,
}

impl Finding {
    /// The error for it, with the packet of the input in `reading`, if that can be read again.
    pub fn error(self, reading: &Reading<'_>, policy: NamePolicy) -> TrafficError {
        let packet = match self.located(reading) {
            Some((file, number)) => {
                format!("{}: packet {number}", reading.files[file].display())
            }
            None => format!("packet {} of the output", self.packet),
        };
        TrafficError::NotAnonymous {
            packet,
            what: self.what,
            advice: match policy {
                NamePolicy::Keep => {
                    "readable names, and zones' data beside them, may hold addresses in forms that are not recognised: take pseudonyms for them (--names pseudonyms)"
                }
                NamePolicy::Pseudonyms => "please report this",
            },
        }
    }

    /// The file's number in the list, and the packet's number in the file: times, IDs and one port at least stay.
    fn located(&self, reading: &Reading<'_>) -> Option<(usize, u64)> {
        // A pipe has been read.
        if !reading.files.iter().all(|file| file.is_file()) {
            return None;
        }
        let reading = Reading {
            progress: &|_| (),
            ..*reading
        };
        let search = InputSearch {
            finding: self,
            ports: reading.ports,
        };
        let mut found = None;
        let outcome = run(&reading, &search, |part: Option<(usize, u64)>| {
            found = part;
            match found {
                None => ControlFlow::Continue(()),
                Some(_) => ControlFlow::Break(()),
            }
        });
        outcome.ok().and(found)
    }
}

struct InputSearch<'f> {
    finding: &'f Finding,
    ports: &'f Ports,
}

impl InputSearch<'_> {
    fn is_it(&self, packet: &Packet<'_>) -> bool {
        if packet.at.time_ns != self.finding.time_ns {
            return false;
        }
        match decode(packet, self.ports) {
            // A server's port may be another one, where an encrypted transport was carried over.
            Decoded::Message(message) => {
                let ports = [message.source.port, message.destination.port];
                let mut both = ports.iter().zip(&self.finding.ports);
                let id = self.finding.id;
                let has_id =
                    |message: &Message<'_>| id.is_none_or(|id| message.octets.starts_with(&id));
                both.any(|(before, after)| before == after)
                    && Datagrams::or_itself(message).any(|message| has_id(&message))
            }
            // A segment, or a fragment, which tells no ports.
            Decoded::InOrder => true,
            Decoded::LeftOut(_) => false,
        }
    }
}

impl PerChunk for InputSearch<'_> {
    type Worker = ();
    type Part = Option<(usize, u64)>;

    fn worker(&self) {}

    fn chunk(&self, (): &mut (), chunk: &Chunk<'_>) -> Self::Part {
        let mut packets = chunk.iter();
        let found = packets.find(|packet| self.is_it(packet))?;
        Some((found.at.file.into(), found.at.number))
    }
}
