//! Memory for values, not yet initialised: what arrays are made of.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::lender::Room;
use crate::{Arena, Block, HEAP_BELOW};

/// Every array starts on a cache line.
pub(crate) const LINE: usize = 64;

/// Memory for a number of values; on the heap where they are few and no secrets.
pub(crate) struct Raw<T: Copy> {
    start: NonNull<T>,
    len: usize,
    from: From,
}

enum From {
    Nowhere,
    Heap(Layout),
    Mapped(Block),
    /// Of somebody's arrays, which stay as long as this does; so many bytes.
    Lent(#[expect(dead_code, reason = "it keeps the arrays")] Arc<Room>, usize),
}

// SAFETY: it owns its memory, as a boxed slice does.
unsafe impl<T: Copy + Send> Send for Raw<T> {}
// SAFETY: shared access gives shared slices only.
unsafe impl<T: Copy + Sync> Sync for Raw<T> {}

impl<T: Copy> Raw<T> {
    /// Uninitialised memory for `len` values.
    pub(crate) fn reserve(arena: &Arena, len: usize) -> Self {
        // A Vec of this length would panic in the same way.
        let layout = Layout::array::<T>(len).expect("an array above half the address space");
        if layout.size() == 0 {
            return Self { start: NonNull::dangling(), len, from: From::Nowhere };
        }
        if let Some((start, room)) = arena.lent(layout) {
            return Self { start: start.cast(), len, from: From::Lent(room, layout.size()) };
        }
        // The heap is no place for secrets: it is in core dumps, and what is freed there stays as it was.
        if layout.size() >= HEAP_BELOW || arena.keeps_secrets() {
            let block = arena.map(layout.size());
            // A block starts on a page, which is more than any value asks for.
            let start = NonNull::new(block.as_ptr().cast()).unwrap_or_else(|| handle_alloc_error(layout));
            return Self { start, len, from: From::Mapped(block) };
        }
        let layout = layout.align_to(LINE).unwrap_or(layout);
        // SAFETY: the layout's size is not zero.
        let memory = unsafe { alloc(layout) };
        let Some(start) = NonNull::new(memory.cast()) else { handle_alloc_error(layout) };
        Self { start, len, from: From::Heap(layout) }
    }

    /// Room for so many values.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The memory that is taken, in bytes: with whole pages where it is mapped.
    pub(crate) fn bytes(&self) -> usize {
        match &self.from {
            From::Nowhere => 0,
            From::Heap(layout) => layout.size(),
            From::Mapped(block) => block.bytes(),
            From::Lent(_, bytes) => *bytes,
        }
    }

    pub(crate) fn start(&self) -> NonNull<T> {
        self.start
    }

    pub(crate) fn as_ptr(&self) -> *mut T {
        self.start.as_ptr()
    }

    /// The memory as it is before initialisation.
    pub(crate) fn uninitialised(&mut self) -> &mut [MaybeUninit<T>] {
        // SAFETY: there is room for `len` values, and MaybeUninit needs no initialisation.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().cast(), self.len) }
    }
}

impl<T: Copy> Drop for Raw<T> {
    fn drop(&mut self) {
        if let From::Heap(layout) = self.from {
            // SAFETY: allocated in `reserve` with this layout; T is Copy, so values need no drop.
            unsafe { dealloc(self.start.as_ptr().cast(), layout) };
        }
    }
}
