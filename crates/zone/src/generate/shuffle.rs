//! The lines of a zone in random order, in bounded memory.

use super::random::{self, Purpose, Random};
use super::{Watch, ZoneRequest};
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, Write};
use std::path::Path;

/// Text that is shuffled at once, in octets, about.
const BUCKET: u64 = 96 << 20;
/// A zone's text for each of its names, in octets, at most about.
const NAME: u64 = 130;
/// Lines after which it is looked whether the work was cancelled.
const CHECK_LINES: usize = 1 << 14;

/// Takes lines, spreads them over buckets by chance, and gives them bucket by bucket, each shuffled.
pub(super) struct Shuffle {
    seed: u64,
    lines: u64,
    /// The SOA record, which stays first.
    first: Vec<u8>,
    buckets: Vec<Bucket>,
}

/// Lines that are to be shuffled among themselves.
enum Bucket {
    Memory(Vec<u8>),
    File(BufWriter<File>),
}

impl Shuffle {
    /// A shuffle for the zone of `request`; what it cannot keep in memory are files in `folder` that have no name.
    ///
    /// # Errors
    /// Those of the system.
    pub fn new(request: &ZoneRequest, folder: &Path) -> io::Result<Self> {
        let count = (request.names * NAME).div_ceil(BUCKET);
        Self::with_buckets(count, request.seed, folder)
    }

    fn with_buckets(count: u64, seed: u64, folder: &Path) -> io::Result<Self> {
        let folder = match folder.as_os_str().is_empty() {
            true => Path::new("."),
            false => folder,
        };
        let bucket = |_| match count {
            1 => Ok(Bucket::Memory(Vec::new())),
            _ => tempfile::tempfile_in(folder).map(|file| Bucket::File(BufWriter::new(file))),
        };
        Ok(Self {
            seed,
            lines: 0,
            first: Vec::new(),
            buckets: (0..count).map(bucket).collect::<io::Result<_>>()?,
        })
    }

    /// Takes whole lines.
    ///
    /// # Errors
    /// Those of the system.
    pub fn take(&mut self, lines: &[u8]) -> io::Result<()> {
        for line in lines.split_inclusive(|&octet| octet == b'\n') {
            self.lines += 1;
            if self.lines == 1 {
                self.first = line.to_vec();
                continue;
            }
            let bits = random::at(self.seed, Purpose::Order, self.lines) >> 32;
            let place = random::scale(bits as u32, self.buckets.len() as u32);
            match &mut self.buckets[place as usize] {
                Bucket::Memory(text) => text.extend_from_slice(line),
                Bucket::File(file) => file.write_all(line)?,
            }
        }
        Ok(())
    }

    /// Writes all lines.
    ///
    /// # Errors
    /// Those of the system, and one if the work was cancelled.
    pub fn write_to(self, target: &mut impl Write, watch: &Watch) -> io::Result<()> {
        target.write_all(&self.first)?;
        for (number, bucket) in self.buckets.into_iter().enumerate() {
            let text = match bucket {
                Bucket::Memory(text) => text,
                Bucket::File(file) => read_again(file)?,
            };
            let mut random = Random::new(self.seed, Purpose::Order, number as u64);
            let mut lines: Vec<&[u8]> = text.split_inclusive(|&octet| octet == b'\n').collect();
            for last in (1..lines.len()).rev() {
                lines.swap(last, random.below(last as u32 + 1) as usize);
            }
            for (number, line) in lines.into_iter().enumerate() {
                if number % CHECK_LINES == 0 {
                    watch.check()?;
                }
                target.write_all(line)?;
            }
        }
        Ok(())
    }
}

fn read_again(file: BufWriter<File>) -> io::Result<Vec<u8>> {
    let mut file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
    let length = file.stream_position()?;
    file.rewind()?;
    let mut text = Vec::with_capacity(length as usize);
    file.read_to_end(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::{Shuffle, Watch};
    use std::num::NonZeroUsize;
    use std::path::Path;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn lines_of_several_buckets_are_all_there() {
        let folder = tempfile::tempdir().unwrap();
        let text: String = (0..5000).map(|number| format!("line {number}\n")).collect();
        let watch = Watch {
            cancel: &AtomicBool::new(false),
            progress: &|_| (),
            threads: NonZeroUsize::MIN,
        };
        let shuffled = |folder: &Path| {
            let mut shuffle = Shuffle::with_buckets(3, 1, folder).unwrap();
            let half = text[..text.len() / 2].rfind('\n').unwrap() + 1;
            shuffle.take(&text.as_bytes()[..half]).unwrap();
            shuffle.take(&text.as_bytes()[half..]).unwrap();
            let mut out = Vec::new();
            shuffle.write_to(&mut out, &watch).unwrap();
            String::from_utf8(out).unwrap()
        };
        let found = shuffled(folder.path());
        assert_eq!(found, shuffled(folder.path()));
        assert!(found.starts_with("line 0\n"));
        let mut lines: Vec<&str> = found.lines().collect();
        assert!(!lines.is_sorted_by_key(|line| line[5..].parse::<u32>().unwrap()));
        lines.sort_unstable();
        let mut wanted: Vec<&str> = text.lines().collect();
        wanted.sort_unstable();
        assert_eq!(lines, wanted);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
