//! Memory that this process may use, and its part in use: the limit of its cgroup or the machine's memory, the lesser of both.

use std::fs;
use std::path::{Path, PathBuf};

use sluice_catalog::config::Config;

use super::cgroup;

/// Part of the memory that buffers and cached pages get each unless the config says otherwise: workers of the same container need the rest.
const SHARE: u64 = 8;
const BYTES_MIN: u64 = 4 << 20;
/// Maximum default of `memory.buffers_bytes_max`, bytes.
const BUFFERS_BYTES_MAX: u64 = 1 << 30;
/// Maximum default of `cache.bytes_max`, bytes.
const CACHE_BYTES_MAX: u64 = 256 << 20;
/// Bound where the system does not say how much memory there is.
const BYTES_UNKNOWN: u64 = 64 << 20;

/// Replaces 0 by the share of this machine or container.
pub fn bound(config: &mut Config) {
    bound_by(config, memory_bytes(Path::new("/")));
}

/// Replaces 0 by the share of this memory.
pub fn bound_by(config: &mut Config, memory_bytes: Option<u64>) {
    if config.memory.buffers_bytes_max == 0 {
        config.memory.buffers_bytes_max = share_of(memory_bytes, BUFFERS_BYTES_MAX);
    }
    if config.cache.bytes_max == 0 {
        config.cache.bytes_max = share_of(memory_bytes, CACHE_BYTES_MAX);
    }
}

fn share_of(memory_bytes: Option<u64>, bytes_max: u64) -> u64 {
    memory_bytes.map_or(BYTES_UNKNOWN, |memory_bytes| (memory_bytes / SHARE).clamp(BYTES_MIN, bytes_max))
}

/// Memory that this process may use, bytes. `root` is `/`, or a directory with files named as there.
pub fn memory_bytes(root: &Path) -> Option<u64> {
    limit(root).map(|(limit, _)| limit).into_iter().chain(machine_bytes(root)).min()
}

/// Memory in use, and what there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    pub used_bytes: u64,
    pub bytes_max: u64,
    /// Both are those of a cgroup, whose limit is less than the machine's memory.
    pub is_cgroup: bool,
}

/// `None` where the system does not report it. `root` as of [`memory_bytes`].
pub fn usage(root: &Path) -> Option<Usage> {
    let machine = machine_bytes(root);
    if let Some((bytes_max, dir)) = limit(root).filter(|(limit, _)| machine.is_none_or(|machine| *limit < machine))
        && let Some(used_bytes) = used_by(&dir)
    {
        return Some(Usage { used_bytes, bytes_max, is_cgroup: true });
    }
    let bytes_max = machine?;
    Some(Usage {
        used_bytes: bytes_max.saturating_sub(of_machine(root, "MemAvailable:")?),
        bytes_max,
        is_cgroup: false,
    })
}

/// Files that were read once and nobody has open count as in use, and the kernel drops them before anything is killed.
fn used_by(dir: &Path) -> Option<u64> {
    let read = |name: &str| fs::read_to_string(dir.join(name)).ok();
    let used: u64 = read("memory.current").or_else(|| read("memory.usage_in_bytes"))?.trim().parse().ok()?;
    let stat = read("memory.stat").unwrap_or_default();
    let field = |name: &str| {
        let line = stat.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
        line.trim().parse::<u64>().ok()
    };
    Some(used.saturating_sub(field("total_inactive_file").or_else(|| field("inactive_file")).unwrap_or(0)))
}

/// The lowest memory limit of this process's cgroup and of those above it, bytes, and its directory.
fn limit(root: &Path) -> Option<(u64, PathBuf)> {
    // `max` of version 2 is no number; version 1 has one that is larger than any machine's memory.
    let limits = cgroup::dirs(root, "memory", &["memory"]).into_iter().filter_map(|(dir, is_v2)| {
        let name = if is_v2 { "memory.max" } else { "memory.limit_in_bytes" };
        let limit = fs::read_to_string(dir.join(name)).ok()?.trim().parse::<u64>().ok()?;
        Some((limit, dir))
    });
    limits.min_by_key(|(limit, _)| *limit)
}

/// Memory of the machine, bytes.
pub fn machine_bytes(root: &Path) -> Option<u64> {
    of_machine(root, "MemTotal:")
}

/// A line of /proc/meminfo, in bytes.
fn of_machine(root: &Path, name: &str) -> Option<u64> {
    let text = fs::read_to_string(root.join("proc/meminfo")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory that looks like a machine with 16 GiB.
    fn machine(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in [("proc/meminfo", "MemTotal:       16777216 kB\nMemFree: 1 kB\n")].iter().chain(files) {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        dir
    }

    #[test]
    fn limit_of_cgroup_version_2_counts_wherever_above_it_stands() {
        let dir = machine(&[
            ("proc/self/cgroup", "0::/system.slice/app.service\n"),
            ("sys/fs/cgroup/system.slice/app.service/memory.max", "max\n"),
            ("sys/fs/cgroup/system.slice/memory.max", "268435456\n"),
        ]);
        assert_eq!(memory_bytes(dir.path()), Some(256 << 20));
    }

    #[test]
    fn limit_of_cgroup_version_1_counts_also_where_the_path_is_the_hosts() {
        let dir = machine(&[
            ("proc/self/cgroup", "5:cpu,cpuacct:/docker/1234\n4:memory:/docker/1234\n0::/\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "536870912\n"),
        ]);
        assert_eq!(memory_bytes(dir.path()), Some(512 << 20));
    }

    #[test]
    fn machine_counts_where_no_cgroup_limits() {
        let dir = machine(&[
            ("proc/self/cgroup", "4:memory:/\n0::/\n"),
            ("sys/fs/cgroup/memory.max", "max\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
        ]);
        assert_eq!(memory_bytes(dir.path()), Some(16 << 30));
        assert_eq!(memory_bytes(&machine(&[]).path().join("elsewhere")), None);
    }

    #[test]
    fn buffers_and_pages_get_an_eighth_within_reason() {
        assert_eq!(share_of(Some(256 << 20), BUFFERS_BYTES_MAX), 32 << 20);
        assert_eq!(share_of(Some(16 << 20), BUFFERS_BYTES_MAX), BYTES_MIN);
        assert_eq!(share_of(Some(1 << 40), BUFFERS_BYTES_MAX), BUFFERS_BYTES_MAX);
        assert_eq!(share_of(Some(1 << 40), CACHE_BYTES_MAX), CACHE_BYTES_MAX);
        assert_eq!(share_of(None, CACHE_BYTES_MAX), BYTES_UNKNOWN);
    }

    #[test]
    fn cached_pages_follow_the_memory_unless_the_config_says_how_much_they_get() {
        let mut config = Config::default();
        bound(&mut config);
        assert!((BYTES_MIN..=CACHE_BYTES_MAX).contains(&config.cache.bytes_max), "{}", config.cache.bytes_max);
        config.cache.bytes_max = 1 << 40;
        bound(&mut config);
        assert_eq!(config.cache.bytes_max, 1 << 40);
    }

    #[test]
    fn memory_in_use_is_that_of_the_cgroup_whose_limit_counts() {
        let dir = machine(&[
            ("proc/self/cgroup", "0::/shop\n"),
            ("sys/fs/cgroup/shop/memory.max", "1073741824\n"),
            ("sys/fs/cgroup/shop/memory.current", "536870912\n"),
            ("sys/fs/cgroup/shop/memory.stat", "anon 1\ninactive_file 36870912\n"),
        ]);
        let used_bytes = 500_000_000;
        assert_eq!(usage(dir.path()), Some(Usage { used_bytes, bytes_max: 1 << 30, is_cgroup: true }));
        let dir = machine(&[("proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 400 kB\n")]);
        assert_eq!(usage(dir.path()), Some(Usage { used_bytes: 600 * 1024, bytes_max: 1000 * 1024, is_cgroup: false }));
        assert_eq!(usage(tempfile::tempdir().unwrap().path()), None, "no Linux");
    }
}
