//! Arrays of fixed length on large pages.
//!
//! Bucket summation reads bases in random order: with 4 KiB pages nearly every read of a big query misses the translation
//! buffers. Arrays of some size are mapped for themselves, and the kernel is asked for huge pages; where it has none,
//! nothing but speed is lost.

use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use rayon::prelude::*;

use crate::Arena;
use crate::raw::Raw;

/// Entries that one parallel task fills.
const ENTRIES_PER_TASK: usize = 1 << 10;

/// A fixed-size array of plain values.
pub struct Pages<T: Copy> {
    memory: Raw<T>,
}

impl<T: Copy> Pages<T> {
    fn reserve(len: usize) -> Self {
        Self { memory: Raw::reserve(&Arena::of_plain_data(), len) }
    }

    /// `len` copies of a value.
    pub fn filled(len: usize, value: T) -> Self {
        Self::filled_in(&Arena::of_plain_data(), len, value)
    }

    /// [`filled`](Self::filled) in an arena.
    pub fn filled_in(arena: &Arena, len: usize, value: T) -> Self {
        let mut memory = Raw::reserve(arena, len);
        for entry in memory.uninitialised() {
            entry.write(value);
        }
        Self { memory }
    }

    /// Where it starts.
    pub(crate) fn start(&self) -> NonNull<T> {
        self.memory.start()
    }

    /// Writes a value to the first entries, whatever is there.
    pub(crate) fn overwrite(&mut self, entries: usize, value: T) {
        for place in &mut self.memory.uninitialised()[..entries] {
            place.write(value);
        }
    }

    /// The memory that it takes, in bytes: with whole pages where it is mapped.
    pub fn bytes(&self) -> usize {
        self.memory.bytes()
    }
}

impl<T: Copy + Send> Pages<T> {
    /// Entry i is `entry(i)`; computed in parallel.
    pub fn from_fn(len: usize, entry: impl Fn(usize) -> T + Sync) -> Self {
        let mut pages = Self::reserve(len);
        let all = pages.memory.uninitialised().par_iter_mut().with_min_len(ENTRIES_PER_TASK).enumerate();
        all.for_each(|(i, place)| {
            place.write(entry(i));
        });
        pages
    }
}

impl<T: Copy + Send + Sync> Pages<T> {
    /// Entries from bytes that come in pieces, in parallel: `read` fills the bytes of the entries from a number on,
    /// `convert` makes the entries, whose first number it is told, of their bytes; it finds them to be `blank`.
    /// `(len, per_piece, bytes_each)` are the number of entries, the entries that are read at a time (not zero), and the
    /// bytes of an entry (not zero).
    ///
    /// # Errors
    /// One of either: of pieces that are looked at together, nobody knows which is first.
    pub fn try_from_bytes<E: Send>(
        (len, per_piece, bytes_each): (usize, usize, usize),
        blank: T,
        read: impl Fn(usize, &mut [u8]) -> Result<(), E> + Sync,
        convert: impl Fn(usize, &[u8], &mut [T]) -> Result<(), E> + Sync,
    ) -> Result<Self, E> {
        let mut pages = Self::reserve(len);
        let pieces = pages.memory.uninitialised().par_chunks_mut(per_piece).enumerate();
        pieces.try_for_each_init(Vec::new, |buffer, (piece, places)| {
            let first = piece * per_piece;
            buffer.resize(places.len() * bytes_each, 0);
            read(first, buffer)?;
            for place in &mut *places {
                place.write(blank);
            }
            // SAFETY: all of them were written just now.
            convert(first, buffer, unsafe { places.assume_init_mut() })
        })?;
        Ok(pages)
    }
}

impl<T: Copy> Deref for Pages<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: every constructor has initialised all values before it hands the array out.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr(), self.memory.len()) }
    }
}

impl<T: Copy> DerefMut for Pages<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and `self` is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.memory.as_ptr(), self.memory.len()) }
    }
}

impl<T: Copy> Clone for Pages<T> {
    fn clone(&self) -> Self {
        let mut pages = Self::reserve(self.len());
        for (place, value) in pages.memory.uninitialised().iter_mut().zip(self.iter()) {
            place.write(*value);
        }
        pages
    }
}

impl<T: Copy> std::fmt::Debug for Pages<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pages({} × {} bytes)", self.len(), size_of::<T>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LARGE_PAGE, WORTHWHILE};

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
            let convert = |first: usize, bytes: &[u8], entries: &mut [u64]| {
                assert_eq!(bytes.len(), 2 * entries.len());
                for (i, entry) in entries.iter_mut().enumerate() {
                    assert_eq!((bytes[2 * i], *entry), ((first + i) as u8, 5));
                    *entry = (first + i) as u64;
                }
                Ok::<_, ()>(())
            };
            let pages = Pages::try_from_bytes((len, per_piece, 2), 5, read, convert).unwrap();
            assert!(pages.iter().copied().eq(0..len as u64), "{len} values");
        }
        let fails = |_: usize, _: &mut [u8]| Err("broken");
        assert_eq!(Pages::try_from_bytes((9, 2, 1), 0, fails, |_, _, _| Ok(())).unwrap_err(), "broken");
        let convert = |first, _: &[u8], _: &mut [u8]| if first == 6 { Err("no six") } else { Ok(()) };
        assert_eq!(Pages::try_from_bytes((9, 2, 1), 0, |_, _| Ok(()), convert).unwrap_err(), "no six");
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
