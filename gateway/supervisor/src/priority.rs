//! Operating-system priorities of workers. It must not know why a worker gets one.
//!
//! Every user may lower the priority of their own processes; raising it again takes a privilege.

use std::io;

use rustix::process::{Pid, getpriority_process, setpriority_process};
use sluice_scheduler::Lane;

/// A process's share of the CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Priority {
    /// A nice value, -20 to 19.
    Nice(i32),
    /// CPU time that others leave, given up at once when one of them wakes. On Linux `SCHED_IDLE` (sched(7)), which
    /// differs from nice 19 in only that; elsewhere nice 19.
    Leftover,
}

const LOWEST: i32 = 19;
/// Nice value added for a worker that cannot be raised again. It must answer an inspector within a second on a busy
/// machine: it gets a tenth of the others' CPU time, against a sixtieth with [`LOWEST`].
const LOWERED: i32 = 10;

/// Maximum number of passes over the threads, because new threads may start meanwhile. Those of a worker come from
/// its main thread, which is set first.
#[cfg(target_os = "linux")]
const ROUNDS_MAX: usize = 3;

/// Gives every thread of the process this priority. On Linux priorities are those of threads.
///
/// # Errors
/// When the process is gone, is another user's, or has less now and the privilege to give it more is missing.
#[cfg(target_os = "linux")]
pub(crate) fn set(pid: u32, priority: Priority) -> io::Result<()> {
    set_one(pid, priority)?;
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
            match set_one(thread, priority) {
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

/// Gives the process this priority.
///
/// # Errors
/// When the process is gone, is another user's, or has less now and the privilege to give it more is missing.
#[cfg(not(target_os = "linux"))]
pub(crate) fn set(pid: u32, priority: Priority) -> io::Result<()> {
    set_one(pid, priority)
}

/// The gateway's own priority, with which its workers start.
pub(crate) fn usual() -> Priority {
    Priority::Nice(usual_nice())
}

/// Priority of a lane's workers; `added` is added to the gateway's nice value for the short lane.
pub(crate) fn of_lane(lane: Lane, added: u32) -> Priority {
    match lane {
        Lane::Short => Priority::Nice((usual_nice() + i32::try_from(added).unwrap_or(0)).min(LOWEST)),
        Lane::Long => Priority::Leftover,
    }
}

/// Priority of a worker that has `priority` and should not hold up the others.
pub(crate) fn lowered(priority: Priority, may_raise: bool) -> Priority {
    match priority {
        Priority::Nice(_) if !may_raise => aside(priority),
        _ => Priority::Leftover,
    }
}

/// Priority of a worker that boots aside: idle CPU time, or a tenth of the others' CPU time if there is none.
pub(crate) fn aside(priority: Priority) -> Priority {
    match priority {
        Priority::Nice(nice) => Priority::Nice((usual_nice() + LOWERED).min(LOWEST).max(nice)),
        Priority::Leftover => Priority::Leftover,
    }
}

fn usual_nice() -> i32 {
    getpriority_process(None).unwrap_or(0)
}

/// Whether a lowered priority can be raised again, which takes a privilege (`CAP_SYS_NICE`) or a resource limit
/// (`RLIMIT_NICE`). Tried with a short-lived thread.
#[cfg(target_os = "linux")]
pub(crate) fn may_raise() -> bool {
    let tried = std::thread::Builder::new().spawn(|| {
        let (own, usual) = (Some(rustix::thread::gettid()), usual_nice());
        setpriority_process(own, (usual + 1).min(LOWEST)).is_ok() && setpriority_process(own, usual).is_ok()
    });
    tried.is_ok_and(|tried| tried.join().unwrap_or(false))
}

/// Whether a lowered priority can be raised again. Not tried here, because this system has priorities of whole
/// processes only.
#[cfg(not(target_os = "linux"))]
pub(crate) fn may_raise() -> bool {
    rustix::process::geteuid().is_root()
}

fn set_one(pid: u32, priority: Priority) -> io::Result<()> {
    // 0 would be this process, which keeps its own.
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::NotFound)?;
    let nice = match priority {
        Priority::Nice(nice) => {
            set_policy(pid, priority)?;
            nice
        }
        Priority::Leftover => {
            // A sandbox may refuse it; then the nice value has to do.
            let _ = set_policy(pid, priority);
            LOWEST
        }
    };
    Ok(setpriority_process(Some(pid), nice)?)
}

#[cfg(target_os = "linux")]
fn set_policy(pid: Pid, priority: Priority) -> io::Result<()> {
    use uapi::c::{SCHED_BATCH, SCHED_IDLE, SCHED_OTHER};
    // Who was started with less than others get must not have workers that get more than it. Not so with more: a worker
    // in real time would leave the others nothing.
    let usual = Some(uapi::sched_getscheduler(0)?).filter(|own| matches!(*own, SCHED_BATCH | SCHED_IDLE));
    let policy = if priority == Priority::Leftover { SCHED_IDLE } else { usual.unwrap_or(SCHED_OTHER) };
    let pid = pid.as_raw_nonzero().get();
    if uapi::sched_getscheduler(pid)? != policy {
        // All zero: musl's `sched_param` has fields that glibc's lacks.
        uapi::sched_setscheduler(pid, policy, &uapi::pod_zeroed())?;
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn set_policy(_pid: Pid, _priority: Priority) -> io::Result<()> {
    Ok(())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::Command;

    use super::*;

    /// Nice value and scheduling policy of a thread.
    fn priority_of(path: &str) -> Option<(i32, i32)> {
        let stat = std::fs::read_to_string(path).ok()?;
        // Fields 19 and 41 of proc(5); the state, after the name, is field 3.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
        Some((fields.get(16)?.parse().ok()?, fields.get(38)?.parse().ok()?))
    }

    #[test]
    fn process_is_lowered_and_raised_and_the_caller_is_not() {
        let own = priority_of("/proc/self/stat");
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        set(child.id(), Priority::Leftover).unwrap();
        let path = format!("/proc/{}/stat", child.id());
        let lowered = priority_of(&path);
        let is_raised = set(child.id(), usual()).is_ok();
        let raised = priority_of(&path);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(lowered, Some((19, uapi::c::SCHED_IDLE)));
        assert_eq!(is_raised, may_raise());
        assert_eq!(raised, if is_raised { own } else { lowered });
        assert_eq!(priority_of("/proc/self/stat"), own);
    }

    #[test]
    fn workers_of_a_gateway_that_gets_what_others_leave_get_no_more() {
        // A policy is that of a thread, which its children start with.
        let of_worker = std::thread::spawn(|| {
            uapi::sched_setscheduler(0, uapi::c::SCHED_IDLE, &uapi::c::sched_param { sched_priority: 0 }).unwrap();
            let mut child = Command::new("sleep").arg("60").spawn().unwrap();
            set(child.id(), of_lane(Lane::Short, 0)).unwrap();
            let priority = priority_of(&format!("/proc/{}/stat", child.id()));
            child.kill().unwrap();
            child.wait().unwrap();
            priority.map(|(_, policy)| policy)
        });
        assert_eq!(of_worker.join().unwrap(), Some(uapi::c::SCHED_IDLE));
    }

    #[test]
    fn process_that_is_gone_is_an_error() {
        let mut child = Command::new("true").spawn().unwrap();
        let pid = child.id();
        child.wait().unwrap();
        assert!(set(pid, Priority::Leftover).is_err());
        assert!(set(0, Priority::Leftover).is_err(), "0 would be the gateway itself");
    }
}
