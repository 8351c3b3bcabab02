//! Reading a file that lies in canonical order as it comes.

use super::Opening;
use super::group::{Grouped, NotInOrder, Rules, group};
use crate::canonical::compare_names;
use crate::error::ZoneError;
use crate::pool::{InOrder, Pool};
use crate::read::{BlockParser, Carry, Nesting, ParsedBlock, TextBlock, TextSource};
use domain::base::iana::Rtype;
use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;

thread_local! {
    /// A thread's parser keeps its buffers from block to block.
    static PARSER: RefCell<Option<BlockParser>> = const { RefCell::new(None) };
}

/// Parses `block` with the thread's parser.
pub(super) fn parse(block: &TextBlock, owner: &[u8]) -> Result<ParsedBlock, ZoneError> {
    PARSER.with_borrow_mut(|slot| {
        let mut parser = slot.take().unwrap_or_else(BlockParser::new);
        let parsed = parser.parse(block, owner)?;
        // After an error a parser is of no use.
        *slot = Some(parser);
        Ok(parsed)
    })
}

/// A block that was parsed, and the same grouped unless it needs something of the blocks before.
struct Done {
    nesting: Nesting,
    outcome: Result<Outcome, ZoneError>,
}

enum Outcome {
    Grouped {
        carry: ParsedBlock,
        grouped: Result<Grouped, NotInOrder>,
    },
    /// Records without TTL wait for the TTL of a block before.
    Parsed(ParsedBlock),
}

pub(super) struct Streaming<'a> {
    source: TextSource<'a>,
    rules: Rules,
    carry: Carry,
    done: InOrder<Done>,
    /// A block whose first owner is known only when those before it are parsed.
    waiting: Option<TextBlock>,
    source_error: Option<ZoneError>,
    source_ended: bool,
    last_owner: Vec<u8>,
    is_unsorted: bool,
}

impl<'a> Streaming<'a> {
    /// Opens the file and reads its first names; `None` if these show that it is not in canonical order.
    pub fn open(opening: &Opening<'a>) -> Result<Option<(Self, Grouped)>, ZoneError> {
        let mut source = opening.source()?;
        let mut carry = Carry::default();
        let (mut parsed, file) = loop {
            let Some(block) = source.next_block()? else {
                return Ok(None);
            };
            let mut parsed = parse(&block, carry.owner(block.nesting))?;
            carry.take(block.nesting, &mut parsed);
            if !parsed.records.is_empty() {
                break (parsed, block);
            }
        };
        let soa = parsed
            .records
            .iter()
            .find(|record| record.rtype == Rtype::SOA);
        let Some(apex) = soa.map(|soa| Arc::<[u8]>::from(soa.owner)) else {
            return Ok(None);
        };
        if opening
            .origin
            .as_ref()
            .is_some_and(|origin| !crate::canonical::same_name(origin.as_slice(), &apex))
        {
            // Sorting says what is wrong.
            return Ok(None);
        }
        let mut files = opening.first_files();
        let number = usize::from(file.file_number);
        files.resize(files.len().max(number + 1), file.file.clone());
        let rules = Rules {
            apex,
            files: files.into(),
            // The first records have the SOA record among them.
            missing_ttl_s: None,
        };
        let records = std::mem::take(&mut parsed.records);
        let last_owner = records
            .iter()
            .next_back()
            .map(|record| record.owner.to_vec());
        let Ok(mut grouped) = group(records, &rules) else {
            return Ok(None);
        };
        grouped.warnings.extend(carry.missing_ttl(&rules.files));
        let streaming = Self {
            source,
            rules,
            carry,
            done: InOrder::default(),
            waiting: None,
            source_error: None,
            source_ended: false,
            last_owner: last_owner_of(&grouped).unwrap_or(last_owner.unwrap_or_default()),
            is_unsorted: false,
        };
        Ok(Some((streaming, grouped)))
    }

    pub fn apex(&self) -> Arc<[u8]> {
        self.rules.apex.clone()
    }

    pub fn files(&self) -> Arc<[Arc<Path>]> {
        self.rules.files.clone()
    }

    pub fn is_unsorted(&self) -> bool {
        self.is_unsorted
    }

    /// The names of the next block.
    pub fn next(
        &mut self,
        opening: &Opening<'_>,
        pool: &Pool,
    ) -> Result<Option<Grouped>, ZoneError> {
        loop {
            while self.done.len() < pool.depth() && self.submit(pool) {}
            (opening.progress)(self.source.octets_read());
            let Some(done) = self.done.take_unless(opening.cancel)? else {
                if self.waiting.is_some() {
                    continue;
                }
                return match self.source_error.take() {
                    Some(error) => Err(error),
                    None => Ok(None),
                };
            };
            let grouped = match done.outcome? {
                Outcome::Grouped { mut carry, grouped } => {
                    self.carry.take(done.nesting, &mut carry);
                    grouped
                }
                Outcome::Parsed(mut parsed) => {
                    self.carry.take(done.nesting, &mut parsed);
                    group(parsed.records, &self.rules)
                }
            };
            let Ok(grouped) = grouped else {
                return self.unsorted();
            };
            if grouped.groups.is_empty() && grouped.nsec3.is_empty() && grouped.faults.is_empty() {
                continue;
            }
            if let Some(first) = grouped.groups.first() {
                let owner = grouped.records.get(first.first as usize).owner;
                if compare_names(&self.last_owner, owner).is_gt() {
                    return self.unsorted();
                }
            }
            if let Some(last) = last_owner_of(&grouped) {
                self.last_owner = last;
            }
            return Ok(Some(grouped));
        }
    }

    fn unsorted(&mut self) -> Result<Option<Grouped>, ZoneError> {
        self.is_unsorted = true;
        Err(ZoneError::NotSorted)
    }

    /// Gives the pool the next block; false if there is none now.
    fn submit(&mut self, pool: &Pool) -> bool {
        let block = match self.waiting.take() {
            Some(block) => block,
            None if self.source_ended => return false,
            None => match self.source.next_block() {
                Ok(Some(block)) => block,
                Ok(None) => {
                    self.source_ended = true;
                    return false;
                }
                Err(error) => {
                    // Said after what is wrong in the blocks before.
                    self.source_ended = true;
                    self.source_error = Some(error);
                    return false;
                }
            },
        };
        if block.inherits_owner && !self.done.is_empty() {
            self.waiting = Some(block);
            return false;
        }
        let owner = match block.inherits_owner {
            true => self.carry.owner(block.nesting).to_vec(),
            false => Vec::new(),
        };
        self.note_file(&block);
        let rules = self.rules.clone();
        self.done.push(pool.submit(move || Done {
            nesting: block.nesting,
            outcome: work(&block, &owner, &rules),
        }));
        true
    }

    fn note_file(&mut self, block: &TextBlock) {
        let number = usize::from(block.file_number);
        if number >= self.rules.files.len() {
            let mut files = self.rules.files.to_vec();
            files.resize(number + 1, block.file.clone());
            self.rules.files = files.into();
        }
    }
}

fn work(block: &TextBlock, owner: &[u8], rules: &Rules) -> Result<Outcome, ZoneError> {
    let mut parsed = parse(block, owner)?;
    if !parsed.without_ttl.is_empty() {
        return Ok(Outcome::Parsed(parsed));
    }
    let records = std::mem::take(&mut parsed.records);
    Ok(Outcome::Grouped {
        carry: parsed,
        grouped: group(records, rules),
    })
}

fn last_owner_of(grouped: &Grouped) -> Option<Vec<u8>> {
    let last = grouped.groups.last()?;
    Some(grouped.records.get(last.first as usize).owner.to_vec())
}
