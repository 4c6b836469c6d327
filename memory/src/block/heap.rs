//! Miri maps nothing: the heap stands in, so that it sees who uses what after its end.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};

use super::{Arc, LARGE_PAGE, NonNull, Ordering, Populated, Shared};

pub(super) const DO_NOT_DUMP: i32 = 0;
pub(super) const WANTS_LARGE_PAGES: i32 = 0;
pub(super) const NOT_NEEDED: i32 = 0;
pub(super) const FREE: i32 = 0;

fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes, LARGE_PAGE).expect("a block below half the address space")
}

pub(super) fn map(arena: &Arc<Shared>, bytes: usize, _: usize) -> NonNull<u8> {
    arena.maps.fetch_add(1, Ordering::Relaxed);
    // SAFETY: blocks are not empty.
    let start = unsafe { alloc_zeroed(layout(bytes)) };
    NonNull::new(start).unwrap_or_else(|| handle_alloc_error(layout(bytes)))
}

pub(super) fn map_reserved(_: usize) -> Option<NonNull<u8>> {
    None
}

/// # Safety
/// The range must be what [`map`] gave, and nobody may use it any more.
pub(super) unsafe fn unmap(start: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe { dealloc(start, layout(bytes)) };
}

/// Nothing is taken back, so that blocks are unmapped.
pub(super) fn advise(_: *mut u8, _: usize, _: i32) -> bool {
    false
}

pub(super) fn populate(_: *mut u8, _: usize) -> Populated {
    Populated::Done
}
