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

// Named by their paths, so that the model checks, which compile this file in another place, find them.
#[path = "slot/dead.rs"]
mod dead;
#[path = "slot/free_list.rs"]
mod free_list;

use std::fmt::Debug;
use std::ops::Deref;
use std::sync::Arc;

use proofline_memory::Arena;

use self::dead::{AnyDeadSlot, DeadSlot};
use crate::arena::Workspace;
use crate::capability::CcdPool;
use crate::key::TokenKey;
use crate::plan::{Bytes, Dealloc};
use crate::stage::Sizes;

pub use self::dead::Dead;
pub(crate) use self::free_list::FreeList;

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
            let dead = Dead::new(slot, self.hold.take());
            match self.free.memory.dealloc() {
                Dealloc::UnboundedFree => dead.free_elsewhere(),
                Dealloc::Recycle | Dealloc::BoundedFree => self.way_home.send(self.key, dead),
            }
        }
    }
}

// Not where the model checks compile this file: their locks work inside a check only.
#[cfg(all(test, not(model)))]
#[path = "slot/tests.rs"]
mod tests;
