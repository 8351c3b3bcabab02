//! The segments of TCP sessions (RFC 9293) with one query each, or none.

use crate::message::Endpoint;
use crate::write::packet::{ACK, FIN, PSH, RST, SYN, TcpFields, push_tcp};

/// How long the kernels of client and server take to answer a segment.
const KERNEL_NS: u64 = 20_000;
/// When a server gives up a session without a query, and a client one without an answer.
const PATIENCE_NS: u64 = 2_000_000_000;

/// A session.
pub(super) struct Session<'a> {
    /// When the client opens it.
    pub time_ns: i64,
    pub client: Endpoint,
    pub server: Endpoint,
    pub round_trip_ns: u64,
    /// `None` for a session that the server resets as nothing is asked.
    pub exchange: Option<Exchange<'a>>,
}

/// What is asked and answered.
#[derive(Clone, Copy)]
pub(super) struct Exchange<'a> {
    pub query: &'a [u8],
    /// The answer, and how long it takes.
    pub answer: Option<(&'a [u8], u64)>,
}

/// One segment of a session.
pub(super) struct Segment<'a> {
    pub time_ns: i64,
    pub is_of_server: bool,
    flags: u8,
    /// The numbers of its first octet and of the next one of the other side, from the first of each side on.
    numbers: [u32; 2],
    data: &'a [u8],
}

impl Session<'_> {
    /// Gives all segments to `take`. The server sees them at their times: the client sends half a round trip before.
    pub fn segments(&self, mut take: impl FnMut(&Segment<'_>)) {
        let mut at_ns = 0_u64;
        let mut send =
            |after_ns: u64, is_of_server: bool, flags: u8, numbers: [u32; 2], data: &[u8]| {
                at_ns += after_ns;
                take(&Segment {
                    time_ns: self.time_ns.saturating_add_unsigned(at_ns),
                    is_of_server,
                    flags,
                    numbers,
                    data,
                });
            };
        send(0, false, SYN, [0, 0], b"");
        send(KERNEL_NS, true, SYN | ACK, [0, 1], b"");
        send(self.round_trip_ns, false, ACK, [1, 1], b"");
        let Some(Exchange { query, answer }) = self.exchange else {
            return send(PATIENCE_NS, true, RST | ACK, [1, 1], b"");
        };
        let query = framed(query);
        let asked = 1 + query.len() as u32;
        send(KERNEL_NS, false, ACK | PSH, [1, 1], &query);
        let mut answered = 1;
        let mut until_end_ns = PATIENCE_NS;
        if let Some((answer, latency_ns)) = answer {
            let answer = framed(answer);
            answered += answer.len() as u32;
            send(latency_ns, true, ACK | PSH, [1, asked], &answer);
            until_end_ns = self.round_trip_ns;
        }
        send(until_end_ns, false, FIN | ACK, [asked, answered], b"");
        send(KERNEL_NS, true, FIN | ACK, [answered, asked + 1], b"");
        send(
            self.round_trip_ns,
            false,
            ACK,
            [asked + 1, answered + 1],
            b"",
        );
    }

    /// Appends the packet of a segment.
    pub fn push(&self, segment: &Segment<'_>, packet: &mut Vec<u8>) {
        let first_of_client = self.time_ns as u32 ^ u32::from(self.client.port) << 16;
        let first_of_server = first_of_client.rotate_left(13);
        let (from, to, own, other) = match segment.is_of_server {
            true => (self.server, self.client, first_of_server, first_of_client),
            false => (self.client, self.server, first_of_client, first_of_server),
        };
        let sequence = own.wrapping_add(segment.numbers[0]);
        let acknowledged = match segment.flags & ACK {
            0 => 0,
            _ => other.wrapping_add(segment.numbers[1]),
        };
        let fields = TcpFields {
            sequence,
            acknowledged,
            flags: segment.flags,
        };
        push_tcp(from, to, fields, segment.data, packet);
    }
}

/// A message after its length (RFC 1035 section 4.2.2).
fn framed(message: &[u8]) -> Vec<u8> {
    let mut framed = Vec::with_capacity(2 + message.len());
    framed.extend_from_slice(&(message.len() as u16).to_be_bytes());
    framed.extend_from_slice(message);
    framed
}

#[cfg(test)]
mod tests {
    use super::*;
    use dnsrig_stream::capture::ip::IpPacket;
    use dnsrig_stream::capture::link::Frame;
    use std::net::Ipv4Addr;

    /// Each segment as (time in us, whether it is the server's, flags, sequence and acknowledgement from the first, data).
    fn segments(exchange: Option<Exchange<'_>>) -> Vec<(i64, bool, u8, u32, u32, Vec<u8>)> {
        let session = Session {
            time_ns: 1_000_000_000,
            client: Endpoint::new(Ipv4Addr::new(10, 0, 0, 1), 4000),
            server: Endpoint::new(Ipv4Addr::new(192, 0, 2, 53), 53),
            round_trip_ns: 10_000_000,
            exchange,
        };
        let (mut found, mut first) = (Vec::new(), [None; 2]);
        session.segments(|segment| {
            let mut packet = Vec::new();
            session.push(segment, &mut packet);
            let tcp = IpPacket::parse(Frame::Ipv4(&packet)).unwrap().payload;
            let number = |at: usize| u32::from_be_bytes(tcp[at..at + 4].try_into().unwrap());
            let side = usize::from(segment.is_of_server);
            let own = *first[side].get_or_insert(number(4));
            let other = first[1 - side].unwrap_or(0);
            let acknowledged = if tcp[13] & ACK != 0 {
                number(8).wrapping_sub(other)
            } else {
                0
            };
            let time_us = (segment.time_ns - session.time_ns) / 1000;
            found.push((
                time_us,
                segment.is_of_server,
                tcp[13],
                number(4).wrapping_sub(own),
                acknowledged,
                tcp[20..].to_vec(),
            ));
        });
        found
    }

    #[test]
    fn a_session_is_opened_asks_and_is_closed() {
        let found = segments(Some(Exchange {
            query: b"query",
            answer: Some((b"answer", 1_000_000)),
        }));
        let expected = [
            (0, false, SYN, 0, 0, b"".to_vec()),
            (20, true, SYN | ACK, 0, 1, b"".to_vec()),
            (10_020, false, ACK, 1, 1, b"".to_vec()),
            (10_040, false, ACK | PSH, 1, 1, b"\0\x05query".to_vec()),
            (11_040, true, ACK | PSH, 1, 8, b"\0\x06answer".to_vec()),
            (21_040, false, FIN | ACK, 8, 9, b"".to_vec()),
            (21_060, true, FIN | ACK, 9, 9, b"".to_vec()),
            (31_060, false, ACK, 9, 10, b"".to_vec()),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_session_without_an_answer_or_a_query_ends_too() {
        let found = segments(Some(Exchange {
            query: b"query",
            answer: None,
        }));
        assert_eq!(
            found.iter().filter(|segment| segment.2 & FIN != 0).count(),
            2
        );
        let found = segments(None);
        assert_eq!(
            found.last().map(|segment| (segment.1, segment.2)),
            Some((true, RST | ACK))
        );
        assert_eq!(found.iter().filter(|segment| segment.1).count(), 2);
    }
}
