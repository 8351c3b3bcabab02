//! Whether all pieces are there and whole, as far as the files themselves and a manifest tell.

use super::refuse;
use crate::error::ZoneError;
use crate::flow::Head;
use crate::text::shown_name;
use crate::tools::manifest::Manifest;
use crate::tools::marks::{self, Marks};
use std::path::{Path, PathBuf};

/// What is expected of a piece.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Expected {
    /// Owner names below the apex.
    pub names: Option<u64>,
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
    for (index, path) in paths.iter().enumerate() {
        if paths[..index].contains(path) {
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
            names: None,
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
    let all: Option<Vec<Marks>> = found.iter().copied().collect();
    match all {
        _ if has_manifest => {}
        Some(all) => check_numbers(paths, &all)?,
        None => check_file_names(paths)?,
    }
    Ok(found)
}

/// Refuses marked pieces that are not each of a set once.
fn check_numbers(paths: &[&Path], marks: &[Marks]) -> Result<(), ZoneError> {
    let Some(first) = marks.first() else {
        return Ok(());
    };
    for (index, mark) in marks.iter().enumerate() {
        if mark.of != first.of {
            return Err(refuse(
                paths[index],
                format!(
                    "this is one of {} pieces, but {} is one of {}",
                    mark.of,
                    paths[0].display(),
                    first.of
                ),
                "give the pieces of one splitting",
            ));
        }
        let same = marks[..index]
            .iter()
            .position(|other| other.number == mark.number);
        if let Some(same) = same {
            return Err(refuse(
                paths[index],
                format!(
                    "piece {} of {} is here twice, as {} too",
                    mark.number,
                    mark.of,
                    paths[same].display()
                ),
                "give each piece once",
            ));
        }
    }
    let is_missing = |number: &usize| !marks.iter().any(|mark| mark.number == *number);
    match (1..=first.of).find(is_missing) {
        None => Ok(()),
        Some(number) => Err(refuse(
            paths[0],
            format!("piece {number} of {} is missing", first.of),
            "give all pieces",
        )),
    }
}

/// Refuses pieces whose file names are numbered, but not from 0 or 1 on without a gap.
fn check_file_names(paths: &[&Path]) -> Result<(), ZoneError> {
    let Some(mut numbers) = file_numbers(paths) else {
        return Ok(());
    };
    numbers.sort_unstable();
    numbers.dedup();
    let lowest = numbers[0];
    let gap = match lowest > 1 {
        true => Some(lowest - 1),
        false => (lowest..)
            .zip(&numbers)
            .find(|(wanted, found)| wanted != *found)
            .map(|(wanted, _)| wanted),
    };
    match gap {
        None => Ok(()),
        Some(number) => Err(refuse(
            paths[0],
            format!("by the file names, the piece with number {number} is missing"),
            "give all pieces, or rename them if there never was one",
        )),
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
        names: mark.and_then(|mark| mark.names),
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
    let same = |a: &Option<String>, b: &Option<String>| match (a, b) {
        (Some(a), Some(b)) => a.eq_ignore_ascii_case(b),
        (None, None) => true,
        _ => false,
    };
    let mut found: Vec<Option<usize>> = vec![None; manifest.pieces.len()];
    let mut expected = Vec::with_capacity(paths.len());
    for (index, head) in heads.iter().enumerate() {
        let first = head.first.as_deref().map(shown_name);
        let entry = manifest
            .pieces
            .iter()
            .position(|piece| same(&piece.first, &first));
        let Some(entry) = entry else {
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
            names: Some(manifest.pieces[entry].names),
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

    #[test]
    fn numbered_files() {
        assert_eq!(gap(&["z.000", "z.001", "z.002"]), None);
        assert!(gap(&["z.9.signed", "z.10.signed", "z.11.signed"]).is_some());
        for good in [
            &["z.1", "z.2"][..],
            &["z.2.signed", "z.1.signed"],
            &["a.zone", "b.zone"],
            &["z.7"],
            &["9/z.1", "9/z.2"],
        ] {
            assert_eq!(gap(good), None, "{good:?}");
        }
        let message = gap(&["z.000", "z.002"]).unwrap();
        assert!(message.contains("number 1 is missing"), "{message}");
        let message = gap(&["z.3", "z.2"]).unwrap();
        assert!(message.contains("number 1 is missing"), "{message}");
    }
}
