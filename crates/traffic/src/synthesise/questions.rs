//! What clients ask: kinds from the quotas, names by popularity, and nothing that they know already.

use super::cache::Caches;
use super::clients::{Client, Population};
use super::names::{Kind, NameId, Names};
use super::quotas::{Category, Outcome, Quotas, Request};
use super::random::{Random, mix};
use crate::profile::Profile;
use domain::base::iana::{Class, Rcode, Rtype};

/// Names that are tried for a client that knows the answers; then one is asked for that nobody has asked for.
const TRIES: u32 = 8;
/// Clients whose last questions are known.
const RECENT: usize = 1 << 16;

/// The last question of a client, of some category.
#[derive(Clone, Copy, Debug)]
struct Recent {
    client: u32,
    category: u16,
    name: NameId,
}

/// The questions of a stream that have not been asked yet.
#[derive(Debug)]
pub(super) struct Questions {
    quotas: Quotas,
    names: Names,
    caches: Caches,
    /// By hash of client and category.
    recent: Vec<Option<Recent>>,
    /// The last names that exist and for which clients asked with type A, by hash of the client.
    recent_hosts: Vec<Option<Recent>>,
    paired: f64,
    has_own_names: bool,
    /// Questions that were not asked since the client knew the answer.
    cached: u64,
    /// The name of the question that was drawn last, in wire format.
    wire: Vec<u8>,
}

impl Questions {
    /// The questions of a stream of `queries` queries.
    pub fn new(profile: &Profile, queries: u64, seed: u64) -> Self {
        Self {
            quotas: Quotas::new(profile, queries),
            names: Names::new(profile, seed),
            caches: Caches::new(queries),
            recent: vec![None; RECENT],
            recent_hosts: vec![None; RECENT],
            paired: profile.queries.paired,
            has_own_names: profile.answers.referrals,
            cached: 0,
            wire: Vec::with_capacity(256),
        }
    }

    /// Draws the question that `client` asks in second `now_s` of the stream.
    #[inline]
    pub fn draw(
        &mut self,
        client: Client,
        now_s: u32,
        population: &Population,
        random: &mut Random,
    ) -> (Category, Request, NameId) {
        let request = self.quotas.draw(random);
        let category = self.quotas.categories()[request.category];
        let name = self.name(client, &category, &request, now_s, population, random);
        self.wire.clear();
        self.names.push(name, category.rtype, &mut self.wire);
        (category, request, name)
    }

    fn name(
        &mut self,
        client: Client,
        category: &Category,
        request: &Request,
        now_s: u32,
        population: &Population,
        random: &mut Random,
    ) -> NameId {
        if category.class != Class::IN {
            let kind = Kind::Servers;
            return NameId {
                kind,
                number: random.below(16),
            };
        }
        let is_own =
            self.has_own_names && request.is_authoritative && category.outcome == Outcome::Data;
        if is_own {
            let kind = Kind::Roots;
            return NameId {
                kind,
                number: random.below(13),
            };
        }
        let tag = request.category as u16;
        let place = recent_place(client.number, tag);
        let repeats = population.repeats(client);
        if repeats > 0.0
            && random.chance(repeats)
            && let Some(name) = known(self.recent[place], client, tag)
        {
            return name;
        }
        let name = self.new_name(client, category, now_s, population, random);
        let recent = |category| Recent {
            client: client.number,
            category,
            name,
        };
        self.recent[place] = Some(recent(tag));
        if category.rtype == Rtype::A && name.kind == Kind::Existing {
            self.recent_hosts[recent_place(client.number, 0)] = Some(recent(0));
        }
        name
    }

    /// A name to which `client` does not know the answer.
    fn new_name(
        &mut self,
        client: Client,
        category: &Category,
        now_s: u32,
        population: &Population,
        random: &mut Random,
    ) -> NameId {
        let is_caching = population.is_caching(client);
        let is_missing = category.outcome == Outcome::Failed(Rcode::NXDOMAIN);
        let is_of_pair = !is_missing && matches!(category.rtype, Rtype::AAAA | Rtype::HTTPS);
        if is_of_pair
            && random.chance(self.paired)
            && let Some(name) = known(self.recent_hosts[recent_place(client.number, 0)], client, 0)
            && (!is_caching || self.takes(client, name, category.rtype, now_s))
        {
            return name;
        }
        for _ in 0..TRIES {
            let name = match is_missing {
                true => self.names.missing(category.rtype, random),
                false => self.names.existing(random),
            };
            if !is_caching || self.takes(client, name, category.rtype, now_s) {
                return name;
            }
            self.cached += 1;
        }
        let like = match is_missing {
            true => self.names.missing(category.rtype, random),
            false => self.names.existing(random),
        };
        self.names.fresh(like)
    }

    /// Whether `client` has to ask; then its cache gets the answer.
    fn takes(&mut self, client: Client, name: NameId, rtype: Rtype, now_s: u32) -> bool {
        let asked = u64::from(client.number) << 16 | u64::from(rtype.to_int());
        let question = mix(name.hash() ^ mix(asked));
        if self.caches.has(question, now_s) {
            return false;
        }
        self.caches.put(question, now_s, self.names.ttl_s(name));
        true
    }

    /// The name of the question that was drawn last, in wire format.
    pub fn wire(&self) -> &[u8] {
        &self.wire
    }

    /// How long the answer about this name lives.
    pub fn ttl_s(&self, name: NameId) -> u32 {
        self.names.ttl_s(name)
    }

    /// Questions so far that were not asked since the client knew the answer.
    pub fn cached(&self) -> u64 {
        self.cached
    }
}

fn recent_place(client: u32, category: u16) -> usize {
    mix(u64::from(client) << 16 | u64::from(category)) as usize % RECENT
}

fn known(recent: Option<Recent>, client: Client, category: u16) -> Option<NameId> {
    let own = recent.filter(|recent| (recent.client, recent.category) == (client.number, category));
    own.map(|recent| recent.name)
}
