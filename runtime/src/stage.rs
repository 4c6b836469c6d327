//! What `#[stage]` makes of a function.

use crate::error::StageError;
use crate::exec::firing::Firing;
pub use crate::job::{Brought, Job, Priority, Sizes, Thing};
use crate::slot::Token;
use crate::tags::Tags;

/// One implementation of a stage. Written by `#[stage]`, never by hand.
///
/// A stage of one function does its work in `start`, and its `finish` returns what `start` made. A stage of two
/// functions lets the worker start the next token while a device still works on this one.
pub trait Stage: 'static {
    /// The job that every firing can read.
    type Job: Job;
    /// The tokens of the ports, in order: `(Arc…, …)` see [`crate::export::InPorts`].
    type In;
    /// The token that it puts out.
    type Out: Token;
    /// What lies between `start` and `finish`.
    type Pending;
    /// The stage's name in graph files.
    const NAME: &'static str;
    /// The backend that it implements: `host` or `cuda`.
    const BACKEND: &'static str;
    /// The tags that it declares.
    const TAGS: Tags;
    /// Its input ports, in the order of the function's parameters.
    const PORTS: &'static [Port];

    /// Begins a firing.
    ///
    /// # Errors
    /// The stage's own refusal.
    fn start(firing: &Firing<'_, Self>, inputs: &Self::In) -> Result<Self::Pending, StageError>
    where
        Self: Sized;

    /// Ends a firing that `start` began.
    ///
    /// # Errors
    /// The stage's own refusal.
    fn finish(firing: &Firing<'_, Self>, inputs: &Self::In, pending: Self::Pending) -> Result<Self::Out, StageError>;
}

/// An input port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Port {
    /// The parameter's name.
    pub name: &'static str,
    /// The token's name.
    pub token: &'static str,
}

/// The port number `N` of a stage, as a type: the graph's edges are checked against it.
pub trait TakesAt<const N: usize> {
    /// The token that the port takes.
    type Takes: Token;
}

/// The `dealloc` stage: what becomes of a slot that nobody reads any more.
pub trait DeallocStage: 'static {
    /// The backend that it implements.
    const BACKEND: &'static str;
    /// The tags that it declares; always [`Tags::UNMAPS`].
    const TAGS: Tags;
    /// Sends one slot home or frees it.
    ///
    /// # Errors
    /// The stage's own refusal; the slot is gone then.
    fn dealloc(dead: crate::slot::Dead, permit: &crate::capability::DeallocPermit) -> Result<(), StageError>;
}
