//! What a compiled graph asks of its edges' types, and what stands in for them where the answer is no: then rustc reports the
//! answer, and nothing that follows from it.
//!
//! Each question is a constant of a type that is made of the types in question. It is declared twice: in an inherent `impl`
//! for types with which all is well, which goes first, and in a trait for all others.

use std::marker::PhantomData;

use crate::error::StageError;
use crate::exec::firing::Firing;
use crate::exec::ports::InPorts;
use crate::slot::{Token, Travels};
use crate::stage::{Job, Port, Stage};
use crate::tags::Tags;

/// The types at the two ends of an edge.
#[derive(Debug)]
pub struct Ends<A, B>(PhantomData<(A, B)>);

/// For ends of different types.
pub trait Differ {
    /// Whether they are of one type.
    const ALIKE: bool = false;
}

impl<A, B> Differ for Ends<A, B> {}

impl<A> Ends<A, A> {
    /// Whether they are of one type.
    pub const ALIKE: bool = true;
}

/// A token's type.
#[derive(Debug)]
pub struct Asked<T>(PhantomData<T>);

/// For tokens that stay on their thread.
pub trait Stays {
    /// Whether it may go from thread to thread.
    const TRAVELS: bool = false;
}

impl<T> Stays for Asked<T> {}

impl<T: Travels> Asked<T> {
    /// Whether it may go from thread to thread.
    pub const TRAVELS: bool = true;
}

/// The answer to a question.
#[derive(Debug)]
pub struct If<const YES: bool>;

/// One of two types.
pub trait Either<A, B> {
    /// The first, if the answer is yes.
    type Chosen;
}

impl<A, B> Either<A, B> for If<true> {
    type Chosen = A;
}

impl<A, B> Either<A, B> for If<false> {
    type Chosen = B;
}

/// Stands in for a token.
#[derive(Debug)]
pub enum Never {}

impl Token for Never {
    const NAME: &'static str = "Never";
    type Shape = ();

    fn with_shape(_: &()) -> Self {
        unreachable!("a graph with a fault is not run")
    }

    fn shape(&self) {
        match *self {}
    }

    fn bytes(&self) -> u64 {
        match *self {}
    }
}

/// Stands in for a stage with ports `P` that puts out `T`.
#[derive(Debug)]
pub struct StandIn<J, P, T>(PhantomData<(J, P, T)>);

impl<J: Job, P: InPorts, T: Travels> Stage for StandIn<J, P, T> {
    type Job = J;
    type In = P::In;
    type Out = T;
    type Pending = T;
    const NAME: &'static str = "";
    const BACKEND: &'static str = "";
    const TAGS: Tags = Tags::NONE;
    const PORTS: &'static [Port] = &[];

    fn start(_: &Firing<'_, Self>, _: &Self::In) -> Result<T, StageError> {
        Err(StageError::new("a graph with a fault is not run"))
    }

    fn finish(_: &Firing<'_, Self>, _: &Self::In, pending: T) -> Result<T, StageError> {
        Ok(pending)
    }
}
