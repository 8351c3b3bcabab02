use super::*;
use proptest::prelude::*;

#[test]
fn attributes() {
    let uri = Pkcs11Uri::parse(
        "pkcs11:token=My%20token;object=k%2Fs;id=%01a%ff;slot-id=7;type=private?module-path=/m.so&pin-value=12%2034",
    )
    .unwrap();
    assert_eq!(uri.token.as_deref(), Some("My token"));
    assert_eq!(uri.object.as_deref(), Some("k/s"));
    assert_eq!(uri.id.as_deref(), Some(&[1, b'a', 0xFF][..]));
    assert_eq!(uri.slot_id, Some(7));
    assert_eq!(uri.module(), PathBuf::from("/m.so"));
    let Pin::Value(pin) = &uri.pin else { panic!() };
    assert_eq!(pin.as_str(), "12 34");
    assert!(!uri.to_string().contains("12%2034") && !format!("{uri:?}").contains("12%2034"));
    assert!(uri.to_string().ends_with("?module-path=/m.so"));
}

#[test]
fn shown_without_pin() {
    for (text, expected) in [
        ("pkcs11:", "pkcs11:"),
        ("pkcs11:pin-value=7;object=a", "pkcs11:object=a"),
        (
            "pkcs11:object=a;pin-value=7?module-path=/m",
            "pkcs11:object=a?module-path=/m",
        ),
        ("pkcs11:?pin-value=7", "pkcs11:"),
        ("pkcs11:a=b?pin-value=7&c=d", "pkcs11:a=b?c=d"),
    ] {
        assert_eq!(without_pin(text), expected);
    }
}

#[test]
fn pin_files() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pin");
    std::fs::write(&file, "1234\n").unwrap();
    for prefix in [
        "?pin-source=",
        "?pin-source=file:",
        "?pin-source=file://",
        "object=a;pin-source=",
    ] {
        let text = format!("pkcs11:{prefix}{}", file.display());
        let uri = Pkcs11Uri::parse(&text).unwrap();
        assert!(uri.pin().unwrap().is_some());
    }
    let text = format!("pkcs11:?pin-source={}x", file.display());
    let error = Pkcs11Uri::parse(&text).unwrap().pin().unwrap_err();
    assert!(error.to_string().contains("pinx: cannot read the PIN"));
}

#[test]
fn an_identifier_is_added() {
    for (text, expected) in [
        ("pkcs11:object=a", "pkcs11:object=a;id=%01%FF"),
        (
            "pkcs11:object=a?pin-value=1",
            "pkcs11:object=a;id=%01%FF?pin-value=1",
        ),
        ("pkcs11:?pin-value=1", "pkcs11:id=%01%FF?pin-value=1"),
        ("pkcs11:id=%02", "pkcs11:id=%02"),
    ] {
        let uri = Pkcs11Uri::parse(text).unwrap().with_id(&[1, 0xFF]).unwrap();
        assert_eq!(uri.secret_text(), expected);
    }
}

#[test]
fn what_is_wrong_is_said_without_the_pin() {
    for (text, expected) in [
        ("token=a", "does not begin with pkcs11:"),
        ("pkcs11:tokn=a", "the attribute tokn is not known"),
        (
            "pkcs11:token=a;token=b",
            "the attribute token is there twice",
        ),
        ("pkcs11:token=%4", "percent sign"),
        ("pkcs11:token=%ff", "token is not UTF-8"),
        ("pkcs11:slot-id=x", "slot-id is not a number"),
        ("pkcs11:type=cert", "not that of a key pair"),
        (
            "pkcs11:?pin-value=7777&pin-source=/p",
            "both pin-value and pin-source",
        ),
        ("pkcs11:?pin-value=7777%", "percent sign"),
        ("pkcs11:?pin-value=%ff7777", "the PIN is not text"),
        ("pkcs11:?pinvalue7777", "an attribute has no value"),
        ("pkcs11:?7777=1", "the attribute (no name) is not known"),
        ("pkcs11:?pin-source=|7777", "a program"),
    ] {
        let message = Pkcs11Uri::parse(text).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
        assert!(!message.contains("7777"), "{message}");
    }
}

proptest! {
    #[test]
    fn any_text(text in "(pkcs11:)?[ -~é]{0,80}") {
        let _ = Pkcs11Uri::parse(&text);
    }

    #[test]
    fn octets_round_trip(octets in proptest::collection::vec(any::<u8>(), 0..20)) {
        let uri = Pkcs11Uri::default().with_text("pkcs11:").with_id(&octets).unwrap();
        prop_assert_eq!(uri.id, Some(octets));
    }
}

impl Pkcs11Uri {
    fn with_text(mut self, text: &str) -> Self {
        self.text = Zeroizing::new(text.to_owned());
        self
    }
}
