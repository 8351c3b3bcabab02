//! The test zone, signed in memory.

use dnsrig_sign::{Algorithm, Denial, KeyPair, Nsec3Parameters, Role, SigningParameters, sign};
use dnsrig_zone::{Name, Zone};
use domain::base::iana::{Class, Rtype};
use domain::base::message_builder::OptBuilder;
use domain::base::name::FlattenInto;
use domain::base::{self, MessageBuilder};
use std::str::FromStr;
use std::sync::Arc;

const ZONE: &str = include_str!("../data/example.zone");

pub fn name(text: &str) -> Name {
    let name: base::Name<Vec<u8>> = base::Name::from_str(text).expect("a valid name");
    name.flatten_into()
}

/// The test zone; signed if `denial` says how.
pub fn zone(denial: Option<Denial>) -> Arc<Zone> {
    let zone = Zone::parse(ZONE.as_bytes(), Some(&name("example."))).expect("a valid zone");
    let Some(denial) = denial else {
        return Arc::new(zone);
    };
    let generate = |role| {
        KeyPair::generate(zone.origin(), Algorithm::Ed25519, None, role, &[]).expect("a key")
    };
    let keys = [generate(Role::Ksk), generate(Role::Zsk)];
    let signed =
        sign(&zone, &keys, &SigningParameters::new(denial)).expect("a zone that can be signed");
    Arc::new(signed)
}

pub fn nsec3(iterations: u16) -> Denial {
    Denial::Nsec3(Nsec3Parameters {
        iterations,
        ..Nsec3Parameters::default()
    })
}

/// A query's wire message with ID 0 and an EDNS option that `add` writes.
pub fn query_with_option(
    name: &Name,
    rtype: Rtype,
    add: impl FnOnce(&mut OptBuilder<'_, Vec<u8>>),
) -> Vec<u8> {
    let mut question = MessageBuilder::new_vec().question();
    question
        .push((name, rtype, Class::IN))
        .expect("room for a question");
    let mut additional = question.additional();
    let opt = additional.opt(|opt| {
        add(opt);
        Ok(())
    });
    opt.expect("room for OPT");
    additional.finish()
}

/// A query that asks for a padded response.
pub fn padded_query(name: &Name, rtype: Rtype) -> Vec<u8> {
    query_with_option(name, rtype, |opt| {
        opt.padding(20).expect("room for padding")
    })
}

/// A query's wire message; with `edns` a payload size and whether DO is set.
pub fn query(name: &Name, rtype: Rtype, edns: Option<(u16, bool)>) -> Vec<u8> {
    let mut question = MessageBuilder::new_vec().question();
    question.header_mut().set_id(0x1234);
    question.header_mut().set_rd(true);
    question
        .push((name, rtype, Class::IN))
        .expect("room for a question");
    let mut additional = question.additional();
    if let Some((size, dnssec_ok)) = edns {
        let opt = additional.opt(|opt| {
            opt.set_udp_payload_size(size);
            opt.set_dnssec_ok(dnssec_ok);
            Ok(())
        });
        opt.expect("room for OPT");
    }
    additional.finish()
}
