use super::captures::{Folder, START, Sent, read, traffic, with_reading};
use dnsrig_stream::capture::packet::PacketReader;
use dnsrig_traffic::select::{Expression, Filtered, filter};
use dnsrig_traffic::{TrafficError, Transport};
use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

fn filtered(input: &Path, expression: &str, output: &Path, threads: usize) -> Filtered {
    let expression = Expression::parse(expression).unwrap();
    let files = [input.to_owned()];
    with_reading(&files, threads, |reading| {
        filter(reading, &expression, output)
    })
    .unwrap()
}

/// Packets of a pcap file: time and octets.
fn packets(path: &Path) -> Vec<(Option<i64>, Vec<u8>)> {
    let file = fs::read(path).unwrap();
    let mut reader = PacketReader::new(&file[..]).unwrap();
    let mut packets = Vec::new();
    while let Some(packet) = reader.next_packet().unwrap() {
        packets.push((packet.time_ns, packet.octets.to_vec()));
    }
    packets
}

#[test]
fn messages_are_those_for_which_the_expression_holds() {
    let folder = Folder::new();
    let sent = traffic();
    let input = folder.capture("all.pcap", &sent);
    let is_below = |sent: &Sent| sent.name().to_lowercase().ends_with("example.com.");
    let is_answer = |sent: &Sent| sent.octets[2] & 0x80 != 0;
    let is_aaaa = |sent: &Sent| sent.octets[sent.octets.len() - 3] == 28;
    type Wanted<'a> = &'a dyn Fn(&Sent) -> bool;
    let cases: [(&str, Wanted<'_>); 7] = [
        ("zone example.com", &is_below),
        ("zone example.com and query", &|sent| {
            is_below(sent) && !is_answer(sent)
        }),
        ("not zone example.com", &|sent| !is_below(sent)),
        ("rcode NXDOMAIN", &|sent| {
            is_answer(sent) && sent.octets[3] & 15 == 3
        }),
        ("type AAAA and tcp", &|sent| {
            is_aaaa(sent) && sent.transport == Transport::Tcp
        }),
        ("client 10.0.0.0/30 and query", &|sent| {
            !is_answer(sent)
                && sent.octets.len() > 12
                && u32::from_be_bytes(octets_of(sent)) & 0xFF < 4
        }),
        ("after 1700000000.1", &|sent| {
            sent.time_ns >= START + 100_000_000
        }),
    ];
    for (number, (expression, is_wanted)) in cases.into_iter().enumerate() {
        let output = folder.path(&format!("{number}.pcap"));
        let result = filtered(&input, expression, &output, 2);
        let expected: Vec<Sent> = sent
            .iter()
            .filter(|sent| is_wanted(sent))
            .cloned()
            .collect();
        assert_eq!(result.messages_kept, expected.len() as u64, "{expression}");
        assert_eq!(result.passed.messages, sent.len() as u64);
        assert!(
            !expected.is_empty() && expected.len() < sent.len(),
            "{expression}"
        );
        let mut found = read(&output);
        assert!(found.is_sorted_by_key(|sent| sent.time_ns));
        let mut expected = expected;
        found.sort();
        expected.sort();
        assert!(found == expected, "{expression}");
    }
}

fn octets_of(sent: &Sent) -> [u8; 4] {
    match sent.source.address {
        std::net::IpAddr::V4(address) => address.octets(),
        std::net::IpAddr::V6(_) => unreachable!("all clients have IPv4"),
    }
}

#[test]
fn packets_stay_as_they_were_where_clients_decide() {
    let folder = Folder::new();
    let input = folder.capture("all.pcap", &traffic());
    let output = folder.path("some.pcap");
    filtered(&input, "client 10.0.0.3,10.0.0.7", &output, 2);
    let clients = [[10, 0, 0, 3], [10, 0, 0, 7]];
    let is_wanted = |octets: &[u8]| {
        clients
            .iter()
            .any(|client| octets[26..30] == *client || octets[30..34] == *client)
    };
    let expected: Vec<_> = packets(&input)
        .into_iter()
        .filter(|(_, octets)| is_wanted(octets))
        .collect();
    // Handshakes of TCP, too.
    assert!(
        expected
            .iter()
            .any(|(_, octets)| octets[23] == 6 && octets[47] == 0x02)
    );
    assert!(packets(&output) == expected);
}

#[test]
fn the_number_of_threads_makes_no_difference() {
    let folder = Folder::new();
    let mut sent = Vec::new();
    // Enough for several chunks.
    for round in 0..40 {
        sent.extend(traffic().into_iter().map(|one| Sent {
            time_ns: one.time_ns + round * 1_000_000_000,
            ..one
        }));
    }
    let input = folder.capture("all.pcap", &sent);
    let outputs = [1, 2, 5].map(|threads| {
        let output = folder.path(&format!("{threads}.pcap"));
        filtered(&input, "zone example.com", &output, threads);
        fs::read(output).unwrap()
    });
    assert!(outputs[0] == outputs[1] && outputs[0] == outputs[2]);
}

#[test]
fn several_files_of_several_links_make_one() {
    let folder = Folder::new();
    let sent = traffic();
    let (first, second) = sent.split_at(150);
    let files = [
        folder.capture_of_link("second.pcap", 101, second),
        folder.capture_of_link("first.pcap", 113, first),
    ];
    let output = folder.path("all.pcap");
    let expression = Expression::parse("udp").unwrap();
    with_reading(&files, 2, |reading| filter(reading, &expression, &output)).unwrap();
    let expected: Vec<Sent> = sent
        .into_iter()
        .filter(|sent| sent.transport == Transport::Udp)
        .collect();
    assert!(read(&output) == expected);
}

#[test]
fn captures_without_dns_leave_nothing() {
    let folder = Folder::new();
    let mut other = Sent::query(0, 1, "example.com", 1);
    other.destination.port = 123;
    let input = folder.capture("ntp.pcap", &[other]);
    let expression = Expression::parse("query").unwrap();
    let files: [PathBuf; 1] = [input];
    let output = folder.path("none.pcap");
    let error =
        with_reading(&files, 2, |reading| filter(reading, &expression, &output)).unwrap_err();
    assert!(matches!(error, TrafficError::NoMessages { .. }));
    assert!(
        error
            .to_string()
            .contains("1 packets, of which 1 of other ports"),
        "{error}"
    );
    assert_eq!(folder.files(), ["ntp.pcap"]);
}

#[test]
fn an_output_that_cannot_be_written_is_named() {
    let folder = Folder::new();
    let files = [folder.capture("all.pcap", &traffic())];
    let expression = Expression::parse("query").unwrap();
    let output = folder.path("none/out.pcap");
    let error =
        with_reading(&files, 2, |reading| filter(reading, &expression, &output)).unwrap_err();
    assert!(
        matches!(&error, TrafficError::Write { file, .. } if *file == output),
        "{error}"
    );
    // A device that is always full; as root, a program may have put a file in its place.
    let device = fs::metadata("/dev/full").unwrap();
    assert!(
        device.file_type().is_char_device(),
        "/dev/full is no device: make it again by mknod -m 666 /dev/full c 1 7"
    );
    let error = with_reading(&files, 2, |reading| {
        filter(reading, &expression, Path::new("/dev/full"))
    })
    .unwrap_err();
    assert!(
        error.to_string().contains("/dev/full: cannot write"),
        "{error}"
    );
}
