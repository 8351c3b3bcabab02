//! The test zone, unsigned and signed by dnssec-signzone.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How the test zone is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signing {
    Unsigned,
    Nsec,
    Nsec3,
    Nsec3OptOut,
}

pub const ORIGIN: &str = "example.";
const ZONE: &str = include_str!("../data/example.zone");

/// Whether a program is installed; says what to install if not.
pub fn installed(program: &str, package: &str) -> bool {
    let found = ["/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"]
        .iter()
        .any(|folder| Path::new(folder).join(program).exists());
    if !found {
        eprintln!("skipped: {program} is not installed (Debian package {package})");
    }
    found
}

/// Writes the test zone to `folder`, signed as wanted, and returns its path.
pub fn write_zone(folder: &Path, signing: Signing) -> PathBuf {
    let plain = folder.join("example.zone");
    fs::write(&plain, ZONE).expect("the folder is writable");
    if signing == Signing::Unsigned {
        return plain;
    }
    for flags in [&["-f", "KSK"][..], &[]] {
        let mut keygen = Command::new("dnssec-keygen");
        keygen
            .current_dir(folder)
            .args(["-a", "ECDSAP256SHA256"])
            .args(flags)
            .arg(ORIGIN);
        run(&mut keygen);
    }
    let signed = folder.join("example.zone.signed");
    let mut signzone = Command::new("dnssec-signzone");
    signzone
        .current_dir(folder)
        .args(["-S", "-P", "-O", "full", "-o", ORIGIN, "-f"])
        .arg(&signed);
    match signing {
        Signing::Nsec3 => signzone.args(["-3", "aabbccdd", "-H", "5"]),
        Signing::Nsec3OptOut => signzone.args(["-3", "-", "-H", "0", "-A"]),
        Signing::Nsec | Signing::Unsigned => &mut signzone,
    };
    run(signzone.arg(&plain));
    signed
}

fn run(command: &mut Command) {
    let output = command.output().expect("the program starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} failed:\n{stderr}");
}
