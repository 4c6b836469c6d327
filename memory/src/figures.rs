//! What the kernel counts: page faults, shootdowns of translation buffers, resident memory.
//!
//! A counter that cannot be read is `None`: no number is made up.

use std::path::Path;

/// The counters at one moment. Faults and memory are the process's, shootdowns the whole machine's.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Snapshot {
    /// Page faults that the kernel answered without the disk.
    pub minor_faults: Option<u64>,
    /// Page faults that waited for the disk.
    pub major_faults: Option<u64>,
    /// Interrupts that made processors forget translations, over all processors: the row `TLB` of `/proc/interrupts`.
    pub shootdowns: Option<u64>,
    /// The most memory that was resident at once, in bytes: `VmHWM`.
    pub peak_resident: Option<u64>,
    /// Memory on transparent 2 MiB pages, in bytes: `AnonHugePages`.
    pub large_pages: Option<u64>,
}

impl Snapshot {
    /// The counters now.
    #[must_use]
    pub fn now() -> Self {
        Self::of(Path::new("/proc"))
    }

    /// The counters that a process has under this root, `/proc` but in tests.
    #[must_use]
    pub fn of(proc: &Path) -> Self {
        let read = |file: &str| std::fs::read_to_string(proc.join(file)).ok();
        let faults = read("self/stat").and_then(|stat| faults(&stat));
        Self {
            minor_faults: faults.map(|(minor, _)| minor),
            major_faults: faults.map(|(_, major)| major),
            shootdowns: read("interrupts").and_then(|text| shootdowns(&text)),
            peak_resident: read("self/status").and_then(|text| kibibytes(&text, "VmHWM:")),
            large_pages: read("self/smaps_rollup").and_then(|text| kibibytes(&text, "AnonHugePages:")),
        }
    }
}

/// `(minor, major)` of `/proc/self/stat`: its fields 10 and 12. The second field is the command in brackets, and may
/// hold anything.
fn faults(stat: &str) -> Option<(u64, u64)> {
    let (_, behind) = stat.rsplit_once(')')?;
    // The first field behind the command is number 3.
    let mut fields = behind.split_whitespace().skip(7);
    let minor = fields.next()?.parse().ok()?;
    Some((minor, fields.nth(1)?.parse().ok()?))
}

/// The sum over the processors; `None` on a machine that counts none, such as one of one processor.
fn shootdowns(interrupts: &str) -> Option<u64> {
    let row = interrupts.lines().find_map(|line| line.trim_start().strip_prefix("TLB:"))?;
    Some(row.split_whitespace().map_while(|count| count.parse::<u64>().ok()).sum())
}

/// A line such as `VmHWM:    1234 kB`, in bytes.
fn kibibytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()?.checked_mul(1024)
}

impl Snapshot {
    /// What was counted since `before`, for the counters that only grow; resident memory is as it is now.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        let grown = |now: Option<u64>, before: Option<u64>| Some(now?.saturating_sub(before?));
        Self {
            minor_faults: grown(self.minor_faults, before.minor_faults),
            major_faults: grown(self.major_faults, before.major_faults),
            shootdowns: grown(self.shootdowns, before.shootdowns),
            ..*self
        }
    }

    /// Page faults of both kinds.
    #[must_use]
    pub fn faults(&self) -> Option<u64> {
        Some(self.minor_faults? + self.major_faults?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_read_from_their_files() {
        let stat = "7 (a) b) S 1 2 3 4 5 6 1234 8 56 9 10 11";
        assert_eq!(faults(stat), Some((1234, 56)), "a command may hold brackets");
        assert_eq!(faults("7 (a) S 1"), None);
        let interrupts = "      CPU0  CPU1\n LOC:  5  6  Local timer interrupts\n TLB:  100  23  TLB shootdowns\n";
        assert_eq!(shootdowns(interrupts), Some(123));
        assert_eq!(shootdowns("  0:  1  timer\n"), None);
        assert_eq!(kibibytes("VmPeak:  9 kB\nVmHWM:\t  12 kB\n", "VmHWM:"), Some(12 << 10));
        assert_eq!(kibibytes("VmHWM: many kB\n", "VmHWM:"), None);
    }

    #[test]
    fn what_cannot_be_read_is_no_number() {
        let nowhere = Snapshot::of(Path::new("/nowhere"));
        assert_eq!((nowhere, nowhere.faults()), (Snapshot::default(), None));
        let some = Snapshot { minor_faults: Some(7), major_faults: Some(1), ..nowhere };
        assert_eq!(some.since(&nowhere).minor_faults, None, "nobody knows since when");
        assert_eq!(some.since(&Snapshot { minor_faults: Some(5), ..some }).faults(), Some(2));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn touching_memory_is_counted() {
        let before = Snapshot::now();
        let mut touched = vec![0_u8; 16 << 20];
        touched.iter_mut().step_by(4096).for_each(|byte| *byte = 1);
        let counted = Snapshot::now().since(&before);
        std::hint::black_box(&touched);
        assert!(counted.faults().is_some_and(|faults| faults > 0), "{counted:?}");
        assert!(counted.peak_resident.is_some_and(|bytes| bytes > 16 << 20), "{counted:?}");
    }
}
