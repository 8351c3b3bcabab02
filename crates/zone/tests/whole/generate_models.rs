//! The models of zones: what is promised holds for any size and seed.

use dnsrig_zone::generate::{
    Model, NAMES_MAX, RecordOrder, TLD_NAMES, Watch, WrittenZone, ZoneRequest, small_domain,
    write_zone, write_zone_to,
};
use dnsrig_zone::{Name, ReadZone, Record, read_records};
use domain::base::iana::Rtype;
use proptest::prelude::*;
use proptest::sample::select;
use sha1::{Digest, Sha1};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::AtomicBool;

fn request(model: Model, origin: &str, names: u64, seed: u64) -> ZoneRequest {
    ZoneRequest {
        origin: Name::bytes_from_str(origin).unwrap(),
        model,
        names,
        seed,
        order: RecordOrder::Canonical,
    }
}

fn watch(cancel: &AtomicBool, threads: usize) -> Watch<'_> {
    Watch {
        cancel,
        progress: &|_| (),
        threads: NonZeroUsize::new(threads).unwrap(),
    }
}

fn write(request: &ZoneRequest, threads: usize) -> (Vec<u8>, WrittenZone) {
    let mut text = Vec::new();
    let cancel = AtomicBool::new(false);
    let watch = watch(&cancel, threads);
    let written = write_zone_to(&mut text, Path::new("memory"), request, &watch).unwrap();
    (text, written)
}

/// Whether `request` gives a zone that reads without warnings, in canonical order to the octet, with the counts that
/// are said of it, and the same with another number of threads.
fn check(request: &ZoneRequest) -> Result<WrittenZone, TestCaseError> {
    let (text, written) = write(request, 1);
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&file, &text).unwrap();
    let read = ReadZone::from_file(file.path(), Some(&request.origin))
        .map_err(|error| TestCaseError::fail(error.to_string()))?;
    prop_assert!(read.warnings.is_empty(), "{}", read.warnings[0]);
    let in_file = read_records(file.path()).unwrap();
    let is_soa = |record: &&Record| record.rtype == Rtype::SOA;
    let sorted = read.zone.records();
    let others = sorted.iter().filter(|record| !is_soa(record));
    for (found, wanted) in in_file
        .iter()
        .zip(sorted.iter().filter(is_soa).chain(others))
    {
        prop_assert_eq!(found, wanted);
    }
    prop_assert_eq!(in_file.len(), sorted.len());
    prop_assert_eq!(&read.zone.statistics(), &written.statistics);
    prop_assert_eq!(written.octets, text.len() as u64);
    prop_assert!(
        write(request, 3).0 == text,
        "another number of threads gives another zone"
    );
    Ok(written)
}

/// Numbers of names up to `most`, often few.
fn sizes(most: u64) -> impl Strategy<Value = u64> {
    prop_oneof![1..50u64, 1..=most]
}

fn shares() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(1.0), 0.0..=1.0]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn any_registry_zone_is_right(names in sizes(4000), seed: u64, signed_share in shares(), origin in select(vec!["ca.", "net.", "example.", "a-b.Test."])) {
        let written = check(&request(Model::Tld { signed_share }, origin, names, seed))?;
        prop_assert_eq!(written.statistics.delegations as u64, names);
        let signed = (signed_share * names as f64).round() as usize;
        prop_assert_eq!(written.statistics.signed_delegations, signed);
    }

    #[test]
    fn any_enterprise_zone_is_right(names in sizes(4000), seed: u64) {
        let names = names + 23;
        let written = check(&request(Model::Enterprise, "example.", names, seed))?;
        prop_assert_eq!(written.statistics.names as u64, names);
    }

    #[test]
    fn any_flat_zone_is_right(names in sizes(4000), seed: u64, origin in select(vec![".", "example.test."])) {
        let written = check(&request(Model::Flat, origin, names, seed))?;
        prop_assert_eq!(written.statistics.names as u64, names + 3);
    }

    #[test]
    fn any_reverse_zone_is_right(names in sizes(4000), seed: u64, origin in select(vec!["10.in-addr.arpa.", "0.10.in-addr.arpa.", "0.100.10.in-addr.arpa."])) {
        let names = if origin.starts_with("0.100") { names % 254 + 1 } else { names };
        let written = check(&request(Model::Reverse, origin, names, seed))?;
        prop_assert_eq!(addresses(&written) as u64, names);
    }

    #[test]
    fn any_reverse_zone_of_ipv6_is_right(names in sizes(4000), seed: u64, nibbles in 1..=16usize) {
        let origin = format!("{}ip6.arpa.", &"0.1.0.0.0.a.0.0.8.b.d.0.1.0.0.2."[32 - 2 * nibbles..]);
        let written = check(&request(Model::Reverse, &origin, names, seed))?;
        prop_assert_eq!(addresses(&written) as u64, names);
    }

    #[test]
    fn a_shuffled_zone_has_the_same_records(names in sizes(4000), seed: u64) {
        let mut request = request(Model::Enterprise, "example.", names + 23, seed);
        let (sorted, _) = write(&request, 1);
        request.order = RecordOrder::Shuffled;
        let (shuffled, written) = write(&request, 2);
        prop_assert!(shuffled != sorted);
        prop_assert_eq!(written.octets, shuffled.len() as u64);
        let mut lines = [sorted, shuffled].map(|text| String::from_utf8(text).unwrap());
        let lines = lines.each_mut().map(|text| text.lines().collect::<Vec<_>>());
        prop_assert_eq!(lines[0][0], lines[1][0], "the SOA record stays first");
        let [mut sorted, mut shuffled] = lines;
        sorted.sort_unstable();
        shuffled.sort_unstable();
        prop_assert_eq!(sorted, shuffled);
    }
}

/// Addresses with PTR or CNAME records.
fn addresses(written: &WrittenZone) -> usize {
    let of_type = |rtype| written.statistics.types.get(&rtype).copied().unwrap_or(0);
    of_type(Rtype::PTR) + of_type(Rtype::CNAME)
}

#[test]
fn the_default_registry_zone_has_the_shape_of_ca_2006() {
    let model = Model::Tld { signed_share: 0.05 };
    for seed in [1, 2] {
        let written = check(&request(model, "ca.", TLD_NAMES, seed)).unwrap();
        assert_eq!(written.statistics.records, 1_361_002);
        assert_eq!(written.statistics.rrsets, 612_409);
        assert_eq!(written.statistics.signed_delegations, 27_500);
    }
}

#[test]
fn networks_are_filled_up_where_there_are_more_addresses() {
    for names in [253 * 256, 254 * 256] {
        let written = check(&request(Model::Reverse, "0.10.in-addr.arpa.", names, 1)).unwrap();
        assert_eq!(addresses(&written) as u64, names);
    }
}

#[test]
fn the_small_model_is_the_small_domain() {
    let request = request(Model::Small, "example.test.", 244, 1);
    let mut text = Vec::new();
    let zone = small_domain(&request.origin, 244, 1).unwrap();
    zone.write_to(&mut text).unwrap();
    let (made, written) = write(&request, 2);
    assert_eq!(made, text);
    assert_eq!(written.statistics, zone.statistics());
}

#[test]
fn zones_stay_what_they_were() {
    // Who repeats an experiment with the same seed gets the same zone, with a later version too.
    let model = Model::Tld { signed_share: 0.05 };
    let found = [
        (model, "xa."),
        (Model::Enterprise, "example.test."),
        (Model::Flat, "example.test."),
        (Model::Reverse, "10.in-addr.arpa."),
        (Model::Reverse, "8.b.d.0.1.0.0.2.ip6.arpa."),
        (Model::Small, "example.test."),
    ]
    .map(|(model, origin)| {
        let (text, _) = write(&request(model, origin, 2000, 1), 2);
        let digest = Sha1::digest(&text);
        digest
            .iter()
            .map(|octet| format!("{octet:02x}"))
            .collect::<String>()
    });
    assert_eq!(
        found,
        [
            "8fada9cc1b1231f5fa79edf0a4f5f2cd2bf436c5",
            "b6208adf1d7f8a001d6a9f68a1396dc917cbee29",
            "293ea0a434095903cff0cb90c82d93eb1d89d09e",
            "7fe75c1afc637d6fc95de51301272aa57c8a1e1b",
            "84b256233a433ce70fa6988cb8bf440ca6f32f74",
            "0a2efa3a84668f96da2c38e32d187a1e1527f5d6"
        ]
    );
}

#[test]
fn impossible_zones_are_refused() {
    let long = [
        "a".repeat(60),
        "b".repeat(60),
        "c".repeat(60),
        "d".repeat(60),
    ]
    .join(".");
    for (model, origin, names, reason) in [
        (
            Model::Tld { signed_share: 0.05 },
            ".",
            10,
            "choose a top-level domain",
        ),
        (
            Model::Tld {
                signed_share: f64::NAN,
            },
            "ca.",
            10,
            "not within 0 and 1",
        ),
        (Model::Tld { signed_share: 0.05 }, &long, 10, "shorter name"),
        (
            Model::Tld { signed_share: 0.05 },
            "ca.",
            0,
            "choose a number",
        ),
        (Model::Enterprise, "example.", 23, "24 names or more"),
        (Model::Enterprise, ".", 100, "another name"),
        (Model::Flat, "ca.", NAMES_MAX + 1, "choose a number"),
        (Model::Flat, &long, 10, "shorter name"),
        (Model::Reverse, "example.", 10, "in-addr.arpa"),
        (Model::Reverse, "in-addr.arpa.", 10, "in-addr.arpa"),
        (Model::Reverse, "010.in-addr.arpa.", 10, "in-addr.arpa"),
        (
            Model::Reverse,
            "1.2.3.4.in-addr.arpa.",
            10,
            "one to three labels",
        ),
        (
            Model::Reverse,
            "0.0.10.in-addr.arpa.",
            255,
            "no more than 254",
        ),
        (Model::Reverse, "g.ip6.arpa.", 10, "hexadecimal"),
        (Model::Small, "example.", 5, "choose a number"),
    ] {
        let error = write_zone_to(
            &mut std::io::sink(),
            Path::new("memory"),
            &request(model, origin, names, 1),
            &watch(&AtomicBool::new(false), 1),
        )
        .unwrap_err()
        .to_string();
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn a_cancelled_zone_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("zone");
    let cancel = AtomicBool::new(true);
    for order in [RecordOrder::Canonical, RecordOrder::Shuffled] {
        let mut request = request(Model::Flat, "example.", 100_000, 1);
        request.order = order;
        assert!(write_zone(&file, &request, &watch(&cancel, 2)).is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
