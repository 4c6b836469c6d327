//! Memory of multiplications, kept between them: in the steady state a multiplication allocates nothing of any size.
//!
//! What is in use at once bounds what is kept: a task's memory for each thread, a window's for each window that is being
//! summed (at most 2^22 terms of four bytes, and its buckets), and the terms of each multiplication under way.

use super::Curve;
use super::adder::{Adder, Pair};
use crate::pages::Pages;
use crate::shelf::Shelf;

/// Memory for multiplications over one group; several at a time may share one.
///
/// Holds no secrets between multiplications but the order in which positions were sorted by their digits, which the
/// next one overwrites; scalars are erased.
pub struct Workspace<C: Curve> {
    pub(super) portable: Pool<C, C::Portable>,
    #[cfg(target_arch = "x86_64")]
    pub(super) ifma: Pool<C, C::Ifma>,
}

impl<C: Curve> Workspace<C> {
    /// Empty: the first multiplications fill it.
    pub fn new() -> Self {
        Self {
            portable: Pool::new(),
            #[cfg(target_arch = "x86_64")]
            ifma: Pool::new(),
        }
    }

    /// Bytes of memory kept.
    pub fn bytes(&self) -> usize {
        let bytes = self.portable.bytes();
        #[cfg(target_arch = "x86_64")]
        let bytes = bytes + self.ifma.bytes();
        bytes
    }
}

impl<C: Curve> Default for Workspace<C> {
    fn default() -> Self {
        Self::new()
    }
}

impl<C: Curve> std::fmt::Debug for Workspace<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Workspace({} bytes)", self.bytes())
    }
}

/// Memory of one task, which sums one block after the other.
pub(super) struct Task<C: Curve, A: Adder<C>> {
    pub(super) scratch: A::Scratch,
    /// Two regions, read and written in turn by the rounds.
    pub(super) points: Pages<A::Point>,
    pub(super) pairs: Vec<Pair>,
    pub(super) sizes: Vec<u32>,
}

/// Memory of one window, or of another sum of many entries.
pub(super) struct Window<P> {
    pub(super) sorted: Sorted,
    pub(super) buckets: Vec<P>,
}

/// Entries in the order of their segments.
#[derive(Default)]
pub(super) struct Sorted {
    pub(super) entries: Vec<u32>,
    /// Entries of each segment.
    pub(super) sizes: Vec<u32>,
    /// Where the next entry of each goes, while sorting.
    pub(super) places: Vec<u32>,
}

/// Memory of the terms of one multiplication: entries, and scalars limb by limb.
#[derive(Default)]
pub(super) struct Limbs {
    pub(super) entries: Vec<u32>,
    pub(super) limbs: [Vec<u64>; 4],
}

/// The workspace of one implementation.
pub(super) struct Pool<C: Curve, A: Adder<C>> {
    tasks: Shelf<Task<C, A>>,
    windows: Shelf<Window<A::Point>>,
    terms: Shelf<Limbs>,
}

impl<C: Curve, A: Adder<C>> Pool<C, A> {
    pub(super) fn new() -> Self {
        Self { tasks: Shelf::new(), windows: Shelf::new(), terms: Shelf::new() }
    }

    /// Runs `f` with the memory of a task.
    pub(super) fn with_task<R>(&self, adder: &A, f: impl FnOnce(&mut Task<C, A>) -> R) -> R {
        let make = || Task {
            scratch: adder.scratch(),
            points: Pages::filled(0, A::infinity()),
            pairs: Vec::new(),
            sizes: Vec::new(),
        };
        f(&mut self.tasks.take(make))
    }

    /// Runs `f` with the memory of a window.
    pub(super) fn with_window<R>(&self, f: impl FnOnce(&mut Window<A::Point>) -> R) -> R {
        f(&mut self.windows.take(|| Window { sorted: Sorted::default(), buckets: Vec::new() }))
    }

    /// Runs `f` with the memory of terms.
    pub(super) fn with_terms<R>(&self, f: impl FnOnce(&mut Limbs) -> R) -> R {
        f(&mut self.terms.take(Limbs::default))
    }

    fn bytes(&self) -> usize {
        let words = |words: &Vec<u32>| 4 * words.capacity();
        let tasks = self.tasks.sum(|task| {
            size_of_val::<[_]>(&task.points) + size_of::<Pair>() * task.pairs.capacity() + words(&task.sizes)
        });
        let windows = self.windows.sum(|window| {
            let Sorted { entries, sizes, places } = &window.sorted;
            let buckets = size_of::<A::Point>() * window.buckets.capacity();
            [entries, sizes, places].map(words).iter().sum::<usize>() + buckets
        });
        let limbs = |limbs: &Limbs| limbs.limbs.iter().map(|limb| 8 * limb.capacity()).sum::<usize>();
        tasks + windows + self.terms.sum(|terms| words(&terms.entries) + limbs(terms))
    }
}
