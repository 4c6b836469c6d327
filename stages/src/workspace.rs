//! Memory of the sums, which a stage keeps from proof to proof.

use pipeline_runtime::arena::Workspace as Kept;
use pipeline_runtime::capability::CcdPool;
use pipeline_runtime::slot::{Slot, Token};
use proofline_kernels::Scalar;
use proofline_kernels::msm::{Curve, Query, Workspace};
use proofline_memory::{Arena, have_room};

/// Memory for the multiplications by some queries, whatever their scalars.
pub(crate) struct OfSums<C: Curve> {
    /// The lengths of the queries that it was made for.
    lengths: Vec<usize>,
    memory: Workspace<C>,
}

impl<C: Curve> OfSums<C> {
    pub(crate) fn memory(&self) -> &Workspace<C> {
        &self.memory
    }
}

/// What [`of_sums`] takes for these queries, in bytes: the longest decides.
pub(crate) fn bytes_of_sums<C: Curve>(queries: &[&Query<C>], threads: usize) -> u64 {
    queries.iter().map(|query| query.prepared_bytes(threads)).max().unwrap_or(0) as u64
}

/// Memory for multiplications by these queries, one after the other, on so many threads.
pub(crate) fn prepared<C: Curve>(arena: &Arena, queries: &[&Query<C>], threads: usize) -> Workspace<C> {
    let memory = Workspace::in_arena(arena);
    // Longest first, so that nothing grows after it was touched.
    let mut by_length: Vec<_> = queries.to_vec();
    by_length.sort_by_key(|query| std::cmp::Reverse(query.len()));
    by_length.iter().for_each(|query| query.prepare(&memory, threads));
    memory
}

/// Whether two columns of an evaluation domain have room for that: then the sums need no memory of their own.
pub(crate) fn columns_have_room<C: Curve>(domain: usize, queries: &[&Query<C>], threads: usize) -> bool {
    let column = domain * size_of::<Scalar>();
    let longest = queries.iter().max_by_key(|query| query.len());
    longest.is_some_and(|query| have_room(&[column; 2], query.prepared_lists(threads)))
}

/// The memory of a firing that multiplies by these queries, one after the other.
pub(crate) fn of_sums<'a, C: Curve, T: Token>(
    slot: &Slot<'a, T>,
    cores: &CcdPool,
    queries: &[&Query<C>],
) -> Kept<'a, OfSums<C>> {
    let lengths = || queries.iter().map(|query| query.len());
    slot.workspace(
        |kept: &OfSums<C>| lengths().eq(kept.lengths.iter().copied()),
        |arena| {
            cores.install(|| OfSums { lengths: lengths().collect(), memory: prepared(arena, queries, cores.threads()) })
        },
    )
}
