//! TCP connections: opened, closed, reset, never closed.

use dnsrig_stream::capture::tcp::FlowKey;
use foldhash::fast::RandomState;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

const FIN: u8 = 0x01;
const SYN: u8 = 0x02;
const RST: u8 = 0x04;
const ACK: u8 = 0x10;
/// Connections in one generation; there are two generations.
const MAX_SESSIONS: usize = 128 << 10;

/// Connections by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionCounts {
    /// Those whose opening, a SYN of either end, was captured.
    pub opened: u64,
    /// Those of them that either end closed with FIN.
    pub closed: u64,
    /// Those of them that were reset with RST, without a FIN before.
    pub reset: u64,
    /// Those of them without FIN or RST until the capture ended, or until memory for connections was full.
    pub never_closed: u64,
    /// Those of which data were captured, but not the opening.
    pub joined: u64,
    /// Segments with a header that is cut off or contradicts itself.
    pub bad_header: u64,
    /// Segments that were given up for want of memory.
    pub given_up: u64,
}

/// The ends of a connection in either direction: address and port of the lesser end first.
type Key = [(u128, u16); 2];

#[derive(Clone, Copy, Debug)]
struct Session {
    /// The sequence number of either end's SYN; one that comes with another number opens another connection.
    first: [Option<u32>; 2],
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Joined,
    Opened,
    Ended,
}

impl Session {
    /// Whether a segment with `flags` from the end `sender` begins another connection of the same ends.
    fn is_replaced_by(&self, sender: usize, flags: u8, sequence: u32) -> bool {
        if flags & SYN == 0 {
            return false;
        }
        match self.first[sender] {
            Some(first) => first != sequence,
            // The first SYN of this end: that of the connection at hand only if the other end's SYN was seen, and, where the
            // connection has ended, if it answers that.
            None => match self.state {
                State::Joined => true,
                State::Opened => false,
                State::Ended => self.first == [None; 2] || flags & ACK == 0,
            },
        }
    }
}

/// The connections of a capture, in two generations: when the younger is full, the older is given up, and connections with a new
/// segment come back from it.
#[derive(Debug, Default)]
pub struct Sessions {
    young: HashMap<Key, Session, RandomState>,
    old: HashMap<Key, Session, RandomState>,
    pub(super) counts: SessionCounts,
}

impl Sessions {
    /// Takes a segment with `flags`, sent by the client of `key`.
    pub fn segment(&mut self, key: &FlowKey, flags: u8, sequence: u32, has_data: bool) {
        let ends = [(key.client, key.client_port), (key.server, key.server_port)];
        let sender = usize::from(ends[0] > ends[1]);
        let key = if sender == 0 {
            ends
        } else {
            [ends[1], ends[0]]
        };
        let known = self.young.remove(&key).or_else(|| self.old.remove(&key));
        let known = known.filter(|session| {
            let is_other = session.is_replaced_by(sender, flags, sequence);
            if is_other {
                self.counts.end(session.state);
            }
            !is_other
        });
        let mut session = match known {
            Some(session) => session,
            None if flags & SYN != 0 => {
                self.counts.opened += 1;
                Session {
                    first: [None; 2],
                    state: State::Opened,
                }
            }
            None if has_data => {
                self.counts.joined += 1;
                Session {
                    first: [None; 2],
                    state: State::Joined,
                }
            }
            None => return,
        };
        if flags & SYN != 0 {
            session.first[sender] = Some(sequence);
        }
        if flags & (FIN | RST) != 0 && session.state == State::Opened {
            match flags & FIN != 0 {
                true => self.counts.closed += 1,
                false => self.counts.reset += 1,
            }
        }
        if flags & (FIN | RST) != 0 {
            session.state = State::Ended;
        }
        self.young.insert(key, session);
        if self.young.len() >= MAX_SESSIONS {
            self.age();
        }
    }

    /// Ends all connections; gives what was counted.
    pub fn finish(mut self) -> SessionCounts {
        self.age();
        self.age();
        self.counts
    }

    /// Gives up the older generation.
    fn age(&mut self) {
        let young = std::mem::take(&mut self.young);
        for session in std::mem::replace(&mut self.old, young).into_values() {
            self.counts.end(session.state);
        }
    }
}

impl SessionCounts {
    fn end(&mut self, state: State) {
        self.never_closed += u64::from(state == State::Opened);
    }

    /// Adds the counts of another capture.
    pub fn add(&mut self, other: &Self) {
        self.opened += other.opened;
        self.closed += other.closed;
        self.reset += other.reset;
        self.never_closed += other.never_closed;
        self.joined += other.joined;
        self.bad_header += other.bad_header;
        self.given_up += other.given_up;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(port: u16) -> FlowKey {
        FlowKey {
            client: 7,
            server: 3,
            client_port: port,
            server_port: 53,
        }
    }

    fn back(key: FlowKey) -> FlowKey {
        FlowKey {
            client: key.server,
            server: key.client,
            client_port: key.server_port,
            server_port: key.client_port,
        }
    }

    fn open(sessions: &mut Sessions, key: FlowKey, sequence: u32) {
        sessions.segment(&key, SYN, sequence, false);
        sessions.segment(&back(key), SYN | ACK, 900, false);
        sessions.segment(&key, ACK, sequence + 1, true);
    }

    #[test]
    fn connections_are_counted_by_how_they_end() {
        let mut sessions = Sessions::default();
        for port in 1..=4 {
            open(&mut sessions, key(port), 100);
        }
        // Sent again, it opens nothing.
        sessions.segment(&key(1), SYN, 100, false);
        sessions.segment(&back(key(1)), FIN | ACK, 950, false);
        sessions.segment(&key(1), FIN | ACK, 150, false);
        sessions.segment(&key(1), RST, 151, false);
        sessions.segment(&key(2), RST | ACK, 150, false);
        // The same ports for another connection, of which the first was never closed.
        open(&mut sessions, key(3), 5000);
        // Of these the opening is not there.
        sessions.segment(&key(9), ACK, 1, true);
        sessions.segment(&key(9), FIN, 1, false);
        sessions.segment(&key(10), ACK, 1, false);
        let counts = sessions.finish();
        let expected = SessionCounts {
            opened: 5,
            closed: 1,
            reset: 1,
            never_closed: 3,
            joined: 1,
            ..SessionCounts::default()
        };
        assert_eq!(counts, expected);
    }

    #[test]
    fn connections_that_use_the_ports_of_another_are_connections_of_their_own() {
        let mut sessions = Sessions::default();
        // After FIN, after RST, and after neither.
        for (port, end) in [(1, FIN | ACK), (2, RST), (3, ACK)] {
            open(&mut sessions, key(port), 100);
            sessions.segment(&key(port), end, 150, false);
            open(&mut sessions, key(port), 9000);
        }
        // After one whose opening was not captured.
        sessions.segment(&key(4), ACK, 70, true);
        open(&mut sessions, key(4), 9000);
        sessions.segment(&key(5), ACK, 70, true);
        sessions.segment(&key(5), FIN, 80, false);
        open(&mut sessions, key(5), 9000);
        // After one of which only the server's SYN was captured.
        sessions.segment(&back(key(6)), SYN | ACK, 900, false);
        sessions.segment(&back(key(6)), FIN | ACK, 950, false);
        open(&mut sessions, key(6), 100);
        // The server's SYN comes late, after the client gave up: no other connection.
        sessions.segment(&key(7), SYN, 100, false);
        sessions.segment(&key(7), RST, 101, false);
        sessions.segment(&back(key(7)), SYN | ACK, 900, false);
        let counts = sessions.finish();
        let expected = SessionCounts {
            opened: 6 + 2 + 2 + 1,
            closed: 2,
            reset: 2,
            never_closed: 7,
            joined: 2,
            ..SessionCounts::default()
        };
        assert_eq!(counts, expected);
    }

    #[test]
    fn memory_for_connections_is_bounded() {
        let mut sessions = Sessions::default();
        let many = 3 * MAX_SESSIONS as u32;
        for number in 0..many {
            let mut key = key(number as u16);
            key.client = number.into();
            sessions.segment(&key, SYN, 1, false);
        }
        assert!(sessions.young.len() + sessions.old.len() <= 2 * MAX_SESSIONS);
        let counts = sessions.finish();
        assert_eq!(
            (counts.opened, counts.never_closed),
            (many.into(), many.into())
        );
    }
}
