//! Reading: formats, compression, several files, damage, and parts in order.

use crate::common::*;
use dnsrig_traffic::TrafficError;
use dnsrig_traffic::read::{Chunk, PerChunk, run};
use std::io::Write;
use std::ops::ControlFlow;

/// Queries a ms apart, of which each has its number as ID.
fn queries(numbers: std::ops::Range<u16>) -> Vec<Captured> {
    numbers
        .map(|number| {
            let name = format!("host{number}.example.test");
            let octets = udp_query(4000, &query(number, &name, 1));
            at(START_NS + i64::from(number) * 1_000_000, octets)
        })
        .collect()
}

fn ids(read: &[Read]) -> Vec<u16> {
    let id = |read: &Read| u16::from_be_bytes([read.octets[0], read.octets[1]]);
    read.iter().map(id).collect()
}

#[test]
fn every_form_of_a_file_gives_the_same_messages() {
    let folder = tempfile::tempdir().unwrap();
    // More than one chunk of them.
    let packets = queries(0..12_000);
    let first = pcap(PCAP, &packets);
    let forms = [
        first.clone(),
        pcap(
            PcapForm {
                is_big_endian: true,
                ..PCAP
            },
            &packets,
        ),
        pcap(
            PcapForm {
                is_nanoseconds: false,
                ..PCAP
            },
            &packets,
        ),
        pcap(
            PcapForm {
                is_big_endian: true,
                is_nanoseconds: false,
                link_type: ETHERNET,
                ..PCAP
            },
            &packets,
        ),
        pcapng(&packets),
    ];
    let compressed = compressed(&first).map(|(_, octets)| octets);
    let files: Vec<_> = forms
        .iter()
        .chain(&compressed)
        .zip(0..)
        .map(|(octets, number): (_, u32)| write(folder.path(), &format!("{number}.pcap"), octets))
        .collect();
    let (expected, summary) = read_all(&files[..1]).unwrap();
    assert_eq!(ids(&expected), (0..12_000).collect::<Vec<_>>());
    assert_eq!(expected[7].source, "192.0.2.1:4000");
    assert_eq!(expected[7].destination, "198.51.100.53:53");
    assert_eq!((expected[7].number, expected[7].transport), (8, "udp"));
    assert_eq!(expected[7].octets, query(7, "host7.example.test", 1));
    assert_eq!(summary.packets(), 12_000);
    for file in &files[1..] {
        let (read, summary) = read_all(std::slice::from_ref(file)).unwrap();
        assert!(read == expected, "{}", file.display());
        assert_eq!(summary.packets(), 12_000);
    }
}

#[test]
fn several_files_are_read_in_the_order_of_time() {
    let folder = tempfile::tempdir().unwrap();
    let packets = queries(0..9000);
    let even: Vec<_> = packets[..6000].iter().step_by(2).cloned().collect();
    let odd: Vec<_> = packets[..6000].iter().skip(1).step_by(2).cloned().collect();
    let files = [
        write(folder.path(), "third.pcap", &pcap(PCAP, &packets[6000..])),
        write(folder.path(), "odd.pcapng", &pcapng(&odd)),
        write(folder.path(), "empty.pcap", &pcap(PCAP, &[])),
        write(folder.path(), "even.pcap", &pcap(PCAP, &even)),
    ];
    let (read, summary) = read_all(&files).unwrap();
    assert_eq!(ids(&read), (0..9000).collect::<Vec<_>>());
    assert_eq!(
        (read[1].number, read[2].number, read[6000].number),
        (1, 2, 1)
    );
    assert_eq!(summary.packets(), 9000);
    let names: Vec<_> = summary
        .files
        .iter()
        .map(|file| file.file.file_name().unwrap())
        .collect();
    assert_eq!(names.last().unwrap().to_str(), Some("third.pcap"));
}

#[test]
fn a_file_that_is_cut_off_is_read_as_far_as_it_goes() {
    let folder = tempfile::tempdir().unwrap();
    for octets in [pcap(PCAP, &queries(0..10)), pcapng(&queries(0..10))] {
        let file = write(folder.path(), "cut", &octets[..octets.len() - 5]);
        let (read, summary) = read_all(&[file]).unwrap();
        assert_eq!(ids(&read), (0..9).collect::<Vec<_>>());
        assert!(summary.files[0].is_cut_off);
    }
    let packed = zstd::encode_all(&pcap(PCAP, &queries(0..12_000))[..], 1).unwrap();
    let file = write(folder.path(), "cut", &packed[..packed.len() - 9]);
    let (read, summary) = read_all(&[file]).unwrap();
    assert!(summary.files[0].is_cut_off && read.len() > 1000);
    let empty = write(folder.path(), "header", &pcap(PCAP, &[])[..20]);
    assert!(matches!(
        read_all(&[empty]),
        Err(TrafficError::NotACapture { .. })
    ));
}

#[test]
fn times_that_run_backwards_within_a_file_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let mut packets = queries(0..12_000);
    for (place, back_s) in [(3, 2), (7, 1), (11_000, 5)] {
        packets[place].time_ns -= back_s * SECOND_NS;
    }
    let first = write(folder.path(), "first", &pcap(PCAP, &packets));
    // Of files whose times overlap, each has an order of its own.
    let second = write(folder.path(), "second", &pcapng(&queries(5..3000)));
    let (_, summary) = read_all(&[first, second]).unwrap();
    for file in &summary.files {
        // A packet comes a millisecond after the one before.
        let expected = match file.format.as_str() {
            "pcap" => (3, 4_999_000_000),
            _ => (0, 0),
        };
        assert_eq!((file.back_in_time, file.furthest_back_ns), expected);
    }
}

#[test]
fn damage_ends_a_file_and_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let mut octets = pcap(PCAP, &queries(0..10));
    octets.extend_from_slice(&[0xFF; 40]);
    let file = write(folder.path(), "damaged", &octets);
    let (read, summary) = read_all(&[file]).unwrap();
    assert_eq!(read.len(), 10);
    assert!(
        summary.files[0]
            .damage
            .as_ref()
            .unwrap()
            .contains("4294967295 octets")
    );
    let text = write(folder.path(), "text", b"www.example.test A\n");
    let error = read_all(&[text]).unwrap_err().to_string();
    assert!(error.contains("dnsrig traffic convert"), "{error}");
    let program = write(folder.path(), "program", b"\x7FELF\x02\x01\x01\0");
    let error = read_all(&[program]).unwrap_err().to_string();
    assert!(error.contains("begins with 7f 45 4c 46"), "{error}");
    let missing = folder.path().join("missing");
    assert!(matches!(
        read_all(&[missing]),
        Err(TrafficError::Read { .. })
    ));
}

#[test]
fn a_window_that_is_too_large_for_memory_is_an_error_and_no_damage() {
    let folder = tempfile::tempdir().unwrap();
    let mut packed = zstd::encode_all(&pcap(PCAP, &queries(0..10))[..], 1).unwrap();
    // The octet after the magic number and the frame header's descriptor: 2 GiB, as of `zstd --long=31`.
    packed[5] = (31 - 10) << 3;
    let file = write(folder.path(), "long.pcap.zst", &packed);
    let error = read_all(&[file]).unwrap_err();
    assert!(matches!(error, TrafficError::NotACapture { .. }));
    let error = error.to_string();
    assert!(error.contains("'zstd -dc --long=31 FILE'"), "{error}");
}

/// `octets` as gzip, zstd and xz compress them.
fn compressed(octets: &[u8]) -> [(&'static str, Vec<u8>); 3] {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(octets).unwrap();
    let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 0);
    xz.write_all(octets).unwrap();
    // With a checksum, as the program zstd writes it.
    let mut zstd = zstd::Encoder::new(Vec::new(), 1).unwrap();
    zstd.include_checksum(true).unwrap();
    zstd.write_all(octets).unwrap();
    [
        ("gzip", gzip.finish().unwrap()),
        ("zstd", zstd.finish().unwrap()),
        ("xz", xz.finish().unwrap()),
    ]
}

#[test]
fn damaged_and_cut_compressed_data_are_read_as_far_as_they_go() {
    let folder = tempfile::tempdir().unwrap();
    for (format, whole) in compressed(&pcap(PCAP, &queries(0..40_000))) {
        let file = write(folder.path(), "cut", &whole[..whole.len() * 2 / 3]);
        let (read, summary) = read_all(&[file]).unwrap();
        assert!(summary.files[0].is_cut_off, "{format}");
        assert!(read.len() > 10_000 && read.len() < 40_000, "{format}");
        let mut octets = whole.clone();
        let middle = octets.len() * 2 / 3;
        octets[middle..middle + 200].fill(0x55);
        let file = write(folder.path(), "damaged", &octets);
        let (read, summary) = read_all(&[file]).unwrap();
        let damage = summary.files[0].damage.as_ref().unwrap();
        assert!(
            damage.starts_with(&format!("its {format} data are damaged before octet ")),
            "{damage}"
        );
        let offset: usize = damage.split(' ').nth(7).unwrap().parse().unwrap();
        assert!(offset >= middle && offset <= middle + (1 << 18), "{damage}");
        // gzip gives nonsense before it tells.
        assert!(ids(&read[..10_000]).into_iter().eq(0..10_000), "{format}");
        // Nothing of it can be used.
        octets[10..].fill(0xFF);
        let file = write(folder.path(), "useless", &octets);
        let error = read_all(&[file]).unwrap_err().to_string();
        assert!(
            error.contains("useless") && error.contains(format),
            "{error}"
        );
    }
}

#[test]
fn what_the_snapshot_length_cut_is_marked() {
    let folder = tempfile::tempdir().unwrap();
    let octets = pcap(
        PcapForm {
            snap_len: 50,
            ..PCAP
        },
        &queries(0..3),
    );
    let (read, _) = read_all(&[write(folder.path(), "cut", &octets)]).unwrap();
    assert_eq!(read.len(), 3);
    assert!(
        read.iter()
            .all(|read| read.is_cut && read.octets.len() == 22)
    );
}

/// Gives the numbers of a chunk's packets.
struct Numbers;

impl PerChunk for Numbers {
    type Worker = u64;
    type Part = Vec<u64>;

    fn worker(&self) -> u64 {
        0
    }

    fn chunk(&self, worker: &mut u64, chunk: &Chunk<'_>) -> Vec<u64> {
        *worker += chunk.packets.len() as u64;
        // Chunks take unlike times, so that threads pass each other.
        std::thread::sleep(std::time::Duration::from_micros(chunk.number * 7 % 300));
        chunk.iter().map(|packet| packet.at.number).collect()
    }
}

#[test]
fn parts_are_folded_in_order_by_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let packets: Vec<_> = (0..4).flat_map(|_| queries(0..20_000)).collect();
    let file = [write(folder.path(), "many.pcap", &pcap(PCAP, &packets))];
    for threads in [1, 2, 7] {
        let mut numbers = Vec::new();
        let (summary, workers) = with_reading(&file, threads, |reading| {
            run(reading, &Numbers, |part| {
                numbers.extend(part);
                ControlFlow::Continue(())
            })
        })
        .unwrap();
        assert!(numbers.iter().copied().eq(1..=80_000));
        assert_eq!(workers.iter().sum::<u64>(), 80_000);
        assert_eq!((workers.len(), summary.packets()), (threads, 80_000));
        let mut parts = 0;
        with_reading(&file, threads, |reading| {
            run(reading, &Numbers, |_| {
                parts += 1;
                ControlFlow::Break(())
            })
        })
        .unwrap();
        assert_eq!(parts, 1);
    }
}

#[test]
fn tcp_messages_of_both_directions_are_put_together() {
    let folder = tempfile::tempdir().unwrap();
    let (client, server) = ((CLIENT, 4000), (SERVER, 53));
    let questions: Vec<_> = (0..3).map(|id| query(id, "www.example.test", 1)).collect();
    let asked: Vec<u8> = questions.iter().flat_map(|query| framed(query)).collect();
    let long = [answer(0, "www.example.test", 16, 0), vec![0; 3000]].concat();
    let reply = framed(&long);
    let packets = [
        tcp(client, server, 99, 0x02, b""),
        tcp(server, client, 499, 0x12, b""),
        tcp(client, server, 100, 0x18, &asked[..50]),
        // Out of order: the end before the middle.
        tcp(client, server, 180, 0x18, &asked[80..]),
        tcp(client, server, 150, 0x18, &asked[50..80]),
        tcp(server, client, 500, 0x10, &reply[..1400]),
        tcp(server, client, 1900, 0x18, &reply[1400..]),
        tcp(client, server, 100 + asked.len() as u32, 0x11, b""),
    ];
    let packets: Vec<_> = packets
        .into_iter()
        .zip(0..)
        .map(|(octets, number)| at(START_NS + number, octets))
        .collect();
    let (read, _) = read_all(&[write(folder.path(), "tcp.pcap", &pcap(PCAP, &packets))]).unwrap();
    let octets: Vec<_> = read.iter().map(|read| read.octets.clone()).collect();
    assert_eq!(octets, [&questions[..], &[long]].concat());
    assert!(read.iter().all(|read| read.transport == "tcp"));
    assert_eq!(read[3].source, "198.51.100.53:53");
    assert_eq!(read[3].time_ns, START_NS + 6);
}

#[test]
fn fragments_of_an_answer_are_put_together() {
    let folder = tempfile::tempdir().unwrap();
    let long = [answer(7, "big.example.test", 48, 0), vec![1; 2500]].concat();
    let whole = udp(("2001:db8::53", 53), ("2001:db8::1", 4000), &long);
    let datagram = &whole[40..];
    let fragment = |start: usize, end: usize| {
        let more = u16::from(end < datagram.len());
        let mut payload = vec![17, 0];
        payload.extend_from_slice(&(start as u16 | more).to_be_bytes());
        payload.extend_from_slice(&[0, 0, 0, 9]);
        payload.extend_from_slice(&datagram[start..end]);
        ip("2001:db8::53", "2001:db8::1", 44, &payload)
    };
    let packets = [
        at(START_NS, fragment(1232, datagram.len())),
        at(START_NS + 5, fragment(0, 1232)),
    ];
    let (read, _) = read_all(&[write(
        folder.path(),
        "fragments.pcap",
        &pcap(PCAP, &packets),
    )])
    .unwrap();
    assert_eq!(read.len(), 1);
    assert_eq!(read[0].octets, long);
    assert_eq!((read[0].time_ns, read[0].number), (START_NS + 5, 2));
    assert_eq!(read[0].source, "[2001:db8::53]:53");
}

#[test]
fn fragments_that_hold_several_datagrams_are_taken_apart() {
    let folder = tempfile::tempdir().unwrap();
    let one = query(7, "www.example.test", 1);
    let whole = udp(("192.0.2.1", 4000), ("198.51.100.53", 53), &one.repeat(5));
    let fragment = |start: usize, end: usize, more: u8| {
        let mut fragment = [&whole[..20], &whole[20 + start..20 + end]].concat();
        fragment[2..4].copy_from_slice(&((20 + end - start) as u16).to_be_bytes());
        (fragment[6], fragment[7]) = (more, (start / 8) as u8);
        at(START_NS, fragment)
    };
    let packets = [
        fragment(0, 64, 0x20),
        fragment(64, whole.len() - 20, 0),
        at(START_NS, whole.clone()),
    ];
    let file = write(folder.path(), "merged.pcap", &pcap(PCAP, &packets));
    let (read, _) = read_all(&[file]).unwrap();
    assert_eq!(read.len(), 10);
    assert!(read.iter().all(|message| message.octets == one));
}

/// A connection whose beginning was not captured, in segments of 33 octets; the server's side in order of its numbers.
#[test]
fn both_sides_of_a_connection_that_was_joined_later_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let (client, server) = ((CLIENT, 4000), (SERVER, 53));
    let questions: Vec<_> = (0..4).map(|id| query(id, "www.example.test", 1)).collect();
    let update = message(9, 5 << 11, "example.test", 6);
    let answers: Vec<_> = (0..4)
        .map(|id| answer(id, "www.example.test", 1, 0))
        .collect();
    let updated = message(9, 0xA800, "example.test", 6);
    let sent = [&[update][..], &questions].concat();
    let replied = [&[updated][..], &answers].concat();
    let packets: Vec<_> = [(client, server, &sent), (server, client, &replied)]
        .into_iter()
        .flat_map(|(from, to, messages)| {
            let octets: Vec<u8> = messages.iter().flat_map(|one| framed(one)).collect();
            let parts: Vec<_> = octets.chunks(33).map(<[u8]>::to_vec).collect();
            parts.into_iter().zip(0..).map(move |(part, number)| {
                at(START_NS, tcp(from, to, 100 + number * 33, 0x18, &part))
            })
        })
        .collect();
    let file = write(folder.path(), "joined.pcap", &pcap(PCAP, &packets));
    let octets = |read: Vec<Read>| -> Vec<_> { read.into_iter().map(|one| one.octets).collect() };
    let (read, _) = read_all(std::slice::from_ref(&file)).unwrap();
    assert_eq!(octets(read), [&sent[..], &replied].concat());
    // Without the server's second segment, in which its second message begins, until one begins a segment again.
    let second = packets.len()
        - replied
            .iter()
            .map(|one| one.len() + 2)
            .sum::<usize>()
            .div_ceil(33);
    let mut lost = packets.clone();
    lost.remove(second + 1);
    let next = 100 + replied.iter().map(|one| one.len() as u32 + 2).sum::<u32>();
    lost.push(at(
        START_NS,
        tcp(server, client, next, 0x18, &framed(&replied[0])),
    ));
    let file = write(folder.path(), "lost.pcap", &pcap(PCAP, &lost));
    let (read, _) = read_all(&[file]).unwrap();
    assert_eq!(
        octets(read),
        [&sent[..], &replied[..1], &replied[..1]].concat()
    );
}
