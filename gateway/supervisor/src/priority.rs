//! Operating-system priorities of workers. It must not know why a worker gets one.
//!
//! Everybody may lower the priority of what is theirs; raising it again takes a privilege.

use std::io;

use rustix::process::{Pid, getpriority_process, setpriority_process};

/// Gets what the others leave.
pub(crate) const LOWEST: i32 = 19;
/// Above the usual, for who cannot be raised again but has to answer an inspector within a second on a machine that is
/// full: a tenth of what the others get, where [`LOWEST`] is a sixtieth.
const LOWERED: i32 = 10;

/// Threads come while they are listed; those of a worker come from its main thread, which is set first.
#[cfg(target_os = "linux")]
const ROUNDS_MAX: usize = 3;

/// Gives every thread of the process this nice value, -20 to 19. On Linux priorities are those of threads.
///
/// # Errors
/// When the process is gone, is another user's, or the value is lower than the present one without the privilege for that.
#[cfg(target_os = "linux")]
pub(crate) fn set(pid: u32, nice: i32) -> io::Result<()> {
    set_one(pid, nice)?;
    let mut known = vec![pid];
    for _ in 0..ROUNDS_MAX {
        let mut is_complete = true;
        for entry in std::fs::read_dir(format!("/proc/{pid}/task"))? {
            let name = entry?.file_name();
            let Some(thread) = name.to_str().and_then(|name| name.parse().ok()) else { continue };
            if known.contains(&thread) {
                continue;
            }
            is_complete = false;
            known.push(thread);
            match set_one(thread, nice) {
                // It has ended meanwhile.
                Err(error) if error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error()) => {}
                other => other?,
            }
        }
        if is_complete {
            break;
        }
    }
    Ok(())
}

/// Gives the process this nice value, -20 to 19.
///
/// # Errors
/// When the process is gone, is another user's, or the value is lower than the present one without the privilege for that.
#[cfg(not(target_os = "linux"))]
pub(crate) fn set(pid: u32, nice: i32) -> io::Result<()> {
    set_one(pid, nice)
}

/// The gateway's own nice value, with which its workers start.
pub(crate) fn usual() -> i32 {
    getpriority_process(None).unwrap_or(0)
}

/// For a worker that is not to hold up the others.
pub(crate) fn lowered(may_raise: bool) -> i32 {
    if may_raise { LOWEST } else { (usual() + LOWERED).min(LOWEST) }
}

/// Whether a priority that was lowered can be raised again, which takes a privilege (`CAP_SYS_NICE`) or a resource limit
/// (`RLIMIT_NICE`). Tried with a thread that ends at once.
#[cfg(target_os = "linux")]
pub(crate) fn may_raise() -> bool {
    let tried = std::thread::spawn(|| {
        let (own, usual) = (Some(rustix::thread::gettid()), usual());
        setpriority_process(own, (usual + 1).min(LOWEST)).is_ok() && setpriority_process(own, usual).is_ok()
    });
    tried.join().unwrap_or(false)
}

/// Whether a priority that was lowered can be raised again. Priorities are those of whole processes here, so it is not tried.
#[cfg(not(target_os = "linux"))]
pub(crate) fn may_raise() -> bool {
    rustix::process::geteuid().is_root()
}

fn set_one(pid: u32, nice: i32) -> io::Result<()> {
    // 0 would be this process, which keeps its own.
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::NotFound)?;
    Ok(setpriority_process(Some(pid), nice)?)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::Command;

    use super::*;

    fn nice_of(path: &str) -> Option<i32> {
        let stat = std::fs::read_to_string(path).ok()?;
        // Field 19 of proc(5); the state, after the name, is field 3.
        stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(16)?.parse().ok()
    }

    #[test]
    fn every_thread_is_lowered_and_the_caller_is_not() {
        let own = nice_of("/proc/self/stat");
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        set(child.id(), 19).unwrap();
        let lowered = nice_of(&format!("/proc/{}/stat", child.id()));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(lowered, Some(19));
        assert_eq!(nice_of("/proc/self/stat"), own);
    }

    #[test]
    fn process_that_is_gone_is_an_error() {
        let mut child = Command::new("true").spawn().unwrap();
        let pid = child.id();
        child.wait().unwrap();
        assert!(set(pid, 19).is_err());
        assert!(set(0, 19).is_err(), "0 would be the gateway itself");
    }
}
