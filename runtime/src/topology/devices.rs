//! Finds devices with the driver's own tool.

use std::process::Command;

use super::Device;

/// The devices of this machine, by their numbers; none where the tool is not there.
#[must_use]
pub fn this_system() -> Vec<Device> {
    let query = ["--query-gpu=name,memory.total,compute_cap", "--format=csv,noheader,nounits"];
    match Command::new("nvidia-smi").args(query).output() {
        Ok(output) if output.status.success() => parsed(&String::from_utf8_lossy(&output.stdout)),
        _ => Vec::new(),
    }
}

/// A device to a line: `NVIDIA H200, 143771, 9.0`. Lines that are none are passed over.
fn parsed(text: &str) -> Vec<Device> {
    let device = |line: &str| {
        let mut parts = line.split(',').map(|part| part.trim().replace('"', ""));
        let (name, mib, capability) = (parts.next()?, parts.next()?, parts.next()?);
        let memory_bytes = mib.parse::<u64>().ok()?.checked_mul(1 << 20)?;
        Some(Device { name, memory_bytes, arch: format!("sm_{}", capability.replace('.', "")) })
    };
    text.lines().filter_map(device).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_device() {
        let devices = parsed("NVIDIA H200, 143771, 9.0\nNVIDIA GeForce RTX 5070 Ti, 16303, 12.0\n");
        let expected =
            |name: &str, mib: u64, arch: &str| Device { name: name.into(), memory_bytes: mib << 20, arch: arch.into() };
        assert_eq!(
            devices,
            [expected("NVIDIA H200", 143_771, "sm_90"), expected("NVIDIA GeForce RTX 5070 Ti", 16_303, "sm_120")]
        );
    }

    #[test]
    fn what_is_no_device_is_none() {
        assert_eq!(parsed("No devices were found\n\nX, [N/A], 9.0\nX, 99999999999999999, 9.0\n"), []);
    }
}
