use std::marker::PhantomData;
use std::sync::MutexGuard;

use pipeline_runtime::export::Token;

// Edges lead from thread to thread. What may not go there is no token, so no stage has it for an output.
pub struct Locked(PhantomData<MutexGuard<'static, u64>>);

impl Token for Locked {
    const NAME: &'static str = "Locked";
    type Shape = ();
    fn with_shape(_: &()) -> Self {
        Self(PhantomData)
    }
    fn shape(&self) {}
    fn bytes(&self) -> u64 {
        0
    }
}

fn main() {}
