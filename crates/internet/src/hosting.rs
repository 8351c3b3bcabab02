//! Who serves which domain.

use crate::profile::Hosting as HostingProfile;
use crate::random::{Draws, Purpose};
use crate::servers::SetId;

/// Who serves a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hosting {
    /// An operator's set of servers.
    Operator(SetId),
    /// Servers whose names are in the domain itself: so many.
    Own(u64),
}

/// Operators by their shares.
#[derive(Debug)]
pub(crate) struct HostingTable {
    seed: u64,
    own_share: f64,
    /// The share of each operator and all before it, above the domains with servers of their own; and its sets.
    operators: Vec<(f64, Vec<SetId>)>,
}

impl HostingTable {
    /// `large` are the sets of the profile's operators, `others` those of the rest.
    pub fn new(
        seed: u64,
        profile: &HostingProfile,
        large: Vec<Vec<SetId>>,
        others: Vec<SetId>,
    ) -> Self {
        let own_share = profile.own_servers_share;
        let mut operators = Vec::with_capacity(large.len() + others.len());
        let mut up_to = own_share;
        for (operator, sets) in profile.operator.iter().zip(large) {
            up_to += operator.share;
            operators.push((up_to, sets));
        }
        let weight = |place: usize| ((place + 1) as f64).powf(-profile.zipf);
        let total: f64 = (0..others.len()).map(weight).sum();
        let rest = (1.0 - up_to).max(0.0);
        for (place, set) in others.into_iter().enumerate() {
            up_to += rest * weight(place) / total;
            operators.push((up_to, vec![set]));
        }
        Self {
            seed,
            own_share,
            operators,
        }
    }

    /// Who serves domain number `index` of registry `part`.
    pub fn of(&self, part: u64, index: u64) -> Hosting {
        let mut draws = Draws::new(self.seed, Purpose::Hosting, part, index);
        let draw = crate::random::unit(draws.next());
        if draw < self.own_share {
            return Hosting::Own(2 + draws.below(2));
        }
        Hosting::Operator(self.set_at(draw, &mut draws))
    }

    /// Which operator's set serves zone number `index` of `part`, none of whose zones have servers of their own.
    pub fn operator_of(&self, part: u64, index: u64) -> SetId {
        let mut draws = Draws::new(self.seed, Purpose::Hosting, part, index);
        let draw = crate::random::unit(draws.next());
        self.set_at(self.own_share + (1.0 - self.own_share) * draw, &mut draws)
    }

    fn set_at(&self, draw: f64, draws: &mut Draws) -> SetId {
        let place = self.operators.partition_point(|(up_to, _)| *up_to <= draw);
        let (_, sets) = &self.operators[place.min(self.operators.len() - 1)];
        *draws.pick(sets)
    }
}
