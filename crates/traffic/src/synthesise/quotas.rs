//! What is asked, how it is answered, and how many of each there are in the whole stream.

use super::random::Random;
use super::urn::{Urn, apportion};
use crate::profile::Profile;
use domain::base::iana::{Class, Opcode, Rcode, Rtype};
use std::str::FromStr;

/// How a query is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Outcome {
    /// With data, or with a referral.
    Data,
    /// With NOERROR and nothing else.
    NoData,
    /// With this RCODE.
    Failed(Rcode),
}

/// Queries of one kind, or requests of another opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Category {
    pub opcode: Opcode,
    pub class: Class,
    pub rtype: Rtype,
    pub outcome: Outcome,
}

impl Category {
    /// Whether it is a query.
    pub fn is_query(&self) -> bool {
        self.opcode == Opcode::QUERY
    }
}

/// One request as the quotas have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Request {
    /// The place of its category among [`Quotas::categories`].
    pub category: usize,
    /// RD.
    pub recursion_desired: bool,
    /// AA in the answer.
    pub is_authoritative: bool,
    /// Whether it goes by TCP.
    pub is_tcp: bool,
    /// Whether, at the time of this request, a client opens a TCP session and gives it up.
    pub has_abandoned_session: bool,
}

/// All requests of a stream that have not been drawn yet: each kind is there as often as the profile says, to the nearest.
#[derive(Debug)]
pub(super) struct Quotas {
    categories: Vec<Category>,
    kinds: Urn,
    rd_of_answered: Urn,
    rd_of_failed: Urn,
    aa_of_answered: Urn,
    aa_of_missing: Urn,
    tcp: Urn,
    abandoned: Urn,
}

impl Quotas {
    /// The requests of a stream of `queries` queries.
    pub fn new(profile: &Profile, queries: u64) -> Self {
        let (categories, counts) = categories(profile, queries);
        let count_of = |wanted: &dyn Fn(&Category) -> bool| -> u64 {
            let counted = categories.iter().zip(&counts);
            counted
                .filter(|(category, _)| wanted(category))
                .map(|(_, count)| count)
                .sum()
        };
        let is_missing = |category: &Category| category.outcome == Outcome::Failed(Rcode::NXDOMAIN);
        let failed = count_of(&|category| {
            category.is_query() && matches!(category.outcome, Outcome::Failed(_))
        });
        let missing = count_of(&|category| category.is_query() && is_missing(category));
        let answered = queries - failed;
        let rd = share_of(queries, profile.queries.rd);
        let rd_failed = share_of(rd, profile.queries.rd_failed);
        // Where both shares cannot be, as many queries have RD as should.
        let rd_failed = rd_failed.clamp(rd.saturating_sub(answered), failed.min(rd));
        let aa = share_of(queries, profile.answers.aa);
        let sessions = share_of(queries, profile.transports.tcp_sessions);
        let abandoned = share_of(sessions, profile.transports.tcp_abandoned);
        Self {
            kinds: Urn::of_counts(counts),
            categories,
            rd_of_answered: Urn::yes_no(rd - rd_failed, answered),
            rd_of_failed: Urn::yes_no(rd_failed, failed),
            aa_of_answered: Urn::yes_no(aa.saturating_sub(missing), answered),
            aa_of_missing: Urn::yes_no(aa, missing),
            tcp: Urn::yes_no(sessions - abandoned, queries),
            abandoned: Urn::yes_no(abandoned, queries),
        }
    }

    /// Kinds of requests; what is most frequent comes first.
    pub fn categories(&self) -> &[Category] {
        &self.categories
    }

    /// Draws a request.
    #[inline]
    pub fn draw(&mut self, random: &mut Random) -> Request {
        let place = self.kinds.draw(random);
        let category = &self.categories[place];
        let mut request = Request {
            category: place,
            recursion_desired: false,
            is_authoritative: false,
            is_tcp: false,
            has_abandoned_session: false,
        };
        if !category.is_query() {
            return request;
        }
        match category.outcome {
            Outcome::Failed(rcode) => {
                request.recursion_desired = self.rd_of_failed.draws_yes(random);
                request.is_authoritative =
                    rcode == Rcode::NXDOMAIN && self.aa_of_missing.draws_yes(random);
            }
            Outcome::Data | Outcome::NoData => {
                request.recursion_desired = self.rd_of_answered.draws_yes(random);
                request.is_authoritative = self.aa_of_answered.draws_yes(random);
            }
        }
        request.is_tcp = self.tcp.draws_yes(random);
        request.has_abandoned_session = self.abandoned.draws_yes(random);
        request
    }
}

/// How many requests of other opcodes go with so many queries.
pub(super) fn other_requests(profile: &Profile, queries: u64) -> u64 {
    profile
        .opcodes
        .iter()
        .map(|figures| share_of(queries, figures.share))
        .sum()
}

fn share_of(count: u64, share: f64) -> u64 {
    (count as f64 * share).round() as u64
}

fn known<T: FromStr>(mnemonic: &str) -> T {
    T::from_str(mnemonic)
        .unwrap_or_else(|_| unreachable!("{mnemonic} was checked with the profile"))
}

/// All categories with how many requests there are of each, the most frequent first.
fn categories(profile: &Profile, queries: u64) -> (Vec<Category>, Vec<u64>) {
    let counts: Vec<f64> = profile.types.iter().map(|figures| figures.count).collect();
    let total: f64 = counts.iter().sum();
    let failed: Vec<f64> = profile.types.iter().map(|figures| figures.failed).collect();
    let of_types = apportion(&counts, queries);
    // Failures first in all types together, so that their sum is exact, too.
    let all_failed = share_of(queries, failed.iter().sum::<f64>() / total);
    let of_failed = apportion(&failed, all_failed);
    let mut found: Vec<(Category, u64)> = Vec::new();
    for ((figures, count), failed) in profile.types.iter().zip(of_types).zip(of_failed) {
        let category = |outcome| Category {
            opcode: Opcode::QUERY,
            class: known(&figures.class),
            rtype: known(&figures.rtype),
            outcome,
        };
        let failed = failed.min(count);
        let no_data = share_of(
            count,
            figures.no_data / figures.count.max(f64::MIN_POSITIVE),
        );
        let no_data = no_data.min(count - failed);
        found.push((category(Outcome::Data), count - failed - no_data));
        found.push((category(Outcome::NoData), no_data));
        if let Some(rcode) = &figures.failed_rcode {
            found.push((category(Outcome::Failed(known(rcode))), failed));
            continue;
        }
        let rcodes = &profile.answers.failed_rcodes;
        let shares: Vec<f64> = rcodes.iter().map(|item| item.share).collect();
        for (item, count) in rcodes.iter().zip(apportion(&shares, failed)) {
            found.push((category(Outcome::Failed(known(&item.rcode))), count));
        }
    }
    for figures in &profile.opcodes {
        let category = Category {
            opcode: known(&figures.opcode),
            class: Class::IN,
            rtype: Rtype::SOA,
            outcome: match known(&figures.rcode) {
                Rcode::NOERROR => Outcome::NoData,
                rcode => Outcome::Failed(rcode),
            },
        };
        found.push((category, share_of(queries, figures.share)));
    }
    found.retain(|(_, count)| *count > 0);
    found.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    found.into_iter().unzip()
}

#[cfg(test)]
mod tests {
    use super::super::random::Purpose;
    use super::*;

    /// Counts of a stream: (queries, failed, RD, RD failed, AA, TCP, abandoned, other opcodes).
    fn drawn(profile: &Profile, queries: u64) -> [u64; 8] {
        let mut quotas = Quotas::new(profile, queries);
        let mut random = Random::new(1, Purpose::Questions);
        let mut counts = [0; 8];
        for _ in 0..queries + other_requests(profile, queries) {
            let request = quotas.draw(&mut random);
            let category = quotas.categories()[request.category];
            let has_failed = matches!(category.outcome, Outcome::Failed(_)) && category.is_query();
            let facts = [
                category.is_query(),
                has_failed,
                request.recursion_desired,
                request.recursion_desired && has_failed,
                request.is_authoritative,
                request.is_tcp,
                request.has_abandoned_session,
                !category.is_query(),
            ];
            for (count, is_so) in counts.iter_mut().zip(facts) {
                *count += u64::from(is_so);
            }
        }
        counts
    }

    #[test]
    fn a_thousandth_of_f_roots_capture_has_a_thousandth_of_each_count() {
        let profile = Profile::open("root-2006").unwrap();
        let [queries, failed, rd, rd_failed, aa, tcp, abandoned, updates] =
            drawn(&profile, 414_931);
        assert_eq!((queries, failed, updates), (414_931, 160_993, 415));
        assert_eq!((rd, aa), (414_343, 171_888));
        // All queries without RD fail: 38.8 % of all, and 38.7 % of those with RD.
        assert_eq!(rd_failed, 160_993 - (414_931 - 414_343));
        assert_eq!(
            format!("{:.1}", 100.0 * rd_failed as f64 / rd as f64),
            "38.7"
        );
        assert_eq!(tcp + abandoned, 7907);
        // Of 2.983 packets a session, the server's three of a whole one and two of an abandoned one.
        assert_eq!(3 * tcp + 2 * abandoned, 23_588);
    }

    #[test]
    fn every_type_has_its_count_and_failures() {
        let profile = Profile::open("root-2006").unwrap();
        let quotas = Quotas::new(&profile, 414_931_073);
        let (categories, counts) = categories(&profile, 414_931_073);
        assert_eq!(categories, quotas.categories());
        for figures in &profile.types {
            let of_type = |wanted: &dyn Fn(Outcome) -> bool| -> u64 {
                let of = categories.iter().zip(&counts).filter(|(category, _)| {
                    category.is_query()
                        && category.rtype.to_string() == figures.rtype
                        && category.class.to_string() == figures.class
                        && wanted(category.outcome)
                });
                of.map(|(_, count)| count).sum()
            };
            assert_eq!(
                of_type(&|_| true) as f64,
                figures.count,
                "{}",
                figures.rtype
            );
            let failed = of_type(&|outcome| matches!(outcome, Outcome::Failed(_)));
            assert_eq!(failed as f64, figures.failed, "{}", figures.rtype);
        }
        let missing: u64 = (categories.iter().zip(&counts))
            .filter(|(category, _)| category.outcome == Outcome::Failed(Rcode::NXDOMAIN))
            .map(|(_, count)| count)
            .sum();
        assert_eq!(
            format!("{:.1}", 100.0 * missing as f64 / 414_931_073.0),
            "38.5"
        );
    }

    #[test]
    fn shares_that_exclude_each_other_are_kept_as_far_as_they_can() {
        let mut profile = Profile::open("resolver-2022").unwrap();
        profile.queries.rd_failed = 1.0;
        profile.answers.aa = 1.0;
        let [queries, failed, rd, rd_failed, aa, ..] = drawn(&profile, 10_000);
        assert_eq!((queries, rd, rd_failed), (10_000, 10_000, failed));
        assert!(aa < 10_000 && aa > 9900, "{aa}");
        assert_eq!(drawn(&profile, 1)[0], 1);
    }
}
