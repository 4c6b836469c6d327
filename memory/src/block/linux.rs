//! What a block asks of Linux.

use super::{Arc, LARGE_PAGE, NonNull, Ordering, Populated, SMALL_PAGE, Shared};

pub(super) const DO_NOT_DUMP: i32 = libc::MADV_DONTDUMP;
pub(super) const WANTS_LARGE_PAGES: i32 = libc::MADV_HUGEPAGE;
pub(super) const NOT_NEEDED: i32 = libc::MADV_DONTNEED;
pub(super) const FREE: i32 = libc::MADV_FREE;
/// Of Linux 5.14; `libc` knows it by this number.
const POPULATE_WRITE: i32 = 23;

fn anonymous(bytes: usize, flags: i32) -> Option<NonNull<u8>> {
    let (read_write, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | flags);
    // SAFETY: an anonymous mapping at an address of the kernel's choice touches nothing that is there.
    let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, read_write, flags, -1, 0) };
    if start == libc::MAP_FAILED { None } else { NonNull::new(start.cast()) }
}

/// A mapping that starts at a multiple of `align`, which is a power of two and at least a page.
pub(super) fn map(arena: &Arc<Shared>, bytes: usize, align: usize) -> NonNull<u8> {
    arena.maps.fetch_add(1, Ordering::Relaxed);
    // Neither end of a mapping is aligned to more than a page: what is too much at both is given back at once.
    let spare = if align > SMALL_PAGE { align } else { 0 };
    let Some(start) = anonymous(bytes + spare, 0) else {
        panic!("the kernel gives no memory for {bytes} bytes: {}", std::io::Error::last_os_error())
    };
    let before = start.as_ptr().align_offset(align);
    for (at, length) in [(0, before), (before + bytes, spare - before.min(spare))] {
        if length > 0 {
            arena.unmaps.fetch_add(1, Ordering::Relaxed);
            // SAFETY: both ends lie in the mapping that was just made, outside of what is handed out.
            unsafe { unmap(start.as_ptr().add(at), length) };
        }
    }
    // SAFETY: `before` is at most `spare`, so this is inside the mapping.
    unsafe { start.add(before) }
}

/// On pages that the machine's owner reserved; nothing if there are not enough.
pub(super) fn map_reserved(bytes: usize) -> Option<NonNull<u8>> {
    debug_assert_eq!(bytes % LARGE_PAGE, 0);
    anonymous(bytes, libc::MAP_HUGETLB | libc::MAP_HUGE_2MB)
}

/// # Safety
/// The range must be mapped, and nobody may use it any more.
pub(super) unsafe fn unmap(start: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise.
    let done = unsafe { libc::munmap(start.cast(), bytes) };
    debug_assert_eq!(done, 0, "a mapping of our own can be unmapped");
}

/// Whether the kernel took it. Advice about dumps and large pages changes no contents, and its failure (an old kernel,
/// large pages switched off) no behaviour; [`NOT_NEEDED`] and [`FREE`] are for ranges whose contents nobody needs.
pub(super) fn advise(start: *mut u8, bytes: usize, advice: i32) -> bool {
    // SAFETY: the range is a mapping of our own, whose contents stay or are nobody's.
    unsafe { libc::madvise(start.cast(), bytes, advice) == 0 }
}

/// Faults the pages in, and leaves their contents as they are.
pub(super) fn populate(start: *mut u8, bytes: usize) -> Populated {
    // SAFETY: contents stay.
    if unsafe { libc::madvise(start.cast(), bytes, POPULATE_WRITE) } == 0 {
        return Populated::Done;
    }
    match std::io::Error::last_os_error().raw_os_error() {
        Some(libc::EINVAL) => Populated::Unknown,
        _ => Populated::Refused,
    }
}
