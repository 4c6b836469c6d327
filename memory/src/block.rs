//! One mapping.

use std::ptr::NonNull;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use rayon::ThreadPool;
use rayon::prelude::*;

use crate::arena::{GiveBack, NOT_ASKED, NOT_RESERVED, RESERVED, Shared};
use crate::{LARGE_PAGE, SMALL_PAGE, WORTHWHILE};

/// Bytes that one task touches.
const TOUCHED_PER_TASK: usize = 8 << 20;

/// The pages of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PageSize {
    /// 2 MiB, reserved by the machine's owner (`vm.nr_hugepages`).
    Reserved,
    /// 2 MiB where the kernel finds some.
    Transparent,
    /// The kernel's smallest.
    Small,
}

/// A mapped range that is no block's; unmapped when it is dropped.
pub(crate) struct Range {
    start: NonNull<u8>,
    bytes: usize,
    pages: PageSize,
}

// SAFETY: it owns its range, whose contents nobody uses.
unsafe impl Send for Range {}

impl Drop for Range {
    fn drop(&mut self) {
        // SAFETY: the range is its own, and nobody has it any more.
        unsafe { unmap(self.start.as_ptr(), self.bytes) };
    }
}

/// A range of memory, mapped for itself; given back to the kernel when it is dropped, as the arena's settings say.
pub struct Block {
    start: NonNull<u8>,
    bytes: usize,
    pages: PageSize,
    registered: bool,
    arena: Arc<Shared>,
}

// SAFETY: it owns its range, as a boxed slice does; what is done through the pointer is its user's to prove.
unsafe impl Send for Block {}
// SAFETY: shared access gives the address only.
unsafe impl Sync for Block {}

impl Block {
    pub(crate) fn map(arena: &Arc<Shared>, threads: Option<&ThreadPool>, bytes: usize) -> Self {
        let large = arena.settings.large_pages && bytes >= WORTHWHILE;
        let unit = if large { LARGE_PAGE } else { SMALL_PAGE };
        let whole = bytes.max(1).checked_next_multiple_of(unit);
        let Some(bytes) = whole.filter(|whole| *whole <= isize::MAX as usize) else {
            panic!("a block of {bytes} bytes is above half the address space")
        };
        let again = range_of(arena, bytes, large);
        let is_new = again.is_none();
        let (start, pages) = again.unwrap_or_else(|| {
            if large { map_large(arena, bytes) } else { (map(arena, bytes, unit), PageSize::Small) }
        });
        arena.mapped(bytes);
        let mut block = Self { start, bytes, pages, registered: false, arena: Arc::clone(arena) };
        if arena.settings.secret && is_new {
            block.advise(DO_NOT_DUMP);
        }
        if !is_new && arena.settings.give_back == GiveBack::Free {
            // SAFETY: the range is mapped, and this block's alone.
            unsafe { block.start.as_ptr().write_bytes(0, bytes) };
        }
        if arena.settings.touched {
            match threads {
                Some(threads) => threads.install(|| block.touch()),
                None => block.touch(),
            }
        }
        if let Some(registrar) = &arena.settings.registrar {
            block.registered = registrar.register(block.as_ptr(), bytes).is_ok();
        }
        block
    }

    /// Its first byte.
    #[must_use]
    pub fn as_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// Its length, a multiple of a page; at least what was asked for.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// What it lies on.
    #[must_use]
    pub fn pages(&self) -> PageSize {
        self.pages
    }

    /// Makes the kernel give every page now, for writing. In parallel where the caller is in a rayon pool, so that the
    /// pages come to the memory of the processors that will use them.
    fn touch(&self) {
        let pieces = self.bytes.div_ceil(TOUCHED_PER_TASK);
        let touch = |piece: usize| {
            let at = piece * TOUCHED_PER_TASK;
            self.touch_piece(at, TOUCHED_PER_TASK.min(self.bytes - at));
        };
        if rayon::current_thread_index().is_some() {
            (0..pieces).into_par_iter().for_each(touch);
        } else {
            (0..pieces).for_each(touch);
        }
    }

    fn touch_piece(&self, at: usize, bytes: usize) {
        self.arena.advices.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the piece lies in the block.
        let start = unsafe { self.start.as_ptr().add(at) };
        if !populate(start, bytes) {
            // A kernel before 5.14.
            // SAFETY: the piece is mapped, nobody else has it yet, and it is zero.
            unsafe { write_each_page(start, bytes) };
        }
    }

    /// Whether the kernel took the advice.
    fn advise(&self, advice: i32) -> bool {
        self.arena.advices.fetch_add(1, Ordering::Relaxed);
        advise(self.start.as_ptr(), self.bytes, advice)
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if let Some(registrar) = self.arena.settings.registrar.as_ref().filter(|_| self.registered) {
            registrar.unregister(self.as_ptr(), self.bytes);
        }
        self.arena.unmapped(self.bytes);
        let range = Range { start: self.start, bytes: self.bytes, pages: self.pages };
        let advice = match self.arena.settings.give_back {
            GiveBack::Unmap => None,
            GiveBack::DontNeed => Some(NOT_NEEDED),
            GiveBack::Free => Some(FREE),
        };
        // What the kernel will not take this way (reserved pages are never freed late) is unmapped.
        if advice.is_some_and(|advice| self.advise(advice)) {
            self.arena.ranges.lock().unwrap_or_else(PoisonError::into_inner).push(range);
        } else {
            self.arena.unmaps.fetch_add(1, Ordering::Relaxed);
            drop(range);
        }
    }
}

/// A range of an earlier block of this size, if the arena has one. It is as mapped as it was, large pages and all; its
/// contents are zero, or after [`GiveBack::Free`] perhaps what they were.
fn range_of(arena: &Arc<Shared>, bytes: usize, large: bool) -> Option<(NonNull<u8>, PageSize)> {
    if arena.settings.give_back == GiveBack::Unmap {
        return None;
    }
    let mut ranges = arena.ranges.lock().unwrap_or_else(PoisonError::into_inner);
    // Large blocks are multiples of large pages, but small ones may be too.
    let aligned = |range: &Range| !large || (range.start.as_ptr() as usize).is_multiple_of(LARGE_PAGE);
    let at = ranges.iter().position(|range| range.bytes == bytes && aligned(range))?;
    let range = std::mem::ManuallyDrop::new(ranges.swap_remove(at));
    Some((range.start, range.pages))
}

impl std::fmt::Debug for Block {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Block({} bytes, {:?})", self.bytes, self.pages)
    }
}

/// Writes a zero to each page.
///
/// # Safety
/// The range must be mapped, nobody else may use it, and its first byte of each page must be zero or nobody's.
unsafe fn write_each_page(start: *mut u8, bytes: usize) {
    for page in (0..bytes).step_by(SMALL_PAGE) {
        // SAFETY: inside the range.
        unsafe { start.add(page).write_volatile(0) };
    }
}

/// On reserved pages if there are some, else on transparent ones, else on small ones.
fn map_large(arena: &Arc<Shared>, bytes: usize) -> (NonNull<u8>, PageSize) {
    let reserved = arena.reserved.load(Ordering::Relaxed);
    if reserved != NOT_RESERVED {
        arena.maps.fetch_add(1, Ordering::Relaxed);
        if let Some(start) = map_reserved(bytes) {
            arena.reserved.store(RESERVED, Ordering::Relaxed);
            return (start, PageSize::Reserved);
        }
        if reserved == NOT_ASKED {
            arena.reserved.store(NOT_RESERVED, Ordering::Relaxed);
        }
    }
    let start = map(arena, bytes, LARGE_PAGE);
    match arena.pages() {
        PageSize::Small => {
            arena.warn("no 2 MiB pages are reserved and transparent ones are switched off");
            (start, PageSize::Small)
        }
        pages => {
            arena.advices.fetch_add(1, Ordering::Relaxed);
            advise(start.as_ptr(), bytes, WANTS_LARGE_PAGES);
            (start, pages)
        }
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
#[path = "block/linux.rs"]
mod system;
#[cfg(not(all(target_os = "linux", not(miri))))]
#[path = "block/heap.rs"]
mod system;

use system::{DO_NOT_DUMP, FREE, NOT_NEEDED, WANTS_LARGE_PAGES, advise, map, map_reserved, populate, unmap};

#[cfg(test)]
mod tests;
