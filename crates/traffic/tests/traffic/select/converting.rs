use super::captures::{Folder, SECOND, Sent, read, traffic, with_reading};
use dnsrig_stream::MessageOptions;
use dnsrig_stream::capture::{self, CaptureOptions};
use dnsrig_stream::text::queries;
use dnsrig_traffic::select::{Converted, Converting, Form, StandIns, convert};
use dnsrig_traffic::{TrafficError, Transport};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

fn converted(input: &Path, from: Form, output: &Path, to: Form) -> Result<Converted, TrafficError> {
    let files: [PathBuf; 1] = [input.to_owned()];
    let converting = Converting {
        from,
        to,
        stand_ins: StandIns::default(),
    };
    with_reading(&files, 2, |reading| convert(reading, &converting, output))
}

/// Queries with everything that a line can say, by several clients; and what none can say.
fn dressed() -> Vec<Sent> {
    let mut sent: Vec<Sent> = traffic();
    let opt: &[u8] =
        b"\0\0\x29\x04\xD0\0\0\x80\0\0\x0C\0\x0A\0\x08\x01\x02\x03\x04\x05\x06\x07\x08";
    let mut with_opt = Sent::query(300 * 1_000_000, 3, "edns.example", 28);
    with_opt.octets[11] = 1;
    with_opt.octets.extend_from_slice(opt);
    let mut flags = Sent::query(301 * 1_000_000, 4, "flags.example", 28);
    flags.octets[2..4].copy_from_slice(&[0, 0x30]);
    let mut ipv6 = Sent::query(302 * 1_000_000 + 1, 5, "v6.example", 1);
    ipv6.source.address = "2001:db8::7".parse().unwrap();
    ipv6.destination.address = "2001:db8::53".parse().unwrap();
    let mut update = Sent::query(303 * 1_000_000, 5, "update.example", 6);
    update.octets[2] = 0x28;
    let mut truncated = Sent::query(304 * 1_000_000, 5, "tc.example", 6);
    truncated.octets[2] = 0x02;
    sent.extend([with_opt, flags, ipv6, update, truncated]);
    sent
}

/// What a load sends of a file: messages, times and clients.
fn sent_of(path: &Path, form: Form) -> Vec<(Vec<u8>, Option<u64>, Option<u32>)> {
    let stream = stream_of(path, form);
    let numbers = 0..stream.len();
    numbers
        .map(|number| {
            let message = stream.message(number).to_vec();
            (message, stream.time_ns(number), stream.client(number))
        })
        .collect()
}

fn stream_of(path: &Path, form: Form) -> dnsrig_stream::QueryStream {
    let cancel = AtomicBool::new(false);
    match form {
        Form::Capture => {
            capture::read(path, &CaptureOptions::default(), &cancel)
                .unwrap()
                .0
        }
        Form::Text => {
            queries::read(path, &MessageOptions::default(), false, &cancel)
                .unwrap()
                .0
        }
        Form::Binary => dnsrig_stream::binary::read(path, &cancel).unwrap(),
    }
}

#[test]
fn text_has_the_stream_of_the_capture_and_gives_it_back() {
    let folder = Folder::new();
    let input = folder.capture("all.pcap", &dressed());
    let (text, again) = (folder.path("q.txt"), folder.path("q.pcap"));
    let done = converted(&input, Form::Capture, &text, Form::Text).unwrap();
    let Converted::Messages { written, .. } = done else {
        panic!("{done:?}")
    };
    assert_eq!(written.messages_written, 203);
    let left_out = written.messages_left_out;
    assert_eq!(
        (
            left_out.answers,
            left_out.other_opcode,
            left_out.flags,
            left_out.sum()
        ),
        (200, 1, 1, 202)
    );
    let said = sent_of(&text, Form::Text);
    assert_eq!(said.len(), 203);
    // The capture without what no line can say.
    let sayable: Vec<Sent> = dressed()
        .into_iter()
        .filter(|sent| sent.octets[2] & 0xFE == 0)
        .collect();
    let sayable = folder.capture("sayable.pcap", &sayable);
    assert!(said == sent_of(&sayable, Form::Capture));
    converted(&text, Form::Text, &again, Form::Capture).unwrap();
    assert!(said == sent_of(&again, Form::Capture));
    let text_again = folder.path("again.txt");
    converted(&again, Form::Capture, &text_again, Form::Text).unwrap();
    assert!(fs::read(&text).unwrap() == fs::read(&text_again).unwrap());
}

#[test]
fn binary_has_every_query_as_it_is() {
    let folder = Folder::new();
    let sent = dressed();
    let input = folder.capture("all.pcap", &sent);
    let (binary, again, capture) = (
        folder.path("q.bin"),
        folder.path("again.bin"),
        folder.path("q.pcap"),
    );
    converted(&input, Form::Capture, &binary, Form::Binary).unwrap();
    converted(&binary, Form::Binary, &capture, Form::Capture).unwrap();
    converted(&capture, Form::Capture, &again, Form::Binary).unwrap();
    assert!(fs::read(&binary).unwrap() == fs::read(&again).unwrap());
    let queries: Vec<&Sent> = sent
        .iter()
        .filter(|sent| sent.octets[2] & 0x80 == 0)
        .collect();
    let stream = stream_of(&binary, Form::Binary);
    assert_eq!(stream.len(), queries.len());
    for (read, query) in stream.iter().zip(&queries) {
        assert_eq!(read[2..], query.octets[2..]);
    }
    let found = read(&capture);
    assert!(
        found
            .iter()
            .map(|sent| &sent.octets)
            .eq(queries.iter().map(|sent| &sent.octets))
    );
    // A thousand a second, as said.
    assert_eq!(found[7].time_ns, 7_000_000);
}

#[test]
fn from_capture_to_capture_packets_stay() {
    let folder = Folder::new();
    let input = folder.capture("all.pcap", &traffic());
    let output = folder.path("same.pcap");
    let done = converted(&input, Form::Capture, &output, Form::Capture).unwrap();
    let Converted::Packets(passed) = done else {
        panic!("{done:?}")
    };
    assert_eq!(passed.messages, 400);
    assert!(fs::read(&input).unwrap() == fs::read(&output).unwrap());
}

#[test]
fn clients_and_servers_of_text_are_made_up_as_said() {
    let folder = Folder::new();
    let text = folder.path("q.txt");
    fs::write(
        &text,
        "a.test A time=1 client=7\nb.test A time=1.5 client=2001:db8::1\n",
    )
    .unwrap();
    let output = folder.path("q.pcap");
    converted(&text, Form::Text, &output, Form::Capture).unwrap();
    let ends: Vec<(i64, String, String)> = read(&output)
        .iter()
        .map(|sent| {
            (
                sent.time_ns,
                sent.source.address.to_string(),
                sent.destination.to_string(),
            )
        })
        .collect();
    assert_eq!(
        ends,
        [
            (SECOND, "10.0.0.7".into(), "192.0.2.53:53".into()),
            (
                SECOND * 3 / 2,
                "2001:db8::1".into(),
                "[2001:db8::53]:53".into()
            ),
        ]
    );
    let files = [text];
    let converting = |stand_ins| Converting {
        from: Form::Text,
        to: Form::Capture,
        stand_ins,
    };
    let chosen = StandIns {
        server: "198.51.100.1".parse().ok(),
        port: 5300,
        ..StandIns::default()
    };
    with_reading(&files, 1, |reading| {
        convert(reading, &converting(chosen), &output)
    })
    .unwrap();
    let bad = StandIns {
        rate_qps: 0.0,
        ..StandIns::default()
    };
    let error = with_reading(&files, 1, |reading| {
        convert(reading, &converting(bad), &output)
    })
    .unwrap_err();
    assert!(error.to_string().contains("0 is no rate"), "{error}");
}

#[test]
fn bad_lines_are_named_or_counted() {
    let folder = Folder::new();
    let text = folder.path("q.txt");
    fs::write(&text, "a.test A\nb.test NOTYPE\nc.test A time=1\n").unwrap();
    let output = folder.path("q.bin");
    let error = converted(&text, Form::Text, &output, Form::Binary)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("line 2:") && error.contains("line 3:"),
        "{error}"
    );
    assert_eq!(folder.files(), ["q.txt"]);
    let files = [text];
    let stand_ins = StandIns {
        skip_bad: true,
        ..StandIns::default()
    };
    let converting = Converting {
        from: Form::Text,
        to: Form::Binary,
        stand_ins,
    };
    let done = with_reading(&files, 1, |reading| convert(reading, &converting, &output)).unwrap();
    let Converted::Messages { input, written } = done else {
        panic!("{done:?}")
    };
    assert_eq!((input.bad_lines, written.messages_written), (2, 1));
}

#[test]
fn messages_of_other_transports_become_tcp() {
    let folder = Folder::new();
    let query = Sent::query(0, 1, "tls.example", 1).by(Transport::Tls);
    let input = folder.capture("tls.pcap", std::slice::from_ref(&query));
    assert_eq!(
        read(&input),
        [Sent {
            transport: Transport::Tcp,
            ..query
        }]
    );
}
