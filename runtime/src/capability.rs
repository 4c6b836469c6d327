//! Capabilities: what a tag pays out.
//!
//! A stage function that needs a resource takes the capability as an argument. Capabilities are neither `Clone` nor
//! `Default` and only the runtime makes them, so a stage that did not declare the tag cannot get hold of one.

use std::sync::Arc;

use proofline_memory::Arena;

use crate::tags::Tags;

/// Implemented by the capability types and by nothing else: which tag pays a capability out.
pub trait Capability: sealed::Sealed {
    /// The tag without which the capability is not given.
    const NEEDS: Tags;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! capability {
    ($ty:ty, $tag:expr) => {
        impl sealed::Sealed for $ty {}
        impl Capability for $ty {
            const NEEDS: Tags = $tag;
        }
    };
}

/// The right to stream memory: the firing holds its weight of every counted pool that its stage `needs`.
#[derive(Debug)]
pub struct MemPermit {
    _made_by_the_runtime: (),
}

/// The right to give memory back to the kernel.
#[derive(Debug)]
pub struct DeallocPermit {
    _made_by_the_runtime: (),
}

/// The device that the graph assigned to this worker.
#[derive(Debug)]
pub struct GpuDevice {
    ordinal: u32,
}

/// The threads of the worker's placement: one CCD's of a `Spread` group, all of them of a `Pack` group.
#[derive(Debug)]
pub struct CcdPool {
    threads: Arc<rayon::ThreadPool>,
}

capability!(MemPermit, Tags::MEM_HEAVY);
capability!(DeallocPermit, Tags::UNMAPS);
capability!(GpuDevice, Tags::GPU);
capability!(CcdPool, Tags::CCD_PINNED);

impl MemPermit {
    pub(crate) const fn new() -> Self {
        Self { _made_by_the_runtime: () }
    }
}

impl DeallocPermit {
    pub(crate) const fn new() -> Self {
        Self { _made_by_the_runtime: () }
    }
}

impl GpuDevice {
    pub(crate) const fn new(ordinal: u32) -> Self {
        Self { ordinal }
    }

    /// The device's number, as the graph file has it.
    #[must_use]
    pub const fn ordinal(&self) -> u32 {
        self.ordinal
    }
}

impl CcdPool {
    pub(crate) const fn new(threads: Arc<rayon::ThreadPool>) -> Self {
        Self { threads }
    }

    /// Runs `work` inside the pool: what it calls of rayon uses these threads and no others.
    pub fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.threads.install(work)
    }

    /// The same arena, whose blocks are touched by these threads when they are mapped.
    pub(crate) fn touching(&self, arena: &Arena) -> Arena {
        arena.touched_by(&self.threads)
    }

    /// The number of threads in the pool.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.threads.current_num_threads()
    }
}
