//! How much memory the process may use: what its control group leaves it of the machine's.

use std::path::{Path, PathBuf};

/// Version 1 writes the largest multiple of a page below 2^63 where there is no limit.
const UNLIMITED_BYTES: u64 = 1 << 62;

/// The memory limit of this process's control group, `None` where there is none or the kernel tells nothing.
#[must_use]
pub fn memory_bytes() -> Option<u64> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let read = |file: &Path| std::fs::read_to_string(file).ok();
    smallest(&groups, Path::new("/sys/fs/cgroup"), read)
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
