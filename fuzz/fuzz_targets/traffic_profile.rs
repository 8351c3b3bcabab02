//! Profiles: any text is refused or describes traffic that can be made, and is written to what is read as the same.
#![no_main]

use dnsrig_traffic::profile::Profile;
use dnsrig_traffic::synthesise::{Format, Packets, Plan, Watch, synthesise};
use libfuzzer_sys::fuzz_target;
use std::path::Path;
use std::sync::atomic::AtomicBool;

fuzz_target!(|text: &str| {
    let Ok(profile) = Profile::parse("fuzz", text) else { return };
    let plan = Plan {
        rate_qps: None,
        duration_s: Some(2.0),
        queries: Some(50),
        start_ns: None,
        seed: 1,
        format: Format::Pcap,
        packets: Packets::Both,
    };
    let watch = Watch { cancel: &AtomicBool::new(false), progress: &|_| {} };
    if let Ok(summary) = synthesise(&profile, &plan, Path::new("/dev/null"), &watch) {
        assert_eq!(summary.queries, 50);
    }
    let statements: Vec<_> = text_keys(&profile).into_iter().map(|key| (key, "assumed: fuzz")).collect();
    let mut again = Profile::parse("fuzz", &profile.to_toml("", &statements)).expect("it was written by dnsrig");
    again.provenance.clone_from(&profile.provenance);
    assert_eq!(again, profile);
});

fn text_keys(profile: &Profile) -> Vec<&'static str> {
    let mut keys = vec!["rate", "clients", "types", "queries", "names", "missing_names", "missing", "transports", "answers"];
    if !profile.opcodes.is_empty() {
        keys.push("opcodes");
    }
    keys
}
