//! Tokens, and the slots that they live in.
//!
//! The life of a slot: a stage takes it ([`Slot::take`]), fills it and returns the token; every edge that the token
//! goes to holds a [`Shared`] of it; the last reader's drop makes a [`Dead`] of it, which the `dealloc` stage sends
//! home; the next [`Slot::take`] of an equal shape finds it there.
//!
//! Nothing can be done with a slot that went home: [`Dead`] moves into [`Dead::go_home`], and the token that was read
//! through a [`Shared`] is borrowed from it.
//!
//! ```compile_fail,E0382
//! # use pipeline_runtime::slot::Dead;
//! fn twice(dead: Dead) {
//!     dead.go_home();
//!     dead.bytes();
//! }
//! ```
//!
//! ```compile_fail,E0505
//! # use pipeline_runtime::slot::{Shared, Token};
//! fn after<T: Token>(token: Shared<T>, read: impl Fn(&T)) {
//!     let inside: &T = &token;
//!     drop(token);
//!     read(inside);
//! }
//! ```

use std::fmt::Debug;
use std::ops::Deref;
use std::sync::{Arc, PoisonError};

use proofline_memory::Arena;

use crate::arena::{Home, Memory, Slots, Workspace, Workspaces};
use crate::capability::CcdPool;
use crate::key::TokenKey;
use crate::plan::{Bytes, Dealloc};
use crate::stage::Sizes;
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
    /// New memory for a token of this shape, where it is of any size in an arena: mapped once, touched, and used again and
    /// again. It must not be zero where [`Self::with_shape`]'s is not.
    fn in_arena(shape: &Self::Shape, _arena: &Arena) -> Self
    where
        Self: Sized,
    {
        Self::with_shape(shape)
    }
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

/// The slots of one stage's output, and what else its firings keep from one to the next.
pub(crate) struct FreeList<T: Token> {
    slots: Mutex<Lists<T>>,
    /// Held while slots are made: of two firings that find none, one makes them and the other finds them.
    making: Mutex<()>,
    /// Slots of one shape that can be in use at once.
    limit: usize,
    memory: Arc<Memory>,
    workspaces: Workspaces,
}

struct Lists<T: Token> {
    /// Those at home, the one that came last at the end.
    home: Vec<(T::Shape, T)>,
    /// How many were made, by shape, and for circuits of what sizes.
    made: Vec<(T::Shape, usize, Sizes)>,
}

impl<T: Travels> FreeList<T> {
    pub(crate) fn new(limit: usize, memory: &Arc<Memory>) -> Arc<Self> {
        let slots = Lists { home: Vec::with_capacity(limit), made: Vec::new() };
        let (making, workspaces) = (Mutex::new(()), Workspaces::default());
        let list = Arc::new(Self { slots: Mutex::new(slots), making, limit, memory: Arc::clone(memory), workspaces });
        let home: Arc<dyn Home> = Arc::<Self>::clone(&list);
        memory.keeps(Arc::downgrade(&home));
        list
    }
}

impl<T: Token> FreeList<T> {
    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    fn lock(&self) -> MutexGuard<'_, Lists<T>> {
        // A panic while the list was held leaves at worst a slot missing; the list itself is sound.
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn at_home(&self, shape: &T::Shape) -> Option<T> {
        let mut slots = self.lock();
        let position = slots.home.iter().rposition(|(has, _)| has == shape)?;
        Some(slots.home.swap_remove(position).1)
    }

    /// A slot of this shape: one that is home, or a new one. The first of a shape makes all that the plan has, if that is
    /// asked for.
    fn take(&self, shape: &T::Shape, sizes: &Sizes, cores: Option<&CcdPool>) -> T {
        if self.memory.dealloc() != Dealloc::Recycle {
            return T::in_arena(shape, self.memory.arena());
        }
        if let Some(slot) = self.at_home(shape) {
            return slot;
        }
        let _making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = self.at_home(shape) {
            return slot;
        }
        let made = self.lock().made.iter().find(|(of, ..)| of == shape).map_or(0, |(_, made, _)| *made);
        // Where all were made and none is home, firings that failed have lost some.
        let missing = match self.memory.slots() {
            Slots::AsNeeded => 1,
            Slots::AllFirst => self.limit.saturating_sub(made).max(1),
        };
        // Whoever touches a page first decides what memory it lies in: that should be the group's.
        let arena = cores.map_or_else(|| self.memory.arena().clone(), |cores| cores.touching(self.memory.arena()));
        (1..missing).for_each(|_| self.lock().home.push((shape.clone(), T::in_arena(shape, &arena))));
        let slot = T::in_arena(shape, &arena);
        let mut slots = self.lock();
        match slots.made.iter_mut().find(|(of, ..)| of == shape) {
            Some((_, made, _)) => *made += missing,
            None => slots.made.push((shape.clone(), missing, *sizes)),
        }
        slot
    }

    /// Takes a slot that was wiped: back home, or away.
    pub(crate) fn put(&self, token: T) {
        if self.memory.dealloc() != Dealloc::Recycle {
            return;
        }
        let shape = token.shape();
        let mut slots = self.lock();
        // What was in use while its kind was sent away follows it.
        if slots.made.iter().any(|(of, ..)| *of == shape) {
            slots.home.push((shape, token));
        } else {
            drop(slots);
            drop(token);
        }
    }
}

impl<T: Travels> Home for FreeList<T> {
    fn trim(&self, sizes: &Sizes) {
        let mut idle = Vec::new();
        {
            let mut slots = self.lock();
            let Lists { home, made } = &mut *slots;
            for at in (0..home.len()).rev() {
                if made.iter().any(|(shape, _, of)| of == sizes && *shape == home[at].0) {
                    idle.push(home.swap_remove(at));
                }
            }
            made.retain(|(.., of)| of != sizes);
        }
        drop(idle);
        self.workspaces.trim(sizes);
    }
}

/// Where a stage's output gets its memory from.
pub struct Slot<'a, T: Token> {
    home: &'a FreeList<T>,
    /// Of the job.
    sizes: Sizes,
    cores: Option<&'a CcdPool>,
}

impl<'a, T: Token> Slot<'a, T> {
    pub(crate) fn new(home: &'a FreeList<T>, sizes: Sizes, cores: Option<&'a CcdPool>) -> Self {
        Self { home, sizes, cores }
    }

    /// A token of this shape, recycled if one is at home, else newly allocated. Its contents are unspecified.
    #[must_use]
    pub fn take(self, shape: &T::Shape) -> T {
        self.home.take(shape, &self.sizes, self.cores)
    }

    /// Memory that the stage's firings keep from one to the next: one that `fits` and that no other firing uses, else what
    /// `make` makes in the pipeline's arena. It is back when it is dropped.
    pub fn workspace<W: Send + 'static>(
        &self,
        fits: impl Fn(&W) -> bool,
        make: impl FnOnce(&Arena) -> W,
    ) -> Workspace<'a, W> {
        self.home.workspaces.take(self.sizes, fits, || make(self.home.memory.arena()))
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
            let dead = Dead { slot, hold: self.hold.take() };
            match self.free.memory.dealloc() {
                Dealloc::UnboundedFree => dead.free_elsewhere(),
                Dealloc::Recycle | Dealloc::BoundedFree => self.way_home.send(self.key, dead),
            }
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

/// See [`Dead::idle_slots`].
struct IdleSlots {
    memory: Arc<Memory>,
    sizes: Sizes,
}

impl AnyDeadSlot for IdleSlots {
    fn bytes(&self) -> u64 {
        0
    }

    fn token(&self) -> &'static str {
        "idle slots"
    }

    fn wipe(&mut self) {}

    fn go_home(self: Box<Self>) {
        self.memory.trim(&self.sizes);
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

    /// Wipes the slot, and puts it where the next firing of its stage finds it or gives its memory back to the kernel, as
    /// the graph says.
    pub fn go_home(mut self) {
        self.slot.wipe();
        self.slot.go_home();
        drop(self.hold);
    }

    /// Wipes the slot and gives its memory back to the kernel, whatever the graph says.
    pub fn free(mut self) {
        self.slot.wipe();
        drop(self.slot);
        drop(self.hold);
    }

    /// Not a slot, but the order to free those for circuits of these sizes that nobody uses.
    pub(crate) fn idle_slots(memory: Arc<Memory>, sizes: Sizes, hold: Hold) -> Self {
        Self { slot: Box::new(IdleSlots { memory, sizes }), hold: Some(hold) }
    }

    /// [`free`](Self::free) on a thread of its own, which nobody counts: what a program does that bounds nothing.
    fn free_elsewhere(self) {
        let thread = std::thread::Builder::new().name("unbounded-free".to_owned());
        // Where no thread is to be had, the slot is dropped with the closure: here, and as free.
        let _ = thread.spawn(move || self.free());
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

    fn recycling(limit: usize) -> Arc<FreeList<Secret>> {
        FreeList::new(limit, &Arc::new(Memory::new(Dealloc::Recycle, Slots::AllFirst, None)))
    }

    fn way_home() -> Arc<dyn WayHome> {
        Arc::new(StraightHome)
    }

    #[test]
    fn the_last_reader_sends_the_slot_home_wiped() {
        let free = recycling(2);
        let mut token = Slot::new(&free, Sizes::NONE, None).take(&4);
        token.0.fill(7);
        let address = token.0.as_ptr();
        let key = TokenKey { job: crate::key::JobId(0), partition: 0 };
        let first = Shared::new(key, token, &free, &way_home(), None);
        let second = first.clone();
        drop(first);
        assert_eq!(second.0.token.as_ref().map(|t| t.0[0]), Some(7), "one reader is left");
        assert_eq!(free.lock().home.len(), 1, "the other of the two slots that were made");
        drop(second);
        let again = Slot::new(&free, Sizes::NONE, None).take(&4);
        assert_eq!(again.0, [0; 4]);
        assert_eq!(again.0.as_ptr(), address, "the memory is recycled");
    }

    #[test]
    fn the_first_slot_of_a_shape_makes_all_and_no_other_makes_any() {
        let free = recycling(3);
        let take = |shape: usize| Slot::new(&free, Sizes::NONE, None).take(&shape);
        let taken = [take(4), take(4), take(4)];
        let known = || {
            let slots = free.lock();
            (slots.home.len(), slots.made.clone())
        };
        assert_eq!(known(), (0, vec![(4, 3, Sizes::NONE)]));
        drop(taken);
        assert_eq!(take(4).shape(), 4, "what failed firings lost is made anew");
        assert_eq!(take(8).shape(), 8);
        assert_eq!(
            known(),
            (2, vec![(4, 4, Sizes::NONE), (8, 3, Sizes::NONE)]),
            "a slot of another shape is not given"
        );
    }

    #[test]
    fn slots_are_made_as_needed_unless_all_are_wanted() {
        let memory = Arc::new(Memory::new(Dealloc::Recycle, Slots::AsNeeded, None));
        let free = FreeList::<Secret>::new(3, &memory);
        let take = || Slot::new(&free, Sizes::NONE, None).take(&4);
        let made = || free.lock().made.clone();
        free.put(take());
        free.put(take());
        assert_eq!(made(), [(4, 1, Sizes::NONE)], "one after the other is one");
        let two = [take(), take()];
        assert_eq!(made(), [(4, 2, Sizes::NONE)]);
        two.into_iter().for_each(|token| free.put(token));
        assert_eq!(free.lock().home.len(), 2);
    }

    #[test]
    fn idle_slots_of_a_size_leave_through_dealloc_and_no_others() {
        let memory = Arc::new(Memory::new(Dealloc::Recycle, Slots::AllFirst, None));
        let free = FreeList::<Secret>::new(2, &memory);
        let of = |domain| Sizes { domain, ..Sizes::NONE };
        let take = |shape: usize, domain| Slot::new(&free, of(domain), None).take(&shape);
        [(4, 1), (8, 2)].into_iter().for_each(|(shape, domain)| free.put(take(shape, domain)));
        drop(Slot::new(&free, of(1), None).workspace(|_: &u8| true, |_| 1_u8));
        let in_use = take(4, 1);
        Dead::idle_slots(Arc::clone(&memory), of(1), Box::new(())).go_home();
        let shapes = || free.lock().home.iter().map(|(shape, _)| *shape).collect::<Vec<_>>();
        assert_eq!(shapes(), [8, 8]);
        assert_eq!(*Slot::new(&free, of(1), None).workspace(|_: &u8| true, |_| 2), 2, "the workspace is gone");
        free.put(in_use);
        assert_eq!(shapes(), [8, 8], "what was in use follows");
    }

    #[test]
    fn a_freeing_graph_keeps_nothing() {
        for dealloc in [Dealloc::BoundedFree, Dealloc::UnboundedFree] {
            let free = FreeList::<Secret>::new(2, &Arc::new(Memory::new(dealloc, Slots::AllFirst, None)));
            let token = Slot::new(&free, Sizes::NONE, None).take(&4);
            let key = TokenKey { job: crate::key::JobId(0), partition: 0 };
            let (hold, held) = std::sync::mpsc::channel::<()>();
            drop(Shared::new(key, token, &free, &way_home(), Some(Box::new(Mutex::new(hold)))));
            // What is held comes back when the slot is gone, on whatever thread.
            assert!(held.recv().is_err());
            assert!(free.lock().home.is_empty());
        }
    }

    #[test]
    fn workspaces_are_kept_by_kind_and_fit() {
        let free = recycling(1);
        let slot = Slot::new(&free, Sizes::NONE, None);
        let take = |len: usize| slot.workspace(|kept: &Vec<u8>| kept.len() == len, |_| vec![7; len]);
        let (first, second) = (take(3), take(3));
        let addresses = [first.as_ptr(), second.as_ptr()];
        drop((first, second));
        let again = take(3);
        assert!(addresses.contains(&again.as_ptr()));
        assert_eq!(take(4).len(), 4);
        assert_eq!(slot.workspace(|_: &String| true, |_| "another kind".to_owned()).len(), 12);
    }
}
