use super::*;
use bytes::Bytes;
use domain::base::iana::Class;
use domain::base::name::FlattenInto;
use proptest::prelude::*;
use std::str::FromStr;

fn name(text: &str) -> Name {
    Name::from_str(text).expect("a valid name").flatten_into()
}

/// A zone of `owner type` lines; the data do not matter here.
fn index(origin: &str, lines: &str) -> ZoneIndex {
    let records = lines
        .lines()
        .filter_map(|line| line.trim().split_once(' '))
        .map(|(owner, rtype)| Record {
            owner: name(owner),
            rtype: Rtype::from_str(rtype.trim()).expect("a known type"),
            class: Class::IN,
            ttl: 3600,
            rdata: Bytes::from_static(&[0]),
        })
        .collect();
    ZoneIndex::new(Zone::new(name(origin), records))
}

/// RFC 4592 section 2.2.1, with a DNAME and an occluded name added.
fn rfc_4592() -> ZoneIndex {
    index(
        "example.",
        "example. SOA
         example. NS
         *.example. TXT
         *.example. MX
         sub.*.example. TXT
         host1.example. A
         _ssh._tcp.host1.example. SRV
         _ssh._tcp.host2.example. SRV
         subdel.example. NS
         ns.subdel.example. A
         signed.example. NS
         signed.example. DS
         old.example. DNAME
         hidden.old.example. A
         alias.example. CNAME",
    )
}

fn describe(index: &ZoneIndex, qname: &str, rtype: Rtype) -> String {
    let at = |node: NodeId, via: Via| match via {
        Via::Exact => index.name(node).to_string(),
        Via::Wildcard { predecessor } => {
            format!("{} (after {})", index.name(node), index.name(predecessor))
        }
    };
    match index.lookup(&LookupName::from(&name(qname)), rtype) {
        Outcome::NotAuthoritative => "outside".into(),
        Outcome::Answer { node, via, rrset } => {
            format!("{} {}", at(node, via), index.rrset(rrset).rtype)
        }
        Outcome::Any { node, via } => format!("{} any", at(node, via)),
        Outcome::Cname { node, via, .. } => format!("{} alias", at(node, via)),
        Outcome::Dname { node, .. } => format!("{} dname", index.name(node)),
        Outcome::NoData { node, via } => format!("{} nodata", at(node, via)),
        Outcome::NxDomain {
            closest_encloser,
            predecessor,
        } => {
            format!(
                "nxdomain below {} after {}",
                index.name(closest_encloser),
                index.name(predecessor)
            )
        }
        Outcome::Referral { cut, ds, .. } => {
            format!(
                "referral {}{}",
                index.name(cut),
                if ds.is_some() { " signed" } else { "" }
            )
        }
    }
}

#[test]
fn answers_as_rfc_4592_says() {
    let index = rfc_4592();
    for (qname, rtype, expected) in [
        // Synthesised from the wildcard.
        (
            "host3.example.",
            Rtype::MX,
            "*.example (after _ssh._tcp.host2.example) MX",
        ),
        (
            "host3.example.",
            Rtype::A,
            "*.example (after _ssh._tcp.host2.example) nodata",
        ),
        (
            "foo.bar.example.",
            Rtype::TXT,
            "*.example (after alias.example) TXT",
        ),
        // Not synthesised.
        ("host1.example.", Rtype::MX, "host1.example nodata"),
        ("sub.*.example.", Rtype::MX, "sub.*.example nodata"),
        (
            "_telnet._tcp.host1.example.",
            Rtype::SRV,
            "nxdomain below _tcp.host1.example after _ssh._tcp.host1.example",
        ),
        ("host.subdel.example.", Rtype::A, "referral subdel.example"),
        (
            "ghost.*.example.",
            Rtype::MX,
            "nxdomain below *.example after *.example",
        ),
        // Empty non-terminals.
        ("_tcp.host2.example.", Rtype::A, "_tcp.host2.example nodata"),
        ("host2.example.", Rtype::ANY, "host2.example nodata"),
        // Zone cuts.
        ("SubDel.Example.", Rtype::A, "referral subdel.example"),
        ("subdel.example.", Rtype::DS, "subdel.example nodata"),
        ("ns.subdel.example.", Rtype::A, "referral subdel.example"),
        ("x.subdel.example.", Rtype::DS, "referral subdel.example"),
        (
            "signed.example.",
            Rtype::NS,
            "referral signed.example signed",
        ),
        ("signed.example.", Rtype::DS, "signed.example DS"),
        // Aliases.
        ("alias.example.", Rtype::A, "alias.example alias"),
        ("alias.example.", Rtype::CNAME, "alias.example CNAME"),
        ("alias.example.", Rtype::ANY, "alias.example any"),
        ("old.example.", Rtype::DNAME, "old.example DNAME"),
        ("old.example.", Rtype::A, "old.example nodata"),
        ("x.y.old.example.", Rtype::A, "old.example dname"),
        ("hidden.old.example.", Rtype::A, "old.example dname"),
        ("example.", Rtype::SOA, "example SOA"),
        ("com.", Rtype::SOA, "outside"),
        ("anexample.", Rtype::SOA, "outside"),
        (".", Rtype::SOA, "outside"),
    ] {
        assert_eq!(describe(&index, qname, rtype), expected, "{qname} {rtype}");
    }
}

#[test]
fn finds_closest_encloser_without_wildcard() {
    let index = index("example.", "example. SOA\na.b.c.example. A\nz.example. A");
    assert_eq!(
        describe(&index, "x.c.example.", Rtype::A),
        "nxdomain below c.example after a.b.c.example"
    );
    assert_eq!(
        describe(&index, "x.y.a.b.c.example.", Rtype::A),
        "nxdomain below a.b.c.example after a.b.c.example"
    );
    assert_eq!(
        describe(&index, "d.example.", Rtype::A),
        "nxdomain below example after a.b.c.example"
    );
    assert_eq!(
        describe(&index, "zz.example.", Rtype::A),
        "nxdomain below example after z.example"
    );
}

#[test]
fn works_at_the_root() {
    let index = index(".", ". SOA\njp. NS\nns.jp. A");
    assert_eq!(describe(&index, "www.example.jp.", Rtype::A), "referral jp");
    assert_eq!(
        describe(&index, "kp.", Rtype::A),
        "nxdomain below . after ns.jp"
    );
    assert_eq!(describe(&index, ".", Rtype::SOA), ". SOA");
}

#[test]
fn refuses_names_that_do_not_fit() {
    assert!(LookupName::from_wire(b"\x03www").is_none());
    assert!(LookupName::from_wire(b"\xc0\x0c").is_none());
    assert!(LookupName::from_wire(b"\x01a\x00\x00").is_none());
    let label = |len: usize| std::iter::once(len as u8).chain(std::iter::repeat_n(b'x', len));
    let wire = |last| -> Vec<u8> {
        label(63)
            .chain(label(63))
            .chain(label(63))
            .chain(label(last))
            .chain([0])
            .collect()
    };
    assert!(LookupName::from_wire(&wire(61)).is_some(), "255 octets");
    assert!(LookupName::from_wire(&wire(62)).is_none(), "256 octets");
}

fn some_label() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        proptest::collection::vec(
            prop_oneof![
                Just(0u8),
                Just(1),
                Just(2),
                Just(b'A'),
                Just(b'b'),
                Just(255)
            ],
            1..3
        ),
        Just(b"*".to_vec()),
    ]
}

fn some_name() -> impl Strategy<Value = Name> {
    proptest::collection::vec(some_label(), 0..4).prop_map(|labels| {
        let mut wire: Vec<u8> = Vec::new();
        for label in labels {
            wire.push(label.len() as u8);
            wire.extend(label);
        }
        wire.push(0);
        Name::from_octets(wire.into()).expect("a valid name")
    })
}

proptest! {
    #[test]
    fn keys_sort_as_names(a in some_name(), b in some_name()) {
        use domain::base::name::ToName;
        let (key_a, key_b) = (LookupName::from(&a), LookupName::from(&b));
        prop_assert_eq!(key_a.key().cmp(key_b.key()), a.name_cmp(&b));
        let below = a.iter_suffixes().any(|suffix| suffix == b);
        prop_assert_eq!(key_a.key().starts_with(key_b.key()), below);
    }

    /// Without cuts and DNAMEs, the outcome follows from the set of names by definition.
    #[test]
    fn agrees_with_the_definition(owners in proptest::collection::vec(some_name(), 1..12), qname in some_name()) {
        use domain::base::name::ToName;
        let root = name(".");
        let records: Vec<Record> = owners
            .iter()
            .map(|owner| Record {
                owner: owner.clone(),
                rtype: Rtype::A,
                class: Class::IN,
                ttl: 1,
                rdata: Bytes::new(),
            })
            .collect();
        let index = ZoneIndex::new(Zone::new(root, records));
        let exists = |name: &Name| owners.iter().any(|owner| owner.iter_suffixes().any(|suffix| suffix == *name)) || name.is_root();
        let encloser: Name = qname.iter_suffixes().map(|suffix| suffix.flatten_into()).find(exists).unwrap();
        let wildcard = name("*").iter().next().map(|star| {
            let mut wire = vec![1];
            wire.extend(star.as_slice());
            wire.extend(encloser.as_slice());
            Name::from_octets(wire.into()).unwrap()
        }).unwrap();
        let before = |node: NodeId| {
            prop_assert!(index.name(node).name_cmp(&qname).is_lt());
            let between = owners.iter().any(|o| o.name_cmp(index.name(node)).is_gt() && o.name_cmp(&qname).is_lt());
            prop_assert!(!between);
            Ok(())
        };
        match index.lookup(&LookupName::from(&qname), Rtype::A) {
            Outcome::Answer { node, via: Via::Exact, .. } => {
                prop_assert!(owners.contains(&qname));
                prop_assert_eq!(index.name(node), &qname);
            }
            Outcome::Answer { node, via: Via::Wildcard { predecessor }, .. } => {
                prop_assert_ne!(&encloser, &qname);
                prop_assert_eq!(index.name(node), &wildcard);
                prop_assert!(owners.contains(&wildcard));
                before(predecessor)?;
            }
            Outcome::NoData { via: Via::Exact, .. } => {
                prop_assert!(exists(&qname) && !owners.contains(&qname));
            }
            Outcome::NoData { node, via: Via::Wildcard { predecessor } } => {
                prop_assert_eq!(index.name(node), &wildcard);
                prop_assert!(exists(&wildcard) && !owners.contains(&wildcard) && !exists(&qname));
                before(predecessor)?;
            }
            Outcome::NxDomain { closest_encloser, predecessor } => {
                prop_assert_eq!(index.name(closest_encloser), &encloser);
                prop_assert!(!exists(&qname) && !exists(&wildcard));
                before(predecessor)?;
            }
            other => prop_assert!(false, "{:?}", other),
        }
    }
}
