//! The graph file.

use super::bytes::Expression;
use crate::source::{At, Span};

/// A list of a file, and whether all of it could be read: what is missing in a list that is not whole may be there.
#[derive(Clone, PartialEq, Debug)]
pub struct Listed<T> {
    /// What could be read.
    pub items: Vec<T>,
    /// Whether that is all.
    pub whole: bool,
}

impl<T> Default for Listed<T> {
    fn default() -> Self {
        Self { items: Vec::new(), whole: true }
    }
}

/// A graph file.
#[derive(Clone, PartialEq, Debug)]
pub struct Graph {
    /// The word `Graph`.
    pub span: Span,
    /// The machine.
    pub sku: Option<At<SkuChoice>>,
    /// The sizes of the circuits that it is meant for.
    pub sizes: Listed<Sizes>,
    /// The permit pools.
    pub pools: Listed<Pool>,
    /// The placement groups.
    pub groups: Listed<Group>,
    /// The stages.
    pub stages: Listed<Stage>,
    /// The edges.
    pub edges: Listed<Edge>,
    /// The policy, if it names one.
    pub policy: Option<At<String>>,
    /// The catalogue that it is judged by, where that is not the program's own: a path from the graph file.
    pub catalogue: Option<At<String>>,
    /// Where it says that jobs of different priority are to be told apart, if it does.
    pub priorities: Option<Span>,
    /// What the process keeps beside tokens and workspace: names and bytes.
    pub resident: Listed<(At<String>, At<Expression>)>,
    /// The load that it is judged for.
    pub load: Option<At<Load>>,
    /// What becomes of dead slots, if it says.
    pub dealloc: Option<At<Dealloc>>,
    /// How memory goes back to the kernel, if it says.
    pub give_back: Option<At<GiveBack>>,
}

/// What becomes of a slot that nobody reads any more: `runtime::plan::Dealloc`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Dealloc {
    /// The next firing uses it again.
    #[default]
    Recycle,
    /// Its memory goes back to the kernel, behind the permits of `dealloc`.
    BoundedFree,
    /// Its memory goes back to the kernel at once.
    UnboundedFree,
}

impl Dealloc {
    /// The words of the language.
    pub const WORDS: [(&'static str, Self); 3] =
        [("recycle", Self::Recycle), ("bounded_free", Self::BoundedFree), ("unbounded_free", Self::UnboundedFree)];

    /// Its word.
    #[must_use]
    pub fn word(self) -> &'static str {
        word_of(&Self::WORDS, self)
    }
}

/// The word of a value in a list that has all of them.
fn word_of<T: PartialEq>(words: &[(&'static str, T)], value: T) -> &'static str {
    words.iter().find(|(_, one)| *one == value).map_or("", |(word, _)| word)
}

/// How the memory of idle and freed slots goes back to the kernel: `memory::GiveBack`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum GiveBack {
    /// With its addresses.
    #[default]
    Unmap,
    /// The pages at once, not the addresses.
    DontNeed,
    /// The pages when the kernel wants them, not the addresses.
    Free,
}

impl GiveBack {
    /// The words of the language.
    pub const WORDS: [(&'static str, Self); 3] =
        [("unmap", Self::Unmap), ("dont_need", Self::DontNeed), ("free", Self::Free)];

    /// Its word.
    #[must_use]
    pub fn word(self) -> &'static str {
        word_of(&Self::WORDS, self)
    }
}

/// How much may be submitted at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Load {
    /// Jobs at once.
    pub jobs: u32,
    /// Partitions of a job.
    pub partitions: u32,
}

/// The machine of a graph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SkuChoice {
    /// Whatever the graph finds itself on.
    Any,
    /// The one that this file of `skus/` describes.
    Named(String),
}

/// The sizes of a circuit, in the order of [`super::SIZES`].
#[derive(Clone, PartialEq, Debug)]
pub struct Sizes {
    /// The circuit's name.
    pub name: At<String>,
    /// Its numbers; a size that is not stated is 0.
    pub counts: [u64; 6],
}

/// A permit pool.
#[derive(Clone, PartialEq, Debug)]
pub struct Pool {
    /// Its name.
    pub name: At<String>,
    /// How much it has; `None` where that could not be read.
    pub size: Option<At<u64>>,
    /// What it counts.
    pub unit: Unit,
}

/// What a pool counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Permits.
    Count,
    /// Bytes.
    Bytes,
}

/// A placement group.
#[derive(Clone, PartialEq, Debug)]
pub struct Group {
    /// Its name.
    pub name: At<String>,
    /// The CCDs.
    pub ccds: Option<At<Ccds>>,
    /// How its workers share them.
    pub share: Option<Share>,
    /// Whether no other group may overlap it.
    pub exclusive: bool,
    /// What to do where the machine refuses.
    pub insist: Insist,
    /// Whether its threads may use all hardware threads of a core.
    pub smt: bool,
}

/// A choice of CCDs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ccds {
    /// All.
    All,
    /// These, ascending.
    List(Vec<u32>),
}

/// How workers share the CCDs of their group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Share {
    /// One pool of threads per CCD.
    Spread,
    /// One over all.
    Pack,
}

/// What becomes of a placement that cannot be had.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Insist {
    /// The start fails.
    Demand,
    /// The start goes on and says so.
    Prefer,
}

/// A stage.
#[derive(Clone, PartialEq, Debug)]
pub struct Stage {
    /// The word `Stage`.
    pub span: Span,
    /// Whether all of it could be read; what is absent in a stage that is not whole may have been meant to be there.
    pub whole: bool,
    /// Its name.
    pub name: At<String>,
    /// What it runs on, if it says.
    pub backend: Option<Backend>,
    /// Its group.
    pub on: Option<At<String>>,
    /// Its device.
    pub device: Option<At<u32>>,
    /// Firings at once.
    pub workers: Option<At<u32>>,
    /// Threads of a worker.
    pub threads: Option<At<u32>>,
    /// Firings of a worker between `start` and `finish`.
    pub in_flight: Option<At<u32>>,
    /// Permits of a firing.
    pub needs: Listed<(At<String>, At<u64>)>,
    /// Bytes of the output token.
    pub holds: Listed<(At<String>, At<Expression>)>,
    /// Bytes of a worker.
    pub workspace: Listed<(At<String>, At<Expression>)>,
    /// The tags that it expects of the implementation.
    pub tags: Option<At<Listed<At<String>>>>,
    /// `acquire: InOrder([…])`: it takes its permits one after the other, and waits with those that it has.
    pub in_order: Option<At<Listed<At<String>>>>,
    /// `send: Blocking`: it takes the places of its output when it sends, and waits with all that it has.
    pub blocking: Option<Span>,
    /// `release: BeforeSend`: its worker and permits are free before its output has a place.
    pub before_send: Option<Span>,
}

/// The backend of a stage.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Backend {
    /// This one.
    Only(At<String>),
    /// The first of these that the machine can run.
    Prefer(Vec<At<String>>),
}

impl Backend {
    /// The backends that it names.
    #[must_use]
    pub fn names(&self) -> &[At<String>] {
        match self {
            Backend::Only(name) => std::slice::from_ref(name),
            Backend::Prefer(names) => names,
        }
    }
}

/// An edge.
#[derive(Clone, PartialEq, Debug)]
pub struct Edge {
    /// The word `Edge`.
    pub span: Span,
    /// The stage that puts tokens in.
    pub from: At<String>,
    /// The stage that takes them out.
    pub to: At<String>,
    /// Its port, if it is named.
    pub port: Option<At<String>>,
    /// Tokens that have a place at once.
    pub capacity: Option<At<u32>>,
    /// Tokens that the port takes for one firing.
    pub batch: Option<At<u32>>,
}
