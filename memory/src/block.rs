//! One mapping.

use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rayon::ThreadPool;
use rayon::prelude::*;

use crate::arena::{NOT_ASKED, NOT_RESERVED, RESERVED, Shared};
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

/// A range of memory, mapped for itself; unmapped when it is dropped.
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
        let (start, pages) = if large { map_large(arena, bytes) } else { (map(arena, bytes, unit), PageSize::Small) };
        arena.mapped(bytes);
        let mut block = Self { start, bytes, pages, registered: false, arena: Arc::clone(arena) };
        if arena.settings.secret {
            block.advise(DO_NOT_DUMP);
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
        if populate(start, bytes) {
            return;
        }
        // A kernel before 5.14.
        for page in (0..bytes).step_by(SMALL_PAGE) {
            // SAFETY: inside the piece, which nobody else has yet and which is zero as it came.
            unsafe { start.add(page).write_volatile(0) };
        }
    }

    fn advise(&self, advice: i32) {
        self.arena.advices.fetch_add(1, Ordering::Relaxed);
        advise(self.start.as_ptr(), self.bytes, advice);
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if let Some(registrar) = self.arena.settings.registrar.as_ref().filter(|_| self.registered) {
            registrar.unregister(self.as_ptr(), self.bytes);
        }
        self.arena.unmaps.fetch_add(1, Ordering::Relaxed);
        self.arena.unmapped(self.bytes);
        // SAFETY: the range is the block's own, and nobody has it any more.
        unsafe { unmap(self.start.as_ptr(), self.bytes) };
    }
}

impl std::fmt::Debug for Block {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Block({} bytes, {:?})", self.bytes, self.pages)
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

use system::{DO_NOT_DUMP, WANTS_LARGE_PAGES, advise, map, map_reserved, populate, unmap};

#[cfg(test)]
mod tests;
