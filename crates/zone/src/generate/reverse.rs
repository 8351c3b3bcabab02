//! Zones of the reverse tree.

mod v4;
mod v6;

use super::labels::LabelModel;
use super::pipeline::Parts;
use super::random::Random;
use super::sink::Sink;
use super::{origin_text, servers_of_others};
use crate::Name;
use domain::base::iana::Rtype;
use domain::base::name::{Label, ToLabelIter};

const NS: &str = " 86400 IN NS ";
const PTR: &str = " 86400 IN PTR ";
/// Top-level domains of the names that addresses have.
const TLDS: [&str; 6] = ["net", "com", "net", "ca", "org", "net"];

/// The zone `origin` with `names` addresses, or why there is none.
pub(super) fn new(origin: &Name, names: u64, seed: u64) -> Result<Box<dyn Parts>, String> {
    let labels: Vec<&Label> = origin
        .iter_labels()
        .filter(|label| !label.is_root())
        .collect();
    let is_below = |tree: &str| {
        labels.len() > 2
            && labels[labels.len() - 2]
                .as_slice()
                .eq_ignore_ascii_case(tree.as_bytes())
            && labels[labels.len() - 1]
                .as_slice()
                .eq_ignore_ascii_case(b"arpa")
    };
    let own = &labels[..labels.len().saturating_sub(2)];
    if is_below("in-addr") {
        let octets = own
            .iter()
            .rev()
            .map(|label| octet(label))
            .collect::<Option<Vec<u8>>>();
        let octets = octets.filter(|octets| octets.len() <= 3).ok_or(
            "one to three labels from 0 to 255 stand before in-addr.arpa, such as 10.in-addr.arpa.",
        )?;
        return v4::Reverse::new(origin, octets, names, seed).map(|made| Box::new(made) as _);
    }
    if is_below("ip6") {
        let nibbles = own
            .iter()
            .rev()
            .map(|label| nibble(label))
            .collect::<Option<Vec<u8>>>();
        let nibbles = nibbles.filter(|nibbles| nibbles.len() <= 16).ok_or(
            "one to sixteen hexadecimal digits stand before ip6.arpa, such as 8.b.d.0.1.0.0.2.ip6.arpa.",
        )?;
        return Ok(Box::new(v6::Reverse::new(origin, nibbles, names, seed)));
    }
    Err("choose a name below in-addr.arpa or ip6.arpa, such as 10.in-addr.arpa.".into())
}

/// The number that a label of in-addr.arpa is (RFC 1035 section 3.5).
fn octet(label: &Label) -> Option<u8> {
    let text = std::str::from_utf8(label.as_slice()).ok()?;
    text.parse()
        .ok()
        .filter(|octet: &u8| octet.to_string() == text)
}

/// The number that a label of ip6.arpa is (RFC 3596 section 2.5).
fn nibble(label: &Label) -> Option<u8> {
    match label.as_slice() {
        [digit] => char::from(*digit).to_digit(16).map(|digit| digit as u8),
        _ => None,
    }
}

/// The SOA and NS records of a zone of the reverse tree, whose servers are others'.
fn apex(origin: &[u8], servers: [&str; 2], sink: &mut Sink) {
    let domain = servers[0].trim_start_matches("ns1.");
    let soa = format!(
        "{} hostmaster.{domain} 2025010101 10800 3600 1209600 3600",
        servers[0]
    );
    sink.plain(origin, Rtype::SOA, " 86400 IN SOA ", &[soa.as_bytes()]);
    sink.plain(origin, Rtype::NS, NS, &servers.map(str::as_bytes));
    sink.counts.names += 1;
}

/// The domain, absolute, that the hosts or servers of a network are in.
fn some_domain(model: &LabelModel, random: &mut Random) -> Vec<u8> {
    let mut domain = Vec::new();
    model.draw(model.some_group(random), 0, random, &mut domain);
    let tld = random.pick(&TLDS).as_bytes();
    domain.extend_from_slice(&[b".", tld, b"."].concat());
    domain
}
