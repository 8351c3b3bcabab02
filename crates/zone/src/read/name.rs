//! Names in presentation format.

use super::EntryError;
use super::lexer::Token;
use super::rdata::push_ascii;
use crate::Name;
use domain::base::name::{ToName, UncertainName};
use std::str::FromStr;

/// Longest name in wire format (RFC 1035 section 3.1).
const NAME_OCTETS_MAX: usize = 255;
/// Longest label.
const LABEL_OCTETS_MAX: usize = 63;

/// Appends the wire format of `text`, a name without escapes and quotes; false, with nothing appended, for any other
/// text, which [`read_name`] then reads or says what is wrong with it.
pub(super) fn push_plain_name(text: &[u8], origin: Option<&Name>, target: &mut Vec<u8>) -> bool {
    let start = target.len();
    let is_plain = |octet: &u8| matches!(octet, 0x21..=0x7E) && !matches!(octet, b'\\' | b'"');
    let is_done = match text {
        b"@" => match origin {
            Some(origin) => {
                target.extend_from_slice(origin.as_slice());
                true
            }
            None => false,
        },
        b"." => {
            target.push(0);
            true
        }
        _ if text.len() >= NAME_OCTETS_MAX || !text.iter().all(is_plain) => false,
        _ => push_labels(text, origin, target),
    };
    if !is_done {
        target.truncate(start);
    }
    is_done
}

fn push_labels(text: &[u8], origin: Option<&Name>, target: &mut Vec<u8>) -> bool {
    let start = target.len();
    target.push(0);
    target.extend_from_slice(text);
    let mut label = start;
    for at in start + 1..target.len() {
        if target[at] == b'.' {
            let length = at - label - 1;
            if length == 0 || length > LABEL_OCTETS_MAX {
                return false;
            }
            target[label] = length as u8;
            label = at;
        }
    }
    let length = target.len() - label - 1;
    if length > LABEL_OCTETS_MAX {
        return false;
    }
    target[label] = length as u8;
    if length > 0 {
        let Some(origin) = origin else { return false };
        target.extend_from_slice(origin.as_slice());
    }
    target.len() - start <= NAME_OCTETS_MAX
}

/// The absolute name that `token` gives.
pub(super) fn read_name(token: &Token<'_>, origin: &Option<Name>) -> Result<Name, EntryError> {
    let mut wire = Vec::new();
    if push_plain_name(token.text, origin.as_ref(), &mut wire)
        && let Ok(name) = Name::from_octets(wire.into())
    {
        return Ok(name);
    }
    let no_origin = || {
        EntryError::syntax(
            token.place,
            "a relative name, but no origin is known yet",
            "put $ORIGIN before it, end the name with a dot, or give the zone's name",
        )
    };
    if token.text == b"@" {
        return origin.clone().ok_or_else(no_origin);
    }
    let bad_name = |reason: String| {
        let shown = String::from_utf8_lossy(token.text);
        let what = format!("{} is not a domain name: {reason}", shortened(&shown));
        EntryError::syntax(
            token.place,
            what,
            "a label has 1 to 63 octets, a name at most 255 (RFC 1035 section 3.1)",
        )
    };
    let mut ascii = Vec::with_capacity(token.text.len());
    push_ascii(&mut ascii, token.text);
    let text = String::from_utf8_lossy(&ascii);
    let text = match token.is_quoted() {
        true => text.trim_matches('"'),
        false => &text,
    };
    match UncertainName::<Vec<u8>>::from_str(text) {
        Ok(UncertainName::Absolute(name)) => Ok(name.to_name()),
        Ok(UncertainName::Relative(name)) => {
            let origin = origin.as_ref().ok_or_else(no_origin)?;
            let chained = name
                .chain(origin)
                .map_err(|error| bad_name(error.to_string()))?;
            Ok(chained.to_name())
        }
        Err(error) => Err(bad_name(error.to_string())),
    }
}

/// `text` cut to a length that suits a message.
pub(super) fn shortened(text: &str) -> String {
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
