//! Control groups (cgroups) of this process, in both versions of their file system.

use std::fs;
use std::path::{Path, PathBuf};

/// Directories in which files of a controller may stand: of each cgroup of this process and of those above it. The flag says whether
/// they are of version 2. In a container a cgroup's own path may not lead anywhere, and its limits stand at the top of what is mounted.
///
/// `root` is `/`, or a directory with files named as there. `mounts` are the places of the controller in version 1, below `sys/fs/cgroup`.
pub fn dirs(root: &Path, controller: &str, mounts: &[&str]) -> Vec<(PathBuf, bool)> {
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let of = |group: &str| -> Option<Vec<(PathBuf, bool)>> {
        let mut fields = group.splitn(3, ':');
        let (_, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
        let is_v2 = controllers.is_empty();
        if !is_v2 && !controllers.split(',').any(|name| name == controller) {
            return None;
        }
        let tops = if is_v2 { &[""] } else { mounts };
        let dirs = tops.iter().flat_map(|mount| {
            let top = root.join("sys/fs/cgroup").join(mount);
            let own = top.join(path.trim_start_matches('/'));
            own.ancestors().take_while(|dir| dir.starts_with(&top)).map(Path::to_owned).collect::<Vec<_>>()
        });
        Some(dirs.map(|dir| (dir, is_v2)).collect())
    };
    groups.lines().filter_map(of).flatten().collect()
}
