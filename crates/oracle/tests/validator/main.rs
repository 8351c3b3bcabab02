//! What the Internet answers is secure, insecure or bogus as it should be, says the validator of the crate domain.
//!
//! It is independent of the walker in `crates/internet/tests/validation`, which shares the rig's own verification.

mod internet;
mod judge;
mod message;
mod resolver;

use domain::base::iana::{Rcode, Rtype};
use domain::dnssec::validator::context::ValidationState;
use internet::{Internet, Name};
use judge::{Judge, Upstream, spoil};
use message::{Entry, Response};
use resolver::{Resolved, Resolver, TAKEN_ALGORITHMS};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Profiles that come with the rig.
const SMALL: &str = include_str!("../../../internet/profiles/small.toml");
const AS_OF_2022: &str = include_str!("../../../internet/profiles/internet-2022.toml");
/// One question of so many is also spoilt.
const SPOILT_OF: usize = 5;

fn below(labels: &[u8], name: &Name) -> Name {
    Name::from_octets([labels, name.as_slice()].concat().into()).unwrap()
}

/// Questions of every kind: those that clients ask, some of them for more types and for names above and below.
fn questions(internet: &Internet) -> Vec<(Name, Rtype)> {
    let mut questions = Vec::new();
    for (number, (asked, rtype)) in internet.questions.iter().enumerate() {
        let name = match number % 7 {
            // Two labels below: the closest encloser is not the parent.
            0 => below(b"\x01a\x01b", asked),
            // An empty non-terminal where there are SRV records.
            1 => below(b"\x04_tcp", asked),
            // Below an alias of all that is below.
            2 => below(b"\x03www\x03old", asked),
            // A top-level domain or a public suffix.
            3 => {
                let labels = 2 + number % 2;
                let mut above = asked
                    .iter_suffixes()
                    .filter(|one| one.label_count() == labels);
                above.next().unwrap_or_else(|| asked.clone())
            }
            _ => asked.clone(),
        };
        for rtype in [*rtype, Rtype::SRV, Rtype::DS, Rtype::SOA] {
            questions.push((name.clone(), rtype));
        }
    }
    let unknown = ["nothing.", "a.b.nothing.", "x.arpa.", "256.in-addr.arpa."];
    questions.extend(unknown.map(|name| (name.parse().unwrap(), Rtype::A)));
    questions.extend(
        [Rtype::SOA, Rtype::NS, Rtype::DNSKEY, Rtype::A].map(|rtype| (Name::root_bytes(), rtype)),
    );
    questions
}

/// What kind of answer it is, for the count of those that were there.
fn kind(resolved: &Resolved) -> String {
    let response = &resolved.response;
    let has = |section: &[Entry], rtype| section.iter().any(|entry| entry.rtype == rtype);
    let is_negative = has(&response.authority, Rtype::SOA);
    let mut kind = match (response.rcode, is_negative) {
        (Rcode::NXDOMAIN, _) => "no name",
        (_, true) => "no data",
        _ if has(&response.answer, Rtype::DNAME) => "DNAME",
        _ if has(&response.answer, Rtype::CNAME) => "CNAME",
        _ => "data",
    }
    .to_owned();
    for rtype in [Rtype::NSEC, Rtype::NSEC3] {
        if has(&response.authority, rtype) {
            kind += match is_negative {
                true => " by ",
                false => " by wildcard and ",
            };
            kind += &rtype.to_string();
        }
    }
    kind
}

fn expected(resolved: &Resolved) -> ValidationState {
    match resolved.is_secure {
        true => ValidationState::Secure,
        false => ValidationState::Insecure,
    }
}

/// How often there was an answer of each kind.
type Kinds = BTreeMap<String, u32>;

/// Judges questions; gives what kinds of answers were secure, and insecure.
fn judge_all(internet: Internet) -> [Kinds; 2] {
    let asked = questions(&internet);
    let resolver = Rc::new(RefCell::new(Resolver::new(internet)));
    let mut judges = [Upstream::Asked, Upstream::Referred].map(|way| Judge::new(&resolver, way));
    let [mut secure, mut insecure] = [Kinds::new(), Kinds::new()];
    for (name, rtype) in asked {
        let resolved = resolver.borrow_mut().resolve(&name, rtype);
        for judge in &mut judges {
            let (state, reason) = judge.of(&resolved);
            assert_eq!(
                state,
                expected(&resolved),
                "{name} {rtype}: {reason}\n{resolved:?}"
            );
        }
        let kinds = match resolved.is_secure {
            true => &mut secure,
            false => &mut insecure,
        };
        *kinds.entry(kind(&resolved)).or_default() += 1;
    }
    [secure, insecure]
}

#[test]
fn a_small_internet_is_secure_where_it_is_signed() {
    let [secure, insecure] = judge_all(Internet::start(SMALL, 1, 300));
    for kind in [
        "data",
        "CNAME",
        "DNAME",
        "data by wildcard and NSEC",
        "data by wildcard and NSEC3",
        "no data by NSEC",
        "no data by NSEC3",
        "no name by NSEC",
        "no name by NSEC3",
    ] {
        assert!(secure.contains_key(kind), "{kind}: {secure:?}");
    }
    // The last is of zones with opt-out.
    for kind in ["data", "CNAME", "no data", "no name", "no name by NSEC3"] {
        assert!(insecure.contains_key(kind), "{kind}: {insecure:?}");
    }
}

/// The profile `small` with one algorithm in place of all others, and with iterations that resolvers refuse in some zones.
fn profile_of(algorithm: &str) -> String {
    let mut text = SMALL.to_owned();
    for other in ["ECDSAP256SHA256", "ED25519", "ECDSAP384SHA384"] {
        text = text.replace(&format!("\"{other}\""), &format!("\"{algorithm}\""));
    }
    text.replace("iterations = 5,", "iterations = 150,")
}

#[test]
fn every_algorithm_is_secure() {
    for algorithm in [
        "RSASHA256",
        "RSASHA512",
        "ECDSAP256SHA256",
        "ECDSAP384SHA384",
        "ED25519",
    ] {
        let profile = profile_of(algorithm);
        let [secure, _] = judge_all(Internet::start(&profile, 3, 12));
        assert!(secure.len() > 4, "{algorithm}: {secure:?}");
    }
}

#[test]
fn an_internet_as_of_2022_is_secure_where_it_is_signed() {
    let [secure, insecure] = judge_all(Internet::start(AS_OF_2022, 5, 100));
    assert!(secure.values().sum::<u32>() > 30, "{secure:?}");
    assert!(insecure.values().sum::<u32>() > 100, "{insecure:?}");
}

/// Whether a signature says that its owner comes from a wildcard (RFC 4034 section 3.1.3).
fn is_from_wildcard(entry: &Entry) -> bool {
    // The root has a label in the count, but not in the signature.
    let labels = entry.owner.label_count() - 1;
    entry.rtype == Rtype::RRSIG
        && usize::from(entry.rdata[3]) < labels
        && !entry.owner.first().is_wildcard()
}

/// Whether a DS record in the answer is of an algorithm that the validator takes.
fn is_of_taken_algorithm(response: &Response) -> bool {
    let mut ds = response.answer.iter().filter(|one| one.rtype == Rtype::DS);
    ds.any(|one| TAKEN_ALGORITHMS.contains(&one.rdata[2]))
}

/// What is made of a secure response so that it must be bogus: each with what was done.
fn spoilt(response: &Response) -> Vec<(String, Response)> {
    let mut all = Vec::new();
    let entries = || response.answer.iter().chain(&response.authority);
    let signed: BTreeSet<u16> = entries()
        .filter(|one| one.rtype == Rtype::RRSIG)
        .map(|one| one.covers().to_int())
        .collect();
    for rtype in signed.into_iter().map(Rtype::from_int) {
        let mut changed = response.clone();
        spoil(&mut changed, rtype);
        all.push((format!("a bit of the signatures of {rtype}"), changed));
        let mut changed = response.clone();
        for section in [&mut changed.answer, &mut changed.authority] {
            section.retain(|one| one.rtype != Rtype::RRSIG || one.covers() != rtype);
        }
        all.push((format!("no signatures of {rtype}"), changed));
    }
    let addresses = [Rtype::A, Rtype::AAAA];
    if let Some(place) = (response.answer.iter()).position(|one| addresses.contains(&one.rtype)) {
        let mut changed = response.clone();
        *changed.answer[place].rdata.last_mut().unwrap() ^= 1;
        all.push(("a bit of an address".to_owned(), changed));
    }
    let is_proof = |one: &Entry| [Rtype::NSEC, Rtype::NSEC3].contains(&one.covers());
    let is_negative = response.authority.iter().any(|one| one.rtype == Rtype::SOA);
    if is_negative || response.answer.iter().any(is_from_wildcard) {
        let mut changed = response.clone();
        changed.authority.retain(|one| !is_proof(one));
        all.push(("no proof".to_owned(), changed));
    }
    all
}

#[test]
fn what_is_spoilt_is_bogus() {
    let internet = Internet::start(SMALL, 2, 150);
    let asked = questions(&internet);
    let resolver = Rc::new(RefCell::new(Resolver::new(internet)));
    let mut judge = Judge::new(&resolver, Upstream::Asked);
    let mut ways = BTreeSet::new();
    for (name, rtype) in asked.into_iter().step_by(SPOILT_OF) {
        let resolved = resolver.borrow_mut().resolve(&name, rtype);
        if !resolved.is_secure {
            continue;
        }
        for (what, changed) in spoilt(&resolved.response) {
            let (state, _) = judge.of_changed(&changed, &resolved.anchors);
            let expected = match what == "no signatures of DS" && !is_of_taken_algorithm(&changed) {
                // A fault of the validator: it holds a DS RRset without signatures against the zone below instead of the one
                // that it is in, and takes that zone for insecure.
                true => ValidationState::Insecure,
                false => ValidationState::Bogus,
            };
            assert_eq!(state, expected, "{name} {rtype} with {what}: {changed:?}");
            ways.insert(what);
        }
        for of in [Rtype::DNSKEY, Rtype::DS] {
            // At the root there are no DS records.
            if of == Rtype::DS && !resolved.is_below_root {
                continue;
            }
            let mut spoilt = Judge::new(&resolver, Upstream::Spoilt(of));
            let (state, _) = spoilt.by_root_alone(&resolved);
            assert_eq!(
                state,
                ValidationState::Bogus,
                "{name} {rtype} with signatures of {of} spoilt"
            );
        }
    }
    assert!(ways.len() > 15, "{ways:?}");
}

/// Two algorithms that the validator could verify make it take a delegation for insecure, so that the other tests give it more
/// trust anchors. When this fails, `TAKEN_ALGORITHMS` has become longer.
#[test]
fn some_algorithms_are_not_taken() {
    let mut states = BTreeMap::new();
    for (algorithm, number) in [
        ("RSASHA512", 10),
        ("ECDSAP256SHA256", 13),
        ("ECDSAP384SHA384", 14),
        ("ED25519", 15),
    ] {
        let profile = profile_of(algorithm);
        let resolver = Rc::new(RefCell::new(Resolver::new(Internet::start(&profile, 1, 0))));
        let resolved = resolver
            .borrow_mut()
            .resolve(&"com.".parse().unwrap(), Rtype::SOA);
        assert!(resolved.is_secure);
        let (state, reason) = Judge::new(&resolver, Upstream::Asked).by_root_alone(&resolved);
        states.insert(number, (state, reason));
    }
    for (number, (state, reason)) in states {
        let is_taken = state == ValidationState::Secure;
        assert_eq!(
            is_taken,
            TAKEN_ALGORITHMS.contains(&number),
            "algorithm {number}: {state:?}, {reason}"
        );
    }
}
