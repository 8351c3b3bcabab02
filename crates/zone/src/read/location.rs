//! LOC records: geographical locations (RFC 1876).

use super::other_types::{FieldError, Fields};

/// Thousandths of an arc second per degree.
const DEGREE: u32 = 3_600_000;
/// The equator and the prime meridian in wire format (RFC 1876 section 2).
const MIDDLE: u32 = 1 << 31;
/// Centimetres that the wire format's altitude 0 lies below the WGS 84 spheroid.
const ALTITUDE_BASE_CM: i64 = 10_000_000;
/// Size, horizontal and vertical precision where they are omitted: 1 m, 10 km, 10 m (RFC 1876 section 3).
const DEFAULTS_CM: [u64; 3] = [100, 1_000_000, 1_000];

/// `d1 [m1 [s1]] N|S d2 [m2 [s2]] E|W alt[m] [size[m] [hp[m] [vp[m]]]]` in wire format.
pub(super) fn compose(fields: &mut Fields<'_>) -> Result<Vec<u8>, FieldError> {
    let latitude = angle(fields, 90, ["N", "S"])?;
    let longitude = angle(fields, 180, ["E", "W"])?;
    const ALTITUDE: &str = "an altitude from -100000.00m to 42849672.95m";
    let text = fields.text(ALTITUDE)?;
    let altitude = match text.strip_prefix('-') {
        Some(text) => centimetres(text).map(|cm| -(cm as i64)),
        None => centimetres(text).map(|cm| cm as i64),
    };
    let altitude = altitude
        .and_then(|cm| u32::try_from(cm + ALTITUDE_BASE_CM).ok())
        .ok_or_else(|| fields.bad(ALTITUDE))?;
    let mut wire = vec![0];
    for default_cm in DEFAULTS_CM {
        const PRECISION: &str = "a size or precision from 0m to 90000000m";
        let cm = match fields.is_done() {
            true => Some(default_cm),
            false => centimetres(fields.text(PRECISION)?),
        };
        wire.push(
            cm.and_then(mantissa_and_exponent)
                .ok_or_else(|| fields.bad(PRECISION))?,
        );
    }
    wire.extend(latitude.to_be_bytes());
    wire.extend(longitude.to_be_bytes());
    wire.extend(altitude.to_be_bytes());
    Ok(wire)
}

/// Degrees, optional minutes and seconds, then one of the two `directions`, positive first.
fn angle(
    fields: &mut Fields<'_>,
    limit_degrees: u32,
    directions: [&str; 2],
) -> Result<u32, FieldError> {
    let [positive, negative] = directions;
    let is_direction =
        |text: &str| text.eq_ignore_ascii_case(positive) || text.eq_ignore_ascii_case(negative);
    let expected = format!("{positive} or {negative} after degrees, minutes and seconds");
    let mut value = fields
        .parse::<u32>("degrees")
        .and_then(|degrees| match degrees {
            0..=180 => Ok(degrees * DEGREE),
            _ => Err(fields.bad("degrees")),
        })?;
    if !fields.peek().is_some_and(is_direction) {
        value += fields
            .parse::<u32>(&expected)
            .and_then(|minutes| match minutes {
                0..60 => Ok(minutes * 60_000),
                _ => Err(fields.bad("minutes below 60")),
            })?;
    }
    if !fields.peek().is_some_and(is_direction) {
        let text = fields.text(&expected)?;
        value += thousandths(text)
            .filter(|&seconds| seconds < 60_000)
            .ok_or_else(|| fields.bad("seconds below 60"))?;
    }
    let direction = fields.text(&expected)?;
    if !is_direction(direction) || value > limit_degrees * DEGREE {
        return Err(fields.bad(&expected));
    }
    Ok(match direction.eq_ignore_ascii_case(positive) {
        true => MIDDLE + value,
        false => MIDDLE - value,
    })
}

/// `12.345` as 12345.
fn thousandths(text: &str) -> Option<u32> {
    u32::try_from(fixed_point(text, 3)?).ok()
}

/// `12.34m` as 1234; the unit may be left out.
fn centimetres(text: &str) -> Option<u64> {
    fixed_point(text.strip_suffix(['m', 'M']).unwrap_or(text), 2)
}

/// A decimal number times ten to the power of `digits`, which is the most digits it may have after the point.
fn fixed_point(text: &str, digits: usize) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |part: &str| part.bytes().all(|octet| octet.is_ascii_digit());
    if whole.is_empty()
        || whole.len() > 10
        || fraction.len() > digits
        || !is_number(whole)
        || !is_number(fraction)
    {
        return None;
    }
    format!("{whole}{fraction:0<digits$}").parse().ok()
}

/// Centimetres as one digit and a power of ten (RFC 1876 section 2), rounded down.
fn mantissa_and_exponent(centimetres: u64) -> Option<u8> {
    let mut mantissa = centimetres;
    let mut exponent = 0;
    while mantissa > 9 {
        mantissa /= 10;
        exponent += 1;
    }
    match exponent {
        0..=9 => Some((mantissa as u8) << 4 | exponent),
        _ => None,
    }
}
