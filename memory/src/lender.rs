//! Memory that its owner does not need for a while: an arena hands it out instead of mapping.

use std::any::Any;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

use crate::raw::LINE;
use crate::{Arena, Pages};

/// Arrays that are lent to an arena. Their values are lost; what is handed out has none.
pub struct Lender {
    room: Arc<Room>,
}

/// The memory of arrays, handed out from their fronts. Who has a piece of it keeps all of it.
pub(crate) struct Room {
    parts: Mutex<Vec<Part>>,
    arrays: Box<dyn Any + Send + Sync>,
}

struct Part {
    next: NonNull<u8>,
    left: usize,
}

// SAFETY: the pointer is into arrays of the room, which may go to other threads.
unsafe impl Send for Part {}

impl Lender {
    /// Lends arrays.
    #[must_use]
    pub fn new<T: Copy + Send + Sync + 'static>(arrays: Vec<Pages<T>>) -> Self {
        let part = |array: &Pages<T>| Part { next: array.start().cast(), left: size_of_val::<[T]>(array) };
        let parts = Mutex::new(arrays.iter().map(part).collect());
        Self { room: Arc::new(Room { parts, arrays: Box::new(arrays) }) }
    }

    /// The same arena, but that it hands out the arrays' memory as long as there is some, and maps what they have no room for.
    #[must_use]
    pub fn arena(&self, arena: &Arena) -> Arena {
        arena.with_room(&self.room)
    }

    /// Takes the arrays back. What was handed out of them is overwritten with `value`. Nothing comes back if somebody has still
    /// memory of them, or an arena that would hand it out, or if they are arrays of other values.
    #[must_use]
    pub fn take_back<T: Copy + Send + Sync + 'static>(self, value: T) -> Option<Vec<Pages<T>>> {
        let Room { parts, arrays } = Arc::into_inner(self.room)?;
        let mut arrays = *arrays.downcast::<Vec<Pages<T>>>().ok()?;
        let parts = parts.into_inner().unwrap_or_else(PoisonError::into_inner);
        for (array, part) in arrays.iter_mut().zip(parts) {
            let used = size_of_val::<[T]>(array) - part.left;
            array.overwrite(used.div_ceil(size_of::<T>().max(1)), value);
        }
        Some(arrays)
    }
}

/// Whether arrays of so many bytes have room for lists of so many bytes each, which come in this order.
#[must_use]
pub fn have_room(arrays: &[usize], lists: impl IntoIterator<Item = usize>) -> bool {
    let mut left = arrays.to_vec();
    lists.into_iter().all(|bytes| first_fit(left.iter_mut(), bytes).is_some())
}

/// Takes a list's bytes from the first that has as many; gives its place and what it had.
fn first_fit<'a>(left: impl Iterator<Item = &'a mut usize>, bytes: usize) -> Option<usize> {
    let whole = bytes.checked_next_multiple_of(LINE)?;
    let (place, left) = left.enumerate().find(|(_, left)| **left >= whole)?;
    *left -= whole;
    Some(place)
}

impl Room {
    /// Memory for so many bytes, on a line of the cache; nothing where there is none left.
    pub(crate) fn take(&self, bytes: usize) -> Option<NonNull<u8>> {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let place = first_fit(parts.iter_mut().map(|part| &mut part.left), bytes)?;
        let start = parts[place].next;
        // SAFETY: the array has had these bytes left.
        parts[place].next = unsafe { start.add(bytes.next_multiple_of(LINE)) };
        Some(start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::List;

    fn arrays(lens: [usize; 2]) -> Vec<Pages<u32>> {
        lens.map(|len| Pages::from_fn(len, |i| i as u32)).into()
    }

    #[test]
    fn lists_lie_in_what_is_lent_as_long_as_there_is_room() {
        let arena = Arena::default();
        let arrays = arrays([40_000, 20_000]);
        let range = |array: &Pages<u32>| array.as_ptr() as usize..array.as_ptr() as usize + 4 * array.len();
        let ranges = [range(&arrays[0]), range(&arrays[1])];
        let lender = Lender::new(arrays);
        let lent = lender.arena(&arena);
        let list = |len: usize, value: u64| {
            let mut list = List::<u64>::new(&lent);
            list.resize(len, value);
            let at = list.as_ptr() as usize;
            assert_eq!(at % LINE, 0);
            (ranges.iter().position(|range| range.contains(&at)), list)
        };
        let lists =
            [(15_000, Some(0)), (9_000, Some(1)), (4_990, Some(0)), (1_000, Some(1)), (9_000, None), (1, Some(0))];
        let made: Vec<_> = lists.iter().map(|(len, _)| list(*len, *len as u64)).collect();
        for ((len, wanted), (place, list)) in lists.iter().zip(&made) {
            assert_eq!(place, wanted, "{len}");
            assert!(list.len() == *len && list.iter().all(|value| *value == *len as u64), "{len}");
        }
        let bytes = |lists: &[(usize, Option<usize>)]| lists.iter().map(|(len, _)| 8 * len).collect::<Vec<_>>();
        assert!(have_room(&[160_000, 80_000], bytes(&lists[..4])));
        assert!(!have_room(&[160_000, 80_000], bytes(&lists[..5])));
        // Only the one that there was no room for was mapped.
        assert_eq!(arena.counts().maps, 1);
        assert!(arena.counts().bytes >= 72_000);
        drop((made, lent));
        let back = lender.take_back(7u32).unwrap();
        let used = [30_000 + 9_984, 20_000];
        for ((array, used), len) in back.iter().zip(used).zip([40_000, 20_000]) {
            assert_eq!(array.len(), len);
            assert!(array[..used].iter().all(|value| *value == 7));
            // Behind the last line that was handed out nothing is written.
            assert!(array.iter().enumerate().skip(used + 16).all(|(at, value)| *value as usize == at));
        }
    }

    #[test]
    fn what_somebody_has_is_not_taken_back() {
        let arena = Arena::default();
        let lender = || Lender::new(arrays([20_000, 0]));
        let one = lender();
        let mut list = List::<u8>::new(&one.arena(&arena));
        list.push(1);
        assert!(one.take_back(0u32).is_none());
        // The list keeps its memory.
        list.push(2);
        assert_eq!(list[..], [1, 2]);
        let (two, three) = (lender(), lender());
        let lent = two.arena(&arena);
        assert!(two.take_back(0u32).is_none());
        drop(lent);
        assert!(three.take_back(0u64).is_none(), "they are arrays of another type");
        assert_eq!(lender().take_back(0u32).unwrap()[0][19_999], 19_999);
    }
}
