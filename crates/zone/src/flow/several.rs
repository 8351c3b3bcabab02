//! Several zone files gone over side by side.

use super::{Batch, Opening, Source, ZoneFlow};
use crate::error::ZoneError;
use crate::pool::Pool;
use std::cell::{Cell, RefCell};
use std::ops::{Deref, DerefMut};

/// Zone files of which any can be opened at any time.
#[derive(Debug)]
pub struct Several<'a> {
    files: Vec<File<'a>>,
    pool: &'a Pool,
    /// Set when a file was found not to be in canonical order.
    must_restart: Cell<bool>,
}

#[derive(Debug)]
struct File<'a> {
    opening: Opening<'a>,
    must_sort: Cell<bool>,
    /// The sorted records, while nobody goes over them.
    sorted: RefCell<Option<ZoneFlow<'a>>>,
}

/// The names of one of several zone files; when it is dropped, the file can be opened again.
#[derive(Debug)]
pub struct FlowOfSeveral<'s, 'a> {
    several: &'s Several<'a>,
    number: usize,
    /// There until it is dropped.
    flow: Option<ZoneFlow<'a>>,
}

/// Lets `body` go over the zone files of `openings`.
///
/// As with [`over_names`](super::over_names), `body` is called again from the start if a file turns out not to be in
/// canonical order after all; what it did before is then to be forgotten. What was sorted is sorted once.
pub fn over_several<'a, T, E: From<ZoneError>>(
    openings: Vec<Opening<'a>>,
    pool: &'a Pool,
    mut body: impl FnMut(&Several<'a>) -> Result<T, E>,
) -> Result<T, E> {
    let file = |opening: Opening<'a>| File {
        // What can be read only once is sorted at once.
        must_sort: Cell::new(!std::fs::metadata(opening.path).is_ok_and(|found| found.is_file())),
        sorted: RefCell::new(None),
        opening,
    };
    let several = Several {
        files: openings.into_iter().map(file).collect(),
        pool,
        must_restart: Cell::new(false),
    };
    loop {
        match body(&several) {
            Err(_) if several.must_restart.take() => {}
            result => return result,
        }
    }
}

impl<'a> Several<'a> {
    /// Goes over the names of file number `number` from the start.
    ///
    /// # Panics
    /// If there are not so many files.
    pub fn open(&self, number: usize) -> Result<FlowOfSeveral<'_, 'a>, ZoneError> {
        let file = &self.files[number];
        let flow = match file.sorted.take() {
            Some(mut flow) => {
                flow.rewind()?;
                flow
            }
            None => self.open_anew(file)?,
        };
        Ok(FlowOfSeveral {
            several: self,
            number,
            flow: Some(flow),
        })
    }

    fn open_anew(&self, file: &File<'a>) -> Result<ZoneFlow<'a>, ZoneError> {
        if !file.must_sort.get()
            && let Some(flow) = ZoneFlow::streaming(file.opening.clone(), self.pool)?
        {
            return Ok(flow);
        }
        file.must_sort.set(true);
        ZoneFlow::sorting(file.opening.clone(), self.pool)
    }
}

impl FlowOfSeveral<'_, '_> {
    /// The next names; `None` at the end.
    ///
    /// # Errors
    /// Those of [`ZoneFlow::next_batch`].
    pub fn next_batch(&mut self) -> Result<Option<Batch>, ZoneError> {
        self.noting_disorder(|flow| flow.next_batch())
    }

    /// Gives up what was sorted, with its temporary files: the file is not gone over again, or else sorted anew.
    pub fn close(mut self) {
        self.flow = None;
    }

    /// See [`ZoneFlow::head`].
    pub(crate) fn head(&mut self) -> Result<super::Head, ZoneError> {
        self.noting_disorder(|flow| flow.head())
    }

    fn noting_disorder<T>(
        &mut self,
        read: impl FnOnce(&mut ZoneFlow<'_>) -> Result<T, ZoneError>,
    ) -> Result<T, ZoneError> {
        let result = read(self);
        if self.is_unsorted() {
            self.several.files[self.number].must_sort.set(true);
            self.several.must_restart.set(true);
        }
        result
    }
}

impl<'a> Deref for FlowOfSeveral<'_, 'a> {
    type Target = ZoneFlow<'a>;

    fn deref(&self) -> &ZoneFlow<'a> {
        self.flow.as_ref().expect("a flow until it is dropped")
    }
}

impl<'a> DerefMut for FlowOfSeveral<'_, 'a> {
    fn deref_mut(&mut self) -> &mut ZoneFlow<'a> {
        self.flow.as_mut().expect("a flow until it is dropped")
    }
}

impl Drop for FlowOfSeveral<'_, '_> {
    fn drop(&mut self) {
        if let Some(flow) = self.flow.take()
            && matches!(flow.source, Source::Merging(_))
        {
            self.several.files[self.number].sorted.replace(Some(flow));
        }
    }
}
