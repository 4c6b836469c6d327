//! Finds devices: with the driver's own tool, and where it says nothing, on the PCI bus.

use std::path::Path;
use std::process::Command;

use super::Device;

/// NVIDIA's number on the PCI bus.
pub(crate) const NVIDIA: u16 = 0x10de;

/// Whether a class of the PCI bus is one of devices that compute: VGA or 3D controllers.
pub(crate) fn computes(class: u16) -> bool {
    matches!(class, 0x0300 | 0x0302)
}

/// The devices of this machine, by their numbers. Where the driver's tool does not answer, those on the PCI bus, which
/// tells neither their memory nor their architecture.
#[must_use]
pub fn this_system() -> Vec<Device> {
    let query = ["--query-gpu=name,memory.total,compute_cap", "--format=csv,noheader,nounits"];
    let told = match Command::new("nvidia-smi").args(query).output() {
        Ok(output) if output.status.success() => parsed(&String::from_utf8_lossy(&output.stdout)),
        _ => Vec::new(),
    };
    if told.is_empty() { on_the_bus(Path::new("/sys/bus/pci/devices")) } else { told }
}

/// A device to a line: `NVIDIA H200, 143771, 9.0`. Lines that are none are passed over; what a device does not tell
/// (`[N/A]`) is not known of it.
fn parsed(text: &str) -> Vec<Device> {
    let device = |line: &str| {
        let mut parts = line.split(',').map(|part| part.trim().replace('"', ""));
        let (name, mib, capability) = (parts.next()?, parts.next()?, parts.next()?);
        let known = |capability: &String| !capability.is_empty() && capability.bytes().all(|byte| byte != b'[');
        Some(Device {
            name,
            memory_bytes: mib.parse::<u64>().ok().and_then(|mib| mib.checked_mul(1 << 20)),
            arch: Some(capability).filter(known).map(|capability| format!("sm_{}", capability.replace('.', ""))),
        })
    };
    text.lines().filter_map(device).collect()
}

/// The devices that Linux lists in `folder`, a subfolder for each, in the order of their addresses.
fn on_the_bus(folder: &Path) -> Vec<Device> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    let number = |path: &Path, name: &str| {
        let text = std::fs::read_to_string(path.join(name)).ok()?;
        u32::from_str_radix(text.trim().strip_prefix("0x")?, 16).ok()
    };
    let device = |path: &std::path::PathBuf| {
        let (vendor, class, device) = (number(path, "vendor")?, number(path, "class")?, number(path, "device")?);
        // A class has a byte more here, that of the interface.
        let class = u16::try_from(class >> 8).ok()?;
        (vendor == u32::from(NVIDIA) && computes(class)).then(|| unknown(u16::try_from(device).unwrap_or(0)))
    };
    paths.iter().filter_map(device).collect()
}

/// A device of which the PCI bus alone tells.
pub(crate) fn unknown(device: u16) -> Device {
    Device { name: format!("NVIDIA device {NVIDIA:04x}:{device:04x}"), memory_bytes: None, arch: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_device() {
        let devices = parsed("NVIDIA H200, 143771, 9.0\nNVIDIA GeForce RTX 5070 Ti, 16303, 12.0\nX, [N/A], [N/A]\n");
        let expected = |name: &str, mib: u64, arch: &str| Device {
            name: name.into(),
            memory_bytes: Some(mib << 20),
            arch: Some(arch.into()),
        };
        assert_eq!(
            devices,
            [
                expected("NVIDIA H200", 143_771, "sm_90"),
                expected("NVIDIA GeForce RTX 5070 Ti", 16_303, "sm_120"),
                Device { name: "X".into(), memory_bytes: None, arch: None }
            ]
        );
    }

    #[test]
    fn what_is_no_device_is_none() {
        assert_eq!(parsed("No devices were found\n\n"), []);
        assert_eq!(parsed("X, 99999999999999999, 9.0\n")[0].memory_bytes, None, "no memory has so much");
    }

    #[test]
    fn the_bus_tells_what_is_there() {
        let bus = tempfile::tempdir().unwrap();
        for (address, vendor, class, device) in [
            ("0000:41:00.0", "0x10de", "0x030200", "0x2335"),
            ("0000:01:00.0", "0x10de", "0x030000", "0x2c05"),
            ("0000:01:00.1", "0x10de", "0x040300", "0x22e9"),
            ("0000:02:00.0", "0x1002", "0x030000", "0x744c"),
            ("0000:03:00.0", "zebra", "0x030000", "0x744c"),
        ] {
            let folder = bus.path().join(address);
            std::fs::create_dir(&folder).unwrap();
            for (name, text) in [("vendor", vendor), ("class", class), ("device", device)] {
                std::fs::write(folder.join(name), format!("{text}\n")).unwrap();
            }
        }
        let names: Vec<String> = on_the_bus(bus.path()).into_iter().map(|device| device.name).collect();
        assert_eq!(
            names,
            ["NVIDIA device 10de:2c05", "NVIDIA device 10de:2335"],
            "sound and other makers are left out"
        );
        assert_eq!(on_the_bus(Path::new("missing")), []);
    }
}
