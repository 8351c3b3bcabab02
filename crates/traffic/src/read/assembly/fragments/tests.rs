use super::*;

/// The fragment of an IPv4 packet.
fn v4(id: u16, offset: usize, more: bool, data: &[u8]) -> Vec<u8> {
    let field = (offset / 8) as u16 | if more { 0x2000 } else { 0 };
    let len = (IPV4_HEADER_LEN + data.len()) as u16;
    let mut packet = vec![0x45, 0];
    for value in [len, id, field] {
        packet.extend_from_slice(&value.to_be_bytes());
    }
    packet.extend_from_slice(&[64, 17, 0, 0, 192, 0, 2, 1, 198, 51, 100, 53]);
    packet.extend_from_slice(data);
    packet
}

/// The fragment of an IPv6 packet with a destination options header before the fragment header.
fn v6(id: u32, offset: usize, more: bool, data: &[u8]) -> Vec<u8> {
    let mut packet = vec![0x60, 0, 0, 0];
    packet.extend_from_slice(&(16 + data.len() as u16).to_be_bytes());
    packet.extend_from_slice(&[DESTINATION_OPTIONS, 64]);
    packet.extend_from_slice(&[1; 32]);
    packet.extend_from_slice(&[FRAGMENT, 0, 1, 4, 0, 0, 0, 0, 17, 0]);
    packet.extend_from_slice(&(offset as u16 | u16::from(more)).to_be_bytes());
    packet.extend_from_slice(&id.to_be_bytes());
    packet.extend_from_slice(data);
    packet
}

fn take(fragments: &mut Fragments, packet: &[u8]) -> Option<Vec<u8>> {
    let frame = match packet[0] >> 4 {
        4 => Frame::Ipv4(packet),
        _ => Frame::Ipv6(packet),
    };
    fragments.take(frame, false, 0)
}

#[test]
fn packets_are_put_together_in_any_order() {
    let data: Vec<u8> = (0..40).collect();
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [2, 0, 1]] {
        let mut fragments = Fragments::default();
        let pieces = [
            (0, true, &data[..16]),
            (16, true, &data[16..32]),
            (32, false, &data[32..]),
        ];
        let mut whole = Vec::new();
        for place in order {
            let (offset, more, data) = pieces[place];
            whole.extend(take(&mut fragments, &v4(7, offset, more, data)));
            whole.extend(take(&mut fragments, &v6(7, offset, more, data)));
        }
        assert_eq!(whole.len(), 2);
        assert_eq!(whole[0][IPV4_HEADER_LEN..], data);
        assert_eq!(whole[0][..8], [0x45, 0, 0, 60, 0, 7, 0, 0]);
        assert_eq!(whole[1][IPV6_HEADER_LEN..], data);
        assert_eq!(whole[1][4..8], [0, 40, 17, 64]);
        let counts = fragments.finish();
        assert_eq!((counts.packets, counts.whole, counts.incomplete), (6, 2, 0));
    }
}

#[test]
fn packets_with_overlapping_fragments_are_discarded() {
    let mut fragments = Fragments::default();
    assert_eq!(take(&mut fragments, &v4(1, 0, true, &[1; 16])), None);
    // The same once more is no overlap.
    assert_eq!(take(&mut fragments, &v4(1, 0, true, &[1; 16])), None);
    assert_eq!(take(&mut fragments, &v4(1, 8, true, &[2; 16])), None);
    assert_eq!(take(&mut fragments, &v4(1, 0, true, &[1; 16])), None);
    assert_eq!(take(&mut fragments, &v4(1, 16, false, &[1; 16])), None);
    let counts = fragments.finish();
    assert_eq!((counts.packets, counts.bad, counts.whole), (5, 1, 0));
}

#[test]
fn fragments_that_contradict_themselves_are_counted() {
    let mut fragments = Fragments::default();
    let not_of_eight = v4(1, 0, true, &[1; 15]);
    let too_long = v4(1, 65_528, false, &[1; 16]);
    let mut cut = v4(1, 0, true, &[1; 16]);
    cut.truncate(30);
    for packet in [not_of_eight, too_long, cut] {
        assert_eq!(take(&mut fragments, &packet), None);
    }
    assert_eq!(fragments.finish().unusable, 3);
}

#[test]
fn memory_for_fragments_is_bounded_and_old_ones_are_given_up() {
    let mut fragments = Fragments::default();
    let data = vec![1; 60_000];
    for id in 0..4 * MAX_WAITING as u32 {
        assert_eq!(take(&mut fragments, &v6(id, 0, true, &data)), None);
        assert!(fragments.kept <= MAX_KEPT + data.len() + 64);
        assert!(fragments.begun.len() <= MAX_WAITING + 1);
    }
    let first = v4(1, 0, true, &[1; 8]);
    let last = v4(1, 8, false, &[1; 8]);
    fragments.take(Frame::Ipv4(&first), false, 0);
    let late = fragments.take(Frame::Ipv4(&last), false, TIMEOUT_NS + 1);
    assert_eq!(late, None);
    let counts = fragments.finish();
    assert_eq!(counts.incomplete, 4 * MAX_WAITING as u64 + 2);
}
