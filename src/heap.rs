//! How the heap of the command keeps its memory.
//!
//! What is large lies in arenas; what is left are small pieces of libraries. glibc would give their memory back to the
//! kernel whenever enough of it is free, and fetch it again for the next proof.

/// Lets the heap keep what it has.
pub fn keep() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    for (parameter, value) in [
        // Freed memory at the end of the heap stays.
        (libc::M_TRIM_THRESHOLD, i32::MAX),
        // Pieces up to the largest that glibc allows come from the heap, not from mappings of their own.
        (libc::M_MMAP_THRESHOLD, LARGEST_PIECE),
        // When the heap grows, it grows by this at least.
        (libc::M_TOP_PAD, GROWS_BY),
    ] {
        // SAFETY: no other thread runs yet. A parameter that is refused leaves the heap as it was: slower, not wrong.
        unsafe { libc::mallopt(parameter, value) };
    }
}

/// `HEAP_MAX_SIZE / 2` of glibc on 64-bit machines; it refuses more.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGEST_PIECE: i32 = 32 << 20;

#[cfg(all(target_os = "linux", target_env = "gnu"))]
const GROWS_BY: i32 = 1 << 20;
