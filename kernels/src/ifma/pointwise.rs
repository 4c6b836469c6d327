//! Element-wise steps of the quotient.

use rayon::prelude::*;

use super::Ifma;
use super::field::normalise;
use super::fr;
use super::vector::{LANES, each};
use crate::Scalar;

/// Elements that one task takes; a multiple of the lanes.
const ELEMENTS_PER_TASK: usize = 1 << 11;

/// `a[i] ← (a[i]·b[i] − c[i])·factor`.
pub(crate) fn combine(proof: Ifma, a: &mut [Scalar], b: &[Scalar], c: &[Scalar], factor: Scalar) {
    let whole = a.len() - a.len() % LANES;
    let (a, a_rest) = a.split_at_mut(whole);
    let (b, b_rest) = b.split_at(whole);
    let (c, c_rest) = c.split_at(whole);
    let tasks = a.par_chunks_mut(ELEMENTS_PER_TASK).zip(b.par_chunks(ELEMENTS_PER_TASK));
    tasks.zip(c.par_chunks(ELEMENTS_PER_TASK)).for_each(|((a, b), c)| {
        // SAFETY: `proof` proves the features.
        unsafe { combine_lanes(proof, a, b, c, &fr::factor(factor)) };
    });
    for ((a, b), c) in a_rest.iter_mut().zip(b_rest).zip(c_rest) {
        *a = (*a * b - c) * factor;
    }
}

/// Lengths are equal multiples of the lanes.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx512ifma")]
fn combine_lanes(proof: Ifma, a: &mut [Scalar], b: &[Scalar], c: &[Scalar], factor: &[u64; fr::LIMBS]) {
    let factor = fr::splat(proof, factor);
    for ((a, b), c) in a.chunks_exact_mut(LANES).zip(b.chunks_exact(LANES)).zip(c.chunks_exact(LANES)) {
        // SAFETY: the three chunks have eight elements each.
        let (x, y, z) =
            unsafe { (fr::load(proof, a.as_ptr()), fr::load(proof, b.as_ptr()), fr::load(proof, c.as_ptr())) };
        // Both have R = 2^256 and the product divides by 2^260: times 16 it has R = 2^256 again, below 16.5r.
        let product = fr::mul_raw(&x, &y);
        let product = each!([x[0]; fr::LIMBS], i => product[i].shl::<4>());
        let mut difference = fr::sub_raw::<1>(&product, &z);
        normalise(&mut difference);
        let out = fr::canonical(fr::mul_raw(&difference, &factor));
        // SAFETY: the chunk has eight elements.
        unsafe { fr::store(&out, a.as_mut_ptr()) };
    }
}
