//! Which queries of the stream one of several threads sends.

use crate::schedule::numbers_of;
use dnsrig_stream::QueryStream;
use std::sync::Arc;

/// A thread's queries, in order, of a stream that begins again at its end.
#[derive(Clone, Debug)]
pub enum Order {
    /// Every `threads`-th query, beginning with number `thread`.
    Every {
        /// The next one.
        index: usize,
        /// Number of this thread.
        thread: usize,
        /// Number of threads.
        threads: usize,
        /// Length of the stream.
        len: usize,
    },
    /// The queries of certain clients.
    Listed {
        /// Their indices in the stream.
        list: Arc<[u32]>,
        /// Place of the next one in `list`.
        place: usize,
        /// Length of the stream.
        len: usize,
    },
}

impl Order {
    /// For thread number `thread` of `threads`: every `threads`-th query of a stream of `len` queries.
    pub fn every(thread: usize, threads: usize, len: usize) -> Self {
        Self::Every {
            index: thread % len,
            thread,
            threads,
            len,
        }
    }

    /// For thread number `thread` of `threads`: the queries of every `threads`-th client of a timed stream.
    pub fn of_clients(thread: usize, threads: usize, stream: &QueryStream) -> Self {
        let is_own = |index: &u32| {
            let client = stream.client(*index as usize).unwrap_or(0);
            client as usize % threads == thread
        };
        Self::Listed {
            list: (0..stream.len() as u32).filter(is_own).collect(),
            place: 0,
            len: stream.len(),
        }
    }

    /// The index of the next query; `None` if there is not a single one.
    pub fn next(&self) -> Option<usize> {
        match self {
            Self::Every { index, .. } => Some(*index),
            Self::Listed { list, place, .. } => list.get(*place).map(|index| *index as usize),
        }
    }

    /// The numbers of all its queries in the cycled stream, which go on where the stream begins again; before it has moved.
    pub fn numbers(&self) -> Box<dyn Iterator<Item = u64> + Send> {
        match self {
            Self::Every {
                thread, threads, ..
            } => Box::new((*thread as u64..).step_by(*threads)),
            Self::Listed { list, len, .. } => Box::new(numbers_of(Arc::clone(list), *len)),
        }
    }

    /// Moves on to the query after.
    pub fn advance(&mut self) {
        match self {
            Self::Every {
                index,
                threads,
                len,
                ..
            } => {
                *index += *threads;
                if *index >= *len {
                    *index %= *len;
                }
            }
            Self::Listed { list, place, .. } => {
                *place += 1;
                if *place >= list.len() {
                    *place = 0;
                }
            }
        }
    }

    /// How many of the first `total` queries of the cycled stream it holds, before it has moved.
    pub fn share_of(&self, total: u64) -> u64 {
        match self {
            Self::Every {
                thread, threads, ..
            } => total
                .saturating_sub(*thread as u64)
                .div_ceil(*threads as u64),
            Self::Listed { list, len, .. } => {
                let (passes, rest) = (total / *len as u64, total % *len as u64);
                let of_rest = list.partition_point(|index| u64::from(*index) < rest);
                (passes * list.len() as u64).saturating_add(of_rest as u64)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn timed(clients: &[u32]) -> QueryStream {
        let mut stream = QueryStream::default();
        for (time_ns, client) in clients.iter().enumerate() {
            stream.push_timed(b"", time_ns as u64, *client).unwrap();
        }
        stream
    }

    #[test]
    fn orders_together_are_the_cycled_stream() {
        for (threads, len) in [(1, 1), (2, 3), (3, 2), (4, 10), (5, 1)] {
            let mut orders: Vec<Order> = (0..threads)
                .map(|thread| Order::every(thread, threads, len))
                .collect();
            for number in 0..40 {
                let order = &mut orders[number % threads];
                assert_eq!(order.next(), Some(number % len));
                order.advance();
            }
        }
    }

    #[test]
    fn a_client_belongs_to_one_thread() {
        let stream = timed(&[0, 1, 0, 2, 1, 2, 3]);
        let mut order = Order::of_clients(1, 2, &stream);
        for expected in [1, 4, 6, 1, 4, 6] {
            assert_eq!(order.next(), Some(expected));
            order.advance();
        }
        let mut nothing = Order::of_clients(7, 8, &stream);
        nothing.advance();
        assert_eq!(nothing.next(), None);
    }

    proptest! {
        #[test]
        fn shares_add_up(threads in 1usize..6, clients in proptest::collection::vec(0u32..4, 1..20), total in 0u64..100) {
            // Dense numbers in order of appearance.
            let mut seen: Vec<u32> = Vec::new();
            let dense: Vec<u32> = clients.iter().map(|client| {
                seen.iter().position(|known| known == client).unwrap_or_else(|| { seen.push(*client); seen.len() - 1 }) as u32
            }).collect();
            let stream = timed(&dense);
            let sum = |order: &dyn Fn(usize) -> Order| (0..threads).map(|thread| order(thread).share_of(total)).sum::<u64>();
            prop_assert_eq!(sum(&|thread| Order::every(thread, threads, stream.len())), total);
            prop_assert_eq!(sum(&|thread| Order::of_clients(thread, threads, &stream)), total);
        }
    }
}
