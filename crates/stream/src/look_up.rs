//! What the zone has to say to a question.

use crate::questions::Question;
use dnsrig_zone::lookup::{LookupName, Outcome, ZoneIndex};
use domain::base::Rtype;

/// Looks a question up in the zone.
pub fn look_up(zone: &ZoneIndex, question: Question<'_>) -> Outcome {
    look_up_wire(zone, question.name.as_slice(), question.rtype)
}

/// Looks up an uncompressed wire name.
pub fn look_up_wire(zone: &ZoneIndex, name: &[u8], rtype: Rtype) -> Outcome {
    LookupName::from_wire(name).map_or(Outcome::NotAuthoritative, |name| zone.lookup(&name, rtype))
}

/// Whether the name exists for whoever asks: the answer has data, an alias on the way to it, or a referral to the child
/// zone that has it. In a registry's zone nearly all answers are referrals.
pub fn exists(outcome: Outcome) -> bool {
    matches!(
        outcome,
        Outcome::Answer { .. }
            | Outcome::Any { .. }
            | Outcome::Cname { .. }
            | Outcome::Dname { .. }
            | Outcome::Referral { .. }
    )
}
