//! Stored statistics that are added up.

use crate::common::*;
use dnsrig_traffic::TrafficError;
use dnsrig_traffic::stats::{
    CountedFrom, Report, Statistics, StatsOptions, gather, merge_stored, parse_stored,
};
use proptest::prelude::*;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

const OPTIONS: StatsOptions = StatsOptions {
    counted_from: Some(CountedFrom::Queries),
    names: 1000,
    clients: 1000,
    stores_all: false,
};
const NAMES: [&str; 6] = [
    "www.example.test",
    "WWW.Example.Test",
    "example.test",
    "xkqzvwpt.invalid",
    "example.com",
    "",
];
const TYPES: [u16; 4] = [1, 28, 255, 65_280];

/// A query, and its answer if it has one.
#[derive(Clone, Debug)]
struct Asked {
    time_ms: i64,
    client: u8,
    name: usize,
    qtype: usize,
    rcode: Option<u16>,
}

fn a_capture() -> impl Strategy<Value = Vec<Asked>> {
    let asked = (
        0..5000_i64,
        0..30_u8,
        0..NAMES.len(),
        0..TYPES.len(),
        prop::option::of(0..6_u16),
    );
    let asked = asked.prop_map(|(time_ms, client, name, qtype, rcode)| Asked {
        time_ms,
        client,
        name,
        qtype,
        rcode,
    });
    prop::collection::vec(asked, 1..40)
}

fn packets(capture: &[Asked], start_ns: i64) -> Vec<Captured> {
    let asked = (0..).zip(capture).flat_map(|(id, asked)| {
        let time_ns = start_ns + asked.time_ms * 1_000_000;
        let client = format!("10.0.0.{}", asked.client);
        let (name, qtype) = (NAMES[asked.name], TYPES[asked.qtype]);
        let sent = udp((&client, 4000), (SERVER, 53), &query(id, name, qtype));
        let answered = asked.rcode.map(|rcode| {
            let answer = answer(id, name, qtype, rcode);
            at(
                time_ns + 1_500_000,
                udp((SERVER, 53), (&client, 4000), &answer),
            )
        });
        [Some(at(time_ns, sent)), answered].into_iter().flatten()
    });
    asked.collect()
}

/// The figures, without what depends on the machine's speed and on files.
fn figures(statistics: &Statistics) -> Value {
    let mut report = serde_json::to_value(Report::of(statistics)).unwrap();
    for key in ["throughput", "files"] {
        report.as_object_mut().unwrap().remove(key);
    }
    report
}

fn gathered(folder: &Path, name: &str, packets: &[Captured]) -> Statistics {
    let file = write(folder, name, &pcap(PCAP, packets));
    with_reading(&[file], 1, |reading| gather(reading, &OPTIONS)).unwrap()
}

/// What `dnsrig traffic stats --json` prints, as far as it is added up.
fn store(folder: &Path, name: &str, statistics: &Statistics) -> PathBuf {
    let state = serde_json::to_string(statistics).unwrap();
    let stored = format!("{{\"requests\": 1, \"state\": {state}}}");
    write(folder, name, stored.as_bytes())
}

fn merged(files: &[PathBuf]) -> Result<Statistics, TrafficError> {
    merge_stored(files, &AtomicBool::new(false), &|_| ())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn parts_in_any_order_and_grouping_add_up_to_the_whole(
        captures in prop::collection::vec(a_capture(), 1..5),
        order in Just((0..5_usize).collect::<Vec<_>>()).prop_shuffle(),
        cut in 1..5_usize,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        // Far enough apart that no query has its answer in another part.
        let parts: Vec<_> = (0..).zip(&captures).map(|(number, capture)| {
            packets(capture, START_NS + number * 60 * SECOND_NS)
        }).collect();
        let whole = gathered(folder, "whole.pcap", &parts.concat());
        let files: Vec<_> = parts.iter().enumerate().map(|(number, packets)| {
            let statistics = gathered(folder, "part.pcap", packets);
            store(folder, &format!("{number}.json"), &statistics)
        }).collect();
        let files: Vec<_> = order.iter().filter_map(|place| files.get(*place).cloned()).collect();
        let expected = figures(&whole);
        prop_assert_eq!(&figures(&merged(&files).unwrap()), &expected);
        // Some first, then the others; both groups are stored in between.
        let cut = cut.min(files.len());
        let mut groups = vec![store(folder, "first.json", &merged(&files[..cut]).unwrap())];
        if cut < files.len() {
            groups.push(store(folder, "second.json", &merged(&files[cut..]).unwrap()));
        }
        prop_assert_eq!(&figures(&merged(&groups).unwrap()), &expected);
    }

    #[test]
    fn what_is_stored_is_read_again(capture in a_capture()) {
        let folder = tempfile::tempdir().unwrap();
        let statistics = gathered(folder.path(), "a.pcap", &packets(&capture, START_NS));
        let stored = std::fs::read(store(folder.path(), "a.json", &statistics)).unwrap();
        prop_assert_eq!(parse_stored(&stored[..]).unwrap(), statistics);
    }
}

/// A file with statistics of one query.
fn stored_query(folder: &Path) -> PathBuf {
    let asked = Asked {
        time_ms: 0,
        client: 1,
        name: 0,
        qtype: 0,
        rcode: Some(0),
    };
    let packets = packets(&[asked], START_NS);
    let statistics = gathered(folder, "a.pcap", &packets);
    store(folder, "queries.json", &statistics)
}

#[test]
fn statistics_of_other_versions_are_refused_wherever_they_stand() {
    let folder = tempfile::tempdir().unwrap();
    let queries = stored_query(folder.path());
    let text = std::fs::read_to_string(&queries).unwrap();
    let is_said = |files: &[PathBuf], age: &str| {
        let error = merged(files).unwrap_err();
        assert!(
            matches!(error, TrafficError::OtherVersion { .. }),
            "{error}"
        );
        let said = error.to_string();
        for part in ["other.json: ", age, "make them again from the captures"] {
            assert!(said.contains(part), "{said}");
        }
    };
    let version = format!("\"version\":{}", Statistics::VERSION);
    assert!(text.contains(&version));
    for (other, age) in [
        (
            "\"version\":1",
            "version 1 of their form, which an older dnsrig",
        ),
        (
            "\"version\":99",
            "version 99 of their form, which a newer dnsrig",
        ),
        // Of another form.
        ("\"version\":1,\"queries\":7", "version 1 of their form"),
    ] {
        let other = text.replacen(&version, other, 1);
        let other = write(folder.path(), "other.json", other.as_bytes());
        is_said(std::slice::from_ref(&other), age);
        is_said(&[queries.clone(), other.clone()], age);
        is_said(&[other, queries.clone()], age);
    }
    // What this version cannot read is no other version.
    let damaged = text.replacen(&version, &format!("{version},\"queries\":7"), 1);
    let damaged = write(folder.path(), "damaged.json", damaged.as_bytes());
    let error = merged(&[damaged]).unwrap_err();
    assert!(
        matches!(error, TrafficError::NoStatistics { .. }),
        "{error}"
    );
}

#[test]
fn files_that_cannot_be_added_up_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let queries = stored_query(folder);
    let file = folder.join("a.pcap");
    let options = StatsOptions {
        counted_from: Some(CountedFrom::Answers),
        ..OPTIONS
    };
    let answers = with_reading(std::slice::from_ref(&file), 1, |reading| {
        gather(reading, &options)
    });
    let answers = store(folder, "answers.json", &answers.unwrap());
    let error = merged(&[queries.clone(), answers]).unwrap_err();
    assert!(matches!(error, TrafficError::NotMergeable { .. }));
    assert!(error.to_string().contains("answers.json: these"), "{error}");
    let error = merged(&[queries.clone(), file]).unwrap_err();
    assert!(matches!(error, TrafficError::NoStatistics { .. }));
    assert!(
        error.to_string().contains("a.pcap: holds no statistics"),
        "{error}"
    );
    let error = merged(&[queries.clone(), folder.join("missing")]).unwrap_err();
    assert!(
        error.to_string().contains("cannot read the file"),
        "{error}"
    );
    let packed = zstd::encode_all(&std::fs::read(&queries).unwrap()[..], 1).unwrap();
    let packed = write(folder, "queries.json.zst", &packed);
    assert!(merged(&[queries.clone(), packed.clone()]).is_ok());
    let cut = std::fs::read(&packed).unwrap();
    let cut = write(folder, "cut.json.zst", &cut[..cut.len() / 2]);
    let error = merged(&[queries, cut]).unwrap_err().to_string();
    assert!(
        error.contains("cut.json.zst: its zstd data are cut off"),
        "{error}"
    );
}
