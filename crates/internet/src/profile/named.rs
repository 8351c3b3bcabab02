//! Texts of profiles: of those that come with the rig, and of files.

use crate::InternetError;
use std::borrow::Cow;
use std::io;
use std::path::Path;

/// Names and texts of the profiles that come with the rig.
pub const NAMED_PROFILES: [(&str, &str); 2] = [
    (
        "internet-2022",
        include_str!("../../profiles/internet-2022.toml"),
    ),
    ("small", include_str!("../../profiles/small.toml")),
];

/// The text of the profile with this name, or of this file if `name` ends in `.toml`.
///
/// # Errors
/// [`InternetError::UnknownProfile`] and [`InternetError::ReadProfile`].
pub fn profile_text(name: &str) -> Result<Cow<'static, str>, InternetError> {
    if name.ends_with(".toml") {
        let path = Path::new(name);
        let text = read_file(path).map_err(|source| InternetError::ReadProfile {
            path: path.to_path_buf(),
            source,
        })?;
        return Ok(text.into());
    }
    let found = NAMED_PROFILES.iter().find(|(known, _)| *known == name);
    let (_, text) = found.ok_or_else(|| InternetError::UnknownProfile {
        name: name.to_owned(),
        known: NAMED_PROFILES.iter().map(|(name, _)| *name).collect(),
    })?;
    Ok((*text).into())
}

/// The text of a file; others are refused, as nothing ends waiting for who writes to a pipe.
fn read_file(path: &Path) -> io::Result<String> {
    let is_other = std::fs::metadata(path).is_ok_and(|found| !found.is_file());
    match is_other {
        true => Err(io::Error::other(
            "it is no file, but a folder, pipe or device",
        )),
        false => std::fs::read_to_string(path),
    }
}
