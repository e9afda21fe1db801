//! Files and sockets that a process has open, and how many it may, as Linux shows them. Elsewhere nothing is known.

use std::fs;

/// Number of descriptors that the process has open.
pub fn open(pid: &str) -> Option<u64> {
    let folder = format!("/proc/{pid}/fd");
    // Since Linux 6.2 the size says it, without a look at each of perhaps thousands.
    let size = fs::metadata(&folder).ok()?.len();
    if size > 0 { Some(size) } else { u64::try_from(fs::read_dir(folder).ok()?.count()).ok() }
}

/// Largest number of descriptors: its soft limit. `None` for no limit.
pub fn limit(pid: &str) -> Option<u64> {
    let limits = fs::read_to_string(format!("/proc/{pid}/limits")).ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn open_files_of_this_process_are_counted() {
        let before = open("self").unwrap();
        let files: Vec<_> = (0..50).map(|_| fs::File::open("/dev/null").unwrap()).collect();
        // Other tests open and close files meanwhile.
        assert!(open("self").unwrap() > before + 20);
        assert!(limit("self").unwrap() > open("self").unwrap());
        drop(files);
        assert_eq!((open("0"), limit("0")), (None, None));
    }
}
