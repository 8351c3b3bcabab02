//! Semantic checks: each rule finds what breaks it, and nothing is found in a zone that breaks none.

use super::zones::{pool, random_zone, shuffled};
use dnsrig_zone::flow::Opening;
use dnsrig_zone::tools;
use dnsrig_zone::tools::check::{Checked, Rule, Severity};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

const CLEAN: &str = "\
$ORIGIN z.test.
$TTL 3600
@ SOA ns1 hostmaster 1 3600 900 1209600 300
@ NS ns1
@ NS ns.other.test.
ns1 A 192.0.2.1
alias CNAME ns1
sub NS ns.sub
ns.sub AAAA 2001:db8::1
";

fn check_text(text: &str) -> Checked {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("zone");
    fs::write(&path, text).unwrap();
    tools::check(&Opening::new(&path, None), &pool(2), 1000).unwrap()
}

/// The rules that `text` breaks.
fn broken(text: &str) -> BTreeMap<Rule, u64> {
    check_text(text).counts
}

const DIGEST_32: &str = "E2D3C916F6DEEAC73294E8268FB5885044A833FC5459588F4A9184CFC41A5766";

/// Lines that are added to the clean zone, and what they break.
fn cases() -> Vec<(String, Vec<Rule>)> {
    use Rule::*;
    let many = |count: usize| {
        let text = |number| format!("big TXT \"{number:0>200}\"\n");
        (0..count).map(text).collect::<String>()
    };
    let cases: Vec<(&str, Vec<Rule>)> = vec![
        ("x.other.test. A 192.0.2.1", vec![OutOfZone]),
        ("alias A 192.0.2.1", vec![BesideCname]),
        ("alias CNAME ns.other.test.", vec![BesideCname]),
        ("x SOA ns1 h 1 3600 900 1209600 300", vec![Soa]),
        ("@ SOA ns1 h 2 3600 900 1209600 300", vec![Soa]),
        ("x 60 IN A 192.0.2.1\nx 61 IN A 192.0.2.2", vec![Ttl]),
        ("@ DS 1 8 2 {32}", vec![DsAtApex]),
        ("x DS 1 8 2 {32}", vec![DsWithoutNs]),
        ("sub DS 1 8 2 0011", vec![DsDigestLength]),
        ("sub DS 1 8 99 0011", vec![DsDigestType]),
        (
            "sub DS 1 8 1 E2D3C916F6DEEAC73294E8268FB5885044A833FC",
            vec![DsSha1Only],
        ),
        ("x DNAME a.test.\nx DNAME b.test.", vec![SeveralDnames]),
        ("sub DNAME a.test.", vec![DnameBesideNs]),
        (
            "x DNAME a.test.\na.x TXT t\nb.x A 192.0.2.1",
            vec![BelowDname],
        ),
        ("* NS ns1", vec![WildcardNs]),
        ("* DNAME a.test.", vec![WildcardDname]),
        ("sub TXT t", vec![DataAtCut]),
        ("x.sub TXT t", vec![DataBelowCut]),
        ("sub A 192.0.2.1", vec![UnneededGlue]),
        ("x.sub A 192.0.2.1", vec![UnneededGlue]),
        (
            "sub RRSIG NS 13 3 60 20300101000000 20250101000000 1 z.test. AAAA",
            vec![SignedGlue],
        ),
        (
            "ns.sub RRSIG AAAA 13 4 60 20300101000000 20250101000000 1 z.test. AAAA",
            vec![SignedGlue],
        ),
        (
            "ns1 RRSIG TXT 13 3 60 20300101000000 20250101000000 1 z.test. AAAA",
            vec![OrphanedSignature],
        ),
        ("@ MX 1 alias", vec![TargetAlias]),
        ("x NS alias", vec![TargetAlias]),
        ("x SRV 1 2 3 alias", vec![TargetAlias]),
        ("x DNAME a.test.\n@ MX 1 b.x", vec![TargetAlias]),
        ("* CNAME ns1\n@ MX 1 b.x", vec![TargetAlias]),
        ("@ MX 1 nowhere", vec![TargetWithoutAddress]),
        ("@ MX 1 @", vec![TargetWithoutAddress]),
        ("x TXT t\n@ NS x", vec![TargetWithoutAddress]),
        ("@ MX 1 192.0.2.1.", vec![TargetIsAddress]),
        ("x NS ns.x", vec![MissingGlue]),
        ("x NS x", vec![MissingGlue]),
        ("@ NS other.sub", vec![MissingGlue]),
        ("x NS other.sub", vec![MissingSiblingGlue]),
        ("x CNAME x", vec![AliasToItself]),
        ("x CNAME nowhere", vec![DanglingAlias]),
        ("a_b A 192.0.2.1", vec![HostName]),
        ("@ MX 1 a_b.other.test.", vec![HostName]),
        ("@ DNSKEY 256 2 13 AAAA", vec![DnskeyProtocol]),
        ("@ DNSKEY 256 3 5 AAAA", vec![DnskeyAlgorithm]),
        ("x CDS 1 8 2 {32}", vec![CdsBelowApex]),
        ("@ CDS 1 8 2 {32}", vec![CdsMismatch]),
        (
            "@ DNSKEY 257 3 13 AAAA\n@ CDNSKEY 257 3 13 AAAB",
            vec![CdsMismatch],
        ),
        (
            "@ DNSKEY 257 3 13 AAAA\n@ CDNSKEY 257 3 13 AAAA\n@ CDS 0 0 0 00",
            vec![CdsMismatch],
        ),
        ("@ NSEC3PARAM 1 0 5 AB", vec![Nsec3Parameters]),
        (
            "no-hash NSEC3 1 0 0 - 0123456789ABCDEFGHIJKLMNOPQRSTUV A",
            vec![Nsec3Owner],
        ),
        (
            "0123456789ABCDEFGHIJKLMNOPQRSTUV.x NSEC3 1 0 0 - 0123456789ABCDEFGHIJKLMNOPQRSTUV A",
            vec![Nsec3Owner],
        ),
        ("@ ZONEMD 2 1 1 {32}{16}", vec![ZonemdSerial]),
        ("@ ZONEMD 1 1 1 {32}{16}", vec![ZonemdDigest]),
        ("@ ZONEMD 1 1 1 {32}", vec![ZonemdDigest]),
        ("@ ZONEMD 1 2 1 {32}{16}", vec![ZonemdUnknown]),
        ("x ZONEMD 1 1 1 {32}{16}", vec![ZonemdBelowApex]),
        // What breaks no rule.
        ("x MX 0 .\nx SRV 0 0 0 .", vec![]),
        ("@ MX 1 host.sub\nx CNAME www.sub", vec![]),
        ("* A 192.0.2.1\n@ MX 1 any\nx SRV 0 0 0 a.b.c", vec![]),
        (
            "0123456789abcdefghijklmnopqrstuv NSEC3 1 0 0 - 0123456789ABCDEFGHIJKLMNOPQRSTUV A",
            vec![],
        ),
        ("sub A 192.0.2.1\nx NS sub", vec![]),
        ("_tcp SRV 0 0 1 NS1\nALIAS2 CNAME Alias", vec![]),
        (
            "sub DS 1 8 1 E2D3C916F6DEEAC73294E8268FB5885044A833FC\nsub DS 1 8 2 {32}",
            vec![],
        ),
        ("@ CDS 0 0 0 00\n@ CDNSKEY 0 3 0 AA==", vec![]),
        (
            "x CNAME b.other.test.\ny DNAME other.test.\nw CNAME a.y",
            vec![],
        ),
    ];
    let mut cases: Vec<(String, Vec<Rule>)> = cases
        .into_iter()
        .map(|(lines, rules)| {
            let lines = lines
                .replace("{32}", DIGEST_32)
                .replace("{16}", &DIGEST_32[..32]);
            (format!("{CLEAN}{lines}\n"), rules)
        })
        .collect();
    cases.push((format!("{CLEAN}{}", many(30)), vec![RrsetLarge]));
    cases.push((format!("{CLEAN}{}", many(400)), vec![RrsetTooLarge]));
    let soa = |soa: &str| CLEAN.replace("ns1 hostmaster 1 3600 900 1209600 300", soa);
    cases.push((soa("ns1 hostmaster 1 0 900 1209600 300"), vec![SoaTimers]));
    cases.push((soa("ns1 hostmaster 1 3600 900 4000 300"), vec![SoaTimers]));
    cases.push((
        soa("ns1 hostmaster 1 3600 900 1209600 99999"),
        vec![SoaTimers],
    ));
    cases.push((
        soa("nowhere hostmaster 1 3600 900 1209600 300"),
        vec![SoaNames],
    ));
    cases.push((
        soa("ns1 host\\@master 1 3600 900 1209600 300"),
        vec![SoaNames],
    ));
    cases.push((CLEAN.replace("@ NS ns1\n", ""), vec![SingleNs]));
    cases.push((
        CLEAN
            .replace("@ NS ns1\n", "")
            .replace("@ NS ns.other.test.\n", ""),
        vec![NoNs],
    ));
    cases.push((CLEAN.into(), vec![]));
    cases
}

#[test]
fn each_rule_finds_what_breaks_it_and_no_other_does() {
    let mut seen = BTreeSet::new();
    for (text, rules) in cases() {
        let found: Vec<Rule> = broken(&text).into_keys().collect();
        assert_eq!(found, rules, "{text}");
        seen.extend(rules);
    }
    let unseen: Vec<&Rule> = Rule::ALL
        .iter()
        .filter(|rule| !seen.contains(rule))
        .collect();
    assert!(unseen.is_empty(), "{unseen:?}");
}

#[test]
fn findings_tell_where() {
    let found = check_text(&format!("{CLEAN}\nx MX 1 nowhere\ny NS ns.y\n"));
    let texts: Vec<String> = found
        .findings
        .iter()
        .map(|finding| {
            finding
                .to_string()
                .rsplit_once("/zone:")
                .unwrap()
                .1
                .to_string()
        })
        .collect();
    let expected = [
        "11:1: error: x.z.test. MX names nowhere.z.test., which does not exist in the zone; add its address, or name another host [target-without-address]",
        "12:1: error: y.z.test. NS names ns.y.z.test., which can be found only by asking it; add glue, an A or AAAA record of ns.y.z.test. [missing-glue]",
    ];
    assert_eq!(texts, expected);
    assert_eq!(
        (found.count(Severity::Error), found.count(Severity::Warning)),
        (2, 0)
    );
}

#[test]
fn a_true_digest_is_verified() {
    // RFC 8976 appendix A.1.
    let example = "\
example. 86400 IN SOA ns1 admin 2018031900 1800 900 604800 86400
example. 86400 IN NS ns1
example. 86400 IN NS ns2
example. 86400 IN ZONEMD 2018031900 1 1 c68090d90a7aed716bc459f9340e3d7c1370d4d24b7e2fc3a1ddc0b9a87153b9a9713b3c9ae5cc27777f98b8e730044c
ns1.example. 3600 IN A 203.0.113.63
ns2.example. 3600 IN AAAA 2001:db8::63
";
    let text = format!("$ORIGIN example.\n{example}");
    let found = check_text(&text);
    assert!(found.has_verified_digest);
    assert_eq!(found.counts, BTreeMap::new());
    let changed = check_text(&text.replace("203.0.113.63", "203.0.113.64"));
    assert_eq!(changed.counts, BTreeMap::from([(Rule::ZonemdDigest, 1)]));
}

#[test]
fn faults_of_any_number_are_counted_and_the_first_kept() {
    let mut text = CLEAN.to_string();
    for number in 0..50_000 {
        text.push_str(&format!("n{number} MX 1 nowhere{number}\n"));
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("zone");
    fs::write(&path, text).unwrap();
    let found = tools::check(&Opening::new(&path, None), &pool(2), 7).unwrap();
    assert_eq!(found.findings.len(), 7);
    assert_eq!(
        found.counts,
        BTreeMap::from([(Rule::TargetWithoutAddress, 50_000)])
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn nothing_is_found_in_a_good_zone(records in 40usize..400, seed: u64, denial in 0u8..3, shuffle: Option<u64>) {
        let mut text = random_zone(records, seed, denial);
        if let Some(seed) = shuffle {
            text = shuffled(&text, seed);
        }
        let found = check_text(&text);
        prop_assert_eq!(found.findings, []);
        prop_assert_eq!(found.records as usize, text.lines().count());
    }

    #[test]
    fn order_and_memory_change_nothing(shuffle: u64, memory in 1usize..40_000) {
        let folder = tempfile::tempdir().unwrap();
        let (straight, other) = (folder.path().join("straight"), folder.path().join("other"));
        for (text, rules) in cases() {
            fs::write(&straight, &text).unwrap();
            let mut written = Vec::new();
            for record in &dnsrig_zone::read_records(&straight).unwrap() {
                dnsrig_zone::text::push_record(&record.into(), &mut written);
            }
            let written = String::from_utf8(written).unwrap();
            fs::write(&other, shuffled(&written, shuffle)).unwrap();
            let opening = Opening { memory, ..Opening::new(&other, None) };
            let found = tools::check(&opening, &pool(3), 10_000).unwrap();
            prop_assert_eq!(found.counts.into_keys().collect::<Vec<_>>(), rules, "{}", written);
        }
    }
}
