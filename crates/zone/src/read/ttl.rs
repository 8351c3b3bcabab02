//! TTL values with units, as BIND and others write them.

/// The largest TTL, in seconds (RFC 2181 section 8).
pub(super) const TTL_MAX: u32 = 0x7FFF_FFFF;

/// Stands for the TTL of a record that gives none while it is not known, since no TTL is that large.
pub(crate) const TTL_MISSING: u32 = u32::MAX;

/// Reads `3600`, `1h`, `1W2D`; `None` unless it is a TTL of at most [`TTL_MAX`] seconds.
///
/// `domain` and RFC 1035 know only plain seconds.
pub(super) fn parse_ttl(text: &[u8]) -> Option<u32> {
    let mut total: u32 = 0;
    let mut number: Option<u32> = None;
    for &octet in text {
        if octet.is_ascii_digit() {
            let digit = u32::from(octet - b'0');
            number = Some(number.unwrap_or(0).checked_mul(10)?.checked_add(digit)?);
            continue;
        }
        let unit_s: u32 = match octet.to_ascii_lowercase() {
            b's' => 1,
            b'm' => 60,
            b'h' => 3_600,
            b'd' => 86_400,
            b'w' => 604_800,
            _ => return None,
        };
        total = total.checked_add(number.take()?.checked_mul(unit_s)?)?;
    }
    let has_units = text.iter().any(|octet| !octet.is_ascii_digit());
    let value = match number {
        Some(_) if has_units => return None,
        Some(seconds) => seconds,
        None if has_units => total,
        None => return None,
    };
    (value <= TTL_MAX).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_units() {
        assert_eq!(parse_ttl(b"0"), Some(0));
        assert_eq!(parse_ttl(b"3600"), Some(3600));
        assert_eq!(parse_ttl(b"1h"), Some(3600));
        assert_eq!(
            parse_ttl(b"1W2d3H4m5S"),
            Some(604_800 + 172_800 + 10_800 + 240 + 5)
        );
        assert_eq!(parse_ttl(b"2147483647"), Some(TTL_MAX));
    }

    #[test]
    fn refused() {
        for text in [
            &b""[..],
            b"h",
            b"1x",
            b"1hh",
            b"1h30",
            b"2147483648",
            b"99999999999",
            b"3551w",
            b"-1",
        ] {
            assert_eq!(parse_ttl(text), None);
        }
    }
}
