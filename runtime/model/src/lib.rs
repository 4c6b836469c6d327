//! Nothing: this package is its tests.
//!
//! `tests/loom.rs` and `tests/shuttle.rs` compile `runtime/src/exec/engine.rs` (the one lock of a running pipeline, with
//! the real scheduler, permits and policies behind it) and `handle.rs` a second time, with loom's or shuttle's mutexes
//! and condition variables in the place of the standard library's: the sources name them by `crate::sync` only. The
//! state machines come from `pipeline-runtime` as they are; they know no threads.
