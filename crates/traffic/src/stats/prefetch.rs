//! Fetching memory into the cache before it is needed.

/// Fetches the element at `place` of `table` into the cache, if the processor can be told so; changes nothing else.
#[inline]
pub fn prefetch<T>(table: &[T], place: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(element) = table.get(place) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the instruction is part of every x86-64, and the element is there; nothing is read or written.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(element).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (table, place);
}
