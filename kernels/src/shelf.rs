//! Memory that is kept between uses.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Things of one kind that are not in use. As many are kept as were ever in use at once.
pub(crate) struct Shelf<T> {
    free: Mutex<Vec<T>>,
}

/// A thing in use; it goes back when this is dropped.
pub(crate) struct InUse<'a, T> {
    shelf: &'a Shelf<T>,
    /// Nothing only while it is being dropped.
    thing: Option<T>,
}

impl<T> Shelf<T> {
    pub(crate) fn new() -> Self {
        Self { free: Mutex::new(Vec::new()) }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<T>> {
        // A poisoned lock only means that another task panicked while it moved a thing: the list is still a list.
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One that is not in use, or a new one.
    pub(crate) fn take(&self, make: impl FnOnce() -> T) -> InUse<'_, T> {
        let taken = self.lock().pop();
        InUse { shelf: self, thing: Some(taken.unwrap_or_else(make)) }
    }

    /// Of those that are not in use the smallest that `room` says is large enough, else the largest, else a new one: so
    /// that a small use does not take what a large one will want.
    pub(crate) fn take_fitting(
        &self,
        wanted: usize,
        room: impl Fn(&T) -> usize,
        make: impl FnOnce() -> T,
    ) -> InUse<'_, T> {
        let mut free = self.lock();
        let fits = |at: &usize| (room(&free[*at]) < wanted, room(&free[*at]).abs_diff(wanted));
        let taken = (0..free.len()).min_by_key(fits).map(|at| free.swap_remove(at));
        drop(free);
        InUse { shelf: self, thing: Some(taken.unwrap_or_else(make)) }
    }

    /// A sum over those that are not in use.
    pub(crate) fn sum(&self, bytes: impl Fn(&T) -> usize) -> usize {
        self.lock().iter().map(bytes).sum()
    }
}

impl<T> Deref for InUse<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match &self.thing {
            Some(thing) => thing,
            None => unreachable!("taken out in drop only"),
        }
    }
}

impl<T> DerefMut for InUse<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        match &mut self.thing {
            Some(thing) => thing,
            None => unreachable!("taken out in drop only"),
        }
    }
}

impl<T> Drop for InUse<'_, T> {
    fn drop(&mut self) {
        self.shelf.lock().extend(self.thing.take());
    }
}

/// A copy of what owns a shelf has an empty one.
impl<T> Clone for Shelf<T> {
    fn clone(&self) -> Self {
        Self::new()
    }
}

impl<T> std::fmt::Debug for Shelf<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Shelf({} free)", self.lock().len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_is_used_again() {
        let shelf = Shelf::new();
        {
            let mut first = shelf.take(|| vec![1]);
            let second = shelf.take(|| vec![2]);
            first.push(3);
            assert_eq!((first.len(), second.len()), (2, 1));
        }
        assert_eq!(shelf.sum(Vec::len), 3);
        let taken = [shelf.take(Vec::new).len(), shelf.take(Vec::new).len()];
        assert!(taken.iter().all(|len| *len > 0), "{taken:?}");
        assert_eq!(shelf.clone().sum(Vec::len), 0);
    }

    #[test]
    fn the_smallest_that_is_large_enough_is_taken() {
        let shelf = Shelf::new();
        shelf.lock().extend([10, 1000, 100]);
        let take = |wanted| *shelf.take_fitting(wanted, |room| *room, || 0);
        assert_eq!([5, 10, 11, 101, 5000].map(take), [10, 10, 100, 1000, 1000]);
        let all: Vec<_> = (0..4).map(|_| shelf.take_fitting(50, |room| *room, || 7)).collect();
        assert_eq!(all.iter().map(|taken| **taken).collect::<Vec<_>>(), [100, 1000, 10, 7]);
        drop(all);
        assert_eq!(shelf.lock().len(), 4);
    }
}
