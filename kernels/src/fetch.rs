//! Requests to the memory for what will be wanted, so that nothing waits for it then.
//!
//! Any address may be asked for: a request fills a cache, and does nothing where there is no memory. On other machines than
//! x86-64 these functions do nothing.

/// Bytes that come at once.
pub(crate) const LINE: usize = 64;

/// Asks for the line at `at`, wanted within some hundred instructions: into the first-level cache.
#[inline(always)]
pub(crate) fn near<T>(at: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch of any address is allowed; it only fills caches.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(at.cast());
    }
}

/// Asks for the line at `at`, wanted after some microseconds: into the second-level cache.
#[inline(always)]
pub(crate) fn far<T>(at: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch of any address is allowed; it only fills caches.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T1>(at.cast());
    }
}

/// Asks for every line of a value by `request`, which is [`near`] or [`far`]. Values begin at a multiple of half a line.
#[inline(always)]
pub(crate) fn all<T>(at: *const T, request: impl Fn(*const i8)) {
    for offset in (0..size_of::<T>()).step_by(LINE) {
        request(at.cast::<i8>().wrapping_add(offset));
    }
}
