//! Capabilities that nobody asks for: the stages here have no tags.

pub struct MemPermit;

pub struct CcdPool;

pub struct GpuDevice;

pub struct DeallocPermit;

impl DeallocPermit {
    pub fn new() -> Self {
        Self
    }
}
