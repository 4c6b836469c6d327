//! Nothing: this package is its tests.
//!
//! `tests/loom.rs` and `tests/shuttle.rs` compile the runtime's own sources a second time, with loom's or shuttle's mutexes
//! and condition variables in the place of the standard library's: `exec/engine.rs` (the one lock of a running pipeline,
//! with the real scheduler, permits and policies behind it), `handle.rs`, `worker.rs` (the life of a worker and its hand-over),
//! `edge.rs` (bounded edges and joins by key) and `slot.rs` (tokens, and the list of those that wait to be used again). The
//! sources name what threads meet at by `crate::sync` only. The state machines come from `pipeline-runtime` as they are; they
//! know no threads.
