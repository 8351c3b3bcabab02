//! A registry's zone: delegations, their name servers' glue, and DS records.

mod plan;

use super::addresses;
use super::labels::Labels;
use super::operators::Operator;
use super::pipeline::Parts;
use super::random::{self, Purpose, Random};
use super::sink::{DelegationSigner, Sink};
use crate::Name;
use domain::base::iana::Rtype;
use plan::{Kind, Member, Partition, Plan};

pub use plan::TLD_NAMES;

const NS: &str = " 86400 IN NS ";
const DS: &str = " 86400 IN DS ";
const A: &str = " 86400 IN A ";
const AAAA: &str = " 86400 IN AAAA ";
/// The label below which the registry's own hosts are.
pub(super) const REGISTRY: &[u8] = b"nic";

/// A registry's zone, ready to be made.
pub(super) struct Tld {
    plan: Plan,
    seed: u64,
    /// The name of the apex in presentation format.
    origin: Vec<u8>,
    /// Name servers of the zone that others run.
    others: [&'static str; 2],
}

/// Where a delegation's text is put together, so that nothing is allocated for each.
#[derive(Default)]
struct Scratch {
    owner: Vec<u8>,
    servers: [Vec<u8>; 4],
}

impl Tld {
    /// The zone `origin` with `names` delegations, `signed_share` of them signed, or why there is none.
    pub fn new(origin: &Name, names: u64, seed: u64, signed_share: f64) -> Result<Self, String> {
        Ok(Self {
            plan: Plan::new(origin, names, seed, signed_share)?,
            seed,
            origin: super::origin_text(origin),
            others: super::servers_of_others(origin),
        })
    }

    /// The SOA and NS records of the apex.
    fn apex(&self, sink: &mut Sink) {
        let origin = String::from_utf8_lossy(&self.origin);
        let soa =
            format!("a.nic.{origin} hostmaster.nic.{origin} 2005121501 1800 900 1209600 3600");
        sink.plain(
            &self.origin,
            Rtype::SOA,
            " 86400 IN SOA ",
            &[soa.as_bytes()],
        );
        let mut servers = [
            format!("a.nic.{origin}"),
            format!("b.nic.{origin}"),
            self.others[0].to_owned(),
            self.others[1].to_owned(),
        ];
        servers.sort_by_cached_key(|server| wire(server.as_bytes()));
        let servers: Vec<&[u8]> = servers.iter().map(String::as_bytes).collect();
        sink.plain(&self.origin, Rtype::NS, NS, &servers);
        sink.counts.names += 1;
    }

    /// The registry's own hosts, which the zone is authoritative for.
    fn registry(&self, sink: &mut Sink) {
        for (number, host) in [b"a.", b"b."].into_iter().enumerate() {
            let owner = [host, REGISTRY, b".", &self.origin].concat();
            let number = u64::MAX - number as u64;
            sink.address(&owner, A, addresses::v4(self.seed, number));
            sink.address6(&owner, AAAA, addresses::v6(self.seed, number));
        }
        sink.counts.names += 2;
        sink.counts.empty_non_terminals += 1;
    }

    fn partition(&self, partition: &Partition, sink: &mut Sink) {
        let mut scratch = Scratch::default();
        let mut next = Next {
            plain: partition.first_plain,
            delegation: partition.first_delegation,
        };
        let group = &self.plan.model.groups[partition.group];
        if partition.third_level > 0 {
            sink.counts.empty_non_terminals += 1;
            self.third_level(partition, &mut next, &mut scratch, sink);
        }
        let taken: Vec<&[u8]> = partition
            .members
            .iter()
            .map(|(label, _)| &label[..])
            .collect();
        let mut random = Random::new(self.seed, Purpose::Labels, partition.group as u64);
        let count = partition.second_level as usize;
        let labels = Labels::draw(&self.plan.model, group, count, &taken, &mut random);
        let mut members = partition.members.iter().peekable();
        for label in labels.iter() {
            while let Some((member, kind)) = members.next_if(|(member, _)| &member[..] < label) {
                self.member(member, *kind, &mut next, &mut scratch, sink);
            }
            scratch.set_owner(&[label, b".", &self.origin]);
            self.plain(&mut next, &mut scratch, sink);
            if sink.is_over() {
                return;
            }
        }
        for (member, kind) in members {
            self.member(member, *kind, &mut next, &mut scratch, sink);
        }
    }

    /// The delegations at the third level of the domain that the partition's group begins with.
    fn third_level(
        &self,
        partition: &Partition,
        next: &mut Next,
        scratch: &mut Scratch,
        sink: &mut Sink,
    ) {
        let model = &self.plan.model;
        let parent = model.groups[partition.group].prefix;
        for (index, group) in model.groups.iter().enumerate() {
            let count = model.share_of_group(partition.third_level, index) as usize;
            let part = (partition.group << 16 | index) as u64;
            let mut random = Random::new(self.seed, Purpose::ThirdLevel, part);
            let labels = Labels::draw(model, group, count, &[], &mut random);
            for label in labels.iter() {
                scratch.set_owner(&[label, b".", &parent, b".", &self.origin]);
                self.plain(next, scratch, sink);
                if sink.is_over() {
                    return;
                }
            }
        }
    }

    fn member(
        &self,
        label: &[u8],
        member: Member,
        next: &mut Next,
        scratch: &mut Scratch,
        sink: &mut Sink,
    ) {
        let index = match member {
            Member::Registry => return self.registry(sink),
            Member::Operator(index) => index,
        };
        let operator = &self.plan.operators.all[index as usize];
        scratch.set_owner(&[label, b".", &self.origin]);
        for (number, server) in scratch.servers[..operator.servers].iter_mut().enumerate() {
            self.server(operator, 0, number, server);
        }
        self.delegation(operator.servers, next, scratch, sink);
        let mut hosts: Vec<(Vec<u8>, u64)> = (0..operator.sets)
            .flat_map(|set| (0..operator.servers).map(move |number| (set, number)))
            .map(|(set, number)| {
                let mut host = Vec::new();
                operator.push_server(set, number, &mut host);
                let place = u64::from(set) * operator.servers as u64 + number as u64;
                (host, 1 << 63 | u64::from(index) << 24 | place)
            })
            .collect();
        hosts.sort_unstable();
        for (host, place) in hosts {
            let owner = [&host[..], b".", &scratch.owner].concat();
            self.glue(&owner, place, plan::has_address6(index), sink);
        }
        sink.name_done();
    }

    /// One delegation that is no operator's.
    fn plain(&self, next: &mut Next, scratch: &mut Scratch, sink: &mut Sink) {
        let place = next.plain;
        let kind = self.plan.kind(place);
        next.plain += 1;
        let own = match kind {
            Kind::OwnServers { .. } => 2,
            Kind::OneOwnServer => 1,
            Kind::Operator { .. } => 0,
        };
        let Scratch { owner, servers } = &mut *scratch;
        for (number, server) in servers[..own].iter_mut().enumerate() {
            own_server(number, owner, server);
        }
        let of_operator = match kind {
            Kind::OwnServers { .. } => 0,
            Kind::OneOwnServer => 2,
            Kind::Operator { servers } => servers,
        };
        if of_operator > 0 {
            let bits = random::at(self.seed, Purpose::Servers, place);
            let (operator, set) = self.plan.operators.choose(of_operator, bits);
            for (number, server) in servers[own..of_operator].iter_mut().enumerate() {
                self.server(operator, set, number, server);
            }
        }
        if kind == Kind::OneOwnServer {
            servers[..2].sort_by_cached_key(|server| wire(server));
        }
        self.delegation(of_operator.max(2), next, scratch, sink);
        for number in 0..own {
            let Scratch { owner, servers } = &mut *scratch;
            own_server(number, owner, &mut servers[0]);
            let is_dual = kind == Kind::OwnServers { dual: true };
            self.glue(&servers[0], place << 1 | number as u64, is_dual, sink);
        }
        sink.name_done();
    }

    /// The NS records of the first `servers` servers, and DS records if the delegation has some.
    fn delegation(&self, servers: usize, next: &mut Next, scratch: &Scratch, sink: &mut Sink) {
        let names: [&[u8]; 4] = std::array::from_fn(|number| &scratch.servers[number][..]);
        sink.plain(&scratch.owner, Rtype::NS, NS, &names[..servers]);
        sink.counts.names += 1;
        sink.counts.delegations += 1;
        let signers = self.plan.signers(next.delegation);
        if signers > 0 {
            let mut data = [0, 1]
                .map(|number| DelegationSigner::some(self.seed, next.delegation << 1 | number));
            data[..signers].sort_unstable();
            sink.delegation_signers(&scratch.owner, DS, &data[..signers]);
            sink.counts.signed_delegations += 1;
        }
        next.delegation += 1;
    }

    fn glue(&self, owner: &[u8], place: u64, is_dual: bool, sink: &mut Sink) {
        sink.address(owner, A, addresses::v4(self.seed, place));
        if is_dual {
            sink.address6(owner, AAAA, addresses::v6(self.seed, place));
        }
        sink.counts.names += 1;
        sink.counts.glue_records += 1 + usize::from(is_dual);
    }

    /// Sets `out` to the absolute name of a server.
    fn server(&self, operator: &Operator, set: u32, number: usize, out: &mut Vec<u8>) {
        out.clear();
        operator.push_server(set, number, out);
        out.push(b'.');
        out.extend_from_slice(&operator.domain);
        if operator.is_in_zone {
            out.push(b'.');
            out.extend_from_slice(&self.origin);
        }
    }
}

/// The numbers of the next delegation.
struct Next {
    /// Among those that are no operator's.
    plain: u64,
    /// Among all.
    delegation: u64,
}

impl Scratch {
    fn set_owner(&mut self, parts: &[&[u8]]) {
        self.owner.clear();
        for part in parts {
            self.owner.extend_from_slice(part);
        }
    }
}

fn own_server(number: usize, owner: &[u8], out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice([&b"ns1."[..], b"ns2."][number]);
    out.extend_from_slice(owner);
}

/// The name in wire format, as canonical order compares it in record data.
fn wire(name: &[u8]) -> Vec<u8> {
    let text = std::str::from_utf8(name).unwrap_or_default();
    Name::bytes_from_str(text).map_or_else(|_| Vec::new(), |name| name.as_slice().to_vec())
}

impl Parts for Tld {
    fn count(&self) -> usize {
        1 + self.plan.partitions.len()
    }

    fn make(&self, index: usize, sink: &mut Sink) {
        match index.checked_sub(1) {
            None => self.apex(sink),
            Some(index) => self.partition(&self.plan.partitions[index], sink),
        }
    }
}
