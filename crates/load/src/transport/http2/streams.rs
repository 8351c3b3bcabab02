//! The streams of one connection: each carries one query.

use std::collections::VecDeque;

/// What the answer's header fields said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// They have not come.
    Awaited,
    /// Status 200, and the content is a DNS message.
    DnsMessage,
    /// Status 200, and the content is something else.
    Other,
    /// This status, other than 200.
    Refused(u16),
}

/// A query's stream. The client has ended its side, or is still uploading.
#[derive(Debug)]
pub struct Stream {
    /// ID of the query.
    pub query: u16,
    /// Whether it has not ended.
    is_open: bool,
    /// What the answer is.
    pub content: Content,
    /// What `content-length` said.
    pub announced: Option<u32>,
    /// Octets of content that have come.
    pub received: usize,
    /// Those of them that are of a DNS message whose rest has not come.
    pub message: Vec<u8>,
}

/// What is known of a stream identifier.
pub enum Found<'s> {
    /// No query has been sent with it.
    Idle,
    /// Its stream has ended, or the client has given it up.
    Ended,
    /// Its stream is open.
    Open(&'s mut Stream),
}

/// The streams that are open, found by identifier and by query ID in constant time.
///
/// Identifiers are given out in order: 1, 3, 5 and so on. The streams from the first open one to the last are kept in a
/// ring, those among them that have ended too. It stays short, since every query ends by its time-out at the latest.
#[derive(Debug)]
pub struct Streams {
    ring: VecDeque<Stream>,
    /// Identifier of the ring's first stream, or of the next one if there is none.
    first: u32,
    open: usize,
    /// By the lower bits of a query ID: identifier of its stream, or one that has ended. Grows until the IDs of open
    /// streams differ in these bits.
    by_query: Vec<u32>,
}

/// First length of `Streams::by_query`.
const FIRST_LEN: usize = 16;

impl Default for Streams {
    fn default() -> Self {
        Self::starting_at(1)
    }
}

impl Streams {
    /// No streams; the first one will have the odd identifier `first`.
    pub fn starting_at(first: u32) -> Self {
        Self {
            ring: VecDeque::new(),
            first,
            open: 0,
            by_query: Vec::new(),
        }
    }

    /// The number of open streams.
    pub fn open_count(&self) -> usize {
        self.open
    }

    /// The identifier of the next stream; `None` if they have run out (RFC 9113 section 5.1.1).
    pub fn next(&self) -> Option<u32> {
        let next = u64::from(self.first) + 2 * self.ring.len() as u64;
        u32::try_from(next).ok().filter(|next| next >> 31 == 0)
    }

    /// Opens a stream for a query and gives its identifier, if there is one left.
    pub fn open(&mut self, query: u16) -> Option<u32> {
        let id = self.next()?;
        self.link(query, id);
        self.ring.push_back(Stream {
            query,
            is_open: true,
            content: Content::Awaited,
            announced: None,
            received: 0,
            message: Vec::new(),
        });
        self.open += 1;
        Some(id)
    }

    /// Notes the stream of a query, which is not in the ring yet.
    fn link(&mut self, query: u16, id: u32) {
        loop {
            if let Some(place) = place(&self.by_query, query) {
                let other = self.by_query[place];
                match self.place_in_ring(other).map(|at| &self.ring[at]) {
                    Some(stream) if stream.is_open && stream.query != query => {}
                    _ => {
                        self.by_query[place] = id;
                        return;
                    }
                }
            }
            self.grow();
        }
    }

    /// Doubles `by_query`. Open streams that had places of their own still have them.
    fn grow(&mut self) {
        let len = (2 * self.by_query.len()).max(FIRST_LEN);
        self.by_query.clear();
        self.by_query.resize(len, 0);
        for (at, stream) in self.ring.iter().enumerate() {
            let Some(place) = place(&self.by_query, stream.query) else {
                continue;
            };
            if stream.is_open {
                self.by_query[place] = self.first + 2 * at as u32;
            }
        }
    }

    fn place_in_ring(&self, id: u32) -> Option<usize> {
        let past_first = id.checked_sub(self.first)?;
        let at = (past_first / 2) as usize;
        (past_first % 2 == 0 && at < self.ring.len()).then_some(at)
    }

    /// What is known of an identifier that the server named.
    pub fn find(&mut self, id: u32) -> Found<'_> {
        if id.is_multiple_of(2) || self.next().is_some_and(|next| id >= next) {
            return Found::Idle;
        }
        match self.place_in_ring(id) {
            Some(at) if self.ring[at].is_open => Found::Open(&mut self.ring[at]),
            _ => Found::Ended,
        }
    }

    /// The identifier of the open stream of a query.
    pub fn of_query(&self, query: u16) -> Option<u32> {
        let id = self.by_query[place(&self.by_query, query)?];
        let stream = &self.ring[self.place_in_ring(id)?];
        (stream.is_open && stream.query == query).then_some(id)
    }

    /// Ends an open stream and gives what was received of its message, or `None` if it is not open.
    pub fn end(&mut self, id: u32) -> Option<Vec<u8>> {
        let at = self.place_in_ring(id)?;
        let stream = &mut self.ring[at];
        if !stream.is_open {
            return None;
        }
        stream.is_open = false;
        let message = std::mem::take(&mut stream.message);
        self.open -= 1;
        self.drop_ended();
        Some(message)
    }

    /// Ends the open streams whose identifiers are above `id`, and gives each one's identifier and query to `each`.
    pub fn end_above(&mut self, id: u32, mut each: impl FnMut(u32, u16)) {
        for at in 0..self.ring.len() {
            let (this, query) = (self.first + 2 * at as u32, self.ring[at].query);
            if this > id && self.ring[at].is_open {
                self.ring[at].is_open = false;
                self.open -= 1;
                each(this, query);
            }
        }
        self.drop_ended();
    }

    fn drop_ended(&mut self) {
        while self.ring.front().is_some_and(|stream| !stream.is_open) {
            self.ring.pop_front();
            self.first += 2;
        }
    }

    /// Lets go of memory, unless streams are open.
    pub fn release(&mut self) {
        if self.open == 0 {
            self.ring = VecDeque::new();
            self.by_query = Vec::new();
        }
    }

    /// Whether part of an answer has come, but not all of it.
    pub fn any_inside_answer(&self) -> bool {
        let mut open = self.ring.iter().filter(|stream| stream.is_open);
        open.any(|stream| stream.content != Content::Awaited)
    }
}

/// The place of a query ID in `Streams::by_query`, unless that is empty.
fn place(by_query: &[u32], query: u16) -> Option<usize> {
    let mask = by_query.len().checked_sub(1)?;
    Some(usize::from(query) & mask)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn identifiers_run_out() {
        let mut streams = Streams::starting_at(0x7fff_fffd);
        assert_eq!(streams.open(1), Some(0x7fff_fffd));
        assert_eq!(streams.open(2), Some(0x7fff_ffff));
        assert_eq!(streams.open(3), None);
        assert!(matches!(streams.find(0x7fff_ffff), Found::Open(_)));
        assert!(streams.end(0x7fff_fffd).is_some() && streams.end(0x7fff_ffff).is_some());
        assert_eq!(streams.open(3), None);
        assert!(matches!(streams.find(0x7fff_ffff), Found::Ended));
    }

    #[test]
    fn any_ids_can_be_open_at_once() {
        let mut streams = Streams::default();
        for query in (0..=u16::MAX).rev() {
            streams.open(query).unwrap();
        }
        for query in 0..=u16::MAX {
            assert_eq!(
                streams.of_query(query),
                Some(2 * u32::from(u16::MAX - query) + 1)
            );
        }
    }

    proptest! {
        /// Against a plain list.
        #[test]
        fn behaves_as_a_map(steps in proptest::collection::vec((0u8..8, any::<u16>(), any::<prop::sample::Index>()), 1..300)) {
            let mut streams = Streams::default();
            let mut model: Vec<(u32, u16)> = Vec::new();
            for (action, query, which) in steps {
                if action < 5 {
                    // Few lower bits, so that places are shared.
                    let query = query & 0xf003;
                    if model.iter().all(|open| open.1 != query) {
                        model.push((streams.open(query).unwrap(), query));
                    }
                } else if action < 7 && !model.is_empty() {
                    let (id, query) = model.remove(which.index(model.len()));
                    prop_assert!(streams.end(id).is_some() && streams.end(id).is_none());
                    prop_assert_eq!(streams.of_query(query), None);
                    prop_assert!(matches!(streams.find(id), Found::Ended));
                } else if action == 7 && which.index(8) == 0 {
                    let last = u32::from(query) % 100;
                    let mut ended = Vec::new();
                    streams.end_above(last, |id, query| ended.push((id, query)));
                    let kept = model.iter().copied().filter(|open| open.0 <= last).collect();
                    prop_assert_eq!(ended.len() + Vec::len(&kept), model.len());
                    model = kept;
                }
                prop_assert_eq!(streams.open_count(), model.len());
                for &(id, query) in &model {
                    prop_assert_eq!(streams.of_query(query), Some(id));
                    prop_assert!(matches!(streams.find(id), Found::Open(stream) if stream.query == query));
                }
                let next = streams.next().unwrap();
                prop_assert!(matches!(streams.find(next), Found::Idle) && matches!(streams.find(0), Found::Idle));
            }
        }
    }
}
