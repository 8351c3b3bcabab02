//! What these tests share.

use dnsrig_sign::{Algorithm, KeyPair, KeyTags, Role};
use dnsrig_zone::Name;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A name from its presentation format.
pub fn name(text: &str) -> Name {
    Name::bytes_from_str(text).unwrap()
}

/// A small key; RSA where the algorithm is RSA's.
pub fn new_key(zone: &str, algorithm: Algorithm, role: Role) -> KeyPair {
    let bits = algorithm.is_rsa().then_some(1024);
    KeyPair::generate_apart(&name(zone), algorithm, bits, role, &KeyTags::default()).unwrap()
}

/// A file of the pair at `stem`.
pub fn file(stem: &Path, suffix: &str) -> PathBuf {
    let name = stem.file_name().unwrap().to_str().unwrap();
    stem.with_file_name(format!("{name}.{suffix}"))
}

/// Runs `program` in `folder`; `None` (said on stderr) where it is not installed.
pub fn run<Argument: AsRef<std::ffi::OsStr>>(
    program: &str,
    package: &str,
    arguments: &[Argument],
    folder: &Path,
) -> Option<Output> {
    match Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .output()
    {
        Ok(output) => Some(output),
        Err(_) => {
            eprintln!("skipped: {program} is missing; it is in the Debian package {package}");
            None
        }
    }
}

/// What a program printed; fails if it failed.
pub fn printed(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{errors}");
    text
}
