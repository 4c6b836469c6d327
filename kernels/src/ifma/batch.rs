//! Affine additions on eight lanes, up to [`BATCH`] of them to one inversion.
//!
//! λ = (y₂ − y₁)/(x₂ − x₁), x₃ = λ² − x₁ − x₂, y₃ = λ(x₁ − x₃) − y₁, with Montgomery's trick for the denominators: a pass
//! forward multiplies them up, one inversion, a pass backward takes each inverse out.
//!
//! Points in memory are affine with weakly reduced coordinates (below 2p); all-zero coordinates are infinity, which no
//! point of the curves has: y = 0 would be a point of order two, and both group orders are odd. Lanes with infinity get
//! the denominator 1 and copy their other operand. A zero denominator (equal or opposite points) makes the batch's
//! product zero, which the inversion notices; the batch then runs again in a careful version that doubles or cancels
//! lane by lane.

use proofline_memory::{Arena, Pages};

use super::Ifma;
use super::fp::{self, Fp, LIMBS, WORDS};
use super::fp2::Tower;
use super::operands::{Operands, blank_lanes, blend, fetch_base, load_bases, load_points, one, store};
use super::vector::{LANES, Row, each};
use crate::fetch;
use crate::msm::adder::{BATCH, Pair};

/// A base in memory: canonical coordinates of 64-bit words, R = 2^416. Never infinity.
pub type Packed<const K: usize> = [[[u64; WORDS]; K]; 2];

/// A point in memory: weakly reduced limbs, or all zeros for infinity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Affine<const K: usize> {
    pub(super) x: [Row; K],
    pub(super) y: [Row; K],
}

impl<const K: usize> Affine<K> {
    pub(crate) const INFINITY: Self = Self { x: [Row([0; LANES]); K], y: [Row([0; LANES]); K] };
}

/// What the backward pass needs of eight additions.
#[derive(Clone, Copy)]
pub(super) struct Group<const K: usize> {
    denominator: [Fp; K],
    numerator: [Fp; K],
    /// Product of the denominators of all groups before.
    before: [Fp; K],
    pub(super) x1: [Fp; K],
    pub(super) y1: [Fp; K],
    /// Lanes whose result is (x₁, y₁) as it stands.
    pub(super) keep: u8,
    /// Lanes whose result is infinity.
    pub(super) cancel: u8,
}

/// Memory for one batch.
pub struct Scratch<const K: usize> {
    groups: Pages<Group<K>>,
    /// x₁ + x₂ + 2p of every group, not normalised, of a batch that had to be repaired. Otherwise it follows from the
    /// denominators, and there is less memory to move.
    sums: Pages<[Fp; K]>,
}

impl<const K: usize> Scratch<K> {
    pub(super) const LISTS: &'static [usize] =
        &[BATCH / LANES * size_of::<Group<K>>(), BATCH / LANES * size_of::<[Fp; K]>()];

    pub(super) fn new(proof: Ifma, arena: &Arena) -> Self {
        let zero = [[proof.splat(0); LIMBS]; K];
        let group = Group { denominator: zero, numerator: zero, before: zero, x1: zero, y1: zero, keep: 0, cancel: 0 };
        let batch = BATCH / LANES;
        Self { groups: Pages::filled_in(arena, batch, group), sums: Pages::filled_in(arena, batch, zero) }
    }
}

/// Adds pairs of bases. Meanwhile the bases of the entries `soon` are fetched.
pub(super) fn add_bases<F: Tower<K>, const K: usize>(
    proof: Ifma,
    bases: &[Packed<K>],
    pairs: &[Pair],
    soon: &[u32],
    out: &mut [Affine<K>],
    scratch: &mut Scratch<K>,
) {
    for (batch, soon) in batches(pairs, soon) {
        // SAFETY: `proof` proves the features.
        unsafe { add_base_batch::<F, K>(proof, bases, batch, soon, out, scratch) };
    }
}

/// Adds pairs of points. Meanwhile the bases of the entries `soon` are fetched.
pub(super) fn add_points<F: Tower<K>, const K: usize>(
    proof: Ifma,
    bases: &[Packed<K>],
    pairs: &[Pair],
    soon: &[u32],
    points: &mut [Affine<K>],
    scratch: &mut Scratch<K>,
) {
    for (batch, soon) in batches(pairs, soon) {
        // SAFETY: `proof` proves the features.
        unsafe { add_point_batch::<F, K>(proof, bases, batch, soon, points, scratch) };
    }
}

/// Pairs in batches, each with its share of the entries.
fn batches<'a>(pairs: &'a [Pair], soon: &'a [u32]) -> impl Iterator<Item = (&'a [Pair], &'a [u32])> {
    let all = pairs.len().max(1);
    let at = move |pair: usize| pair * soon.len() / all;
    pairs.chunks(BATCH).enumerate().map(move |(number, batch)| {
        let first = number * BATCH;
        (batch, &soon[at(first)..at(first + batch.len())])
    })
}

/// Requests for the bases of entries, spread over `additions`: many at a time would hold up what is under way.
#[inline(always)]
fn requests<const K: usize>(bases: &[Packed<K>], soon: &[u32], additions: usize) -> impl Fn(usize) {
    let step = (soon.len() << 16).div_ceil(additions.max(1));
    move |at: usize| {
        let (from, to) = ((at * step) >> 16, ((at + 1) * step) >> 16);
        for entry in soon.get(from..to.min(soon.len())).unwrap_or_default() {
            fetch_base(bases, *entry, fetch::far);
        }
    }
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx512ifma")]
fn add_base_batch<F: Tower<K>, const K: usize>(
    proof: Ifma,
    bases: &[Packed<K>],
    batch: &[Pair],
    soon: &[u32],
    out: &mut [Affine<K>],
    scratch: &mut Scratch<K>,
) {
    let Scratch { groups, sums } = scratch;
    let groups = &mut groups[..batch.len().div_ceil(LANES)];
    let product = forward::<F, K>(proof, batch, groups, |pairs, at| {
        for pair in batch.iter().skip(at + 2 * LANES).take(LANES) {
            fetch_base(bases, pair.a, fetch::near);
            fetch_base(bases, pair.b, fetch::near);
        }
        load_bases(proof, bases, pairs)
    });
    let request = requests(bases, soon, batch.len());
    match F::invert(proof, &product) {
        Some(inverse) => backward::<F, K>(batch, groups, None, inverse, out, request),
        None => {
            let inverse = careful::<F, K>(proof, groups, sums);
            backward::<F, K>(batch, groups, Some(sums), inverse, out, request);
        }
    }
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx512ifma")]
fn add_point_batch<F: Tower<K>, const K: usize>(
    proof: Ifma,
    bases: &[Packed<K>],
    batch: &[Pair],
    soon: &[u32],
    points: &mut [Affine<K>],
    scratch: &mut Scratch<K>,
) {
    let Scratch { groups, sums } = scratch;
    let groups = &mut groups[..batch.len().div_ceil(LANES)];
    let product = forward::<F, K>(proof, batch, groups, |pairs, _| load_points(proof, points, pairs));
    let request = requests(bases, soon, batch.len());
    match F::invert(proof, &product) {
        Some(inverse) => backward::<F, K>(batch, groups, None, inverse, points, request),
        None => {
            let inverse = careful::<F, K>(proof, groups, sums);
            backward::<F, K>(batch, groups, Some(sums), inverse, points, request);
        }
    }
}

/// Loads operands, prepares every group, and gives the product of all denominators.
#[inline(always)]
fn forward<F: Tower<K>, const K: usize>(
    proof: Ifma,
    batch: &[Pair],
    groups: &mut [Group<K>],
    load: impl Fn(&[Pair], usize) -> Operands<K>,
) -> [Fp; K] {
    let mut product = one::<K>(proof);
    for (at, (pairs, group)) in batch.chunks(LANES).zip(groups).enumerate() {
        let [[mut x1, mut y1], [x2, y2]] = load(pairs, at * LANES);
        let mut denominator = each!([x1[0]; K], k => fp::sub::<2>(&x2[k], &x1[k]));
        group.numerator = each!([x1[0]; K], k => fp::sub::<2>(&y2[k], &y1[k]));
        let (infinite1, infinite2) = (blank_lanes(&y1), blank_lanes(&y2));
        group.keep = infinite1 | infinite2;
        group.cancel = 0;
        if group.keep != 0 {
            x1 = blend(&x1, infinite1, &x2);
            y1 = blend(&y1, infinite1, &y2);
            denominator = blend(&denominator, group.keep, &one::<K>(proof));
        }
        (group.x1, group.y1) = (x1, y1);
        group.before = product;
        group.denominator = denominator;
        product = F::mul(&product, &denominator);
    }
    product
}

/// Repairs groups with zero denominators: equal points are doubled (λ = 3x²/2y), opposite ones cancel. Gives the inverse
/// of the product, which has no zero lane any more.
#[cold]
#[inline(never)]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx512ifma")]
fn careful<F: Tower<K>, const K: usize>(proof: Ifma, groups: &mut [Group<K>], sums: &mut [[Fp; K]]) -> [Fp; K] {
    let mut product = one::<K>(proof);
    for (group, sum) in groups.iter_mut().zip(sums) {
        *sum = raised_sum(group);
        let zero = group.denominator.iter().fold(0xff, |zero, x| zero & fp::zero_lanes(x));
        if zero != 0 {
            let equal = zero & group.numerator.iter().fold(0xff, |zero, y| zero & fp::zero_lanes(y));
            group.cancel = zero & !equal;
            // 3x₁² and 2y₁, both below 4p; a weak reduction keeps them in the range of the other lanes.
            let square = F::square_raw(&group.x1);
            let triple = each!([square[0]; K], k => {
                fp::weak(fp::add_raw(&fp::add_raw(&square[k], &square[k]), &square[k]))
            });
            let twice = each!([square[0]; K], k => fp::weak(fp::add_raw(&group.y1[k], &group.y1[k])));
            group.numerator = blend(&group.numerator, equal, &triple);
            group.denominator = blend(&group.denominator, equal, &twice);
            group.denominator = blend(&group.denominator, group.cancel, &one::<K>(proof));
        }
        group.before = product;
        product = F::mul(&product, &group.denominator);
    }
    match F::invert(proof, &product) {
        Some(inverse) => inverse,
        // A denominator is zero here only for a base that is not on the curve (y = 0): there is no right answer then,
        // and the wrong one must not be silent.
        None => panic!("a point of order two among the bases: the proving key is not of this curve"),
    }
}

/// x₁ + x₂ + 2p, limbs as they come, while the denominator is x₂ − x₁ + 2p. In lanes that are kept it is anything.
#[inline(always)]
fn raised_sum<const K: usize>(group: &Group<K>) -> [Fp; K] {
    let (x1, denominator) = (&group.x1, &group.denominator);
    each!([x1[0]; K], k => fp::add_raw(&fp::add_raw(&x1[k], &x1[k]), &denominator[k]))
}

/// Takes the groups' inverses out of the product's, from the last to the first, and writes the results. The sums are
/// those of a repaired batch. `request` is called with each number of an addition, upwards.
///
/// The second half of a group's work is done between the products of the first half of the next: each product then waits for
/// nothing that was begun just before it, and a core's window is hardly longer than one product.
#[inline(always)]
fn backward<F: Tower<K>, const K: usize>(
    batch: &[Pair],
    groups: &[Group<K>],
    sums: Option<&[[Fp; K]]>,
    mut inverse: [Fp; K],
    points: &mut [Affine<K>],
    request: impl Fn(usize),
) {
    let mut slope = inverse;
    let (mut own, mut square, mut x3, mut drop) = (slope, slope, slope, slope);
    // The group whose slope is known, and then one step with no new group.
    let mut open: Option<usize> = None;
    for at in (0..groups.len()).rev().map(Some).chain([None]) {
        // Requests are spread over the work: many at a time would hold it up.
        let ahead = at.map_or(batch.len(), |at| batch.len().saturating_sub((at + 1) * LANES));
        request(ahead);
        if let Some(at) = at {
            own = F::mul(&inverse, &groups[at].before);
        }
        request(ahead + 1);
        if open.is_some() {
            square = F::square_raw(&slope);
        }
        request(ahead + 2);
        if let Some(at) = at {
            inverse = F::mul(&inverse, &groups[at].denominator);
        }
        request(ahead + 3);
        if let Some(open) = open {
            let group = &groups[open];
            let sum = match sums {
                Some(sums) => sums[open],
                None => raised_sum(group),
            };
            // Below 1.01p − 2p + 6p, above 0 − 2p − 2p − 2p + 6p.
            x3 = each!([square[0]; K], k => fp::weak(fp::sub_raw::<6>(&square[k], &sum[k])));
            drop = each!([square[0]; K], k => fp::sub::<2>(&group.x1[k], &x3[k]));
        }
        request(ahead + 4);
        let last = slope;
        if let Some(at) = at {
            slope = F::mul(&groups[at].numerator, &own);
        }
        request(ahead + 5);
        request(ahead + 6);
        if let Some(open) = open {
            let group = &groups[open];
            let product = F::mul_raw(&last, &drop);
            // Below 2.01p − 0 + 2p, above 0 − 2p + 2p.
            let y3 = each!([square[0]; K], k => fp::weak(fp::sub_raw::<2>(&product[k], &group.y1[k])));
            let pairs = &batch[open * LANES..];
            store(&pairs[..pairs.len().min(LANES)], group, x3, y3, points);
        }
        request(ahead + 7);
        open = at;
    }
}
