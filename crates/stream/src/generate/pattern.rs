//! Patterns of names.

use rand::{Rng, RngExt};

/// The longest name (RFC 1035 section 3.1).
const MAX_NAME: usize = 255;
/// The longest label.
const MAX_LABEL: usize = 63;

/// A name with gaps to fill.
#[derive(Debug)]
pub struct Pattern {
    labels: Vec<Vec<Piece>>,
}

/// A part of a label.
#[derive(Debug)]
enum Piece {
    Text(Vec<u8>),
    /// The query's number with at least so many digits.
    Number {
        digits: usize,
    },
    Random {
        alphabet: &'static [u8],
        count: usize,
    },
}

impl Pattern {
    /// Reads a pattern for queries with numbers up to `last`.
    pub fn parse(text: &str, last: u64) -> Result<Self, String> {
        let text = text.strip_suffix('.').unwrap_or(text);
        let mut labels = Vec::new();
        let mut name_len = 1;
        for label in text.split('.').filter(|_| !text.is_empty()) {
            let pieces = parse_label(label)?;
            let len: usize = pieces.iter().map(|piece| piece.max_len(last)).sum();
            if len == 0 {
                return Err("it has an empty label".into());
            }
            if len > MAX_LABEL {
                return Err(format!(
                    "the label '{label}' gets {len} octets, more than {MAX_LABEL}"
                ));
            }
            name_len += 1 + len;
            labels.push(pieces);
        }
        if name_len > MAX_NAME {
            return Err(format!(
                "the name gets {name_len} octets, more than {MAX_NAME}"
            ));
        }
        Ok(Self { labels })
    }

    /// Appends a name in wire format to `wire`.
    pub fn append_name(&self, number: u64, rng: &mut impl Rng, wire: &mut Vec<u8>) {
        for label in &self.labels {
            let start = wire.len();
            wire.push(0);
            for piece in label {
                piece.append(number, rng, wire);
            }
            wire[start] = (wire.len() - start - 1) as u8;
        }
        wire.push(0);
    }
}

fn parse_label(label: &str) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    let mut rest = label;
    while !rest.is_empty() {
        let (text, gap) = rest
            .split_once('{')
            .map_or((rest, None), |(text, gap)| (text, Some(gap)));
        if text.contains('}') {
            return Err(format!("a }} without {{ in '{label}'"));
        }
        if let Some(odd) = text
            .chars()
            .find(|&octet| !octet.is_ascii_graphic() || octet == '\\')
        {
            return Err(format!(
                "'{odd}' cannot stand in a pattern; names are written without escapes"
            ));
        }
        if !text.is_empty() {
            pieces.push(Piece::Text(text.into()));
        }
        let Some(gap) = gap else { break };
        let (gap, after) = gap
            .split_once('}')
            .ok_or_else(|| format!("a {{ without }} in '{label}'"))?;
        pieces.push(parse_gap(gap)?);
        rest = after;
    }
    Ok(pieces)
}

fn parse_gap(gap: &str) -> Result<Piece, String> {
    let wrong = || {
        format!(
            "{{{gap}}} is not known; there are {{n}}, {{n:DIGITS}}, {{hex:COUNT}}, {{az:COUNT}}, {{az09:COUNT}} and {{09:COUNT}}"
        )
    };
    let (kind, count) = match gap.split_once(':') {
        Some((kind, count)) => (kind, Some(count)),
        None => (gap, None),
    };
    let count = match count {
        Some(count) => {
            let count = count
                .parse()
                .ok()
                .filter(|count| (1..=MAX_LABEL).contains(count));
            Some(count.ok_or_else(wrong)?)
        }
        None => None,
    };
    let alphabet: &[u8] = match (kind, count) {
        ("n", count) => {
            return Ok(Piece::Number {
                digits: count.unwrap_or(1),
            });
        }
        ("hex", Some(_)) => b"0123456789abcdef",
        ("az", Some(_)) => b"abcdefghijklmnopqrstuvwxyz",
        ("az09", Some(_)) => b"abcdefghijklmnopqrstuvwxyz0123456789",
        ("09", Some(_)) => b"0123456789",
        _ => return Err(wrong()),
    };
    let count = count.ok_or_else(wrong)?;
    Ok(Piece::Random { alphabet, count })
}

impl Piece {
    fn max_len(&self, last: u64) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Number { digits } => {
                (last.checked_ilog10().unwrap_or(0) as usize + 1).max(*digits)
            }
            Self::Random { count, .. } => *count,
        }
    }

    fn append(&self, number: u64, rng: &mut impl Rng, wire: &mut Vec<u8>) {
        match self {
            Self::Text(text) => wire.extend_from_slice(text),
            Self::Number { digits } => append_number(number, *digits, wire),
            Self::Random { alphabet, count } => {
                wire.extend((0..*count).map(|_| alphabet[rng.random_range(0..alphabet.len())]));
            }
        }
    }
}

/// Appends `number` in decimal, with leading zeros up to `digits`.
fn append_number(number: u64, digits: usize, wire: &mut Vec<u8>) {
    let mut text = [b'0'; MAX_LABEL];
    let mut start = text.len();
    let mut rest = number;
    while rest > 0 {
        start -= 1;
        text[start] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    wire.extend_from_slice(&text[start.min(text.len() - digits)..]);
}
