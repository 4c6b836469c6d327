//! One mapping.

use std::ptr::NonNull;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use rayon::ThreadPool;

use self::touch::Populated;
use crate::arena::{GiveBack, NOT_ASKED, NOT_RESERVED, RESERVED, Shared};
use crate::{LARGE_PAGE, SMALL_PAGE, WORTHWHILE};

mod touch;

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
            if large { map_large(arena, threads, bytes) } else { (map(arena, bytes, unit), PageSize::Small) }
        });
        arena.mapped(bytes);
        let mut block = Self { start, bytes, pages, registered: false, arena: Arc::clone(arena) };
        if arena.settings.secret && is_new {
            block.advise(DO_NOT_DUMP);
        }
        // Reserved pages were touched when they were mapped.
        if arena.settings.touched && pages != PageSize::Reserved {
            touch::all(arena, threads, (start, bytes));
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
            // A reserved page that is given back belongs to whoever comes first: the next touch of its address may find
            // none, and that is a signal which ends the process.
            _ if self.pages == PageSize::Reserved => None,
            GiveBack::Unmap => None,
            GiveBack::DontNeed => Some(NOT_NEEDED),
            GiveBack::Free => {
                // The kernel takes the pages when it likes, and until then they would hold what was there: secrets, and for
                // the next block no zeros.
                // SAFETY: the range is mapped, and nobody has this block any more.
                unsafe { wipe(self.start.as_ptr(), self.bytes) };
                Some(FREE)
            }
        };
        // What the kernel will not take this way is unmapped.
        let taken = advice.is_some_and(|advice| self.advise(advice));
        let mut ranges = self.arena.ranges.lock().unwrap_or_else(PoisonError::into_inner);
        if taken && ranges.len() < MOST_RANGES {
            ranges.push(range);
        } else {
            drop(ranges);
            self.arena.unmaps.fetch_add(1, Ordering::Relaxed);
            drop(range);
        }
    }
}

/// Ranges that an arena keeps for blocks of the same size. A process has some 65,000 mappings; who asks for ever other sizes
/// must not use them up.
const MOST_RANGES: usize = 1 << 10;

/// Overwrites a range with zeros in a way that the optimiser does not remove.
///
/// # Safety
/// The range must be mapped, and nobody else may use it.
pub(crate) unsafe fn wipe(start: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe { start.write_bytes(0, bytes) };
    std::hint::black_box(start);
}

/// A range of an earlier block of this size, if the arena has one. It is as mapped as it was, large pages and all; its
/// contents are zero.
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

/// On reserved pages if there are some, else on transparent ones, else on small ones.
fn map_large(arena: &Arc<Shared>, threads: Option<&ThreadPool>, bytes: usize) -> (NonNull<u8>, PageSize) {
    let reserved = arena.reserved.load(Ordering::Relaxed);
    if reserved != NOT_RESERVED {
        arena.maps.fetch_add(1, Ordering::Relaxed);
        match map_reserved(bytes).map(|start| (start, touch::reserved(arena, threads, (start, bytes)))) {
            Some((start, Ok(()))) => {
                arena.reserved.store(RESERVED, Ordering::Relaxed);
                return (start, PageSize::Reserved);
            }
            Some((start, Err(touch::Refused))) => {
                arena.unmaps.fetch_add(1, Ordering::Relaxed);
                // SAFETY: it was mapped just now, and nobody has it.
                unsafe { unmap(start.as_ptr(), bytes) };
                arena.reserved.store(NOT_RESERVED, Ordering::Relaxed);
            }
            None if reserved == NOT_ASKED => arena.reserved.store(NOT_RESERVED, Ordering::Relaxed),
            None => {}
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
