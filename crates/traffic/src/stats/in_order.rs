//! What is done in the order of the capture: connections and fragments are put together, answers matched with queries.

use super::batch::BATCH;
use super::gathering::{Gathering, Part};
use super::matching::{Event, Matched, Matching};
use super::statistics::Answered;
use super::tally::Tally;
use crate::read::{Assembly, AssemblyCounts};

/// What is done in the order of the capture.
pub struct InOrder {
    assembly: Assembly,
    /// Messages of TCP and of fragments.
    tally: Tally,
    /// Those of them that are to be matched.
    events: Vec<Event>,
    matching: Matching,
    answered: Answered,
}

impl InOrder {
    /// Begins; what is put together is counted in `tally`.
    pub fn new(tally: Tally) -> Self {
        Self {
            assembly: Assembly::default(),
            tally,
            events: Vec::new(),
            matching: Matching::default(),
            answered: Answered::default(),
        }
    }

    /// Takes the part of the next chunk.
    pub fn part(&mut self, gathering: &Gathering<'_>, part: &Part) {
        let mut matched = 0;
        for (packet, events_before) in part.packets.chunk().iter().zip(&part.events_before) {
            self.match_all(&part.events[matched..*events_before]);
            matched = *events_before;
            let (tally, events) = (&mut self.tally, &mut self.events);
            self.assembly
                .packet(&packet, gathering.ports, &mut |message| {
                    gathering.assembled(tally, events, &message);
                });
            self.match_assembled();
        }
        self.match_all(&part.events[matched..]);
    }

    fn match_assembled(&mut self) {
        let events = std::mem::take(&mut self.events);
        self.match_all(&events);
        self.events = events;
        self.events.clear();
    }

    fn match_all(&mut self, events: &[Event]) {
        for (place, event) in events.iter().enumerate() {
            if let Some(later) = events.get(place + BATCH) {
                self.matching.prefetch(later);
            }
            if !event.has(Event::ANSWER) {
                self.matching.query(event);
            } else if let Some(matched) = self.matching.answer(event) {
                self.answered.add(event, &matched);
            } else {
                self.answered.unmatched += 1;
            }
        }
    }

    /// Ends all connections; gives what was counted.
    pub fn finish(mut self, gathering: &Gathering<'_>) -> (Tally, Answered, AssemblyCounts) {
        let assembly = std::mem::take(&mut self.assembly);
        let (tally, events) = (&mut self.tally, &mut self.events);
        let counts = assembly.finish(&mut |message| {
            gathering.assembled(tally, events, &message);
        });
        self.match_assembled();
        self.answered.given_up = self.matching.given_up();
        (self.tally, self.answered, counts)
    }
}

impl Answered {
    #[inline]
    fn add(&mut self, answer: &Event, matched: &Matched) {
        self.queries += 1;
        self.latency_ns.add(matched.latency_ns);
        if answer.bits & Event::RCODE == 0 {
            return;
        }
        // As its query is counted, whatever the answer repeats of it.
        self.failed += 1;
        self.failed_rd += u64::from(matched.recursion_desired);
        if let Some((qclass, qtype)) = matched.question {
            self.failed_types.add(qclass, qtype);
        }
    }
}
