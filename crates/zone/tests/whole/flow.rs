//! Zones read a batch at a time: the same as zones read as a whole, whatever the order of the file.

use dnsrig_zone::flow::{Opening, over_names};
use dnsrig_zone::generate::small_domain;
use dnsrig_zone::pool::Pool;
use dnsrig_zone::{Name, NameKind, Record, Zone, ZoneError, compare_names, tools};
use proptest::prelude::*;
use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::str::FromStr;

fn pool(threads: usize) -> Pool {
    Pool::new(NonZeroUsize::new(threads).unwrap()).unwrap()
}

fn text_of(zone: &Zone) -> String {
    let mut text = Vec::new();
    zone.write_to(&mut text).unwrap();
    String::from_utf8(text).unwrap()
}

/// The sorted text of the zone file `path`, and what was warned of.
fn sorted(path: &Path, threads: usize, memory: usize) -> Result<(String, u64), ZoneError> {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("sorted");
    let mut opening = Opening::new(path, None);
    opening.memory = memory;
    let done = tools::sort(&opening, &pool(threads), &target)?;
    Ok((fs::read_to_string(target).unwrap(), done.warning_count))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_order_gives_the_same_zone(records in 40usize..400, seed: u64, shuffle: u64, memory in 1usize..40_000) {
        let origin = Name::from_str("example.test.").unwrap();
        let zone = small_domain(&origin, records, seed).unwrap();
        let text = text_of(&zone);
        let mut lines: Vec<&str> = text.lines().collect();
        let mut state = shuffle | 1;
        for last in (1..lines.len()).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            lines.swap(last, (state >> 33) as usize % (last + 1));
        }
        let folder = tempfile::tempdir().unwrap();
        let (straight, shuffled) = (folder.path().join("straight"), folder.path().join("shuffled"));
        fs::write(&straight, &text).unwrap();
        fs::write(&shuffled, lines.join("\n")).unwrap();
        prop_assert_eq!(&sorted(&straight, 2, usize::MAX).unwrap().0, &text);
        prop_assert_eq!(&sorted(&shuffled, 2, usize::MAX).unwrap().0, &text);
        prop_assert_eq!(&sorted(&shuffled, 3, memory).unwrap().0, &text);
        let statistics = tools::statistics(&Opening::new(&shuffled, None), &pool(2)).unwrap();
        prop_assert_eq!(statistics, zone.statistics());
    }
}

#[test]
fn batches_know_their_neighbours() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("zone");
    let mut text = String::from("z. 60 IN SOA . . 1 2 3 4 5\nz. 60 IN NS ns.z.\n");
    for number in 0..40_000 {
        text.push_str(&format!(
            "n{number:05}.z. 60 IN NS ns.n{number:05}.z.\nns.n{number:05}.z. 60 IN A 192.0.2.1\n"
        ));
    }
    // More glue below one cut than a block holds.
    text.push_str("q.z. 60 IN NS a.q.z.\n");
    for number in 0..40_000 {
        text.push_str(&format!("a{number:05}.q.z. 60 IN A 192.0.2.1\n"));
    }
    text.push_str("r.z. 60 IN A 192.0.2.1\n");
    fs::write(&path, text).unwrap();
    let pool = pool(2);
    let batches = over_names(&Opening::new(&path, None), &pool, |flow| {
        let mut before: Option<(Vec<u8>, Option<Vec<u8>>)> = None;
        let (mut batches, mut visible, mut below) = (0, 0, 0);
        while let Some(batch) = flow.next_batch()? {
            batches += 1;
            let mut last = None;
            for name in batch.names() {
                match name.kind {
                    NameKind::BelowCut => below += 1,
                    _ => {
                        if last.is_none()
                            && let Some((previous, next)) = &before
                        {
                            assert_eq!(Some(&previous[..]), batch.previous.as_deref());
                            assert_eq!(next.as_deref(), Some(name.owner()));
                        }
                        visible += 1;
                        last = Some(name.owner().to_vec());
                    }
                }
            }
            // All names of a batch may be below a cut.
            let last = last.or(before.map(|(last, _)| last));
            before = Some((last.unwrap(), batch.next.as_deref().map(<[u8]>::to_vec)));
        }
        assert_eq!(before.unwrap().1, None);
        assert_eq!((visible, below), (40_003, 80_000));
        Ok::<_, ZoneError>(batches)
    });
    assert!(batches.unwrap() > 4);
}

#[test]
fn a_late_disorder_begins_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("zone");
    let mut text = String::from("z. 60 IN SOA . . 1 2 3 4 5\n");
    for number in 0..60_000 {
        text.push_str(&format!("n{number:05}.z. 60 IN A 192.0.2.1\n"));
    }
    text.push_str("a.z. 60 IN A 192.0.2.1\n");
    fs::write(&path, text).unwrap();
    let (text, _) = sorted(&path, 2, usize::MAX).unwrap();
    assert_eq!(text.lines().nth(1), Some("a.z. 60 IN A 192.0.2.1"));
    assert_eq!(text.lines().count(), 60_002);
}

#[test]
fn a_name_over_several_blocks_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("zone");
    let mut text = String::from("z. 60 IN SOA . . 1 2 3 4 5\n");
    for number in 0..20_000u32 {
        let [_, high, middle, low] = number.to_be_bytes();
        text.push_str(&format!(
            "many.z. {} IN A 10.{high}.{middle}.{low}\n",
            60 + number % 2
        ));
    }
    fs::write(&path, text).unwrap();
    let (text, warnings) = sorted(&path, 2, usize::MAX).unwrap();
    assert_eq!(text.lines().count(), 20_001);
    assert!(
        text.lines()
            .skip(1)
            .all(|line| line.starts_with("many.z. 60 IN A 10."))
    );
    assert!(warnings > 0);
}

#[test]
fn what_is_no_zone_is_refused() {
    let soa = "example.com. 60 IN SOA . . 1 2 3 4 5\n";
    let cases = [
        (
            format!("{soa}x.example.org. 60 A 192.0.2.1\n"),
            ":2:1: x.example.org. is not in the zone example.com.",
        ),
        (
            format!("{soa}x.example.com. 60 CNAME y.\nx.example.com. 60 A 192.0.2.1\n"),
            ":3:1: x.example.com. has a CNAME",
        ),
        (
            format!("{soa}{soa}x.example.com. 60 SOA . . 1 2 3 4 5\n"),
            "SOA record",
        ),
        (
            format!("{soa}example.com. 60 SOA . . 2 2 3 4 5\n"),
            ":2:1: a second SOA record, the first is at",
        ),
        (
            "x.example.com. 60 A 192.0.2.1\n".into(),
            ": no SOA record; add one",
        ),
        (
            format!("{soa}x.example.com. 60 A 192.0.2\n"),
            ":2:21: bad data for type A",
        ),
        (
            format!("{soa}$INCLUDE missing\n"),
            ":2:10: cannot read the included file",
        ),
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("zone");
    for (text, expected) in cases {
        fs::write(&path, &text).unwrap();
        let message = sorted(&path, 2, usize::MAX).unwrap_err().to_string();
        assert!(message.contains(expected), "{text}: {message}");
    }
}

#[test]
fn includes_are_part_of_the_zone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("zone");
    fs::write(
        &path,
        "$ORIGIN z.\n@ SOA . . 1 2 3 4 5\nb A 192.0.2.1\n$INCLUDE part sub\n A 192.0.2.2\n",
    )
    .unwrap();
    fs::write(folder.path().join("part"), " TXT \"of b\"\na A 192.0.2.3\n").unwrap();
    let (text, warnings) = sorted(&path, 2, usize::MAX).unwrap();
    let expected = "z. 5 IN SOA . . 1 2 3 4 5\nb.z. 5 IN A 192.0.2.1\nb.z. 5 IN A 192.0.2.2\nb.z. 5 IN TXT \"of b\"\na.sub.z. 5 IN A 192.0.2.3\n";
    assert_eq!(text, expected);
    // The SOA record has no TTL.
    assert_eq!(warnings, 1);
}

#[test]
fn text_is_that_of_whole_zones() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/many-types.zone");
    let zone = Zone::read(&path, None).unwrap();
    let mut records: Vec<Record> = zone.records().to_vec();
    records.sort_by(|a, b| compare_names(a.owner.as_slice(), b.owner.as_slice()));
    assert_eq!(records.len(), zone.records().len());
    assert_eq!(sorted(&path, 2, usize::MAX).unwrap().0, text_of(&zone));
}
