//! Multiplications by the scalars of a set: each class in its own way, all of them at once.

use super::adder::Adder;
use super::pippenger::{self, Jobs};
use super::segments;
use super::terms::Terms;
use super::workspace::{MOST_PARTS, Pool, Survey, Window};
use super::{Curve, Query};
use crate::scalars::{Block, Density, ScalarSet};

/// Σ scalar · point over the scalars of the set that have points. Parallel.
pub(super) fn multiply<C: Curve, A: Adder<C>>(
    query: &Query<C>,
    bases: &A,
    pool: &Pool<C, A>,
    set: &ScalarSet,
    density: Density<'_>,
) -> C::Projective {
    let points = Points { query, density };
    let blocks_each = set.block_count().div_ceil(MOST_PARTS).max(1);
    let parts = set.block_count().div_ceil(blocks_each);
    let blocks = |part: usize| {
        let of_part = part * blocks_each..set.block_count().min((part + 1) * blocks_each);
        of_part.map(|at| set.block(at))
    };
    pool.with_terms(|memory| {
        // Classes are sorted once for all queries. A query counts first what is its own of each part: that reads positions,
        // and lets its terms lie close.
        let [ones, few, many] = memory.survey(parts, |part| points.survey(blocks(part)));
        let mut room = memory.room(few + many, 2 * few + 4 * many);
        let (of_full, of_small, survey) = (room.take(many), room.take(few), room.survey);
        let small = || {
            let terms = |part: usize| {
                let own = blocks(part).flat_map(|block| block.small);
                // A second limb, for the carry of the signed digits.
                own.filter_map(|x| Some((points.entry(x.position(), x.is_negative())?, [x.magnitude(), 0])))
            };
            Jobs::new(Terms::of_parts(of_small, &|part: usize| survey[part].small as usize, 0..parts, &terms))
        };
        let full = || {
            let terms = |part: usize| {
                let own = blocks(part).flat_map(|block| block.full);
                own.filter_map(|x| Some((points.entry(x.position(), false)?, x.limbs())))
            };
            Jobs::new(Terms::of_parts(of_full, &|part: usize| survey[part].full as usize, 0..parts, &terms))
        };
        let (full, small) = rayon::join(full, small);
        // The ones are the first job, since theirs takes longest where they are many.
        let (of_ones, of_full) = (usize::from(ones > 0), full.count());
        let ((entries, buckets), (more_entries, more_buckets)) = (full.room(), small.room());
        let room = (entries.max(more_entries).max(ones), buckets.max(more_buckets));
        let sums = pippenger::run(pool, of_ones + of_full + small.count(), room, |job, window| {
            match job.checked_sub(of_ones) {
                None => points.sum_of_ones(bases, pool, set, ones, window),
                Some(job) if job < of_full => full.sum(job, bases, pool, window),
                Some(job) => small.sum(job - of_full, bases, pool, window),
            }
        });
        let of = |from: usize, count: usize| {
            let own = sums.iter().filter(move |(job, _)| (from..from + count).contains(job));
            own.map(move |(job, sum)| (job - from, *sum))
        };
        of(0, of_ones).fold(C::zero(), |total, (_, sum)| total + sum)
            + full.together::<C>(of(of_ones, of_full))
            + small.together::<C>(of(of_ones + of_full, small.count()))
    })
}

/// The points that scalars of a set belong to.
struct Points<'a, C: Curve> {
    query: &'a Query<C>,
    density: Density<'a>,
}

impl<C: Curve> Points<'_, C> {
    /// The entry of the point of a scalar; nothing if it has none, or it is infinity.
    #[inline]
    fn entry(&self, position: u32, negative: bool) -> Option<u32> {
        self.query.entry(self.density.place(position)?, negative)
    }

    /// How many scalars of some blocks have points.
    fn survey<'s>(&self, blocks: impl Iterator<Item = Block<'s>>) -> Survey {
        let has_point = |position: u32| self.entry(position, false).is_some();
        blocks.fold(Survey::default(), |Survey { ones, small, full }, block| {
            let of_ones = block.ones.iter().chain(block.minus_ones).filter(|position| has_point(**position));
            let of_small = block.small.iter().filter(|small| has_point(small.position()));
            let of_full = block.full.iter().filter(|full| has_point(full.position()));
            // A set has fewer scalars than 2^32.
            let plus = |sum: u32, more: usize| sum + more as u32;
            Survey {
                ones: plus(ones, of_ones.count()),
                small: plus(small, of_small.count()),
                full: plus(full, of_full.count()),
            }
        })
    }

    /// The sum of the points with the scalars 1 and −1, of which there are `ones`.
    fn sum_of_ones<A: Adder<C>>(
        &self,
        bases: &A,
        pool: &Pool<C, A>,
        set: &ScalarSet,
        ones: usize,
        Window { sorted, .. }: &mut Window<A::Point>,
    ) -> C::Projective {
        sorted.entries.clear();
        sorted.entries.reserve_total(ones);
        for block in (0..set.block_count()).map(|at| set.block(at)) {
            sorted.entries.extend(block.ones.iter().filter_map(|&at| self.entry(at, false)));
            sorted.entries.extend(block.minus_ones.iter().filter_map(|&at| self.entry(at, true)));
        }
        bases.to_affine(&segments::sum_all(bases, pool, &sorted.entries)).into()
    }
}
