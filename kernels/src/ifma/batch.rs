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

use std::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};

use super::Ifma;
use super::fp::{self, Fp, LIMBS, WORDS};
use super::fp2::Tower;
use super::vector::{LANES, Row, each};
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
struct Group<const K: usize> {
    denominator: [Fp; K],
    numerator: [Fp; K],
    /// Product of the denominators of all groups before.
    before: [Fp; K],
    x1: [Fp; K],
    y1: [Fp; K],
    /// Lanes whose result is (x₁, y₁) as it stands.
    keep: u8,
    /// Lanes whose result is infinity.
    cancel: u8,
}

/// Memory for one batch.
pub struct Scratch<const K: usize> {
    groups: Vec<Group<K>>,
    /// x₁ + x₂ + 2p of every group, not normalised, of a batch that had to be repaired. Otherwise it follows from the
    /// denominators, and there is less memory to move.
    sums: Vec<[Fp; K]>,
}

impl<const K: usize> Scratch<K> {
    pub(super) fn new(proof: Ifma) -> Self {
        let zero = [[proof.splat(0); LIMBS]; K];
        let group = Group { denominator: zero, numerator: zero, before: zero, x1: zero, y1: zero, keep: 0, cancel: 0 };
        Self { groups: vec![group; BATCH / LANES], sums: vec![zero; BATCH / LANES] }
    }
}

/// Adds pairs of bases. While one batch is finished the bases of the following one are fetched.
pub(super) fn add_bases<F: Tower<K>, const K: usize>(
    proof: Ifma,
    bases: &[Packed<K>],
    pairs: &[Pair],
    out: &mut [Affine<K>],
    scratch: &mut Scratch<K>,
) {
    let mut batches = pairs.chunks(BATCH).peekable();
    while let Some(batch) = batches.next() {
        let soon = batches.peek().copied().unwrap_or_default();
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
    let mut soon = soon.chunks(soon.len().div_ceil(pairs.len().div_ceil(BATCH).max(1)).max(1));
    for batch in pairs.chunks(BATCH) {
        // SAFETY: `proof` proves the features.
        unsafe { add_point_batch::<F, K>(proof, bases, batch, soon.next().unwrap_or_default(), points, scratch) };
    }
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx512ifma")]
fn add_base_batch<F: Tower<K>, const K: usize>(
    proof: Ifma,
    bases: &[Packed<K>],
    batch: &[Pair],
    soon: &[Pair],
    out: &mut [Affine<K>],
    scratch: &mut Scratch<K>,
) {
    let Scratch { groups, sums } = scratch;
    let groups = &mut groups[..batch.len().div_ceil(LANES)];
    let product = forward::<F, K>(proof, batch, groups, |pairs, at| {
        for pair in batch.iter().skip(at + 2 * LANES).take(LANES) {
            fetch::<_MM_HINT_T0, K>(bases, pair.a);
            fetch::<_MM_HINT_T0, K>(bases, pair.b);
        }
        load_bases(proof, bases, pairs)
    });
    let fetch = |at: usize| {
        if let Some(pair) = soon.get(at) {
            fetch::<_MM_HINT_T1, K>(bases, pair.a);
            fetch::<_MM_HINT_T1, K>(bases, pair.b);
        }
    };
    match F::invert(proof, &product) {
        Some(inverse) => backward::<F, K>(batch, groups, None, inverse, out, fetch),
        None => {
            let inverse = careful::<F, K>(proof, groups, sums);
            backward::<F, K>(batch, groups, Some(sums), inverse, out, fetch);
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
    let share = soon.len().div_ceil(groups.len().max(1) * LANES);
    let product = forward::<F, K>(proof, batch, groups, |pairs, _| load_points(proof, points, pairs));
    let fetch = |at: usize| {
        for entry in soon.iter().skip(at * share).take(share) {
            fetch::<_MM_HINT_T1, K>(bases, *entry);
        }
    };
    match F::invert(proof, &product) {
        Some(inverse) => backward::<F, K>(batch, groups, None, inverse, points, fetch),
        None => {
            let inverse = careful::<F, K>(proof, groups, sums);
            backward::<F, K>(batch, groups, Some(sums), inverse, points, fetch);
        }
    }
}

/// Two points in eight lanes.
type Operands<const K: usize> = [[[Fp; K]; 2]; 2];

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
/// those of a repaired batch. `fetch` is called once for every addition.
#[inline(always)]
fn backward<F: Tower<K>, const K: usize>(
    batch: &[Pair],
    groups: &[Group<K>],
    sums: Option<&[[Fp; K]]>,
    mut inverse: [Fp; K],
    points: &mut [Affine<K>],
    fetch: impl Fn(usize),
) {
    for (at, (pairs, group)) in batch.chunks(LANES).zip(groups).enumerate().rev() {
        // Requests are spread over the work: many at a time would hold it up.
        let ahead = batch.len().saturating_sub((at + 1) * LANES);
        fetch(ahead);
        let own = F::mul(&inverse, &group.before);
        fetch(ahead + 1);
        inverse = F::mul(&inverse, &group.denominator);
        fetch(ahead + 2);
        let slope = F::mul(&group.numerator, &own);
        fetch(ahead + 3);
        let square = F::square_raw(&slope);
        fetch(ahead + 4);
        let sum = match sums {
            Some(sums) => sums[at],
            None => raised_sum(group),
        };
        // Below 1.01p − 2p + 6p, above 0 − 2p − 2p − 2p + 6p.
        let mut x3 = each!([square[0]; K], k => fp::weak(fp::sub_raw::<6>(&square[k], &sum[k])));
        let drop = each!([square[0]; K], k => fp::sub::<2>(&group.x1[k], &x3[k]));
        fetch(ahead + 5);
        let product = F::mul_raw(&slope, &drop);
        fetch(ahead + 6);
        // Below 2.01p − 0 + 2p, above 0 − 2p + 2p.
        let mut y3 = each!([square[0]; K], k => fp::weak(fp::sub_raw::<2>(&product[k], &group.y1[k])));
        fetch(ahead + 7);
        if group.keep | group.cancel != 0 {
            x3 = blend(&x3, group.keep, &group.x1);
            y3 = blend(&y3, group.keep, &group.y1);
            let zero = [[x3[0][0].splat(0); LIMBS]; K];
            x3 = blend(&x3, group.cancel, &zero);
            y3 = blend(&y3, group.cancel, &zero);
        }
        let x3 = each!([x3[0]; K], k => fp::to_rows(&x3[k]));
        let y3 = each!([y3[0]; K], k => fp::to_rows(&y3[k]));
        for (lane, pair) in pairs.iter().enumerate() {
            let out = &mut points[pair.out as usize];
            for k in 0..K {
                x3[k][lane].store(&mut out.x[k]);
                y3[k][lane].store(&mut out.y[k]);
            }
        }
    }
}

#[inline(always)]
fn one<const K: usize>(proof: Ifma) -> [Fp; K] {
    let mut one = [[proof.splat(0); LIMBS]; K];
    one[0] = fp::one(proof);
    one
}

#[inline(always)]
fn blank_lanes<const K: usize>(x: &[Fp; K]) -> u8 {
    let mut blank = 0xff;
    for x in x {
        blank &= fp::blank_lanes(x);
    }
    blank
}

#[inline(always)]
fn blend<const K: usize>(a: &[Fp; K], mask: u8, b: &[Fp; K]) -> [Fp; K] {
    each!([a[0]; K], k => fp::blend(&a[k], mask, &b[k]))
}

/// The operands of up to eight pairs among points; lanes without a pair are infinity.
#[inline(always)]
fn load_points<const K: usize>(proof: Ifma, points: &[Affine<K>], pairs: &[Pair]) -> Operands<K> {
    let blank = Affine::INFINITY;
    let mut lanes = [[&blank; LANES]; 2];
    for (lane, pair) in pairs.iter().enumerate() {
        lanes[0][lane] = &points[pair.a as usize];
        lanes[1][lane] = &points[pair.b as usize];
    }
    let mut operands = [[[[proof.splat(0); LIMBS]; K]; 2]; 2];
    for (operand, lanes) in operands.iter_mut().zip(&lanes) {
        let [x, y] = operand;
        for (k, (x, y)) in x.iter_mut().zip(y).enumerate() {
            *x = fp::load_rows(proof, each!([&blank.x[k]; LANES], lane => &lanes[lane].x[k]));
            *y = fp::load_rows(proof, each!([&blank.y[k]; LANES], lane => &lanes[lane].y[k]));
        }
    }
    operands
}

/// The operands of up to eight pairs among bases; lanes without a pair are infinity.
#[inline(always)]
fn load_bases<const K: usize>(proof: Ifma, bases: &[Packed<K>], pairs: &[Pair]) -> Operands<K> {
    let blank: Packed<K> = [[[0; WORDS]; K]; 2];
    let mut lanes = [[&blank; LANES]; 2];
    let mut negative = [0u8; 2];
    for (lane, pair) in pairs.iter().enumerate() {
        lanes[0][lane] = &bases[(pair.a >> 1) as usize];
        lanes[1][lane] = &bases[(pair.b >> 1) as usize];
        negative[0] |= ((pair.a & 1) as u8) << lane;
        negative[1] |= ((pair.b & 1) as u8) << lane;
    }
    let zero = [proof.splat(0); LIMBS];
    let mut operands = [[[zero; K]; 2]; 2];
    for ((operand, lanes), &negative) in operands.iter_mut().zip(&lanes).zip(&negative) {
        let [x, y] = operand;
        for (k, (x, y)) in x.iter_mut().zip(y).enumerate() {
            *x = fp::load_words(proof, each!([&blank[0][k]; LANES], lane => &lanes[lane][0][k]));
            let plus = fp::load_words(proof, each!([&blank[0][k]; LANES], lane => &lanes[lane][1][k]));
            // p − y of a canonical y is in (0, p], and never infinity's 0.
            *y = fp::blend(&plus, negative, &fp::sub::<1>(&zero, &plus));
        }
    }
    operands
}

/// Asks the memory for the base of an entry. A table starts on a line, and bases of 96 or 192 bytes then start at 0 or 32
/// in a line: a request per 64 bytes meets all lines.
#[inline(always)]
fn fetch<const HINT: i32, const K: usize>(bases: &[Packed<K>], entry: u32) {
    let start: *const i8 = bases.as_ptr().wrapping_add((entry >> 1) as usize).cast();
    let mut offset = 0;
    while offset < size_of::<Packed<K>>() {
        // SAFETY: a prefetch of any address is allowed; it only fills caches.
        unsafe { _mm_prefetch::<HINT>(start.wrapping_add(offset)) };
        offset += 64;
    }
}
