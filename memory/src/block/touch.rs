//! Making the kernel give pages before they are used.

use std::ptr::NonNull;
use std::sync::atomic::Ordering;

use rayon::ThreadPool;
use rayon::prelude::*;

use super::{Shared, populate};
use crate::SMALL_PAGE;

/// Bytes that one task touches.
pub(super) const TOUCHED_PER_TASK: usize = 8 << 20;

/// What came of asking the kernel for all pages of a range at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Populated {
    Done,
    /// The kernel is older than 5.14.
    Unknown,
    /// There is no page for some address: to touch it may end the process.
    Refused,
}

/// Pages that the kernel will not give.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Refused;

/// Makes the kernel give every page of a range now, for writing. The threads do it together, or those of the rayon pool that
/// the caller is in, so that the pages come to the memory of the processors that will use them.
pub(super) fn all(arena: &Shared, threads: Option<&ThreadPool>, range: (NonNull<u8>, usize)) {
    let touched = pieces(arena, threads, range, |start, bytes| {
        if populate(start, bytes) != Populated::Done {
            // What is not to be had at once is had page by page, or nobody has memory any more.
            // SAFETY: the piece is mapped, nobody else has it yet, and it is zero.
            unsafe { write_each_page(start, bytes) };
        }
        Ok(())
    });
    debug_assert_eq!(touched, Ok(()), "nothing is refused");
}

/// [`all`] for reserved pages. That they could be mapped says that the machine has them; a control group (`hugetlb`) may still
/// refuse them, page by page, with a signal that ends the process.
pub(super) fn reserved(
    arena: &Shared,
    threads: Option<&ThreadPool>,
    range: (NonNull<u8>, usize),
) -> Result<(), Refused> {
    pieces(arena, threads, range, |start, bytes| match populate(start, bytes) {
        Populated::Done => Ok(()),
        Populated::Refused => Err(Refused),
        Populated::Unknown => {
            // SAFETY: as above.
            unsafe { write_each_page(start, bytes) };
            Ok(())
        }
    })
}

/// Where a mapping begins; threads pass it on to touch its pieces.
struct Start(NonNull<u8>);

// SAFETY: it gives addresses only; what is done through them is for who does it to prove.
unsafe impl Sync for Start {}

impl Start {
    /// # Safety
    /// So many bytes behind it are in its mapping.
    unsafe fn add(&self, bytes: usize) -> *mut u8 {
        // SAFETY: the caller's promise.
        unsafe { self.0.as_ptr().add(bytes) }
    }
}

fn pieces(
    arena: &Shared,
    threads: Option<&ThreadPool>,
    (start, bytes): (NonNull<u8>, usize),
    touch: impl Fn(*mut u8, usize) -> Result<(), Refused> + Sync,
) -> Result<(), Refused> {
    let start = Start(start);
    let touch = |piece: usize| {
        arena.advices.fetch_add(1, Ordering::Relaxed);
        let at = piece * TOUCHED_PER_TASK;
        // SAFETY: the piece begins before the end of the range.
        touch(unsafe { start.add(at) }, TOUCHED_PER_TASK.min(bytes - at))
    };
    let count = bytes.div_ceil(TOUCHED_PER_TASK);
    let together = || (0..count).into_par_iter().try_for_each(touch);
    match threads {
        Some(threads) => threads.install(together),
        None if rayon::current_thread_index().is_some() => together(),
        None => (0..count).try_for_each(touch),
    }
}

/// Writes a zero to each page.
///
/// # Safety
/// The range must be mapped, nobody else may use it, and its first byte of each page must be zero or nobody's.
pub(super) unsafe fn write_each_page(start: *mut u8, bytes: usize) {
    for page in (0..bytes).step_by(SMALL_PAGE) {
        // SAFETY: inside the range.
        unsafe { start.add(page).write_volatile(0) };
    }
}
