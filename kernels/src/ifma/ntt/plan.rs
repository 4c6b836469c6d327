//! Which layers each pass does, and its tables.

use super::pass::{self, Buffer, Geometry, Tables};
use super::stage::MAX_LAYERS;
use crate::Scalar;
use crate::domain::reverse::reverse;
use crate::domain::roots::Twiddles;
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
        let mut passes = Vec::new();
        let mut before = 0;
        for at in 0..count {
            let layers = (log_size - before).div_ceil(count - at);
            let geometry = Geometry { before, layers, after: log_size - before - layers };
            passes.push((geometry, Tables::new(&twiddles, 0, geometry)));
            before += layers;
        }
        Self { proof, log_size, passes, twiddles, buffers: Shelf::new() }
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
        // Position block · 2^layers + row, reversed as a whole, is rev(row) · 2^before + rev(block).
        let powers = |log: u32, base: Scalar, first: Scalar| {
            let mut power = first;
            let mut natural: Vec<Scalar> = Vec::with_capacity(1 << log);
            for _ in 0..1usize << log {
                natural.push(power);
                power *= base;
            }
            reverse(&mut natural);
            natural.into_iter().map(fr::factor).collect()
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
