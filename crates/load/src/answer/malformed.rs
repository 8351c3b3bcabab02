//! Why a message cannot be taken as an answer.

use std::fmt;

/// Why a message cannot be taken as an answer. Each cause is reported under a name of its own, [`Malformed::name`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// Fewer octets than a header has.
    Short,
    /// QR is zero: a query.
    NotAResponse,
    /// The question section does not parse.
    Question,
    /// A record does not parse, or OPT stands twice or outside the additional section (RFC 6891 section 6.1.1).
    Records,
    /// Octets follow the last record.
    Trailing,
    /// A connection or stream ended inside the message.
    Cut,
}

impl Malformed {
    /// All of them, in order.
    pub const ALL: [Self; 6] = [
        Self::Short,
        Self::NotAResponse,
        Self::Question,
        Self::Records,
        Self::Trailing,
        Self::Cut,
    ];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Short => "short",
            Self::NotAResponse => "not_a_response",
            Self::Question => "question",
            Self::Records => "records",
            Self::Trailing => "trailing",
            Self::Cut => "cut",
        }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Short => "shorter than the 12 octets of a header",
            Self::NotAResponse => "QR is 0, so it is a query",
            Self::Question => "its question section does not parse",
            Self::Records => "its records do not parse",
            Self::Trailing => "octets follow its last record",
            Self::Cut => "it ends before its length says",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_its_own_place_and_name() {
        for (place, malformed) in Malformed::ALL.into_iter().enumerate() {
            assert_eq!(malformed as usize, place);
            let same_name = Malformed::ALL
                .iter()
                .filter(|other| other.name() == malformed.name());
            assert_eq!(same_name.count(), 1);
        }
    }
}
