//! What messages are made of: options of lines and of all messages, updates, and dnsperf's own messages beside ours.

use super::common::without_id;
use super::tools::{DEADLINE, has, run, udp_responder};
use dnsrig_stream::message::cookie_place;
use dnsrig_stream::text::{queries, updates};
use dnsrig_stream::{MessageOptions, QueryStream, StreamError};
use domain::base::iana::{Class, Opcode, OptionCode, Rtype};
use domain::base::opt::AllOptData;
use domain::base::{Message, ParsedName};
use domain::rdata::AllRecordData;
use proptest::prelude::*;
use std::process::Command;
use std::sync::atomic::AtomicBool;

fn options(json: &str) -> MessageOptions {
    serde_json::from_str(json).unwrap()
}

fn stream(text: &str, options: &MessageOptions) -> QueryStream {
    let (stream, _, bad) = queries::parse(text.as_bytes(), options).unwrap();
    assert_eq!(bad.count(), 0, "{bad}");
    stream
}

fn message(line: &str, json: &str) -> Message<Vec<u8>> {
    Message::from_octets(stream(line, &options(json)).message(0).to_vec()).unwrap()
}

fn edns(message: &Message<Vec<u8>>) -> Vec<(OptionCode, Vec<u8>)> {
    let opt = message.opt().unwrap();
    let octets = opt
        .opt()
        .iter::<AllOptData<_, _>>()
        .map(|option| option.unwrap());
    octets
        .map(|option| {
            let mut data = Vec::new();
            domain::base::opt::ComposeOptData::compose_option(&option, &mut data).unwrap();
            (domain::base::opt::OptData::code(&option), data)
        })
        .collect()
}

#[test]
fn every_option_stands_where_its_rfc_says() {
    let all = r#"{"edns_size": 1232, "do_bit": true, "recursion_desired": false, "checking_disabled": true,
        "authentic_data": true, "nsid": true, "client_subnet": "192.0.2.0/23", "options": ["65001:00ff", "65002:"],
        "padding_block": 128, "cookie": true}"#;
    let message = message("www.example.test A", all);
    let header = message.header();
    assert_eq!(
        (header.rd(), header.cd(), header.ad(), header.opcode()),
        (false, true, true, Opcode::QUERY)
    );
    let opt = message.opt().unwrap();
    assert_eq!((opt.udp_payload_size(), opt.dnssec_ok()), (1232, true));
    let read = edns(&message);
    let codes: Vec<_> = read.iter().map(|(code, _)| code.to_int()).collect();
    assert_eq!(codes, [3, 8, 65001, 65002, 12, 10]);
    assert_eq!(read[1].1, [0, 1, 23, 0, 192, 0, 2]);
    assert_eq!(read[2].1, [0, 0xFF]);
    assert_eq!(message.as_slice().len(), 128);
    let place = cookie_place(message.as_slice()).unwrap();
    assert_eq!(place.client_cookie, 120);
    assert_eq!(message.as_slice()[place.option_len..][..2], [0, 8]);
    let rdata_len = u16::from_be_bytes([
        message.as_slice()[place.rdata_len],
        message.as_slice()[place.rdata_len + 1],
    ]);
    assert_eq!(usize::from(rdata_len), 128 - place.rdata_len - 2);
}

#[test]
fn without_options_there_is_no_opt_record() {
    let message = message("www.example.test MX", "{}");
    assert!(message.opt().is_none() && message.header().rd());
    assert_eq!(cookie_place(message.as_slice()), None);
}

#[test]
fn a_line_changes_what_all_messages_have() {
    let base = r#"{"edns_size": 1232, "cookie": true}"#;
    let message = message(
        "version.bind TXT CH rd=0 do=1 ad=1 cd=1 edns=512 cookie=0 ecs=2001:db8::/32 option=65001:aa option=65001:bb",
        base,
    );
    let question = message.sole_question().unwrap();
    assert_eq!(
        (question.qclass(), question.qtype()),
        (Class::CH, Rtype::TXT)
    );
    let opt = message.opt().unwrap();
    assert_eq!((opt.udp_payload_size(), opt.dnssec_ok()), (512, true));
    assert_eq!(
        (
            message.header().rd(),
            message.header().ad(),
            message.header().cd()
        ),
        (false, true, true)
    );
    let read = edns(&message);
    assert_eq!(read[0].1, [0, 2, 32, 0, 0x20, 1, 0x0D, 0xB8]);
    assert_eq!(
        read.iter().map(|(_, data)| data.len()).collect::<Vec<_>>(),
        [8, 1, 1]
    );
    let next = stream("a.test A padding=100\nb.test A nsid=1", &options("{}"));
    assert_eq!(next.message(0).len(), 100);
    assert_eq!(next.message(1).len(), 24 + 15);
}

#[test]
fn times_and_clients_of_lines_make_a_timed_stream() {
    let text = "a.test A time=10.5 client=192.0.2.1\nb.test A client=7 time=12\nc.test A time=11 client=192.0.2.1\n";
    let (stream, summary, bad) =
        queries::parse(text.as_bytes(), &MessageOptions::default()).unwrap();
    assert_eq!(bad.count(), 0, "{bad}");
    let read: Vec<_> = (0..3)
        .map(|index| {
            (
                stream.time_ns(index).unwrap(),
                stream.client(index).unwrap(),
            )
        })
        .collect();
    assert_eq!(read, [(0, 0), (500_000_000, 0), (1_500_000_000, 1)]);
    assert_eq!(
        (summary.clients, summary.span_ns, summary.out_of_order),
        (2, 1_500_000_000, 1)
    );
}

#[test]
fn every_bad_line_is_named_with_its_reason() {
    for (text, line, reason) in [
        (
            "a.test A XX",
            1,
            "'XX' after the type is neither a class nor an option",
        ),
        ("a.test A IN CH", 1, "'CH' is not an option"),
        ("a.test A do=2", 1, "write do=0 or do=1"),
        ("a.test A foo=1", 1, "'foo=' is not known"),
        ("a.test A ecs=192.0.2.1/24", 1, "write 192.0.2.0/24"),
        ("a.test A option=1:abc", 1, "CODE:HEX"),
        ("a.test A edns=70000", 1, "0 to 65535"),
        ("a.test A client=me time=1", 1, "a number or an IP address"),
        ("a.test A client=1", 1, "client= goes with time"),
        ("a.test A\nb.test A time=1", 2, "lines before it have none"),
        ("a.test A time=1\nb.test A", 2, "lines before it have one"),
    ] {
        let (_, _, bad) = queries::parse(text.as_bytes(), &MessageOptions::default()).unwrap();
        assert_eq!((bad.count(), bad.first()[0].line), (1, line), "{text}");
        assert!(
            bad.first()[0].reason.contains(reason),
            "{text}: {}",
            bad.first()[0].reason
        );
    }
    let base = options(&format!(r#"{{"options": ["1:{}"]}}"#, "aa".repeat(20_000)));
    let line = format!("a.test A option=2:{}", "aa".repeat(13_000));
    let (_, _, bad) = queries::parse(line.as_bytes(), &base).unwrap();
    assert!(bad.first()[0].reason.contains("more than 32768"), "{bad}");
}

const UPDATES: &str = "; a comment\nexample.com\nrequire a\nrequire a A\nrequire a A 1.2.3.4\nprohibit x\nprohibit x A\n\
    add x 3600 A 10.1.2.3\nadd @ 60 MX 10 mail\nadd t 5 TXT \"two words\" b\ndelete y A 10.1.2.3\ndelete z.example.com. A\ndelete w\nsend\n\
    \nexample.net.\nadd x 3600 AAAA ::1\nsend\n";

#[test]
fn an_update_has_zone_prerequisites_and_updates() {
    let (stream, bad) = updates::parse(UPDATES.as_bytes(), &MessageOptions::default()).unwrap();
    assert_eq!((stream.len(), bad.count()), (2, 0), "{bad}");
    let message = Message::from_octets(stream.message(0)).unwrap();
    assert_eq!(message.header().opcode(), Opcode::UPDATE);
    let zone = message.sole_question().unwrap();
    assert_eq!(
        (zone.qname().to_string(), zone.qtype(), zone.qclass()),
        ("example.com".into(), Rtype::SOA, Class::IN)
    );
    let records = |section: domain::base::RecordSection<'_, &[u8]>| -> Vec<String> {
        section
            .map(|record| {
                let record = record.unwrap();
                let shown = if record.rdlen() == 0 {
                    String::new()
                } else {
                    record
                        .to_any_record::<AllRecordData<_, ParsedName<_>>>()
                        .unwrap()
                        .data()
                        .to_string()
                };
                format!(
                    "{} {} {} {} {shown}",
                    record.owner(),
                    record.ttl().as_secs(),
                    record.class(),
                    record.rtype()
                )
            })
            .collect()
    };
    assert_eq!(
        records(message.answer().unwrap()),
        [
            "a.example.com 0 * ANY ",
            "a.example.com 0 * A ",
            "a.example.com 0 IN A 1.2.3.4",
            "x.example.com 0 NONE ANY ",
            "x.example.com 0 NONE A "
        ]
    );
    assert_eq!(
        records(message.authority().unwrap()),
        [
            "x.example.com 3600 IN A 10.1.2.3",
            "example.com 60 IN MX 10 mail.example.com.",
            "t.example.com 5 IN TXT \"two words\" \"b\"",
            "y.example.com 0 NONE A 10.1.2.3",
            "z.example.com 0 * A ",
            "w.example.com 0 * ANY "
        ]
    );
    let (stream, _) =
        updates::parse(UPDATES.as_bytes(), &options(r#"{"edns_size": 1232}"#)).unwrap();
    assert_eq!(
        Message::from_octets(stream.message(1))
            .unwrap()
            .opt()
            .unwrap()
            .udp_payload_size(),
        1232
    );
}

#[test]
fn bad_lines_of_updates_are_named_and_cost_their_update_only() {
    let text = "example.com\nadd x A 1.2.3.4\nadd y 5 A nonsense\nsend\nexample.com extra\nadd y 5 A 1.2.3.4\nsend\nsend\n\
        example.com\nadd z 5 A 1.2.3.4\nsend\nexample.com\nadd m 5 MX 10 a..b\nsend\nexample.com\nprohibit x A 1.2.3.4\nsend\nexample.com\nfoo\nsend\n\
        example.com\nadd q 1 A (\nsend\nexample.com\nadd q 1 TXT ( a\nsend\nexample.com\nadd";
    let (stream, bad) = updates::parse(text.as_bytes(), &MessageOptions::default()).unwrap();
    let lines: Vec<_> = bad.first().iter().map(|line| line.line).collect();
    assert_eq!(
        (stream.len(), lines),
        (1, vec![2, 5, 8, 13, 16, 19, 22, 25, 28, 28]),
        "{bad}"
    );
    let reasons: Vec<_> = bad
        .first()
        .iter()
        .map(|line| line.reason.as_str())
        .collect();
    assert!(reasons[0].contains("'A' is not a TTL"), "{bad}");
    assert!(
        reasons[7].contains("an opening parenthesis that is never closed"),
        "{bad}"
    );
    assert!(
        reasons[9].contains("began at line 27 has no 'send'"),
        "{bad}"
    );
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    let read = |skip_bad| {
        updates::read(
            file.path(),
            &MessageOptions::default(),
            skip_bad,
            &AtomicBool::new(false),
        )
    };
    assert!(matches!(read(false), Err(StreamError::BadLines { .. })));
    assert_eq!(read(true).unwrap().1.skipped, 10);
}

/// What dnsperf sends with these arguments, in the order of sending, IDs zero.
fn sent_by_dnsperf(data: &str, count: usize, arguments: &[&str]) -> Vec<Vec<u8>> {
    let (server, queries) = udp_responder();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), data).unwrap();
    run(Command::new("dnsperf")
        .args([
            "-s",
            "127.0.0.1",
            "-p",
            &server.port().to_string(),
            "-n",
            "1",
            "-T",
            "1",
        ])
        .args(arguments)
        .arg("-d")
        .arg(file.path()));
    (0..count)
        .map(|_| without_id(&queries.recv_timeout(DEADLINE).unwrap()))
        .collect()
}

#[test]
fn messages_are_those_of_dnsperf() {
    if !has("dnsperf", "dnsperf") {
        return;
    }
    let lines = "www.example.test A\nexample.test MX\n. NS\n";
    let own = |json: &str| {
        stream(lines, &options(json))
            .iter()
            .map(<[u8]>::to_vec)
            .collect::<Vec<_>>()
    };
    assert_eq!(sent_by_dnsperf(lines, 3, &[]), own("{}"));
    assert_eq!(
        sent_by_dnsperf(lines, 3, &["-D"]),
        own(r#"{"do_bit": true}"#)
    );
    assert_eq!(
        sent_by_dnsperf(lines, 3, &["-E", "65001:00ff"]),
        own(r#"{"options": ["65001:00ff"]}"#)
    );
}

#[test]
fn updates_are_those_of_dnsperf() {
    if !has("dnsperf", "dnsperf") {
        return;
    }
    // dnsperf knows neither comments between updates nor '@'.
    let text: String = UPDATES
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with([';']) && !line.contains('@'))
        .map(|line| format!("{line}\n"))
        .collect();
    let (stream, bad) = updates::parse(text.as_bytes(), &MessageOptions::default()).unwrap();
    assert_eq!(bad.count(), 0, "{bad}");
    let sent = sent_by_dnsperf(&text, 2, &["-u"]);
    for (sent, own) in sent.iter().zip(stream.iter()) {
        assert_eq!(records_of(sent), records_of(own));
    }
}

/// A message's counts and records without name compression.
fn records_of(message: &[u8]) -> Vec<String> {
    let message = Message::from_octets(message).unwrap();
    let (zone, answer, authority, _) = message.sections().unwrap();
    let mut read = vec![
        format!("{:?}", message.header_counts()),
        message.header().opcode().to_string(),
    ];
    read.extend(zone.map(|zone| zone.unwrap().to_string()));
    for record in answer.chain(authority) {
        let record = record.unwrap();
        read.push(format!(
            "{} {} {} {} {}",
            record.owner(),
            record.ttl().as_secs(),
            record.class(),
            record.rtype(),
            record.rdlen()
        ));
    }
    read
}

proptest! {
    #[test]
    fn any_line_of_known_words_is_read_or_refused(
        words in prop::collection::vec(prop::sample::select(vec![
            "example.com", "a", "A", "MX", "TXT", "add", "delete", "require", "prohibit", "send", "3600", "10", "1.2.3.4", "mail", "(", ")",
            "\"", ";", "\\", "@", "\n", "\n", "\n", "do=1", "ecs=::/0", "padding=65535", "time=1", "client=1", "IN", "option=1:", "\\#", "cookie=1",
        ]), 0..60),
    ) {
        let text = words.join(" ");
        let options = MessageOptions::default();
        let (stream, bad) = updates::parse(text.as_bytes(), &options).unwrap();
        for message in stream.iter() {
            let read = Message::from_octets(message).unwrap();
            for section in [read.answer().unwrap(), read.authority().unwrap()] {
                for record in section {
                    prop_assert!(record.is_ok(), "{text} {bad}");
                }
            }
        }
        let (stream, _, _) = queries::parse(text.as_bytes(), &options).unwrap();
        for message in stream.iter() {
            let read = Message::from_octets(message).unwrap();
            prop_assert!(read.sole_question().is_ok() && read.additional().unwrap().all(|record| record.is_ok()), "{text}");
        }
    }

    #[test]
    fn padding_makes_whole_blocks(block in 1..2000_u16, len in 1..60_usize, cookie in any::<bool>()) {
        let line = format!("{}.test A padding={block} cookie={}", "a".repeat(len), u8::from(cookie));
        let stream = stream(&line, &MessageOptions::default());
        prop_assert_eq!(stream.message(0).len() % usize::from(block), 0);
        prop_assert_eq!(cookie_place(stream.message(0)).is_some(), cookie);
    }
}
