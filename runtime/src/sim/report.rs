//! What a simulation says.

/// The figures of a run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Report {
    /// Jobs that came to their end.
    pub jobs: u64,
    /// Firings, those of `dealloc` counted, tombstones not.
    pub firings: u64,
    /// From the first submission to the end of the last job, in seconds.
    pub seconds: f64,
    /// The mean of a job's time from its submission to its last output, in seconds.
    pub mean_latency_s: f64,
    /// The longest of them.
    pub worst_latency_s: f64,
    /// The part of the time in which each device computed.
    pub gpu_utilisation: Vec<f64>,
    /// The part of the time in which each device's lock was held.
    pub lock_utilisation: Vec<f64>,
    /// The largest sum of live tokens, workspace, resident memory and what the process keeps, in
    /// bytes; as often as the costs say that memory is looked at.
    pub peak_ram_bytes: f64,
    /// By device: workspace, and the most that firings took at once beside it, in bytes.
    pub peak_vram_bytes: Vec<u64>,
    /// The stages, by their positions in the plan.
    pub stages: Vec<StageReport>,
}

/// The figures of a stage.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct StageReport {
    /// Its name.
    pub name: String,
    /// Its workers.
    pub workers: u32,
    /// Firings that were not tombstones.
    pub firings: u64,
    /// Time in firings, in seconds.
    pub busy_s: f64,
    /// What they would have taken, each alone on the machine, in seconds.
    pub isolated_s: f64,
    /// Time that firings waited for worker, permits and places after their last input had come, in seconds.
    pub waited_s: f64,
    /// Of that, the time in which they lacked permits alone, in seconds; of dead slots, that of the one whose turn it was.
    pub waited_for_permits_s: f64,
}

impl Report {
    /// Seconds for each job.
    #[must_use]
    pub fn seconds_per_job(&self) -> f64 {
        self.seconds / self.jobs.max(1) as f64
    }
}

impl StageReport {
    /// How much longer a firing took than alone on the machine; 1: not at all.
    #[must_use]
    pub fn inflation(&self) -> f64 {
        if self.isolated_s > 0.0 { self.busy_s / self.isolated_s } else { 1.0 }
    }
}
