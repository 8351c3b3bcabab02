//! The names of a zone file in canonical order, in batches: how zones of millions of names are worked on.
//!
//! A file that lies in canonical order is read as it comes, so that memory does not grow with it; anything else is sorted
//! first, in memory or, beyond a limit, by way of temporary files. Text is parsed and names are checked by the threads
//! of a [`Pool`]; batches come in order.

mod apex;
mod assemble;
mod batch;
mod changes;
mod group;
mod head;
mod merge;
mod several;
mod sorter;
mod sorting;
mod streaming;

pub use apex::find_apex;
pub use batch::{Batch, OwnerGroup, RecordRange};
pub use changes::Changes;
pub(crate) use head::Head;
pub use several::{FlowOfSeveral, Several, over_several};
pub use sorter::{RecordSorter, SortedRecords};

use crate::Name;
use crate::error::{Warning, ZoneError};
use crate::pool::Pool;
use crate::read::TextSource;
use batch::Kinds;
use changes::Applying;
use group::Grouped;
use merge::Merging;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use streaming::Streaming;

/// Warnings that are kept; of more, only the number is known.
const WARNINGS_MAX: usize = 100;

/// How a zone file is to be read.
#[derive(Clone)]
pub struct Opening<'a> {
    /// The zone file; `-` is standard input.
    pub path: &'a Path,
    /// The text of the zone, if it is not to be read from `path`, which then only stands in messages.
    pub text: Option<Arc<[u8]>>,
    /// The zone's name, if it is known; else that of the SOA record.
    pub origin: Option<Name>,
    /// Octets of records to hold in memory when the file has to be sorted; beyond, temporary files are used.
    pub memory: usize,
    /// Where temporary files are made.
    pub folder: PathBuf,
    /// Keeps what makes this no zone in [`Batch::faults`] instead of ending with the first.
    pub keeps_faults: bool,
    /// Leaves out names that have nothing but RRSIG and NSEC records: in a signed zone whose data were changed, names that are gone.
    pub leaves_out_orphans: bool,
    /// What to change of the zone while it is read.
    pub changes: Option<Arc<Changes>>,
    /// Set from another thread to end early.
    pub cancel: &'a AtomicBool,
    /// Is told how many octets of text were read so far.
    pub progress: &'a (dyn Fn(u64) + Sync),
}

impl std::fmt::Debug for Opening<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Opening")
            .field("path", &self.path)
            .field("origin", &self.origin)
            .field("memory", &self.memory)
            .finish_non_exhaustive()
    }
}

/// Octets that may be held to sort a zone where nothing else is said.
pub const MEMORY_DEFAULT: usize = 4 << 30;

static NEVER: AtomicBool = AtomicBool::new(false);

impl<'a> Opening<'a> {
    /// Reads `path` with the default memory, temporary files in the system's folder, and nobody to interrupt or to watch.
    pub fn new(path: &'a Path, origin: Option<&Name>) -> Self {
        Self {
            path,
            text: None,
            origin: origin.cloned(),
            memory: MEMORY_DEFAULT,
            folder: std::env::temp_dir(),
            keeps_faults: false,
            leaves_out_orphans: false,
            changes: None,
            cancel: &NEVER,
            progress: &|_| {},
        }
    }

    /// Reads `text` instead of a file; `$INCLUDE` is refused in it.
    pub fn of_text(text: Arc<[u8]>, origin: Option<&Name>) -> Self {
        Self {
            text: Some(text),
            ..Self::new(Path::new("-"), origin)
        }
    }

    fn source(&self) -> Result<TextSource<'a>, ZoneError> {
        let mut source = match &self.text {
            Some(text) => TextSource::text(self.path, text.to_vec(), self.origin.clone()),
            None => TextSource::open(self.path, self.origin.clone(), self.cancel)?,
        };
        if self.changes.is_some() {
            source.leave_out_number();
        }
        Ok(source)
    }

    /// The zone file, and that of the changes, which is [`CHANGES_FILE`](changes::CHANGES_FILE).
    fn first_files(&self) -> Vec<Arc<Path>> {
        let changes = self.changes.iter().map(|changes| changes.file());
        std::iter::once(self.path)
            .chain(changes)
            .map(Arc::from)
            .collect()
    }

    fn check_cancel(&self) -> Result<(), ZoneError> {
        match self.cancel.load(Ordering::Relaxed) {
            true => Err(ZoneError::Cancelled),
            false => Ok(()),
        }
    }
}

/// Where the names come from.
enum Source<'a> {
    Streaming(Box<Streaming<'a>>),
    Merging(Box<Merging>),
}

/// The names of a zone file in canonical order.
pub struct ZoneFlow<'a> {
    opening: Opening<'a>,
    pool: &'a Pool,
    source: Source<'a>,
    apex: Arc<[u8]>,
    files: Arc<[Arc<Path>]>,
    kinds: Kinds,
    applying: Option<Applying>,
    /// Names of which the last may have more records in what comes next.
    held: Option<Grouped>,
    /// What waits until the name after it that is not below a zone cut is known.
    pending: VecDeque<Grouped>,
    /// How many at the front of `pending` come before this name, the next that is not below a zone cut.
    following: Option<(usize, Box<[u8]>)>,
    is_at_end: bool,
    /// Whether the first names were given.
    has_begun: bool,
    warnings: Vec<Warning>,
    warning_count: u64,
    /// What sorting warned of.
    sorting_warnings: Vec<Warning>,
    /// All names were gone over before [`ZoneFlow::rewind`], so the warnings are known.
    is_repeated: bool,
}

impl std::fmt::Debug for ZoneFlow<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ZoneFlow")
            .field("opening", &self.opening)
            .finish_non_exhaustive()
    }
}

/// Lets `body` go over the names of the zone file of `opening`.
///
/// `body` is called again from the start, with the names sorted, if the file turns out not to be in canonical order
/// after all; what it did the first time is then to be forgotten. Its error is the one of [`ZoneFlow::next_batch`] then.
pub fn over_names<T, E: From<ZoneError>>(
    opening: &Opening<'_>,
    pool: &Pool,
    mut body: impl FnMut(&mut ZoneFlow<'_>) -> Result<T, E>,
) -> Result<T, E> {
    let is_file = std::fs::metadata(opening.path).is_ok_and(|found| found.is_file());
    // What can be read only once is sorted at once.
    if (is_file || opening.text.is_some())
        && let Some(mut flow) = ZoneFlow::streaming(opening.clone(), pool)?
    {
        let result = body(&mut flow);
        if !flow.is_unsorted() {
            return result;
        }
    }
    body(&mut ZoneFlow::sorting(opening.clone(), pool)?)
}

impl<'a> ZoneFlow<'a> {
    /// Reads a file as it comes; `None` if its beginning shows that it is not in canonical order.
    fn streaming(opening: Opening<'a>, pool: &'a Pool) -> Result<Option<Self>, ZoneError> {
        let Some((streaming, first)) = Streaming::open(&opening)? else {
            return Ok(None);
        };
        let apex = streaming.apex();
        let files = streaming.files();
        let source = Source::Streaming(Box::new(streaming));
        let mut flow = Self::new(opening, pool, source, apex, files);
        flow.held = Some(first);
        Ok(Some(flow))
    }

    /// Sorts the file first.
    fn sorting(opening: Opening<'a>, pool: &'a Pool) -> Result<Self, ZoneError> {
        let sorted = sorting::sort(&opening, pool)?;
        let merging = Merging::new(sorted.runs, sorted.rules.clone());
        let source = Source::Merging(Box::new(merging));
        let mut flow = Self::new(opening, pool, source, sorted.rules.apex, sorted.rules.files);
        flow.sorting_warnings = sorted.warnings;
        flow.forget_warnings();
        Ok(flow)
    }

    fn new(
        opening: Opening<'a>,
        pool: &'a Pool,
        source: Source<'a>,
        apex: Arc<[u8]>,
        files: Arc<[Arc<Path>]>,
    ) -> Self {
        Self {
            applying: opening.changes.clone().map(Applying::new),
            opening,
            pool,
            source,
            kinds: Kinds::new(apex.clone()),
            held: None,
            apex,
            files,
            pending: VecDeque::new(),
            following: None,
            is_at_end: false,
            has_begun: false,
            warnings: Vec::new(),
            warning_count: 0,
            sorting_warnings: Vec::new(),
            is_repeated: false,
        }
    }

    /// Begins again with the first name; what was sorted stays sorted. Warnings are told once.
    ///
    /// # Errors
    /// Those of opening the file, and [`ZoneError::Changed`] if it is another file than it was.
    pub fn rewind(&mut self) -> Result<(), ZoneError> {
        self.kinds = Kinds::new(self.apex.clone());
        self.pending.clear();
        self.following = None;
        self.held = None;
        self.applying = self.opening.changes.clone().map(Applying::new);
        self.is_repeated |= self.is_at_end;
        if !self.is_repeated {
            self.forget_warnings();
        }
        self.is_at_end = false;
        self.has_begun = false;
        match &mut self.source {
            Source::Merging(merging) => merging.rewind(),
            Source::Streaming(streaming) => {
                let opened = Streaming::open(&self.opening)?;
                let Some((again, first)) = opened.filter(|(new, _)| new.apex() == self.apex) else {
                    return Err(ZoneError::Changed {
                        file: self.opening.path.to_path_buf(),
                    });
                };
                **streaming = again;
                self.held = Some(first);
                Ok(())
            }
        }
    }

    /// Begins to count warnings, of which those of sorting do not come again.
    fn forget_warnings(&mut self) {
        self.warnings.clone_from(&self.sorting_warnings);
        self.warning_count = self.warnings.len() as u64;
    }

    /// The zone's apex, as wire octets.
    pub fn apex(&self) -> Arc<[u8]> {
        self.apex.clone()
    }

    /// What is changed of the zone.
    pub fn changes(&self) -> Option<Arc<Changes>> {
        self.opening.changes.clone()
    }

    /// The threads that read the zone, for further work on its batches.
    pub fn pool(&self) -> &'a Pool {
        self.pool
    }

    /// The first of the warnings so far, and how many there were.
    pub fn warnings(&self) -> (&[Warning], u64) {
        (&self.warnings, self.warning_count)
    }

    /// Path of each file that was read, by number.
    pub fn files(&self) -> Arc<[Arc<Path>]> {
        match &self.source {
            Source::Streaming(streaming) => streaming.files(),
            Source::Merging(_) => self.files.clone(),
        }
    }

    /// Whether the file was found not to be in canonical order, so that [`over_names`] begins again.
    fn is_unsorted(&self) -> bool {
        matches!(&self.source, Source::Streaming(streaming) if streaming.is_unsorted())
    }

    /// The next names; `None` at the end. The first batch has the apex; of later ones some may have no names, but only
    /// records of NSEC3 chains.
    ///
    /// # Errors
    /// What is wrong with the zone or its text, [`ZoneError::Cancelled`], and [`ZoneError::NotSorted`], which
    /// [`over_names`] takes care of.
    pub fn next_batch(&mut self) -> Result<Option<Batch>, ZoneError> {
        loop {
            self.opening.check_cancel()?;
            if let Some((count, name)) = self.following.take()
                && let Some(first) = self.pending.pop_front()
            {
                let batch = self.kinds.batch(first, Some(name.clone()));
                self.following = (count > 1).then(|| (count - 1, name));
                self.has_begun = true;
                return Ok(Some(batch));
            }
            if self.is_at_end {
                let last = self.pending.pop_front();
                return Ok(last.map(|last| self.kinds.batch(last, None)));
            }
            if let Some(next) = self.next_grouped()?
                && let Some(nameless) = self.wait(next)?
            {
                return Ok(Some(Batch::nameless(self.apex.clone(), nameless)));
            }
        }
    }

    /// Lets `next` wait until the name after it is known; gives it back if it has no names and need not wait.
    fn wait(&mut self, mut next: Grouped) -> Result<Option<Grouped>, ZoneError> {
        let rules = self.rules();
        if next.groups.is_empty() && self.has_begun {
            // NSEC3 records stay in the order of the file.
            for earlier in self.pending.iter_mut().rev() {
                next.put_nsec3_before(earlier, &rules)?;
            }
            return Ok(Some(next));
        }
        let Some(first) = self.pending.front_mut() else {
            self.pending.push_back(next);
            return Ok(None);
        };
        if next.groups.is_empty() {
            // The apex comes first all the same.
            first.take_nameless(next, &rules)?;
            return Ok(None);
        }
        if first.groups.is_empty() {
            next.put_nameless_before(std::mem::take(first), &rules)?;
            *first = next;
            return Ok(None);
        }
        // All that waits but the first lies below a zone cut in that, and what follows is known only after it.
        if let Some(name) = self.kinds.first_visible(first, &next) {
            self.following = Some((self.pending.len(), name));
        }
        self.pending.push_back(next);
        Ok(None)
    }
}
