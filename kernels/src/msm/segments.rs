//! Sums of many segments of bases at once, as trees of affine additions.
//!
//! In every round neighbours are paired, over all segments of a block together, so that batches stay full whatever the
//! sizes of the segments: a thousand small buckets or one that holds every bit of a witness.

use std::sync::Mutex;

use rayon::prelude::*;

use super::Curve;
use super::adder::{Adder, BATCH, Pair};
use crate::pages::Pages;

/// Entries of one block: its points after the first round (at most half as many) stay in a second-level cache.
const BLOCK: usize = 1 << 13;
/// A segment of more entries than this is cut into pieces first.
const PIECE: usize = 1 << 7;
/// Entries that one parallel task sums.
const ENTRIES_PER_TASK: usize = 1 << 16;

/// Memory of one task. Tasks take one from the [`Pool`] and give it back, so that there are never more than threads.
pub(super) struct Workspace<C: Curve, A: Adder<C>> {
    scratch: A::Scratch,
    /// Two regions, read and written in turn by the rounds.
    points: Pages<A::Point>,
    pairs: Vec<Pair>,
    sizes: Vec<u32>,
}

/// Workspaces that are not in use.
pub(super) struct Pool<C: Curve, A: Adder<C>> {
    free: Mutex<Vec<Workspace<C, A>>>,
}

impl<C: Curve, A: Adder<C>> Pool<C, A> {
    pub(super) fn new() -> Self {
        Self { free: Mutex::new(Vec::new()) }
    }

    /// Runs `f` with a workspace.
    fn with<R>(&self, adder: &A, f: impl FnOnce(&mut Workspace<C, A>) -> R) -> R {
        // A poisoned lock only means that another task panicked while it moved a workspace: the list is still a list.
        let lock = || self.free.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let taken = lock().pop();
        let mut workspace = taken.unwrap_or_else(|| Workspace {
            scratch: adder.scratch(),
            points: Pages::filled(0, A::infinity()),
            pairs: Vec::new(),
            sizes: Vec::new(),
        });
        let result = f(&mut workspace);
        lock().push(workspace);
        result
    }
}

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
    let mut tasks = Vec::new();
    let (mut entries, mut sizes, mut out) = (entries, sizes, out);
    while !sizes.is_empty() {
        let mut total = 0;
        let count = sizes
            .iter()
            .take_while(|size| {
                let open = total < ENTRIES_PER_TASK;
                total += if open { **size as usize } else { 0 };
                open
            })
            .count();
        let (task_out, rest_out) = std::mem::take(&mut out).split_at_mut(count);
        tasks.push((&entries[..total], &sizes[..count], task_out));
        (entries, sizes, out) = (&entries[total..], &sizes[count..], rest_out);
    }
    tasks.into_par_iter().for_each(|(entries, sizes, out)| {
        let mut rest = (entries, sizes, out);
        while !rest.1.is_empty() {
            let (entries, sizes, out) = rest;
            if sizes[0] as usize > BLOCK {
                let (own, after) = entries.split_at(sizes[0] as usize);
                out[0] = sum_all(adder, pool, own);
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
            let soon = &after[..after.len().min(2 * BATCH)];
            pool.with(adder, |workspace| {
                sum_block(adder, workspace, &entries[..total], &sizes[..count], soon, block_out);
            });
            rest = (after, &sizes[count..], rest_out);
        }
    });
}

/// The sum of all entries. Parallel.
pub(super) fn sum_all<C: Curve, A: Adder<C>>(adder: &A, pool: &Pool<C, A>, entries: &[u32]) -> A::Point {
    if entries.is_empty() {
        return A::infinity();
    }
    let mut partial = vec![A::infinity(); entries.len().div_ceil(PIECE)];
    let sizes: Vec<u32> = entries.chunks(PIECE).map(|piece| piece.len() as u32).collect();
    sum_segments(adder, pool, entries, &sizes, &mut partial);
    pool.with(adder, |workspace| {
        while partial.len() > 1 {
            let half = (partial.len() / 2) as u32;
            workspace.pairs.clear();
            workspace.pairs.extend((0..half).map(|i| Pair { a: 2 * i, b: 2 * i + 1, out: i }));
            let odd = partial.len() % 2 == 1;
            let last = partial[partial.len() - 1];
            adder.add_points(&workspace.pairs, &[], &mut partial, &mut workspace.scratch);
            partial.truncate(half as usize);
            if odd {
                partial.push(last);
            }
        }
    });
    partial[0]
}

/// One block, alone on its thread. The entries `soon` belong to the block that follows.
fn sum_block<C: Curve, A: Adder<C>>(
    adder: &A,
    workspace: &mut Workspace<C, A>,
    entries: &[u32],
    sizes: &[u32],
    mut soon: &[u32],
    out: &mut [A::Point],
) {
    let Workspace { scratch, points, pairs, sizes: left } = workspace;
    let region: usize = sizes.iter().map(|&size| size.div_ceil(2) as usize).sum();
    if points.len() < 2 * region {
        *points = Pages::filled(2 * region.max(BLOCK), A::infinity());
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
    adder.add_bases(pairs, points, scratch);
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
        adder.add_points(pairs, std::mem::take(&mut soon), points, scratch);
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
    buckets: &mut Vec<A::Point>,
) -> C::Projective {
    pool.with(adder, |workspace| weighted(adder, workspace, buckets))
}

/// Below this many buckets projective additions one by one are as fast.
const FEW_BUCKETS: usize = 64;
/// Chunks that keep batches full.
const CHUNKS: usize = 1 << 10;
/// Chunks longer than this gain nothing any more.
const LONGEST_CHUNK: usize = 32;

fn weighted<C: Curve, A: Adder<C>>(
    adder: &A,
    workspace: &mut Workspace<C, A>,
    buckets: &mut Vec<A::Point>,
) -> C::Projective {
    if buckets.len() <= FEW_BUCKETS {
        let (mut running, mut total) = (C::zero(), C::zero());
        for bucket in buckets.iter().rev() {
            running += adder.to_projective(bucket);
            total += running;
        }
        return total;
    }
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
        workspace.pairs.clear();
        for j in 0..chunks {
            let (plain, weight) = ((plain + j) as u32, (weight + j) as u32);
            workspace.pairs.push(Pair { a: weight, b: plain, out: weight });
        }
        if k > 0 {
            for j in 0..chunks {
                let plain = (plain + j) as u32;
                workspace.pairs.push(Pair { a: plain, b: (j * length + k - 1) as u32, out: plain });
            }
        }
        adder.add_points(&workspace.pairs, &[], buckets, &mut workspace.scratch);
    }
    // The sum of the weighted sums, as a tree.
    let mut count = chunks;
    while count > 1 {
        let half = count / 2;
        workspace.pairs.clear();
        let pair =
            |i: usize| Pair { a: (weight + i) as u32, b: (weight + count - half + i) as u32, out: (weight + i) as u32 };
        workspace.pairs.extend((0..half).map(pair));
        adder.add_points(&workspace.pairs, &[], buckets, &mut workspace.scratch);
        count -= half;
    }
    let total = adder.to_projective(&buckets[weight]);
    let mut rest: Vec<A::Point> = buckets[plain + 1..plain + chunks].to_vec();
    let mut shifted = weighted(adder, workspace, &mut rest);
    for _ in 0..length.trailing_zeros() {
        shifted = C::doubled(&shifted);
    }
    total + shifted
}
