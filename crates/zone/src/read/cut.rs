//! Where the text of a zone file can be cut: between entries (RFC 1035 section 5.1).

use super::lexer::{Entry, Lexer};
use memchr::{memchr, memchr3, memmem, memrchr};
use std::collections::VecDeque;

/// Where a text can be cut.
#[derive(Default)]
pub(super) struct Cut {
    /// The end of the last whole entry before a line that begins with an owner or a directive; without such a line, of the
    /// last whole entry; 0 without that.
    pub end: usize,
    /// Starts of the directives before `end`.
    pub directives: VecDeque<usize>,
    /// The opening parenthesis that is not closed in the text.
    pub unclosed: Option<usize>,
}

/// Finds where `text`, which begins at the start of an entry, can be cut; at its end if it `is_whole`.
pub(super) fn find_cut(text: &[u8], is_whole: bool) -> Cut {
    let mut cut = Cut::default();
    if text.first() == Some(&b'$') {
        cut.directives.push_back(0);
    }
    let mut at = 0;
    let mut last_line = 0;
    // Each turn takes a stretch without anything that hides line ends, then what comes after it.
    loop {
        let special = next_special(text, at);
        let end = special.unwrap_or(text.len());
        take_stretch(text, at, end, &mut cut);
        if let Some(offset) = memrchr(b'\n', &text[at..end]) {
            last_line = at + offset + 1;
        }
        let Some(special) = special else { break };
        let after = match text[special] {
            b';' => memchr(b'\n', &text[special..]).map(|offset| special + offset),
            b'"' => end_of_quoted(text, special),
            _ => {
                let after = end_of_parentheses(text, special);
                cut.unclosed = after.is_none().then_some(special);
                after
            }
        };
        match after {
            // A comment's line end is part of the next stretch.
            Some(after) => at = after,
            // The entry goes on beyond what was read.
            None => break,
        }
    }
    if is_whole {
        cut.end = text.len();
    } else if cut.end == 0 {
        cut.end = last_line;
    }
    let end = cut.end;
    cut.directives.retain(|&start| start < end);
    cut
}

/// Notes the last line start with an owner or a directive in `text[from..to]`, and all directives.
fn take_stretch(text: &[u8], from: usize, to: usize, cut: &mut Cut) {
    let directives = memmem::find_iter(&text[from..to], b"\n$");
    cut.directives
        .extend(directives.map(|offset| from + offset + 1));
    // A stretch ends before a special octet, which can itself begin a line.
    let mut before = to;
    while let Some(offset) = memrchr(b'\n', &text[from..before]) {
        let start = from + offset + 1;
        match text.get(start) {
            Some(b' ' | b'\t' | b'\r' | b'\n' | b';' | b'(' | b')') | None => {
                before = from + offset
            }
            Some(_) => {
                cut.end = start;
                return;
            }
        }
    }
}

/// The next octet that begins a quoted string, a comment or parentheses, unless it is escaped.
fn next_special(text: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        let found = at + memchr3(b'"', b';', b'(', &text[at..])?;
        if !is_escaped(text, from, found) {
            return Some(found);
        }
        at = found + 1;
    }
}

/// Whether an odd number of backslashes stands before `at`.
fn is_escaped(text: &[u8], from: usize, at: usize) -> bool {
    let backslashes = text[from..at]
        .iter()
        .rev()
        .take_while(|&&octet| octet == b'\\')
        .count();
    backslashes % 2 == 1
}

/// Where the quoted string that begins at `start` ends, at its line's end if it is not closed; `None` if `text` ends first.
fn end_of_quoted(text: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match text.get(at)? {
            b'"' => return Some(at + 1),
            b'\n' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// Where the outermost of the parentheses that open at `start` close; `None` if `text` ends first.
fn end_of_parentheses(text: &[u8], start: usize) -> Option<usize> {
    let mut depth = 0usize;
    let mut at = start;
    loop {
        match text.get(at)? {
            b'(' => depth += 1,
            b')' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            b'"' => {
                at = end_of_quoted(text, at)?;
                continue;
            }
            b';' => at += memchr(b'\n', &text[at..])?,
            b'\\' => at += 1,
            _ => {}
        }
        at += 1;
    }
}

/// Whether the first record of `text` begins with white space instead of an owner.
pub(super) fn begins_with_blank(text: &[u8]) -> bool {
    let mut lexer = Lexer::new(text, 1);
    let mut entry = Entry::default();
    // The parser reports what is wrong with an entry.
    while let Ok(true) = lexer.next_entry(&mut entry) {
        if entry.blank_owner || entry.tokens[0].text.first() != Some(&b'$') {
            return entry.blank_owner;
        }
    }
    false
}
