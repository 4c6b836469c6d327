//! How the operands of additions come from memory into lanes, and their results back.

use super::Ifma;
use super::batch::{Affine, Group, Packed};
use super::fp::{self, Fp, LIMBS, WORDS};
use super::vector::{LANES, each};
use crate::fetch;
use crate::msm::adder::Pair;

/// Two points in eight lanes.
pub(super) type Operands<const K: usize> = [[[Fp; K]; 2]; 2];

/// Writes the results of one group.
#[inline(always)]
pub(super) fn store<const K: usize>(
    pairs: &[Pair],
    group: &Group<K>,
    mut x3: [Fp; K],
    mut y3: [Fp; K],
    points: &mut [Affine<K>],
) {
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

#[inline(always)]
pub(super) fn blend<const K: usize>(a: &[Fp; K], mask: u8, b: &[Fp; K]) -> [Fp; K] {
    each!([a[0]; K], k => fp::blend(&a[k], mask, &b[k]))
}

/// The operands of up to eight pairs among points; lanes without a pair are infinity.
#[inline(always)]
pub(super) fn load_points<const K: usize>(proof: Ifma, points: &[Affine<K>], pairs: &[Pair]) -> Operands<K> {
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
pub(super) fn load_bases<const K: usize>(proof: Ifma, bases: &[Packed<K>], pairs: &[Pair]) -> Operands<K> {
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
            // p − y of a canonical y is in (0, p]; its limbs are not normalised, and never all zero as infinity's are. They
            // are only subtracted from: no sum of bases is one of its operands, for no base is infinity.
            *y = fp::blend(&plus, negative, &fp::sub_raw::<1>(&zero, &plus));
        }
    }
    operands
}

/// Asks for the base of an entry by `request`, which is [`fetch::near`] or [`fetch::far`]. A table starts on a line, and bases
/// of 96 or 192 bytes then start at 0 or 32 in a line.
#[inline(always)]
pub(super) fn fetch_base<const K: usize>(bases: &[Packed<K>], entry: u32, request: impl Fn(*const i8)) {
    fetch::all(bases.as_ptr().wrapping_add((entry >> 1) as usize), request);
}

/// 1 in every lane.
#[inline(always)]
pub(super) fn one<const K: usize>(proof: Ifma) -> [Fp; K] {
    let mut one = [[proof.splat(0); LIMBS]; K];
    one[0] = fp::one(proof);
    one
}

/// Lanes that are zero in every limb.
#[inline(always)]
pub(super) fn blank_lanes<const K: usize>(x: &[Fp; K]) -> u8 {
    let mut blank = 0xff;
    for x in x {
        blank &= fp::blank_lanes(x);
    }
    blank
}
