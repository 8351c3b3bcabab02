//! A zone of any text goes through all tools without panic; what was split and joined, or sorted, is the same zone.

#![no_main]

use dnsrig_zone::flow::Opening;
use dnsrig_zone::pool::Pool;
use dnsrig_zone::tools::{self, Comparing, Cutting};
use libfuzzer_sys::fuzz_target;
use std::cell::OnceCell;
use std::fs;
use std::num::NonZeroUsize;

thread_local! {
    static POOL: OnceCell<Pool> = const { OnceCell::new() };
}

fuzz_target!(|text: &[u8]| {
    let Some((&pieces, text)) = text.split_first() else {
        return;
    };
    // Other files are not the target's matter.
    if text.windows(8).any(|part| part.eq_ignore_ascii_case(b"$include")) {
        return;
    }
    POOL.with(|pool| {
        let pool = pool.get_or_init(|| Pool::new(NonZeroUsize::new(2).expect("two")).expect("threads"));
        try_all(text, 1 + usize::from(pieces) % 8, pool);
    });
});

fn try_all(text: &[u8], pieces: usize, pool: &Pool) {
    let folder = tempfile::tempdir_in("/dev/shm").expect("a folder in memory");
    let at = |name: &str| folder.path().join(name);
    let (zone, sorted, joined) = (at("zone"), at("sorted"), at("joined"));
    fs::write(&zone, text).expect("room");
    let opening = Opening {
        memory: text.len(),
        ..Opening::new(&zone, None)
    };
    let is_zone = tools::sort(&opening, pool, &sorted).is_ok();
    let checked = tools::check(&opening, pool, 10);
    assert!(checked.is_ok() || !is_zone);
    if !is_zone {
        return;
    }
    let same = tools::compare(
        opening.clone(),
        Opening::new(&sorted, None),
        pool,
        &Comparing::default(),
    )
    .expect("what was sorted is a zone");
    assert_eq!((same.removed(), same.added()), (0, 0));
    let survey = tools::survey(&opening, pool).expect("a zone");
    assert_eq!(survey.counts.records as u64, same.same);
    if let Ok(split) = tools::split(&opening, pool, &Cutting::Pieces(pieces), &at("piece")) {
        let paths = split.manifest.files(&split.manifest_path);
        let openings = paths.iter().map(|path| Opening::new(path, None)).collect();
        let manifest = Some((&*split.manifest_path, &split.manifest));
        // Chains that are broken in the zone itself are refused.
        if tools::join(openings, pool, manifest, &joined).is_ok() {
            let whole = fs::read(&sorted).expect("sorted");
            assert_eq!(fs::read(&joined).expect("joined"), whole);
        }
    }
}
