//! The share of the machine's limit: operations that the work needs, at the rate of the multipliers alone.

use std::time::Instant;

use proofline_kernels::{Path, limits};

use crate::table::Times;

/// Rates of one thread.
pub struct Limits {
    /// Seconds of one fused multiplication of eight lanes; nothing off the IFMA path.
    fused: Option<f64>,
    /// Seconds of one product of Fp on 64-bit words.
    word: f64,
}

/// Operations that are timed at once: some ten milliseconds.
const FUSED: u64 = 1 << 26;
const WORDS: u64 = 1 << 19;
const BITS: u32 = 255;

impl Limits {
    pub fn measure() -> Self {
        // The best of some: what disturbs makes it slower, nothing makes it faster.
        let best = |work: &dyn Fn() -> Option<u64>| {
            let runs = (0..7).filter_map(|_| {
                let clock = Instant::now();
                work().map(|done| clock.elapsed().as_secs_f64() / done as f64)
            });
            runs.min_by(f64::total_cmp)
        };
        let fused = best(&|| limits::fused_multiplications(Path::best(), FUSED));
        let word = best(&|| Some(limits::word_products(WORDS))).unwrap_or(f64::NAN);
        Self { fused, word }
    }

    pub fn print(&self) {
        match self.fused {
            Some(seconds) => println!("IFMA, eight lanes: {:.2} G/s a thread", 1e-9 / seconds),
            None => println!("no AVX-512 IFMA: the rows of kernels and proofs are for CPUs that have it"),
        }
        println!("products of Fp on 64-bit words: {:.1} M/s a thread", 1e-6 / self.word);
    }

    /// Seconds of one thread for an MSM of so many full scalars over G1: the additions of the best window.
    pub fn g1_msm(&self, n: usize) -> f64 {
        let (products, squares) = limits::ADDITION;
        additions(n) * self.fused_seconds(products * limits::FP_PRODUCT + squares * limits::FP_SQUARE)
    }

    /// The same over G2.
    pub fn g2_msm(&self, n: usize) -> f64 {
        let (products, squares) = limits::ADDITION;
        additions(n) * self.fused_seconds(products * limits::FP2_PRODUCT + squares * limits::FP2_SQUARE)
    }

    /// Additions of single points in G1, such as scalars 1 take.
    pub fn g1_additions(&self, n: usize) -> f64 {
        self.g1_msm(1) / additions(1) * n as f64
    }

    /// The same in G2.
    pub fn g2_additions(&self, n: usize) -> f64 {
        self.g2_msm(1) / additions(1) * n as f64
    }

    /// Seconds of one thread for a transform of 2^`log` values: one product for each butterfly.
    pub fn ntt(&self, log: u32) -> f64 {
        f64::from(log) * f64::from(1u32 << (log - 1)) * self.fused_seconds(limits::FR_PRODUCT)
    }

    /// "so much of the limit".
    pub fn note(&self, limit: f64, ours: &Times) -> String {
        if limit.is_nan() { String::new() } else { format!("{:.0} % of the limit", 100.0 * limit / ours.min()) }
    }

    fn fused_seconds(&self, fused: u32) -> f64 {
        self.fused.map_or(f64::NAN, |seconds| seconds * f64::from(fused) / 8.0)
    }
}

/// Additions of the bucket method at its best window: one for each term and window, two for each bucket.
fn additions(n: usize) -> f64 {
    let cost = |width: u32| f64::from(BITS.div_ceil(width)) * (n as f64 + f64::from(1u32 << width));
    (2..=20).map(cost).fold(f64::INFINITY, f64::min)
}
