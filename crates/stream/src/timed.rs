//! Queries with the times of a file, on the way to a timed stream.

use crate::halt::Halt;
use crate::stream::{MAX_QUERIES, QueryStream};
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::hash::Hash;

/// The longest message (RFC 1035 section 4.2.2).
const LONGEST_MESSAGE: usize = u16::MAX as usize;

/// The longest gap in a stream: a year.
const LONGEST_GAP_NS: u64 = 31_536_000_000_000_000;

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
    pub fn number(&mut self, client: Client) -> Result<u32, Halt> {
        self.0.try_reserve(1)?;
        let next = self.0.len() as u32;
        Ok(*self.0.entry(client).or_insert(next))
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
    /// Neighbours in the file whose times are further apart than [`LONGEST_GAP_NS`].
    jumps: Vec<Jump>,
}

/// Two queries, one after the other in a file, whose times are far apart.
#[derive(Clone, Copy, Debug)]
struct Jump {
    from_ns: i64,
    to_ns: i64,
    /// The packet or line of the second query, counted from 1.
    place: u64,
}

/// A gap in the times of a stream that is longer than a year, as a clock makes it that was set anew. No replay gets over
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockJump {
    /// The packet or line of the file at which times jump over the gap, counted from 1.
    pub place: u64,
    /// Whether its time is before that of the query before it in the file.
    pub is_backwards: bool,
    /// The gap's length in ns.
    pub gap_ns: u64,
}

/// What became of the times of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Times {
    /// The time of the first query, in ns on the file's own clock.
    pub start_ns: i64,
    /// Queries that stood after one with a later time, and were moved.
    pub out_of_order: u64,
    /// The first gap that is too long.
    pub clock_jump: Option<ClockJump>,
}

impl TimedQueries {
    /// Appends the query of the packet or line number `place`, whose message `compose` appends to the buffer that it gets, if
    /// memory and [`MAX_QUERIES`] permit.
    pub fn push(
        &mut self,
        time_ns: i64,
        client: u32,
        place: u64,
        compose: impl FnOnce(&mut Vec<u8>),
    ) -> Result<(), Halt> {
        if self.len() >= MAX_QUERIES {
            return Err(Halt::TooManyQueries);
        }
        self.octets.try_reserve(LONGEST_MESSAGE)?;
        self.ends.try_reserve(1)?;
        self.times_ns.try_reserve(1)?;
        self.clients.try_reserve(1)?;
        if let Some(&from_ns) = self.times_ns.last()
            && from_ns.abs_diff(time_ns) > LONGEST_GAP_NS
        {
            self.jumps.try_reserve(1)?;
            self.jumps.push(Jump {
                from_ns,
                to_ns: time_ns,
                place,
            });
        }
        compose(&mut self.octets);
        self.ends.push(self.octets.len() as u64);
        self.times_ns.push(time_ns);
        self.clients.push(client);
        if self.latest_ns.is_some_and(|latest| time_ns < latest) {
            self.late += 1;
        } else {
            self.latest_ns = Some(time_ns);
        }
        Ok(())
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
    pub fn finish(self) -> Result<(QueryStream, Times), Halt> {
        let out_of_order = self.late;
        let mut queries = self;
        let jumps = std::mem::take(&mut queries.jumps);
        let sorted = if out_of_order > 0 {
            queries.sorted()?
        } else {
            queries
        };
        // Without a jump in the file there is no gap in the sorted times.
        let clock_jump = match jumps.is_empty() {
            true => None,
            false => clock_jump(&sorted.times_ns, &jumps),
        };
        let start_ns = sorted.times_ns.first().copied().unwrap_or(0);
        // No time is before the first, so the difference is right as a u64 even where it overflows an i64.
        let times_ns = sorted
            .times_ns
            .into_iter()
            .map(|time_ns| time_ns.wrapping_sub(start_ns) as u64)
            .collect();
        let stream = QueryStream::from_parts(sorted.octets, sorted.ends, times_ns, sorted.clients);
        let times = Times {
            start_ns,
            out_of_order,
            clock_jump,
        };
        Ok((stream, times))
    }

    fn sorted(self) -> Result<Self, Halt> {
        let mut order: Vec<u32> = Vec::new();
        order.try_reserve_exact(self.len())?;
        order.extend(0..self.len() as u32);
        // A stable sort would take memory; the index makes this one stable.
        order.sort_unstable_by_key(|&index| (self.times_ns[index as usize], index));
        let mut sorted = Self::default();
        sorted
            .octets
            .try_reserve_exact(self.octets.len() + LONGEST_MESSAGE)?;
        sorted.ends.try_reserve_exact(self.len())?;
        sorted.times_ns.try_reserve_exact(self.len())?;
        sorted.clients.try_reserve_exact(self.len())?;
        let mut numbers = ClientNumbers::default();
        for index in order {
            let index = index as usize;
            let start = if index == 0 {
                0
            } else {
                self.ends[index - 1] as usize
            };
            let message = &self.octets[start..self.ends[index] as usize];
            let client = numbers.number(self.clients[index])?;
            let append = |octets: &mut Vec<u8>| octets.extend_from_slice(message);
            // Where it stood in the file is of no use any more.
            sorted.push(self.times_ns[index], client, 0, append)?;
        }
        Ok(sorted)
    }
}

/// The first gap in `sorted_ns` that is too long, with the first of the file's `jumps` that leads over it.
fn clock_jump(sorted_ns: &[i64], jumps: &[Jump]) -> Option<ClockJump> {
    let mut pairs = sorted_ns.windows(2).map(|pair| (pair[0], pair[1]));
    let (before_ns, after_ns) =
        pairs.find(|(before_ns, after_ns)| before_ns.abs_diff(*after_ns) > LONGEST_GAP_NS)?;
    let jump = jumps.iter().find(|jump| {
        jump.from_ns.min(jump.to_ns) <= before_ns && jump.from_ns.max(jump.to_ns) >= after_ns
    })?;
    Some(ClockJump {
        place: jump.place,
        is_backwards: jump.to_ns < jump.from_ns,
        gap_ns: before_ns.abs_diff(after_ns),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn clients_are_numbered_in_the_order_of_the_sorted_stream() {
        let mut queries = TimedQueries::default();
        for (time_ns, client, message) in [(5, 0, "a"), (3, 1, "b"), (5, 2, "c"), (4, 0, "d")] {
            queries
                .push(time_ns, client, 1, |octets| {
                    octets.extend_from_slice(message.as_bytes())
                })
                .unwrap();
        }
        let (stream, times) = queries.finish().unwrap();
        assert_eq!(
            times,
            Times {
                start_ns: 3,
                out_of_order: 2,
                clock_jump: None,
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

    fn jump_of(seconds: &[i64]) -> Option<ClockJump> {
        let mut queries = TimedQueries::default();
        for (time_s, place) in seconds.iter().zip(1..) {
            let time_ns = time_s * 1_000_000_000;
            queries
                .push(time_ns, 0, place, |octets| octets.push(1))
                .unwrap();
        }
        queries.finish().unwrap().1.clock_jump
    }

    #[test]
    fn a_gap_of_more_than_a_year_is_named_by_where_the_file_jumps_over_it() {
        const YEAR: i64 = 31_536_000;
        let jump = |place, is_backwards, gap_s: i64| {
            let gap_ns = gap_s as u64 * 1_000_000_000;
            Some(ClockJump {
                place,
                is_backwards,
                gap_ns,
            })
        };
        assert_eq!(jump_of(&[0, YEAR, 2 * YEAR]), None);
        assert_eq!(jump_of(&[0, YEAR + 1]), jump(2, false, YEAR + 1));
        assert_eq!(
            jump_of(&[4 * YEAR, 100, 101]),
            jump(2, true, 4 * YEAR - 101)
        );
        assert_eq!(jump_of(&[1, 2, 3 * YEAR, 3]), jump(3, false, 3 * YEAR - 3));
        // The file jumps, but others fill the gap.
        assert_eq!(jump_of(&[0, YEAR + 9, YEAR]), None);
        assert_eq!(
            jump_of(&[i64::MIN / 1_000_000_000, i64::MAX / 1_000_000_000])
                .unwrap()
                .place,
            2
        );
    }

    proptest! {
        #[test]
        fn a_finished_stream_is_what_pushing_makes(times in prop::collection::vec((any::<i64>(), 0..4_u8), 1..40)) {
            let (mut queries, mut numbers) = (TimedQueries::default(), ClientNumbers::default());
            for (index, &(time_ns, client)) in times.iter().enumerate() {
                queries.push(time_ns, numbers.number(client).unwrap(), index as u64, |octets| octets.push(index as u8)).unwrap();
            }
            let (stream, start) = queries.finish().unwrap();
            prop_assert_eq!(Some(start.start_ns), times.iter().map(|&(time_ns, _)| time_ns).min());
            let mut pushed = QueryStream::default();
            for index in 0..stream.len() {
                pushed.push_timed(stream.message(index), stream.time_ns(index).unwrap(), stream.client(index).unwrap()).unwrap();
            }
            prop_assert_eq!(pushed, stream);
        }
    }
}
