//! Other bodies in the places of the stages, for tests: the types, the wiring, the workers and the edges stay.

use std::marker::PhantomData;

use crate::error::StageError;
use crate::exec::firing::Firing;
use crate::key::TokenKey;
use crate::stage::{Port, Stage};
use crate::tags::Tags;

/// Stands in for the functions of every stage of a pipeline; [`crate::mock`] has one.
pub trait Double: Send + Sync {
    /// The work of a firing: comes back when it is over. It runs on the worker's own thread, and may panic, as stages
    /// may. `stage` is the position in the plan; for `dealloc`, `key` names the token whose slot died.
    ///
    /// # Errors
    /// The firing fails, as if its stage had refused.
    fn fire(&self, stage: usize, key: TokenKey) -> Result<(), StageError>;
}

/// Stage `S` to its neighbours, a [`Double`] inside: it puts out an empty token.
pub(crate) struct Doubled<S>(PhantomData<S>);

impl<S: Stage> Stage for Doubled<S> {
    type Job = S::Job;
    type In = S::In;
    type Out = S::Out;
    type Pending = ();
    const NAME: &'static str = S::NAME;
    const BACKEND: &'static str = S::BACKEND;
    const TAGS: Tags = S::TAGS;
    const PORTS: &'static [Port] = S::PORTS;

    fn start(_: &Firing<'_, Self>, _: &S::In) -> Result<(), StageError> {
        Ok(())
    }

    fn finish(firing: &Firing<'_, Self>, _: &S::In, (): ()) -> Result<S::Out, StageError> {
        if let Some((double, stage)) = &firing.rights.double {
            double.fire(*stage, firing.key())?;
        }
        Ok(firing.slot().take(&Default::default()))
    }
}
