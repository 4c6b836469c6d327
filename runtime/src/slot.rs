//! Tokens, and the slots that they live in.
//!
//! The life of a slot: a stage takes it ([`Slot::take`]), fills it and returns the token; every edge that the token
//! goes to holds a [`Shared`] of it; the last reader's drop makes a [`Dead`] of it, which the `dealloc` stage sends
//! home; the next [`Slot::take`] of an equal shape finds it there.

use std::fmt::Debug;
use std::ops::Deref;
use std::sync::{Arc, PoisonError};

use crate::key::TokenKey;
use crate::plan::Bytes;
use crate::sync::{Mutex, MutexGuard};

/// What travels on an edge.
///
/// A token's memory is a slot: when its last reader is done the token goes to `dealloc`, and from there back to the
/// stage that makes such tokens, which reuses it for the next firing of an equal shape.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a token",
    note = "a stage's inputs and output implement `Token`; capabilities are recognised by their own names, not by an alias"
)]
pub trait Token: 'static {
    /// The name in catalogue and graph files.
    const NAME: &'static str;
    /// What decides the size of the memory. Slots of equal shape are interchangeable. The default is the shape of an
    /// empty token, which mocked stages put out.
    type Shape: Clone + Default + Eq + Debug + Send + Sync + 'static;
    /// The most bytes that one can occupy, for any circuit. A graph is judged by the formula that the catalogue states; rustc
    /// compares the two. `None`: the type states none, and the catalogue is believed.
    const FORMULA: Option<Bytes> = None;
    /// New memory for a token of this shape.
    fn with_shape(shape: &Self::Shape) -> Self;
    /// The shape that this token was made for.
    fn shape(&self) -> Self::Shape;
    /// The memory it occupies, in bytes.
    fn bytes(&self) -> u64;
    /// Makes the slot safe for another job: tokens that hold secrets overwrite them. Called by `dealloc` on its way
    /// home and before the memory is freed.
    fn wipe(&mut self) {}
}

/// A token that goes from thread to thread. Every edge demands it of its token, so that the error names the edge; a type
/// that has it not is a token all the same.
pub trait Travels: Token + Send + Sync {}

impl<T: Token + Send + Sync> Travels for T {}

/// The slots of one kind of token that wait to be used again.
pub(crate) struct FreeList<T: Token> {
    slots: Mutex<Vec<(T::Shape, T)>>,
    /// More than this many slots can never be in use at once, so more are never kept.
    limit: usize,
}

impl<T: Token> FreeList<T> {
    pub(crate) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self { slots: Mutex::new(Vec::with_capacity(limit)), limit })
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(T::Shape, T)>> {
        // A panic while the list was held leaves at worst a slot missing; the list itself is sound.
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, shape: &T::Shape) -> Option<T> {
        let mut slots = self.lock();
        let position = slots.iter().rposition(|(has, _)| has == shape)?;
        Some(slots.swap_remove(position).1)
    }

    pub(crate) fn put(&self, token: T) {
        let shape = token.shape();
        let evicted = {
            let mut slots = self.lock();
            slots.push((shape, token));
            // The oldest goes: it is of the shape that was not asked for the longest.
            (slots.len() > self.limit).then(|| slots.remove(0))
        };
        drop(evicted);
    }
}

/// Where a stage's output gets its memory from.
pub struct Slot<'a, T: Token> {
    home: &'a FreeList<T>,
}

impl<'a, T: Token> Slot<'a, T> {
    pub(crate) fn new(home: &'a FreeList<T>) -> Self {
        Self { home }
    }

    /// A token of this shape, recycled if one is at home, else newly allocated. Its contents are unspecified.
    #[must_use]
    pub fn take(self, shape: &T::Shape) -> T {
        self.home.take(shape).unwrap_or_else(|| T::with_shape(shape))
    }
}

/// A token that several stages read. The last drop sends the slot to `dealloc`.
pub struct Shared<T: Token>(Arc<Occupied<T>>);

struct Occupied<T: Token> {
    /// `None` only while it is being dropped.
    token: Option<T>,
    key: TokenKey,
    free: Arc<FreeList<T>>,
    /// [`DeadSlot::boxed`], known where the token is known to travel.
    bury: fn(T, Arc<FreeList<T>>) -> Box<dyn AnyDeadSlot>,
    way_home: Arc<dyn WayHome>,
    /// What the token's stage `holds`; given back when the slot is home.
    hold: Option<Hold>,
}

/// Kept for its drop: gives the bytes that a token holds back to their pools.
pub(crate) type Hold = Box<dyn Send + Sync>;

/// Takes dead slots to the `dealloc` stage.
pub(crate) trait WayHome: Send + Sync {
    fn send(&self, key: TokenKey, dead: Dead);
}

impl<T: Token> Shared<T> {
    pub(crate) fn new(
        key: TokenKey,
        token: T,
        free: &Arc<FreeList<T>>,
        way_home: &Arc<dyn WayHome>,
        hold: Option<Hold>,
    ) -> Self
    where
        T: Travels,
    {
        let (free, way_home) = (Arc::clone(free), Arc::clone(way_home));
        Self(Arc::new(Occupied { token: Some(token), key, free, bury: DeadSlot::boxed, way_home, hold }))
    }
}

impl<T: Token> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: Token> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        match &self.0.token {
            Some(token) => token,
            None => unreachable!("the token is taken out in Occupied::drop only, when no Shared is left"),
        }
    }
}

impl<T: Token> Drop for Occupied<T> {
    fn drop(&mut self) {
        if let Some(token) = self.token.take() {
            let slot = (self.bury)(token, Arc::clone(&self.free));
            self.way_home.send(self.key, Dead { slot, hold: self.hold.take() });
        }
    }
}

/// A slot that nobody reads any more.
pub struct Dead {
    slot: Box<dyn AnyDeadSlot>,
    hold: Option<Hold>,
}

struct DeadSlot<T: Token> {
    token: T,
    free: Arc<FreeList<T>>,
}

impl<T: Travels> DeadSlot<T> {
    fn boxed(token: T, free: Arc<FreeList<T>>) -> Box<dyn AnyDeadSlot> {
        Box::new(Self { token, free })
    }
}

trait AnyDeadSlot: Send {
    fn bytes(&self) -> u64;
    fn token(&self) -> &'static str;
    fn wipe(&mut self);
    fn go_home(self: Box<Self>);
}

impl<T: Travels> AnyDeadSlot for DeadSlot<T> {
    fn bytes(&self) -> u64 {
        self.token.bytes()
    }

    fn token(&self) -> &'static str {
        T::NAME
    }

    fn wipe(&mut self) {
        self.token.wipe();
    }

    fn go_home(self: Box<Self>) {
        self.free.put(self.token);
    }
}

impl Dead {
    /// The memory of the slot, in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.slot.bytes()
    }

    /// The name of the token that it held.
    #[must_use]
    pub fn token(&self) -> &'static str {
        self.slot.token()
    }

    /// Wipes the slot and puts it where the next firing of its stage finds it.
    pub fn go_home(mut self) {
        self.slot.wipe();
        self.slot.go_home();
        drop(self.hold);
    }

    /// Wipes the slot and gives its memory back to the allocator.
    pub fn free(mut self) {
        self.slot.wipe();
        drop(self.slot);
        drop(self.hold);
    }
}

// Not where the model checks compile this file: their locks work inside a check only.
#[cfg(all(test, not(model)))]
mod tests {
    use super::*;

    struct Secret(Vec<u8>);

    impl Token for Secret {
        const NAME: &'static str = "Secret";
        type Shape = usize;
        fn with_shape(shape: &usize) -> Self {
            Self(vec![0; *shape])
        }
        fn shape(&self) -> usize {
            self.0.len()
        }
        fn bytes(&self) -> u64 {
            self.0.len() as u64
        }
        fn wipe(&mut self) {
            self.0.fill(0);
        }
    }

    struct StraightHome;

    impl WayHome for StraightHome {
        fn send(&self, _: TokenKey, dead: Dead) {
            dead.go_home();
        }
    }

    fn way_home() -> Arc<dyn WayHome> {
        Arc::new(StraightHome)
    }

    #[test]
    fn the_last_reader_sends_the_slot_home_wiped() {
        let free = FreeList::<Secret>::new(2);
        let mut token = Slot::new(&free).take(&4);
        token.0.fill(7);
        let address = token.0.as_ptr();
        let key = TokenKey { job: crate::key::JobId(0), partition: 0 };
        let first = Shared::new(key, token, &free, &way_home(), None);
        let second = first.clone();
        drop(first);
        assert_eq!(second.0.token.as_ref().map(|t| t.0[0]), Some(7), "one reader is left");
        assert!(free.take(&4).is_none());
        drop(second);
        let again = Slot::new(&free).take(&4);
        assert_eq!(again.0, [0; 4]);
        assert_eq!(again.0.as_ptr(), address, "the memory is recycled");
    }

    #[test]
    fn a_slot_of_another_shape_is_not_given() {
        let free = FreeList::<Secret>::new(2);
        free.put(Secret::with_shape(&4));
        assert_eq!(Slot::new(&free).take(&8).shape(), 8);
        assert_eq!(free.lock().len(), 1);
    }

    #[test]
    fn no_more_slots_are_kept_than_can_be_in_use() {
        let free = FreeList::<Secret>::new(2);
        (1..=3).for_each(|size| free.put(Secret::with_shape(&size)));
        assert!(free.take(&1).is_none(), "the oldest went");
        assert!(free.take(&2).is_some());
        assert!(free.take(&3).is_some());
    }
}
