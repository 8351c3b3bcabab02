//! A query stream in memory: wire messages, one after the other in one buffer, with time and client if they are known.

use crate::error::StreamError;
use crate::halt::Halt;

/// The most queries of a stream that is read or generated. Every one of them takes memory, and input may be endless.
pub const MAX_QUERIES: usize = if cfg!(test) { 50_000 } else { 100_000_000 };

/// An ordered set of DNS queries in wire format.
///
/// Messages are stored back to back without a length prefix; their ID is zero, for the sender to fill in. A stream is
/// *timed* or it is not: in a timed stream every query has a time and a client. Beside its message a query takes 8
/// octets, and 12 more in a timed stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueryStream {
    octets: Vec<u8>,
    /// Where each message ends in `octets`.
    ends: Vec<u64>,
    /// When each query was sent, in ns since the first one; never decreasing. Empty unless the stream is timed.
    times_ns: Vec<u64>,
    /// The client of each query. Empty unless the stream is timed.
    clients: Vec<u32>,
    client_count: u32,
    /// The line of the longest message in the file that the stream was read from.
    longest_line: Option<u64>,
}

/// The longest message of a stream; of several, the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongestMessage {
    /// Its place in the stream, counted from 0.
    pub index: usize,
    /// Its length.
    pub octets: usize,
    /// The line of the query file that it, or another one as long, is from, counted from 1; `None` where there is no such
    /// file.
    pub line: Option<u64>,
}

impl QueryStream {
    /// Appends one message to a stream without times.
    ///
    /// # Panics
    /// If the stream is timed: a query without time has no place in it.
    pub fn push(&mut self, message: &[u8]) {
        assert!(!self.is_timed(), "a timed stream takes timed queries only");
        self.append(message);
    }

    /// Appends one message to a stream without times, as far as memory and [`MAX_QUERIES`] permit; else the stream is as
    /// before.
    pub(crate) fn try_push(&mut self, message: &[u8]) -> Result<(), Halt> {
        if self.len() >= MAX_QUERIES {
            return Err(Halt::TooManyQueries);
        }
        self.octets.try_reserve(message.len())?;
        self.ends.try_reserve(1)?;
        self.push(message);
        Ok(())
    }

    /// Appends one message with its time and its client to a timed stream, or to an empty one, which becomes timed.
    ///
    /// `time_ns` counts from the first query, whose time is 0, and never decreases. `client` is a number below
    /// [`Self::client_count`], or that count itself for a client that has not been seen.
    ///
    /// # Errors
    /// [`StreamError::Timing`] when the query does not continue the stream so; then the stream is as before.
    pub fn push_timed(
        &mut self,
        message: &[u8],
        time_ns: u64,
        client: u32,
    ) -> Result<(), StreamError> {
        let query = self.len();
        let why = match self.times_ns.last() {
            None if query > 0 => Some("it has a time, and the queries before it have none"),
            None if time_ns > 0 => Some("the first query's time is not 0"),
            Some(&last) if time_ns < last => Some("its time is before that of the query before it"),
            _ if client > self.client_count => Some("its client number leaves out numbers"),
            _ if client == u32::MAX => Some("it has one client too many"),
            _ => None,
        };
        if let Some(why) = why {
            return Err(StreamError::Timing { query, why });
        }
        self.append(message);
        self.times_ns.push(time_ns);
        self.clients.push(client);
        self.client_count = self.client_count.max(client + 1);
        Ok(())
    }

    /// Makes a timed stream of its parts, which must be as [`Self::push_timed`] would have made them.
    pub(crate) fn from_parts(
        octets: Vec<u8>,
        ends: Vec<u64>,
        times_ns: Vec<u64>,
        clients: Vec<u32>,
    ) -> Self {
        debug_assert!(times_ns.is_sorted() && times_ns.first().is_none_or(|&first| first == 0));
        debug_assert!(ends.len() == times_ns.len() && ends.len() == clients.len());
        let client_count = clients.iter().max().map_or(0, |&last| last + 1);
        Self {
            octets,
            ends,
            times_ns,
            clients,
            client_count,
            longest_line: None,
        }
    }

    /// Leaves at most `most` clients (at least 1): what further ones ask is asked by the others, in turn.
    pub fn share_clients(&mut self, most: u32) {
        let most = most.max(1);
        if self.client_count > most {
            self.clients.iter_mut().for_each(|client| *client %= most);
            self.client_count = most;
        }
    }

    /// Notes which line of a file the longest message is from.
    pub(crate) fn set_longest_line(&mut self, line: Option<u64>) {
        self.longest_line = line;
    }

    /// The longest message, which says what transports can carry the stream; `None` if the stream is empty.
    pub fn longest_message(&self) -> Option<LongestMessage> {
        let starts = std::iter::once(&0).chain(&self.ends);
        let lens = self.ends.iter().zip(starts).map(|(end, start)| end - start);
        let (index, octets) = lens
            .enumerate()
            .reduce(|longest, other| if other.1 > longest.1 { other } else { longest })?;
        Some(LongestMessage {
            index,
            octets: octets as usize,
            line: self.longest_line,
        })
    }

    fn append(&mut self, message: &[u8]) {
        self.octets.extend_from_slice(message);
        self.ends.push(self.octets.len() as u64);
    }

    /// The number of messages.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether the stream holds no message.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Whether every query has a time and a client. An empty stream is not timed.
    pub fn is_timed(&self) -> bool {
        !self.times_ns.is_empty()
    }

    /// When the query at `index` was sent, in ns since the first one; `None` in a stream without times, and beyond its end.
    pub fn time_ns(&self, index: usize) -> Option<u64> {
        self.times_ns.get(index).copied()
    }

    /// The client of the query at `index`; `None` in a stream without times, and beyond its end.
    ///
    /// Clients are numbered from 0 in the order of their first query, without gaps.
    pub fn client(&self, index: usize) -> Option<u32> {
        self.clients.get(index).copied()
    }

    /// How many clients a timed stream has; 0 in a stream without times.
    pub fn client_count(&self) -> u32 {
        self.client_count
    }

    /// The time from the first query to the last in ns; 0 in a stream without times.
    pub fn span_ns(&self) -> u64 {
        self.times_ns.last().copied().unwrap_or(0)
    }

    /// The message at `index`, counted from zero.
    ///
    /// # Panics
    /// If `index` is not below [`Self::len`].
    pub fn message(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.octets[start as usize..self.ends[index] as usize]
    }

    /// All messages in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|index| self.message(index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(stream: &mut QueryStream, time_ns: u64, client: u32) -> String {
        let before = stream.clone();
        let error = stream.push_timed(b"q", time_ns, client).unwrap_err();
        assert_eq!(*stream, before);
        error.to_string()
    }

    #[test]
    fn times_and_clients_are_kept_beside_the_messages() {
        let mut stream = QueryStream::default();
        for (message, time_ns, client) in [("a", 0, 0), ("bb", 5, 1), ("", 5, 0), ("c", 9, 2)] {
            stream
                .push_timed(message.as_bytes(), time_ns, client)
                .unwrap();
        }
        assert!(stream.is_timed());
        assert_eq!(
            (stream.len(), stream.client_count(), stream.span_ns()),
            (4, 3, 9)
        );
        assert_eq!((stream.time_ns(1), stream.client(1)), (Some(5), Some(1)));
        assert_eq!((stream.time_ns(4), stream.client(4)), (None, None));
        assert_eq!(
            stream.iter().collect::<Vec<_>>(),
            [&b"a"[..], b"bb", b"", b"c"]
        );
    }

    #[test]
    fn clients_that_are_too_many_share_with_others() {
        let mut stream = QueryStream::default();
        for (time_ns, client) in [0, 1, 2, 3, 1, 4].into_iter().enumerate() {
            stream.push_timed(b"q", time_ns as u64, client).unwrap();
        }
        let clients = |stream: &QueryStream| -> Vec<_> {
            (0..6).map(|index| stream.client(index).unwrap()).collect()
        };
        let before = stream.clone();
        stream.share_clients(5);
        assert_eq!(stream, before);
        stream.share_clients(2);
        assert_eq!(clients(&stream), [0, 1, 0, 1, 1, 0]);
        assert_eq!(stream.client_count(), 2);
        stream.share_clients(0);
        assert_eq!((clients(&stream), stream.client_count()), (vec![0; 6], 1));
        let mut plain = QueryStream::default();
        plain.push(b"q");
        plain.share_clients(1);
        assert!(!plain.is_timed());
    }

    #[test]
    fn a_stream_without_times_has_none() {
        let mut stream = QueryStream::default();
        stream.push(b"a");
        assert!(!stream.is_timed());
        assert_eq!((stream.time_ns(0), stream.client(0)), (None, None));
        assert_eq!((stream.client_count(), stream.span_ns()), (0, 0));
        assert!(refused(&mut stream, 0, 0).contains("have none"));
    }

    #[test]
    fn the_longest_message_is_the_first_of_that_length() {
        let mut stream = QueryStream::default();
        assert_eq!(stream.longest_message(), None);
        for message in ["a", "ccc", "bb", "ddd"] {
            stream.push(message.as_bytes());
        }
        let expected = LongestMessage {
            index: 1,
            octets: 3,
            line: None,
        };
        assert_eq!(stream.longest_message(), Some(expected));
    }

    #[test]
    fn what_does_not_continue_a_timed_stream_is_refused() {
        let mut stream = QueryStream::default();
        assert!(refused(&mut stream, 1, 0).contains("not 0"));
        assert!(refused(&mut stream, 0, 1).contains("leaves out"));
        stream.push_timed(b"a", 0, 0).unwrap();
        stream.push_timed(b"b", 7, 1).unwrap();
        assert!(refused(&mut stream, 6, 0).contains("before"));
        assert!(refused(&mut stream, 7, 3).contains("leaves out"));
    }

    #[test]
    #[should_panic(expected = "timed")]
    fn a_query_without_time_has_no_place_in_a_timed_stream() {
        let mut stream = QueryStream::default();
        stream.push_timed(b"a", 0, 0).unwrap();
        stream.push(b"b");
    }
}
