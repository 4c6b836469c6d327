//! What the threads of a pipeline meet at. In one place, so that the model checks in `runtime/model` can put others in.

pub(crate) use std::sync::atomic::{AtomicBool, Ordering};
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};

pub(crate) use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
