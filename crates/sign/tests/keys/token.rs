//! Keys in a token of SoftHSM, each test in a process of its own: SoftHSM takes its configuration from the environment
//! when it is loaded.

use crate::common::{file, name, run};
use dnsrig_sign::{
    Algorithm, Denial, KeyPair, KeyTags, Pkcs11Uri, Role, SignError, SigningParameters, sign,
};
use dnsrig_zone::Zone;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const ZONE: &str = "$TTL 60\nexample. SOA ns.example. h.example. 1 60 60 60 60\n NS ns.example.\nns.example. A 192.0.2.1\n\
    a.example. A 192.0.2.2\nb.example. A 192.0.2.3\n";
const PIN: &str = "48151623";
/// Where the token's folder is, in the inner process.
const FOLDER: &str = "DNSRIG_TEST_TOKEN_FOLDER";
const IN_TOKENS: [(Algorithm, Option<u32>); 6] = [
    (Algorithm::RsaSha1Nsec3Sha1, Some(1024)),
    (Algorithm::RsaSha256, Some(1024)),
    (Algorithm::RsaSha512, Some(2048)),
    (Algorithm::EcdsaP256Sha256, None),
    (Algorithm::EcdsaP384Sha384, None),
    (Algorithm::Ed25519, None),
];

/// Runs the ignored test `inner` with a new token; `None` where SoftHSM is missing.
fn with_token(inner: &str) -> Option<()> {
    let folder = tempfile::tempdir().unwrap();
    let tokens = folder.path().join("tokens");
    fs::create_dir(&tokens).unwrap();
    let configuration = folder.path().join("softhsm2.conf");
    let text = format!(
        "directories.tokendir = {}\nobjectstore.backend = file\n",
        tokens.display()
    );
    fs::write(&configuration, text).unwrap();
    fs::write(folder.path().join("pin"), format!("{PIN}\n")).unwrap();
    run("softhsm2-util", "softhsm2", &["--version"], folder.path())?;
    for label in ["rig", "other"] {
        let made = Command::new("softhsm2-util")
            .args(["--init-token", "--free", "--label", label])
            .args(["--so-pin", "12345678", "--pin", PIN])
            .env("SOFTHSM2_CONF", &configuration)
            .output()
            .unwrap();
        assert!(made.status.success());
    }
    let done = Command::new(std::env::current_exe().unwrap())
        .args([
            "--ignored",
            "--exact",
            "--nocapture",
            &format!("token::{inner}"),
        ])
        .env("SOFTHSM2_CONF", &configuration)
        .env("PKCS11_MODULE_PATH", module())
        .env(FOLDER, folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    let errors = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(
        done.status.success() && said.contains("1 passed"),
        "{said}{errors}"
    );
    assert!(!said.contains(PIN) && !errors.contains(PIN));
    Some(())
}

fn module() -> PathBuf {
    let places = [
        "/usr/lib/softhsm/libsofthsm2.so",
        "/usr/local/lib/softhsm/libsofthsm2.so",
    ];
    let found = places.iter().map(PathBuf::from).find(|path| path.exists());
    found.unwrap_or_else(|| "libsofthsm2.so".into())
}

/// The folder of the outer test; `None` when the inner test was called by itself.
fn folder() -> Option<PathBuf> {
    std::env::var_os(FOLDER).map(PathBuf::from)
}

fn uri(folder: &Path, object: &str) -> Pkcs11Uri {
    let pin = folder.join("pin");
    Pkcs11Uri::parse(&format!(
        "pkcs11:token=rig;object={object}?pin-source={}",
        pin.display()
    ))
    .unwrap()
}

fn generate(
    folder: &Path,
    object: &str,
    algorithm: Algorithm,
    bits: Option<u32>,
    role: Role,
) -> KeyPair {
    let uri = uri(folder, object);
    KeyPair::generate_in_token(
        &uri,
        &name("example."),
        algorithm,
        bits,
        role,
        &KeyTags::default(),
    )
    .unwrap()
}

/// Signs the zone with `keys`, and lets dnssec-verify check it.
fn sign_and_verify(keys: &[KeyPair], folder: &Path) {
    // Opening such a key has tested it; zones are not signed with them unless asked for.
    if keys.iter().any(|key| key.algorithm().is_sha1()) {
        return;
    }
    let zone = Zone::parse(ZONE.as_bytes(), None).unwrap();
    let mut parameters = SigningParameters::new(Denial::Nsec);
    parameters.threads = 4.try_into().unwrap();
    let signed = sign(&zone, keys, &parameters).unwrap();
    let path = folder.join("signed");
    signed.write(&path).unwrap();
    let arguments = ["-q", "-z", "-o", "example.", "signed"];
    if let Some(checked) = run("dnssec-verify", "bind9-utils", &arguments, folder) {
        let said = String::from_utf8_lossy(&checked.stderr);
        assert!(checked.status.success(), "{said}");
    }
}

#[test]
fn keys_of_every_kind_sign() {
    with_token("inner_every_kind");
}

#[test]
#[ignore = "called by keys_of_every_kind_sign with a token"]
fn inner_every_kind() {
    let Some(folder) = folder() else { return };
    for (algorithm, bits) in IN_TOKENS {
        let object = algorithm.name();
        let key = generate(&folder, object, algorithm, bits, Role::Ksk);
        let stem = key.write(&folder).unwrap();
        let mut read = KeyPair::read(&stem).unwrap();
        assert_eq!(read.dnskey(0), key.dnskey(0));
        let is_ecdsa = !algorithm.is_rsa() && algorithm != Algorithm::Ed25519;
        assert_eq!(read.make_deterministic().is_err(), is_ecdsa);
        sign_and_verify(&[read], &folder);
        let listed = KeyPair::from_token(
            &uri(&folder, object),
            &name("example."),
            Some(algorithm),
            Role::Ksk,
            &KeyTags::default(),
        );
        assert_eq!(listed.unwrap().dnskey(0), key.dnskey(0));
        // The key of a .key file is checked even if the token has it.
        let public = file(&stem, "key");
        let text = fs::read_to_string(&public).unwrap();
        let other = generate(
            &folder,
            &format!("{object}-other"),
            algorithm,
            bits,
            Role::Ksk,
        );
        let other = other.write(&folder).unwrap();
        fs::copy(file(&other, "key"), &public).unwrap();
        let error = KeyPair::read(&stem).unwrap_err().to_string();
        assert!(
            error.contains("does not belong to the DNSKEY record"),
            "{error}"
        );
        fs::write(&public, text).unwrap();
    }
}

#[test]
fn what_is_wrong_with_tokens_is_said() {
    with_token("inner_faults");
}

#[test]
#[ignore = "called by what_is_wrong_with_tokens_is_said with a token"]
fn inner_faults() {
    let Some(folder) = folder() else { return };
    let algorithm = Algorithm::EcdsaP256Sha256;
    generate(&folder, "one", algorithm, None, Role::Zsk);
    generate(&folder, "two", algorithm, None, Role::Zsk);
    let pin = format!("pin-source={}/pin", folder.display());
    let find = |text: &str, algorithm: Algorithm| {
        let uri = Pkcs11Uri::parse(text).unwrap();
        let tags = KeyTags::default();
        KeyPair::from_token(&uri, &name("example."), Some(algorithm), Role::Zsk, &tags)
            .unwrap_err()
            .to_string()
    };
    for (text, expected) in [
        (
            format!("pkcs11:token=rig;object=three?{pin}"),
            "has no such private key",
        ),
        (format!("pkcs11:token=rig?{pin}"), "2 private keys match"),
        (
            format!("pkcs11:token=rigs?{pin}"),
            "no token matches; there are: ",
        ),
        (format!("pkcs11:object=one?{pin}"), "several tokens match"),
        (
            "pkcs11:token=rig;object=one?pin-value=99990000".into(),
            "the PIN is wrong",
        ),
        (
            "pkcs11:token=rig;object=one?module-path=/none.so".into(),
            "/none.so cannot be used",
        ),
        (
            "pkcs11:token=rig;object=one?pin-source=/none".into(),
            "/none: cannot read the PIN",
        ),
    ] {
        let message = find(&text, algorithm);
        assert!(message.contains(expected), "{message}");
        assert!(!message.contains("99990000"), "{message}");
    }
    let message = find(
        &format!("pkcs11:token=rig;object=one?{pin}"),
        Algorithm::Ed25519,
    );
    assert!(message.contains("not one for ED25519"), "{message}");
    let again = KeyPair::generate_in_token(
        &uri(&folder, "one"),
        &name("example."),
        algorithm,
        None,
        Role::Zsk,
        &KeyTags::default(),
    );
    assert!(
        again
            .unwrap_err()
            .to_string()
            .contains("a key of this name already")
    );
}

#[test]
fn files_that_name_a_token() {
    with_token("inner_files");
}

#[test]
#[ignore = "called by files_that_name_a_token with a token"]
fn inner_files() {
    let Some(folder) = folder() else { return };
    let key = generate(
        &folder,
        "plain",
        Algorithm::EcdsaP256Sha256,
        None,
        Role::Ksk,
    );
    let stem = key.write(&folder).unwrap();
    let private = file(&stem, "private");
    let written = fs::read_to_string(&private).unwrap();
    assert!(
        written.contains("\nEngine: cGtjczExAA==\nLabel: cGtjczExOn"),
        "{written}"
    );
    // Without base64, without engine, with the module.
    let text = format!(
        "Private-key-format: v1.3\nAlgorithm: 13 (ECDSAP256SHA256)\n\
         Label: pkcs11:token=rig;object=plain?module-path={}&pin-value={PIN}\n",
        module().display()
    );
    fs::write(&private, &text).unwrap();
    sign_and_verify(&[KeyPair::read(&stem).unwrap()], &folder);
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(&private, fs::Permissions::from_mode(0o666)).unwrap();
    let error = KeyPair::read(&stem).unwrap_err();
    assert!(
        matches!(error, SignError::UntrustedModule { .. }),
        "{error}"
    );
    fs::write(
        &private,
        text.replace("Algorithm", "Engine: AAAA\nAlgorithm"),
    )
    .unwrap();
    let error = KeyPair::read(&stem).unwrap_err().to_string();
    assert!(
        error.contains(".private:2: the engine is not pkcs11"),
        "{error}"
    );
    fs::write(&private, text.replace("token=", "tokn=")).unwrap();
    let error = KeyPair::read(&stem).unwrap_err().to_string();
    assert!(
        error.contains(".private:3: the PKCS#11 URI is wrong: the attribute tokn"),
        "{error}"
    );
    assert!(!error.contains(PIN));
}

#[test]
fn tokens_without_public_keys() {
    with_token("inner_without_public_keys");
}

#[test]
#[ignore = "called by tokens_without_public_keys with a token"]
fn inner_without_public_keys() {
    let Some(folder) = folder() else { return };
    for (algorithm, bits) in IN_TOKENS {
        let object = algorithm.name();
        let key = generate(&folder, object, algorithm, bits, Role::Ksk);
        let stem = key.write(&folder).unwrap();
        remove_public_objects(object);
        sign_and_verify(&[KeyPair::read(&stem).unwrap()], &folder);
        if algorithm.is_rsa() {
            // The private object has the public key, too.
            continue;
        }
        let other = KeyPair::generate(&name("example."), algorithm, None, Role::Ksk, &[]).unwrap();
        let other = other.write(&folder).unwrap();
        fs::copy(file(&other, "key"), file(&stem, "key")).unwrap();
        let error = KeyPair::read(&stem).unwrap_err().to_string();
        assert!(
            error.contains("does not belong to the public key"),
            "{error}"
        );
        let tags = KeyTags::default();
        let uri = uri(&folder, object);
        let listed = KeyPair::from_token(&uri, &name("example."), None, Role::Ksk, &tags);
        assert!(
            listed
                .unwrap_err()
                .to_string()
                .contains("does not have the public key")
        );
    }
}

fn remove_public_objects(label: &str) {
    use cryptoki::object::{Attribute, ObjectClass};
    use cryptoki::session::UserType;
    // Initialised by the keys above.
    let module = cryptoki::context::Pkcs11::new(module()).unwrap();
    let is_rig =
        |slot: &cryptoki::slot::Slot| module.get_token_info(*slot).unwrap().label() == "rig";
    let slots = module.get_slots_with_initialized_token().unwrap();
    let session = module
        .open_rw_session(slots.into_iter().find(is_rig).unwrap())
        .unwrap();
    let _ = session.login(UserType::User, Some(&PIN.to_owned().into()));
    let wanted = [
        Attribute::Class(ObjectClass::PUBLIC_KEY),
        Attribute::Label(label.into()),
    ];
    for object in session.find_objects(&wanted).unwrap() {
        session.destroy_object(object).unwrap();
    }
}
