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
    /// How many were made, by shape, and for circuits of what sizes.
    pub(super) made: Vec<(T::Shape, usize, Sizes)>,
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

    fn at_home(&self, shape: &T::Shape) -> Option<T> {
        let mut slots = self.lock();
        let position = slots.home.iter().rposition(|(has, _)| has == shape)?;
        Some(slots.home.swap_remove(position).1)
    }

    /// A slot of this shape: one that is home, or a new one. The first of a shape makes all that the plan has, if that is
    /// asked for.
    pub(super) fn take(&self, shape: &T::Shape, sizes: &Sizes, cores: Option<&CcdPool>) -> T {
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
