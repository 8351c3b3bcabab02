//! An Internet that is rebuilt from what servers sent answers the same questions the same.

use crate::small;
use crate::walk::{Found, NOW_S, Walker, query};
use dnsrig_answer::Transport;
use dnsrig_internet::{
    Arrived, Asked, Collector, Counts, Internet, InternetError, QueryNames, Rebuilt,
    RebuiltOptions, RebuiltZone, Reconstruction, Responding, Scratch,
};
use dnsrig_zone::Name;
use domain::base::iana::Rtype;
use std::collections::HashSet;
use std::net::IpAddr;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

const OPTIONS: RebuiltOptions = RebuiltOptions {
    seed: 5,
    signed_at_s: NOW_S as u64,
    memory_octets: 1 << 30,
};

/// Nobody cancels.
static GO_ON: AtomicBool = AtomicBool::new(false);

pub fn rebuild(collector: &Collector) -> Reconstruction {
    collector.rebuild(&GO_ON).unwrap()
}

pub fn serve(zones: Vec<RebuiltZone>) -> Rebuilt {
    Rebuilt::new(zones, OPTIONS, &GO_ON).unwrap()
}

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
    let made = rebuild(&collector);
    assert_eq!((made.conflicts, made.without_server), (0, 0));
    let signed = made
        .zones
        .iter()
        .filter(|zone| zone.algorithm.is_some())
        .count();
    assert!(signed > 20 && signed < made.zones.len());
    let rebuilt = serve(made.zones);
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

/// A message whose question is written in capitals, as are the names in its records that point there.
fn in_capitals(message: &[u8]) -> Vec<u8> {
    let mut message = message.to_vec();
    let mut at = 12;
    while message[at] > 0 {
        let end = at + 1 + usize::from(message[at]);
        message[at + 1..end].make_ascii_uppercase();
        at = end;
    }
    message
}

#[test]
fn letters_of_questions_are_not_those_of_data() {
    let internet = small(11);
    let mut walker = Walker::new(&internet);
    walk(&mut walker, &asked(&internet));
    let capitals = walker.sent.iter();
    let capitals = capitals.map(|(server, message)| (*server, in_capitals(message)));
    let both: Vec<_> = capitals.chain(walker.sent.iter().cloned()).collect();
    assert_ne!(both[..walker.sent.len()], walker.sent);
    let (made, plain) = (
        rebuild(&collected(&both)),
        rebuild(&collected(&walker.sent)),
    );
    assert_eq!(made.conflicts, 0);
    let zones = |made: &Reconstruction| -> Vec<Vec<String>> {
        let zones = made.zones.iter().map(|one| one.zone.records().iter());
        zones
            .map(|records| records.map(|one| format!("{one:?}")).collect())
            .collect()
    };
    assert_eq!(zones(&made), zones(&plain));
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
    let made = rebuild(&collected(&sent));
    let names: Vec<String> = made
        .zones
        .iter()
        .map(|one| one.zone.origin().fmt_with_dot().to_string())
        .collect();
    assert_eq!(names, [".", "com."]);
    assert!(made.soa_made == 1 && made.without_server > 10);
    let rebuilt = serve(made.zones);
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
pub fn response(
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
    // A NOTIFY.
    add([0x20, 0], "notify.test.", 1);
    add([0x84, 2], "failed.test.", 1);
    collector.add(server, b"no message");
    let empty = response([0x84, 0], [0, 0, 0], "empty.test.", Rtype::AAAA, &[]);
    collector.add(server, &empty);
    let expected = Counts {
        used: 6,
        transferred: 0,
        queries: 1,
        others: 1,
        truncated: 1,
        recursive: 1,
        malformed: 1,
        failed: 1,
        astray: 0,
        unfit: 0,
    };
    assert_eq!(collector.counts(), expected);
    let lossy = Counts {
        queries: 13,
        ..expected
    };
    assert_eq!((expected.unanswered(), lossy.unanswered()), (0, 3));
    // A transfer has more messages than queries, and of IXFR neither is used.
    let before = collector.counts();
    let mut add = |flags, rtype| {
        let octets = response(flags, [0, 0, 0], "a.test.", rtype, &[]);
        collector.add(server, &octets);
    };
    for rtype in [Rtype::AXFR, Rtype::IXFR] {
        add([0x00, 0], rtype);
        // Also truncated, and by a server that resolves, too.
        for flags in [[0x84, 0], [0x84, 0x80]] {
            add(flags, rtype);
        }
    }
    add([0x86, 0], Rtype::IXFR);
    add([0x80, 0x80], Rtype::IXFR);
    let after = collector.counts();
    assert_eq!((after.used, after.transferred), (before.used + 2, 2));
    assert_eq!(
        (after.queries, after.others),
        (before.queries, before.others + 6)
    );
    assert_eq!(
        (after.truncated, after.recursive),
        (before.truncated, before.recursive)
    );
    let lossy = Counts {
        queries: 13,
        ..after
    };
    assert_eq!(lossy.unanswered(), 3);
    // Further messages of a transfer without a question, also of servers that do not set AA.
    for (flags, last) in [([0x84, 0], 8), ([0x80, 0], 9)] {
        let mut message = vec![0, 1, flags[0], flags[1], 0, 0, 0, 1, 0, 0, 0, 0];
        message.extend([1, b'a' + last, 4, b't', b'e', b's', b't', 0]);
        message.extend(&host(last)[2..]);
        collector.add(server, &message);
    }
    let further = collector.counts();
    assert_eq!(
        (further.used, further.transferred),
        (after.used + 2, after.transferred + 2)
    );
    assert_eq!(
        (further.malformed, further.unanswered()),
        (after.malformed, after.unanswered())
    );
    let made = rebuild(&collector);
    assert_eq!(made.conflicts, 2);
    let rebuilt = serve(made.zones);
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
    for (name, last) in [("i.test.", 8), ("j.test.", 9)] {
        let address = vec![192, 0, 2, last];
        assert_eq!(ask(name, Rtype::A), Found::Data(vec![address]));
    }
    for name in ["cut.test.", "client.test.", "query.test.", "failed.test."] {
        assert_eq!(ask(name, Rtype::A), Found::NxDomain, "{name}");
    }
}

#[test]
fn nothing_comes_of_nothing_and_strangers_are_not_answered() {
    assert!(rebuild(&Collector::new()).zones.is_empty());
    let internet = small(11);
    let mut walker = Walker::new(&internet);
    walk(&mut walker, &asked(&internet)[..3]);
    let rebuilt = serve(rebuild(&collected(&walker.sent)).zones);
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

/// An NS record of `owner` that names ns.`owner`.
fn delegation(owner: &str) -> Vec<u8> {
    let owner: Name = owner.parse().unwrap();
    let mut record = owner.as_slice().to_vec();
    record.extend_from_slice(&[0, 2, 0, 1, 0, 0, 1, 0, 0, 3 + owner.len() as u8, 2]);
    record.extend_from_slice(b"ns");
    record.extend_from_slice(owner.as_slice());
    record
}

/// The addresses of a zone's servers; none if there is no such zone.
fn servers_of(made: &Reconstruction, apex: &str) -> Vec<String> {
    let apex: Name = apex.parse().unwrap();
    let mut zones = made.zones.iter();
    let zone = zones.find(|one| *one.zone.origin() == apex);
    let servers = zone.into_iter().flat_map(|one| &one.servers);
    servers.map(ToString::to_string).collect()
}

/// What servers sent: the last octet of the server's address, flags, the name asked for and the owner of the referral.
fn made_of(sent: &[(u8, [u8; 2], &str, Option<&str>)]) -> (Reconstruction, Counts) {
    let mut collector = Collector::new();
    for (server, flags, name, referral) in sent {
        let record = referral.map(delegation).unwrap_or_default();
        let counts = [0, u8::from(referral.is_some()), 0];
        let message = response(*flags, counts, name, Rtype::A, &[&record]);
        collector.add(IpAddr::from([192, 0, 2, *server]), &message);
    }
    (rebuild(&collector), collector.counts())
}

const REFERRAL: [u8; 2] = [0x80, 0];
const AUTHORITATIVE: [u8; 2] = [0x84, 0];
const REFUSED: [u8; 2] = [0x80, 5];

#[test]
fn referrals_that_lead_astray_make_no_servers() {
    let sound = (1, REFERRAL, "www.a.test.", Some("test."));
    for astray in [".", "other.", "b.test.", "x.www.a.test."] {
        let sent = [sound, (9, REFERRAL, "www.a.test.", Some(astray))];
        let (made, counts) = made_of(&sent);
        assert_eq!((counts.used, counts.astray), (1, 1), "{astray}");
        assert_eq!(servers_of(&made, "."), ["192.0.2.1"], "{astray}");
        assert_eq!(made.zones.len(), 1, "{astray}");
    }
}

#[test]
fn who_answers_or_refuses_below_what_it_refers_to_is_lame() {
    let sound = (1, REFERRAL, "www.a.test.", Some("test."));
    let upwards = (9, REFERRAL, "www.a.test.", Some("test."));
    assert_eq!(
        servers_of(&made_of(&[sound, upwards]).0, "."),
        ["192.0.2.1", "192.0.2.9"]
    );
    let of_b = (2, AUTHORITATIVE, "b.test.", Some("b.test."));
    for below in [
        (9, AUTHORITATIVE, "www.b.test.", None),
        (9, REFUSED, "www.b.test.", None),
    ] {
        let (made, counts) = made_of(&[sound, upwards, of_b, below]);
        assert_eq!((counts.used, counts.astray), (4, 0));
        assert_eq!(servers_of(&made, "."), ["192.0.2.1"]);
        let is_of_b = servers_of(&made, "b.test.").contains(&"192.0.2.9".to_owned());
        assert_eq!(is_of_b, below.1 == AUTHORITATIVE);
    }
    // Who answers elsewhere may well be a server of the root.
    let elsewhere = (9, AUTHORITATIVE, "www.elsewhere.", Some("elsewhere."));
    let (made, _) = made_of(&[sound, upwards, elsewhere]);
    assert_eq!(servers_of(&made, "."), ["192.0.2.1", "192.0.2.9"]);
}

#[test]
fn servers_that_are_known_by_glue_alone_serve_their_own_names() {
    let glued = response(
        REFERRAL,
        [0, 1, 1],
        "ns.hosts.test.",
        Rtype::A,
        &[&delegation("hosts.test."), &host(7)],
    );
    let answered = response(
        AUTHORITATIVE,
        [0, 1, 0],
        "www.a.test.",
        Rtype::A,
        &[&delegation("a.test.")],
    );
    let refused = response(REFUSED, [0; 3], "hosts.test.", Rtype::A, &[]);
    let servers = |sent: &[(u8, &[u8])]| {
        let mut collector = Collector::new();
        for (server, message) in sent {
            collector.add(IpAddr::from([192, 0, 2, *server]), message);
        }
        servers_of(&rebuild(&collector), "hosts.test.")
    };
    assert_eq!(servers(&[(1, &glued), (7, &answered)]), ["192.0.2.7"]);
    let nobody: [String; 0] = [];
    assert_eq!(servers(&[(1, &glued), (8, &answered)]), nobody);
    let refusing = [(1, &*glued), (7, &*answered), (7, &*refused)];
    assert_eq!(servers(&refusing), nobody);
}

#[test]
fn a_zone_whose_name_servers_were_not_seen_is_served_by_all_addresses_of_who_answered() {
    let glued = response(
        REFERRAL,
        [0, 1, 2],
        "ns.hosts.test.",
        Rtype::A,
        &[&delegation("hosts.test."), &host(7), &host(8)],
    );
    let mut soa = vec![0xc0, 12, 0, 6, 0, 1, 0, 0, 1, 0, 0, 22];
    soa.extend_from_slice(&[0; 22]);
    let no_data = response(AUTHORITATIVE, [0, 1, 0], "a.test.", Rtype::A, &[&soa]);
    let refused = response(REFUSED, [0; 3], "a.test.", Rtype::A, &[]);
    let servers = |sent: &[(u8, &[u8])]| {
        let mut collector = Collector::new();
        for (server, message) in sent {
            collector.add(IpAddr::from([192, 0, 2, *server]), message);
        }
        servers_of(&rebuild(&collector), "a.test.")
    };
    let both = ["192.0.2.7", "192.0.2.8"];
    assert_eq!(servers(&[(1, &glued), (7, &no_data)]), both);
    let refusing = [(1, &*glued), (7, &*no_data), (8, &*refused)];
    assert_eq!(servers(&refusing), both[..1]);
    // Another name of the second address leads to a third one: the zone is going to be delegated to that name, too.
    let shared = response(
        REFERRAL,
        [0, 1, 2],
        "ns.alias.test.",
        Rtype::A,
        &[&delegation("alias.test."), &host(8), &host(9)],
    );
    let three = ["192.0.2.7", "192.0.2.8", "192.0.2.9"];
    let glued_twice = [(1, &*glued), (1, &*shared), (7, &*no_data)];
    assert_eq!(servers(&glued_twice), three);
}

#[test]
fn data_that_never_end_are_left_out_and_counted() {
    let server: IpAddr = "192.0.2.53".parse().unwrap();
    let mut collector = Collector::new();
    let mut grown = Vec::new();
    for last in [7, 7].into_iter().chain(0..100) {
        let record = host(last);
        collector.add(
            server,
            &response(AUTHORITATIVE, [1, 0, 0], "a.test.", Rtype::A, &[&record]),
        );
        grown.push(collector.octets());
    }
    let made = rebuild(&collector);
    // 7 and 63 others.
    assert_eq!((made.conflicts, made.left_out), (1, 36));
    assert!(grown[65] > grown[1] && grown[66..].iter().all(|octets| *octets == grown[65]));
    let name: Name = "a.test.".parse().unwrap();
    let data: Vec<_> = made.zones[0]
        .zone
        .records()
        .iter()
        .filter(|one| one.owner == name)
        .collect();
    assert_eq!((data.len(), &data[0].rdata[..]), (1, &[192, 0, 2, 7][..]));
}

#[test]
fn what_takes_too_much_memory_or_is_cancelled_is_not_made() {
    let internet = small(11);
    let mut walker = Walker::new(&internet);
    walk(&mut walker, &asked(&internet));
    let collector = collected(&walker.sent);
    let octets = serve(rebuild(&collector).zones).octets();
    let make = |memory_octets, cancel: &AtomicBool| {
        let options = RebuiltOptions {
            memory_octets,
            ..OPTIONS
        };
        Rebuilt::new(rebuild(&collector).zones, options, cancel)
    };
    assert!(make(octets * 4 / 3 + 4, &GO_ON).is_ok());
    let refused = make(octets * 4 / 3 - 4, &GO_ON);
    assert!(matches!(refused, Err(InternetError::Memory { .. })));
    let cancelled = AtomicBool::new(true);
    assert!(matches!(
        make(1 << 30, &cancelled),
        Err(InternetError::Interrupted)
    ));
    assert!(collector.rebuild(&cancelled).is_none());
}
