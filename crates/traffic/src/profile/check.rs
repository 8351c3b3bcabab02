//! Whether figures are what they should be.

use super::{ClientGroup, NameFigures, Profile, Quantiles, Ranks};
use domain::base::iana::{Class, Opcode, Rcode, Rtype};
use std::str::FromStr;

/// The most names or clients that a profile tells of.
const MOST_ITEMS: f64 = 1e12;
/// The longest label (RFC 1035 section 2.3.4).
const LONGEST_LABEL: f64 = 63.0;
/// The most labels that made names have: such names are never too long.
const MOST_LABELS: f64 = 12.0;

/// What is wrong with `profile`, with the path of the figure.
pub(super) fn check(profile: &Profile) -> Result<(), String> {
    let rate = &profile.rate;
    within("rate.mean_qps", rate.mean_qps, 1e-9, 1e9)?;
    quantiles("rate.second_quantiles", &rate.second_quantiles)?;
    within(
        "rate.second_correlation",
        rate.second_correlation,
        0.0,
        0.999_999,
    )?;
    if !matches!(rate.hours.len(), 0 | 24) {
        return Err("'rate.hours' has not 24 values".to_owned());
    }
    if !rate.hours.is_empty() {
        proportions("rate.hours", rate.hours.iter().copied())?;
    }
    within(
        "rate.start_unix_s",
        rate.start_unix_s.unwrap_or(0) as f64,
        0.0,
        4e9,
    )?;
    clients(&profile.clients)?;
    types(profile)?;
    queries(profile)?;
    names("names", &profile.names)?;
    names("missing_names", &profile.missing_names)?;
    let missing = &profile.missing;
    let kinds = [
        missing.unknown_suffix,
        missing.random_label,
        missing.address,
        missing.unknown_name,
    ];
    proportions("missing", kinds)?;
    within(
        "transports.tcp_sessions",
        profile.transports.tcp_sessions,
        0.0,
        1.0,
    )?;
    within(
        "transports.tcp_abandoned",
        profile.transports.tcp_abandoned,
        0.0,
        1.0,
    )?;
    answers(profile)
}

fn clients(groups: &[ClientGroup]) -> Result<(), String> {
    proportions("clients", groups.iter().map(|group| group.queries))?;
    for (group, number) in groups.iter().zip(1..) {
        let path = |key: &str| format!("clients[{number}].{key}");
        within(&path("clients"), group.clients, 1.0, MOST_ITEMS)?;
        ranks(&path("activity"), &group.activity)?;
        within(&path("ipv6"), group.ipv6, 0.0, 1.0)?;
        within(&path("caching"), group.caching, 0.0, 1.0)?;
        within(&path("repeats"), group.repeats, 0.0, 1.0)?;
        within(&path("burst_queries"), group.burst_queries, 1.0, 1000.0)?;
        within(&path("burst_ms"), group.burst_ms, 0.0, 1000.0)?;
        quantiles(&path("round_trip_ms"), &group.round_trip_ms)?;
    }
    Ok(())
}

fn types(profile: &Profile) -> Result<(), String> {
    proportions("types", profile.types.iter().map(|figures| figures.count))?;
    for (figures, number) in profile.types.iter().zip(1..) {
        let path = |key: &str| format!("types[{number}].{key}");
        mnemonic::<Rtype>(&path("type"), &figures.rtype)?;
        mnemonic::<Class>(&path("class"), &figures.class)?;
        within(&path("failed"), figures.failed, 0.0, figures.count)?;
        within(
            &path("no_data"),
            figures.no_data,
            0.0,
            figures.count - figures.failed,
        )?;
        if let Some(rcode) = &figures.failed_rcode {
            failure(&path("failed_rcode"), rcode)?;
        }
    }
    for (figures, number) in profile.opcodes.iter().zip(1..) {
        let path = |key: &str| format!("opcodes[{number}].{key}");
        mnemonic::<Opcode>(&path("opcode"), &figures.opcode)?;
        if !matches!(&figures.opcode[..], "UPDATE" | "NOTIFY") {
            return Err(format!("'{}' is neither UPDATE nor NOTIFY", path("opcode")));
        }
        mnemonic::<Rcode>(&path("rcode"), &figures.rcode)?;
        within(&path("share"), figures.share, 0.0, 1.0)?;
    }
    Ok(())
}

fn queries(profile: &Profile) -> Result<(), String> {
    let figures = &profile.queries;
    let shares = [
        ("rd", figures.rd),
        ("rd_failed", figures.rd_failed),
        ("ad", figures.ad),
        ("cd", figures.cd),
        ("edns", figures.edns),
        ("dnssec_ok", figures.dnssec_ok),
        ("cookies", figures.cookies),
        ("paired", figures.paired),
    ];
    for (key, share) in shares {
        within(&format!("queries.{key}"), share, 0.0, 1.0)?;
    }
    points("queries.edns_sizes", &figures.edns_sizes, 0.0, 65_535.0)
}

fn names(path: &str, figures: &NameFigures) -> Result<(), String> {
    let path = |key: &str| format!("{path}.{key}");
    within(&path("count"), figures.count, 1.0, MOST_ITEMS)?;
    ranks(&path("popularity"), &figures.popularity)?;
    within(&path("once"), figures.once, 0.0, 1.0)?;
    points(&path("ttl_s"), &figures.ttl_s, 0.0, 2_147_483_647.0)?;
    points(&path("labels"), &figures.labels, 1.0, MOST_LABELS)?;
    points(
        &path("label_octets"),
        &figures.label_octets,
        1.0,
        LONGEST_LABEL,
    )?;
    for suffix in &figures.suffixes {
        let is_plain = |octet: u8| octet.is_ascii_alphanumeric() || octet == b'-' || octet == b'_';
        if !(1..=63).contains(&suffix.label.len()) || !suffix.label.bytes().all(is_plain) {
            return Err(format!(
                "'{}': '{}' is no label of letters, digits and hyphens",
                path("suffixes"),
                suffix.label
            ));
        }
    }
    if !figures.suffixes.is_empty() {
        proportions(
            &path("suffixes"),
            figures.suffixes.iter().map(|suffix| suffix.share),
        )?;
    }
    if !figures.suffix_shares.is_empty() {
        proportions(
            &path("suffix_shares"),
            figures.suffix_shares.iter().copied(),
        )?;
    }
    Ok(())
}

fn answers(profile: &Profile) -> Result<(), String> {
    let figures = &profile.answers;
    proportions(
        "answers.failed_rcodes",
        figures.failed_rcodes.iter().map(|item| item.share),
    )?;
    for item in &figures.failed_rcodes {
        failure("answers.failed_rcodes", &item.rcode)?;
    }
    let shares = [
        ("aa", figures.aa),
        ("ra", figures.ra),
        ("ad", figures.ad),
        ("truncated", figures.truncated),
        ("unanswered", figures.unanswered),
        ("aliases", figures.aliases),
    ];
    for (key, share) in shares {
        within(&format!("answers.{key}"), share, 0.0, 1.0)?;
    }
    quantiles("answers.latency_ms", &figures.latency_ms)
}

fn within(path: &str, value: f64, least: f64, most: f64) -> Result<(), String> {
    // Written so that not-a-number is refused.
    match value >= least && value <= most {
        true => Ok(()),
        false => Err(format!(
            "'{path}' is {value}, and should be from {least} to {most}"
        )),
    }
}

fn proportions(path: &str, shares: impl IntoIterator<Item = f64>) -> Result<(), String> {
    let mut sum = 0.0;
    for share in shares {
        within(path, share, 0.0, 1e18)?;
        sum += share;
    }
    match sum > 0.0 {
        true => Ok(()),
        false => Err(format!("'{path}' has no share above 0")),
    }
}

fn points(path: &str, points: &[[f64; 2]], least: f64, most: f64) -> Result<(), String> {
    for [value, _] in points {
        within(path, *value, least, most)?;
    }
    proportions(path, points.iter().map(|point| point[1]))
}

fn quantiles(path: &str, points: &[[f64; 2]]) -> Result<(), String> {
    Quantiles::new(points)
        .map(drop)
        .map_err(|why| format!("'{path}' {why}"))
}

fn ranks(path: &str, ranks: &Ranks) -> Result<(), String> {
    match ranks {
        Ranks::Zipf { exponent } => within(&format!("{path}.exponent"), *exponent, 0.0, 10.0),
        Ranks::Top { top } => {
            let mut all = vec![[0.0, 0.0]];
            all.extend(top);
            quantiles(&format!("{path}.top"), &all)?;
            match top.last() {
                Some([_, share]) if *share == 1.0 => Ok(()),
                _ => Err(format!("'{path}.top' does not end with [1, 1]")),
            }
        }
    }
}

fn mnemonic<T: FromStr>(path: &str, text: &str) -> Result<(), String> {
    match T::from_str(text) {
        Ok(_) => Ok(()),
        Err(_) => Err(format!("'{path}': '{text}' is not known")),
    }
}

fn failure(path: &str, text: &str) -> Result<(), String> {
    mnemonic::<Rcode>(path, text)?;
    match text {
        "NOERROR" => Err(format!("'{path}' is NOERROR, which is no failure")),
        _ => Ok(()),
    }
}
