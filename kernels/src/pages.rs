//! Large arrays on large pages.
//!
//! Bucket summation reads bases in random order: with 4 KiB pages nearly every read of a big query misses the translation
//! buffers. Arrays of some size are aligned to 2 MiB and the kernel is asked for huge pages; where it has none, nothing
//! but speed is lost.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use rayon::prelude::*;

/// Size of a large page on x86-64 and AArch64.
const LARGE_PAGE: usize = 2 << 20;
/// Every array starts on a cache line.
const LINE: usize = 64;
/// Arrays below this size would waste more of a large page than they gain.
const WORTHWHILE: usize = LARGE_PAGE / 2;
/// Entries that one parallel task fills.
const ENTRIES_PER_TASK: usize = 1 << 10;

/// A fixed-size array of plain values.
pub(crate) struct Pages<T: Copy> {
    start: NonNull<T>,
    len: usize,
    layout: Layout,
}

// SAFETY: it owns its values, as a boxed slice does.
unsafe impl<T: Copy + Send> Send for Pages<T> {}
// SAFETY: shared access gives shared slices only.
unsafe impl<T: Copy + Sync> Sync for Pages<T> {}

impl<T: Copy> Pages<T> {
    /// Uninitialised memory for `len` values, as a pair of the owner and its layout.
    fn reserve(len: usize) -> Self {
        // A Vec of this length would panic in the same way.
        let plain = Layout::array::<T>(len).expect("an array above half the address space");
        if plain.size() == 0 {
            return Self { start: NonNull::dangling(), len, layout: plain };
        }
        let plain = plain.align_to(LINE).unwrap_or(plain);
        let large = plain.align_to(LARGE_PAGE).map(|layout| layout.pad_to_align());
        let layout = if plain.size() < WORTHWHILE { plain } else { large.unwrap_or(plain) };
        // SAFETY: the layout's size is not zero.
        let memory = unsafe { alloc(layout) };
        let Some(start) = NonNull::new(memory.cast()) else { handle_alloc_error(layout) };
        // Miri knows no advice.
        #[cfg(all(target_os = "linux", not(miri)))]
        if layout.align() == LARGE_PAGE {
            // SAFETY: the range is exactly the allocation. The advice changes no contents, and its failure (an old
            // kernel, huge pages switched off) no behaviour.
            unsafe { libc::madvise(memory.cast(), layout.size(), libc::MADV_HUGEPAGE) };
        }
        Self { start, len, layout }
    }

    /// The memory as it is before initialisation.
    fn uninitialised(&mut self) -> &mut [MaybeUninit<T>] {
        // SAFETY: the allocation has room for `len` values, and MaybeUninit needs no initialisation.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().cast(), self.len) }
    }

    /// `len` copies of a value.
    pub(crate) fn filled(len: usize, value: T) -> Self {
        let mut pages = Self::reserve(len);
        for entry in pages.uninitialised() {
            entry.write(value);
        }
        pages
    }
}

impl<T: Copy + Send> Pages<T> {
    /// Entry i is `entry(i)`; computed in parallel.
    pub(crate) fn from_fn(len: usize, entry: impl Fn(usize) -> T + Sync) -> Self {
        let mut pages = Self::reserve(len);
        let all = pages.uninitialised().par_iter_mut().with_min_len(ENTRIES_PER_TASK).enumerate();
        all.for_each(|(i, place)| {
            place.write(entry(i));
        });
        pages
    }
}

impl<T: Copy + Send> Pages<T> {
    /// Entries from bytes that come in pieces, in parallel: `read` fills the bytes of the entries from a number on,
    /// `entry` makes an entry, whose number it is told, of its bytes. `(len, per_piece, bytes_each)` are the number of
    /// entries, the entries that are read at a time (not zero), and the bytes of an entry (not zero).
    pub(crate) fn try_from_bytes<E: Send>(
        (len, per_piece, bytes_each): (usize, usize, usize),
        read: impl Fn(usize, &mut [u8]) -> Result<(), E> + Sync,
        entry: impl Fn(usize, &[u8]) -> Result<T, E> + Sync,
    ) -> Result<Self, E> {
        let mut pages = Self::reserve(len);
        let pieces = pages.uninitialised().par_chunks_mut(per_piece).enumerate();
        pieces.try_for_each_init(Vec::new, |buffer, (piece, places)| {
            let first = piece * per_piece;
            buffer.resize(places.len() * bytes_each, 0);
            read(first, buffer)?;
            for (i, place) in places.iter_mut().enumerate() {
                place.write(entry(first + i, &buffer[i * bytes_each..][..bytes_each])?);
            }
            Ok(())
        })?;
        Ok(pages)
    }
}

impl<T: Copy> Deref for Pages<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: every constructor has initialised all `len` values before it hands the array out.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T: Copy> DerefMut for Pages<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and `self` is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl<T: Copy> Drop for Pages<T> {
    fn drop(&mut self) {
        if self.layout.size() != 0 {
            // SAFETY: allocated in `reserve` with this layout; T is Copy, so values need no drop.
            unsafe { dealloc(self.start.as_ptr().cast(), self.layout) };
        }
    }
}

impl<T: Copy> Clone for Pages<T> {
    fn clone(&self) -> Self {
        let mut pages = Self::reserve(self.len);
        for (place, value) in pages.uninitialised().iter_mut().zip(self.iter()) {
            place.write(*value);
        }
        pages
    }
}

impl<T: Copy> std::fmt::Debug for Pages<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pages({} × {} bytes)", self.len, size_of::<T>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_all_sizes() {
        for len in [0, 1, 1000, WORTHWHILE / 8 - 1, WORTHWHILE / 8, LARGE_PAGE / 8 + 3] {
            let pages = Pages::<u64>::from_fn(len, |i| i as u64);
            assert_eq!(pages.len(), len);
            assert!(pages.iter().copied().eq(0..len as u64), "{len} values");
            assert!(pages.clone().iter().eq(pages.iter()));
        }
    }

    #[test]
    fn values_from_pieces_of_bytes() {
        for (len, per_piece) in [(0, 3), (1, 3), (9, 3), (10, 3), (WORTHWHILE / 8 + 1, 1000)] {
            let read = |first: usize, bytes: &mut [u8]| {
                assert_eq!(first % per_piece, 0);
                bytes.chunks_exact_mut(2).enumerate().for_each(|(i, pair)| pair[0] = (first + i) as u8);
                Ok(())
            };
            let pages = Pages::<u64>::try_from_bytes((len, per_piece, 2), read, |i, bytes| {
                if bytes[0] == i as u8 { Ok(i as u64) } else { Err(i) }
            });
            assert!(pages.unwrap().iter().copied().eq(0..len as u64), "{len} values");
        }
        let fails = |_: usize, _: &mut [u8]| Err("broken");
        assert_eq!(Pages::<u64>::try_from_bytes((9, 2, 1), fails, |_, _| Ok(0)).unwrap_err(), "broken");
        let entry = |i, _: &[u8]| if i == 7 { Err("no seven") } else { Ok(0) };
        assert_eq!(Pages::<u64>::try_from_bytes((9, 2, 1), |_, _| Ok(()), entry).unwrap_err(), "no seven");
    }

    #[test]
    fn large_arrays_are_aligned_to_large_pages() {
        let mut pages = Pages::<u64>::filled(LARGE_PAGE / 8, 7);
        assert_eq!(pages.as_ptr() as usize % LARGE_PAGE, 0);
        pages[5] = 8;
        assert_eq!(pages[4..7], [7, 8, 7]);
    }

    #[test]
    fn values_without_size() {
        assert_eq!(Pages::filled(9, ()).len(), 9);
    }
}
