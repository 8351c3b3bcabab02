//! Memory of large tables: fetched before it is needed, and in large pages.

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

/// The size of a large page of x86-64, and the usual one of ARM64.
const LARGE_PAGE: usize = 2 << 20;

/// A table of `len` values that `make` makes. A table of several megabytes is put into large pages where the system has them: what is looked up
/// at random would wait for the translation of addresses otherwise.
pub fn table<T>(make: impl FnMut() -> T, len: usize) -> Vec<T> {
    let mut table: Vec<T> = Vec::with_capacity(len);
    let octets = len * size_of::<T>();
    if octets >= 2 * LARGE_PAGE {
        let start = (table.as_ptr() as usize).next_multiple_of(LARGE_PAGE);
        let whole = (table.as_ptr() as usize + octets - start) / LARGE_PAGE * LARGE_PAGE;
        // SAFETY: the range lies within the table's own memory, of which the advice changes nothing but how it is mapped. Where it is
        // not taken, nothing is lost.
        unsafe { libc::madvise(start as *mut libc::c_void, whole, libc::MADV_HUGEPAGE) };
    }
    table.resize_with(len, make);
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_any_size_are_filled() {
        for len in [0, 1, 1000, 700_000, 3_000_001] {
            let table = table(|| 7_u64, len);
            assert_eq!(table.len(), len);
            assert!(table.iter().all(|value| *value == 7));
            prefetch(&table, len / 2);
            prefetch(&table, len);
        }
    }
}
