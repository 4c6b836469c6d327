//! Peaks of memory, each of a fresh process.

use std::error::Error;
use std::path::Path;
use std::process::Command;

use crate::provers::{self, BELLPERSON, OURS, Peer};
use crate::subject::Subject;
use crate::table::{Bar, Table};

const BAR: Bar = Bar { required: 1.0, goal: 1.0 };

/// The peak of one proof with each prover, against the lower of the two peers.
pub fn peaks(circuit: &str, keys: &Path, table: &mut Table) -> Result<(), Box<dyn Error>> {
    let [ours, ark, bellperson] =
        [OURS, "ark-groth16", BELLPERSON].map(|prover| peak_of_process(prover, circuit, keys));
    let (ours, ark, bellperson) = (ours?, ark?, bellperson?);
    let against = if ark < bellperson { "ark-groth16" } else { BELLPERSON };
    table.peaks(&format!("peak RSS, proof of {circuit}"), against, (ours, ark.min(bellperson)), BAR);
    Ok(())
}

pub fn peak_of_process(prover: &str, circuit: &str, keys: &Path) -> Result<u64, Box<dyn Error>> {
    let mut command = Command::new(std::env::current_exe()?);
    let output = command.args(["--peak-of", prover, "--circuits", circuit, "--keys"]).arg(keys).output()?;
    if !output.status.success() {
        return Err(format!("{prover}: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(String::from_utf8(output.stdout)?.trim().parse()?)
}

fn prover_of(prover: &str, circuit: &str, keys: &Path) -> Result<Box<dyn Peer>, Box<dyn Error>> {
    #[cfg(feature = "filecoin")]
    if let Some(prover) = crate::filecoin::peer(prover, circuit, keys)? {
        return Ok(prover);
    }
    provers::open(prover, &Subject::open(circuit, keys)?)
}

/// The peak resident memory of a proof in MiB: everything that must be in memory for it is, what setting up took is
/// forgotten, and its freed memory given back.
pub fn peak(prover: &str, circuit: &str, keys: &Path) -> Result<u64, Box<dyn Error>> {
    let prover = prover_of(prover, circuit, keys)?;
    // SAFETY: it takes no pointers; it gives free memory of the heap back to the system.
    unsafe { libc::malloc_trim(0) };
    // Writing 5 resets the peak to what is resident now.
    std::fs::write("/proc/self/clear_refs", "5")?;
    prover.prove()?;
    let status = std::fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no peak in /proc/self/status")?;
    let kib: u64 = peak.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kib / 1024)
}
