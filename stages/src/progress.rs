//! How far a long piece of work has come.

/// One report of progress.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// What is being done, as a heading: `check h`, `g1 powers`.
    pub what: &'static str,
    /// How much of it is done.
    pub done: u64,
    /// How much there is.
    pub total: u64,
}

/// Where reports of progress go. Called from one thread at a time, a few hundred times in all.
pub type Watch<'a> = &'a dyn Fn(Progress);

/// Reports to nobody.
pub fn unwatched(_: Progress) {}
