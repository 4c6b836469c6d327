//! Transforms over Fr on eight lanes, in place.
//!
//! The layers of a transform are grouped into two or three passes over memory of at most ten layers each. In a pass, blocks
//! of 2^k rows that are a stride apart are transformed on their own; eight of them, in neighbouring columns (or, in the
//! pass with stride 1, in neighbouring blocks), fill the lanes, so that nothing moves between lanes. A block's
//! rows stay in a buffer of the second-level cache for two stages of at most five layers, each on 32 vectors that stay
//! in the first-level cache.
//!
//! Ranges. Splitting (natural to reversed order) adds at most 2r per layer: ten layers on values below 2r + ε stay below
//! 24r (trivial twiddles of the first three layers double instead, to below 16r), and a product takes up to 35r. Joining
//! (reversed to natural) doubles the sums in each layer: a stage reduces what would pass 35r, and its sums at the end.

mod pass;
mod plan;
mod rows;
mod stage;
mod tables;

pub(crate) use plan::{MIN_LOG, Order, Plan, Scale};
