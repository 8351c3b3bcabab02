use super::captures::{Folder, Sent, read, traffic, with_reading};
use dnsrig_traffic::select::{Partition, Partitioned, partition};
use dnsrig_zone::flow::Opening;
use dnsrig_zone::pool::Pool;
use dnsrig_zone::tools::{Cutting, LabelRanges, split};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::num::NonZeroUsize;
use std::path::PathBuf;

const RANGES: &str = "0-9,a-j,k-z";

/// Owner names of a zone, glue and names in the middle of a label's range among them.
fn names() -> Vec<String> {
    let first = "0123456789abcdefghijklmnopqrstuvwxyz".chars();
    let mut names: Vec<String> = first
        .flat_map(|first| ["", "x", "-7", "9z"].map(|rest| format!("{first}{rest}.example.")))
        .collect();
    names.extend(
        names
            .clone()
            .iter()
            .step_by(3)
            .map(|name| format!("ns1.{name}")),
    );
    names
}

/// Writes the zone and cuts it; gives the piece of each name, from 0, and the manifest.
fn split_zone(folder: &Folder, cutting: &Cutting) -> (BTreeMap<String, usize>, PathBuf) {
    let mut zone = String::from(
        "example. 60 IN SOA ns.example. host.example. 1 2 3 4 5\nexample. 60 IN NS ns0.example.\n",
    );
    for name in names() {
        match name.starts_with("ns1.") {
            true => writeln!(zone, "{name} 60 IN A 192.0.2.1").unwrap(),
            false => writeln!(zone, "{name} 60 IN NS ns1.{name}").unwrap(),
        }
    }
    let path = folder.path("example.zone");
    fs::write(&path, zone).unwrap();
    let pool = Pool::new(NonZeroUsize::MIN).unwrap();
    let done = split(
        &Opening::new(&path, None),
        &pool,
        cutting,
        &folder.path("piece"),
    )
    .unwrap();
    let mut pieces = BTreeMap::new();
    for (number, file) in done.manifest.files(&done.manifest_path).iter().enumerate() {
        for line in fs::read_to_string(file).unwrap().lines() {
            let owner = line.split_ascii_whitespace().next().unwrap_or(";");
            if !owner.starts_with(';') && owner != "example." {
                pieces.insert(owner.to_owned(), number);
            }
        }
    }
    assert_eq!(pieces.len(), names().len());
    (pieces, done.manifest_path)
}

fn cut(folder: &Folder, sent: &[Sent], cutting: &Partition) -> (Partitioned, Vec<Vec<Sent>>) {
    let files = [folder.capture("all.pcap", sent)];
    let done = with_reading(&files, 2, |reading| {
        partition(reading, cutting, &folder.path("part"))
    })
    .unwrap();
    let parts = done.files.iter().map(|file| read(file)).collect();
    (done, parts)
}

/// Every name is asked, and lands in the part of the piece that has it.
fn assert_parts_match_pieces(
    folder: &Folder,
    pieces: &BTreeMap<String, usize>,
    cutting: &Partition,
) {
    let sent: Vec<Sent> = pieces
        .keys()
        .enumerate()
        .flat_map(|(number, name)| {
            let name = if number % 2 == 0 {
                name.to_uppercase()
            } else {
                name.clone()
            };
            let query = Sent::query(number as i64 * 10_000, 1, &name, 1);
            [query.clone(), query.answer(0)]
        })
        .collect();
    let (done, parts) = cut(folder, &sent, cutting);
    let mut count = 0;
    for (number, part) in parts.iter().enumerate() {
        count += part.len();
        assert_eq!(done.messages_kept[number], part.len() as u64);
        for message in part {
            assert_eq!(
                pieces[&message.name().to_lowercase()],
                number,
                "{}",
                message.name()
            );
        }
    }
    assert_eq!(count, sent.len());
    assert!(parts.iter().all(|part| !part.is_empty()));
}

#[test]
fn parts_by_label_are_those_of_zone_split() {
    let folder = Folder::new();
    let ranges = LabelRanges::read(RANGES).unwrap();
    let (pieces, _) = split_zone(&folder, &Cutting::Labels(ranges));
    let cutting = Partition::by_labels("EXAMPLE", RANGES).unwrap();
    assert_parts_match_pieces(&folder, &pieces, &cutting);
}

#[test]
fn parts_by_manifest_are_those_of_zone_split() {
    for count in [1, 2, 7] {
        let folder = Folder::new();
        let (pieces, manifest) = split_zone(&folder, &Cutting::Pieces(count));
        let cutting = Partition::by_manifest(&manifest).unwrap();
        assert_eq!(cutting.parts(), count);
        assert_parts_match_pieces(&folder, &pieces, &cutting);
    }
}

#[test]
fn what_is_in_no_part_is_counted() {
    let folder = Folder::new();
    let asked = [
        "example",
        "a.example",
        "_tcp.example",
        "www.k.example",
        "other",
        ".",
    ];
    let sent: Vec<Sent> = asked
        .iter()
        .enumerate()
        .map(|(number, name)| Sent::query(number as i64, 1, name, 1))
        .collect();
    let (done, parts) = cut(
        &folder,
        &sent,
        &Partition::by_labels("example.", RANGES).unwrap(),
    );
    assert_eq!(
        (done.at_apex, done.outside_zone, done.in_no_range),
        (1, 2, 1)
    );
    assert_eq!(parts.iter().map(Vec::len).sum::<usize>(), 3);
    assert!(Partition::by_labels("example", "z-a").is_err());
    assert!(Partition::by_labels("a..b", RANGES).is_err());
}

#[test]
fn a_client_is_in_one_part() {
    let folder = Folder::new();
    let sent = traffic();
    let (done, parts) = cut(&folder, &sent, &Partition::Clients(3));
    let mut part_of = BTreeMap::new();
    for (number, part) in parts.iter().enumerate() {
        for message in part {
            let client = if message.source.port == 53 {
                message.destination
            } else {
                message.source
            };
            assert_eq!(*part_of.entry(client.address).or_insert(number), number);
        }
    }
    let mut all: Vec<Sent> = parts.into_iter().flatten().collect();
    all.sort();
    let mut sent = sent;
    sent.sort();
    assert!(all == sent);
    assert_eq!(done.messages_kept.iter().sum::<u64>(), sent.len() as u64);
    assert_eq!(done.files.len(), 3);
    assert!(done.files[2].ends_with("part.3.pcap"));
}
