//! A validator accepts what the responder says, proofs of denial included.

use super::compare::responder;
use super::questions::NAMES;
use super::signed::{Signing, installed, write_zone};
use dnsrig_answer::{Answers, ServeConfig, Server};
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Names at and below unsigned delegations.
const INSECURE: &[&str] = &["child.", "sibling.", "lame.", "one.del.", "apart.optout."];
/// Names whose answer never ends in the zone, so delv looks further and finds nobody to ask.
const ELSEWHERE: &[&str] = &["away.", "tochild.", "x.gone.", "loop1.", "self.", "signed."];
/// Names that a wildcard answers for.
const WILDCARDS: &[&str] = &["any.wild."];

/// Writes the zone's KSK as a trust anchor for delv.
fn write_anchor(folder: &Path) -> PathBuf {
    let key = fs::read_dir(folder)
        .expect("the folder can be read")
        .filter_map(|entry| fs::read_to_string(entry.ok()?.path()).ok())
        .find_map(|text| {
            text.lines()
                .find(|line| line.contains(" DNSKEY 257 "))
                .map(str::to_owned)
        })
        .expect("dnssec-keygen wrote a KSK");
    let fields: Vec<&str> = key.split_whitespace().collect();
    let anchor = format!(
        "trust-anchors {{ example. static-key {} {} {} \"{}\"; }};\n",
        fields[3],
        fields[4],
        fields[5],
        fields[6..].concat()
    );
    let path = folder.join("anchor");
    fs::write(&path, anchor).expect("the folder is writable");
    path
}

fn delv(anchor: &Path, server: SocketAddr, name: &str, rtype: &str) -> String {
    let output = Command::new("delv")
        .arg(format!("@{}", server.ip()))
        .args(["-p", &server.port().to_string(), "-a"])
        .arg(anchor)
        .args(["+root=example.", "-q", name, "-t", rtype])
        .output()
        .expect("delv starts");
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn validates(signing: Signing) {
    if !installed("delv", "bind9-dnsutils") || !installed("dnssec-signzone", "bind9-dnsutils") {
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let zone = write_zone(folder.path(), signing);
    let anchor = write_anchor(folder.path());
    let config = ServeConfig::new(([127, 0, 0, 1], 0).into());
    let server = Server::start(config, responder(&zone, Answers::Minimal)).expect("it starts");
    let address = server.addresses().dns;
    let wrong = questions()
        .filter_map(|(name, rtype)| {
            complaint(&delv(&anchor, address, name, rtype), name, rtype, signing)
        })
        .collect::<String>();
    assert!(wrong.is_empty(), "delv does not accept:\n{wrong}");
}

fn questions() -> impl Iterator<Item = (&'static str, &'static str)> {
    let in_zone = |name: &&&str| name.to_lowercase().ends_with("example.");
    // The DS RRset of the apex is the parent's, which does not exist here.
    let asked =
        |(name, rtype): &(&str, &str)| *rtype != "DS" || !name.eq_ignore_ascii_case("example.");
    let names = NAMES.iter().filter(in_zone);
    names
        .flat_map(|&name| ["A", "DS"].map(|rtype| (name, rtype)))
        .filter(asked)
}

/// What is wrong with delv's verdict, if anything is.
fn complaint(output: &str, name: &str, rtype: &str, signing: Signing) -> Option<String> {
    let is_in = |list: &[&str]| list.iter().any(|part| name.contains(part));
    let unsigned = output.contains("unsigned answer");
    let good = output.contains("fully validated")
        || is_in(ELSEWHERE)
        || is_in(INSECURE) && (unsigned || output.contains("resolution failed"))
        // Opt-out leaves open whether the name itself exists (RFC 5155 section 12.2), so this is as secure as it gets.
        || is_in(WILDCARDS) && unsigned && signing == Signing::Nsec3OptOut;
    (!good).then(|| format!("{name} {rtype}:\n{output}\n"))
}

#[test]
fn nsec_validates() {
    validates(Signing::Nsec);
}

#[test]
fn nsec3_validates() {
    validates(Signing::Nsec3);
}

#[test]
fn opt_out_validates() {
    validates(Signing::Nsec3OptOut);
}
