//! Profiles: any text is a profile, or refused with a reason, without a panic; of what passes the check an Internet can be made.
#![no_main]

use dnsrig_internet::{Internet, InternetOptions, Profile};
use libfuzzer_sys::fuzz_target;

/// With more, making an Internet takes too long to try many.
const TLDS_MAX: u32 = 50;

fuzz_target!(|text: &str| {
    let Ok(mut profile) = Profile::parse("fuzz", text) else {
        return;
    };
    profile.other_tlds.count = profile.other_tlds.count.min(TLDS_MAX);
    profile.hosting.other_operators = profile.hosting.other_operators.min(TLDS_MAX);
    if let Ok(internet) = Internet::new(&profile, InternetOptions::new(1, 1_669_900_000)) {
        let _ = internet.root_hints();
    }
});
