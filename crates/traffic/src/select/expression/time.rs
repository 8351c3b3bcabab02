//! Times as people write them.

use dnsrig_zone::dates::seconds_of_date;

/// Reads a time as ns since 1970: `2026-11-22T18:05:00Z` or `20261122180500`, both UTC, or seconds since 1970; all may
/// have a fraction.
pub fn parse_time(text: &str) -> Option<i64> {
    let (whole, fraction) = match text.trim_end_matches('Z').split_once('.') {
        Some((whole, fraction)) => (whole, fraction),
        None => (text.trim_end_matches('Z'), ""),
    };
    let seconds = seconds(whole)?;
    if fraction.len() > 9 || !fraction.bytes().all(|octet| octet.is_ascii_digit()) {
        return None;
    }
    let ns: i64 = format!("{fraction:0<9}").parse().ok()?;
    seconds.checked_mul(1_000_000_000)?.checked_add(ns)
}

fn seconds(text: &str) -> Option<i64> {
    if let &[
        y1,
        y2,
        y3,
        y4,
        b'-',
        m1,
        m2,
        b'-',
        d1,
        d2,
        b'T',
        h1,
        h2,
        b':',
        n1,
        n2,
        b':',
        s1,
        s2,
    ] = text.as_bytes()
    {
        let digits = [y1, y2, y3, y4, m1, m2, d1, d2, h1, h2, n1, n2, s1, s2];
        return seconds_of_date(&digits).map(i64::from);
    }
    if text.is_empty() || !text.bytes().all(|octet| octet.is_ascii_digit()) {
        return None;
    }
    match text.len() {
        14 => seconds_of_date(text.as_bytes()).map(i64::from),
        _ => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::parse_time;

    #[test]
    fn times_are_read() {
        let second = 1_700_000_000_000_000_000;
        for (text, expected) in [
            ("2023-11-14T22:13:20Z", second),
            ("2023-11-14T22:13:20", second),
            ("20231114221320", second),
            ("1700000000", second),
            ("2023-11-14T22:13:20.5Z", second + 500_000_000),
            ("1700000000.000000007", second + 7),
            ("0", 0),
        ] {
            assert_eq!(parse_time(text), Some(expected), "{text}");
        }
        for text in [
            "",
            ".5",
            "yesterday",
            "2023-11-14",
            "2023-13-14T22:13:20Z",
            "-1",
            "1.0000000001",
            "1.x",
            "99999999999",
        ] {
            assert_eq!(parse_time(text), None, "{text}");
        }
    }
}
