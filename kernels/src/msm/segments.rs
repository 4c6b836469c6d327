//! Sums of many segments of bases at once, as trees of affine additions.
//!
//! In every round neighbours are paired, over all segments of a block together, so that batches stay full whatever the
//! sizes of the segments: a thousand small buckets or one that holds every bit of a witness.

use proofline_memory::{List, Pages};
use rayon::prelude::*;

use super::Curve;
use super::adder::{Adder, Pair};
use super::workspace::{Pool, Task, Window};

/// Entries of one block: its points after the first round (at most half as many), and the bases of the block that follows,
/// stay in a second-level cache.
pub(super) const BLOCK: usize = 1 << 12;
/// A segment of more entries than this is cut into pieces first.
pub(super) const PIECE: usize = 1 << 7;
/// Entries that one parallel task sums, at least. A segment of more is cut into pieces for all threads, one such segment after
/// the other: were they tasks, a thread that waits for the pieces of one would take up another meanwhile, and in it another, each
/// with memory of its own.
const ENTRIES_PER_TASK: usize = 1 << 16;
/// Tasks of a sum, at most: the list of them stays small.
const MOST_TASKS: usize = 1 << 9;

/// Sums of consecutive segments: `out[j]` becomes the sum of the next `sizes[j]` entries. Parallel.
pub(super) fn sum_segments<C: Curve, A: Adder<C>>(
    adder: &A,
    pool: &Pool<C, A>,
    entries: &[u32],
    sizes: &[u32],
    out: &mut [A::Point],
) {
    debug_assert_eq!(sizes.len(), out.len());
    debug_assert_eq!(sizes.iter().map(|&size| size as usize).sum::<usize>(), entries.len());
    // Cut into tasks of whole segments.
    let per_task = ENTRIES_PER_TASK.max(entries.len() / MOST_TASKS);
    let (mut tasks, mut huge) = (Vec::new(), Vec::new());
    let (mut entries, mut sizes, mut out) = (entries, sizes, out);
    while let Some(&first) = sizes.first() {
        let is_huge = |size: u32| size as usize > ENTRIES_PER_TASK;
        let mut total = 0;
        let count = if is_huge(first) {
            total = first as usize;
            1
        } else {
            let fits = |size: &&u32| {
                let open = total < per_task && !is_huge(**size);
                total += if open { **size as usize } else { 0 };
                open
            };
            sizes.iter().take_while(fits).count()
        };
        let (own_out, rest_out) = std::mem::take(&mut out).split_at_mut(count);
        if is_huge(first) {
            huge.push((&entries[..total], &mut own_out[0]));
        } else {
            tasks.push((&entries[..total], &sizes[..count], own_out));
        }
        (entries, sizes, out) = (&entries[total..], &sizes[count..], rest_out);
    }
    tasks.into_par_iter().for_each(|(entries, sizes, out)| sum_task(adder, pool, entries, sizes, out));
    huge.into_iter().for_each(|(entries, out)| *out = sum_all(adder, pool, entries));
}

/// [`sum_segments`] of no huge ones, alone on its thread.
fn sum_task<C: Curve, A: Adder<C>>(adder: &A, pool: &Pool<C, A>, entries: &[u32], sizes: &[u32], out: &mut [A::Point]) {
    let mut rest = (entries, sizes, out);
    while !rest.1.is_empty() {
        let (entries, sizes, out) = rest;
        if sizes[0] as usize > BLOCK {
            // Several blocks, one after the other.
            let (own, after) = entries.split_at(sizes[0] as usize);
            let mut partial = [A::infinity(); ENTRIES_PER_TASK / BLOCK];
            let partial = &mut partial[..own.len().div_ceil(BLOCK)];
            pool.with_task(adder, |task| {
                let mut blocks = own.chunks(BLOCK).zip(&mut *partial).peekable();
                while let Some((block, sum)) = blocks.next() {
                    let soon = blocks.peek().map_or(&[][..], |(block, _)| block);
                    sum_block(adder, task, block, &[block.len() as u32], soon, std::slice::from_mut(sum));
                }
                out[0] = add_up(adder, task, partial);
            });
            rest = (after, &sizes[1..], &mut out[1..]);
            continue;
        }
        let mut total = 0;
        let count = sizes
            .iter()
            .take_while(|size| {
                total += **size as usize;
                total <= BLOCK
            })
            .count();
        let total = sizes[..count].iter().map(|&size| size as usize).sum();
        let (block_out, rest_out) = out.split_at_mut(count);
        let after = entries.get(total..).unwrap_or(&[]);
        let soon = &after[..after.len().min(BLOCK)];
        pool.with_task(adder, |task| {
            sum_block(adder, task, &entries[..total], &sizes[..count], soon, block_out);
        });
        rest = (after, &sizes[count..], rest_out);
    }
}

/// The sum of all entries. Parallel.
pub(super) fn sum_all<C: Curve, A: Adder<C>>(adder: &A, pool: &Pool<C, A>, entries: &[u32]) -> A::Point {
    if entries.is_empty() {
        return A::infinity();
    }
    pool.with_pieces(entries.len().div_ceil(PIECE), |Window { sorted, buckets: partial }| {
        let sizes = &mut sorted.sizes;
        sizes.clear();
        sizes.extend(entries.chunks(PIECE).map(|piece| piece.len() as u32));
        partial.clear();
        partial.resize(sizes.len(), A::infinity());
        sum_segments(adder, pool, entries, sizes, partial);
        pool.with_task(adder, |task| add_up(adder, task, partial))
    })
}

/// The sum of some points, of which there is at least one, as a tree. They are overwritten.
fn add_up<C: Curve, A: Adder<C>>(adder: &A, task: &mut Task<C, A>, mut points: &mut [A::Point]) -> A::Point {
    while points.len() > 1 {
        let half = points.len() / 2;
        task.pairs.clear();
        task.pairs.extend((0..half as u32).map(|i| Pair { a: 2 * i, b: 2 * i + 1, out: i }));
        let (odd, last) = (points.len() % 2, points[points.len() - 1]);
        adder.add_points(&task.pairs, &[], points, &mut task.scratch);
        points = &mut points[..half + odd];
        if odd == 1 {
            points[half] = last;
        }
    }
    points[0]
}

/// The entries whose bases are wanted next, in equal shares for the additions that are made meanwhile.
struct Soon<'a> {
    entries: &'a [u32],
    additions: usize,
}

impl<'a> Soon<'a> {
    /// The share of some of the additions that are left.
    fn share(&mut self, pairs: &[Pair]) -> &'a [u32] {
        let count = self.entries.len() * pairs.len() / self.additions.max(1);
        let (share, rest) = self.entries.split_at(count);
        *self = Self { entries: rest, additions: self.additions - pairs.len() };
        share
    }
}

/// One block, alone on its thread. The entries `soon` belong to the block that follows.
fn sum_block<C: Curve, A: Adder<C>>(
    adder: &A,
    task: &mut Task<C, A>,
    entries: &[u32],
    sizes: &[u32],
    soon: &[u32],
    out: &mut [A::Point],
) {
    let Task { scratch, points, pairs, sizes: left } = task;
    let region: usize = sizes.iter().map(|&size| size.div_ceil(2) as usize).sum();
    if points.len() < 2 * region {
        *points = Pages::filled_in(pairs.arena(), 2 * region, A::infinity());
    }
    // First round, from the bases.
    pairs.clear();
    left.clear();
    let (mut from, mut to) = (0, 0);
    for &size in sizes {
        for _ in 0..size / 2 {
            pairs.push(Pair { a: entries[from], b: entries[from + 1], out: to });
            from += 2;
            to += 1;
        }
        if size % 2 == 1 {
            points[to as usize] = adder.base(entries[from]);
            from += 1;
            to += 1;
        }
        left.push(size.div_ceil(2));
    }
    let additions = entries.len() - sizes.iter().filter(|size| **size > 0).count();
    let mut soon = Soon { entries: soon, additions };
    adder.add_bases(pairs, soon.share(pairs), points, scratch);
    // Further rounds, from one region to the other.
    let (mut source, mut target) = (0, region as u32);
    while left.iter().any(|&size| size > 1) {
        pairs.clear();
        let (mut from, mut to) = (source, target);
        for size in left.iter_mut() {
            for _ in 0..*size / 2 {
                pairs.push(Pair { a: from, b: from + 1, out: to });
                from += 2;
                to += 1;
            }
            if *size % 2 == 1 {
                points[to as usize] = points[from as usize];
                from += 1;
                to += 1;
            }
            *size = size.div_ceil(2);
        }
        adder.add_points(pairs, soon.share(pairs), points, scratch);
        (source, target) = (target, source);
    }
    let mut from = source as usize;
    for (out, &size) in out.iter_mut().zip(left.iter()) {
        *out = if size == 0 { A::infinity() } else { points[from] };
        from += size as usize;
    }
}

/// Σ (b + 1) · buckets[b]. Alone on its thread; `buckets` is overwritten.
///
/// Buckets are cut into chunks of equal length L. Running sums over all chunks at once give, per chunk j, its plain sum
/// S_j and its weighted sum T_j; the total is Σ T_j + L · Σ j·S_j, and Σ j·S_j is the same problem with fewer buckets.
pub(super) fn weighted_sum<C: Curve, A: Adder<C>>(
    adder: &A,
    pool: &Pool<C, A>,
    buckets: &mut List<A::Point>,
) -> C::Projective {
    pool.with_task(adder, |task| weighted(adder, task, buckets))
}

/// Below this many buckets projective additions one by one are as fast.
const FEW_BUCKETS: usize = 64;
/// So many sums are added one by one: a round of affine additions takes an inversion, as long as some six projective ones.
const FEW_SUMS: usize = 16;
/// Chunks that keep batches full.
const CHUNKS: usize = 1 << 10;
/// Chunks longer than this gain nothing any more.
const LONGEST_CHUNK: usize = 32;

fn weighted<C: Curve, A: Adder<C>>(adder: &A, task: &mut Task<C, A>, buckets: &mut List<A::Point>) -> C::Projective {
    // What each step of the descent gives: its own sum, and by how many doublings the next counts more.
    let mut steps = Vec::new();
    while buckets.len() > FEW_BUCKETS {
        steps.push(descend(adder, task, buckets));
    }
    let (mut running, mut total) = (C::zero(), C::zero());
    let mut empty = true;
    for bucket in buckets.iter().rev() {
        let bucket = adder.to_affine(bucket);
        if !bucket.is_infinity() {
            running += &bucket;
            empty = false;
        }
        if !empty {
            total += running;
        }
    }
    for (sum, doublings) in steps.into_iter().rev() {
        for _ in 0..doublings {
            total = C::doubled(&total);
        }
        total += sum;
    }
    total
}

/// Gives Σ T_j and log₂ L, and leaves the buckets of Σ j·S_j behind.
fn descend<C: Curve, A: Adder<C>>(
    adder: &A,
    task: &mut Task<C, A>,
    buckets: &mut List<A::Point>,
) -> (C::Projective, u32) {
    let Task { pairs, scratch, .. } = task;
    let length = (buckets.len() / CHUNKS).next_power_of_two().clamp(4, LONGEST_CHUNK);
    let chunks = buckets.len().div_ceil(length);
    buckets.resize(chunks * length, A::infinity());
    // After the buckets: the plain sums, then the weighted ones.
    let (plain, weight) = (buckets.len(), buckets.len() + chunks);
    for j in 0..chunks {
        buckets.push(buckets[j * length + length - 1]);
    }
    buckets.resize(weight + chunks, A::infinity());
    for k in (0..length).rev() {
        pairs.clear();
        for j in 0..chunks {
            let (plain, weight) = ((plain + j) as u32, (weight + j) as u32);
            pairs.push(Pair { a: weight, b: plain, out: weight });
        }
        if k > 0 {
            for j in 0..chunks {
                let plain = (plain + j) as u32;
                pairs.push(Pair { a: plain, b: (j * length + k - 1) as u32, out: plain });
            }
        }
        adder.add_points(pairs, &[], buckets, scratch);
    }
    // The sum of the weighted sums, as a tree down to where its rounds no longer fill a batch.
    let mut count = chunks;
    while count > FEW_SUMS {
        let half = count / 2;
        pairs.clear();
        let pair =
            |i: usize| Pair { a: (weight + i) as u32, b: (weight + count - half + i) as u32, out: (weight + i) as u32 };
        pairs.extend((0..half).map(pair));
        adder.add_points(pairs, &[], buckets, scratch);
        count -= half;
    }
    let sums = buckets[weight..weight + count].iter();
    let mut total = C::zero();
    sums.for_each(|sum| total += &adder.to_affine(sum));
    buckets.copy_within(plain + 1..plain + chunks, 0);
    buckets.truncate(chunks - 1);
    (total, length.trailing_zeros())
}
