//! The figures of a profile. Shares are from 0 to 1; where figures stand for counts, only their proportions matter.

use serde::{Deserialize, Serialize};

/// How many queries there are, and when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// Queries a second, on average.
    pub mean_qps: f64,
    /// Points `[quantile, rate]` of the distribution of one-second rates, as multiples of the mean of their time of day, from
    /// quantile 0 to 1.
    pub second_quantiles: Vec<[f64; 2]>,
    /// How strongly the rates of neighbouring seconds are correlated, apart from the time of day: 0 for not at all, towards 1
    /// for bursts that last long.
    pub second_correlation: f64,
    /// The mean rate of each hour of a day of UTC, in proportion to the others; empty if it is not known, so that
    /// `second_quantiles` has all variation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hours: Vec<f64>,
    /// When the traffic was captured, in seconds since 1970: what is synthesised begins then unless told otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_unix_s: Option<i64>,
}

/// How unequal many things are, from the most frequent on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Ranks {
    /// The one of rank r has a share proportional to r to the power of -`exponent`.
    Zipf {
        /// The exponent.
        exponent: f64,
    },
    /// What is known of some points.
    Top {
        /// Points `[items, share]`: the most frequent items, as a share of all items, have this share of all queries
        /// together. The last is `[1, 1]`.
        top: Vec<[f64; 2]>,
    },
}

/// Clients that behave alike, such as landline subscribers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientGroup {
    /// What it is called.
    pub name: String,
    /// Its share of all queries, in proportion to that of the other groups.
    pub queries: f64,
    /// How many clients it has at the profile's mean rate; at another rate, in proportion.
    pub clients: f64,
    /// How unequal their shares of its queries are.
    pub activity: Ranks,
    /// The share of clients whose address is IPv6.
    pub ipv6: f64,
    /// The share of clients that keep answers as long as they live, and do not ask again meanwhile.
    pub caching: f64,
    /// The share of queries for which a client asks once more what it asked last of that type and with that outcome,
    /// whether it caches or not.
    pub repeats: f64,
    /// How many queries a client sends in one go, on average.
    pub burst_queries: f64,
    /// Within which time it sends them, in milliseconds.
    pub burst_ms: f64,
    /// Quantiles of the round-trip time between client and server, in milliseconds: points `[quantile, ms]`.
    pub round_trip_ms: Vec<[f64; 2]>,
}

/// Queries of one class and type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TypeFigures {
    /// The class, by its mnemonic.
    #[serde(default = "internet", skip_serializing_if = "is_internet")]
    pub class: String,
    /// The type, by its mnemonic.
    #[serde(rename = "type")]
    pub rtype: String,
    /// How many, in the unit of all types.
    pub count: f64,
    /// How many of them failed: got an answer whose RCODE is not NOERROR.
    pub failed: f64,
    /// How many of them got NOERROR and no data of that type.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub no_data: f64,
    /// The RCODE of those that failed, if all have this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_rcode: Option<String>,
}

fn internet() -> String {
    "IN".to_owned()
}

fn is_internet(class: &str) -> bool {
    class == "IN"
}

fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

/// Requests of another opcode than QUERY.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpcodeFigures {
    /// The opcode: UPDATE or NOTIFY.
    pub opcode: String,
    /// How many there are for each query.
    pub share: f64,
    /// The RCODE of their answers.
    pub rcode: String,
}

/// Flags and EDNS (RFC 6891) of queries.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueryFigures {
    /// The share of queries with RD.
    pub rd: f64,
    /// The share of those with RD that failed.
    pub rd_failed: f64,
    /// The share with AD.
    pub ad: f64,
    /// The share with CD.
    pub cd: f64,
    /// The share with an OPT record.
    pub edns: f64,
    /// Points `[octets, share]`: the UDP sizes that OPT records tell.
    pub edns_sizes: Vec<[f64; 2]>,
    /// The share of OPT records with DO.
    pub dnssec_ok: f64,
    /// The share of OPT records with a client cookie (RFC 7873).
    pub cookies: f64,
    /// The share of AAAA and HTTPS queries for the name of the A query that their client sent last.
    pub paired: f64,
}

/// Names that exist, or some kind of names that do not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NameFigures {
    /// How many names are asked for more than once.
    pub count: f64,
    /// How unequally often.
    pub popularity: Ranks,
    /// The share of queries for names that are asked for once only.
    pub once: f64,
    /// Points `[seconds, share]`: how long answers live in caches.
    pub ttl_s: Vec<[f64; 2]>,
    /// Points `[labels, share]`: the number of labels of names.
    pub labels: Vec<[f64; 2]>,
    /// Points `[octets, share]`: the length of the label below the last one.
    pub label_octets: Vec<[f64; 2]>,
    /// The last labels, with the shares of names below each of them; without any, those of generic and country-code
    /// domains are used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suffixes: Vec<Suffix>,
    /// The shares of names below the most frequent last labels, where these are not told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suffix_shares: Vec<f64>,
}

/// A last label.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suffix {
    /// The label.
    pub label: String,
    /// The share of names below it, in proportion to the others.
    pub share: f64,
}

/// How names that do not exist come about: the shares of four kinds, of which the names have the figures of
/// [`NameFigures`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MissingFigures {
    /// Names below a top-level domain that does not exist.
    pub unknown_suffix: f64,
    /// Random letters without a top-level domain, as programs send that test whether answers are forged.
    pub random_label: f64,
    /// IPv4 addresses as names.
    pub address: f64,
    /// Names that do not exist below top-level domains that do.
    pub unknown_name: f64,
}

/// What carries messages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransportFigures {
    /// TCP sessions for each query.
    pub tcp_sessions: f64,
    /// The share of TCP sessions without a query, which the server resets; each of the others carries one.
    pub tcp_abandoned: f64,
}

/// Answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnswerFigures {
    /// The RCODEs of queries that failed, but for types that say their own.
    pub failed_rcodes: Vec<RcodeShare>,
    /// The share with AA, of all answers.
    pub aa: f64,
    /// The share with RA.
    pub ra: f64,
    /// The share with AD, of those that are not failures.
    pub ad: f64,
    /// Whether answers without AA are referrals, as those of a server of the root or of a top-level domain.
    pub referrals: bool,
    /// The share of answers by UDP with TC, which hold no record.
    pub truncated: f64,
    /// The share of queries that are not answered.
    pub unanswered: f64,
    /// The share of A and AAAA answers that begin with a CNAME record.
    pub aliases: f64,
    /// Quantiles of the time from query to answer, in milliseconds: points `[quantile, ms]`.
    pub latency_ms: Vec<[f64; 2]>,
}

/// An RCODE and its share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RcodeShare {
    /// Its mnemonic.
    pub rcode: String,
    /// Its share, in proportion to the others.
    pub share: f64,
}
