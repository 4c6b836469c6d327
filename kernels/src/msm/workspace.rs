//! Memory of multiplications, kept between them: in the steady state a multiplication allocates nothing of any size.
//!
//! What is in use at once bounds what is kept: a task's memory for each thread, a window's for each window that is being
//! summed (at most 2^22 terms of four bytes, and its buckets), and the terms of each multiplication under way.

use proofline_memory::{Arena, List, Pages, taken};
use rayon::prelude::*;

use super::Curve;
use super::adder::{Adder, BATCH, Pair};
use super::lengths::{FULL_BITS, Lengths};
use super::pippenger::TERMS_PER_CHUNK;
use super::segments::{BLOCK, PIECE};
use crate::shelf::Shelf;

/// Memory for multiplications over one group; several at a time may share one.
///
/// Scalars are erased after each multiplication. What stays until the next one overwrites it is the order in which positions
/// were sorted by their digits, and sums of points by digits: memory for secrets, which is left out of core dumps.
pub struct Workspace<C: Curve> {
    pub(super) portable: Pool<C, C::Portable>,
    #[cfg(target_arch = "x86_64")]
    pub(super) ifma: Pool<C, C::Ifma>,
}

impl<C: Curve> Workspace<C> {
    /// Empty, with an arena of its own: the first multiplications fill it.
    pub fn new() -> Self {
        Self::in_arena(&Arena::default())
    }

    /// Empty; its memory comes from an arena. [`Query::prepare`](super::Query::prepare) fills it before it is used.
    pub fn in_arena(arena: &Arena) -> Self {
        Self {
            portable: Pool::new(arena),
            #[cfg(target_arch = "x86_64")]
            ifma: Pool::new(arena),
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
    pub(super) pairs: List<Pair>,
    pub(super) sizes: List<u32>,
}

/// Memory of one window, or of another sum of many entries.
pub(super) struct Window<P: Copy> {
    pub(super) sorted: Sorted,
    pub(super) buckets: List<P>,
}

impl<P: Copy> Window<P> {
    fn new(arena: &Arena) -> Self {
        let [entries, sizes, places] = [(); 3].map(|()| List::new(arena));
        Self { sorted: Sorted { entries, sizes, places }, buckets: List::new(arena) }
    }

    fn bytes(&self) -> usize {
        let Sorted { entries, sizes, places } = &self.sorted;
        entries.bytes() + sizes.bytes() + places.bytes() + self.buckets.bytes()
    }

    /// The entries and buckets that it has room for, as one number.
    fn room(&self) -> usize {
        4 * self.sorted.entries.capacity() + size_of::<P>() * self.buckets.capacity()
    }
}

/// Entries in the order of their segments.
pub(super) struct Sorted {
    pub(super) entries: List<u32>,
    /// Entries of each segment.
    pub(super) sizes: List<u32>,
    /// Where the next entry of each goes, while sorting.
    pub(super) places: List<u32>,
}

/// Limbs of a full scalar.
const LIMBS: usize = 4;

/// Memory of the terms of one multiplication.
pub(super) struct Limbs {
    entries: List<u32>,
    words: List<u64>,
    /// How many terms of each kind come from each part of a set.
    survey: Vec<Survey>,
}

/// Parts that a set is cut into, at most.
pub(super) const MOST_PARTS: usize = 1 << 9;

/// How many scalars of a part of a set have points: those that are 1 or −1, small ones, full ones.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Survey {
    pub(super) ones: u32,
    pub(super) small: u32,
    pub(super) full: u32,
}

impl Limbs {
    pub(super) fn new(arena: &Arena) -> Self {
        Self { entries: List::new(arena), words: List::new(arena), survey: Vec::with_capacity(MOST_PARTS) }
    }

    /// Counts the parts of a set; [`room`](Self::room) has the counts. Gives their sums.
    pub(super) fn survey(&mut self, parts: usize, of: impl Fn(usize) -> Survey + Sync) -> [usize; 3] {
        debug_assert!(parts <= MOST_PARTS);
        self.survey.resize(parts, Survey::default());
        self.survey.par_iter_mut().enumerate().for_each(|(part, survey)| *survey = of(part));
        let sum = |of: fn(&Survey) -> u32| self.survey.iter().map(|survey| of(survey) as usize).sum();
        [sum(|survey| survey.ones), sum(|survey| survey.small), sum(|survey| survey.full)]
    }

    /// Room for so many terms whose scalars have so many limbs in all.
    pub(super) fn room(&mut self, terms: usize, limbs: usize) -> Room<'_> {
        self.entries.set_len(terms, 0);
        self.words.set_len(limbs, 0);
        Room { entries: &mut self.entries, words: &mut self.words, survey: &self.survey }
    }
}

/// Memory of terms that is not yet in use; its contents are of no meaning.
pub(super) struct Room<'m> {
    entries: &'m mut [u32],
    words: &'m mut [u64],
    /// What was [counted](Limbs::survey) last.
    pub(super) survey: &'m [Survey],
}

/// Memory of a number of terms: entries, and scalars limb by limb.
pub(super) type OfTerms<'m, const LIMBS: usize> = (&'m mut [u32], [&'m mut [u64]; LIMBS]);

impl<'m> Room<'m> {
    /// Takes the memory of `count` terms from the front.
    pub(super) fn take<const LIMBS: usize>(&mut self, count: usize) -> OfTerms<'m, LIMBS> {
        fn front<'m, T>(from: &mut &'m mut [T], count: usize) -> &'m mut [T] {
            let (front, rest) = std::mem::take(from).split_at_mut(count);
            *from = rest;
            front
        }
        (front(&mut self.entries, count), [(); LIMBS].map(|()| front(&mut self.words, count)))
    }
}

/// The workspace of one implementation.
pub(super) struct Pool<C: Curve, A: Adder<C>> {
    arena: Arena,
    tasks: Shelf<Task<C, A>>,
    windows: Shelf<Window<A::Point>>,
    /// Of sums of many entries, which are cut into pieces: as windows, but small, and used inside of one.
    pieces: Shelf<Window<A::Point>>,
    terms: Shelf<Limbs>,
}

/// The longest lists of multiplications of up to so many terms.
struct Longest {
    terms: usize,
    /// Entries of a window; the ones of a set, which are not cut into chunks, are as many as terms.
    in_window: usize,
    buckets: usize,
    /// Pieces of a sum of all terms.
    pieces: usize,
    pairs: usize,
}

impl Longest {
    fn of(terms: usize) -> Self {
        let in_window = terms.min(TERMS_PER_CHUNK);
        // Full scalars want the widest windows. The topmost may have twice as many buckets as the others. Chunks of at
        // least four put two sums each behind them, and the last chunk is filled up.
        let width = Lengths::all(terms, FULL_BITS).window_width();
        let buckets = (1_usize << width) + (1 << width) / 2 + 64;
        let pieces = terms.div_ceil(PIECE);
        Self { terms, in_window: in_window + 1, buckets, pieces, pairs: BLOCK.max(buckets).max(BATCH).max(pieces / 2) }
    }

    fn entries(&self, window: usize) -> usize {
        if window == 0 { self.terms + 1 } else { self.in_window }
    }
}

impl<C: Curve, A: Adder<C>> Pool<C, A> {
    pub(super) fn new(arena: &Arena) -> Self {
        Self {
            arena: arena.clone(),
            tasks: Shelf::new(),
            windows: Shelf::new(),
            pieces: Shelf::new(),
            terms: Shelf::new(),
        }
    }

    /// Makes what multiplications of up to `terms` terms by as many threads need, so that none of them has to.
    pub(super) fn prepare(&self, adder: &A, terms: usize, threads: usize) {
        let longest = Longest::of(terms);
        let mut limbs = self.terms.take(|| Limbs::new(&self.arena));
        limbs.entries.reserve_total(terms);
        limbs.words.reserve_total(LIMBS * terms);
        // All are taken before one goes back, so that none is taken twice.
        let windows: Vec<_> = (0..threads)
            .map(|at| {
                let wanted = 4 * longest.entries(at) + size_of::<A::Point>() * longest.buckets;
                let make = || Window::new(&self.arena);
                let mut window = self.windows.take_fitting(wanted, Window::room, make);
                window.sorted.entries.reserve_total(longest.entries(at));
                window.sorted.sizes.reserve_total(longest.buckets);
                window.sorted.places.reserve_total(longest.buckets);
                window.buckets.reserve_total(longest.buckets);
                window
            })
            .collect();
        drop(windows);
        let pieces: Vec<_> = (0..threads)
            .map(|_| {
                let mut sum = self.pieces.take(|| Window::new(&self.arena));
                sum.sorted.sizes.reserve_total(longest.pieces);
                sum.buckets.reserve_total(longest.pieces);
                sum
            })
            .collect();
        drop(pieces);
        let tasks: Vec<_> = (0..threads)
            .map(|_| {
                let mut task = self.tasks.take(|| self.task(adder, longest.pairs));
                task.pairs.reserve_total(longest.pairs);
                task
            })
            .collect();
        drop(tasks);
    }

    /// What [`prepare`](Self::prepare) takes, in bytes.
    pub(super) fn prepared_bytes(terms: usize, threads: usize) -> usize {
        Self::prepared_lists(terms, threads).map(taken).sum()
    }

    /// The bytes of the lists that [`prepare`](Self::prepare) makes, in their order.
    pub(super) fn prepared_lists(terms: usize, threads: usize) -> impl Iterator<Item = usize> {
        let longest = Longest::of(terms);
        let point = size_of::<A::Point>();
        let window =
            |at: usize| [4 * longest.entries(at), 4 * longest.buckets, 4 * longest.buckets, point * longest.buckets];
        let pieces = [4 * longest.pieces, point * longest.pieces];
        let of_task = [point * 2 * BLOCK, size_of::<Pair>() * longest.pairs, 4 * BLOCK];
        let task = A::SCRATCH_LISTS.iter().copied().chain(of_task);
        let mut lists = vec![4 * terms, 8 * LIMBS * terms];
        lists.extend((0..threads).flat_map(window));
        lists.extend((0..threads).flat_map(|_| pieces));
        lists.extend((0..threads).flat_map(|_| task.clone()));
        lists.into_iter()
    }

    fn task(&self, adder: &A, pairs: usize) -> Task<C, A> {
        let mut task = Task {
            scratch: adder.scratch(&self.arena),
            points: Pages::filled_in(&self.arena, 2 * BLOCK, A::infinity()),
            pairs: List::new(&self.arena),
            sizes: List::new(&self.arena),
        };
        task.pairs.reserve_total(pairs);
        task.sizes.reserve_total(BLOCK);
        task
    }

    /// Runs `f` with the memory of a task.
    pub(super) fn with_task<R>(&self, adder: &A, f: impl FnOnce(&mut Task<C, A>) -> R) -> R {
        f(&mut self.tasks.take(|| self.task(adder, BLOCK.max(BATCH))))
    }

    /// Runs `f` with the memory of a window of so many entries and buckets.
    pub(super) fn with_window<R>(
        &self,
        (entries, buckets): (usize, usize),
        f: impl FnOnce(&mut Window<A::Point>) -> R,
    ) -> R {
        let wanted = 4 * entries + size_of::<A::Point>() * buckets;
        f(&mut self.windows.take_fitting(wanted, Window::room, || Window::new(&self.arena)))
    }

    /// Runs `f` with the memory of a sum that is cut into so many pieces.
    pub(super) fn with_pieces<R>(&self, pieces: usize, f: impl FnOnce(&mut Window<A::Point>) -> R) -> R {
        let wanted = size_of::<A::Point>() * pieces;
        f(&mut self.pieces.take_fitting(wanted, Window::room, || Window::new(&self.arena)))
    }

    /// Runs `f` with the memory of terms.
    pub(super) fn with_terms<R>(&self, f: impl FnOnce(&mut Limbs) -> R) -> R {
        f(&mut self.terms.take(|| Limbs::new(&self.arena)))
    }

    fn bytes(&self) -> usize {
        let tasks = self.tasks.sum(|task| task.points.bytes() + task.pairs.bytes() + task.sizes.bytes());
        let terms = self.terms.sum(|terms| terms.entries.bytes() + terms.words.bytes());
        tasks + terms + self.windows.sum(Window::bytes) + self.pieces.sum(Window::bytes)
    }
}
