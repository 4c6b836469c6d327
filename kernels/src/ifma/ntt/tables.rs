//! The layers of a pass and their twiddles.

use super::stage::MAX_ROWS;
use crate::domain::roots::Twiddles;
use crate::ifma::fr::{self, LIMBS};

/// The layers before, in and after a pass. The pass with none after it works on whole blocks, the others on columns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Geometry {
    pub(super) before: u32,
    pub(super) layers: u32,
    pub(super) after: u32,
}

impl Geometry {
    /// Layers of the first stage, on rows that are 2^second apart.
    pub(super) fn first(self) -> u32 {
        self.layers.div_ceil(2)
    }

    /// Layers of the second stage, on neighbouring rows.
    pub(super) fn second(self) -> u32 {
        self.layers / 2
    }
}

/// Twiddles of a stage, the same for all lanes.
type StageTable = [[u64; LIMBS]; MAX_ROWS];

/// The twiddles of both stages of a pass for one block.
#[derive(Debug, Clone)]
pub(super) struct Tables {
    pub(super) first: StageTable,
    /// By block of the second stage.
    pub(super) second: Vec<StageTable>,
}

impl Tables {
    /// For block `b` of all blocks that the layers before have made.
    pub(super) fn new(twiddles: &Twiddles, b: usize, geometry: Geometry) -> Self {
        // Block i of layer t below block b is block (b << t) + i of the transform.
        let stage = |b: usize, layers: u32| {
            let mut table = [[0; LIMBS]; MAX_ROWS];
            for layer in 0..layers {
                for i in 0..1 << layer {
                    table[(1 << layer) - 1 + i] = fr::factor(twiddles.get((b << layer) + i));
                }
            }
            table
        };
        let (first, second) = (geometry.first(), geometry.second());
        Self { first: stage(b, first), second: (0..1 << first).map(|k| stage((b << first) + k, second)).collect() }
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.second.as_slice()) + size_of_val(&self.first)
    }
}
