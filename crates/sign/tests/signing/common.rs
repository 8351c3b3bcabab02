//! What the integration tests share: zones, keys and the programs that serve as oracles.

use dnsrig_sign::{Algorithm, KeyPair, Role};
use dnsrig_zone::generate::{SMALL_DOMAIN_RECORDS, small_domain};
use dnsrig_zone::{Name, Zone};
use std::path::Path;
use std::process::{Command, Output};

/// A name from its presentation format.
pub fn name(text: &str) -> Name {
    Name::bytes_from_str(text).unwrap()
}

/// The synthetic zone.
pub fn small_zone() -> Zone {
    small_domain(&name("example.jp."), SMALL_DOMAIN_RECORDS, 11).unwrap()
}

/// The zone with everything that signers have got wrong.
pub fn nasty_zone() -> Zone {
    Zone::parse(include_bytes!("data/nasty.zone"), None).unwrap()
}

/// A key-signing and a zone-signing key, with the sizes that JPRS-2010 had for RSA.
pub fn key_pair(zone: &Zone, algorithm: Algorithm) -> Vec<KeyPair> {
    let bits = |rsa: u32| algorithm.is_rsa().then_some(rsa);
    let ksk = KeyPair::generate(zone.origin(), algorithm, bits(2048), Role::Ksk, &[]).unwrap();
    let mut keys = vec![ksk];
    keys.push(KeyPair::generate(zone.origin(), algorithm, bits(1024), Role::Zsk, &keys).unwrap());
    keys
}

/// Runs `program`; `None` (said on stderr) where it is not installed, unless CI or DNSRIG_ALL_TOOLS says that it has to be.
pub fn run(program: &str, package: &str, arguments: &[&Path], folder: &Path) -> Option<Output> {
    match Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .output()
    {
        Ok(output) => Some(output),
        Err(_) => {
            let missing = format!("{program} is missing; it is in the Debian package {package}");
            let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
            assert!(!is_set("CI") && !is_set("DNSRIG_ALL_TOOLS"), "{missing}");
            eprintln!("skipped: {missing}");
            None
        }
    }
}

/// Everything that a program said.
pub fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}
