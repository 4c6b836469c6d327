//! How much memory the process may use: what its control group leaves it of the machine's.

use std::path::{Path, PathBuf};

use crate::admission::PROGRAM_BYTES;
use crate::plan::{Plan, Unit};

/// Version 1 writes the largest multiple of a page below 2^63 where there is no limit.
const UNLIMITED_BYTES: u64 = 1 << 62;

/// The memory limit of this process's control group, `None` where there is none or the kernel tells nothing.
#[must_use]
pub fn memory_bytes() -> Option<u64> {
    memory_bytes_under(Path::new("/"))
}

/// [`memory_bytes`] where the kernel's files are under this root; `/` but in tests.
#[must_use]
pub fn memory_bytes_under(root: &Path) -> Option<u64> {
    let groups = std::fs::read_to_string(root.join("proc/self/cgroup")).ok()?;
    let read = |file: &Path| std::fs::read_to_string(file).ok();
    smallest(&groups, &root.join("sys/fs/cgroup"), read)
}

/// The memory that the kernel says this machine has, where it says so.
#[must_use]
pub fn total_bytes() -> Option<u64> {
    kibibytes(&std::fs::read_to_string("/proc/meminfo").ok()?, "MemTotal:")
}

/// How much memory jobs may take, and what says so.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limit {
    /// Bytes, the program's own included.
    pub bytes: u64,
    /// Who says so, as a message has it.
    pub by: String,
}

/// The lowest of what the graph's pool `ram`, its SKU, this process's control group, its limit of address space (`ulimit -v`) and
/// the memory that is available allow. What the process has already counts as available to it, and so do free pages of 2 MiB
/// that the machine's owner reserved, which the kernel does not call available: nobody but who asks for them gets them, and arenas
/// do. The kernel's files are under `root`; `/` but in tests.
#[must_use]
pub fn of_jobs(plan: &Plan, root: &Path) -> Option<Limit> {
    let pool = plan.pools.iter().find(|pool| pool.name == "ram" && pool.unit == Unit::Bytes);
    let read = |file: &str| std::fs::read_to_string(root.join(file)).ok();
    let available = read("proc/meminfo").and_then(|text| kibibytes(&text, "MemAvailable:"));
    let status = read("proc/self/status").unwrap_or_default();
    let own = ["VmRSS:", "HugetlbPages:"].iter().filter_map(|name| kibibytes(&status, name)).sum::<u64>();
    let reserved = reserved_bytes(|file| read(&format!("sys/kernel/mm/hugepages/hugepages-2048kB/{file}")));
    let size = kibibytes(&status, "VmSize:").unwrap_or(0);
    let address_space = read("proc/self/limits").and_then(|text| most_address_space(&text));
    let by_kernel = match reserved {
        0 => "MemAvailable of /proc/meminfo",
        _ => "MemAvailable of /proc/meminfo, and reserved pages",
    };
    let sku = plan.sku.as_ref();
    let limits = [
        (pool.map(|pool| pool.size.saturating_add(PROGRAM_BYTES)), "the graph's pool `ram`".to_owned()),
        (sku.map(|sku| sku.ram_bytes), sku.map(|sku| format!("the SKU \"{}\"", sku.name)).unwrap_or_default()),
        (memory_bytes_under(root), "the control group of this process".to_owned()),
        (
            address_space.map(|most| most.saturating_sub(size).saturating_add(own)),
            "the limit of address space, `ulimit -v`".to_owned(),
        ),
        (available.map(|bytes| bytes.saturating_add(own).saturating_add(reserved)), by_kernel.to_owned()),
    ];
    let known = limits.into_iter().filter_map(|(bytes, by)| Some(Limit { bytes: bytes?, by }));
    known.min_by_key(|limit| limit.bytes)
}

/// What is left of the pages of 2 MiB that were reserved: those that are free and promised to nobody.
fn reserved_bytes(read: impl Fn(&str) -> Option<String>) -> u64 {
    let count = |file| read(file).and_then(|text| text.trim().parse::<u64>().ok()).unwrap_or(0);
    count("free_hugepages").saturating_sub(count("resv_hugepages")).saturating_mul(2 << 20)
}

/// The limit that holds in `/proc/self/limits`, nothing if there is none: `Max address space  3072000000  unlimited  bytes`.
fn most_address_space(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// A line such as `MemAvailable:  1234 kB`, in bytes.
fn kibibytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// The smallest limit over the groups of `/proc/self/cgroup` and all groups above them. Inside a container the path may
/// be that of the host, where nothing is mounted: the root of the mount counts too.
fn smallest(groups: &str, root: &Path, read: impl Fn(&Path) -> Option<String>) -> Option<u64> {
    let files = groups.lines().flat_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let (mount, file) = if controllers.is_empty() {
            (root.to_owned(), "memory.max")
        } else if controllers.split(',').any(|controller| controller == "memory") {
            (root.join("memory"), "memory.limit_in_bytes")
        } else {
            return Vec::new();
        };
        let path = Path::new(path.trim_start_matches('/'));
        path.ancestors().map(|group| mount.join(group).join(file)).collect::<Vec<PathBuf>>()
    });
    let limits = files.filter_map(|file| read(&file)?.trim().parse::<u64>().ok());
    limits.filter(|bytes| *bytes < UNLIMITED_BYTES).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(groups: &str, files: &[(&str, &str)]) -> Option<u64> {
        let read = |file: &Path| {
            let found = files.iter().find(|(name, _)| Path::new(name) == file);
            found.map(|(_, text)| (*text).to_owned())
        };
        smallest(groups, Path::new("/sys"), read)
    }

    #[test]
    fn the_lowest_limit_counts_and_says_who_it_is() {
        let root = std::env::temp_dir().join(format!("proofline-limits-{}", std::process::id()));
        let write = |file: &str, text: &str| {
            let file = root.join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        };
        let mut plan = crate::testing::empty_plan(8 << 30, 1);
        let of = |plan: &Plan| of_jobs(plan, &root).map(|limit| (limit.bytes, limit.by));
        assert_eq!(of(&plan), Some(((8 << 30) + PROGRAM_BYTES, "the graph's pool `ram`".to_owned())));
        plan.pools.remove(0);
        assert_eq!(of(&plan), None, "nothing is known");
        write("proc/meminfo", "MemTotal: 9 kB\nMemAvailable:   1048576 kB\n");
        write("proc/self/status", "VmRSS:\t  1024 kB\n");
        assert_eq!(of(&plan), Some(((1 << 30) + (1 << 20), "MemAvailable of /proc/meminfo".to_owned())));
        // Three pages of 2 MiB are free, one of them is promised; the process has one.
        write("sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "3\n");
        write("sys/kernel/mm/hugepages/hugepages-2048kB/resv_hugepages", "1\n");
        write("proc/self/status", "VmRSS:\t  1024 kB\nHugetlbPages:\t    2048 kB\n");
        let with_reserved = (1 << 30) + (7 << 20);
        assert_eq!(of(&plan), Some((with_reserved, "MemAvailable of /proc/meminfo, and reserved pages".to_owned())));
        let space = |limit| {
            format!("Limit  Soft Limit  Hard Limit  Units\nMax address space         {limit}  unlimited  bytes\n")
        };
        write("proc/self/limits", &space("unlimited"));
        assert!(of(&plan).is_some_and(|(_, by)| by.contains("MemAvailable")));
        write("proc/self/status", "VmSize:\t    8192 kB\nVmRSS:\t  1024 kB\n");
        write("proc/self/limits", &space("734003200"));
        let by = "the limit of address space, `ulimit -v`".to_owned();
        assert_eq!(of(&plan), Some(((700 << 20) - (7 << 20), by)));
        write("proc/self/limits", &space("unlimited"));
        write("proc/self/cgroup", "0::/jobs\n");
        write("sys/fs/cgroup/jobs/memory.max", "max\n");
        assert!(of(&plan).is_some_and(|(_, by)| by.contains("MemAvailable")));
        write("sys/fs/cgroup/jobs/memory.max", "536870912\n");
        assert_eq!(of(&plan), Some((512 << 20, "the control group of this process".to_owned())));
        std::fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn version_two_counts_every_group_above() {
        let files = [("/sys/a/memory.max", "4096\n"), ("/sys/a/b/memory.max", "max\n")];
        assert_eq!(limit("0::/a/b\n", &files), Some(4096));
        assert_eq!(limit("0::/\n", &files), None);
        assert_eq!(limit("0::/host/path\n", &[("/sys/memory.max", "1024\n")]), Some(1024), "the container's root");
    }

    #[test]
    fn version_one_has_its_own_mount_and_its_own_word_for_no_limit() {
        let groups = "5:cpuset:/x\n4:memory:/x\n";
        assert_eq!(limit(groups, &[("/sys/memory/x/memory.limit_in_bytes", "8192\n")]), Some(8192));
        assert_eq!(limit(groups, &[("/sys/memory/x/memory.limit_in_bytes", "9223372036854771712\n")]), None);
    }

    #[test]
    fn what_makes_no_sense_is_no_limit() {
        assert_eq!(limit("", &[]), None);
        assert_eq!(limit("garbage\n:::\n", &[("/sys/memory.max", "many")]), None);
    }
}
