//! Several captures as one, in the order of time.

use super::open::fault_in;
use super::{Fault, Source, Watch, open};
use crate::error::TrafficError;
use crate::read::buffer::{ChunkBuffer, LINK_TYPE_MESSAGE, PacketAt};
use crate::read::{FileSummary, ReadSummary};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};

/// Octets that are read of a file to learn when it begins.
const PEEK_LEN: usize = 4096;

/// Captures that are read in the order of their first packets. While the times of several overlap, their packets are merged;
/// within a file, packets keep their order.
pub struct InTimeOrder<'a> {
    /// Those that have not begun, the earliest first.
    waiting: VecDeque<Waiting<'a>>,
    /// Those that have.
    active: Vec<Active<'a>>,
    ended: Vec<FileSummary>,
    chunks: u64,
    watch: Watch<'a>,
}

/// A capture that has not begun.
struct Waiting<'a> {
    index: u16,
    path: &'a Path,
    /// When its first packet was captured; the least number for the only file, and for one without packets.
    first_ns: i64,
    /// The capture, unless it is to be opened anew.
    active: Option<Active<'a>>,
}

/// A capture of which a chunk is in memory.
struct Active<'a> {
    index: u16,
    path: &'a Path,
    source: Box<dyn Source + 'a>,
    chunk: ChunkBuffer,
    /// The place in the chunk of the packet that comes next.
    next: usize,
    /// When the latest packet of the chunk was captured.
    latest_ns: i64,
    /// When the last packet that was read was captured.
    before_ns: i64,
    has_ended: bool,
    summary: FileSummary,
}

impl<'a> InTimeOrder<'a> {
    /// Opens `files`, of which each may be `-`.
    ///
    /// # Errors
    /// [`TrafficError::Read`], [`TrafficError::NotACapture`], [`TrafficError::TooManyFiles`], or [`TrafficError::Interrupted`].
    pub fn new(files: &'a [PathBuf], watch: Watch<'a>) -> Result<Self, TrafficError> {
        if files.len() > usize::from(u16::MAX) {
            return Err(TrafficError::TooManyFiles { files: files.len() });
        }
        let mut waiting = Vec::with_capacity(files.len());
        for (index, path) in files.iter().enumerate() {
            let index = index as u16;
            waiting.push(match files.len() {
                1 => Waiting {
                    index,
                    path,
                    first_ns: i64::MIN,
                    active: None,
                },
                _ => Waiting::peek(index, path, watch)?,
            });
        }
        // The sort is stable: files without times stay in the order in which they were given.
        waiting.sort_by_key(|file| file.first_ns);
        Ok(Self {
            waiting: waiting.into(),
            active: Vec::new(),
            ended: Vec::new(),
            chunks: 0,
            watch,
        })
    }

    /// Fills `chunk` with the next packets; says whether there were any.
    ///
    /// # Errors
    /// Those of [`InTimeOrder::new`].
    pub fn next(&mut self, chunk: &mut ChunkBuffer) -> Result<bool, TrafficError> {
        chunk.clear();
        while chunk.packets.is_empty() {
            if self.active.is_empty() && !self.begin_next()? {
                return Ok(false);
            }
            self.refill()?;
            match &mut self.active[..] {
                [] => {}
                [only] if only.next == 0 => {
                    let follows = self.waiting.front();
                    if follows.is_some_and(|file| file.first_ns <= only.latest_ns) {
                        self.begin_next()?;
                        self.merge(chunk)?;
                    } else {
                        std::mem::swap(&mut only.chunk, chunk);
                        only.chunk.clear();
                    }
                }
                _ => self.merge(chunk)?,
            }
        }
        chunk.number = self.chunks;
        self.chunks += 1;
        Ok(true)
    }

    /// What was read.
    pub fn summary(self) -> ReadSummary {
        let mut files = self.ended;
        files.extend(self.active.into_iter().map(|active| active.summary));
        ReadSummary {
            files,
            ..ReadSummary::default()
        }
    }

    /// Begins the earliest file of those that wait; says whether there was one.
    fn begin_next(&mut self) -> Result<bool, TrafficError> {
        let Some(file) = self.waiting.pop_front() else {
            return Ok(false);
        };
        let active = match file.active {
            Some(active) => active,
            None => Active::open(file.index, file.path, self.watch)?.0,
        };
        self.active.push(active);
        Ok(true)
    }

    /// Reads on where a chunk has been used up; drops the files that have ended.
    fn refill(&mut self) -> Result<(), TrafficError> {
        for active in &mut self.active {
            active.refill()?;
        }
        let ended = self.active.extract_if(.., |active| active.is_used_up());
        self.ended.extend(ended.map(|active| active.summary));
        Ok(())
    }

    /// Fills `chunk` with the earliest packets of all files, until it is full or one file alone is left.
    fn merge(&mut self, chunk: &mut ChunkBuffer) -> Result<(), TrafficError> {
        self.refill()?;
        while !chunk.is_full() {
            let earliest = self.active.iter_mut().min_by_key(|file| file.next_ns());
            let Some(file) = earliest else {
                return Ok(());
            };
            let follows = self.waiting.front();
            if follows.is_some_and(|follows| follows.first_ns < file.next_ns()) {
                self.begin_next()?;
                self.refill()?;
                continue;
            }
            let packets = file.chunk.chunk();
            chunk.push_packet(&packets.packet(&packets.packets[file.next]));
            file.next += 1;
            if file.is_used_up() {
                if self.active.len() == 1 {
                    return Ok(());
                }
                self.refill()?;
            }
        }
        Ok(())
    }
}

impl<'a> Waiting<'a> {
    /// Opens `path` to learn when it begins.
    fn peek(index: u16, path: &'a Path, watch: Watch<'a>) -> Result<Self, TrafficError> {
        // Octets that are read again later are counted then.
        let peeking = Watch::uncounted(watch.cancel);
        let (mut active, is_regular) = Active::open(index, path, peeking)?;
        active.chunk = ChunkBuffer::with_limit(PEEK_LEN);
        active.refill()?;
        let first = active.chunk.packets.first();
        let first_ns = first.map_or(i64::MIN, |packet| packet.time_ns);
        active.chunk.raise_limit();
        Ok(Self {
            index,
            path,
            first_ns,
            active: (!is_regular).then_some(active),
        })
    }
}

impl<'a> Active<'a> {
    /// Opens `path`; also says whether it can be opened again.
    fn open(index: u16, path: &'a Path, watch: Watch<'a>) -> Result<(Self, bool), TrafficError> {
        let opened = open(path, watch).map_err(|fault| fault_in(path, fault))?;
        let active = Self {
            index,
            path,
            chunk: ChunkBuffer::default(),
            next: 0,
            latest_ns: i64::MIN,
            before_ns: i64::MIN,
            has_ended: false,
            summary: FileSummary {
                file: path.to_owned(),
                format: opened.source.format().to_owned(),
                ..FileSummary::default()
            },
            source: opened.source,
        };
        Ok((active, opened.is_regular))
    }

    fn is_used_up(&self) -> bool {
        self.next == self.chunk.packets.len()
    }

    /// When the next packet was captured.
    fn next_ns(&self) -> i64 {
        self.chunk.packets.get(self.next).map_or(i64::MAX, time_ns)
    }

    /// Reads on, if the chunk has been used up and the file has not ended.
    fn refill(&mut self) -> Result<(), TrafficError> {
        if !self.is_used_up() || self.has_ended {
            return Ok(());
        }
        self.chunk.clear();
        self.next = 0;
        let filled = self.source.fill(&mut self.chunk);
        self.look_at_packets();
        self.summary.without_time = self.source.without_time();
        self.has_ended = self.chunk.packets.is_empty() || filled.is_err();
        match filled {
            Ok(()) => {}
            Err(Fault::CutOff) => self.summary.is_cut_off = true,
            Err(Fault::Damaged(why)) if self.summary.packets > 0 => {
                self.summary.damage = Some(why);
            }
            Err(fault) => return Err(fault_in(self.path, fault)),
        }
        Ok(())
    }

    /// Counts the packets of a new chunk, and notes whose they are.
    fn look_at_packets(&mut self) {
        let summary = &mut self.summary;
        summary.packets += self.chunk.packets.len() as u64;
        if let Some(last) = self.chunk.packets.last() {
            summary.link_type = (last.link_type != LINK_TYPE_MESSAGE).then_some(last.link_type);
        }
        self.latest_ns = i64::MIN;
        for packet in &mut self.chunk.packets {
            packet.file = self.index;
            if packet.time_ns < self.before_ns {
                let back_ns = self.before_ns.abs_diff(packet.time_ns);
                summary.back_in_time += 1;
                summary.furthest_back_ns = summary.furthest_back_ns.max(back_ns);
            }
            if packet.len < packet.original_len {
                summary.cut_packets += 1;
                summary.cut_at = summary.cut_at.max(packet.len);
            }
            self.before_ns = packet.time_ns;
            self.latest_ns = self.latest_ns.max(packet.time_ns);
        }
    }
}

fn time_ns(packet: &PacketAt) -> i64 {
    packet.time_ns
}
