//! Bucket multiplication: per window, terms are sorted by digit, buckets summed as trees, and weighed.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::Curve;
use super::adder::Adder;
use super::digits::Windows;
use super::segments::{sum_segments, weighted_sum};
use super::terms::Terms;
use super::workspace::{Pool, Window};

/// Terms that one window sorts at once: bounds the memory of a window to 32 MiB and its buckets.
pub(super) const TERMS_PER_CHUNK: usize = 1 << 22;

/// A multiplication that is cut into jobs: a chunk of the terms in one window each.
pub(super) struct Jobs<'m, const LIMBS: usize> {
    terms: Terms<'m, LIMBS>,
    /// Nothing if all scalars are zero.
    windows: Option<Windows<LIMBS>>,
    per_chunk: usize,
    chunks: usize,
}

impl<'m, const LIMBS: usize> Jobs<'m, LIMBS> {
    pub(super) fn new(terms: Terms<'m, LIMBS>) -> Self {
        let width = terms.lengths().window_width();
        Self::cut(terms, width, TERMS_PER_CHUNK)
    }

    /// [`new`](Self::new) with windows of a given width, and so many terms in a chunk at most.
    pub(super) fn cut(mut terms: Terms<'m, LIMBS>, width: u32, most_per_chunk: usize) -> Self {
        let bits = terms.lengths().longest();
        let windows = (bits > 0).then(|| Windows::new(bits, width));
        windows.iter().for_each(|windows| terms.bias(windows));
        let chunks = terms.len().div_ceil(most_per_chunk).max(1);
        let per_chunk = terms.len().div_ceil(chunks);
        Self { terms, windows, per_chunk, chunks }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.windows.map_or(0, |windows| windows.count() as usize * self.chunks)
    }

    /// Entries and buckets of the largest.
    pub(super) fn room(&self) -> (usize, usize) {
        let windows = self.windows.iter().flat_map(|windows| (0..windows.count()).map(|at| windows.buckets(at)));
        (self.per_chunk, windows.max().unwrap_or(0))
    }

    /// The sum of one of them, not yet shifted to its window. Parallel.
    pub(super) fn sum<C: Curve, A: Adder<C>>(
        &self,
        job: usize,
        adder: &A,
        pool: &Pool<C, A>,
        Window { sorted, buckets }: &mut Window<A::Point>,
    ) -> C::Projective {
        let Some(windows) = &self.windows else { return C::zero() };
        let (window, chunk) = ((job / self.chunks) as u32, job % self.chunks);
        let range = chunk * self.per_chunk..self.terms.len().min((chunk + 1) * self.per_chunk);
        self.terms.sort(range, windows, window, sorted);
        buckets.clear();
        buckets.resize(sorted.sizes.len(), A::infinity());
        sum_segments(adder, pool, &sorted.entries, &sorted.sizes, buckets);
        weighted_sum(adder, pool, buckets)
    }

    /// The whole sum, from those of the jobs: as pairs of job and sum, each once, in any order.
    pub(super) fn together<C: Curve>(&self, sums: impl Iterator<Item = (usize, C::Projective)>) -> C::Projective {
        let Some(windows) = &self.windows else { return C::zero() };
        let mut by_window = vec![C::zero(); windows.count() as usize];
        sums.for_each(|(job, sum)| by_window[job / self.chunks] += sum);
        by_window.into_iter().rev().fold(C::zero(), |mut total, sum| {
            for _ in 0..windows.width() {
                total = C::doubled(&total);
            }
            total + sum
        })
    }
}

/// Runs jobs with the numbers below `count` on all threads, each thread with the memory of one window for all of its jobs:
/// no more windows are in use than there are threads. Gives the sums with their jobs' numbers, in no order.
///
/// Threads fetch jobs one by one. Were the jobs themselves what threads steal of one another, one that waits for a part of
/// its window would take up another window meanwhile, and in it another.
pub(super) fn run<C: Curve, A: Adder<C>>(
    pool: &Pool<C, A>,
    count: usize,
    room: (usize, usize),
    job: impl Fn(usize, &mut Window<A::Point>) -> C::Projective + Sync,
) -> Vec<(usize, C::Projective)> {
    let next = AtomicUsize::new(0);
    let runners = rayon::current_num_threads().min(count);
    let of_runner = |_| {
        pool.with_window(room, |window| {
            let fetch = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|number| *number < count);
            std::iter::from_fn(fetch).map(|number| (number, job(number, window))).collect::<Vec<_>>()
        })
    };
    (0..runners).into_par_iter().with_max_len(1).flat_map_iter(of_runner).collect()
}

/// Σ ±scalar · base over the terms.
pub(super) fn multiply<C: Curve, A: Adder<C>, const LIMBS: usize>(
    adder: &A,
    pool: &Pool<C, A>,
    jobs: &Jobs<'_, LIMBS>,
) -> C::Projective {
    let sums = run(pool, jobs.count(), jobs.room(), |job, window| jobs.sum(job, adder, pool, window));
    jobs.together::<C>(sums.into_iter())
}
