//! Queries with the times of a file, on the way to a timed stream.

use crate::stream::QueryStream;
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::hash::Hash;

/// Gives clients numbers in the order of their first appearance.
#[derive(Debug)]
pub(crate) struct ClientNumbers<Client>(HashMap<Client, u32, RandomState>);

impl<Client> Default for ClientNumbers<Client> {
    fn default() -> Self {
        Self(HashMap::default())
    }
}

impl<Client: Eq + Hash> ClientNumbers<Client> {
    /// The number of `client`.
    pub fn number(&mut self, client: Client) -> u32 {
        let next = self.0.len() as u32;
        *self.0.entry(client).or_insert(next)
    }
}

/// Queries in the order of a file, with its times, which may go backwards.
#[derive(Debug, Default)]
pub(crate) struct TimedQueries {
    octets: Vec<u8>,
    ends: Vec<u64>,
    times_ns: Vec<i64>,
    clients: Vec<u32>,
    /// The latest time so far.
    latest_ns: Option<i64>,
    late: u64,
}

/// What became of the times of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Times {
    /// The time of the first query, in ns on the file's own clock.
    pub start_ns: i64,
    /// Queries that stood after one with a later time, and were moved.
    pub out_of_order: u64,
}

impl TimedQueries {
    /// Appends a query whose message `compose` appends to the buffer that it gets.
    pub fn push(&mut self, time_ns: i64, client: u32, compose: impl FnOnce(&mut Vec<u8>)) {
        compose(&mut self.octets);
        self.ends.push(self.octets.len() as u64);
        self.times_ns.push(time_ns);
        self.clients.push(client);
        if self.latest_ns.is_some_and(|latest| time_ns < latest) {
            self.late += 1;
        } else {
            self.latest_ns = Some(time_ns);
        }
    }

    /// The number of queries.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The time of the first query in the file's order.
    pub fn first_time_ns(&self) -> Option<i64> {
        self.times_ns.first().copied()
    }

    /// Makes a stream of the queries in the order of their times; those of the same time keep the file's order.
    pub fn finish(self) -> (QueryStream, Times) {
        let out_of_order = self.late;
        let sorted = if out_of_order > 0 {
            self.sorted()
        } else {
            self
        };
        let start_ns = sorted.times_ns.first().copied().unwrap_or(0);
        // No time is before the first, so the difference is right as a u64 even where it overflows an i64.
        let times_ns = sorted
            .times_ns
            .iter()
            .map(|&time_ns| time_ns.wrapping_sub(start_ns) as u64)
            .collect();
        let stream = QueryStream::from_parts(sorted.octets, sorted.ends, times_ns, sorted.clients);
        (
            stream,
            Times {
                start_ns,
                out_of_order,
            },
        )
    }

    fn sorted(self) -> Self {
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by_key(|&index| self.times_ns[index]);
        let mut sorted = Self::default();
        sorted.octets.reserve_exact(self.octets.len());
        sorted.ends.reserve_exact(self.len());
        sorted.times_ns.reserve_exact(self.len());
        sorted.clients.reserve_exact(self.len());
        let mut numbers = ClientNumbers::default();
        for index in order {
            let start = if index == 0 {
                0
            } else {
                self.ends[index - 1] as usize
            };
            let message = &self.octets[start..self.ends[index] as usize];
            let client = numbers.number(self.clients[index]);
            sorted.push(self.times_ns[index], client, |octets| {
                octets.extend_from_slice(message)
            });
        }
        sorted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn clients_are_numbered_in_the_order_of_the_sorted_stream() {
        let mut queries = TimedQueries::default();
        for (time_ns, client, message) in [(5, 0, "a"), (3, 1, "b"), (5, 2, "c"), (4, 0, "d")] {
            queries.push(time_ns, client, |octets| {
                octets.extend_from_slice(message.as_bytes())
            });
        }
        let (stream, times) = queries.finish();
        assert_eq!(
            times,
            Times {
                start_ns: 3,
                out_of_order: 2
            }
        );
        let read: Vec<_> = (0..4)
            .map(|index| {
                (
                    stream.time_ns(index).unwrap(),
                    stream.client(index).unwrap(),
                    stream.message(index),
                )
            })
            .collect();
        assert_eq!(
            read,
            [(0, 0, &b"b"[..]), (1, 1, b"d"), (2, 1, b"a"), (2, 2, b"c")]
        );
    }

    proptest! {
        #[test]
        fn a_finished_stream_is_what_pushing_makes(times in prop::collection::vec((any::<i64>(), 0..4_u8), 1..40)) {
            let (mut queries, mut numbers) = (TimedQueries::default(), ClientNumbers::default());
            for (index, &(time_ns, client)) in times.iter().enumerate() {
                queries.push(time_ns, numbers.number(client), |octets| octets.push(index as u8));
            }
            let (stream, start) = queries.finish();
            prop_assert_eq!(Some(start.start_ns), times.iter().map(|&(time_ns, _)| time_ns).min());
            let mut pushed = QueryStream::default();
            for index in 0..stream.len() {
                pushed.push_timed(stream.message(index), stream.time_ns(index).unwrap(), stream.client(index).unwrap()).unwrap();
            }
            prop_assert_eq!(pushed, stream);
        }
    }
}
