//! The questions that all servers are asked.

use domain::base::iana::{Class, Rtype};
use domain::base::{MessageBuilder, Name};
use std::str::FromStr;

/// A query's wire message; `edns` is whether DO is set, and none is sent without it.
pub fn query(name: &str, rtype: Rtype, edns: Option<bool>) -> Vec<u8> {
    let name = Name::<Vec<u8>>::from_str(name).expect("a valid name");
    let mut question = MessageBuilder::new_vec().question();
    question.header_mut().set_id(0x1234);
    question
        .push((name, rtype, Class::IN))
        .expect("room for a question");
    let mut additional = question.additional();
    if let Some(dnssec_ok) = edns {
        let opt = additional.opt(|opt| {
            opt.set_udp_payload_size(4096);
            opt.set_dnssec_ok(dnssec_ok);
            Ok(())
        });
        opt.expect("room for OPT");
    }
    additional.finish()
}

pub const TYPES: [Rtype; 14] = [
    Rtype::A,
    Rtype::AAAA,
    Rtype::NS,
    Rtype::SOA,
    Rtype::MX,
    Rtype::TXT,
    Rtype::SRV,
    Rtype::CNAME,
    Rtype::DNAME,
    Rtype::DS,
    Rtype::DNSKEY,
    Rtype::NSEC,
    Rtype::NSEC3PARAM,
    Rtype::from_int(65280),
];

/// Names of the test zone and names around them.
pub const NAMES: &[&str] = &[
    "example.",
    "EXAMPLE.",
    "ns1.example.",
    "mail2.example.",
    "www.example.",
    "wWw.eXample.",
    "b.www.example.",
    "_sip._tcp.example.",
    "_tcp.example.",
    "x._tcp.example.",
    "c.example.",
    "b.c.example.",
    "a.b.c.example.",
    "x.c.example.",
    "x.y.z.c.example.",
    "several.example.",
    "alias.example.",
    "chain1.example.",
    "loop1.example.",
    "self.example.",
    "away.example.",
    "dangling.example.",
    "towild.example.",
    "tochild.example.",
    "toold.example.",
    "wild.example.",
    "*.wild.example.",
    "any.wild.example.",
    "x.y.any.wild.example.",
    "host.wild.example.",
    "x.host.wild.example.",
    "host2.wild.example.",
    "y.host2.wild.example.",
    "some.walias.example.",
    "er.example.",
    "deep.er.example.",
    "x.deep.er.example.",
    "x.er.example.",
    "went.example.",
    "x.went.example.",
    "sub.x.went.example.",
    "*.went.example.",
    "x.*.went.example.",
    "old.example.",
    "www.old.example.",
    "nothing.old.example.",
    "x.oldw.example.",
    "x.gone.example.",
    "child.example.",
    "www.child.example.",
    "ns.child.example.",
    "signed.example.",
    "www.signed.example.",
    "sibling.example.",
    "x.sibling.example.",
    "lame.example.",
    "x.y.lame.example.",
    "del.example.",
    "one.del.example.",
    "x.one.del.example.",
    "three.del.example.",
    "optout.example.",
    "apart.optout.example.",
    "x.apart.optout.example.",
    "other.optout.example.",
    "nothing.example.",
    "x.y.nothing.example.",
    "\\000zero.example.",
    "\\000zerp.example.",
    "\\001.\\000zero.example.",
    "a\\.dot.example.",
    "zzz.example.",
    "\\255.example.",
    "test.",
    ".",
];
