//! Splits a master file into entries and tokens (RFC 1035 section 5.1).
//!
//! `domain` scans entries itself, but does not tell where in the file an entry or an error is, so the framing
//! is done here and `domain` sees one record at a time.

/// One token of an entry: its text as in the file, escapes and enclosing quotes kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    pub text: &'a [u8],
    pub place: Place,
    /// No white space between this token and the one before, as in SVCB's `key="value"`.
    pub joined: bool,
}

impl Token<'_> {
    pub fn is_quoted(&self) -> bool {
        self.text.first() == Some(&b'"')
    }
}

/// Line and column within one file, both from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub line: u32,
    pub column: u32,
}

/// One entry: a directive or a record, possibly over several lines.
#[derive(Debug, Default)]
pub(super) struct Entry<'a> {
    /// The entry begins with white space: its owner is that of the record before.
    pub blank_owner: bool,
    pub tokens: Vec<Token<'a>>,
}

/// What is wrong with the text at `place`.
#[derive(Debug)]
pub(super) struct LexError {
    pub place: Place,
    pub what: String,
    pub hint: &'static str,
}

/// The octets that mean nothing but themselves outside quotes.
static IS_PLAIN: [bool; 256] = {
    let mut plain = [true; 256];
    let mut octet = 0;
    while octet < 256 {
        plain[octet] = !matches!(
            octet as u8,
            0..=b' ' | b'"' | b'(' | b')' | b';' | b'\\' | 0x7F
        );
        octet += 1;
    }
    plain
};

/// Walks over the entries of one file's octets.
#[derive(Debug)]
pub(super) struct Lexer<'a> {
    text: &'a [u8],
    at: usize,
    line: u32,
    line_start: usize,
}

impl<'a> Lexer<'a> {
    /// Starts at the beginning of `text`, which is that of line number `line`.
    pub fn new(text: &'a [u8], line: u32) -> Self {
        Self {
            text,
            at: 0,
            line,
            line_start: 0,
        }
    }

    /// How many octets were taken.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Fills `entry` with the next entry that has a token; false at the end of the file.
    pub fn next_entry(&mut self, entry: &mut Entry<'a>) -> Result<bool, LexError> {
        entry.tokens.clear();
        let mut open: Vec<Place> = Vec::new();
        let mut entry_start = self.at;
        let mut token_end = None;
        while let Some(&octet) = self.text.get(self.at) {
            match octet {
                b'\n' => {
                    self.at += 1;
                    self.line = self.line.saturating_add(1);
                    self.line_start = self.at;
                    if open.is_empty() {
                        if !entry.tokens.is_empty() {
                            return Ok(true);
                        }
                        entry_start = self.at;
                    }
                }
                b' ' | b'\t' | b'\r' => self.at += 1,
                b';' => self.skip_comment(),
                b'(' => {
                    open.push(self.place());
                    self.at += 1;
                }
                b')' => {
                    if open.pop().is_none() {
                        return Err(self.error(
                            self.place(),
                            "a closing parenthesis without an opening one".into(),
                            "remove it or add the opening one",
                        ));
                    }
                    self.at += 1;
                }
                _ => {
                    if entry.tokens.is_empty() {
                        entry.blank_owner = matches!(self.text[entry_start], b' ' | b'\t');
                    }
                    let joined = token_end == Some(self.at);
                    let place = self.place();
                    let text = self.token()?;
                    token_end = Some(self.at);
                    entry.tokens.push(Token {
                        text,
                        place,
                        joined,
                    });
                }
            }
        }
        match open.first() {
            Some(&place) => Err(self.error(
                place,
                "an opening parenthesis that is never closed".into(),
                "add the closing one",
            )),
            None => Ok(!entry.tokens.is_empty()),
        }
    }

    /// Where the lexer stands.
    pub fn place(&self) -> Place {
        Place {
            line: self.line,
            column: u32::try_from(self.at - self.line_start + 1).unwrap_or(u32::MAX),
        }
    }

    fn error(&self, place: Place, what: String, hint: &'static str) -> LexError {
        LexError { place, what, hint }
    }

    fn skip_comment(&mut self) {
        while self.text.get(self.at).is_some_and(|&octet| octet != b'\n') {
            self.at += 1;
        }
    }

    /// Takes the token that starts here.
    fn token(&mut self) -> Result<&'a [u8], LexError> {
        let start = self.at;
        let begin = self.place();
        let quoted = self.text[start] == b'"';
        if quoted {
            self.at += 1;
        } else {
            self.at += self.text[start..]
                .iter()
                .take_while(|&&octet| IS_PLAIN[usize::from(octet)])
                .count();
        }
        while let Some(&octet) = self.text.get(self.at) {
            match octet {
                b'\\' => self.escape()?,
                b'"' if quoted => {
                    self.at += 1;
                    return Ok(&self.text[start..self.at]);
                }
                b'\n' if quoted => break,
                b' ' | b'\t' if quoted => self.at += 1,
                b' ' | b'\t' | b'\r' | b'\n' | b'(' | b')' | b';' | b'"' if !quoted => break,
                0..=0x1F | 0x7F => {
                    return Err(self.error(
                        self.place(),
                        format!("control octet {octet} in the text"),
                        "write it as an escape of three decimal digits, or check that this is a zone file in text form",
                    ));
                }
                _ => self.at += 1,
            }
        }
        if quoted {
            return Err(self.error(
                begin,
                "a quoted string that does not end on its line".into(),
                "close it with a double quote",
            ));
        }
        Ok(&self.text[start..self.at])
    }

    /// Takes `\X` or `\DDD` (RFC 1035 section 5.1).
    fn escape(&mut self) -> Result<(), LexError> {
        let rest = &self.text[self.at + 1..];
        let length = match rest {
            [b'0'..=b'9', ..] => match rest {
                [a, b, c, ..]
                    if b.is_ascii_digit()
                        && c.is_ascii_digit()
                        && u16::from(a - b'0') * 100
                            + u16::from(b - b'0') * 10
                            + u16::from(c - b'0')
                            < 256 =>
                {
                    4
                }
                _ => 0,
            },
            [0x20..=0x7E, ..] => 2,
            _ => 0,
        };
        if length == 0 {
            return Err(self.error(
                self.place(),
                "a backslash that begins no escape".into(),
                "follow it with a printable character or with three decimal digits up to 255",
            ));
        }
        self.at += length;
        Ok(())
    }
}
