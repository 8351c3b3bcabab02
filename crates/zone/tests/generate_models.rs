//! The models of zones: what is promised holds for any size and seed.

use dnsrig_zone::generate::{
    Model, RecordOrder, TLD_NAMES, Watch, WrittenZone, ZoneRequest, write_zone_to,
};
use dnsrig_zone::{Name, ReadZone, Record, read_records};
use domain::base::iana::Rtype;
use proptest::prelude::*;
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

fn write(request: &ZoneRequest, threads: usize) -> (Vec<u8>, WrittenZone) {
    let mut text = Vec::new();
    let watch = Watch {
        cancel: &AtomicBool::new(false),
        progress: &|_| (),
        threads: NonZeroUsize::new(threads).unwrap(),
    };
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

fn shares() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(1.0), 0.0..=1.0]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn any_registry_zone_is_right(names in prop_oneof![1..50u64, 1..4000u64], seed: u64, signed_share in shares(), long: bool) {
        let origin = if long { "net." } else { "ca." };
        let written = check(&request(Model::Tld { signed_share }, origin, names, seed))?;
        prop_assert_eq!(written.statistics.delegations as u64, names);
        let signed = (signed_share * names as f64).round() as usize;
        prop_assert_eq!(written.statistics.signed_delegations, signed);
    }
}

#[test]
fn the_default_registry_zone_has_the_shape_of_ca_2006() {
    let model = Model::Tld { signed_share: 0.05 };
    let written = check(&request(model, "ca.", TLD_NAMES, 1)).unwrap();
    assert_eq!(written.statistics.records, 1_361_002);
    assert_eq!(written.statistics.rrsets, 612_409);
}
