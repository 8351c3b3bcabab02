//! Captures made and changed by the programs that people use, with tshark's count beside ours.

use super::common::{Packet, Pcap, address, ethernet, query, tcp, udp};
use super::tools::{DEADLINE, has, run, tcp_responder, udp_responder};
use dnsrig_stream::QueryStream;
use dnsrig_stream::capture::{CaptureOptions, CaptureSummary, read};
use std::net::UdpSocket;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

fn parse(file: &Path, port: u16) -> (QueryStream, CaptureSummary) {
    let options = CaptureOptions {
        ports: vec![port],
        ..CaptureOptions::default()
    };
    read(file, &options, &AtomicBool::new(false)).unwrap()
}

/// 300 queries over UDP and TCP, IPv4 and IPv6, each with its response.
fn traffic() -> Vec<Packet> {
    let mut packets = Vec::new();
    for number in 0..300_u16 {
        let (client, server) = match number % 3 {
            0 => (format!("[2001:db8::{number}]:4000"), "[2001:db8:1::53]:53"),
            _ => (
                format!("192.0.2.{}:{}", number % 250, 4000 + number),
                "198.51.100.53:53",
            ),
        };
        let (client, server) = (address(&client), address(server));
        let query = query(&format!("n{number}.example.test"));
        let mut response = query.clone();
        response[2] |= 0x80;
        let time_ns = 1_700_000_000_000_000_000 + u64::from(number) * 1_234_000;
        let mut push = |after_ns: u64, packet: &[u8]| {
            packets.push((time_ns + after_ns, ethernet(&[], packet)))
        };
        if number % 5 == 0 {
            let framed = [&(query.len() as u16).to_be_bytes()[..], &query].concat();
            push(0, &tcp(client, server, 2, 99, b""));
            push(1000, &tcp(client, server, 0x18, 100, &framed));
        } else {
            push(0, &udp(client, server, &query));
            push(1000, &udp(server, client, &response));
        }
    }
    packets
}

#[test]
fn files_of_other_programs_give_the_same_stream_and_tsharks_names() {
    if !has("editcap", "wireshark-common")
        || !has("mergecap", "wireshark-common")
        || !has("tshark", "tshark")
    {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    std::fs::write(file("own.pcap"), Pcap::default().write(&traffic())).unwrap();
    let (stream, summary) = parse(&file("own.pcap"), 53);
    assert_eq!((summary.queries, summary.tcp.messages), (300, 60));
    for format in ["pcap", "nsecpcap", "pcapng"] {
        run(Command::new("editcap")
            .args(["-F", format])
            .arg(file("own.pcap"))
            .arg(file(format)));
        assert_eq!(
            parse(&file(format), 53),
            (stream.clone(), summary.clone()),
            "{format}"
        );
    }
    // Two interfaces, the second one's packets a second later.
    run(Command::new("editcap")
        .args(["-t", "1"])
        .arg(file("own.pcap"))
        .arg(file("later.pcapng")));
    run(Command::new("mergecap")
        .args(["-F", "pcapng", "-w"])
        .arg(file("merged"))
        .arg(file("later.pcapng"))
        .arg(file("pcap")));
    let (merged, merged_summary) = parse(&file("merged"), 53);
    assert_eq!(
        (merged.len(), merged.span_ns()),
        (540, stream.span_ns() + 1_000_000_000)
    );
    // TCP of the same connections comes a second time.
    assert_eq!(
        (merged_summary.packets, merged_summary.tcp.retransmitted),
        (1200, 60)
    );
    let names = run(Command::new("tshark")
        .args(["-r".as_ref(), file("own.pcap").as_os_str()])
        .args([
            "-Y",
            "dns.flags.response == 0 && dns.flags.opcode == 0",
            "-T",
            "fields",
            "-e",
            "dns.qry.name",
        ]));
    let names: Vec<_> = names.lines().collect();
    let questions = dnsrig_stream::Questions::of_stream(&stream).unwrap();
    let own: Vec<_> = questions
        .iter()
        .map(|question| question.name.to_string())
        .collect();
    assert_eq!(own, names);
}

#[test]
fn a_file_of_text2pcap_is_read() {
    if !has("text2pcap", "wireshark-common") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (text, capture) = (folder.path().join("text"), folder.path().join("capture"));
    let octets: Vec<_> = query("www.example.test")
        .iter()
        .map(|octet| format!("{octet:02x}"))
        .collect();
    std::fs::write(&text, format!("000000 {}\n", octets.join(" "))).unwrap();
    run(Command::new("text2pcap")
        .args(["-q", "-4", "192.0.2.1,192.0.2.2", "-u", "4000,53"])
        .arg(text)
        .arg(&capture));
    let (stream, _) = parse(&capture, 53);
    assert_eq!(stream.message(0)[2..], query("www.example.test")[2..]);
}

/// A tcpdump of the loopback interface, ended when dropped.
struct Tcpdump(Child);

impl Tcpdump {
    /// Captures traffic of `port`; `None` if that is not allowed here.
    fn start(port: u16, format: &[&str], file: &Path) -> Option<Self> {
        let child = Command::new("tcpdump")
            .args(["-i", "lo", "-n", "-U", "-B", "16384", "-Z", "root"])
            .args(format)
            .arg("-w")
            .arg(file)
            .args(["port", &port.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut tcpdump = Self(child);
        let errors = std::io::BufReader::new(tcpdump.0.stderr.take()?);
        for line in std::io::BufRead::lines(errors).map_while(Result::ok) {
            if line.contains("listening on") {
                return Some(tcpdump);
            }
        }
        eprintln!("skipped: tcpdump may not capture here; run the tests as root");
        None
    }
}

impl Drop for Tcpdump {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn what_dnsperf_sends_is_what_is_read_from_tcpdumps_file() {
    if !has("tcpdump", "tcpdump") || !has("dnsperf", "dnsperf") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("queries");
    let names: Vec<_> = (0..500)
        .map(|number| format!("n{number}.example.test"))
        .collect();
    std::fs::write(&data, names.join(" A\n") + " A\n").unwrap();
    for (transport, format) in [
        ("udp", &[][..]),
        ("tcp", &["--time-stamp-precision=nano"][..]),
    ] {
        // The port that UDP got may be taken for TCP.
        let (server, _queries) = std::iter::repeat_with(udp_responder)
            .find(|(server, _)| tcp_responder(*server).is_ok())
            .unwrap();
        let file = folder.path().join(transport);
        let Some(_tcpdump) = Tcpdump::start(server.port(), format, &file) else {
            return;
        };
        run(Command::new("dnsperf")
            .args([
                "-s",
                "127.0.0.1",
                "-p",
                &server.port().to_string(),
                "-m",
                transport,
                "-n",
                "1",
                "-c",
                "3",
                "-T",
                "1",
                "-d",
            ])
            .arg(&data));
        let (stream, summary) = read_until_the_end(&file, server.port());
        let questions = dnsrig_stream::Questions::of_stream(&stream).unwrap();
        let mut read: Vec<_> = questions
            .iter()
            .map(|question| question.name.to_string())
            .collect();
        let mut expected = [&names[..], &["end.test".to_owned()]].concat();
        read.sort();
        expected.sort();
        assert_eq!(read.len(), expected.len());
        assert_eq!(read, expected);
        assert_eq!(
            (summary.clients, summary.tcp.gaps, summary.tcp.incomplete),
            (1, 0, 0)
        );
        assert_eq!(
            summary.udp_datagrams,
            if transport == "udp" { 501 } else { 1 }
        );
    }
}

/// Sends a last query and reads the file as soon as it holds it.
fn read_until_the_end(file: &Path, port: u16) -> (QueryStream, CaptureSummary) {
    let last = query("end.test");
    UdpSocket::bind("127.0.0.1:0")
        .unwrap()
        .send_to(&last, ("127.0.0.1", port))
        .unwrap();
    let options = CaptureOptions {
        ports: vec![port],
        ..CaptureOptions::default()
    };
    let start = Instant::now();
    loop {
        let read = read(file, &options, &AtomicBool::new(false));
        match read {
            Ok((stream, summary)) if stream.iter().any(|message| message[2..] == last[2..]) => {
                return (stream, summary);
            }
            _ => assert!(start.elapsed() < DEADLINE, "tcpdump wrote no last query"),
        }
        std::thread::yield_now();
    }
}
