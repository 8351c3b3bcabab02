//! Punycode (RFC 3492), for the A-labels of internationalised names.

const BASE: u32 = 36;
const T_MIN: u32 = 1;
const T_MAX: u32 = 26;
const SKEW: u32 = 38;
const DAMP: u32 = 700;
const INITIAL_BIAS: u32 = 72;
const INITIAL_N: u32 = 128;

/// Appends the encoding of `label` to `out`. At most some dozen characters, none of them upper case.
pub(super) fn encode(label: &[char], out: &mut Vec<u8>) {
    out.extend(label.iter().filter(|c| c.is_ascii()).map(|&c| c as u8));
    let basic = label.iter().filter(|c| c.is_ascii()).count() as u32;
    if basic > 0 {
        out.push(b'-');
    }
    let (mut n, mut delta, mut bias, mut handled) = (INITIAL_N, 0, INITIAL_BIAS, basic);
    while let Some(next) = label.iter().map(|&c| c as u32).filter(|&c| c >= n).min() {
        delta += (next - n) * (handled + 1);
        n = next;
        for code in label.iter().map(|&c| c as u32) {
            if code < n {
                delta += 1;
            }
            if code == n {
                variable_length(delta, bias, out);
                bias = adapted(delta, handled + 1, handled == basic);
                delta = 0;
                handled += 1;
            }
        }
        delta += 1;
        n += 1;
    }
}

/// Appends `delta` as a generalised variable-length integer (RFC 3492 section 3.3).
fn variable_length(mut delta: u32, bias: u32, out: &mut Vec<u8>) {
    for k in (BASE..).step_by(BASE as usize) {
        let threshold = k.saturating_sub(bias).clamp(T_MIN, T_MAX);
        if delta < threshold {
            break;
        }
        out.push(digit(threshold + (delta - threshold) % (BASE - threshold)));
        delta = (delta - threshold) / (BASE - threshold);
    }
    out.push(digit(delta));
}

/// The bias after `delta` (RFC 3492 section 3.4).
fn adapted(delta: u32, points: u32, is_first: bool) -> u32 {
    let mut delta = delta / if is_first { DAMP } else { 2 };
    delta += delta / points;
    let mut k = 0;
    while delta > (BASE - T_MIN) * T_MAX / 2 {
        delta /= BASE - T_MIN;
        k += BASE;
    }
    k + (BASE - T_MIN + 1) * delta / (delta + SKEW)
}

fn digit(value: u32) -> u8 {
    match value {
        0..26 => b'a' + value as u8,
        _ => b'0' + (value - 26) as u8,
    }
}

#[cfg(test)]
mod tests {
    use super::encode;

    #[test]
    fn labels_encode_as_others_encode_them() {
        // The first two are registered names, the third is sample (I) of RFC 3492 section 7.1.
        for (label, encoded) in [
            ("bücher", "bcher-kva"),
            ("münchen", "mnchen-3ya"),
            (
                "porquénopuedensimplementehablarenespañol",
                "porqunopuedensimplementehablarenespaol-fmd56a",
            ),
            ("日本語", "wgv71a119e"),
        ] {
            let mut out = Vec::new();
            encode(&label.chars().collect::<Vec<_>>(), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), encoded);
        }
    }
}
