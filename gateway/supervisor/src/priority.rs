//! Operating-system priorities of workers. It must not know why a worker gets one.
//!
//! Everybody may lower the priority of what is theirs; raising it again takes a privilege.

use std::io;

use rustix::process::{Pid, setpriority_process};

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
