//! The keys of a folder.

use crate::common::{file, name, new_key};
use dnsrig_sign::{Algorithm, KeyDirectory, KeyPair, KeyTags, Role};
use std::fs;

#[test]
fn keys_of_a_zone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let mut expected = Vec::new();
    for (algorithm, role) in [
        (Algorithm::Ed25519, Role::Zsk),
        (Algorithm::EcdsaP256Sha256, Role::Ksk),
        (Algorithm::RsaSha256, Role::Zsk),
    ] {
        let key = new_key("Example.", algorithm, role);
        key.write(path).unwrap();
        expected.push((algorithm.number(), key.tag()));
    }
    expected.sort();
    for other in ["example.com.", "sub.example.", "."] {
        new_key(other, Algorithm::Ed25519, Role::Zsk)
            .write(path)
            .unwrap();
    }
    fs::write(path.join("Kexample.+015+00001.state"), "").unwrap();
    fs::write(path.join("Kexample.+015+1.key"), "").unwrap();
    let found = KeyDirectory::read(path, &name("eXample.")).unwrap();
    let keys = |found: &KeyDirectory| -> Vec<(u8, u16)> {
        let of = |key: &KeyPair| (key.algorithm().number(), key.tag());
        found.keys.iter().map(of).collect()
    };
    assert_eq!(keys(&found), expected);
    assert!(found.public_only.is_empty());
    assert_eq!(KeyDirectory::read(path, &name(".")).unwrap().keys.len(), 1);
    assert!(
        KeyDirectory::read(path, &name("none."))
            .unwrap()
            .keys
            .is_empty()
    );
    // A private key that is elsewhere.
    let offline = &found.keys[0];
    fs::remove_file(file(&path.join(offline.file_stem()), "private")).unwrap();
    let found = KeyDirectory::read(path, &name("example.")).unwrap();
    assert_eq!(keys(&found), expected[1..]);
    assert_eq!(found.public_only, [offline.public().clone()]);
}

#[test]
fn damaged_pairs_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let stem = new_key("example.", Algorithm::Ed25519, Role::Zsk)
        .write(path)
        .unwrap();
    let message = || {
        KeyDirectory::read(path, &name("example."))
            .unwrap_err()
            .to_string()
    };
    let public = fs::read_to_string(file(&stem, "key")).unwrap();
    fs::write(file(&stem, "key"), public.replace("\nexample.", "\nother.")).unwrap();
    assert!(
        message().contains(".key:5: the key is for other."),
        "{}",
        message()
    );
    fs::remove_file(file(&stem, "key")).unwrap();
    assert!(message().contains(".key: this file is missing, while "));
    assert!(KeyTags::in_directory(path, &name("example.")).is_err());
    let missing = KeyDirectory::read(&path.join("none"), &name("example."));
    assert!(
        missing
            .unwrap_err()
            .to_string()
            .contains("none: cannot read the folder of keys")
    );
}

#[test]
fn tags_in_a_folder_are_taken() {
    let folder = tempfile::tempdir().unwrap();
    let first = new_key("example.", Algorithm::Ed25519, Role::Zsk);
    let stem = first.write(folder.path()).unwrap();
    let second = new_key("example.", Algorithm::RsaSha256, Role::Ksk);
    // The private key may be elsewhere, and the algorithm unknown here.
    fs::remove_file(file(&stem, "private")).unwrap();
    let text = fs::read_to_string(file(&stem, "key")).unwrap();
    let unknown = folder.path().join("Kexample.+017+00001.key");
    fs::write(unknown, text.replace("3 15 ", "3 17 ")).unwrap();
    let tags = KeyTags::in_directory(folder.path(), &name("example.")).unwrap();
    assert!(tags.collide_with(first.public()));
    assert!(
        !KeyTags::in_directory(folder.path(), &name("example.com."))
            .unwrap()
            .collide_with(first.public())
    );
    let free = KeyTags::of([&second]);
    assert!(free.collide_with(second.public()));
    let revoked = first.into_revoked();
    assert!(tags.collide_with(revoked.public()));
}
