//! Lists that are filled anew for each use, in memory that they keep.

use std::ops::{Deref, DerefMut};

use crate::Arena;
use crate::raw::Raw;

/// A list of plain values in an arena. It is a `Vec` that knows where its memory comes from: emptied, it keeps it, and
/// what it grows to once, with some room to spare, it never grows to again.
pub struct List<T: Copy> {
    arena: Arena,
    memory: Raw<T>,
    len: usize,
    /// So many values from the first on were written at some time.
    written: usize,
}

impl<T: Copy> List<T> {
    /// An empty list, which has no memory yet.
    #[must_use]
    pub fn new(arena: &Arena) -> Self {
        Self { arena: arena.clone(), memory: Raw::reserve(arena, 0), len: 0, written: 0 }
    }

    /// The arena that its memory comes from.
    #[must_use]
    pub fn arena(&self) -> &Arena {
        &self.arena
    }

    /// How many values it has room for.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.memory.len()
    }

    /// The memory that it keeps, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.memory.bytes()
    }

    /// Makes room for so many values in all.
    pub fn reserve_total(&mut self, values: usize) {
        if values > self.capacity() {
            self.grow(values);
        }
    }

    #[cold]
    fn grow(&mut self, values: usize) {
        let mut memory = Raw::reserve(&self.arena, values);
        for (place, value) in memory.uninitialised().iter_mut().zip(&self[..]) {
            place.write(*value);
        }
        self.memory = memory;
        self.written = self.len;
    }

    /// Room for one more than there are, and as many again: so that pushing one by one copies each a few times only.
    fn make_room(&mut self, more: usize) {
        let wanted = self.len + more;
        if wanted > self.capacity() {
            self.grow(wanted.max(2 * self.capacity()).max(64));
        }
    }

    /// Makes it `len` values long, whatever they are: those that were there before, or `value` where none ever were. For
    /// memory that is written before it is read.
    pub fn set_len(&mut self, len: usize, value: T) {
        self.reserve_total(len);
        if len > self.written {
            for place in &mut self.memory.uninitialised()[self.written..len] {
                place.write(value);
            }
            self.written = len;
        }
        self.len = len;
    }

    /// Empties it and keeps its memory.
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Keeps the first `len` values; nothing happens if it has no more.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Appends a value.
    pub fn push(&mut self, value: T) {
        self.make_room(1);
        self.memory.uninitialised()[self.len].write(value);
        self.grew_to(self.len + 1);
    }

    /// Appends values.
    pub fn extend_from_slice(&mut self, values: &[T]) {
        self.make_room(values.len());
        for (place, value) in self.memory.uninitialised()[self.len..].iter_mut().zip(values) {
            place.write(*value);
        }
        self.grew_to(self.len + values.len());
    }

    /// Cuts it to `len` values, or fills it up with `value`.
    pub fn resize(&mut self, len: usize, value: T) {
        self.reserve_total(len);
        if len > self.len {
            for place in &mut self.memory.uninitialised()[self.len..len] {
                place.write(value);
            }
        }
        self.grew_to(len);
    }

    fn grew_to(&mut self, len: usize) {
        self.len = len;
        self.written = self.written.max(len);
    }
}

impl<T: Copy> Extend<T> for List<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, values: I) {
        let values = values.into_iter();
        self.make_room(values.size_hint().0);
        values.for_each(|value| self.push(value));
    }
}

impl<T: Copy> Deref for List<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: the first `len` values are initialised: `len` only grows past what was just written.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr(), self.len) }
    }
}

impl<T: Copy> DerefMut for List<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and `self` is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.memory.as_ptr(), self.len) }
    }
}

impl<T: Copy> Default for List<T> {
    /// In an arena of its own.
    fn default() -> Self {
        Self::new(&Arena::default())
    }
}

impl<T: Copy> std::fmt::Debug for List<T> {
    /// Numbers only: the values may be secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "List({} of {} × {} bytes)", self.len, self.capacity(), size_of::<T>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_does_what_a_vec_does() {
        let (mut list, mut vec) = (List::default(), Vec::new());
        for round in 0..300_u64 {
            list.push(round);
            vec.push(round);
            if round % 7 == 0 {
                list.extend_from_slice(&vec[..3.min(vec.len())]);
                let copy = vec[..3.min(vec.len())].to_vec();
                vec.extend_from_slice(&copy);
            }
            if round % 50 == 49 {
                list.truncate(40);
                vec.truncate(40);
                list.extend(0..5);
                vec.extend(0..5);
                list.resize(60, 9);
                vec.resize(60, 9);
            }
            assert_eq!(list[..], vec[..], "round {round}");
        }
        list.clear();
        assert!(list.is_empty());
    }

    #[test]
    fn a_length_that_is_set_shows_what_was_there() {
        let mut list = List::default();
        list.extend_from_slice(&[1, 2, 3]);
        list.clear();
        list.set_len(5, 9);
        assert_eq!(list[..], [1, 2, 3, 9, 9]);
        list.set_len(100, 7);
        assert_eq!((list[4], list[5], list[99]), (9, 7, 7));
        list.truncate(2);
        list.push(4);
        list.set_len(4, 0);
        assert_eq!(list[..], [1, 2, 4, 9]);
    }

    #[test]
    fn what_it_grew_to_it_keeps() {
        let arena = Arena::default();
        let mut list = List::<u64>::new(&arena);
        list.resize(100_000, 0);
        let (address, counts) = (list.as_ptr(), arena.counts());
        for len in [5, 100_000, 0, 99_999] {
            list.clear();
            list.resize(len, 1);
            list.extend((0..100_000 - len).map(|i| i as u64));
        }
        assert_eq!((list.as_ptr(), arena.counts()), (address, counts), "nothing was mapped");
        list[99_999] = 7;
        list.push(8);
        assert_eq!(list[99_999..], [7, 8], "values move along when it grows");
        drop(list);
        assert_eq!(arena.counts().bytes, 0);
    }
}
