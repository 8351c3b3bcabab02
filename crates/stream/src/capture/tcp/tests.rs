mod misplaced;

use super::*;
use proptest::prelude::*;

const KEY: FlowKey = FlowKey {
    client: 1,
    server: 2,
    client_port: 40_000,
    server_port: 53,
};

/// A framed query for a name of one label of `len` octets.
fn framed(number: u8, len: u8) -> Vec<u8> {
    let mut query = vec![0, number, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, len];
    query.extend(std::iter::repeat_n(b'a' + number % 26, len.into()));
    query.extend_from_slice(b"\0\0\x01\0\x01");
    let mut framed = (query.len() as u16).to_be_bytes().to_vec();
    framed.append(&mut query);
    framed
}

/// A framed answer without records to such a query.
fn framed_answer(number: u8, len: u8) -> Vec<u8> {
    let mut answer = framed(number, len);
    answer[4] = 0x84;
    answer
}

/// A framed answer with so many addresses.
fn long_answer(number: u8, addresses: u8) -> Vec<u8> {
    let mut answer = framed_answer(number, 9)[2..].to_vec();
    answer[7] = addresses;
    for address in 0..addresses {
        answer.extend_from_slice(b"\xC0\x0C\0\x01\0\x01\0\0\x0E\x10\0\x04\xC0\0\x02");
        answer.push(address);
    }
    [&(answer.len() as u16).to_be_bytes()[..], &answer].concat()
}

#[derive(Default)]
struct Client {
    flows: TcpFlows,
    messages: Vec<Vec<u8>>,
    times: Vec<i64>,
}

impl Client {
    /// One end of a connection, from which messages of any kind are wanted.
    fn of_any_messages() -> Self {
        Self {
            flows: TcpFlows::new(Wanted::Messages),
            ..Self::default()
        }
    }

    /// Sends `octets`, which begin at the sequence number `start`, in segments of `size` octets, those left out that `is_lost`
    /// says.
    fn send_cut(
        &mut self,
        start: u32,
        octets: &[u8],
        size: usize,
        is_lost: impl Fn(usize) -> bool,
    ) {
        for (number, part) in octets.chunks(size).enumerate() {
            if !is_lost(number) {
                self.send(0, start + (number * size) as u32, part, 0);
            }
        }
    }

    fn send(&mut self, flags: u8, sequence: u32, data: &[u8], missing: usize) {
        let segment = Segment {
            source: 40_000,
            destination: 53,
            sequence,
            flags,
            data,
        };
        let time_ns = self.flows.summary.segments as i64;
        let (messages, times) = (&mut self.messages, &mut self.times);
        self.flows
            .segment(KEY, segment, missing, time_ns, &mut |message| {
                messages.push(message.octets.to_vec());
                times.push(message.time_ns);
            })
            .unwrap();
    }

    fn finish(mut self) -> (Vec<Vec<u8>>, Vec<i64>, TcpSummary) {
        let (messages, times) = (&mut self.messages, &mut self.times);
        self.flows.finish(&mut |message| {
            messages.push(message.octets.to_vec());
            times.push(message.time_ns);
        });
        assert_eq!(self.flows.kept, 0);
        (self.messages, self.times, self.flows.summary)
    }
}

fn unframed(messages: &[Vec<u8>]) -> Vec<&[u8]> {
    messages.iter().map(|message| &message[2..]).collect()
}

#[test]
fn data_in_order_out_of_order_and_sent_again_give_every_message_once() {
    let messages = [framed(0, 5), framed(1, 6), framed(2, 7)];
    let all = messages.concat();
    let start = u32::MAX - 10;
    let mut client = Client::default();
    client.send(SYN, start.wrapping_sub(1), b"", 0);
    client.send(SYN, start.wrapping_sub(1), b"", 0);
    let piece = |from: usize, to: usize| (start.wrapping_add(from as u32), &all[from..to]);
    for (from, to) in [
        (0, 1),
        (20, 30),
        (10, 25),
        (1, 9),
        (30, 31),
        (0, 15),
        (29, all.len()),
    ] {
        let (sequence, data) = piece(from, to);
        client.send(0, sequence, data, 0);
    }
    client.send(FIN, start.wrapping_add(all.len() as u32), b"", 0);
    // Sent again after the end.
    client.send(FIN, start, &all, 0);
    let (read, times, summary) = client.finish();
    assert_eq!(read, unframed(&messages));
    // Each has the time of the segment that completed it: the first that of its octets 0 to 14, which came after the others.
    assert_eq!(times, [7, 8, 8]);
    assert_eq!(
        (summary.gaps, summary.incomplete, summary.unplaced),
        (0, 0, 0)
    );
    assert_eq!((summary.retransmitted, summary.messages), (1, 3));
}

#[test]
fn what_waited_for_a_segment_has_its_time() {
    let messages = [framed(0, 5), framed(1, 6)];
    let mut client = Client::default();
    client.send(SYN, 9, b"", 0);
    client.send(0, 10 + messages[0].len() as u32, &messages[1], 0);
    client.send(0, 10, &messages[0], 0);
    let (read, times, _) = client.finish();
    assert_eq!(read, unframed(&messages));
    assert_eq!(times, [2, 2]);
}

#[test]
fn a_connection_without_its_beginning_is_used_from_whole_queries_on() {
    let (first, second) = (framed(0, 5), framed(1, 6));
    let mut client = Client::default();
    client.send(0, 100, &first[3..], 0);
    let next = 100 + first.len() as u32 - 3;
    client.send(0, next, &second, 0);
    client.send(0, next + second.len() as u32, &first[..4], 0);
    let (read, _, summary) = client.finish();
    assert_eq!(read, unframed(&[second]));
    assert_eq!((summary.unplaced, summary.incomplete), (1, 1));
}

#[test]
fn a_gap_that_is_never_filled_loses_only_what_was_in_it() {
    let messages = [framed(0, 5), framed(1, 6), framed(2, 7)];
    let mut client = Client::default();
    client.send(SYN, 9, b"", 0);
    client.send(0, 10, &messages[0], 0);
    let third = 10 + (messages[0].len() + messages[1].len()) as u32;
    client.send(0, third, &messages[2], 0);
    client.send(RST, third, b"", 0);
    let (read, times, summary) = client.finish();
    assert_eq!(read, unframed(&[messages[0].clone(), messages[2].clone()]));
    assert_eq!(times, [1, 2]);
    assert_eq!(summary.gaps, 1);
}

#[test]
fn a_cut_segment_is_used_as_far_as_it_goes() {
    let messages = [framed(0, 5), framed(1, 6)];
    let all = messages.concat();
    let mut client = Client::default();
    client.send(SYN, 9, b"", 0);
    client.send(0, 10, &all[..messages[0].len() + 3], messages[1].len() - 3);
    client.send(0, 10 + all.len() as u32, &messages[0], 0);
    let (read, _, summary) = client.finish();
    assert_eq!(read, unframed(&[messages[0].clone(), messages[0].clone()]));
    assert_eq!((summary.gaps, summary.incomplete), (1, 1));
}

#[test]
fn a_server_whose_connection_was_not_captured_from_its_beginning_is_read_from_there_on() {
    let answers: Vec<_> = (0..6).map(|number| framed_answer(number, 20)).collect();
    for size in 1..90 {
        let mut server = Client::of_any_messages();
        server.send_cut(500, &answers.concat(), size, |_| false);
        let (read, _, summary) = server.finish();
        assert_eq!(read, unframed(&answers), "{size}");
        assert_eq!(
            (summary.gaps, summary.unplaced, summary.incomplete),
            (0, 0, 0)
        );
    }
    // From the middle of a message on; the length of the second is a segment of its own.
    let mut server = Client::of_any_messages();
    server.send(0, 505, &answers[0][5..], 0);
    let next = 500 + answers[0].len() as u32;
    server.send(0, next, &answers[1][..2], 0);
    server.send(0, next + 2, &answers[1][2..], 0);
    let (read, times, summary) = server.finish();
    assert_eq!(read, unframed(&answers[1..2]));
    assert_eq!((times, summary.unplaced), (vec![2], 1));
}

#[test]
fn a_long_answer_of_which_a_segment_is_lost_hides_none_after_it() {
    let answers = [
        framed_answer(0, 5),
        long_answer(1, 200),
        framed_answer(2, 5),
        long_answer(3, 150),
    ];
    let all = answers.concat();
    let kept = [answers[0].clone(), answers[2].clone(), answers[3].clone()];
    for size in [33, 100, 700, 1400] {
        let mut server = Client::of_any_messages();
        server.send(SYN, 99, b"", 0);
        // The second segment is inside the long answer, in which the third begins, too.
        server.send_cut(100, &all, size, |number| number == 1);
        let (read, _, summary) = server.finish();
        assert_eq!(read, unframed(&kept), "{size}");
        assert_eq!(
            (summary.gaps, summary.unplaced, summary.incomplete),
            (1, 0, 1)
        );
    }
    // The same where the end of each segment was not captured.
    let mut server = Client::of_any_messages();
    server.send(SYN, 99, b"", 0);
    let second = &all[answers[0].len()..];
    server.send(0, 100, &answers[0], 0);
    let start = 100 + answers[0].len();
    for (number, part) in second.chunks(1000).enumerate() {
        let there = part.len().min(60);
        server.send(
            0,
            (start + number * 1000) as u32,
            &part[..there],
            part.len() - there,
        );
    }
    let (read, _, summary) = server.finish();
    assert_eq!(read, unframed(&answers[..1]));
    // Not even the length of the third was there.
    assert_eq!((summary.incomplete, summary.messages), (1, 1));
}

#[test]
fn after_a_gap_in_which_a_message_begins_the_next_one_that_begins_a_segment_is_found() {
    let answers = [
        framed_answer(0, 30),
        framed_answer(1, 30),
        long_answer(2, 9),
    ];
    let all = answers.concat();
    let mut server = Client::of_any_messages();
    server.send(SYN, 99, b"", 0);
    server.send(0, 100, &all[..33], 0);
    // Lost: the end of the first answer and the beginning of the second.
    server.send(0, 166, &all[66..answers[0].len() * 2], 0);
    let third = 100 + answers[0].len() as u32 * 2;
    server.send_cut(third, &answers[2], 50, |_| false);
    let (read, _, summary) = server.finish();
    assert_eq!(read, unframed(&answers[2..]));
    assert_eq!(
        (summary.gaps, summary.unplaced, summary.incomplete),
        (1, 1, 1)
    );
    // Where queries alone are wanted, answers are no place to go on.
    let mut client = Client::default();
    client.send(0, third, &answers[0], 0);
    let (read, _, summary) = client.finish();
    assert!(read.is_empty() && summary.unplaced == 1);
}

#[test]
fn a_new_connection_from_the_same_port_begins_anew() {
    let message = framed(0, 5);
    let mut client = Client::default();
    for first in [10, 5_000_000, 3] {
        client.send(SYN, first - 1, b"", 0);
        client.send(0, first, &message[..7], 0);
    }
    client.send(0, 10, &message[7..], 0);
    let (read, _, summary) = client.finish();
    assert_eq!(read, unframed(&[message]));
    assert_eq!(summary.incomplete, 2);
}

#[test]
fn data_after_a_gap_are_bounded() {
    let mut client = Client::default();
    client.send(SYN, 9, b"", 0);
    for number in 0..10_000 {
        client.send(0, 1_000_000 - number * 2, &[0], 0);
        let kept = client.flows.kept;
        assert!(
            kept <= (MAX_WAITING_SEGMENTS + 1) * (size_of::<Waiting>() + 1),
            "{kept}"
        );
    }
    for number in 0..100 {
        client.send(0, 2_000_000 + number * 70_000, &[7; 60_000], 0);
        assert!(
            client.flows.kept <= 2 * (MAX_WAITING + MAX_PARTIAL),
            "{}",
            client.flows.kept
        );
    }
    assert!(client.finish().2.gaps > 1);
}

#[test]
fn idle_connections_are_given_up_before_busy_ones() {
    let (message, mut flows, mut count) = (framed(0, 5), TcpFlows::default(), 0);
    let mut send = |flows: &mut TcpFlows, client_port, server_port, flags, sequence, data| {
        let key = FlowKey {
            client_port,
            server_port,
            ..KEY
        };
        let segment = Segment {
            source: client_port,
            destination: server_port,
            sequence,
            flags,
            data,
        };
        flows
            .segment(key, segment, 0, 0, &mut |_| count += 1)
            .unwrap();
    };
    for number in 0..MAX_FLOWS as u32 * 3 {
        send(
            &mut flows,
            number as u16,
            (number >> 16) as u16 + 1,
            SYN,
            9,
            b"",
        );
        send(
            &mut flows,
            7,
            0,
            if number == 0 { SYN } else { 0 },
            9 + number.min(1),
            &message[..1],
        );
        assert!(flows.young.len() + flows.old.len() <= 2 * MAX_FLOWS);
    }
    send(&mut flows, 7, 0, 0, 11, &message[1..]);
    assert_eq!(count, 1);
}

proptest! {
    #[test]
    fn any_cutting_and_repeating_gives_the_messages(
        lens in prop::collection::vec(1..60_u8, 1..20),
        cuts in prop::collection::vec((0..500_usize, 1..200_usize), 0..60),
        start in any::<u32>(),
    ) {
        let messages: Vec<_> = lens.iter().enumerate().map(|(number, &len)| framed(number as u8, len)).collect();
        let all = messages.concat();
        let mut client = Client::default();
        client.send(SYN, start.wrapping_sub(1), b"", 0);
        let mut send = |from: usize, to: usize| client.send(0, start.wrapping_add(from as u32), &all[from..to], 0);
        for (from, len) in cuts {
            let from = from % all.len();
            send(from, (from + len).min(all.len()));
        }
        for from in (0..all.len()).step_by(50) {
            send(from, (from + 50).min(all.len()));
        }
        let (read, _, summary) = client.finish();
        prop_assert_eq!(read, unframed(&messages));
        prop_assert_eq!((summary.gaps, summary.unplaced, summary.incomplete), (0, 0, 0));
    }

    #[test]
    fn any_segments_are_taken_without_panic(
        segments in prop::collection::vec((any::<u8>(), prop_oneof![any::<u32>(), 0..200_u32], prop::collection::vec(any::<u8>(), 0..40), 0..5_usize), 0..60),
        is_any: bool,
    ) {
        let mut client = if is_any { Client::of_any_messages() } else { Client::default() };
        for (flags, sequence, data, missing) in segments {
            client.send(flags, sequence, &data, missing);
        }
        let (read, _, summary) = client.finish();
        prop_assert_eq!(read.len() as u64, summary.messages);
    }
}
