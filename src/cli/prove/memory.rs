//! What a run asked of the kernel's memory, in all and for each proof.

use proofline::Prover;
use proofline::memory::{Counts, Snapshot};

/// The counters at one moment.
#[derive(Clone, Copy)]
struct Reading {
    kernel: Snapshot,
    arena: Counts,
    proofs: u32,
}

/// The counters of a run: at its beginning, and when its first proof was there, which makes all memory that the others
/// find.
pub struct MemoryWatch<'a> {
    prover: &'a Prover,
    start: Reading,
    settled: Option<Reading>,
    /// What the plan says that these jobs take.
    planned: Option<u64>,
}

impl<'a> MemoryWatch<'a> {
    pub fn new(prover: &'a Prover) -> Self {
        let start = Reading { kernel: Snapshot::now(), arena: prover.memory(), proofs: 0 };
        Self { prover, start, settled: None, planned: None }
    }

    /// What all jobs take, which are alike: program, key, circuit, and all slots and workspaces.
    pub fn plan(&mut self, bytes: impl FnOnce() -> u64) {
        self.planned.get_or_insert_with(bytes);
    }

    /// So many proofs are there.
    pub fn proved(&mut self, proofs: u32) {
        if self.settled.is_none() && proofs > 0 {
            self.settled = Some(self.read(proofs));
        }
    }

    fn read(&self, proofs: u32) -> Reading {
        Reading { kernel: Snapshot::now(), arena: self.prover.memory(), proofs }
    }

    /// Lines for a person.
    pub fn table(&self, proofs: u32) -> Vec<String> {
        let end = self.read(proofs);
        let mut lines = vec![format!("  {:34} {:>14} {:>22}", "memory", "in all", "a proof, first left out")];
        let mut row = |what: &str, counter: &dyn Fn(&Reading) -> Option<u64>| {
            let grown = |since: &Reading| Some(counter(&end)?.saturating_sub(counter(since)?));
            let in_all = grown(&self.start).map_or_else(|| UNKNOWN.to_owned(), |count| count.to_string());
            let each = self.settled.as_ref().filter(|settled| settled.proofs < proofs).and_then(|settled| {
                Some(format!("{:.1}", grown(settled)? as f64 / f64::from(proofs - settled.proofs)))
            });
            lines.push(format!("  {what:34} {in_all:>14} {:>22}", each.unwrap_or_else(|| "-".to_owned())));
        };
        row("page faults, minor", &|reading| reading.kernel.minor_faults);
        row("page faults, major", &|reading| reading.kernel.major_faults);
        row("TLB shootdowns, whole machine", &|reading| reading.kernel.shootdowns);
        row("mmap calls of arenas", &|reading| Some(reading.arena.maps));
        row("munmap calls of arenas", &|reading| Some(reading.arena.unmaps));
        row("madvise calls of arenas", &|reading| Some(reading.arena.advices));
        let mib = |bytes: u64| format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20));
        for (what, bytes) in [
            ("mapped by arenas", Some(end.arena.bytes)),
            ("on transparent 2 MiB pages", end.kernel.large_pages),
            ("peak resident, whole process", end.kernel.peak_resident),
            ("planned, whole process", self.planned),
        ] {
            lines.push(format!("  {what:34} {:>14}", bytes.map_or_else(|| UNKNOWN.to_owned(), mib)));
        }
        lines
    }
}

/// What stands where the kernel tells no number.
const UNKNOWN: &str = "cannot be read";
