//! What bucket summation asks of a group: affine additions by the thousand, sharing inversions.

use proofline_memory::Arena;

use super::Curve;

/// One addition: the point at `out` becomes the sum of those at `a` and `b`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    pub(crate) a: u32,
    pub(crate) b: u32,
    pub(crate) out: u32,
}

/// The bases of a query in the form that an implementation likes, and affine additions on them.
///
/// A base is named by an *entry*: twice its index, plus one for its negative. All additions are complete: infinity, equal and
/// opposite points give what the group says.
pub trait Adder<C: Curve>: Sized + Clone + std::fmt::Debug + Send + Sync {
    /// An affine point or infinity, in memory.
    type Point: Copy + Send + Sync;
    /// Memory for a batch of additions.
    type Scratch: Send;

    /// The bytes of the lists of [`Self::Scratch`], in their order.
    const SCRATCH_LISTS: &'static [usize];

    /// The point at infinity.
    fn infinity() -> Self::Point;

    /// Memory for a batch, of an arena.
    fn scratch(&self, arena: &Arena) -> Self::Scratch;

    /// Number of bases.
    fn len(&self) -> usize;

    /// Bytes of the bases.
    fn bytes(&self) -> usize;

    /// The base of an entry.
    fn base(&self, entry: u32) -> Self::Point;

    /// Adds bases: `a` and `b` are entries, `out` an index into `out`. The bases of the entries `soon` will be wanted next.
    fn add_bases(&self, pairs: &[Pair], soon: &[u32], out: &mut [Self::Point], scratch: &mut Self::Scratch);

    /// Adds points: all three are indices into `points`. Pairs are processed in order, batch by batch; a pair may read
    /// what an earlier one of the same call reads, and may write where that one read, but must not read what it wrote.
    /// The bases of the entries `soon` will be wanted next.
    fn add_points(&self, pairs: &[Pair], soon: &[u32], points: &mut [Self::Point], scratch: &mut Self::Scratch);

    /// To the group's own form.
    fn to_affine(&self, point: &Self::Point) -> C;
}

/// Additions that share one inversion. An inversion costs about 40 additions of eight lanes, so a thousand leave 4 % of
/// it to each; the scratch of a batch (3 KiB per eight additions) still fits a second-level cache.
pub(crate) const BATCH: usize = 1024;
