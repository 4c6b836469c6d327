//! Whether what is simulated could run on the machine: virtual time asks nobody for memory, and binds no thread.

use pipeline_runtime::placement::{PlacementError, place};
use pipeline_runtime::plan::Plan;
use pipeline_runtime::sim::Report;

use crate::Study;

const GIB: f64 = (1_u64 << 30) as f64;

impl Study {
    /// Why the machine that is simulated would not run this: the pipeline would not start on it, or the run that is
    /// reported takes more memory than it has. `None`: it would.
    #[must_use]
    pub fn would_not_run(&self, report: &Report) -> Option<String> {
        self.takes_too_much(report).or_else(|| self.would_not_start())
    }

    /// Why the pipeline would not start on the machine that is simulated: the same question that the start asks, but for
    /// whether the machine is the graph's SKU, which is not simulated if another is.
    #[must_use]
    pub(crate) fn would_not_start(&self) -> Option<String> {
        let topology = self.topology.as_ref()?;
        let plan = Plan { sku: None, ..self.plan() };
        place(&plan, topology).err().map(|error| match error {
            PlacementError::Table { wanted, what, circuit, has, .. } => format!(
                "the graph may take {wanted} of {what}{circuit}, there is {has}; lower a capacity, the workers of a stage or \
                 a pool of bytes (`proofline plan --graph FILE` prints what takes how much)"
            ),
            other => other.to_string(),
        })
    }

    fn takes_too_much(&self, report: &Report) -> Option<String> {
        let machine = self.machine.as_ref()?;
        let ram = (report.peak_ram_bytes, machine.ram_bytes, "memory".to_owned());
        let devices = report.peak_vram_bytes.iter().zip(&machine.devices).enumerate();
        let devices =
            devices.map(|(at, (takes, device))| (*takes as f64, device.vram_bytes, format!("device {at}'s memory")));
        // A machine that is only described may state no memory.
        let over = |(takes, has, _): &(f64, u64, String)| *has > 0 && *takes > *has as f64;
        let (takes, has, what) = [ram].into_iter().chain(devices).find(over)?;
        Some(format!("it takes {:.1} GiB of {what} at its peak, there are {:.1}", takes / GIB, has as f64 / GIB))
    }
}
