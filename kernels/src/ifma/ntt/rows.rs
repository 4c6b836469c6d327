//! The rows of a task, in memory and in lanes.

use crate::Scalar;
use crate::ifma::Ifma;
use crate::ifma::fr::{self, Fr};

/// The elements of one task. Row i is at `at + i·row_stride`; lane l is `l·lane_stride` behind. One of the strides is 1.
#[derive(Clone, Copy)]
pub(super) struct Rows {
    pub(super) at: *mut Scalar,
    pub(super) row_stride: usize,
    pub(super) lane_stride: usize,
}

/// Rows `i` and `i` + 1.
///
/// # Safety
/// Both must be among the rows, of all lanes, and not be in use elsewhere.
#[inline(always)]
pub(super) unsafe fn load(proof: Ifma, rows: Rows, i: usize) -> [Fr; 2] {
    // SAFETY: the caller's promise.
    unsafe {
        let at = rows.at.add(i * rows.row_stride);
        if rows.lane_stride == 1 {
            [fr::load(proof, at), fr::load(proof, at.add(rows.row_stride))]
        } else {
            fr::load_rows(proof, at, rows.lane_stride)
        }
    }
}

/// The inverse of [`load`]; normalised, below 2^256.
///
/// # Safety
/// As for [`load`].
#[inline(always)]
pub(super) unsafe fn store(x: [&Fr; 2], rows: Rows, i: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        let at = rows.at.add(i * rows.row_stride);
        if rows.lane_stride == 1 {
            fr::store(x[0], at);
            fr::store(x[1], at.add(rows.row_stride));
        } else {
            fr::store_rows(x, at, rows.lane_stride);
        }
    }
}
