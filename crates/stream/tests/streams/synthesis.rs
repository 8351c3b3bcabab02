//! Streams made from a zone: every question is of the kind that was asked for.

use dnsrig_stream::{
    MessageOptions, Questions, StreamError, StreamKind, StreamSummary, messages, text,
};
use dnsrig_zone::lookup::{LookupName, Outcome, ZoneIndex};
use dnsrig_zone::{Name, ReadZone, generate};
use domain::base::Message;
use proptest::prelude::*;
use std::collections::HashSet;
use std::str::FromStr;
use std::sync::atomic::AtomicBool;

fn small_domain() -> ZoneIndex {
    ZoneIndex::new(
        generate::small_domain(&Name::from_str("example.test.").unwrap(), 244, 1).unwrap(),
    )
}

fn zone(text: &str) -> ZoneIndex {
    let text =
        format!("$ORIGIN z.test.\n$TTL 60\n@ SOA ns. host. 1 2 3 4 5\n@ NS ns.elsewhere.\n{text}");
    ZoneIndex::new(ReadZone::from_text(text.as_bytes(), None).unwrap().zone)
}

fn log(text: &str) -> Questions {
    text::parse(text.as_bytes()).unwrap().0
}

fn synthesise(
    zone: &ZoneIndex,
    log: Option<&Questions>,
    kind: StreamKind,
    queries: usize,
    seed: u64,
) -> Result<(Questions, StreamSummary), StreamError> {
    dnsrig_stream::synthesise(zone, log, kind, queries, seed, &AtomicBool::new(false))
}

#[test]
fn a_set_flag_stops_it() {
    for kind in [
        StreamKind::Existence,
        StreamKind::Denial,
        StreamKind::Normal { denial_share: 0.5 },
    ] {
        let stopped = AtomicBool::new(true);
        let made = dnsrig_stream::synthesise(&small_domain(), None, kind, 9, 0, &stopped);
        assert!(matches!(made, Err(StreamError::Interrupted)));
    }
}

fn outcomes(zone: &ZoneIndex, questions: &Questions) -> Vec<Outcome> {
    let look_up = |name: &[u8], rtype| zone.lookup(&LookupName::from_wire(name).unwrap(), rtype);
    questions
        .iter()
        .map(|question| look_up(question.name.as_slice(), question.rtype))
        .collect()
}

fn is_denied(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::NxDomain { .. })
}

fn exists(outcome: &Outcome) -> bool {
    matches!(
        outcome,
        Outcome::Answer { .. } | Outcome::Cname { .. } | Outcome::Referral { .. }
    )
}

#[test]
fn existence_exists_and_denial_does_not() {
    let zone = small_domain();
    let (existing, summary) = synthesise(&zone, None, StreamKind::Existence, 2000, 7).unwrap();
    assert!(outcomes(&zone, &existing).iter().all(exists));
    assert_eq!(
        (
            summary.queries,
            summary.nxdomain_share,
            summary.nodata_share
        ),
        (2000, 0.0, 0.0)
    );
    assert!(summary.referral_share > 0.0 && summary.answer_share > 0.5);
    assert!(summary.unique_names > 50, "{summary:?}");
    let (denied, summary) = synthesise(&zone, None, StreamKind::Denial, 2000, 7).unwrap();
    assert!(outcomes(&zone, &denied).iter().all(is_denied));
    assert_eq!((summary.nxdomain_share, summary.unique_names), (1.0, 2000));
}

#[test]
fn normal_without_a_log_has_the_share_of_denial() {
    let zone = small_domain();
    let (questions, summary) = synthesise(
        &zone,
        None,
        StreamKind::Normal { denial_share: 0.08 },
        5000,
        3,
    )
    .unwrap();
    assert_eq!(
        outcomes(&zone, &questions)
            .iter()
            .filter(|&outcome| is_denied(outcome))
            .count(),
        400
    );
    assert!((summary.nxdomain_share - 0.08).abs() < 1e-9);
}

#[test]
fn the_log_is_taken_as_it_is() {
    let zone = zone("www A 192.0.2.1\nmail A 192.0.2.2\n");
    let log = log("www.z.test A\nother.test A\nnope.z.test A\nWWW.Z.test AAAA\nmail.z.test A\n");
    let (normal, summary) = synthesise(
        &zone,
        Some(&log),
        StreamKind::Normal { denial_share: 0.5 },
        1,
        0,
    )
    .unwrap();
    let names: Vec<_> = normal
        .iter()
        .map(|question| question.name.to_string())
        .collect();
    assert_eq!(
        names,
        ["www.z.test", "nope.z.test", "WWW.Z.test", "mail.z.test"]
    );
    assert_eq!(
        (
            summary.outside_zone,
            summary.nxdomain_share,
            summary.nodata_share
        ),
        (1, 0.25, 0.25)
    );
    let (existing, _) = synthesise(&zone, Some(&log), StreamKind::Existence, 1, 0).unwrap();
    assert_eq!(existing.len(), 2);
    let (denied, _) = synthesise(&zone, Some(&log), StreamKind::Denial, 30, 0).unwrap();
    assert!(outcomes(&zone, &denied).iter().all(is_denied));
}

#[test]
fn a_registry_is_asked_for_its_delegations() {
    let zone = zone("a NS ns.a\nns.a A 192.0.2.1\nb NS ns.elsewhere.\n");
    let log = log("www.a.z.test A\nwww.b.z.test AAAA\nwww.c.z.test A\n");
    let (existing, summary) = synthesise(&zone, Some(&log), StreamKind::Existence, 1, 0).unwrap();
    assert_eq!((existing.len(), summary.referral_share), (2, 1.0));
    let (drawn, _) = synthesise(&zone, None, StreamKind::Existence, 100, 0).unwrap();
    assert!(
        drawn
            .iter()
            .any(|question| question.name.to_string() == "b.z.test")
    );
}

#[test]
fn a_foreign_log_is_named() {
    let message = synthesise(
        &small_domain(),
        Some(&log("a.org A\nb.org A\n")),
        StreamKind::Existence,
        1,
        0,
    )
    .unwrap_err()
    .to_string();
    assert!(
        message.contains("example.test.") && message.contains("a.org, b.org"),
        "{message}"
    );
}

#[test]
fn a_zone_that_denies_nothing_is_said() {
    let zone = zone("* A 192.0.2.1\n");
    let found = synthesise(&zone, None, StreamKind::Denial, 10, 0);
    assert!(matches!(found, Err(StreamError::NothingDenied { .. })));
}

#[test]
fn denial_keeps_clear_of_wildcards_and_delegations() {
    let zone = zone(
        "*.wild A 192.0.2.1\na.wild A 192.0.2.2\nsub NS ns.sub\nns.sub A 192.0.2.3\nwww A 192.0.2.4\n",
    );
    let log = log("a.wild.z.test A\nwww.sub.z.test A\nwww.z.test A\n");
    let (denied, _) = synthesise(&zone, Some(&log), StreamKind::Denial, 500, 1).unwrap();
    assert!(outcomes(&zone, &denied).iter().all(is_denied));
}

#[test]
fn messages_are_queries_with_the_options_asked_for() {
    let questions = log("www.z.test A\nmail.z.test MX\n");
    let options = MessageOptions {
        edns_size: Some(1232),
        do_bit: true,
        ..MessageOptions::default()
    };
    for (octets, question) in messages(&questions, &options)
        .unwrap()
        .iter()
        .zip(questions.iter())
    {
        let message = Message::from_slice(octets).unwrap();
        let opt = message.opt().unwrap();
        assert_eq!((opt.udp_payload_size(), opt.dnssec_ok()), (1232, true));
        let asked = message.sole_question().unwrap();
        assert_eq!(
            (asked.qname().to_string(), asked.qtype()),
            (question.name.to_string(), question.rtype)
        );
        assert!(message.header().rd() && !message.header().qr());
    }
    let plain = messages(&questions, &MessageOptions::default()).unwrap();
    assert!(
        Message::from_slice(plain.message(0))
            .unwrap()
            .opt()
            .is_none()
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn the_seed_decides(seed in any::<u64>(), share in 0.0..=1.0) {
        let zone = small_domain();
        for kind in [StreamKind::Existence, StreamKind::Denial, StreamKind::Normal { denial_share: share }] {
            let (one, _) = synthesise(&zone, None, kind, 200, seed).unwrap();
            prop_assert_eq!(&one, &synthesise(&zone, None, kind, 200, seed).unwrap().0);
            let (other, _) = synthesise(&zone, None, kind, 200, seed.wrapping_add(1)).unwrap();
            prop_assert_ne!(one, other);
        }
    }

    #[test]
    fn denied_names_are_unique(seed in any::<u64>()) {
        let (questions, _) = synthesise(&small_domain(), None, StreamKind::Denial, 1000, seed).unwrap();
        let names: HashSet<_> = questions.iter().map(|question| question.name.to_string()).collect();
        prop_assert_eq!(names.len(), 1000);
    }
}
