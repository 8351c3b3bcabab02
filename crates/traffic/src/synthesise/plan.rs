//! How much traffic is made, and of what form.

use super::output::{Format, Packets};
use crate::profile::Profile;
use serde::Deserialize;

/// The most queries of a stream, and its longest duration: 31 days.
const MOST_QUERIES: u64 = 100_000_000_000;
const LONGEST_S: f64 = 2_678_400.0;
const HIGHEST_QPS: f64 = 10_000_000.0;
/// How long a stream is that nobody says anything about.
const USUAL_S: f64 = 60.0;
/// 2022-01-01 00:00 UTC, where neither plan nor profile says when traffic begins.
const USUAL_START_S: i64 = 1_640_995_200;
const NS_A_SECOND: i64 = 1_000_000_000;
/// The last time of a pcap file.
const LAST_NS: i64 = u32::MAX as i64 * NS_A_SECOND;

/// What is to be made.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The mean rate of queries a second; the profile's where neither this nor both of the next two are given.
    #[serde(default)]
    pub rate_qps: Option<f64>,
    /// How long it lasts, in seconds; 60 where neither this nor `queries` is given.
    #[serde(default)]
    pub duration_s: Option<f64>,
    /// How many queries.
    #[serde(default)]
    pub queries: Option<u64>,
    /// When it begins, in ns since 1970; when the profile's capture did, if it says so.
    #[serde(default)]
    pub start_ns: Option<i64>,
    /// The seed of everything random: the same profile and plan give the same octets.
    pub seed: u64,
    /// What is written.
    pub format: Format,
    /// Whose packets a pcap file has; without effect on other formats, which have queries.
    pub packets: Packets,
}

/// The size of a stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Size {
    pub queries: u64,
    pub rate_qps: f64,
    pub duration_s: f64,
    pub start_ns: i64,
}

impl Size {
    pub fn duration_ns(&self) -> u64 {
        (self.duration_s * 1e9) as u64
    }
}

impl Plan {
    /// How much traffic of `profile` it asks for, or why there is no such.
    pub(super) fn size(&self, profile: &Profile) -> Result<Size, String> {
        let own_qps = profile.rate.mean_qps;
        let (queries, rate_qps, duration_s) = match (self.queries, self.rate_qps, self.duration_s) {
            (Some(_), Some(_), Some(_)) => {
                return Err("of the rate, the duration and the number of queries two say the third: leave one out".into());
            }
            (Some(queries), None, Some(duration_s)) => {
                (queries, queries as f64 / duration_s, duration_s)
            }
            (Some(queries), rate_qps, None) => {
                let rate_qps = rate_qps.unwrap_or(own_qps);
                (queries, rate_qps, queries as f64 / rate_qps)
            }
            (None, rate_qps, duration_s) => {
                let (rate_qps, duration_s) =
                    (rate_qps.unwrap_or(own_qps), duration_s.unwrap_or(USUAL_S));
                ((rate_qps * duration_s).round() as u64, rate_qps, duration_s)
            }
        };
        if !(1..=MOST_QUERIES).contains(&queries) {
            return Err(format!(
                "{queries} queries are not from 1 to {MOST_QUERIES}"
            ));
        }
        if !(rate_qps > 0.0 && rate_qps <= HIGHEST_QPS) {
            return Err(format!(
                "{rate_qps} queries a second are not above 0 and up to {HIGHEST_QPS}"
            ));
        }
        if !(duration_s > 0.0 && duration_s <= LONGEST_S) {
            return Err(format!(
                "{duration_s} seconds are not above 0 and up to {LONGEST_S}, which are 31 days: ask for a shorter time, for a higher rate, or for fewer queries"
            ));
        }
        let start_s = profile.rate.start_unix_s.unwrap_or(USUAL_START_S);
        let start_ns = self.start_ns.unwrap_or(start_s * NS_A_SECOND);
        let end_ns = start_ns.saturating_add_unsigned((duration_s * 1e9) as u64);
        if start_ns < 0 || end_ns > LAST_NS {
            return Err("it is not from 1970 to 2106, which are all the times of pcap".into());
        }
        Ok(Size {
            queries,
            rate_qps,
            duration_s,
            start_ns,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(
        rate_qps: Option<f64>,
        duration_s: Option<f64>,
        queries: Option<u64>,
    ) -> Result<(u64, f64, f64), String> {
        let plan = Plan {
            rate_qps,
            duration_s,
            queries,
            start_ns: None,
            seed: 1,
            format: Format::Pcap,
            packets: Packets::Queries,
        };
        let size = plan.size(&Profile::open("root-2006").unwrap())?;
        assert_eq!(size.start_ns, 1_163_570_400_000_000_000);
        Ok((size.queries, size.rate_qps, size.duration_s))
    }

    #[test]
    fn two_of_rate_duration_and_number_say_the_third() {
        assert_eq!(size(None, None, None), Ok((144_072, 2401.2, 60.0)));
        assert_eq!(size(Some(100.0), None, None), Ok((6000, 100.0, 60.0)));
        assert_eq!(size(None, Some(10.0), None), Ok((24_012, 2401.2, 10.0)));
        assert_eq!(size(Some(50.0), None, Some(100)), Ok((100, 50.0, 2.0)));
        assert_eq!(size(None, Some(4.0), Some(100)), Ok((100, 25.0, 4.0)));
        assert_eq!(size(None, None, Some(24_012)).unwrap().0, 24_012);
        assert!(size(Some(1.0), Some(1.0), Some(1)).is_err());
    }

    #[test]
    fn what_cannot_be_made_is_refused() {
        for (rate_qps, duration_s, queries, expected) in [
            (None, None, Some(0), "0 queries"),
            (Some(-1.0), None, None, "queries"),
            (Some(f64::NAN), None, Some(1), "NaN"),
            (Some(1e9), None, Some(1), "queries a second"),
            (Some(0.001), None, Some(1_000_000), "a higher rate"),
            (None, Some(0.0), Some(1), "queries a second"),
        ] {
            let error = size(rate_qps, duration_s, queries).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
