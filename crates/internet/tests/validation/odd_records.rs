//! Whatever records servers sent: what is rebuilt of them can be written, read and served.

use crate::rebuilt::{rebuild, response, serve};
use crate::walk::{Found, Walker};
use dnsrig_internet::{Collector, RebuiltZone};
use dnsrig_zone::{Name, Zone};
use domain::base::iana::Rtype;
use proptest::prelude::*;
use std::net::IpAddr;

const AUTHORITATIVE: [u8; 2] = [0x84, 0];
const NO_NAME: [u8; 2] = [0x84, 3];
const REFERRAL: [u8; 2] = [0x80, 0];

/// The zones as they are when their files are read.
fn through_files(zones: Vec<RebuiltZone>) -> Vec<RebuiltZone> {
    let read = |mut one: RebuiltZone| {
        let mut text = Vec::new();
        one.zone.write_to(&mut text).unwrap();
        let origin = one.zone.origin().clone();
        one.zone = Zone::parse(&text, Some(&origin))
            .unwrap_or_else(|error| panic!("{error}\n{}", String::from_utf8_lossy(&text)));
        one
    };
    zones.into_iter().map(read).collect()
}

fn name(text: &str) -> Name {
    text.parse().unwrap()
}

fn record(owner: &str, rtype: u16, ttl: u32, rdata: &[u8]) -> Vec<u8> {
    let mut octets = name(owner).as_slice().to_vec();
    octets.extend_from_slice(&rtype.to_be_bytes());
    octets.extend_from_slice(&[0, 1]);
    octets.extend_from_slice(&ttl.to_be_bytes());
    octets.extend_from_slice(&(rdata.len() as u16).to_be_bytes());
    octets.extend_from_slice(rdata);
    octets
}

fn soa(serial: u8) -> Vec<u8> {
    let mut rdata = [
        name("ns.example.").as_slice(),
        name("host.example.").as_slice(),
    ]
    .concat();
    rdata.extend_from_slice(&[0, 0, 0, serial]);
    rdata.extend_from_slice(&[0, 0, 1, 0].repeat(4));
    rdata
}

/// A message of a server: flags, the name asked for, records of answer and authority.
type Sent<'a> = ([u8; 2], &'a str, &'a [Vec<u8>], &'a [Vec<u8>]);

/// A collector that has the zone example. with one host, and what `odd` adds.
fn collected(odd: &[Sent<'_>]) -> Collector {
    let server: IpAddr = "192.0.2.53".parse().unwrap();
    let mut collector = Collector::new();
    let base: [Sent<'_>; 2] = [
        (
            AUTHORITATIVE,
            "example.",
            &[record("example.", 6, 300, &soa(1))],
            &[],
        ),
        (
            AUTHORITATIVE,
            "www.example.",
            &[record("www.example.", 1, 60, &[192, 0, 2, 1])],
            &[],
        ),
    ];
    for (flags, name, answer, authority) in base.iter().chain(odd) {
        let counts = [answer.len() as u8, authority.len() as u8, 0];
        let records: Vec<&[u8]> = answer
            .iter()
            .chain(*authority)
            .map(|one| &one[..])
            .collect();
        collector.add(server, &response(*flags, counts, name, Rtype::A, &records));
    }
    collector
}

/// What a resolver finds after the zones were written and read.
fn found(collector: &Collector, name: &str, rtype: u16) -> Found {
    let rebuilt = serve(through_files(rebuild(collector).zones));
    let mut walker = Walker::over(&rebuilt, rebuilt.root_hints(), rebuilt.trust_anchor());
    walker.resolve(&name.parse().unwrap(), Rtype::from_int(rtype))
}

#[test]
fn records_that_cannot_stand_in_a_zone_are_left_out_and_counted() {
    let host = [192, 0, 2, 7];
    // The type of the record, its data, and whether they stand in a zone.
    for (rtype, rdata, stands) in [
        (1, &host[..], true),
        (1, &host[..3], false),
        (28, &[0; 15], false),
        (36, &[0, 1], false),
        (36, &[0, 1, 0], true),
        (30, &[], false),
        (24, &[0; 8], false),
        (0, &host, false),
        (249, &host, false),
        (250, &host, false),
        (252, &host, false),
        (255, &host, false),
        // CAA without a property (RFC 8659 section 4.1), and IPSECKEY without a gateway.
        (257, &[0, 0], true),
        (257, b"\0\x05issue", true),
        (45, &[10, 0, 2, 1, 2, 3], true),
        (65_280, &host, true),
    ] {
        let odd = [
            record("odd.example.", rtype, 60, rdata),
            record("odd.example.", 16, 60, b"\x01a"),
        ];
        let collector = collected(&[(AUTHORITATIVE, "odd.example.", &odd, &[])]);
        let counts = collector.counts();
        assert_eq!((counts.used, counts.malformed), (3, 0), "TYPE{rtype}");
        assert_eq!(counts.unfit, u64::from(!stands), "TYPE{rtype}");
        // What came with it is used.
        assert_eq!(
            found(&collector, "odd.example.", 16),
            Found::Data(vec![b"\x01a".to_vec()])
        );
        if stands {
            assert_eq!(
                found(&collector, "odd.example.", rtype),
                Found::Data(vec![rdata.to_vec()])
            );
        }
    }
}

#[test]
fn too_long_ttls_and_second_records_leave_zones_that_can_be_read() {
    let data = |octets: &[u8]| Found::Data(vec![octets.to_vec()]);
    for ttl in [1 << 31, u32::MAX] {
        let odd = [record("odd.example.", 1, ttl, &[192, 0, 2, 7])];
        let collector = collected(&[(AUTHORITATIVE, "odd.example.", &odd, &[])]);
        assert_eq!(found(&collector, "odd.example.", 1), data(&[192, 0, 2, 7]));
        let zones = rebuild(&collector).zones;
        let mut records = zones.iter().flat_map(|one| one.zone.records());
        let of_it = records.find(|one| one.owner == name("odd.example.") && one.rtype == Rtype::A);
        assert_eq!(of_it.map(|one| one.ttl), Some(0));
    }
    let two = |rtype, one: &[u8], other: &[u8]| {
        [
            record("two.", rtype, 60, one),
            record("two.", rtype, 60, other),
        ]
    };
    for odd in [
        two(6, &soa(1), &soa(2)),
        two(
            5,
            name("a.example.").as_slice(),
            name("b.example.").as_slice(),
        ),
        two(
            39,
            name("a.example.").as_slice(),
            name("b.example.").as_slice(),
        ),
    ] {
        let collector = collected(&[(AUTHORITATIVE, "two.", &odd, &[])]);
        assert_eq!(collector.counts().unfit, 1);
        assert_eq!(found(&collector, "www.example.", 1), data(&[192, 0, 2, 1]));
    }
    // The SOA record of a zone that nobody serves, and one below the zone that answered.
    for owner in ["elsewhere.", "a.b.www.example."] {
        let odd = [record(owner, 6, 60, &soa(3))];
        let collector = collected(&[(NO_NAME, "x.www.example.", &[], &odd)]);
        assert_eq!(found(&collector, "www.example.", 1), data(&[192, 0, 2, 1]));
    }
}

#[test]
fn owners_of_nsec_records_exist() {
    let next = name("z.example.");
    let nsec = |types: &[u8]| [next.as_slice(), types].concat();
    // A, RRSIG and NSEC; then RRSIG and NSEC alone, as of denials that are made up for each question; with NXNAME, too.
    let with_data = nsec(&[0, 6, 0x40, 0, 0, 0, 0, 3]);
    let made_up = nsec(&[0, 6, 0, 0, 0, 0, 0, 3]);
    let compact = nsec(&[0, 17, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80]);
    for (rdata, is_there) in [(with_data, true), (made_up, false), (compact, false)] {
        let odd = [record("m.example.", 47, 60, &rdata)];
        let collector = collected(&[(NO_NAME, "n.example.", &[], &odd)]);
        let expected = if is_there {
            Found::NoData
        } else {
            Found::NxDomain
        };
        assert_eq!(found(&collector, "m.example.", 1), expected);
        assert_eq!(found(&collector, "n.example.", 1), Found::NxDomain);
    }
}

#[test]
fn addresses_that_nobody_can_be_asked_at_make_no_servers() {
    let answer = |server: &str, zone: &str, collector: &mut Collector| {
        let host = record(zone, 1, 60, &[192, 0, 2, 1]);
        let ns = record(zone, 2, 60, name("ns.example.").as_slice());
        let message = response(AUTHORITATIVE, [1, 1, 0], zone, Rtype::A, &[&host, &ns]);
        collector.add(server.parse().unwrap(), &message);
    };
    for server in [
        "fe80::53",
        "ff02::53",
        "::",
        "::ffff:192.0.2.53",
        "0.0.0.0",
        "224.0.0.53",
        "255.255.255.255",
    ] {
        let mut collector = Collector::new();
        answer(server, "a.", &mut collector);
        assert!(rebuild(&collector).zones.is_empty(), "{server}");
    }
    for server in ["127.0.0.53", "::1", "169.254.0.53", "192.0.2.53"] {
        let mut collector = Collector::new();
        answer(server, "a.", &mut collector);
        let made = rebuild(&collector);
        assert_eq!(
            serve(made.zones).addresses().last(),
            Some(&server.parse().unwrap())
        );
    }
    // A zone says that its servers are at such addresses, beside one that can be asked.
    let mut collector = Collector::new();
    answer("192.0.2.53", "a.", &mut collector);
    let glue = |rtype, rdata: &[u8]| record("ns.example.", rtype, 60, rdata);
    let additional = [
        glue(1, &[192, 0, 2, 53]),
        glue(1, &[0, 0, 0, 0]),
        glue(1, &[255, 255, 255, 255]),
        glue(28, &[&[0xfe, 0x80], &[0; 14][..]].concat()),
        glue(28, &[&[0; 10][..], &[0xff, 0xff, 192, 0, 2, 53]].concat()),
    ];
    let ns = record("a.", 2, 60, name("ns.example.").as_slice());
    let records: Vec<&[u8]> = [&ns]
        .into_iter()
        .chain(&additional)
        .map(|one| &one[..])
        .collect();
    let message = response(REFERRAL, [0, 1, 5], "www.a.", Rtype::A, &records);
    collector.add("192.0.2.1".parse().unwrap(), &message);
    let made = rebuild(&collector);
    let of_a = made
        .zones
        .iter()
        .find(|one| *one.zone.origin() == name("a."))
        .unwrap();
    let servers: Vec<String> = of_a.servers.iter().map(ToString::to_string).collect();
    assert_eq!(servers, ["192.0.2.53"]);
}

proptest! {
    #[test]
    fn any_octets_are_taken(octets in prop::collection::vec(any::<u8>(), 0..120), counts: [u8; 3]) {
        let server: IpAddr = "192.0.2.53".parse().unwrap();
        let mut collector = Collector::new();
        collector.add(server, &octets);
        collector.add(server, &response(AUTHORITATIVE, counts, "www.example.", Rtype::A, &[&octets]));
        serve(through_files(rebuild(&collector).zones));
    }

    #[test]
    fn any_record_is_taken(
        rtype in prop_oneof![0_u16..300, any::<u16>()],
        ttl: u32,
        owner in prop::sample::select(vec![".", "example.", "www.example.", "*.example.", "a.b.example."]),
        rdata in prop::collection::vec(prop_oneof![0_u8..4, any::<u8>()], 0..48),
    ) {
        let odd = [record(owner, rtype, ttl, &rdata)];
        for flags in [AUTHORITATIVE, NO_NAME, REFERRAL] {
            let parts: [(_, &[_], &[_]); 2] = [(flags, &odd, &[]), (flags, &[], &odd)];
            for (flags, answer, authority) in parts {
                let collector = collected(&[(flags, "odd.example.", answer, authority)]);
                serve(through_files(rebuild(&collector).zones));
            }
        }
    }
}
