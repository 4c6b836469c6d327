//! The memory of a running pipeline: where slots and workspaces come from.

use std::any::Any;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use proofline_memory::{Arena, Counts, Registrar, Settings};

use crate::plan::{Dealloc, GiveBack};
use crate::stage::Sizes;

/// When the slots of a plan are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Slots {
    /// One when a token finds none at home: a pipeline that has few jobs at once takes no more memory than these need.
    #[default]
    AsNeeded,
    /// All that the plan has with the first token of a size: no later one waits for memory, however many jobs come.
    AllFirst,
}

/// What all stages of a pipeline share of memory.
pub(crate) struct Memory {
    dealloc: Dealloc,
    slots: Slots,
    arena: Arena,
    /// Whether somebody was told that memory lies on small pages.
    told: AtomicBool,
    homes: Mutex<Vec<Weak<dyn Home>>>,
}

/// A place where slots and workspaces are kept.
pub(crate) trait Home: Send + Sync {
    /// Gives the memory of those for circuits of these sizes back to the kernel, as far as nobody uses them.
    fn trim(&self, sizes: &Sizes);
}

impl Memory {
    /// Slots are recycled or freed; what is freed goes back to the kernel in this way; blocks are made known to a device
    /// if there is one.
    pub(crate) fn new(
        dealloc: Dealloc,
        give_back: GiveBack,
        slots: Slots,
        registrar: Option<Arc<dyn Registrar>>,
    ) -> Self {
        let settings = Settings { registrar, give_back, ..Settings::default() };
        let settings = match dealloc {
            Dealloc::Recycle => settings,
            // As an allocator would: pages of the usual size, which come when they are first written.
            Dealloc::BoundedFree | Dealloc::UnboundedFree => {
                Settings { large_pages: false, touched: false, ..settings }
            }
        };
        Self { dealloc, slots, arena: Arena::new(settings), told: AtomicBool::new(false), homes: Mutex::default() }
    }

    pub(crate) fn dealloc(&self) -> Dealloc {
        self.dealloc
    }

    pub(crate) fn slots(&self) -> Slots {
        self.slots
    }

    pub(crate) fn arena(&self) -> &Arena {
        &self.arena
    }

    pub(crate) fn counts(&self) -> Counts {
        self.arena.counts()
    }

    /// One more place where slots are kept.
    pub(crate) fn keeps(&self, home: Weak<dyn Home>) {
        self.homes.lock().unwrap_or_else(PoisonError::into_inner).push(home);
    }

    /// Trims all places.
    pub(crate) fn trim(&self, sizes: &Sizes) {
        let homes = self.homes.lock().unwrap_or_else(PoisonError::into_inner).clone();
        homes.iter().filter_map(Weak::upgrade).for_each(|home| home.trim(sizes));
    }

    /// Whether memory lies on small pages and nobody has been told yet; who asks is told.
    pub(crate) fn warns(&self) -> bool {
        self.arena.warning().is_some() && !self.told.swap(true, Ordering::Relaxed)
    }
}

/// What the firings of a stage keep from one to the next, of any kinds.
#[derive(Default)]
pub(crate) struct Workspaces(Mutex<Vec<Kept>>);

/// A workspace, and the sizes that it was made for.
type Kept = (Sizes, Box<dyn Any + Send>);

impl Workspaces {
    fn lock(&self) -> MutexGuard<'_, Vec<Kept>> {
        // As for the lists of slots: at worst one is missing.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Drops those for these sizes that nobody uses.
    pub(crate) fn trim(&self, sizes: &Sizes) {
        let mut idle = Vec::new();
        let mut all = self.lock();
        for at in (0..all.len()).rev() {
            if all[at].0 == *sizes {
                idle.push(all.swap_remove(at));
            }
        }
        drop(all);
    }

    pub(crate) fn take<W: Send + 'static>(
        &self,
        sizes: Sizes,
        fits: impl Fn(&W) -> bool,
        make: impl FnOnce() -> W,
    ) -> Workspace<'_, W> {
        let (kept, misfit) = {
            let mut all = self.lock();
            let position = all.iter().rposition(|(_, one)| one.downcast_ref::<W>().is_some_and(&fits));
            let kept = position.map(|position| all.swap_remove(position));
            // One that does not fit makes room for the one that is made, which counts in its place: the memory of a size is
            // that of as many workspaces as there are workers, whatever keys there are of that size.
            let misfit = || all.iter().position(|(of, one)| *of == sizes && one.is::<W>());
            let misfit = if kept.is_none() { misfit() } else { None };
            let misfit = misfit.map(|position| all.swap_remove(position));
            (kept, misfit)
        };
        drop(misfit);
        let kept = kept.and_then(|(_, one)| one.downcast::<W>().ok()).unwrap_or_else(|| Box::new(make()));
        Workspace { home: self, sizes, kept: Some(kept) }
    }
}

/// Memory of a firing beside its tokens; the next one finds it where it was.
pub struct Workspace<'a, W: Send + 'static> {
    home: &'a Workspaces,
    sizes: Sizes,
    /// `None` only while it is being dropped.
    kept: Option<Box<W>>,
}

impl<W: Send + 'static> Deref for Workspace<'_, W> {
    type Target = W;

    fn deref(&self) -> &W {
        match &self.kept {
            Some(kept) => kept,
            None => unreachable!("taken out in drop only"),
        }
    }
}

impl<W: Send + 'static> DerefMut for Workspace<'_, W> {
    fn deref_mut(&mut self) -> &mut W {
        match &mut self.kept {
            Some(kept) => kept,
            None => unreachable!("taken out in drop only"),
        }
    }
}

impl<W: Send + 'static> Drop for Workspace<'_, W> {
    fn drop(&mut self) {
        if let Some(kept) = self.kept.take() {
            self.home.lock().push((self.sizes, kept));
        }
    }
}
