//! Writing zone files: complete or not at all.

use dnsrig_zone::{ReadZone, Zone, ZoneError};
use domain::base::iana::Rtype;
use std::fs;
use std::os::unix::fs::PermissionsExt;

fn zone() -> Zone {
    let text = b"-.example. 5 IN A 192.0.2.1\nexample. 5 SOA . . 1 2 3 4 5\n A 192.0.2.2\n MX 1 \\;.example.\n";
    Zone::parse(text, None).unwrap()
}

#[test]
fn one_record_a_line_soa_first() {
    let mut text = Vec::new();
    zone().write_to(&mut text).unwrap();
    assert_eq!(
        String::from_utf8(text).unwrap(),
        "example. 5 IN SOA . . 1 2 3 4 5\n\
         example. 5 IN A 192.0.2.2\n\
         example. 5 IN MX 1 \\;.example.\n\
         -.example. 5 IN A 192.0.2.1\n"
    );
}

#[test]
fn replaces_a_file_and_keeps_its_permissions() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("zone");
    fs::write(&path, "old").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    zone().write(&path).unwrap();
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o640
    );
    let read = Zone::read(&path, None).unwrap();
    assert!(
        read.records()
            .iter()
            .any(|record| record.rtype == Rtype::MX)
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn leaves_nothing_behind_on_error() {
    let folder = tempfile::tempdir().unwrap();
    let taken = folder.path().join("taken");
    fs::create_dir(&taken).unwrap();
    let missing = folder.path().join("missing/zone");
    for path in [&taken, &missing] {
        let error = zone().write(path).unwrap_err();
        assert!(matches!(error, ZoneError::Write { .. }));
        assert!(
            error
                .to_string()
                .starts_with(&format!("{}: cannot write", path.display()))
        );
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn signature_times_are_written_as_dates() {
    // NSD takes 1797896063 for a date with month 89.
    let text = "$ORIGIN z.test.\n@ 60 SOA ns host 1 2 3 4 5\n@ 60 NS ns\nns 60 A 192.0.2.1\n\
        ns 60 RRSIG A 8 3 60 1797896063 1795300463 20200 z.test. AQID\n";
    let zone = ReadZone::from_text(text.as_bytes(), None).unwrap().zone;
    let mut written = Vec::new();
    zone.write_to(&mut written).unwrap();
    let written = String::from_utf8(written).unwrap();
    let expected =
        "ns.z.test. 60 IN RRSIG A 8 3 60 20261221233423 20261121223423 20200 z.test. AQID";
    assert!(written.lines().any(|line| line == expected), "{written}");
    let again = ReadZone::from_text(written.as_bytes(), None).unwrap().zone;
    assert_eq!(again.records(), zone.records());
}
