//! stub
use std::marker::PhantomData;
use crate::slot::{Shared, Token};
use crate::stage::{DeallocStage, Job, Stage};
use crate::plan::Plan;
#[allow(missing_docs)]
pub struct OutEnd<T>(PhantomData<T>);
#[allow(missing_docs)]
pub struct InEnd<T>(PhantomData<T>);
#[allow(missing_docs)]
pub struct Wiring<'a, J, O>(PhantomData<&'a (J, O)>);
#[allow(missing_docs)]
pub trait InPorts { type In; }
impl InPorts for () { type In = (); }
impl<A: Token> InPorts for (InEnd<A>,) { type In = (Shared<A>,); }
impl<A: Token, B: Token> InPorts for (InEnd<A>,InEnd<B>) { type In = (Shared<A>,Shared<B>); }
#[allow(missing_docs)]
pub trait Graph { type Job: Job; type Output: Token; fn plan() -> Plan; fn wire(w: &mut Wiring<'_, Self::Job, Self::Output>); }
#[allow(missing_docs, unused)]
impl<'a, J: Job, O: Token> Wiring<'a, J, O> {
 pub fn edge<A: Token, B: Token>(&mut self, edge: usize) -> (OutEnd<A>, InEnd<B>) { todo!() }
 pub fn stage<S: Stage<Job = J>>(&mut self, stage: usize, inputs: impl InPorts<In = S::In>, outputs: Vec<OutEnd<S::Out>>) {}
 pub fn sink<S: Stage<Job = J, Out = O>>(&mut self, stage: usize, inputs: impl InPorts<In = S::In>) {}
 pub fn dealloc<D: DeallocStage>(&mut self, stage: usize) {}
}
