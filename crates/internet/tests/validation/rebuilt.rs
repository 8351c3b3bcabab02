//! An Internet that is rebuilt from what servers sent answers the same questions the same.

use crate::small;
use crate::walk::{Found, NOW_S, Walker, query};
use dnsrig_answer::Transport;
use dnsrig_internet::{
    Arrived, Asked, Collector, Counts, Internet, QueryNames, Rebuilt, RebuiltOptions, Responding,
    Scratch,
};
use dnsrig_zone::Name;
use domain::base::iana::Rtype;
use std::collections::HashSet;
use std::net::IpAddr;
use std::time::Duration;

const OPTIONS: RebuiltOptions = RebuiltOptions {
    seed: 5,
    signed_at_s: NOW_S as u64,
};

fn asked(internet: &Internet) -> Vec<Asked> {
    QueryNames::new(internet, 12, 0.3).take(150).collect()
}

/// What a walk finds, and whether that is secure.
fn walk(walker: &mut Walker<'_>, asked: &[Asked]) -> Vec<(Found, bool)> {
    let resolve = |one: &Asked| (walker.resolve(&one.name, one.rtype), walker.is_secure);
    asked.iter().map(resolve).collect()
}

fn collected(sent: &[(IpAddr, Vec<u8>)]) -> Collector {
    let mut collector = Collector::new();
    for (server, message) in sent {
        collector.add(*server, message);
    }
    collector
}

#[test]
fn the_same_questions_are_answered_the_same() {
    let internet = small(11);
    let asked = asked(&internet);
    let mut walker = Walker::new(&internet);
    let found = walk(&mut walker, &asked);
    let collector = collected(&walker.sent);
    let made = collector.rebuild();
    assert_eq!((made.conflicts, made.without_server), (0, 0));
    let signed = made
        .zones
        .iter()
        .filter(|zone| zone.algorithm.is_some())
        .count();
    assert!(signed > 20 && signed < made.zones.len());
    let rebuilt = Rebuilt::new(made.zones, OPTIONS).unwrap();
    assert_ne!(rebuilt.trust_anchor(), internet.trust_anchor().unwrap());
    let mut again = Walker::over(&rebuilt, rebuilt.root_hints(), rebuilt.trust_anchor());
    assert_eq!(walk(&mut again, &asked), found);
    for kind in [Found::NxDomain, Found::NoData] {
        assert!(found.contains(&(kind.clone(), true)) && found.contains(&(kind, false)));
    }
    // Whoever serves a zone there serves it here: the servers are the same.
    let servers: HashSet<&IpAddr> = rebuilt.addresses().iter().collect();
    assert!(
        walker
            .sent
            .iter()
            .all(|(server, _)| servers.contains(server))
    );
}

#[test]
fn what_one_authoritative_server_sent_gets_a_root() {
    let internet = small(11);
    let asked = asked(&internet);
    let mut walker = Walker::new(&internet);
    walk(&mut walker, &asked);
    let com: Name = "com.".parse().unwrap();
    let of_com = walker.ask(walker_root(&internet), &com, Rtype::NS);
    let mut glue = of_com.additional.iter();
    let glue = &glue.find(|one| one.rtype == Rtype::A).unwrap().rdata[0];
    let server = IpAddr::from(<[u8; 4]>::try_from(&glue[..]).unwrap());
    let sent: Vec<_> = walker
        .sent
        .into_iter()
        .filter(|(from, _)| *from == server)
        .collect();
    assert!(sent.len() > 20);
    let made = collected(&sent).rebuild();
    let names: Vec<String> = made
        .zones
        .iter()
        .map(|one| one.zone.origin().fmt_with_dot().to_string())
        .collect();
    assert_eq!(names, [".", "com."]);
    assert!(made.soa_made == 1 && made.without_server > 10);
    let rebuilt = Rebuilt::new(made.zones, OPTIONS).unwrap();
    // The root was not seen: it is made up, and not signed.
    assert_eq!(rebuilt.trust_anchor(), "");
    let mut again = Walker::over(&rebuilt, rebuilt.root_hints(), "");
    assert!(matches!(again.resolve(&com, Rtype::SOA), Found::Data(_)));
    let missing: Name = "x-is-missing.com.".parse().unwrap();
    assert_eq!(again.resolve(&missing, Rtype::A), Found::NxDomain);
}

fn walker_root(internet: &Internet) -> std::net::Ipv4Addr {
    let hints = internet.root_hints();
    let line = hints.lines().nth(1).unwrap();
    line.rsplit('\t').next().unwrap().parse().unwrap()
}

/// A response: flags, sections with the number of records, and records.
fn response(
    flags: [u8; 2],
    counts: [u8; 3],
    name: &str,
    rtype: Rtype,
    records: &[&[u8]],
) -> Vec<u8> {
    let name: Name = name.parse().unwrap();
    let mut message = query(&name, rtype, false);
    message.truncate(message.len() - 11);
    message[2..4].copy_from_slice(&flags);
    message[6..12].copy_from_slice(&[0, counts[0], 0, counts[1], 0, counts[2]]);
    records
        .iter()
        .for_each(|record| message.extend_from_slice(record));
    message
}

/// An A record of what the question names.
fn host(last: u8) -> Vec<u8> {
    vec![0xc0, 12, 0, 1, 0, 1, 0, 0, 1, 0, 0, 4, 192, 0, 2, last]
}

#[test]
fn the_most_frequent_data_win_and_what_is_no_answer_of_a_server_is_left_out() {
    let server: IpAddr = "192.0.2.53".parse().unwrap();
    let mut collector = Collector::new();
    let mut add = |flags, name: &str, last| {
        let record = host(last);
        collector.add(
            server,
            &response(flags, [1, 0, 0], name, Rtype::A, &[&record]),
        );
    };
    for (name, last) in [
        ("a.test.", 1),
        ("a.test.", 2),
        ("A.test.", 2),
        ("b.test.", 3),
        ("b.test.", 4),
    ] {
        add([0x84, 0], name, last);
    }
    add([0x86, 0], "cut.test.", 1);
    add([0x80, 0x80], "client.test.", 1);
    add([0x04, 0], "query.test.", 1);
    add([0x84, 2], "failed.test.", 1);
    collector.add(server, b"no message");
    let empty = response([0x84, 0], [0, 0, 0], "empty.test.", Rtype::AAAA, &[]);
    collector.add(server, &empty);
    let expected = Counts {
        used: 6,
        no_response: 1,
        truncated: 1,
        recursive: 1,
        malformed: 1,
        failed: 1,
    };
    assert_eq!(collector.counts(), expected);
    let made = collector.rebuild();
    assert_eq!(made.conflicts, 2);
    let rebuilt = Rebuilt::new(made.zones, OPTIONS).unwrap();
    assert_eq!(rebuilt.addresses(), [server]);
    let mut walker = Walker::over(&rebuilt, rebuilt.root_hints(), "");
    let mut ask = |name: &str, rtype| walker.resolve(&name.parse().unwrap(), rtype);
    assert_eq!(
        ask("a.test.", Rtype::A),
        Found::Data(vec![vec![192, 0, 2, 2]])
    );
    assert_eq!(
        ask("b.test.", Rtype::A),
        Found::Data(vec![vec![192, 0, 2, 3]])
    );
    assert_eq!(ask("b.test.", Rtype::AAAA), Found::NoData);
    assert_eq!(ask("empty.test.", Rtype::A), Found::NoData);
    for name in ["cut.test.", "client.test.", "query.test.", "failed.test."] {
        assert_eq!(ask(name, Rtype::A), Found::NxDomain, "{name}");
    }
}

#[test]
fn nothing_comes_of_nothing_and_strangers_are_not_answered() {
    assert!(Collector::new().rebuild().zones.is_empty());
    let internet = small(11);
    let mut walker = Walker::new(&internet);
    walk(&mut walker, &asked(&internet)[..3]);
    let rebuilt = Rebuilt::new(collected(&walker.sent).rebuild().zones, OPTIONS).unwrap();
    let message = query(&Name::root_bytes(), Rtype::NS, true);
    let arrived = Arrived {
        server: "192.0.2.1".parse().unwrap(),
        transport: Transport::Udp,
        message: &message,
        now: Duration::ZERO,
    };
    let mut out = vec![0; 65_535];
    let answer = rebuilt.answer(&arrived, &mut Scratch::default(), &mut out);
    assert_eq!((answer.len, answer.server), (None, None));
}

proptest::proptest! {
    #[test]
    fn any_octets_are_taken(octets in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..120), counts: [u8; 3]) {
        let server: IpAddr = "192.0.2.53".parse().unwrap();
        let mut collector = Collector::new();
        collector.add(server, &octets);
        collector.add(server, &response([0x84, 0], counts, "www.example.", Rtype::A, &[&octets]));
        Rebuilt::new(collector.rebuild().zones, OPTIONS).unwrap();
    }
}
