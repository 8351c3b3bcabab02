//! Every answer of a generated Internet validates, wherever one asks; servers with faults have just those.

mod denial;
mod faults;
mod message;
mod odd_records;
mod rebuilt;
mod walk;

use dnsrig_answer::Transport;
use dnsrig_internet::{
    Arrived, Internet, InternetOptions, NAMED_PROFILES, Profile, QueryNames, Responding, Scratch,
};
use dnsrig_zone::Name;
use domain::base::iana::Rtype;
use domain::base::name::ToName;
use proptest::prelude::*;
use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use walk::{Found, NOW_S, Walker, query};

fn options(seed: u64) -> InternetOptions {
    InternetOptions {
        has_distances: false,
        memory_octets: 64 << 20,
        ..InternetOptions::new(seed, NOW_S.into())
    }
}

fn over_udp(server: IpAddr, message: &[u8]) -> Arrived<'_> {
    Arrived {
        server,
        transport: Transport::Udp,
        message,
        now: Duration::ZERO,
    }
}

fn small(seed: u64) -> Internet {
    Internet::new(&Profile::load("small").unwrap(), options(seed)).unwrap()
}

/// Resolves and validates `count` questions, some of them for more types and deeper names.
fn walk_over(internet: &Internet, seed: u64, count: usize) -> HashSet<&'static str> {
    let mut walker = Walker::new(internet);
    let mut seen = HashSet::new();
    for (number, asked) in QueryNames::new(internet, seed, 0.3).take(count).enumerate() {
        let name = match number % 5 {
            // Two labels below: the closest encloser is not the parent.
            0 => Name::from_octets([b"\x01a\x01b", asked.name.as_slice()].concat().into()).unwrap(),
            1 => Name::from_octets([b"\x04_tcp", asked.name.as_slice()].concat().into()).unwrap(),
            _ => asked.name,
        };
        for rtype in [asked.rtype, Rtype::SRV, Rtype::DS] {
            seen.insert(match walker.resolve(&name, rtype) {
                Found::Data(_) => "data",
                Found::NoData => "no data",
                Found::NxDomain => "no name",
            });
        }
    }
    assert!(walker.secure * 8 > count as u64, "too little is signed");
    seen
}

#[test]
fn a_small_internet_validates() {
    let seen = walk_over(&small(1), 2, 80);
    assert_eq!(seen.len(), 3, "{seen:?}");
}

#[test]
fn named_profiles_validate() {
    for (name, _) in NAMED_PROFILES {
        let mut profile = Profile::load(name).unwrap();
        profile.domains = 20_000;
        profile.faults = Default::default();
        // RSA keys take a second each to find.
        for registry in profile.tld.iter_mut().map(|tld| &mut tld.registry) {
            registry.algorithm = registry.algorithm.as_ref().map(|_| "ED25519".to_owned());
        }
        profile.root.algorithm = Some("ED25519".to_owned());
        profile.other_tlds.registry.algorithm = Some("ECDSAP256SHA256".to_owned());
        profile
            .signing
            .algorithms
            .retain(|one| !one.algorithm.starts_with("RSA"));
        let internet = Internet::new(&profile, options(5)).unwrap();
        let mut walker = Walker::new(&internet);
        for asked in QueryNames::new(&internet, 3, 0.2).take(40) {
            walker.resolve(&asked.name, asked.rtype);
        }
    }
}

#[test]
fn aliases_into_content_networks_end_in_addresses() {
    let internet = small(4);
    let mut walker = Walker::new(&internet);
    let mut aliases = 0;
    for asked in QueryNames::new(&internet, 6, 0.0).take(300) {
        let domain = asked
            .name
            .iter_suffixes()
            .find(|name| name.label_count() == 3)
            .unwrap();
        let www = Name::from_octets([b"\x03www", domain.as_slice()].concat().into()).unwrap();
        if let Found::Data(target) = walker.resolve(&www, Rtype::CNAME) {
            let target = Name::from_octets(target[0].clone().into()).unwrap();
            aliases += usize::from(!target.ends_with(&domain));
            assert!(
                matches!(walker.resolve(&www, Rtype::A), Found::Data(_)),
                "{www} to {target}"
            );
        }
        if aliases == 10 {
            return;
        }
    }
    panic!("there are only {aliases} aliases");
}

#[test]
fn websites_have_https_records_with_their_addresses_as_hints() {
    let internet = small(8);
    let mut walker = Walker::new(&internet);
    let (mut with, mut without) = (0, 0);
    for asked in QueryNames::new(&internet, 8, 0.0).take(200) {
        let mut above = asked.name.iter_suffixes();
        let domain = above.find(|name| name.label_count() == 3).unwrap();
        let domain: Name = domain.to_name();
        let Found::Data(https) = walker.resolve(&domain, Rtype::HTTPS) else {
            without += 1;
            continue;
        };
        with += 1;
        let www = Name::from_octets([b"\x03www", domain.as_slice()].concat().into()).unwrap();
        let is_alias = matches!(walker.resolve(&www, Rtype::CNAME), Found::Data(_));
        let of_www = walker.resolve(&www, Rtype::HTTPS);
        assert!(is_alias || matches!(of_www, Found::Data(_)), "{www}");
        // Priority 1, no other target, alpn of six octets; then the hints (RFC 9460 section 2.2).
        let rest = https[0].strip_prefix(b"\x00\x01\x00\x00\x01\x00\x06\x02h3\x02h2");
        let rest = rest.unwrap_or_else(|| panic!("{domain}: {https:?}"));
        let [ipv4, ipv6] = [Rtype::A, Rtype::AAAA].map(|rtype| walker.resolve(&domain, rtype));
        let Found::Data(ipv4) = ipv4 else {
            panic!("{domain} has no address");
        };
        let mut expected = [b"\x00\x04\x00\x04", &ipv4[0][..]].concat();
        if let Found::Data(ipv6) = ipv6 {
            expected.extend([b"\x00\x06\x00\x10", &ipv6[0][..]].concat());
        }
        assert_eq!(rest, expected);
    }
    assert!(with > 20 && without > 60, "{with} with, {without} without");
}

#[test]
fn the_same_seed_gives_the_same_octets() {
    let (first, second, other) = (small(9), small(9), small(10));
    let ask = |internet: &Internet, name: &Name, rtype, server| {
        let mut out = vec![0; 65_535];
        let message = query(name, rtype, true);
        let arrived = Arrived {
            server,
            transport: Transport::Tcp,
            message: &message,
            now: Duration::ZERO,
        };
        let answer = internet.answer(&arrived, &mut Scratch::default(), &mut out);
        answer.len.map(|len| out[..len].to_vec())
    };
    let servers: Vec<IpAddr> = first
        .servers()
        .servers()
        .iter()
        .map(|server| server.ipv4.into())
        .collect();
    let mut differ = 0;
    // The other way round the second time: nothing may depend on what was asked before.
    let asked: Vec<_> = QueryNames::new(&first, 1, 0.3).take(60).collect();
    let answers: Vec<_> = asked
        .iter()
        .map(|one| {
            servers
                .iter()
                .map(|&server| ask(&first, &one.name, one.rtype, server))
                .collect::<Vec<_>>()
        })
        .collect();
    for (one, expected) in asked.iter().zip(&answers).rev() {
        for (&server, expected) in servers.iter().zip(expected) {
            assert_eq!(&ask(&second, &one.name, one.rtype, server), expected);
            differ += usize::from(&ask(&other, &one.name, one.rtype, server) != expected);
        }
    }
    assert!(differ > 100);
}

#[test]
fn servers_refuse_what_is_not_theirs_and_nobody_answers_elsewhere() {
    let internet = small(1);
    let name: Name = "www.example.com.".parse().unwrap();
    let message = query(&name, Rtype::A, true);
    let mut out = vec![0; 65_535];
    let mut rcodes = HashSet::new();
    for server in internet.servers().servers() {
        let arrived = over_udp(server.ipv4.into(), &message);
        let answer = internet.answer(&arrived, &mut Scratch::default(), &mut out);
        assert!(answer.len.is_some());
        rcodes.insert(out[3] & 15);
    }
    // Referrals by the root, NXDOMAIN by com, REFUSED by all others.
    assert_eq!(rcodes, HashSet::from([0, 3, 5]));
    let free: IpAddr = "198.18.0.1".parse().unwrap();
    let arrived = over_udp(free, &message);
    let answer = internet.answer(&arrived, &mut Scratch::default(), &mut out);
    assert_eq!((answer.len, answer.server), (None, None));
}

#[test]
fn aliases_of_whole_subtrees_lead_to_what_is_below_the_domain() {
    let internet = small(6);
    let mut walker = Walker::new(&internet);
    let mut redirected = 0;
    for asked in QueryNames::new(&internet, 6, 0.0).take(200) {
        let old = Name::from_octets([b"\x03old", asked.name.as_slice()].concat().into()).unwrap();
        if !matches!(walker.resolve(&old, Rtype::DNAME), Found::Data(_)) {
            continue;
        }
        let below = Name::from_octets([b"\x03www", old.as_slice()].concat().into()).unwrap();
        let www = Name::from_octets([b"\x03www", asked.name.as_slice()].concat().into()).unwrap();
        let data = walker.resolve(&below, Rtype::A);
        assert_eq!(data, walker.resolve(&www, Rtype::A));
        redirected += usize::from(matches!(data, Found::Data(_)));
    }
    assert!(redirected > 5);
}

#[test]
fn addresses_of_name_servers_have_their_names() {
    let internet = small(7);
    let mut walker = Walker::new(&internet);
    for server in internet.servers().servers().iter().step_by(5) {
        let octets = server.ipv4.octets();
        let of_v4 = format!(
            "{}.{}.{}.{}.in-addr.arpa.",
            octets[3], octets[2], octets[1], octets[0]
        );
        let mut names = vec![of_v4];
        if let Some(ipv6) = server.ipv6 {
            let digits = format!("{:032x}", ipv6.to_bits());
            let nibbles: Vec<String> = digits.chars().rev().map(String::from).collect();
            names.push(format!("{}.ip6.arpa.", nibbles.join(".")));
        }
        for name in names {
            let found = walker.resolve(&name.parse().unwrap(), Rtype::PTR);
            assert_eq!(
                found,
                Found::Data(vec![server.name.as_slice().to_vec()]),
                "{name}"
            );
        }
    }
}

#[test]
fn networks_without_names_are_denied_and_the_pools_names_have_addresses() {
    let internet = small(8);
    let mut walker = Walker::new(&internet);
    let mut seen = HashMap::new();
    for number in 0..300u32 {
        let [a, b, c, d] = number.wrapping_mul(0x9E37_79B9).to_be_bytes();
        let name: Name = format!("{d}.{c}.{b}.{a}.in-addr.arpa.").parse().unwrap();
        let found = walker.resolve(&name, Rtype::PTR);
        if let Found::Data(target) = &found {
            let target = Name::from_octets(target[0].clone().into()).unwrap();
            assert!(
                matches!(walker.resolve(&target, Rtype::A), Found::Data(_)),
                "{target}"
            );
        }
        *seen.entry(matches!(found, Found::Data(_))).or_insert(0) += 1;
    }
    assert!(seen[&true] > 10 && seen[&false] > 100, "{seen:?}");
    assert!(walker.secure > 100);
    for label in ["256", "07", "x"] {
        let name: Name = format!("{label}.in-addr.arpa.").parse().unwrap();
        assert_eq!(walker.resolve(&name, Rtype::PTR), Found::NxDomain, "{name}");
    }
}

#[test]
fn public_suffixes_have_zones_of_their_own() {
    let internet = small(1);
    let mut walker = Walker::new(&internet);
    for suffix in ["co.net.", "com.se.", "pp.se.", "co.old."] {
        let suffix: Name = suffix.parse().unwrap();
        assert!(
            matches!(walker.resolve(&suffix, Rtype::SOA), Found::Data(_)),
            "{suffix}"
        );
    }
    let asked = QueryNames::new(&internet, 1, 0.0).take(2000);
    let below = asked.filter(|asked| {
        let name = asked.name.to_string();
        name.ends_with(".com.se") || name.ends_with(".co.net")
    });
    let mut found = 0;
    for asked in below.take(20) {
        found += usize::from(matches!(
            walker.resolve(&asked.name, asked.rtype),
            Found::Data(_)
        ));
    }
    assert!(found > 5, "{found}");
}

#[test]
fn memory_is_bounded_and_what_was_dropped_comes_out_the_same() {
    const FEW_OCTETS: usize = 2 << 20;
    let ample = small(2);
    let few = InternetOptions {
        memory_octets: FEW_OCTETS,
        ..options(2)
    };
    let tight = Internet::new(&Profile::load("small").unwrap(), few).unwrap();
    let mut walkers = [Walker::new(&ample), Walker::new(&tight)];
    for asked in QueryNames::new(&ample, 8, 0.2).take(400) {
        let [first, second] = walkers
            .each_mut()
            .map(|walker| walker.resolve(&asked.name, asked.rtype));
        assert_eq!(first, second);
        assert!(tight.octets() <= FEW_OCTETS);
    }
    assert!(ample.octets() > FEW_OCTETS * 3 / 2, "{}", ample.octets());
    let [first, second] = walkers.map(|walker| walker.sent);
    assert!(first == second, "octets differ");
}

#[test]
fn the_root_is_made_once_however_little_memory_there_is() {
    let mut profile = Profile::load("internet-2022").unwrap();
    profile.domains = 100_000;
    let few = InternetOptions {
        memory_octets: 16 << 20,
        ..options(2)
    };
    let internet = Internet::new(&profile, few).unwrap();
    let root = internet.servers().servers()[0].ipv4.into();
    let mut out = vec![0; 65_535];
    for number in 0..50 {
        let name: Name = format!("www.no-such-tld-{number}.").parse().unwrap();
        let message = query(&name, Rtype::A, true);
        let arrived = over_udp(root, &message);
        let answer = internet.answer(&arrived, &mut Scratch::default(), &mut out);
        assert!(answer.len.is_some());
    }
    assert_eq!(internet.zones_made(), 1);
    assert!(internet.octets() > 4 << 20, "{}", internet.octets());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4, ..ProptestConfig::default() })]
    #[test]
    fn any_seed_validates(seed: u64, asked: u64) {
        walk_over(&small(seed), asked, 8);
    }

    #[test]
    fn any_octets_are_taken(octets in proptest::collection::vec(any::<u8>(), 0..80), with_header: bool, server in 0..40u32) {
        let internet = &*SHARED;
        let message = match with_header {
            true => [&[0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1][..], &octets].concat(),
            false => octets,
        };
        let mut out = vec![0; 65_535];
        let number = server as usize % internet.servers().servers().len();
        let server = internet.servers().servers()[number].ipv4.into();
        for transport in [Transport::Udp, Transport::Tcp] {
            let arrived = Arrived { server, transport, message: &message, now: Duration::ZERO };
            let answer = internet.answer(&arrived, &mut Scratch::default(), &mut out);
            if let Some(len) = answer.len {
                message::Response::parse(&out[..len]);
            }
        }
    }
}

static SHARED: std::sync::LazyLock<Internet> = std::sync::LazyLock::new(|| small(1));

/// The queries of some questions, as a stream has them.
fn stream(internet: &Internet, count: usize) -> Vec<Vec<u8>> {
    let asked = QueryNames::new(internet, 4, 0.3).take(count);
    asked
        .map(|asked| query(&asked.name, asked.rtype, true))
        .collect()
}

#[test]
fn what_was_signed_beforehand_is_not_signed_again() {
    let internet = small(3);
    let messages = stream(&internet, 40);
    internet.prepare().unwrap();
    let unreadable = [&[][..], &[0; 11], &[0xff; 40]];
    let all: Vec<&[u8]> = messages
        .iter()
        .map(|message| &message[..])
        .chain(unreadable)
        .collect();
    let cancel = AtomicBool::new(false);
    let threads = NonZeroUsize::new(2).unwrap();
    internet
        .presign_for(all.len(), |place| all[place], threads, &cancel)
        .unwrap();
    let made = internet.signatures_made();
    let zones = internet.zones_made();
    let mut walker = Walker::new(&internet);
    for asked in QueryNames::new(&internet, 4, 0.3).take(40) {
        walker.resolve(&asked.name, asked.rtype);
    }
    assert!(walker.secure > 0);
    assert_eq!(internet.signatures_made(), made);
    assert_eq!(internet.zones_made(), zones);
    let fresh = small(3);
    cancel.store(true, Ordering::Relaxed);
    let few = stream(&fresh, 40);
    fresh
        .presign_for(few.len(), |place| &few[place], threads, &cancel)
        .unwrap();
    assert!(fresh.signatures_made() < made);
}
