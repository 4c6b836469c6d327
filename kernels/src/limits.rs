//! What the multipliers of a machine can do at most: the measure that benches hold the kernels against.
//!
//! Each function does a stated number of operations that do not wait for each other; timing them is the caller's part.

use crate::Path;

/// Fused multiplications of eight lanes in a product of Fp, on the IFMA path.
pub const FP_PRODUCT: u32 = 256;
/// The same in a square of Fp.
pub const FP_SQUARE: u32 = 200;
/// The same in a product of Fp2.
pub const FP2_PRODUCT: u32 = 640;
/// The same in a square of Fp2.
pub const FP2_SQUARE: u32 = 512;
/// The same in a product of Fr.
pub const FR_PRODUCT: u32 = 95;
/// Products and squares of a coordinate field in one addition of a batch: 5 and 1, the inversion not counted.
pub const ADDITION: (u32, u32) = (5, 1);

/// Fused multiplications of eight lanes, at least `count` of them; gives their number, or nothing off the IFMA path.
pub fn fused_multiplications(path: Path, count: u64) -> Option<u64> {
    match path {
        Path::Portable => None,
        #[cfg(target_arch = "x86_64")]
        Path::Ifma(proof) => Some(crate::ifma::fused_multiplications(proof, count)),
    }
}

/// Products of Fp on words of 64 bits (mulx where the CPU has it), at least `count` of them; gives their number.
pub fn word_products(count: u64) -> u64 {
    /// Independent chains: enough to hide the latency of a product.
    const CHAINS: u64 = 4;
    let mut chains = [1, 2, 3, 4].map(|x| blst::blst_fp { l: [x; 6] });
    let factor = blst::blst_fp { l: [7; 6] };
    let rounds = count.div_ceil(CHAINS);
    for _ in 0..rounds {
        for x in &mut chains {
            // SAFETY: operands are live, and blst allows the result to be one of them.
            unsafe { blst::blst_fp_mul(x, x, &factor) };
        }
    }
    std::hint::black_box(chains);
    rounds * CHAINS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_least_what_was_asked_for() {
        assert!(word_products(5) >= 5);
        assert_eq!(fused_multiplications(Path::Portable, 5), None);
        let fused = Path::ifma().map(|path| fused_multiplications(path, 1000));
        assert!(fused.is_none_or(|done| done >= Some(1000)));
    }
}
