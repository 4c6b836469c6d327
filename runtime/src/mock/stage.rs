//! One stage that only costs.

use std::collections::BTreeMap;

use crate::key::{JobId, TokenKey};
use crate::sim::{Fate, StageCost, Work};

/// A stage that only costs. One piece of work; [`Mock::then`] begins another after it.
#[derive(Clone, PartialEq, Debug)]
pub struct Mock {
    pub(super) stage: String,
    pub(super) cost: StageCost,
    /// The firings that do not succeed.
    pub(super) fates: BTreeMap<TokenKey, Fate>,
}

impl Mock {
    /// A stage that costs nothing.
    #[must_use]
    pub fn stage(name: &str) -> Self {
        let work = Work { name: "0".into(), threads: 1, ..Work::default() };
        Self {
            stage: name.into(),
            cost: StageCost { work: vec![work], ..StageCost::default() },
            fates: BTreeMap::new(),
        }
    }

    /// The whole cost at once.
    #[must_use]
    pub fn cost(mut self, cost: StageCost) -> Self {
        self.cost = cost;
        self
    }

    /// Core-seconds.
    #[must_use]
    pub fn core_s(self, core_s: f64) -> Self {
        self.last(|work| work.core_s = core_s)
    }

    /// Threads that share them.
    #[must_use]
    pub fn threads(self, threads: u32) -> Self {
        self.last(|work| work.threads = threads)
    }

    /// Memory traffic in bytes, and the part of the undisturbed time that is spent waiting for it.
    #[must_use]
    pub fn dram(self, bytes: f64, stall: f64) -> Self {
        self.last(|work| (work.dram_bytes, work.stall) = (bytes, stall))
    }

    /// Bytes that stay in the L3 of each CCD, and the traffic that becomes memory traffic when they do not fit.
    #[must_use]
    pub fn l3(self, bytes: f64, traffic_bytes: f64) -> Self {
        self.last(|work| (work.l3_bytes, work.l3_traffic_bytes) = (bytes, traffic_bytes))
    }

    /// Seconds of the stage's device.
    #[must_use]
    pub fn gpu_s(self, gpu_s: f64) -> Self {
        self.last(|work| work.gpu_s = gpu_s)
    }

    /// Bytes over the device's link.
    #[must_use]
    pub fn pcie(self, bytes: f64) -> Self {
        self.last(|work| work.pcie_bytes = bytes)
    }

    /// Under the device's lock.
    #[must_use]
    pub fn locked(self) -> Self {
        self.last(|work| work.lock = true)
    }

    /// Another piece of work, after what there is.
    #[must_use]
    pub fn then(mut self) -> Self {
        let after = self.cost.work.last().map(|work| work.name.clone());
        let name = self.cost.work.len().to_string();
        self.cost.work.push(Work { name, threads: 1, after: after.into_iter().collect(), ..Work::default() });
        self
    }

    /// Each firing takes between 1 − `part` and 1 + `part` times as long, drawn from the seed.
    #[must_use]
    pub fn spread(mut self, part: f64) -> Self {
        self.cost.spread = part;
        self
    }

    /// The jobs take so many times as long, in turn: `[1.0, 3.0]` makes every second one three times as long.
    #[must_use]
    pub fn per_job(mut self, factors: &[f64]) -> Self {
        self.cost.per_job = factors.to_vec();
        self
    }

    /// Bytes of the device's memory, from the start of the firing to its end.
    #[must_use]
    pub fn vram(mut self, bytes: f64) -> Self {
        self.cost.vram_bytes = bytes;
        self
    }

    /// The firing for this partition of this job fails with an error.
    #[must_use]
    pub fn fails_on(mut self, job: u64, partition: u32) -> Self {
        self.fates.insert(TokenKey { job: JobId(job), partition }, Fate::Fails);
        self
    }

    /// The firing for this partition of this job panics.
    #[must_use]
    pub fn panics_on(mut self, job: u64, partition: u32) -> Self {
        self.fates.insert(TokenKey { job: JobId(job), partition }, Fate::Panics);
        self
    }

    fn last(mut self, change: impl FnOnce(&mut Work)) -> Self {
        if self.cost.work.is_empty() {
            self.cost.work.push(Work { name: "0".into(), threads: 1, ..Work::default() });
        }
        if let Some(work) = self.cost.work.last_mut() {
            change(work);
        }
        self
    }
}
