//! Hosts side by side below the apex.

use super::labels::{LabelModel, Labels};
use super::pipeline::Parts;
use super::random::{self, Purpose, Random};
use super::sink::Sink;
use super::{addresses, check_room, origin_text};
use crate::Name;
use domain::base::iana::Rtype;

const A: &str = " 3600 IN A ";
const AAAA: &str = " 3600 IN AAAA ";
/// Of 100 hosts, how many have an AAAA record.
const DUAL_PERCENT: u32 = 50;
/// Hosts of the zone's own name servers, which are not among the names that were asked for.
const SERVERS: [&[u8]; 2] = [b"ns1", b"ns2"];

/// A flat zone, ready to be made.
pub(super) struct Flat {
    model: LabelModel,
    names: u64,
    seed: u64,
    origin: Vec<u8>,
}

impl Flat {
    /// The zone `origin` with `names` hosts, or why there is none.
    pub fn new(origin: &Name, names: u64, seed: u64) -> Result<Self, String> {
        check_room(origin, 64)?;
        let origin = match origin.is_root() {
            true => Vec::new(),
            false => origin_text(origin),
        };
        Ok(Self {
            model: LabelModel::new(),
            names,
            seed,
            origin,
        })
    }

    fn apex(&self, sink: &mut Sink) {
        let below = |label: &[u8]| [label, b".", &self.origin].concat();
        let apex = match self.origin.is_empty() {
            true => b".",
            false => &self.origin[..],
        };
        let [ns1, ns2] = SERVERS.map(below);
        let soa = [
            &ns1[..],
            b" ",
            &below(b"hostmaster"),
            b" 2025010101 10800 3600 1209600 3600",
        ]
        .concat();
        sink.plain(apex, Rtype::SOA, " 3600 IN SOA ", &[&soa]);
        sink.plain(apex, Rtype::NS, " 86400 IN NS ", &[&ns1, &ns2]);
        sink.counts.names += 1;
    }

    /// The address records of a host; `place` is its number.
    fn host(&self, owner: &[u8], place: u64, is_dual: bool, sink: &mut Sink) {
        sink.address(owner, A, addresses::v4(self.seed, place));
        if is_dual {
            sink.address6(owner, AAAA, addresses::v6(self.seed, place));
        }
        sink.counts.names += 1;
    }

    fn group(&self, index: usize, sink: &mut Sink) {
        let group = &self.model.groups[index];
        let mut servers = SERVERS
            .into_iter()
            .zip(0..)
            .filter(|(label, _)| label[..2] == group.prefix)
            .peekable();
        let mut random = Random::new(self.seed, Purpose::Labels, index as u64);
        let count = self.model.share_of_group(self.names, index) as usize;
        let labels = Labels::draw(&self.model, group, count, &SERVERS, &mut random);
        let mut owner = Vec::new();
        for (number, label) in labels.iter().enumerate() {
            while let Some((server, place)) = servers.next_if(|&(server, _)| server < label) {
                self.server(server, place, sink);
            }
            owner.clear();
            owner.extend_from_slice(label);
            owner.push(b'.');
            owner.extend_from_slice(&self.origin);
            let place = (index << 40 | number) as u64;
            let bits = random::at(self.seed, Purpose::Kind, place) as u32;
            let is_dual = random::scale(bits, 100) < DUAL_PERCENT;
            self.host(&owner, place, is_dual, sink);
            sink.name_done();
            if sink.is_over() {
                return;
            }
        }
        for (server, place) in servers {
            self.server(server, place, sink);
        }
    }

    fn server(&self, label: &[u8], place: u64, sink: &mut Sink) {
        let owner = [label, b".", &self.origin].concat();
        self.host(&owner, u64::MAX - place, true, sink);
    }
}

impl Parts for Flat {
    fn count(&self) -> usize {
        1 + self.model.groups.len()
    }

    fn make(&self, index: usize, sink: &mut Sink) {
        match index.checked_sub(1) {
            None => self.apex(sink),
            Some(index) => self.group(index, sink),
        }
    }
}
