//! Which layers each pass does, and its tables.

use super::pass::{self, Buffer};
use super::stage::MAX_LAYERS;
use super::tables::{Geometry, Tables};
use crate::Scalar;
use crate::domain::roots::{Products, Twiddles};
use crate::ifma::Ifma;
use crate::ifma::fr::{self, LIMBS};
use crate::shelf::Shelf;

/// Below this size a transform has not eight columns and eight blocks.
pub(crate) const MIN_LOG: u32 = 6;
/// Layers of a pass at most: two stages.
const MAX_PASS: u32 = 2 * MAX_LAYERS as u32;

/// Direction of a transform between orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// Natural in, reversed out.
    Split,
    /// Reversed in, natural out.
    Join,
}

/// Factors `first · base^j` for the value of natural index j, applied at the end of a split transform.
#[derive(Debug, Clone)]
pub(crate) struct Scale {
    /// By row in a block of the last pass.
    pub(super) row: Vec<[u64; LIMBS]>,
    /// By block of the last pass.
    pub(super) block: Vec<[u64; LIMBS]>,
}

/// A transform of one size with one root.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    proof: Ifma,
    log_size: u32,
    passes: Vec<(Geometry, Tables)>,
    twiddles: Twiddles,
    /// Of tasks that are not running.
    buffers: Shelf<Buffer>,
}

impl Plan {
    /// A plan for 2^`log_size` points, at least 2^[`MIN_LOG`].
    pub(crate) fn new(proof: Ifma, twiddles: Twiddles, log_size: u32) -> Self {
        debug_assert!(log_size >= MIN_LOG);
        let count = log_size.div_ceil(MAX_PASS).max(2);
        let mut left = log_size;
        let layers: Vec<u32> = (0..count)
            .map(|at| {
                let layers = left.div_ceil(count - at);
                left -= layers;
                layers
            })
            .collect();
        Self::of_passes(proof, twiddles, &layers)
    }

    /// A plan whose passes do so many layers each: two to ten, and three at least in the last and before it, so that there
    /// are eight columns and eight blocks. [`new`](Self::new) chooses what is fastest; with others a small transform goes the
    /// ways of a large one.
    pub(crate) fn of_passes(proof: Ifma, twiddles: Twiddles, layers: &[u32]) -> Self {
        let log_size = layers.iter().sum();
        debug_assert!(layers.iter().all(|layers| (2..=MAX_PASS).contains(layers)));
        debug_assert!(layers.last().is_some_and(|last| *last >= 3 && log_size - last >= 3));
        let mut before = 0;
        let passes = layers.iter().map(|&layers| {
            let geometry = Geometry { before, layers, after: log_size - before - layers };
            before += layers;
            (geometry, Tables::new(&twiddles, 0, geometry))
        });
        Self { proof, log_size, passes: passes.collect(), twiddles, buffers: Shelf::new() }
    }

    /// Transforms `x`, canonical values in and out; `scale` only with [`Order::Split`].
    pub(crate) fn run(&self, x: &mut [Scalar], order: Order, scale: Option<&Scale>) {
        debug_assert_eq!(x.len(), 1 << self.log_size);
        match order {
            Order::Split => {
                for (geometry, tables) in &self.passes {
                    pass::run::<true>(self.proof, x, *geometry, &self.twiddles, tables, scale, &self.buffers);
                }
            }
            Order::Join => {
                debug_assert!(scale.is_none());
                for (geometry, tables) in self.passes.iter().rev() {
                    pass::run::<false>(self.proof, x, *geometry, &self.twiddles, tables, None, &self.buffers);
                }
            }
        }
    }

    /// The factors `first · base^j` for this plan's order.
    pub(crate) fn scale(&self, base: Scalar, first: Scalar) -> Scale {
        let (last, _) = &self.passes[self.passes.len() - 1];
        // Position block · 2^layers + row, reversed as a whole, is rev(row) · 2^before + rev(block). This must not run on the
        // caller's threads: it is done once while others wait for it, and of these a thread that waits for its own part would
        // take up one.
        let powers = |log: u32, base: Scalar, first: Scalar| {
            let powers = Products::powers(base, log, first);
            (0..1usize << log).map(|at| fr::factor(powers.get(at))).collect()
        };
        let mut step = base;
        for _ in 0..last.before {
            step = step * step;
        }
        Scale { row: powers(last.layers, step, Scalar::from(1)), block: powers(last.before, base, first) }
    }

    /// Bytes of the tables.
    pub(crate) fn bytes(&self) -> usize {
        self.twiddles.bytes() + self.passes.iter().map(|(_, tables)| tables.bytes()).sum::<usize>()
    }
}
