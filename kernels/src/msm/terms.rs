//! The terms of a multiplication, laid out for cutting digits.

use std::ops::Range;

use rayon::prelude::*;
use zeroize::Zeroize;

use super::digits::{Windows, bit_length};
use super::lengths::Lengths;
use super::workspace::{OfTerms, Sorted};
use crate::fetch;

/// Scalars with the entries of their bases. Limbs lie limb by limb, so that a window reads only the limbs it cuts.
///
/// Holds scalars of a witness, in memory of a workspace: erased when dropped.
pub(super) struct Terms<'m, const LIMBS: usize> {
    entries: &'m mut [u32],
    limbs: [&'m mut [u64]; LIMBS],
    lengths: Lengths,
}

/// Terms that one task prepares, at least.
const TERMS_PER_TASK: usize = 1 << 12;
/// Tasks of a multiplication, at most: the list of them stays small.
const MOST_TASKS: usize = 1 << 8;

/// Limbs of a line of memory.
const PER_LINE: usize = fetch::LINE / size_of::<u64>();
/// How far ahead of where it is read a list is asked for, in bytes: the CPU's own guesses end at each page of 4 KiB, and a
/// digit is cut faster than the next page comes.
const AHEAD: usize = 2048;

/// A list that is read once from its start, in pieces of [`PER_LINE`].
fn lines<T>(list: &[T]) -> impl Iterator<Item = &[T]> {
    list.chunks(PER_LINE).inspect(|line| fetch::near(line.as_ptr().cast::<u8>().wrapping_add(AHEAD)))
}

fn per_task(terms: usize) -> usize {
    terms.div_ceil(MOST_TASKS).max(TERMS_PER_TASK)
}

/// A term: the entry of a base (twice its index, plus one for its negative), and the scalar.
pub(super) type Term<const LIMBS: usize> = (u32, [u64; LIMBS]);

impl<'m, const LIMBS: usize> Terms<'m, LIMBS> {
    /// As many terms as there is memory for; nothing stands for a term that is to be left out. Parallel.
    pub(super) fn new(of_terms: OfTerms<'m, LIMBS>, term: impl Fn(usize) -> Option<Term<LIMBS>> + Sync) -> Self {
        // A term that is left out is one with the scalar zero: all its digits are zero.
        let blank = (0, [0; LIMBS]);
        let (entries, mut limbs) = of_terms;
        let per_task = per_task(entries.len());
        let tasks = entries.par_chunks_mut(per_task).zip(tasks(&mut limbs, per_task)).enumerate();
        let lengths = tasks.map(|(task, of_task)| {
            let first = task * per_task;
            let count = of_task.0.len();
            put_all(of_task, (first..first + count).map(|at| term(at).unwrap_or(blank)))
        });
        let lengths = lengths.reduce(Lengths::default, Lengths::plus);
        Self { entries, limbs, lengths }
    }

    /// The terms of some parts, of which part k has `counts(k)`: as many in all as there is memory for. Parallel.
    pub(super) fn of_parts<I: Iterator<Item = Term<LIMBS>>>(
        (entries, mut limbs): OfTerms<'m, LIMBS>,
        counts: &(impl Fn(usize) -> usize + Sync),
        parts: Range<usize>,
        terms: &(impl Fn(usize) -> I + Sync),
    ) -> Self {
        let places = (&mut entries[..], limbs.each_mut().map(|limbs| &mut limbs[..]));
        let lengths = put_parts(places, counts, parts, terms);
        Self { entries, limbs, lengths }
    }

    /// Number of terms, those left out included.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// How long the scalars are.
    pub(super) fn lengths(&self) -> &Lengths {
        &self.lengths
    }

    /// Adds the bias of the windows to every scalar; to be done once, before [`sort`](Self::sort).
    pub(super) fn bias(&mut self, windows: &Windows<LIMBS>) {
        let per_task = per_task(self.entries.len());
        tasks(&mut self.limbs, per_task).into_par_iter().for_each(|mut limbs| {
            for at in 0..limbs[0].len() {
                let biased = windows.biased(&limbs.each_ref().map(|limbs| limbs[at]));
                for (limbs, limb) in limbs.iter_mut().zip(biased) {
                    limbs[at] = limb;
                }
            }
        });
    }

    /// A counting sort of some terms by their digit in `window`: the entries of bucket 0 (digits ±1), then those of
    /// bucket 1 (±2) and so on, and how many each bucket has. A negative digit turns the entry into that of the negative
    /// base. Zero digits are dropped.
    pub(super) fn sort(&self, range: Range<usize>, windows: &Windows<LIMBS>, window: u32, sorted: &mut Sorted) {
        let Sorted { entries, sizes, places } = sorted;
        let cut = windows.cut(window);
        let low = &self.limbs[cut.limb()][range.clone()];
        // The last limb has nothing above; its own bits stand in and are masked out.
        let high = &self.limbs[(cut.limb() + 1).min(LIMBS - 1)][range.clone()];
        // Place 0 counts zero digits.
        places.clear();
        places.resize(windows.buckets(window) + 1, 0);
        for (low, high) in lines(low).zip(lines(high)) {
            for (&low, &high) in low.iter().zip(high) {
                places[cut.digit(low, high).unsigned_abs() as usize] += 1;
            }
        }
        sizes.clear();
        sizes.extend_from_slice(&places[1..]);
        let mut next = 0;
        for (place, size) in places[1..].iter_mut().zip(sizes.iter()) {
            *place = next;
            next += size;
        }
        // Zero digits all go to one place behind the others.
        places[0] = next;
        let behind = next as usize;
        entries.set_len(behind + 1, 0);
        for ((low, high), of_terms) in lines(low).zip(lines(high)).zip(lines(&self.entries[range])) {
            // Where the terms of a line go is far apart: all of it is asked for before the first is written.
            let mut digits = [0; PER_LINE];
            for ((digit, &low), &high) in digits.iter_mut().zip(low).zip(high) {
                *digit = cut.digit(low, high);
                fetch::near(entries.as_ptr().wrapping_add(places[digit.unsigned_abs() as usize] as usize));
            }
            for (digit, &entry) in digits.into_iter().zip(of_terms) {
                let place = &mut places[digit.unsigned_abs() as usize];
                entries[*place as usize] = entry ^ u32::from(digit < 0);
                *place += u32::from(digit != 0);
            }
        }
        entries.truncate(behind);
    }
}

/// Writes terms into their memory.
fn put_all<const LIMBS: usize>(
    (entries, mut limbs): OfTerms<'_, LIMBS>,
    terms: impl Iterator<Item = Term<LIMBS>>,
) -> Lengths {
    let mut lengths = Lengths::default();
    for ((at, place), (entry, scalar)) in entries.iter_mut().enumerate().zip(terms) {
        *place = entry;
        for (limbs, limb) in limbs.iter_mut().zip(scalar) {
            limbs[at] = limb;
        }
        lengths.add(bit_length(&scalar));
    }
    lengths
}

/// [`put_all`] for each part, in parallel.
fn put_parts<const LIMBS: usize, I: Iterator<Item = Term<LIMBS>>>(
    (entries, limbs): OfTerms<'_, LIMBS>,
    counts: &(impl Fn(usize) -> usize + Sync),
    parts: Range<usize>,
    terms: &(impl Fn(usize) -> I + Sync),
) -> Lengths {
    match parts.len() {
        0 => Lengths::default(),
        1 => put_all((entries, limbs), terms(parts.start)),
        many => {
            let (left, right) = (parts.start..parts.start + many / 2, parts.start + many / 2..parts.end);
            let of_left = left.clone().map(counts).sum();
            let (left_entries, right_entries) = entries.split_at_mut(of_left);
            let (mut left_limbs, mut right_limbs) =
                ([(); LIMBS].map(|()| &mut [][..]), [(); LIMBS].map(|()| &mut [][..]));
            for ((limbs, left), right) in limbs.into_iter().zip(&mut left_limbs).zip(&mut right_limbs) {
                (*left, *right) = limbs.split_at_mut(of_left);
            }
            let (left, right) = rayon::join(
                || put_parts((left_entries, left_limbs), counts, left, terms),
                || put_parts((right_entries, right_limbs), counts, right, terms),
            );
            left.plus(right)
        }
    }
}

/// The limbs in pieces of `per_task` terms.
fn tasks<'a, const LIMBS: usize>(limbs: &'a mut [&mut [u64]; LIMBS], per_task: usize) -> Vec<[&'a mut [u64]; LIMBS]> {
    let count = limbs[0].len().div_ceil(per_task);
    let mut chunks: [_; LIMBS] = limbs.each_mut().map(|limbs| limbs.chunks_mut(per_task));
    (0..count).map(|_| chunks.each_mut().map(|chunks| chunks.next().unwrap_or_default())).collect()
}

impl<const LIMBS: usize> Drop for Terms<'_, LIMBS> {
    fn drop(&mut self) {
        self.limbs.iter_mut().for_each(|limb| limb.zeroize());
    }
}
