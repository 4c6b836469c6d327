//! The slots of one stage that are home, and the making of new ones.

use std::sync::{Arc, PoisonError};

use super::{Token, Travels};
use crate::arena::{Home, Memory, Slots, Workspaces};
use crate::capability::CcdPool;
use crate::plan::Dealloc;
use crate::stage::Sizes;
use crate::sync::{Mutex, MutexGuard};

/// The slots of one stage's output, and what else its firings keep from one to the next.
pub(crate) struct FreeList<T: Token> {
    slots: Mutex<Lists<T>>,
    /// Held while slots are made: of two firings that find none, one makes them and the other finds them.
    making: Mutex<()>,
    /// Slots of one shape that can be in use at once.
    limit: usize,
    pub(super) memory: Arc<Memory>,
    pub(super) workspaces: Workspaces,
}

pub(super) struct Lists<T: Token> {
    /// Those at home, the one that came last at the end.
    pub(super) home: Vec<(T::Shape, T)>,
    /// Those that were made, by shape.
    pub(super) made: Vec<Made<T::Shape>>,
}

/// The slots of one shape.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Made<S> {
    pub(super) shape: S,
    pub(super) count: usize,
    /// The circuits that they are for: those of different sizes may share a shape, the size of the domain say.
    pub(super) of: Vec<Sizes>,
}

impl<T: Token> Lists<T> {
    /// The slots of a shape, which circuits of these sizes use from now on.
    fn of(&mut self, shape: &T::Shape, sizes: &Sizes) -> &mut Made<T::Shape> {
        let position = self.made.iter().position(|made| made.shape == *shape).unwrap_or_else(|| {
            self.made.push(Made { shape: shape.clone(), count: 0, of: Vec::new() });
            self.made.len() - 1
        });
        let made = &mut self.made[position];
        if !made.of.contains(sizes) {
            made.of.push(*sizes);
        }
        made
    }

    fn home_of(&self, shape: &T::Shape) -> usize {
        self.home.iter().filter(|(has, _)| has == shape).count()
    }
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

    pub(super) fn lock(&self) -> MutexGuard<'_, Lists<T>> {
        // A panic while the list was held leaves at worst a slot missing; the list itself is sound.
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn at_home(&self, shape: &T::Shape, sizes: &Sizes) -> Option<T> {
        let mut slots = self.lock();
        slots.of(shape, sizes);
        let position = slots.home.iter().rposition(|(has, _)| has == shape)?;
        Some(slots.home.swap_remove(position).1)
    }

    /// A slot of this shape: one that is home, or a new one. The first of a shape makes all that the plan has, if that is
    /// asked for.
    pub(super) fn take(&self, shape: &T::Shape, sizes: &Sizes, cores: Option<&CcdPool>) -> T {
        if self.memory.dealloc() != Dealloc::Recycle {
            return T::in_arena(shape, self.memory.arena());
        }
        if let Some(slot) = self.at_home(shape, sizes) {
            return slot;
        }
        let _making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = self.at_home(shape, sizes) {
            return slot;
        }
        let made = self.lock().of(shape, sizes).count;
        // Where all were made and none is home, firings that failed have lost some.
        let missing = match self.memory.slots() {
            Slots::AsNeeded => 1,
            Slots::AllFirst => self.limit.saturating_sub(made).max(1),
        };
        // Whoever touches a page first decides what memory it lies in: that should be the group's.
        let arena = cores.map_or_else(|| self.memory.arena().clone(), |cores| cores.touching(self.memory.arena()));
        for _ in 1..missing {
            let spare = T::in_arena(shape, &arena);
            let mut slots = self.lock();
            slots.of(shape, sizes).count += 1;
            slots.home.push((shape.clone(), spare));
        }
        let slot = T::in_arena(shape, &arena);
        self.lock().of(shape, sizes).count += 1;
        slot
    }

    /// Takes a slot that was wiped: back home, or away.
    pub(crate) fn put(&self, token: T) {
        if self.memory.dealloc() != Dealloc::Recycle {
            return;
        }
        let shape = token.shape();
        let mut slots = self.lock();
        // What was in use while its kind was sent away follows it, also where others were made meanwhile.
        let home = slots.home_of(&shape);
        if slots.made.iter().any(|made| made.shape == shape && home < made.count) {
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
            made.iter_mut().for_each(|made| made.of.retain(|of| of != sizes));
            for at in (0..home.len()).rev() {
                if made.iter().any(|made| made.of.is_empty() && made.shape == home[at].0) {
                    idle.push(home.swap_remove(at));
                }
            }
            made.retain(|made| !made.of.is_empty());
        }
        drop(idle);
        self.workspaces.trim(sizes);
    }
}
