//! No `.private` file makes the reader panic.

use crate::common::name;
use dnsrig_sign::{Algorithm, KeyPair, Role, check_private_text};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use std::sync::LazyLock;

/// The text of a good key file of each kind.
static TEXTS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let texts = Algorithm::ALL.into_iter().map(|algorithm| {
        let bits = algorithm.is_rsa().then_some(1024);
        let key = KeyPair::generate(&name("example."), algorithm, bits, Role::Zsk, &[]).unwrap();
        key.write(folder.path()).unwrap();
        std::fs::read(folder.path().join(key.file_stem() + ".private")).unwrap()
    });
    texts.collect()
});

proptest! {
    #[test]
    fn any_lines(lines in vec((select(vec!["Private-key-format", "Algorithm", "Modulus", "PublicExponent", "Prime1", "PrivateKey", "Created"]),
            select(vec!["v1.3", "8", "13", "15 (ED25519)", "AQ==", "AAAA", "\u{0}", "20240231999999", ""])), 0..12)) {
        let text: String = lines.iter().map(|(field, value)| format!("{field}: {value}\n")).collect();
        let _ = check_private_text(text.as_bytes());
    }

    #[test]
    fn any_octets(text in vec(any::<u8>(), 0..300)) {
        prop_assert!(check_private_text(&text).is_err());
    }

    #[test]
    fn damaged_files(which in 0..5usize, at in any::<prop::sample::Index>(), octet in any::<u8>(), cut in any::<bool>()) {
        let mut text = TEXTS[which].clone();
        prop_assert!(check_private_text(&text).is_ok());
        let at = at.index(text.len());
        text[at] = octet;
        if cut {
            text.truncate(at);
        }
        if let Err((line, what)) = check_private_text(&text) {
            prop_assert!(line >= 1 && !what.is_empty());
        }
    }
}
