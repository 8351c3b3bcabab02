//! Requests by class and type, and how many of them failed: the rows add up, whatever classes there are.

use crate::common::*;
use dnsrig_traffic::stats::{
    CountedFrom, Report, Statistics, StatsOptions, gather, merge_stored, parse_stored,
};
use domain::base::iana::{Class, Rtype};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

const NAME: &str = "version.bind";
const REFUSED: u16 = 5;
const QR: u16 = 0x8000;
const RD: u16 = 0x0100;
const HEADER_LEN: usize = 12;

/// A query, and its answer if it has one.
#[derive(Clone, Copy, Debug)]
struct Asked {
    qclass: u16,
    qtype: u16,
    has_question: bool,
    has_rd: bool,
    answer: Option<Answered>,
}

#[derive(Clone, Copy, Debug)]
struct Answered {
    has_failed: bool,
    has_question: bool,
    has_rd: bool,
}

fn asked() -> impl Strategy<Value = Asked> {
    // Nonsense of more pairs than have rows.
    let qclass = prop_oneof![Just(1_u16), Just(3), Just(255), 5..1200_u16];
    let answer = (any::<bool>(), any::<bool>(), any::<bool>());
    let answer = answer.prop_map(|(has_failed, has_question, has_rd)| Answered {
        has_failed,
        has_question,
        has_rd,
    });
    let query = (
        qclass,
        15..18_u16,
        prop::bool::weighted(0.95),
        any::<bool>(),
        prop::option::of(answer),
    );
    query.prop_map(|(qclass, qtype, has_question, has_rd, answer)| Asked {
        qclass,
        qtype,
        has_question,
        has_rd,
        answer,
    })
}

impl Asked {
    fn message(&self, id: u16, flags: u16, has_question: bool) -> Vec<u8> {
        let mut octets = message(id, flags, NAME, self.qtype);
        let class = octets.len() - 2;
        octets[class..].copy_from_slice(&self.qclass.to_be_bytes());
        if !has_question {
            octets.truncate(HEADER_LEN);
            octets[4..6].fill(0);
        }
        octets
    }

    /// The query and its answer, which may say less than the query, but nothing else.
    fn packets(&self, id: u16) -> impl Iterator<Item = Vec<u8>> {
        let rd = |has_rd| if has_rd { RD } else { 0 };
        let query = self.message(id, rd(self.has_rd), self.has_question);
        let answer = self.answer.map(|answer| {
            let rcode = if answer.has_failed { REFUSED } else { 0 };
            let has_question = answer.has_question && self.has_question;
            let answer = self.message(id, QR | rd(answer.has_rd) | rcode, has_question);
            udp_answer(4000, &answer)
        });
        [Some(udp_query(4000, &query)), answer]
            .into_iter()
            .flatten()
    }

    fn row(&self) -> (String, String) {
        (
            Class::from_int(self.qclass).to_string(),
            Rtype::from_int(self.qtype).to_string(),
        )
    }

    fn has_failed(&self) -> bool {
        self.answer.is_some_and(|answer| answer.has_failed)
    }
}

fn gathered(folder: &Path, all: &[Asked], counted_from: CountedFrom) -> Statistics {
    let packets = (0..).zip(all).flat_map(|(id, asked)| asked.packets(id));
    let packets: Vec<_> = packets.map(|octets| at(START_NS, octets)).collect();
    let file = write(folder, "a.pcap", &pcap(PCAP, &packets));
    let options = StatsOptions {
        counted_from: Some(counted_from),
        ..StatsOptions::default()
    };
    with_reading(&[file], 2, |reading| gather(reading, &options)).unwrap()
}

fn store(folder: &Path, name: &str, statistics: &Statistics) -> PathBuf {
    let state = serde_json::to_string(statistics).unwrap();
    write(folder, name, format!("{{\"state\": {state}}}").as_bytes())
}

/// Requests by row, and those of them that failed; `other` has what has no row.
type Rows = BTreeMap<(String, String), (u64, u64)>;

fn rows(report: &Report) -> Rows {
    let rows = report.types.iter();
    rows.map(|row| {
        (
            (row.class.clone(), row.qtype.clone()),
            (row.count, row.failed),
        )
    })
    .collect()
}

/// What the rows should be: those that `given` has, and the others together.
fn expected(all: &[Asked], given: &Rows) -> Rows {
    let other = ("other".to_owned(), "other".to_owned());
    let mut expected = Rows::new();
    for asked in all.iter().filter(|asked| asked.has_question) {
        let row = Some(asked.row()).filter(|row| given.contains_key(row));
        let counts = expected.entry(row.unwrap_or_else(|| other.clone()));
        let counts = counts.or_default();
        counts.0 += 1;
        counts.1 += u64::from(asked.has_failed());
    }
    expected
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn failures_are_counted_where_their_requests_are(all in prop::collection::vec(asked(), 1..6000), parts in 1..4_usize) {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let whole = Report::of(&gathered(folder, &all, CountedFrom::Queries));
        let found = rows(&whole);
        prop_assert!(found.len() <= 1025 + 3);
        prop_assert_eq!(&found, &expected(&all, &found));
        prop_assert!(found.values().all(|(count, failed)| failed <= count));
        let failed = all.iter().filter(|asked| asked.has_failed());
        prop_assert_eq!(whole.failed, failed.clone().count() as u64);
        let with_rd = |asked: &&Asked| asked.has_rd;
        let rd = [all.iter().filter(with_rd).count(), failed.filter(with_rd).count()].map(|count| count as u64);
        prop_assert_eq!([whole.rd.count, whole.rd.failed], rd);
        // The same rows, however they come together.
        let parts: Vec<PathBuf> = all.chunks(all.len().div_ceil(parts)).enumerate().map(|(number, part)| {
            let part = gathered(folder, part, CountedFrom::Queries);
            store(folder, &format!("{number}.json"), &part)
        }).rev().collect();
        let merged = merge_stored(&parts, &AtomicBool::new(false), &|_| ()).unwrap();
        prop_assert_eq!(rows(&Report::of(&merged)), found);
    }

    #[test]
    fn failures_of_answers_alone_are_counted_in_their_rows(all in prop::collection::vec(asked(), 1..6000)) {
        let folder = tempfile::tempdir().unwrap();
        let statistics = gathered(folder.path(), &all, CountedFrom::Answers);
        let found = rows(&Report::of(&statistics));
        let is_in_row = |asked: &&Asked| asked.answer.is_some_and(|answer| answer.has_question);
        let answered: Vec<Asked> = all.iter().filter(is_in_row).copied().collect();
        prop_assert_eq!(&found, &expected(&answered, &found));
    }

    #[test]
    fn rows_are_stored_with_their_failures(all in prop::collection::vec(asked(), 1..6000)) {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let statistics = gathered(folder, &all, CountedFrom::Queries);
        let stored = std::fs::read(store(folder, "a.json", &statistics)).unwrap();
        prop_assert_eq!(parse_stored(&stored[..]).unwrap(), statistics);
    }
}
