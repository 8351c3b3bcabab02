//! Zones as they come: text in several files, TTLs left out, duplicates, changes, and more below one cut than a block holds.

use super::zones::pool;
use dnsrig_zone::flow::{Batch, Changes, Opening, over_names};
use dnsrig_zone::tools::check::{Rule, Severity};
use dnsrig_zone::{NameKind, ZoneError, tools};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

const SOA: &str = "z. 60 IN SOA . . 1 2 3 4 5\n";

/// A folder with these files, and the path of the first.
fn files(files: &[(&str, &str)]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let path = folder.path().join(files[0].0);
    (folder, path)
}

/// The sorted text of the zone file `path`, and the number of warnings.
fn sorted(path: &Path, memory: usize) -> Result<(String, u64), ZoneError> {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("sorted");
    let mut opening = Opening::new(path, None);
    opening.memory = memory;
    let done = tools::sort(&opening, &pool(2), &target)?;
    Ok((fs::read_to_string(target).unwrap(), done.warning_count))
}

fn sorted_text(text: &str) -> Result<(String, u64), ZoneError> {
    let (_folder, path) = files(&[("zone", text)]);
    sorted(&path, usize::MAX)
}

/// All batches of the zone of `opening`.
fn batches(opening: &Opening<'_>) -> Result<Vec<Batch>, ZoneError> {
    over_names(opening, &pool(2), |flow| {
        std::iter::from_fn(|| flow.next_batch().transpose()).collect()
    })
}

fn owners(batches: &[Batch]) -> Vec<Vec<u8>> {
    let names = batches.iter().flat_map(Batch::names);
    names.map(|name| name.owner().to_vec()).collect()
}

#[test]
fn check_finds_foreign_names_of_an_included_file() {
    let main = format!("{SOA}z. 60 NS ns.z.\n$INCLUDE part\n");
    let (_folder, path) = files(&[("zone", &main), ("part", "x.other. 60 A 192.0.2.1\n")]);
    let checked = tools::check(&Opening::new(&path, None), &pool(2), 10).unwrap();
    assert_eq!(checked.counts.get(&Rule::OutOfZone), Some(&1));
    assert!(
        checked
            .findings
            .iter()
            .any(|finding| finding.rule.severity() == Severity::Error)
    );
}

#[test]
fn check_finds_more_foreign_names_than_a_batch_holds() {
    let mut text = String::from(SOA);
    for number in (0..7_000).rev() {
        writeln!(text, "n{number}.a. 60 A 192.0.2.1").unwrap();
    }
    let (_folder, path) = files(&[("zone", &text)]);
    let checked = tools::check(&Opening::new(&path, None), &pool(2), 10).unwrap();
    assert_eq!(checked.counts.get(&Rule::OutOfZone), Some(&7_000));
    assert_eq!(checked.counts.get(&Rule::NoNs), Some(&1));
}

/// Names without TTL in descending order, more than fit into two blocks.
fn without_ttl() -> String {
    let lines = (0..20_000).rev();
    lines.fold(String::new(), |mut text, number| {
        writeln!(text, "n{number:05}.z. IN A 192.0.2.1").unwrap();
        text
    })
}

#[test]
fn ttls_left_out_before_the_soa_record() {
    let names = without_ttl();
    for soa in ["z. IN SOA . . 1 2 3 4 5\n", "z. 60 IN SOA . . 1 2 3 4 5\n"] {
        let (_folder, path) = files(&[("zone", &format!("{names}{soa}"))]);
        for memory in [1, 100_000, usize::MAX] {
            let (text, warnings) = sorted(&path, memory).unwrap();
            let filled = text.lines().skip(1).filter(|line| line.contains(" 5 IN A"));
            assert_eq!(filled.count(), 20_000, "{memory} octets of memory");
            assert_eq!(warnings, 1);
        }
    }
}

#[test]
fn ttls_left_out_after_the_soa_record() {
    let text = format!(
        "z. IN SOA . . 1 2 3 4 5\n{}z. 60 IN NS n1.z.\nlast.z. IN A 192.0.2.1\n",
        without_ttl()
    );
    let (_folder, path) = files(&[("zone", &text)]);
    for memory in [1, 100_000, usize::MAX] {
        let (text, warnings) = sorted(&path, memory).unwrap();
        let filled = text.lines().filter(|line| line.contains(" 5 IN A"));
        assert_eq!(filled.count(), 20_000);
        assert!(text.contains("last.z. 60 IN A"));
        assert_eq!(warnings, 1);
    }
}

#[test]
fn a_ttl_left_out_is_told_of_sorted_files_too() {
    let text = "z. IN SOA . . 1 2 3 4 5\nz. NS ns.other.\na.z. A 192.0.2.1\n";
    assert_eq!(sorted_text(text).unwrap().1, 1);
    let (_folder, path) = files(&[("zone", text)]);
    let checked = tools::check(&Opening::new(&path, None), &pool(2), 10).unwrap();
    assert_eq!(checked.counts.get(&Rule::Ttl), Some(&1));
}

#[test]
fn an_origin_does_not_outlive_its_file() {
    // The first names of a file are parsed by this thread.
    sorted_text("$ORIGIN z.\n@ 60 SOA ns hostmaster 1 2 3 4 5\n").unwrap();
    let error = sorted_text("z. 60 SOA ns hostmaster 1 2 3 4 5\n").unwrap_err();
    assert!(error.to_string().contains("zone:1:"), "{error}");
    assert!(error.to_string().contains("origin"), "{error}");
}

#[test]
fn an_included_file_begins_with_the_owner_before_it() {
    let main = format!(
        "$ORIGIN z.\n{SOA}b 60 A 192.0.2.1\n$INCLUDE p1\n$INCLUDE p2\n$INCLUDE p3\n A 192.0.2.9\n"
    );
    let (_folder, path) = files(&[
        ("zone", &main),
        ("p1", " TXT \"of b\"\nc 60 A 192.0.2.2\n"),
        ("p2", " A 192.0.2.3\n"),
        // Another file comes before the first record of this one.
        ("p3", "$INCLUDE p2\n"),
    ]);
    let (text, _) = sorted(&path, usize::MAX).unwrap();
    let expected = "\
        b.z. 60 IN A 192.0.2.1\n\
        b.z. 60 IN A 192.0.2.3\n\
        b.z. 60 IN A 192.0.2.9\n\
        b.z. 60 IN TXT \"of b\"\n\
        c.z. 60 IN A 192.0.2.2\n";
    assert_eq!(text.split_once('\n').unwrap().1, expected);
}

#[test]
fn of_duplicates_the_lowest_ttl_is_taken() {
    let (low, high) = ("a.z. 60 A 192.0.2.1\n", "a.z. 300 A 192.0.2.1\n");
    for text in [format!("{SOA}{low}{high}"), format!("{SOA}{high}{low}")] {
        let (text, warnings) = sorted_text(&text).unwrap();
        assert_eq!(text.lines().nth(1), Some("a.z. 60 IN A 192.0.2.1"));
        assert_eq!((text.lines().count(), warnings), (2, 1));
    }
}

#[test]
fn nsec3_records_are_in_the_zone() {
    let hash = "0123456789ABCDEFGHIJKLMNOPQRSTUV";
    let text = format!("{SOA}{hash}.other. 60 NSEC3 1 0 0 - {hash} A\n");
    let error = sorted_text(&text).unwrap_err();
    assert!(matches!(error, ZoneError::OutOfZone { .. }), "{error}");
}

/// Names that are not in order, each with one RRset of two TTLs.
fn with_warnings(names: std::ops::Range<u32>) -> String {
    let mut text = format!("{SOA}z. 60 NS n.other.\n");
    for number in names.rev() {
        writeln!(
            text,
            "n{number:06}.z. 1 A 192.0.2.1\nn{number:06}.z. 2 A 192.0.2.2"
        )
        .unwrap();
    }
    text
}

#[test]
fn warnings_are_told_once_after_a_beginning() {
    let names = 40_000;
    let (_folder, path) = files(&[(
        "zone",
        &with_warnings(0..names).replacen("z. 60 NS", "z. NS", 1),
    )]);
    let counts = over_names(&Opening::new(&path, None), &pool(2), |flow| {
        flow.next_batch()?;
        let mut counts = Vec::new();
        for _ in 0..3 {
            flow.rewind()?;
            while flow.next_batch()?.is_some() {}
            counts.push(flow.warnings().1);
        }
        Ok::<_, ZoneError>(counts)
    });
    assert_eq!(counts.unwrap(), [u64::from(names); 3]);
}

#[test]
fn join_tells_the_warnings_of_pieces_that_were_sorted() {
    let (one, two) = (with_warnings(0..20_000), with_warnings(20_000..40_000));
    let (folder, one) = files(&[("one", &one), ("two", &two)]);
    let two = folder.path().join("two");
    let openings = vec![Opening::new(&one, None), Opening::new(&two, None)];
    let joined = tools::join(openings, &pool(2), None, &folder.path().join("whole")).unwrap();
    assert_eq!(joined.warning_count, 40_000);
}

/// A signed zone of more than one block: each name with a signature.
fn signed(names: u32) -> String {
    let mut text = format!("{SOA}z. 60 IN NS ns.other.\n");
    for number in 0..names {
        let owner = format!("n{number:05}.z.");
        writeln!(text, "{owner} 60 IN A 192.0.2.1").unwrap();
        writeln!(
            text,
            "{owner} 60 IN RRSIG A 13 2 60 20300101000000 20250101000000 1 z. AAAA"
        )
        .unwrap();
    }
    text
}

#[test]
fn changes_that_remove_all_of_a_block_leave_the_apex_first() {
    let mut text = format!("{SOA}z. 60 IN NS ns.other.\n");
    let mut changes = String::new();
    for number in 0..40_000 {
        let record = format!("n{number:05}.z. 60 IN A 192.0.2.1");
        writeln!(text, "{record}").unwrap();
        if (5_000..25_000).contains(&number) {
            writeln!(changes, "- {record}").unwrap();
        }
    }
    let (folder, path) = files(&[("zone", &text), ("changes", &changes)]);
    let mut opening = Opening::new(&path, None);
    let changes = Changes::read(&folder.path().join("changes"), None).unwrap();
    opening.changes = Some(Arc::new(changes));
    let batches = batches(&opening).unwrap();
    let first = batches[0].names().next().unwrap();
    assert_eq!(first.owner(), b"\x01z\0");
    assert_eq!(owners(&batches).len(), 1 + 20_000);
}

#[test]
fn changes_that_leave_orphans_leave_the_apex_first() {
    let mut changes = String::new();
    for number in 2_000..9_000 {
        writeln!(changes, "- n{number:05}.z. 60 IN A 192.0.2.1").unwrap();
    }
    let (folder, path) = files(&[("zone", &signed(12_000)), ("changes", &changes)]);
    let mut opening = Opening::new(&path, None);
    let changes = Changes::read(&folder.path().join("changes"), None).unwrap();
    opening.changes = Some(Arc::new(changes));
    opening.leaves_out_orphans = true;
    let batches = batches(&opening).unwrap();
    let first = batches[0].names().next().unwrap();
    assert_eq!(first.owner(), b"\x01z\0");
    assert_eq!(owners(&batches).len(), 1 + 5_000);
    let records: usize = batches.iter().map(|batch| batch.records().len()).sum();
    assert_eq!(records, 2 + 2 * 5_000);
}

#[test]
fn more_below_a_cut_than_a_block_holds() {
    let names = 100_000;
    let mut text = format!(
        "{SOA}a.z. 60 IN RRSIG A 13 2 60 20300101000000 20250101000000 1 z. AAAA\nd.z. 60 IN DNAME x.\n"
    );
    for number in 0..names {
        writeln!(text, "n{number:06}.d.z. 60 IN A 192.0.2.1").unwrap();
    }
    text.push_str("e.z. 60 IN A 192.0.2.1\n");
    let (_folder, path) = files(&[("zone", &text)]);
    let mut opening = Opening::new(&path, None);
    opening.leaves_out_orphans = true;
    let batches = batches(&opening).unwrap();
    let owners = owners(&batches);
    assert_eq!(owners.len(), names + 3);
    assert!(owners.is_sorted_by(|a, b| dnsrig_zone::compare_names(a, b).is_lt()));
    assert!(batches.iter().all(|batch| batch.names().len() < names / 4));
    let below = batches.iter().flat_map(Batch::names);
    let below = below.filter(|name| name.kind == NameKind::BelowCut);
    assert_eq!(below.count(), names);
    let last = batches.len() - 1;
    assert_eq!(
        batches[last - 1].next.as_deref(),
        Some(&b"\x01e\x01z\0"[..])
    );
    assert_eq!(batches[0].next.as_deref(), Some(&b"\x01e\x01z\0"[..]));
    assert_eq!(
        batches[last].previous.as_deref(),
        Some(&b"\x01d\x01z\0"[..])
    );
}

#[test]
fn blocks_that_meet_in_a_name_stay_apart() {
    let (_folder, path) = files(&[("zone", &signed(20_000))]);
    let batches = batches(&Opening::new(&path, None)).unwrap();
    assert!(batches.iter().all(|batch| batch.names().len() < 5_000));
    let names = batches.iter().flat_map(Batch::names).skip(1);
    assert!(names.clone().all(|name| name.records.len() == 2));
    assert_eq!(names.count(), 20_000);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn changes_give_the_other_version(old in version(), new in version()) {
        let line = |sign: &str, record: &str| format!("{sign} {record}\n");
        let removed = old.difference(&new).map(|record| line("-", record));
        let changes: String = removed.chain(new.difference(&old).map(|record| line("+", record))).collect();
        let text = |records: &BTreeSet<String>| {
            let lines: Vec<&str> = records.iter().map(String::as_str).collect();
            format!("{SOA}{}\n", lines.join("\n"))
        };
        let (folder, path) = files(&[("zone", &text(&old)), ("changes", &changes), ("new", &text(&new))]);
        let mut opening = Opening::new(&path, None);
        opening.changes = Some(Arc::new(Changes::read(&folder.path().join("changes"), None).unwrap()));
        let shown = |batches: Vec<Batch>| -> Vec<String> {
            let records = batches.iter().flat_map(|batch| batch.records().iter());
            records.map(|record| format!("{:?} {} {:?}", record.owner, record.rtype, record.rdata)).collect()
        };
        let expected = shown(batches(&Opening::new(&folder.path().join("new"), None)).unwrap());
        prop_assert_eq!(shown(batches(&opening).unwrap()), expected);
    }
}

/// Records of a few names, as lines.
fn version() -> impl Strategy<Value = BTreeSet<String>> {
    let record = (0..12u8, 0..3u8, 0..4u8).prop_map(|(name, kind, data)| match kind {
        0 => format!("n{name}.z. 60 IN A 192.0.2.{data}"),
        1 => format!("n{name}.z. 60 IN TXT \"{data}\""),
        _ => format!("n{name}.z. 60 IN MX {data} mail.other."),
    });
    proptest::collection::btree_set(record, 0..40)
}

#[test]
fn faults_of_changes_are_told_at_the_changes() {
    let cases = [
        (
            "+ b.z. 60 IN CNAME c.\n+ b.z. 60 IN TXT t\n",
            "changes:2:1: b.z. has a CNAME",
        ),
        (
            "; none\n+ x.other. 60 IN A 192.0.2.1\n",
            "changes:2:1: x.other. is not in the zone",
        ),
        (
            "+ a.z. 60 IN A 192.0.2.1\n",
            "changes:1:1: a.z. A is in the zone already",
        ),
        (
            "- a.z. 60 IN A 192.0.2.2\n",
            "changes:1:1: a.z. A is not in the zone",
        ),
        (
            "- 0.z. 60 IN A 192.0.2.2\n",
            "changes:1:1: 0.z. A is not in the zone",
        ),
        (
            "- b.z. 60 IN A 192.0.2.2\n",
            "changes:1:1: b.z. A is not in the zone",
        ),
    ];
    for (text, expected) in cases {
        let (folder, path) = files(&[
            ("zone", &format!("{SOA}a.z. 60 IN A 192.0.2.1\n")),
            ("changes", text),
        ]);
        let mut opening = Opening::new(&path, None);
        let changes = Changes::read(&folder.path().join("changes"), None).unwrap();
        opening.changes = Some(Arc::new(changes));
        let error = batches(&opening).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}
