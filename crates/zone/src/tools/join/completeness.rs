//! Whether all pieces are there and whole, as far as the files themselves and a manifest tell.

use super::refuse;
use crate::error::ZoneError;
use crate::flow::Head;
use crate::text::shown_name;
use crate::tools::manifest::{Content, Manifest};
use crate::tools::marks::{self, Marks};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// What is expected of a piece.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Expected {
    /// What the piece was made with.
    pub content: Option<Content>,
    /// The last owner.
    pub last: Option<String>,
}

/// Looks at the ends of the files: refuses those that were cut short and, unless there is a manifest to tell, sets of which
/// some are missing.
pub(super) fn by_marks(
    paths: &[&Path],
    has_manifest: bool,
) -> Result<Vec<Option<Marks>>, ZoneError> {
    let mut found = Vec::with_capacity(paths.len());
    let mut seen = HashSet::with_capacity(paths.len());
    for path in paths {
        if !seen.insert(path) {
            let what = "the piece is here twice".into();
            return Err(refuse(path, what, "give each piece once"));
        }
        let ends = marks::look_at(path).map_err(|source| ZoneError::Read {
            file: path.to_path_buf(),
            source,
        })?;
        let Some(ends) = ends else {
            found.push(None);
            continue;
        };
        if !ends.is_ended {
            return Err(refuse(
                path,
                "the last line does not end, so the piece was cut short".into(),
                "make it again, or add a line end if nothing is missing",
            ));
        }
        if let Some(Marks {
            number,
            of,
            content: None,
        }) = ends.marks
        {
            return Err(refuse(
                path,
                format!(
                    "the last line of piece {number} of {of} is missing, so the piece was cut short"
                ),
                "split the zone again",
            ));
        }
        found.push(ends.marks);
    }
    if has_manifest {
        return Ok(found);
    }
    match found.iter().any(Option::is_some) {
        true => check_numbers(paths, &found)?,
        false => check_file_names(paths)?,
    }
    Ok(found)
}

/// Refuses marked pieces that are not each of a set once, and fewer or more pieces than the set has; pieces may have lost their
/// marks.
fn check_numbers(paths: &[&Path], marks: &[Option<Marks>]) -> Result<(), ZoneError> {
    let marked = || {
        marks
            .iter()
            .zip(paths)
            .filter_map(|(mark, path)| Some((mark.as_ref()?, *path)))
    };
    let Some((first, first_path)) = marked().next() else {
        return Ok(());
    };
    for (index, (mark, path)) in marked().enumerate() {
        if mark.of != first.of {
            return Err(refuse(
                path,
                format!(
                    "this is one of {} pieces, but {} is one of {}",
                    mark.of,
                    first_path.display(),
                    first.of
                ),
                "give the pieces of one splitting",
            ));
        }
        let same = marked()
            .take(index)
            .find(|(other, _)| other.number == mark.number);
        if let Some((_, same)) = same {
            return Err(refuse(
                path,
                format!(
                    "piece {} of {} is here twice, as {} too",
                    mark.number,
                    mark.of,
                    same.display()
                ),
                "give each piece once",
            ));
        }
    }
    let is_missing = |number: &usize| !marked().any(|(mark, _)| mark.number == *number);
    if paths.len() > first.of {
        return Err(refuse(
            first_path,
            format!(
                "this is one of {} pieces, but {} were given",
                first.of,
                paths.len()
            ),
            "give the pieces of one splitting",
        ));
    }
    match (1..=first.of).find(is_missing) {
        Some(number) if paths.len() < first.of => Err(refuse(
            first_path,
            format!("piece {number} of {} is missing", first.of),
            "give all pieces",
        )),
        _ => Ok(()),
    }
}

/// Refuses pieces whose file names are numbered from 0, 1 or 2 on, when fewer numbers are missing than there are. Other
/// numbers, such as years or steps of ten, tell nothing.
fn check_file_names(paths: &[&Path]) -> Result<(), ZoneError> {
    let Some(mut numbers) = file_numbers(paths) else {
        return Ok(());
    };
    numbers.sort_unstable();
    numbers.dedup();
    let (Some(&lowest @ 0..=2), Some(&highest)) = (numbers.first(), numbers.last()) else {
        return Ok(());
    };
    let begin = lowest.min(1);
    let missing = highest - begin + 1 - numbers.len() as u64;
    let gap = (begin..highest).find(|number| numbers.binary_search(number).is_err());
    match gap {
        Some(number) if missing < numbers.len() as u64 => Err(refuse(
            paths[0],
            format!("by the file names, the piece with number {number} is missing"),
            "give all pieces, or rename them if there never was one",
        )),
        _ => Ok(()),
    }
}

/// The numbers in file names that differ in one number alone.
fn file_numbers(paths: &[&Path]) -> Option<Vec<u64>> {
    let names: Vec<&str> = paths
        .iter()
        .map(|path| path.to_str())
        .collect::<Option<_>>()?;
    let (first, rest) = names.split_first().filter(|(_, rest)| !rest.is_empty())?;
    let common = |count: fn(&str, &str) -> usize| {
        rest.iter()
            .map(|name| count(first, name))
            .min()
            .unwrap_or(0)
    };
    let digits = |text: &str| text.bytes().all(|octet| octet.is_ascii_digit());
    let head = common(|a, b| a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count());
    let head = first
        .get(..head)?
        .trim_end_matches(|c: char| c.is_ascii_digit());
    let tail = common(|a, b| {
        a.bytes()
            .rev()
            .zip(b.bytes().rev())
            .take_while(|(a, b)| a == b)
            .count()
    });
    let tail = first
        .get(first.len() - tail..)?
        .trim_start_matches(|c: char| c.is_ascii_digit());
    names
        .iter()
        .map(|name| {
            let number = name.strip_prefix(head)?.strip_suffix(tail)?;
            digits(number).then(|| number.parse().ok())?
        })
        .collect()
}

/// What the comments of the pieces tell of each.
pub(super) fn by_marks_alone(marks: &[Option<Marks>]) -> Vec<Expected> {
    let expected = |mark: &Option<Marks>| Expected {
        content: mark.and_then(|mark| mark.content),
        last: None,
    };
    marks.iter().map(expected).collect()
}

/// What the manifest tells of each piece, which are at least one, known by their first owners; refuses sets that are not those of the manifest.
pub(super) fn by_manifest(
    paths: &[&Path],
    heads: &[Head],
    (path, manifest): (&Path, &Manifest),
) -> Result<Vec<Expected>, ZoneError> {
    let zone = &heads[0].zone;
    if !manifest.zone.eq_ignore_ascii_case(&shown_name(zone)) {
        return Err(refuse(
            path,
            format!(
                "this is the manifest of {}, but {} is a piece of {}",
                manifest.zone,
                paths[0].display(),
                shown_name(zone)
            ),
            "give the manifest of these pieces",
        ));
    }
    let lower = |name: &Option<String>| name.as_ref().map(|name| name.to_ascii_lowercase());
    // The first of several that begin alike, which manifests of other hands may have.
    let entries = manifest.pieces.iter().enumerate().rev();
    let entries: HashMap<Option<String>, usize> = entries
        .map(|(number, piece)| (lower(&piece.first), number))
        .collect();
    let mut found: Vec<Option<usize>> = vec![None; manifest.pieces.len()];
    let mut expected = Vec::with_capacity(paths.len());
    for (index, head) in heads.iter().enumerate() {
        let first = head.first.as_deref().map(shown_name);
        let Some(&entry) = entries.get(&lower(&first)) else {
            let begins = first.unwrap_or_else(|| "nothing".into());
            return Err(refuse(
                paths[index],
                format!("no piece of {} begins with {begins}", path.display()),
                "give the pieces of this manifest, whole",
            ));
        };
        if let Some(other) = found[entry].replace(index) {
            return Err(refuse(
                paths[index],
                format!(
                    "this piece is here twice, as {} too",
                    paths[other].display()
                ),
                "give each piece once",
            ));
        }
        expected.push(Expected {
            content: Some(manifest.pieces[entry].content()),
            last: manifest.pieces[entry].last.clone(),
        });
    }
    match found.iter().position(Option::is_none) {
        None => Ok(expected),
        Some(missing) => {
            let piece = &manifest.pieces[missing];
            let names = |name: &Option<String>| name.clone().unwrap_or_default();
            Err(refuse(
                path,
                format!(
                    "the piece {} with the names {} to {} is missing",
                    piece.file.display(),
                    names(&piece.first),
                    names(&piece.last)
                ),
                "give all pieces",
            ))
        }
    }
}

/// The paths of `paths` that are pieces, and the manifest if one of them is one: by its suffix `.pieces`.
///
/// # Errors
/// More than one manifest.
pub fn sort_out(paths: &[PathBuf]) -> Result<(Vec<PathBuf>, Option<PathBuf>), ZoneError> {
    let is_manifest = |path: &&PathBuf| {
        path.extension()
            .is_some_and(|suffix| suffix == crate::tools::manifest::MANIFEST_SUFFIX)
    };
    let (manifests, pieces): (Vec<&PathBuf>, Vec<&PathBuf>) = paths.iter().partition(is_manifest);
    if let [_, second, ..] = manifests[..] {
        return Err(refuse(second, "a second manifest".into(), "give one"));
    }
    let manifest = manifests.first().map(|path| path.to_path_buf());
    Ok((pieces.into_iter().cloned().collect(), manifest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gap(names: &[&str]) -> Option<String> {
        let paths: Vec<&Path> = names.iter().map(Path::new).collect();
        check_file_names(&paths)
            .err()
            .map(|error| error.to_string())
    }

    fn by_numbers(marks: &[Option<usize>], of: usize) -> Option<String> {
        let names: Vec<String> = (0..marks.len()).map(|index| format!("z{index}x")).collect();
        let paths: Vec<&Path> = names.iter().map(Path::new).collect();
        let mark = |number| Marks {
            number,
            of,
            content: Some(Content::default()),
        };
        let marks: Vec<_> = marks.iter().map(|number| number.map(mark)).collect();
        check_numbers(&paths, &marks)
            .err()
            .map(|error| error.to_string())
    }

    #[test]
    fn marks_tell_what_is_missing_though_some_are_lost() {
        assert_eq!(by_numbers(&[Some(1), Some(2), Some(3)], 3), None);
        assert_eq!(by_numbers(&[Some(1), None, Some(3)], 3), None);
        let said = |marks: &[Option<usize>], of| by_numbers(marks, of).unwrap();
        assert!(said(&[Some(1), None], 3).contains("piece 2 of 3 is missing"));
        assert!(said(&[None, Some(2), Some(2)], 3).contains("here twice"));
        assert!(said(&[Some(1), Some(2), None], 2).contains("3 were given"));
    }

    #[test]
    fn numbered_files() {
        assert_eq!(gap(&["z.000", "z.001", "z.002"]), None);
        for good in [
            &["z.1", "z.2"][..],
            &["z.2.signed", "z.1.signed"],
            &["a.zone", "b.zone"],
            &["z.7"],
            &["9/z.1", "9/z.2"],
            &["z.9.signed", "z.10.signed", "z.11.signed"],
            &["z.10", "z.20"],
            &["zone-2024", "zone-2025"],
            &["z.1", "z.50"],
        ] {
            assert_eq!(gap(good), None, "{good:?}");
        }
        let message = gap(&["z.000", "z.002"]).unwrap();
        assert!(message.contains("number 1 is missing"), "{message}");
        assert!(gap(&["z.1", "z.2", "z.4"]).is_some());
        let message = gap(&["z.3", "z.2"]).unwrap();
        assert!(message.contains("number 1 is missing"), "{message}");
    }
}
