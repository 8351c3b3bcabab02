//! BIND's named-compilezone reads the same records as this crate.

use dnsrig_zone::generate::{SMALL_DOMAIN_RECORDS, small_domain};
use dnsrig_zone::{Name, Zone};
use std::path::Path;
use std::process::Command;

/// `path` as named-compilezone reads it with `integrity` checks; `None` (said on stderr) where it is not installed.
fn compiled(origin: &str, path: &Path, integrity: &str) -> Option<Zone> {
    let target = path.with_extension("compiled");
    let result = Command::new("named-compilezone")
        .args(["-i", integrity, "-k", "ignore", "-s", "full", "-o"])
        .args([&target, Path::new(origin), path])
        .output();
    let output = match result {
        Ok(output) => output,
        Err(_) => {
            eprintln!(
                "skipped: named-compilezone is missing; it is in the Debian package bind9-utils"
            );
            return None;
        }
    };
    let said = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let text = std::fs::read(target).unwrap();
    Some(Zone::parse(&text, None).unwrap())
}

#[test]
fn synthetic_zone() {
    for origin in ["example.jp", "example", "isp.example", "test", "."] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("zone");
        let name = Name::bytes_from_str(origin).unwrap();
        let zone = small_domain(&name, 10 * SMALL_DOMAIN_RECORDS, 5).unwrap();
        zone.write(&path).unwrap();
        // Local: names in the zone that records refer to must be there.
        if let Some(compiled) = compiled(origin, &path, "local") {
            assert_eq!(compiled.records(), zone.records());
        }
    }
}

#[test]
fn many_types_and_escapes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("zone");
    std::fs::write(&path, include_str!("../data/many-types.zone")).unwrap();
    let zone = Zone::read(&path, None).unwrap();
    let written = folder.path().join("written");
    zone.write(&written).unwrap();
    for path in [&path, &written] {
        if let Some(compiled) = compiled("example.com", path, "none") {
            assert_eq!(compiled.records(), zone.records());
        }
    }
}
