//! The synthetic small domain: exact, repeatable, and with everything in it that it promises.

use dnsrig_zone::generate::{
    SMALL_DOMAIN_RECORDS, SMALL_DOMAIN_RECORDS_MAX, SMALL_DOMAIN_RECORDS_MIN, small_domain,
};
use dnsrig_zone::{Name, ReadZone, Zone};
use domain::base::iana::Rtype;

fn origin() -> Name {
    Name::bytes_from_str("example.jp.").unwrap()
}

fn text(zone: &Zone) -> Vec<u8> {
    let mut text = Vec::new();
    zone.write_to(&mut text).unwrap();
    text
}

#[test]
fn exactly_as_many_records_as_asked_for() {
    let sizes = (SMALL_DOMAIN_RECORDS_MIN..320).chain([1_000, 9_999, SMALL_DOMAIN_RECORDS_MAX]);
    for (seed, size) in sizes.enumerate() {
        let zone = small_domain(&origin(), size, seed as u64).unwrap();
        assert_eq!(zone.records().len(), size, "seed {seed}");
    }
}

#[test]
fn the_same_for_the_same_seed() {
    let make = |seed| text(&small_domain(&origin(), SMALL_DOMAIN_RECORDS, seed).unwrap());
    assert_eq!(make(1), make(1));
    assert_ne!(make(1), make(2));
}

#[test]
fn has_everything_even_at_its_smallest() {
    for size in [SMALL_DOMAIN_RECORDS_MIN, SMALL_DOMAIN_RECORDS] {
        let zone = small_domain(&origin(), size, 7).unwrap();
        let counts = zone.statistics();
        assert_eq!(counts.records, size);
        let wanted = [
            Rtype::SOA,
            Rtype::NS,
            Rtype::A,
            Rtype::AAAA,
            Rtype::MX,
            Rtype::TXT,
            Rtype::SRV,
            Rtype::CNAME,
            Rtype::CAA,
            Rtype::DS,
        ];
        assert!(wanted.iter().all(|rtype| counts.types.contains_key(rtype)));
        assert!(
            counts.wildcards >= 1 && counts.empty_non_terminals >= 4 && counts.glue_records >= 3
        );
        assert!(counts.signed_delegations >= 1 && counts.delegations > counts.signed_delegations);
    }
}

#[test]
fn reads_back_without_warnings() {
    let zone = small_domain(&origin(), SMALL_DOMAIN_RECORDS, 3).unwrap();
    let read = ReadZone::from_text(&text(&zone), None).unwrap();
    assert!(read.warnings.is_empty());
    assert_eq!(read.zone.records(), zone.records());
}

#[test]
fn refuses_what_it_cannot_make() {
    let too_few = small_domain(&origin(), SMALL_DOMAIN_RECORDS_MIN - 1, 1).unwrap_err();
    assert!(
        too_few
            .to_string()
            .ends_with("choose a number from 34 to 100000")
    );
    let label = "a".repeat(60);
    let long = Name::bytes_from_str(&[label.as_str(); 4].join(".")).unwrap();
    assert!(small_domain(&long, SMALL_DOMAIN_RECORDS, 1).is_err());
    let root = Name::root_bytes();
    assert_eq!(
        small_domain(&root, SMALL_DOMAIN_RECORDS, 1)
            .unwrap()
            .records()
            .len(),
        SMALL_DOMAIN_RECORDS
    );
}

#[test]
fn statistics_of_a_known_zone() {
    let zone = Zone::parse(
        b"$ORIGIN example.\n@ 5 SOA . . 1 2 3 4 5\n NS ns\nns A 192.0.2.1\n*.w A 192.0.2.1\na.b.c A 192.0.2.1\nx.b.c A 192.0.2.1\n\
          d NS ns.d\nd DS 1 8 2 00\nns.d A 192.0.2.2\na.b.d A 192.0.2.2\ne NS ns.elsewhere.\nf DNAME x.\n*.f A 192.0.2.2\n\
          deep.under.g NS ns\n",
        None,
    )
    .unwrap();
    let counts = zone.statistics();
    assert_eq!((counts.records, counts.names), (14, 12));
    assert_eq!((counts.delegations, counts.signed_delegations), (3, 1));
    assert_eq!(counts.glue_records, 3);
    assert_eq!(counts.wildcards, 1);
    // w, c, b.c, g and under.g; nothing below d and f.
    assert_eq!(counts.empty_non_terminals, 5);
    assert_eq!(counts.types[&Rtype::NS], 4);
}
