//! Directives: `$ORIGIN` and `$INCLUDE` (RFC 1035 section 5.1), `$TTL` (RFC 2308 section 4).

use super::lexer::{Place, Token};
use super::name::read_name;
use super::{EntryError, ttl, unescape};
use crate::Name;
use std::path::PathBuf;

/// A line that begins with `$`.
#[derive(Debug)]
pub(crate) enum Directive {
    Origin(Name),
    /// The TTL of records that give none, in seconds.
    Ttl(u32),
    Include {
        path: PathBuf,
        /// The origin within the file, if it is another.
        origin: Option<Name>,
        /// Where the file is named.
        place: Place,
    },
}

impl Directive {
    /// Reads the directive of `tokens`, of which there is at least one.
    pub fn read(tokens: &[Token<'_>], origin: &Option<Name>) -> Result<Self, EntryError> {
        let keyword = tokens[0].text.to_ascii_uppercase();
        let error = |index: usize, what: &str, hint: &str| {
            let place = tokens.get(index).unwrap_or(&tokens[0]).place;
            Err(EntryError::syntax(place, what, hint))
        };
        match (&keyword[..], tokens) {
            (b"$ORIGIN", [_, name]) => read_name(name, origin).map(Self::Origin),
            (b"$TTL", [_, value]) => match ttl::parse_ttl(value.text) {
                Some(ttl_s) => Ok(Self::Ttl(ttl_s)),
                None => error(
                    1,
                    "not a TTL",
                    "give 0 to 2147483647 seconds, or units such as 1h or 1W2D",
                ),
            },
            (b"$INCLUDE", [_, path, rest @ ..]) if rest.len() < 2 => Ok(Self::Include {
                path: path_of(path),
                origin: rest
                    .first()
                    .map(|name| read_name(name, origin))
                    .transpose()?,
                place: path.place,
            }),
            (b"$ORIGIN" | b"$TTL", _) => {
                error(0, "this directive takes one argument", "correct the line")
            }
            (b"$INCLUDE", _) => error(
                0,
                "$INCLUDE takes a file and at most an origin",
                "correct the line",
            ),
            (b"$GENERATE", _) => error(
                0,
                "$GENERATE is an extension of BIND",
                "expand it first with: named-compilezone -o OUTPUT ZONE FILE",
            ),
            _ => error(
                0,
                "unknown directive",
                "known are $ORIGIN, $TTL and $INCLUDE",
            ),
        }
    }
}

/// The path that `token` gives, quotes and escapes resolved.
fn path_of(token: &Token<'_>) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    let text = match token.text {
        [b'"', inner @ .., b'"'] => inner,
        text => text,
    };
    PathBuf::from(std::ffi::OsString::from_vec(unescape(text)))
}
