//! Eight lanes of 52-bit limbs: field arithmetic with AVX-512 IFMA.
//!
//! [`Ifma`] is a proof that the CPU has the instructions: it can only be had from [`Ifma::detect`]. A vector
//! ([`vector::V`]) can only be made from the proof or from another vector, so operations on vectors are safe functions.
//! They are `#[inline(always)]` without target features, and become vector code inside the
//! `#[target_feature]` functions at the bottom of every kernel, which is where all the work happens.
//!
//! Limbs are *normalised* when each is below 2^52. IFMA reads only the low 52 bits of its factors, so factors must be
//! normalised; sums and differences may wait. Each function states the ranges that it takes and gives.

pub(crate) mod bases;
pub(crate) mod batch;
pub(crate) mod field;
pub(crate) mod fp;
pub(crate) mod fp2;
pub(crate) mod fr;
pub(crate) mod ntt;
mod operands;
pub(crate) mod pointwise;
pub(crate) mod sparse;
mod stored;
pub(crate) mod vector;

/// Proof that this CPU has AVX-512 F, DQ, VL, BW and IFMA.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ifma(());

impl Ifma {
    /// Asks the CPU.
    pub fn detect() -> Option<Self> {
        let found = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512ifma");
        found.then_some(Self(()))
    }
}

/// At least `count` fused multiplications that do not wait for each other; gives their number.
pub(crate) fn fused_multiplications(proof: Ifma, count: u64) -> u64 {
    // SAFETY: `proof` proves the features.
    unsafe { multiply(proof, count) }
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx512ifma")]
fn multiply(proof: Ifma, count: u64) -> u64 {
    /// More than latency times rate on any CPU so far, and few enough for the registers.
    const CHAINS: usize = 16;
    let (a, b) = (proof.splat(3), proof.splat(std::hint::black_box(5)));
    let mut sums = [a; CHAINS];
    let rounds = count.div_ceil(CHAINS as u64);
    for _ in 0..rounds {
        for sum in &mut sums {
            *sum = sum.add_low(a, b);
        }
    }
    for sum in sums {
        std::hint::black_box(sum.lanes());
    }
    rounds * CHAINS as u64
}

#[cfg(test)]
mod batch_tests;
#[cfg(test)]
mod tests;
