//! Outgoing zone transfers (AXFR, RFC 5936).

use crate::message::{Flags, MessageWriter, OPT_LEN, Owner, Section};
use crate::query::Query;
use crate::responder::{Responder, Scratch};
use domain::base::iana::OptRcode;

/// A zone transfer under way: the SOA record, all others, the SOA record again.
#[derive(Debug)]
pub struct Transfer {
    zone: usize,
    /// The request, whose question every message repeats.
    request: Box<[u8]>,
    query: Query,
    next: Next,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    FirstSoa,
    Record(u32),
    LastSoa,
    Nothing,
}

impl Transfer {
    pub(crate) fn new(zone: usize, request: &[u8], query: Query) -> Self {
        Self {
            zone,
            request: request.into(),
            query,
            next: Next::FirstSoa,
        }
    }

    /// Writes the next message to `out`, filling it with as many records as fit, and returns its length; `None` after the last.
    ///
    /// `responder` must be the one that returned this transfer, and `out` should hold 65,535 octets: a record that does not
    /// fit into an empty message ends the transfer.
    pub fn next_message(
        &mut self,
        responder: &Responder,
        scratch: &mut Scratch,
        out: &mut [u8],
    ) -> Option<usize> {
        let zone = responder.zone(self.zone);
        let soa = zone.index.span(zone.soa).records.clone();
        let records = zone.index.zone().records();
        let limit = out.len().saturating_sub(OPT_LEN);
        let mut writer =
            MessageWriter::new(out, limit, &self.request, &self.query, &mut scratch.known)?;
        let empty = writer.len();
        while self.next != Next::Nothing {
            let place = match self.next {
                Next::Record(place) if place as usize == records.len() => {
                    self.next = Next::LastSoa;
                    continue;
                }
                Next::Record(place) if soa.contains(&place) => {
                    self.next = Next::Record(place + 1);
                    continue;
                }
                Next::Record(place) => place,
                Next::FirstSoa | Next::LastSoa | Next::Nothing => soa.start,
            };
            let (record, _) = zone.record(place);
            let written = writer.put(
                zone,
                Section::Answer,
                Owner::Name(record.owner),
                [&(place..place + 1), &(0..0)],
                None,
            );
            if written.is_err() {
                break;
            }
            self.next = match self.next {
                Next::FirstSoa => Next::Record(0),
                Next::Record(place) => Next::Record(place + 1),
                Next::LastSoa | Next::Nothing => Next::Nothing,
            };
        }
        if writer.len() == empty {
            return None;
        }
        let flags = Flags {
            authoritative: true,
            truncated: false,
            rcode: OptRcode::NOERROR,
        };
        Some(writer.finish(&self.query, flags, responder.options().udp_payload))
    }
}
