//! What key files say, and what is said of damaged ones.

use crate::common::{file, name, new_key};
use dnsrig_sign::{Algorithm, Dnskey, KeyPair, KeyTiming, Role, TimingEvent};
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};

fn written(folder: &Path, timing: &[(TimingEvent, u64)], ttl_s: Option<u32>) -> (KeyPair, PathBuf) {
    let mut times = KeyTiming::default();
    for &(event, time_s) in timing {
        times.set(event, Some(time_s));
    }
    let key = new_key("example.", Algorithm::Ed25519, Role::Ksk)
        .with_timing(times)
        .with_ttl(ttl_s);
    let stem = key.write(folder).unwrap();
    (key, stem)
}

proptest! {
    #[test]
    fn times_round_trip(times_s in proptest::array::uniform9(proptest::option::of(0..4_294_967_296_u64)), ttl_s in proptest::option::of(0..=0x7FFF_FFFF_u32)) {
        let folder = tempfile::tempdir().unwrap();
        let timing: Vec<_> = TimingEvent::ALL
            .into_iter()
            .zip(times_s)
            .filter_map(|(event, time_s)| Some((event, time_s?)))
            .collect();
        let (key, stem) = written(folder.path(), &timing, ttl_s);
        let read = KeyPair::read(&stem).unwrap();
        prop_assert_eq!(read.timing(), key.timing());
        prop_assert_eq!(read.public(), key.public());
        // The comments of the .key file say the same.
        let private = file(&stem, "private");
        let text = fs::read_to_string(&private).unwrap();
        let without: String = text.lines().take(3).map(|line| format!("{line}\r\n")).collect();
        fs::write(&private, without).unwrap();
        let read = KeyPair::read(&stem).unwrap();
        prop_assert_eq!(read.timing(), key.timing());
    }
}

proptest! {
    #[test]
    fn any_public_file(text in proptest::collection::vec(any::<u8>(), 0..200), good in any::<bool>()) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("Kexample.+015+00001.key");
        let record: &[u8] = if good { b"\nexample. IN DNSKEY 257 3 15 AAAA" } else { b"" };
        fs::write(&file, [&text, record].concat()).unwrap();
        let _ = Dnskey::read(&file);
    }
}

#[test]
fn a_key_out_of_its_time_is_named_with_the_line() {
    let folder = tempfile::tempdir().unwrap();
    let times = [
        (TimingEvent::Created, 1),
        (TimingEvent::Activate, 1_000),
        (TimingEvent::Inactive, 2_000),
    ];
    let (key, stem) = written(folder.path(), &times, None);
    let read = KeyPair::read(&stem).unwrap();
    assert!(read.check_active(1_500).is_ok());
    let message = read.check_active(2_000).unwrap_err().to_string();
    assert!(
        message.contains(".private:6: the key does not sign at 19700101003320: its time Inactive is 19700101003320; "),
        "{message}"
    );
    let message = read.check_active(999).unwrap_err().to_string();
    assert!(message.contains(".private:5: "), "{message}");
    // One that was never in a file is named, too.
    let message = key.check_active(2_000).unwrap_err().to_string();
    assert!(
        message.starts_with(&format!("the key {}: ", key.file_stem())),
        "{message}"
    );
}

#[test]
fn a_key_of_another_zone_is_named_with_the_line() {
    let folder = tempfile::tempdir().unwrap();
    let (key, stem) = written(folder.path(), &[(TimingEvent::Created, 1)], None);
    let read = KeyPair::read(&stem).unwrap();
    assert!(read.check_owner(&name("EXAMPLE.")).is_ok());
    let message = read.check_owner(&name("other.")).unwrap_err().to_string();
    assert!(
        message.contains(".key:3: the key is for example., not for the zone other."),
        "{message}"
    );
    assert!(key.check_owner(&name("other.")).is_err());
}

#[test]
fn revoking_changes_flag_and_tag() {
    let folder = tempfile::tempdir().unwrap();
    let (key, _) = written(folder.path(), &[], None);
    let revoked_tag = key.public().revoked_tag();
    let revoked = key.into_revoked();
    assert_eq!((revoked.flags(), revoked.tag()), (257 | 128, revoked_tag));
    let stem = revoked.write(folder.path()).unwrap();
    assert_eq!(KeyPair::read(&stem).unwrap().public(), revoked.public());
    let text = fs::read_to_string(file(&stem, "key")).unwrap();
    assert!(
        text.starts_with("; This is a revoked key-signing key, keyid "),
        "{text}"
    );
}

#[test]
fn damaged_files() {
    let folder = tempfile::tempdir().unwrap();
    let (_, stem) = written(folder.path(), &[(TimingEvent::Created, 1)], Some(60));
    let (private, public) = (file(&stem, "private"), file(&stem, "key"));
    let good = (fs::read(&private).unwrap(), fs::read(&public).unwrap());
    let text = String::from_utf8(good.0.clone()).unwrap();
    let record = String::from_utf8(good.1.clone()).unwrap();
    let refused = |private_content: &[u8], public_content: &[u8], expected: &str| {
        fs::write(&private, private_content).unwrap();
        fs::write(&public, public_content).unwrap();
        let message = KeyPair::read(&stem).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
        assert!(message.contains(';'), "{message}");
    };
    let time = text.replace("Created: 1970", "Created: 19x0");
    refused(
        time.as_bytes(),
        &good.1,
        ".private:4: Created is not a time",
    );
    let twice = format!("{text}Created: 19700101000000\n");
    refused(
        twice.as_bytes(),
        &good.1,
        ".private:5: the line Created is there twice",
    );
    let other_octets = [&good.0[..], b"X: \xFF\n"].concat();
    refused(
        &other_octets,
        &good.1,
        ".private:5: this is not a text file",
    );
    refused(&vec![b'a'; 70_000], &good.1, "at most 65536 are read");
    refused(&good.0, &vec![b' '; 70_000], "at most 65536 are read");
    refused(
        b"\0\0\0\0",
        &good.1,
        ".private:1: the line Private-key-format is missing",
    );
    let protocol = record.replace("257 3 15", "257 2 15");
    refused(
        &good.0,
        protocol.as_bytes(),
        ".key:3: the protocol of the DNSKEY is not 3",
    );
    let flag = record.replace("257 3 15", "1 3 15");
    refused(
        &good.0,
        flag.as_bytes(),
        ".key:3: the DNSKEY has not the zone key flag",
    );
    let algorithm = record.replace("257 3 15", "257 3 13");
    refused(
        &good.0,
        algorithm.as_bytes(),
        ".private:2: this private key does not belong",
    );
    // CRLF and NUL octets in other lines do no harm.
    let harmless = text.replace('\n', "\r\n") + "Comment: \0\r\n";
    fs::write(&private, harmless).unwrap();
    fs::write(&public, record.replace('\n', "\r\n")).unwrap();
    assert_eq!(KeyPair::read(&stem).unwrap().ttl_s(), Some(60));
    fs::remove_file(&private).unwrap();
    let message = KeyPair::read(&stem).unwrap_err().to_string();
    assert!(
        message.contains(".private: this file is missing, while "),
        "{message}"
    );
    assert!(Dnskey::read(&stem).is_ok());
}

#[test]
fn nothing_is_left_where_writing_fails() {
    let folder = tempfile::tempdir().unwrap();
    let key = new_key("example.", Algorithm::Ed25519, Role::Zsk);
    let public = folder.path().join(format!("{}.key", key.file_stem()));
    fs::write(&public, "in the way").unwrap();
    let message = key.write(folder.path()).unwrap_err().to_string();
    assert!(message.contains("never overwritten"), "{message}");
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1);
    assert!(key.write(&folder.path().join("missing")).is_err());
}
