//! The table of queries in flight: preallocated slots, found by client and message ID in constant time.

use crate::LoadError;
use std::io;
use std::ops::Range;

/// Most slots one client may have: half the ID space, so that an ID names a slot and at least one bit tells the
/// slot's successive queries apart.
pub const MAX_SLOTS_PER_CLIENT: usize = 1 << 15;

const NONE: u32 = u32::MAX;

/// Names a slot of an [`InFlight`].
pub type SlotIndex = u32;

#[derive(Clone, Copy, Debug)]
struct Slot {
    sent_ns: u64,
    latency_from_ns: u64,
    client: u32,
    query: u32,
    /// Neighbours in the list of queries in flight, or `next` alone in the list of a client's free slots.
    next: u32,
    previous: u32,
    id: u16,
    /// The last ID of this slot whose query timed out, so that its answer is known when it comes late, and that query.
    timed_out_id: Option<u16>,
    timed_out_query: u32,
    in_flight: bool,
}

/// A client's slots: a power of two of them, one after the other.
#[derive(Clone, Copy, Debug)]
struct Client {
    first: u32,
    count: u32,
    /// The list of its free slots.
    free_head: u32,
    free_tail: u32,
    /// Slots in use.
    used: u32,
}

/// Slots of a client that is to have room for `places` queries.
fn slot_count(places: usize) -> usize {
    places.clamp(1, MAX_SLOTS_PER_CLIENT).next_power_of_two()
}

/// What is known of an ID that a client received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// It names a query in flight.
    InFlight(SlotIndex),
    /// It named a query that has timed out, with this index in the stream.
    TimedOut(SlotIndex, usize),
    /// It names nothing.
    Nothing,
}

/// A query that was in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Query {
    /// Its index in the stream.
    pub index: usize,
    /// The client that sent it.
    pub client: usize,
    /// Its message ID.
    pub id: u16,
    /// When it was sent.
    pub sent_ns: u64,
    /// When latency counts from.
    pub latency_from_ns: u64,
}

/// Queries in flight of one thread, over all its clients.
///
/// A client's slots are re-used in the order in which they became free, which keeps an ID out of use for as long as
/// possible. The list of queries in flight is in the order of sending, so the first one times out first.
#[derive(Debug)]
pub struct InFlight {
    slots: Vec<Slot>,
    clients: Vec<Client>,
    oldest: u32,
    newest: u32,
    len: usize,
}

impl InFlight {
    /// A table with room for at least so many queries of each client as `places` says, capped at
    /// [`MAX_SLOTS_PER_CLIENT`].
    ///
    /// # Errors
    /// [`LoadError::System`] with `advice` if there is not enough memory.
    pub fn try_new(
        places: impl ExactSizeIterator<Item = usize> + Clone,
        advice: &'static str,
    ) -> Result<Self, LoadError> {
        let counts = places.map(slot_count);
        let total: usize = counts.clone().sum();
        let mut slots = Vec::new();
        let mut clients = Vec::new();
        slots
            .try_reserve_exact(total)
            .and_then(|()| clients.try_reserve_exact(counts.len()))
            .map_err(|_| LoadError::System {
                action: format!("memory for {total} queries in flight"),
                source: io::ErrorKind::OutOfMemory.into(),
                advice,
            })?;
        for (client, count) in counts.enumerate() {
            let first = slots.len() as u32;
            clients.push(Client {
                first,
                count: count as u32,
                free_head: first,
                free_tail: first + count as u32 - 1,
                used: 0,
            });
            slots.extend((0..count as u32).map(|place| Slot {
                sent_ns: 0,
                latency_from_ns: 0,
                client: client as u32,
                query: 0,
                next: if place + 1 == count as u32 {
                    NONE
                } else {
                    first + place + 1
                },
                previous: NONE,
                id: place as u16,
                timed_out_id: None,
                timed_out_query: 0,
                in_flight: false,
            }));
        }
        Ok(Self {
            slots,
            clients,
            oldest: NONE,
            newest: NONE,
            len: 0,
        })
    }

    /// The same where there is memory enough.
    #[cfg(test)]
    pub fn new(places: impl IntoIterator<Item = usize>) -> Self {
        let places: Vec<usize> = places.into_iter().collect();
        Self::try_new(places.into_iter(), "").expect("memory")
    }

    /// The number of queries in flight.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// The number of queries of `client` in flight.
    pub fn len_of(&self, client: usize) -> usize {
        self.clients[client].used as usize
    }

    /// Whether no client can take another query.
    pub fn is_full(&self) -> bool {
        self.len == self.slots.len()
    }

    /// Whether `client` can take another query.
    pub fn has_room(&self, client: usize) -> bool {
        self.clients[client].free_head != NONE
    }

    /// Takes a slot of `client` for query number `query` of the stream, or `None` if it has no room.
    ///
    /// The query's ID is that of the slot; its times are set by [`Self::stamp`].
    pub fn take(&mut self, client: usize, query: usize) -> Option<(SlotIndex, u16)> {
        let of = &mut self.clients[client];
        let index = of.free_head;
        if index == NONE {
            return None;
        }
        of.free_head = self.slots[index as usize].next;
        if of.free_head == NONE {
            of.free_tail = NONE;
        }
        of.used += 1;
        let slot = &mut self.slots[index as usize];
        slot.id = slot.id.wrapping_add(of.count as u16);
        slot.timed_out_id = slot.timed_out_id.filter(|timed_out| *timed_out != slot.id);
        slot.query = query as u32;
        slot.in_flight = true;
        slot.previous = self.newest;
        slot.next = NONE;
        let id = slot.id;
        match self.newest {
            NONE => self.oldest = index,
            newest => self.slots[newest as usize].next = index,
        }
        self.newest = index;
        self.len += 1;
        Some((index, id))
    }

    /// Sets a query's times, if it is still the one that [`Self::take`] gave this slot and ID to. Says whether it is.
    pub fn stamp(&mut self, index: SlotIndex, id: u16, sent_ns: u64, latency_from_ns: u64) -> bool {
        let slot = &mut self.slots[index as usize];
        let same = slot.in_flight && slot.id == id;
        if same {
            slot.sent_ns = sent_ns;
            slot.latency_from_ns = latency_from_ns;
        }
        same
    }

    /// Looks up an ID received by `client`.
    pub fn find(&self, client: usize, id: u16) -> Found {
        let of = &self.clients[client];
        let index = of.first + (u32::from(id) & (of.count - 1));
        let slot = &self.slots[index as usize];
        if slot.in_flight && slot.id == id {
            Found::InFlight(index)
        } else if slot.timed_out_id == Some(id) {
            Found::TimedOut(index, slot.timed_out_query as usize)
        } else {
            Found::Nothing
        }
    }

    /// The client that a slot belongs to.
    pub fn client(&self, index: SlotIndex) -> usize {
        self.slots[index as usize].client as usize
    }

    /// The stream index of the query that a slot last held.
    pub fn query(&self, index: SlotIndex) -> usize {
        self.slots[index as usize].query as usize
    }

    /// When the query that a slot last held was sent.
    pub fn sent_ns(&self, index: SlotIndex) -> u64 {
        self.slots[index as usize].sent_ns
    }

    /// The query that was sent first of those in flight, and when.
    pub fn oldest(&self) -> Option<(SlotIndex, u64)> {
        (self.oldest != NONE).then(|| (self.oldest, self.slots[self.oldest as usize].sent_ns))
    }

    /// The slots of `client`.
    pub fn slots_of(&self, client: usize) -> Range<SlotIndex> {
        let of = &self.clients[client];
        of.first..of.first + of.count
    }

    /// Whether a slot holds a query in flight.
    pub fn is_used(&self, index: SlotIndex) -> bool {
        self.slots[index as usize].in_flight
    }

    /// Ends a query in flight and frees its slot.
    pub fn release(&mut self, index: SlotIndex) -> Query {
        let slot = &mut self.slots[index as usize];
        debug_assert!(slot.in_flight, "only a query in flight can end");
        slot.in_flight = false;
        let (next, previous) = (slot.next, slot.previous);
        slot.next = NONE;
        let query = Query {
            index: slot.query as usize,
            client: slot.client as usize,
            id: slot.id,
            sent_ns: slot.sent_ns,
            latency_from_ns: slot.latency_from_ns,
        };
        match previous {
            NONE => self.oldest = next,
            previous => self.slots[previous as usize].next = next,
        }
        match next {
            NONE => self.newest = previous,
            next => self.slots[next as usize].previous = previous,
        }
        let of = &mut self.clients[query.client];
        match of.free_tail {
            NONE => of.free_head = index,
            tail => self.slots[tail as usize].next = index,
        }
        of.free_tail = index;
        of.used -= 1;
        self.len -= 1;
        query
    }

    /// Ends a query in flight as timed out; its answer will be known as late.
    pub fn time_out(&mut self, index: SlotIndex) -> Query {
        let slot = &mut self.slots[index as usize];
        slot.timed_out_id = Some(slot.id);
        slot.timed_out_query = slot.query;
        self.release(index)
    }

    /// Forgets that the last timed-out query of a slot may still be answered: it has been.
    pub fn late_answer_came(&mut self, index: SlotIndex) {
        self.slots[index as usize].timed_out_id = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    #[test]
    fn want_of_memory_is_an_error() {
        // More than an address space holds, at 48 octets each.
        let places = (0..1 << 28).map(|_| MAX_SLOTS_PER_CLIENT);
        let error = InFlight::try_new(places, " (lower -q)").unwrap_err();
        assert_eq!(
            error.to_string(),
            "memory for 8796093022208 queries in flight: out of memory (lower -q)"
        );
    }

    #[test]
    fn late_answers_are_known_until_they_came() {
        let mut table = InFlight::new([1]);
        let (slot, first) = table.take(0, 3).unwrap();
        assert!(table.stamp(slot, first, 10, 10));
        assert_eq!(table.oldest(), Some((slot, 10)));
        table.time_out(slot);
        let (_, second) = table.take(0, 4).unwrap();
        assert_ne!(first, second);
        assert_eq!(table.find(0, first), Found::TimedOut(slot, 3));
        table.late_answer_came(slot);
        assert_eq!(table.find(0, first), Found::Nothing);
        assert_eq!(table.find(0, second), Found::InFlight(slot));
        assert!(!table.stamp(slot, first, 20, 20), "that query has ended");
    }

    #[test]
    fn a_full_table_of_the_largest_size_gives_distinct_ids() {
        let mut table = InFlight::new([MAX_SLOTS_PER_CLIENT]);
        let mut seen = vec![false; 65_536];
        for query in 0..MAX_SLOTS_PER_CLIENT {
            let (_, id) = table.take(0, query).unwrap();
            assert!(!std::mem::replace(&mut seen[usize::from(id)], true));
        }
        assert!(table.take(0, 0).is_none() && table.is_full() && !table.has_room(0));
    }

    proptest! {
        /// Against a plain model: a list in order of sending.
        #[test]
        fn behaves_as_an_ordered_map(steps in proptest::collection::vec((0u8..4, 0usize..3, any::<prop::sample::Index>()), 1..300)) {
            let mut table = InFlight::new([4, 1, 8]);
            let mut model: Vec<(usize, SlotIndex, u16, usize)> = Vec::new();
            for (number, (action, client, which)) in steps.into_iter().enumerate() {
                if action < 2 {
                    let taken = table.take(client, number);
                    let used = model.iter().filter(|entry| entry.0 == client).count();
                    prop_assert_eq!(taken.is_some(), used < [4, 1, 8][client]);
                    if let Some((slot, id)) = taken {
                        prop_assert!(table.stamp(slot, id, number as u64, number as u64));
                        model.push((client, slot, id, number));
                    }
                } else if !model.is_empty() {
                    let (client, slot, id, number) = model.remove(which.index(model.len()));
                    let query = if action == 2 { table.release(slot) } else { table.time_out(slot) };
                    prop_assert_eq!(query, Query { index: number, client, id, sent_ns: number as u64, latency_from_ns: number as u64 });
                }
                prop_assert_eq!(table.len(), model.len());
                prop_assert_eq!(table.oldest(), model.first().map(|entry| (entry.1, entry.3 as u64)));
                let mut per_client: HashMap<usize, usize> = HashMap::new();
                for &(client, slot, id, _) in &model {
                    prop_assert_eq!(table.find(client, id), Found::InFlight(slot));
                    *per_client.entry(client).or_default() += 1;
                }
                for client in 0..3 {
                    let used = table.slots_of(client).filter(|&slot| table.is_used(slot)).count();
                    prop_assert_eq!(used, table.len_of(client));
                    prop_assert_eq!(used, per_client.get(&client).copied().unwrap_or(0));
                }
            }
        }
    }
}
