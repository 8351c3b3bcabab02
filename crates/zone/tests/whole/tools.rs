//! The zone tools by their properties: what is split and joined is the whole, what is planted is found.

use super::zones::{pool, random_zone, shuffled};
use dnsrig_zone::flow::Opening;
use dnsrig_zone::tools::{self, Comparing, Cutting, LabelRanges, Manifest};
use dnsrig_zone::{PackedRecord, Zone, ZoneError};
use proptest::prelude::*;
use proptest::sample::Index;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn sorted(path: &Path, target: &Path) -> String {
    tools::sort(&Opening::new(path, None), &pool(2), target).unwrap();
    fs::read_to_string(target).unwrap()
}

fn split(
    path: &Path,
    cutting: &Cutting,
    prefix: &Path,
    memory: usize,
) -> Result<Manifest, ZoneError> {
    let opening = Opening {
        memory,
        ..Opening::new(path, None)
    };
    tools::split(&opening, &pool(2), cutting, prefix).map(|split| split.manifest)
}

fn join(paths: &[PathBuf], manifest: Option<&Path>, target: &Path) -> Result<String, ZoneError> {
    let read = manifest.map(|path| (path, Manifest::read(path).unwrap()));
    let manifest = read.as_ref().map(|(path, manifest)| (*path, manifest));
    let openings = paths.iter().map(|path| Opening::new(path, None)).collect();
    tools::join(openings, &pool(2), manifest, target)?;
    Ok(fs::read_to_string(target).unwrap())
}

/// RRsets of a zone file below its apex, and those of its largest name or delegation with all below it.
fn rrsets(path: &Path) -> (i64, i64) {
    let zone = Zone::read(path, None).unwrap();
    let mut units: Vec<i64> = Vec::new();
    for name in zone.names().skip(1) {
        let is_nsec3 = name
            .records
            .iter()
            .all(|record| PackedRecord::from(record).is_nsec3());
        if is_nsec3 {
            continue;
        }
        let count = name
            .rrsets()
            .filter(|set| set[0].rtype.to_int() != 46)
            .count() as i64;
        match name.kind {
            dnsrig_zone::NameKind::BelowCut => *units.last_mut().unwrap() += count,
            _ => units.push(count),
        }
    }
    (units.iter().sum(), units.iter().copied().max().unwrap_or(0))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn what_was_split_is_joined(
        records in 60usize..400,
        seed: u64,
        pieces in 1usize..9,
        denial in 0u8..3,
        shuffle: Option<u64>,
        memory in prop_oneof![1usize..40_000, Just(usize::MAX)],
        with_manifest: bool,
        order: u64,
        lost: Index,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let mut text = random_zone(records, seed, denial);
        if let Some(seed) = shuffle {
            text = shuffled(&text, seed);
        }
        fs::write(at("zone"), text).unwrap();
        let whole = sorted(&at("zone"), &at("sorted"));
        let manifest = split(&at("zone"), &Cutting::Pieces(pieces), &at("piece"), memory).unwrap();
        let mut paths = manifest.files(&at("piece.pieces"));
        let (total, largest) = rrsets(&at("zone"));
        for (piece, path) in manifest.pieces.iter().zip(&paths) {
            // A piece is a zone, with no names of a delegation cut off.
            let zone = Zone::read(path, None).unwrap();
            prop_assert!(zone.records().len() as u64 == piece.records);
            let (own, _) = rrsets(path);
            let ideal = total / pieces as i64;
            prop_assert!((own - ideal).abs() <= largest + 1, "{own} of {total} in {pieces}, {largest}");
        }
        paths.sort_by_key(|path| path.to_str().unwrap().bytes().fold(order, |sum, octet| {
            (sum ^ u64::from(octet)).wrapping_mul(0x0100_0000_01b3)
        }));
        let manifest_path = at("piece.pieces");
        let given = with_manifest.then_some(&*manifest_path);
        prop_assert_eq!(join(&paths, given, &at("joined")).unwrap(), whole);

        // No record below the apex can be missing.
        let text = fs::read_to_string(&paths[0]).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let is_data = |line: &&&str| {
            let words: Vec<&str> = line.split(' ').collect();
            !line.starts_with(';')
                && words[0] != manifest.zone
                && !["RRSIG", "NSEC", "NSEC3"].contains(&words[3])
        };
        let data: Vec<&&str> = lines.iter().filter(is_data).collect();
        if !data.is_empty() {
            let lost = *lost.get(&data);
            let rest = lines.iter().filter(|line| !std::ptr::eq(*line, lost));
            let rest: String = rest.map(|line| format!("{line}\n")).collect();
            let whole = std::mem::replace(&mut paths[0], at("losing"));
            fs::write(&paths[0], rest).unwrap();
            let message = join(&paths, given, &at("less")).unwrap_err().to_string();
            prop_assert!(message.contains("losing"), "{}", message);
            paths[0] = whole;
        }

        // Of less than all pieces, or of one that was cut short, nothing is made.
        if pieces > 1 {
            let missing = paths.pop().unwrap();
            let message = join(&paths, given, &at("less")).unwrap_err().to_string();
            prop_assert!(message.contains("is missing"), "{}", message);
            let text = fs::read_to_string(&missing).unwrap();
            let end = text.trim_end().rfind('\n').unwrap();
            let cut = text[..end].rfind('\n').unwrap();
            for end in [end, cut, text.len() - 1] {
                fs::write(at("cut"), &text[..end]).unwrap();
                let mut paths = paths.clone();
                paths.push(at("cut"));
                let message = join(&paths, given, &at("less")).unwrap_err().to_string();
                prop_assert!(message.contains("cut short"), "{}", message);
            }
            let mut twice = paths.clone();
            twice.extend([missing.clone(), missing]);
            let message = join(&twice, given, &at("less")).unwrap_err().to_string();
            prop_assert!(message.contains("here twice"), "{}", message);
            prop_assert!(!at("less").exists());
        }
    }

    #[test]
    fn slices_by_label(records in 60usize..300, seed: u64, bound in "[b-y]") {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("zone"), random_zone(records, seed, 0)).unwrap();
        let whole = sorted(&at("zone"), &at("sorted"));
        let ranges = format!("-{bound},{bound}~-").replace('~', "0");
        // A label that begins with the bound is in the first range, so the second must begin after it.
        prop_assert!(LabelRanges::read(&ranges).is_err());
        let next = char::from(bound.as_bytes()[0] + 1);
        let cutting = Cutting::Labels(LabelRanges::read(&format!("-{bound},{next}-")).unwrap());
        let Ok(manifest) = split(&at("zone"), &cutting, &at("slice"), usize::MAX) else {
            // No name in one of the ranges.
            return Ok(());
        };
        let below = |name: &Option<String>| {
            let name = name.clone().unwrap().to_ascii_lowercase();
            let labels: Vec<&str> = name.trim_end_matches(".example.test.").split('.').collect();
            labels.last().unwrap().as_bytes()[0]
        };
        prop_assert!(below(&manifest.pieces[0].last) <= bound.as_bytes()[0]);
        prop_assert!(below(&manifest.pieces[1].first) > bound.as_bytes()[0]);
        let paths = manifest.files(&at("slice.pieces"));
        prop_assert_eq!(join(&paths, None, &at("joined")).unwrap(), whole);
    }

    #[test]
    fn planted_differences_are_found(
        records in 60usize..300,
        seed: u64,
        denial in 0u8..3,
        removed in proptest::collection::vec(any::<Index>(), 0..20),
        added in proptest::collection::btree_set("[a-z]{1,3}", 0..20),
        shuffle: u64,
        memory in prop_oneof![1usize..40_000, Just(usize::MAX)],
    ) {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let text = random_zone(records, seed, denial);
        let mut lines: Vec<String> = text.lines().map(String::from).collect();
        let mut gone = Vec::new();
        for index in removed {
            // The SOA record, the first, stays.
            let taken = lines.remove(1 + index.index(lines.len() - 1));
            gone.push(taken);
        }
        let new: Vec<String> =
            added.iter().map(|name| format!("planted-{name}.example.test. 60 IN TXT \"{name}\"")).collect();
        lines.extend(new.iter().cloned());
        fs::write(at("a"), &text).unwrap();
        fs::write(at("b"), shuffled(&lines.join("\n"), shuffle)).unwrap();
        let opening = |name: &'static str| at(name);
        let (a, b) = (opening("a"), opening("b"));
        let comparing = Comparing { most: usize::MAX, ..Comparing::default() };
        let opened = |path| Opening { memory, ..Opening::new(path, None) };
        let found = tools::compare(opened(&a), opened(&b), &pool(2), &comparing).unwrap();
        let mut expected: BTreeMap<(bool, String), usize> = BTreeMap::new();
        for line in gone {
            *expected.entry((false, line)).or_default() += 1;
        }
        for line in new {
            *expected.entry((true, line)).or_default() += 1;
        }
        let mut different: BTreeMap<(bool, String), usize> = BTreeMap::new();
        for difference in found.differences.clone() {
            *different.entry((difference.is_added, difference.record)).or_default() += 1;
        }
        prop_assert_eq!(&different, &expected);
        prop_assert_eq!(found.same + found.removed(), text.lines().count() as u64);
        let few = Comparing { most: 2, ..Comparing::default() };
        let less = tools::compare(opened(&a), opened(&b), &pool(1), &few).unwrap();
        prop_assert_eq!(&less.types, &found.types);
        prop_assert_eq!(&less.differences[..], &found.differences[..found.differences.len().min(2)]);
    }
}

#[test]
fn what_is_ignored_is_no_difference() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (folder.path().join("a"), folder.path().join("b"));
    let signed = |serial: u32, ttl_s: u32, time: u32, value: &str| {
        format!(
            "Z. {ttl_s} IN SOA ns.z. h.z. {serial} 2 3 4 5\nz. {ttl_s} IN RRSIG SOA 13 1 {ttl_s} 202601{time}000000 20250101000000 7 z. {value}\n"
        )
    };
    fs::write(&a, signed(1, 60, 10, "AAAA")).unwrap();
    fs::write(&b, signed(2, 61, 11, "BBBB")).unwrap();
    let count = |comparing: &Comparing| {
        let opening = |path| Opening::new(path, None);
        let found = tools::compare(opening(&a), opening(&b), &pool(1), comparing).unwrap();
        (found.removed(), found.added())
    };
    let all = Comparing {
        ignores_rrsig_times: true,
        ignores_serial: true,
        ignores_ttl: true,
        most: 10,
    };
    assert_eq!(count(&all), (0, 0));
    assert_eq!(
        count(&Comparing {
            ignores_serial: false,
            ..all
        }),
        (1, 1)
    );
    assert_eq!(
        count(&Comparing {
            ignores_rrsig_times: false,
            ..all
        }),
        (1, 1)
    );
    assert_eq!(
        count(&Comparing {
            ignores_ttl: false,
            ..all
        }),
        (2, 2)
    );
}

#[test]
fn other_zones_are_not_compared() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (folder.path().join("a"), folder.path().join("b"));
    fs::write(&a, "a. 60 IN SOA . . 1 2 3 4 5\n").unwrap();
    fs::write(&b, "b. 60 IN SOA . . 1 2 3 4 5\n").unwrap();
    let opening = |path| Opening::new(path, None);
    let error = tools::compare(opening(&a), opening(&b), &pool(1), &Comparing::default());
    assert!(
        error
            .unwrap_err()
            .to_string()
            .contains("is the zone a., but")
    );
}

#[test]
fn a_survey_counts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("zone");
    fs::write(
        &path,
        "z. 60 IN SOA . . 7 2 3 4 5\nz. 60 IN NS ns.z.\nz. 60 IN DNSKEY 257 3 13 AAAA\nns.z. 60 IN A 192.0.2.1\n\
         a.b.z. 30 IN NS NS.z.\na.b.z. 30 IN NS ns2.a.b.z.\nns2.a.b.z. 30 IN A 192.0.2.2\na.b.z. 30 IN DS 1 13 2 00\n\
         a.b.z. 30 IN RRSIG DS 13 3 30 20260101000000 20250101000000 1 z. AAAA\n\
         0123456789ABCDEFGHIJKLMNOPQRSTUV.z. 5 IN NSEC3 1 1 2 AA 0123456789ABCDEFGHIJKLMNOPQRSTUV\n",
    )
    .unwrap();
    let survey = tools::survey(&Opening::new(&path, None), &pool(2)).unwrap();
    let statistics = tools::statistics(&Opening::new(&path, None), &pool(2)).unwrap();
    assert_eq!(survey.counts, statistics);
    assert_eq!((survey.serial, survey.name_servers), (7, 2));
    let values = |tally: &tools::Tally| tally.0.clone().into_iter().collect::<Vec<_>>();
    assert_eq!(values(&survey.depth), [(0, 1), (1, 1), (2, 1), (3, 1)]);
    assert_eq!(values(&survey.servers_of_delegation), [(2, 1)]);
    assert_eq!(values(&survey.ttl_s), [(5, 1), (30, 3), (60, 4)]);
    assert_eq!(survey.ds, BTreeMap::from([((13, 2), 1)]));
    assert_eq!(survey.dnskeys, BTreeMap::from([((257, 13), 1)]));
    assert_eq!(survey.expirations, Some((1_767_225_600, 1_767_225_600)));
    assert_eq!(
        (survey.nsec3[0].iterations, survey.nsec3[0].opt_out),
        (2, 1)
    );
}

#[test]
fn no_piece_takes_the_place_of_what_is_split() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let text = "a.test. 60 IN SOA . . 1 2 3 4 5\na.test. 60 IN NS b.\nm.a.test. 60 IN A 192.0.2.1\nz.a.test. 60 IN A 192.0.2.1\n";
    fs::create_dir(at("deep")).unwrap();
    for file in ["zone.1", "zone.pieces", "other", "deep/zone.2"] {
        fs::write(at(file), text).unwrap();
    }
    std::os::unix::fs::symlink("zone.1", at("link")).unwrap();
    std::os::unix::fs::symlink("other", at("piece.2")).unwrap();
    let including = "$INCLUDE zone.1\n";
    fs::write(at("including"), including).unwrap();
    let two = Cutting::Pieces(2);
    let labels = Cutting::Labels(LabelRanges::read("-m,n-").unwrap());
    let before = |name: &str| fs::read_to_string(at(name)).unwrap();
    for (zone, cutting, prefix) in [
        ("zone.1", &two, "zone"),
        ("zone.1", &labels, "zone"),
        ("zone.pieces", &two, "zone"),
        ("deep/zone.2", &two, "deep/../deep/zone"),
        ("link", &two, "zone"),
        ("other", &two, "piece"),
        ("including", &two, "zone"),
    ] {
        let error = split(&at(zone), cutting, &at(prefix), usize::MAX).unwrap_err();
        let error = error.to_string();
        assert!(
            error.contains("would replace the zone itself"),
            "{zone}: {error}"
        );
        let kept = match zone {
            "including" => including,
            _ => text,
        };
        assert_eq!(before(zone), kept);
        assert_eq!(before("zone.1"), text);
    }
    split(&at("zone.1"), &two, &at("part"), usize::MAX).unwrap();
}
