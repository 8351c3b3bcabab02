//! Cuts the text of a zone file and of the files that it includes into blocks that can be parsed each on its own.
//!
//! A block begins at a line with an owner, or at a directive, and knows the origin and the default TTL there; so blocks can be parsed
//! by several threads at once. Only where no such line comes for long does one begin elsewhere between two entries.
//! Cutting looks only at what decides where an entry ends: line ends, parentheses, quotes, comments and escapes (RFC 1035 section 5.1).

use super::Nesting;
use super::cut::{Cut, begins_with_blank, find_cut};
use super::directive::Directive;
use super::lexer::{Entry, LexError, Lexer, Place};
use crate::Name;
use crate::error::{Position, ZoneError};
use crate::readable::{NEVER, open_readable};
use memchr::{memchr_iter, memrchr};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How deep `$INCLUDE` may nest.
const INCLUDE_DEPTH_MAX: usize = 32;
/// Octets of a block, about: enough to make handing it to a thread cheap, few enough to keep many in memory.
pub(crate) const BLOCK_OCTETS: usize = 256 << 10;
/// No line is longer: RDATA have 65,535 octets, each at most four octets of text.
const LINE_OCTETS_MAX: usize = 4 << 20;
/// No entry is longer, with its comments and white space.
const ENTRY_OCTETS_MAX: usize = 16 << 20;

/// A piece of a zone file of whole entries.
#[derive(Debug)]
pub(crate) struct TextBlock {
    pub file: Arc<Path>,
    /// Number of the file, in the order of opening.
    pub file_number: u16,
    pub first_line: u32,
    pub text: Vec<u8>,
    pub origin: Option<Name>,
    pub default_ttl: Option<u32>,
    pub nesting: Nesting,
    /// The first record takes its owner from the block before.
    pub inherits_owner: bool,
}

struct OpenFile<'a> {
    reader: Box<dyn Read + Send + 'a>,
    path: Arc<Path>,
    number: u16,
    /// The file system's own name, to notice files that include themselves.
    canonical: PathBuf,
    /// What was read, and is not part of a block yet from `taken` on.
    text: Vec<u8>,
    taken: usize,
    /// Where `text` is to be cut next, and the directives before; as far as `taken` if that is not known yet.
    cut: Cut,
    is_at_end: bool,
    is_at_start: bool,
    line: u32,
    origin: Option<Name>,
}

/// The blocks of a zone file, those of included files in their places.
pub(crate) struct TextSource<'a> {
    open: Vec<OpenFile<'a>>,
    cancel: &'a AtomicBool,
    files: usize,
    may_include: bool,
    default_ttl: Option<u32>,
    block_octets: usize,
    octets_read: u64,
    /// How many of the open files the last block stood in, see [`Nesting::kept`].
    kept: usize,
}

impl<'a> TextSource<'a> {
    /// Opens the zone file `path`; waiting for its text ends when `cancel` is set.
    pub fn open(
        path: &Path,
        origin: Option<Name>,
        cancel: &'a AtomicBool,
    ) -> Result<Self, ZoneError> {
        let (reader, canonical) =
            open_readable(path, cancel).map_err(|source| ZoneError::Read {
                file: path.to_path_buf(),
                source,
            })?;
        let mut source = Self::empty(true, cancel);
        source.push(reader, Arc::from(path), canonical, origin);
        Ok(source)
    }

    /// Takes text that came from no file, in which `$INCLUDE` is refused.
    pub fn text(path: &Path, text: Vec<u8>, origin: Option<Name>) -> Self {
        let mut source = Self::empty(false, &NEVER);
        let reader = Box::new(std::io::Cursor::new(text));
        source.push(reader, Arc::from(path), PathBuf::new(), origin);
        source
    }

    fn empty(may_include: bool, cancel: &'a AtomicBool) -> Self {
        Self {
            open: Vec::new(),
            cancel,
            files: 0,
            may_include,
            default_ttl: None,
            block_octets: BLOCK_OCTETS,
            octets_read: 0,
            kept: 0,
        }
    }

    /// Leaves out the next file number, which another file has.
    pub fn leave_out_number(&mut self) {
        self.files += 1;
    }

    /// Gives the first file another number than 0.
    pub fn with_number(mut self, number: u16) -> Self {
        if let Some(first) = self.open.first_mut() {
            first.number = number;
        }
        self
    }

    /// Makes smaller or larger blocks, for tests.
    #[cfg(test)]
    pub fn with_block_octets(mut self, octets: usize) -> Self {
        self.block_octets = octets;
        self
    }

    /// Octets that were read so far, of all files.
    pub fn octets_read(&self) -> u64 {
        self.octets_read
    }

    fn push(
        &mut self,
        reader: Box<dyn Read + Send + 'a>,
        path: Arc<Path>,
        canonical: PathBuf,
        origin: Option<Name>,
    ) {
        self.open.push(OpenFile {
            reader,
            path,
            number: u16::try_from(self.files).unwrap_or(u16::MAX),
            canonical,
            text: Vec::new(),
            taken: 0,
            cut: Cut::default(),
            is_at_end: false,
            is_at_start: true,
            line: 1,
            origin,
        });
        self.files += 1;
    }

    /// The next block; `None` at the end of the zone.
    pub fn next_block(&mut self) -> Result<Option<TextBlock>, ZoneError> {
        loop {
            let depth = self.open.len();
            if depth == 0 {
                return Ok(None);
            }
            if let Some(mut block) = self.block_of_innermost()? {
                block.nesting = Nesting {
                    depth,
                    kept: self.kept.min(depth),
                };
                self.kept = depth;
                return Ok(Some(block));
            }
            let innermost = self.open.last();
            if self.open.len() == depth
                && innermost.is_some_and(|file| file.is_at_end && file.text.is_empty())
            {
                self.open.pop();
                self.kept = self.kept.min(self.open.len());
            }
        }
    }

    /// A block of the innermost open file; `None` when there is none now: at its end, or after an `$INCLUDE` began.
    fn block_of_innermost(&mut self) -> Result<Option<TextBlock>, ZoneError> {
        let Some(file) = self.open.last_mut() else {
            return Ok(None);
        };
        if file.taken == file.cut.end {
            self.octets_read += file.read_on(self.block_octets, self.cancel)?;
        }
        let mut block = TextBlock {
            file: file.path.clone(),
            file_number: file.number,
            first_line: file.line,
            text: Vec::new(),
            origin: file.origin.clone(),
            default_ttl: self.default_ttl,
            nesting: Nesting::default(),
            inherits_owner: false,
        };
        let mut include = None;
        let mut counted = file.taken;
        while let Some(start) = file.cut.directives.pop_front() {
            file.count_lines(&mut counted, start);
            match directive(file, start, file.line)? {
                // The block's own parser reports what is wrong, so that errors come in the order of the text.
                None => {}
                Some((_, Directive::Origin(name))) => file.origin = Some(name),
                Some((_, Directive::Ttl(ttl_s))) => self.default_ttl = Some(ttl_s),
                Some((
                    after,
                    Directive::Include {
                        path,
                        origin,
                        place,
                    },
                )) => {
                    include = Some((start, after, path, origin, place));
                    break;
                }
            }
        }
        match include {
            None => {
                file.count_lines(&mut counted, file.cut.end);
                block.text = file.take_all();
            }
            Some((start, after, path, origin, place)) => {
                file.count_lines(&mut counted, after);
                block.text = file.text[file.taken..start].to_vec();
                file.taken = after;
                self.include(path, origin, place)?;
            }
        }
        block.inherits_owner = begins_with_blank(&block.text);
        Ok((!block.text.is_empty()).then_some(block))
    }

    fn include(
        &mut self,
        path: PathBuf,
        origin: Option<Name>,
        place: Place,
    ) -> Result<(), ZoneError> {
        let Some(including) = self.open.last() else {
            return Ok(());
        };
        let at = Position {
            file: including.path.clone(),
            line: place.line,
            column: place.column,
        };
        let syntax = |at, what: String, hint: &str| ZoneError::Syntax {
            at,
            what,
            hint: hint.into(),
        };
        if !self.may_include {
            let what = "$INCLUDE in text that has no folder".into();
            return Err(syntax(at, what, "read the zone from a file"));
        }
        if self.open.len() > INCLUDE_DEPTH_MAX {
            let what = format!("$INCLUDE nested deeper than {INCLUDE_DEPTH_MAX}");
            return Err(syntax(at, what, "put the files together"));
        }
        let folder = including.path.parent().unwrap_or(Path::new(""));
        let path = folder.join(path);
        let origin = origin.or_else(|| including.origin.clone());
        let (reader, canonical) = match open_readable(&path, self.cancel) {
            Ok(opened) => opened,
            Err(source) => {
                return Err(ZoneError::Include {
                    at,
                    file: path,
                    source,
                });
            }
        };
        if self.open.iter().any(|file| file.canonical == canonical) {
            return Err(ZoneError::IncludeLoop { at, file: path });
        }
        self.push(reader, Arc::from(path), canonical, origin);
        Ok(())
    }
}

impl OpenFile<'_> {
    /// Reads about `octets` and finds where they can be cut; the number of octets read.
    fn read_on(&mut self, octets: usize, cancel: &AtomicBool) -> Result<u64, ZoneError> {
        self.text.drain(..self.taken);
        self.taken = 0;
        let mut wanted = octets;
        let mut read = 0;
        loop {
            read += fill(self, wanted, cancel)?;
            self.cut = find_cut(&self.text, self.is_at_end);
            if self.cut.end > 0 || self.is_at_end {
                return Ok(read);
            }
            check_lines(self)?;
            check_entry(self)?;
            wanted = (self.text.len() * 2).min(ENTRY_OCTETS_MAX + 1);
        }
    }

    /// Takes the text as far as it is cut.
    fn take_all(&mut self) -> Vec<u8> {
        let rest = self.text.split_off(self.cut.end);
        let mut text = std::mem::replace(&mut self.text, rest);
        text.drain(..self.taken);
        self.taken = 0;
        self.cut = Cut::default();
        text
    }

    /// Adds the lines between `counted` and `to`, which then are counted too.
    fn count_lines(&mut self, counted: &mut usize, to: usize) {
        let more = lines(&self.text[*counted..to]);
        self.line = self.line.saturating_add(more);
        *counted = to;
    }
}

/// Reads until `file` has `wanted` octets of text or ends; the number of octets read.
fn fill(file: &mut OpenFile<'_>, wanted: usize, cancel: &AtomicBool) -> Result<u64, ZoneError> {
    let before = file.text.len();
    if !file.is_at_end && before < wanted {
        let missing = wanted - before;
        file.text.reserve(missing);
        let read = (&mut file.reader)
            .take(missing as u64)
            .read_to_end(&mut file.text)
            .map_err(|source| match cancel.load(Ordering::Relaxed) {
                true => ZoneError::Cancelled,
                false => ZoneError::Read {
                    file: file.path.to_path_buf(),
                    source,
                },
            })?;
        file.is_at_end = read < missing;
    }
    let read = (file.text.len() - before) as u64;
    if std::mem::take(&mut file.is_at_start) && file.text.starts_with(b"\xEF\xBB\xBF") {
        file.text.drain(..3);
    }
    Ok(read)
}

/// Refuses a line that no record can have.
fn check_lines(file: &OpenFile<'_>) -> Result<(), ZoneError> {
    let last_start = memrchr(b'\n', &file.text).map_or(0, |end| end + 1);
    if file.text.len() - last_start <= LINE_OCTETS_MAX {
        return Ok(());
    }
    Err(ZoneError::Syntax {
        at: Position {
            file: file.path.clone(),
            line: file.line + lines(&file.text[..last_start]),
            column: 1,
        },
        what: format!("a line of more than {LINE_OCTETS_MAX} octets"),
        hint: "no record is that long, so check that this is a zone file".into(),
    })
}

/// Refuses an entry that no record can have, which the text of `file` begins with.
fn check_entry(file: &OpenFile) -> Result<(), ZoneError> {
    if file.text.len() <= ENTRY_OCTETS_MAX {
        return Ok(());
    }
    let before = &file.text[..file.cut.unclosed.unwrap_or(0)];
    let line_start = memrchr(b'\n', before).map_or(0, |end| end + 1);
    Err(ZoneError::Syntax {
        at: Position {
            file: file.path.clone(),
            line: file.line.saturating_add(lines(before)),
            column: u32::try_from(before.len() - line_start + 1).unwrap_or(u32::MAX),
        },
        what: format!("an opening parenthesis that is not closed within {ENTRY_OCTETS_MAX} octets"),
        hint: "add the closing one".into(),
    })
}

fn lines(text: &[u8]) -> u32 {
    u32::try_from(memchr_iter(b'\n', text).count()).unwrap_or(u32::MAX)
}

/// The directive that begins at `start`, and where its entry ends; `None` if it is not well formed.
fn directive(
    file: &OpenFile<'_>,
    start: usize,
    line: u32,
) -> Result<Option<(usize, Directive)>, ZoneError> {
    let mut lexer = Lexer::new(&file.text[start..], line);
    let mut entry = Entry::default();
    match lexer.next_entry(&mut entry) {
        Ok(true) => {}
        Ok(false) | Err(LexError { .. }) => return Ok(None),
    }
    let read = Directive::read(&entry.tokens, &file.origin);
    Ok(read.ok().map(|directive| (start + lexer.at(), directive)))
}

#[cfg(test)]
mod tests;
