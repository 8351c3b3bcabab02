//! The comments by which a piece of a zone tells, without its manifest, that it is one and whether it is whole.

use super::manifest::Content;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// Octets that are looked at, at either end of a file.
const LOOK_OCTETS: u64 = 512;
const FIRST: &str = "; piece ";
const LAST: &str = "; end of piece ";

/// What the comments of a piece say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Marks {
    /// Number of the piece, from 1.
    pub number: usize,
    /// The number of pieces.
    pub of: usize,
    /// What the piece was made with; none if the last line is missing.
    pub content: Option<Content>,
}

/// What the ends of a file say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ends {
    /// The comments, if the file has them.
    pub marks: Option<Marks>,
    /// Whether the last line ends as lines do.
    pub is_ended: bool,
}

/// The first line of piece `number` of `of`.
pub(super) fn first_line(number: usize, of: usize, zone: &str) -> String {
    format!(
        "{FIRST}{number} of {of} of the zone {zone} by dnsrig zone split; the last line says that it is whole\n"
    )
}

/// The last line of piece `number` of `of`.
pub(super) fn last_line(number: usize, of: usize, content: Content) -> String {
    let Content {
        names,
        data_records,
    } = content;
    format!(
        "{LAST}{number} of {of}, {names} names, {data_records} records but for RRSIG and NSEC\n"
    )
}

/// Looks at both ends of the file `path`; of what is no regular file nothing is known.
pub(super) fn look_at(path: &Path) -> io::Result<Option<Ends>> {
    let Ok(metadata) = std::fs::metadata(path) else {
        return Ok(None);
    };
    if !metadata.is_file() {
        return Ok(None);
    }
    let mut file = File::open(path)?;
    let mut head = Vec::new();
    file.by_ref().take(LOOK_OCTETS).read_to_end(&mut head)?;
    file.seek(SeekFrom::Start(metadata.len().saturating_sub(LOOK_OCTETS)))?;
    let mut tail = Vec::new();
    file.take(LOOK_OCTETS).read_to_end(&mut tail)?;
    Ok(Some(ends(&head, &tail)))
}

/// What `head`, the beginning of a file, and `tail`, its end, say.
pub(crate) fn ends(head: &[u8], tail: &[u8]) -> Ends {
    let (head, tail) = (String::from_utf8_lossy(head), String::from_utf8_lossy(tail));
    let marks = head
        .lines()
        .next()
        .and_then(read_first)
        .map(|(number, of)| {
            let last = tail.lines().next_back().and_then(read_last);
            let last = last.filter(|(same, total, _)| (*same, *total) == (number, of));
            Marks {
                number,
                of,
                content: last.map(|(.., content)| content),
            }
        });
    Ends {
        marks,
        is_ended: tail.ends_with('\n'),
    }
}

fn read_first(line: &str) -> Option<(usize, usize)> {
    let mut words = line.strip_prefix(FIRST)?.split(' ');
    let number = words.next()?.parse().ok()?;
    let of = (words.next()? == "of")
        .then(|| words.next())??
        .parse()
        .ok()?;
    (1..=of).contains(&number).then_some((number, of))
}

fn read_last(line: &str) -> Option<(usize, usize, Content)> {
    let (numbers, content) = line.strip_prefix(LAST)?.split_once(", ")?;
    let (number, of) = numbers.split_once(" of ")?;
    let (names, records) = content.split_once(" names, ")?;
    let records = records.strip_suffix(" records but for RRSIG and NSEC")?;
    let content = Content {
        names: names.parse().ok()?,
        data_records: records.parse().ok()?,
    };
    Some((number.parse().ok()?, of.parse().ok()?, content))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let content = Content {
            names: 7,
            data_records: 19,
        };
        let text =
            first_line(2, 11, "example.") + "x. 5 IN A 192.0.2.1\n" + &last_line(2, 11, content);
        let found = ends(text.as_bytes(), text.as_bytes());
        let marks = Marks {
            number: 2,
            of: 11,
            content: Some(content),
        };
        assert_eq!(found.marks, Some(marks));
        assert!(found.is_ended);
    }

    #[test]
    fn what_is_cut_is_noticed() {
        let text = first_line(2, 3, "example.") + "x. 5 IN A 192.0.2.1";
        let found = ends(text.as_bytes(), text.as_bytes());
        assert_eq!(found.marks.map(|marks| marks.content), Some(None));
        assert!(!found.is_ended);
        for text in [
            "",
            "; piece",
            "; piece 4 of 3 of",
            "; piece 0 of 3",
            "x. 5 IN A 192.0.2.1\n",
        ] {
            assert_eq!(ends(text.as_bytes(), text.as_bytes()).marks, None, "{text}");
        }
    }
}
