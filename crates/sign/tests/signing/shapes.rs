//! Zones of any shape: the chain is closed over exactly the right names, and exactly the right RRsets are signed.
//!
//! What is right is worked out here a second time, the slow and simple way.

use crate::common::name;
use bytes::Bytes;
use dnsrig_sign::{Algorithm, Denial, KeyPair, Nsec3Parameters, Role, SigningParameters, sign};
use dnsrig_zone::lookup::Nsec3Params;
use dnsrig_zone::{Name, Record, Zone};
use domain::base::iana::{Class, Rtype};
use domain::utils::base32;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::LazyLock;

const ORIGIN: &str = "example.";

static KEYS: LazyLock<Vec<KeyPair>> = LazyLock::new(|| {
    let mut keys = Vec::new();
    for role in [Role::Ksk, Role::Zsk, Role::Zsk] {
        keys.push(KeyPair::generate(&name(ORIGIN), Algorithm::Ed25519, None, role, &keys).unwrap());
    }
    keys
});

/// Labels of a name in lower case from the apex downwards, the apex's own left out; sorts in canonical order.
type Path = Vec<Vec<u8>>;

fn path(owner: &Name) -> Path {
    let labels: Vec<Vec<u8>> = owner
        .iter()
        .map(|label| label.as_slice().to_ascii_lowercase())
        .collect();
    labels.into_iter().rev().skip(2).collect()
}

fn record(owner: &str, rtype: Rtype, rdata: &[u8]) -> Record {
    Record {
        owner: name(owner),
        rtype,
        class: Class::IN,
        ttl: 300,
        rdata: Bytes::copy_from_slice(rdata),
    }
}

/// RDATA that any of the types used here can have.
fn rdata(rtype: Rtype) -> &'static [u8] {
    match rtype {
        Rtype::A => b"\xC0\x00\x02\x01",
        Rtype::TXT => b"\x01t",
        Rtype::DS => b"\x00\x01\x0d\x02\x00",
        _ => b"\x02ns\x00",
    }
}

prop_compose! {
    fn owner()(labels in vec(select(vec!["a", "B", "*", "c-", "\\000", "_"]), 1..=4)) -> String {
        format!("{}.{ORIGIN}", labels.join("."))
    }
}

fn zone() -> impl Strategy<Value = Zone> {
    let types = select(vec![
        vec![Rtype::A],
        vec![Rtype::A, Rtype::TXT],
        vec![Rtype::NS],
        vec![Rtype::NS, Rtype::DS],
        vec![Rtype::NS, Rtype::A],
        vec![Rtype::DNAME],
        vec![Rtype::CNAME],
    ]);
    (vec((owner(), types), 0..25), any::<bool>()).prop_map(|(names, apex_dname)| {
        let apex = "SOA . . 1 2 3 4 77\n NS ns.\n";
        let fixed = Zone::parse(format!("{ORIGIN} 300 {apex}").as_bytes(), None).unwrap();
        let mut records = fixed.records().to_vec();
        if apex_dname {
            records.push(record(ORIGIN, Rtype::DNAME, rdata(Rtype::DNAME)));
        }
        let by_name: BTreeMap<String, Vec<Rtype>> = names
            .into_iter()
            .map(|(owner, types)| (owner.to_lowercase(), types))
            .collect();
        for (owner, types) in &by_name {
            records.extend(
                types
                    .iter()
                    .map(|rtype| record(owner, *rtype, rdata(*rtype))),
            );
        }
        Zone::new(fixed.origin().clone(), records)
    })
}

/// All types of each name.
fn types_by_name(zone: &Zone) -> BTreeMap<Path, BTreeSet<Rtype>> {
    let mut names: BTreeMap<Path, BTreeSet<Rtype>> = BTreeMap::new();
    for record in zone.records() {
        names
            .entry(path(&record.owner))
            .or_default()
            .insert(record.rtype);
    }
    names
}

fn is_cut(name: &Path, types: &BTreeSet<Rtype>) -> bool {
    !name.is_empty() && types.contains(&Rtype::NS)
}

/// The names that the zone has authority over, delegations included.
fn authoritative(names: &BTreeMap<Path, BTreeSet<Rtype>>) -> Vec<(Path, BTreeSet<Rtype>)> {
    let hides = |above: &Path| {
        names
            .get(above)
            .is_some_and(|types| is_cut(above, types) || types.contains(&Rtype::DNAME))
    };
    let is_visible = |name: &Path| !(0..name.len()).any(|length| hides(&name[..length].to_vec()));
    let visible = names.iter().filter(|(name, _)| is_visible(name));
    visible
        .map(|(name, types)| (name.clone(), types.clone()))
        .collect()
}

/// The types that a chain announces for a name, `added` aside.
fn announced(name: &Path, types: &BTreeSet<Rtype>, added: &[Rtype]) -> BTreeSet<Rtype> {
    let is_announced =
        |rtype: &Rtype| !is_cut(name, types) || matches!(*rtype, Rtype::NS | Rtype::DS);
    types
        .iter()
        .copied()
        .filter(is_announced)
        .chain(added.iter().copied())
        .collect()
}

/// The types of a bitmap (RFC 4034 section 4.1.2).
fn bitmap_types(mut bitmap: &[u8]) -> BTreeSet<Rtype> {
    let mut types = BTreeSet::new();
    while let [window, length, rest @ ..] = bitmap {
        let (octets, rest) = rest.split_at(usize::from(*length));
        assert!(
            octets.last().is_some_and(|octet| *octet != 0),
            "a bitmap ends with a zero octet"
        );
        for (index, octet) in octets.iter().enumerate() {
            for bit in (0..8).filter(|bit| octet & (0x80 >> bit) != 0) {
                types.insert(Rtype::from_int(
                    u16::from(*window) << 8 | (8 * index + bit) as u16,
                ));
            }
        }
        bitmap = rest;
    }
    types
}

fn records_of(zone: &Zone, rtype: Rtype) -> Vec<&Record> {
    zone.records()
        .iter()
        .filter(|record| record.rtype == rtype)
        .collect()
}

fn check_nsec(signed: &Zone, expected: &[(Path, BTreeSet<Rtype>)]) {
    let links = records_of(signed, Rtype::NSEC);
    assert_eq!(links.len(), expected.len());
    for (index, (link, (name, types))) in links.iter().zip(expected).enumerate() {
        assert_eq!(path(&link.owner), *name);
        assert_eq!(link.ttl, 77);
        let length = name_length(&link.rdata);
        let next = Name::from_octets(link.rdata.slice(..length)).unwrap();
        assert_eq!(path(&next), expected[(index + 1) % expected.len()].0);
        assert_eq!(
            bitmap_types(&link.rdata[length..]),
            announced(name, types, &[Rtype::RRSIG, Rtype::NSEC])
        );
    }
}

fn check_nsec3(
    signed: &Zone,
    authoritative: &[(Path, BTreeSet<Rtype>)],
    parameters: &Nsec3Parameters,
) {
    let is_insecure =
        |name: &Path, types: &BTreeSet<Rtype>| is_cut(name, types) && !types.contains(&Rtype::DS);
    let mut expected: BTreeMap<Path, BTreeSet<Rtype>> = BTreeMap::new();
    for (name, types) in authoritative {
        if is_insecure(name, types) && parameters.opt_out {
            continue;
        }
        for length in 0..name.len() {
            expected.entry(name[..length].to_vec()).or_default();
        }
        let added: &[Rtype] = if is_insecure(name, types) {
            &[]
        } else {
            &[Rtype::RRSIG]
        };
        expected.insert(name.clone(), announced(name, types, added));
    }
    let hashing = Nsec3Params {
        iterations: parameters.iterations,
        salt: parameters.salt.clone().into(),
    };
    let by_hash: BTreeMap<Vec<u8>, BTreeSet<Rtype>> = expected
        .into_iter()
        .map(|(name, types)| {
            let labels = name
                .iter()
                .rev()
                .flat_map(|label| [vec![label.len() as u8], label.clone()].concat());
            let wire: Vec<u8> = labels.chain(*b"\x07example\x00").collect();
            (hashing.hash(&wire).to_vec(), types)
        })
        .collect();
    let links = records_of(signed, Rtype::NSEC3);
    assert_eq!(links.len(), by_hash.len());
    let next_hashes = by_hash.keys().skip(1).chain(by_hash.keys());
    for ((link, (hash, types)), next) in links.iter().zip(&by_hash).zip(next_hashes) {
        let label = link.owner.first().to_string().to_lowercase();
        assert_eq!(label, base32::encode_string_hex(hash).to_lowercase());
        let salt_end = 5 + parameters.salt.len();
        assert_eq!(
            link.rdata[..5],
            [
                1,
                u8::from(parameters.opt_out),
                0,
                parameters.iterations as u8,
                parameters.salt.len() as u8
            ]
        );
        assert_eq!(link.rdata[salt_end], 20);
        assert_eq!(link.rdata[salt_end + 1..salt_end + 21], next[..]);
        assert_eq!(bitmap_types(&link.rdata[salt_end + 21..]), *types);
    }
}

/// Each authoritative RRset has one signature by each key of its role, and nothing else has any.
fn check_signatures(signed: &Zone) {
    let names = types_by_name(signed);
    let authoritative: BTreeMap<Path, BTreeSet<Rtype>> =
        authoritative(&names).into_iter().collect();
    let tags = |role| -> Vec<u16> {
        let mut tags: Vec<u16> = KEYS
            .iter()
            .filter(|key| key.role() == role)
            .map(KeyPair::tag)
            .collect();
        tags.sort();
        tags
    };
    let mut found: BTreeMap<(Path, Rtype), Vec<u16>> = BTreeMap::new();
    for rrsig in records_of(signed, Rtype::RRSIG) {
        let covered = Rtype::from_int(u16::from_be_bytes([rrsig.rdata[0], rrsig.rdata[1]]));
        let tag = u16::from_be_bytes([rrsig.rdata[16], rrsig.rdata[17]]);
        let tags = found.entry((path(&rrsig.owner), covered)).or_default();
        tags.push(tag);
        tags.sort();
    }
    for (name, types) in &names {
        for rtype in types.iter().filter(|rtype| **rtype != Rtype::RRSIG) {
            let is_signed = match authoritative.contains_key(name) {
                true => !is_cut(name, types) || matches!(*rtype, Rtype::DS | Rtype::NSEC),
                false => *rtype == Rtype::NSEC3,
            };
            let role = if *rtype == Rtype::DNSKEY {
                Role::Ksk
            } else {
                Role::Zsk
            };
            let expected = is_signed.then(|| tags(role));
            assert_eq!(
                found.remove(&(name.clone(), *rtype)),
                expected,
                "{name:?} {rtype}"
            );
        }
    }
    assert!(found.is_empty(), "signatures over nothing");
}

fn name_length(wire: &[u8]) -> usize {
    let mut at = 0;
    while wire[at] != 0 {
        at += 1 + usize::from(wire[at]);
    }
    at + 1
}

proptest! {
    #[test]
    fn chains_and_signatures(zone in zone(), salt in vec(any::<u8>(), 0..3), opt_out in any::<bool>(), threads in 1usize..4) {
        let parameters = |denial, threads| SigningParameters {
            inception: 1_767_225_600,
            expiration: 1_769_904_000,
            threads: NonZeroUsize::new(threads).unwrap(),
            ..SigningParameters::new(denial)
        };
        let signed = sign(&zone, &KEYS, &parameters(Denial::Nsec, threads)).unwrap();
        check_signatures(&signed);
        let mut names = types_by_name(&zone);
        names.get_mut(&Path::new()).unwrap().insert(Rtype::DNSKEY);
        check_nsec(&signed, &authoritative(&names));

        names.get_mut(&Path::new()).unwrap().insert(Rtype::NSEC3PARAM);
        let nsec3 = Nsec3Parameters { iterations: 3, salt, opt_out };
        let denial = Denial::Nsec3(nsec3.clone());
        let signed = sign(&signed, &KEYS, &parameters(denial.clone(), threads)).unwrap();
        check_signatures(&signed);
        check_nsec3(&signed, &authoritative(&names), &nsec3);
        // Ed25519 signatures have no random part, so the number of threads must not show.
        let again = sign(&zone, &KEYS, &parameters(denial, 1)).unwrap();
        prop_assert_eq!(again.records(), signed.records());
    }
}
