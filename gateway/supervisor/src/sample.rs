//! What the kernel says of a process' main thread, which tells one that burns CPU from one that is blocked. Linux only:
//! elsewhere nothing is known.

use std::time::Duration;

use nix::sys::signal::Signal;

/// Of the time between two looks, what a thread that burns CPU has at least wanted.
const BURNING_PERCENT: u128 = 50;

/// The main thread at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Activity {
    /// CPU time used since its start, user and system.
    pub(crate) cpu_us: u64,
    /// Time it could have run and no CPU was free, where the kernel counts it.
    pub(crate) queued_us: u64,
    /// `R` runs, `S` sleeps, `D` waits for a disk, `T` is stopped, `Z` has exited; see proc(5).
    pub(crate) state: char,
    /// The kernel function it sleeps in, where that may be read.
    pub(crate) waits_in: Option<String>,
    /// The number of the system call it is in, where that may be read.
    pub(crate) syscall: Option<u32>,
}

/// What a main thread does that no longer turns its event loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It runs, or would if it were let: JavaScript, a regular expression, garbage collection.
    Burns,
    /// It waits for something: a synchronous child, a lock, a disk.
    Blocked,
    /// This system does not tell.
    Unknown,
}

/// Judges by two looks. On a machine with more to do than CPUs a tight loop gets a small share, so that what it queued for
/// counts as well.
pub(crate) fn verdict(earlier: Option<&Activity>, later: Option<&Activity>, elapsed: Duration) -> Verdict {
    let (Some(earlier), Some(later)) = (earlier, later) else { return Verdict::Unknown };
    if elapsed.is_zero() {
        return Verdict::Unknown;
    }
    let wanted_us = later.cpu_us.saturating_sub(earlier.cpu_us) + later.queued_us.saturating_sub(earlier.queued_us);
    if u128::from(wanted_us) * 100 >= elapsed.as_micros() * BURNING_PERCENT { Verdict::Burns } else { Verdict::Blocked }
}

/// Less of a main thread than an [`Activity`], at less cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Glance {
    /// As in [`Activity::state`].
    pub(crate) state: char,
    /// CPU time used since its start.
    pub(crate) cpu_us: u64,
    /// That, and the time it could have run and no CPU was free: it slept for the rest.
    pub(crate) wanted_us: u64,
    /// Where it sleeps, if it does.
    pub(crate) sleeps: Option<Sleep>,
}

/// What a thread sleeps for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sleep {
    /// Until another thread of its process wakes it, which collects garbage for it, say.
    AtLock,
    /// For what comes from outside, as Node does in epoll.
    Elsewhere,
    /// That may not be read; or the thread is just about to sleep or to wake, and waits for a CPU.
    Untold,
}

/// Looks at the main thread of a process. None where its CPU time is not known exactly.
#[cfg(target_os = "linux")]
pub(crate) fn main_thread_glance(pid: u32) -> Option<Glance> {
    let thread = format!("/proc/{pid}/task/{pid}");
    let (state, _) = parse_stat(&std::fs::read_to_string(format!("{thread}/stat")).ok()?)?;
    let (cpu_us, queued_us) = parse_schedstat(&std::fs::read_to_string(format!("{thread}/schedstat")).ok()?)?;
    let waits_in = || std::fs::read_to_string(format!("{thread}/wchan")).unwrap_or_default();
    let sleeps = (state == 'S').then(|| sleep_of(&waits_in()));
    Some(Glance { state, cpu_us, wanted_us: cpu_us + queued_us, sleeps })
}

/// Nothing is known here.
#[cfg(not(target_os = "linux"))]
pub(crate) fn main_thread_glance(_pid: u32) -> Option<Glance> {
    None
}

/// Looks at the main thread of a process. None if there is no such process or the system does not tell.
#[cfg(target_os = "linux")]
pub(crate) fn main_thread_activity(pid: u32) -> Option<Activity> {
    let thread = format!("/proc/{pid}/task/{pid}");
    let stat = std::fs::read_to_string(format!("{thread}/stat")).ok()?;
    let (state, cpu_ticks) = parse_stat(&stat)?;
    let schedstat = std::fs::read_to_string(format!("{thread}/schedstat")).ok();
    let (cpu_us, queued_us) =
        schedstat.and_then(|text| parse_schedstat(&text)).unwrap_or_else(|| (ticks_to_us(cpu_ticks), 0));
    let read = |name: &str| std::fs::read_to_string(format!("{thread}/{name}")).ok();
    let waits_in = read("wchan").filter(|name| !name.is_empty() && name != "0");
    // "running", or the number and its arguments; -1 if it is in none.
    let syscall = read("syscall").and_then(|text| text.split(' ').next()?.parse().ok());
    Some(Activity { cpu_us, queued_us, state, waits_in, syscall })
}

/// Looks at the main thread of a process. None if there is no such process or the system does not tell.
#[cfg(not(target_os = "linux"))]
pub(crate) fn main_thread_activity(_pid: u32) -> Option<Activity> {
    None
}

/// The process has exited, even if nobody has collected it yet. False where the system does not tell.
#[cfg(target_os = "linux")]
pub(super) fn has_exited(pid: u32) -> bool {
    match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => parse_stat(&stat).is_some_and(|(state, _)| matches!(state, 'Z' | 'X')),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn has_exited(_pid: u32) -> bool {
    false
}

/// Whether the process has a handler for the signal; without one, it would die of it. None where the system does not tell.
#[cfg(target_os = "linux")]
pub(super) fn catches(pid: u32, signal: Signal) -> Option<bool> {
    parse_catches(&std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?, signal)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn catches(_pid: u32, _signal: Signal) -> Option<bool> {
    None
}

#[cfg(target_os = "linux")]
fn ticks_to_us(ticks: u64) -> u64 {
    use nix::unistd::{SysconfVar, sysconf};
    let per_second = sysconf(SysconfVar::CLK_TCK).ok().flatten().and_then(|ticks| u64::try_from(ticks).ok());
    let per_second = per_second.filter(|ticks| *ticks > 0).unwrap_or(100);
    ticks.saturating_mul(1_000_000) / per_second
}

/// State, and utime + stime in clock ticks. The name in parentheses may itself hold parentheses and spaces.
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
fn parse_stat(stat: &str) -> Option<(char, u64)> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    // The state is field 3 of proc(5), utime is 14 and stime 15.
    let utime: u64 = fields.nth(10)?.parse().ok()?;
    let stime: u64 = fields.next()?.parse().ok()?;
    Some((state, utime.saturating_add(stime)))
}

/// Time on a CPU and time in its queue, in microseconds; the file has nanoseconds.
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
fn parse_schedstat(text: &str) -> Option<(u64, u64)> {
    let mut fields = text.split_ascii_whitespace().map(str::parse::<u64>);
    let (cpu_ns, queued_ns) = (fields.next()?.ok()?, fields.next()?.ok()?);
    // A kernel that does not count gives zeros, and no thread that can be looked at has used nothing.
    (cpu_ns > 0).then_some((cpu_ns / 1000, queued_ns / 1000))
}

/// By the function of the kernel that it sleeps in: `futex_do_wait`, `futex_wait_queue` and so on for a lock.
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
fn sleep_of(waits_in: &str) -> Sleep {
    match waits_in.trim() {
        "" | "0" => Sleep::Untold,
        name if name.contains("futex") => Sleep::AtLock,
        _ => Sleep::Elsewhere,
    }
}

#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
fn parse_catches(status: &str, signal: Signal) -> Option<bool> {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"))?;
    let mask = u64::from_str_radix(mask.trim(), 16).ok()?;
    let bit = u32::try_from(signal as i32 - 1).ok()?;
    Some(mask.checked_shr(bit)? & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const REST: &str = " R 1 2 3 0 -1 4194304 99 98 97 96 250 31 7 8 20 0 11 0 4242 1 2";

    #[test]
    fn name_may_hold_parentheses_and_spaces() {
        for name in ["node", "a b", "(node)", "x) S 1 2 (y", ")", ""] {
            assert_eq!(parse_stat(&format!("77 ({name}){REST}")), Some(('R', 281)), "{name}");
        }
        for stat in ["", ")", "77 (node) S", "77 (node) S 1 2 3", "77 (node) R 1 2 3 0 -1 4 99 98 97 96 x 31"] {
            assert_eq!(parse_stat(stat), None, "{stat}");
        }
    }

    #[test]
    fn sleep_is_known_by_the_function_of_the_kernel() {
        for (name, sleep) in [
            ("futex_do_wait", Sleep::AtLock),
            ("__futex_wait", Sleep::AtLock),
            ("ep_poll", Sleep::Elsewhere),
            ("do_epoll_wait", Sleep::Elsewhere),
            ("0", Sleep::Untold),
            ("", Sleep::Untold),
        ] {
            assert_eq!(sleep_of(name), sleep, "{name}");
        }
    }

    #[test]
    fn time_in_the_queue_is_read_where_it_is_counted() {
        assert_eq!(parse_schedstat("5000000 7000 12\n"), Some((5000, 7)));
        for text in ["", "0 0 0", "x 1 2", "1"] {
            assert_eq!(parse_schedstat(text), None, "{text}");
        }
    }

    #[test]
    fn handled_signals_are_read_from_their_mask() {
        let status = |mask: &str| format!("Name:\tnode\nSigIgn:\t0000000001001000\nSigCgt:\t{mask}\n");
        assert_eq!(parse_catches(&status("0000000100004602"), Signal::SIGUSR1), Some(true));
        assert_eq!(parse_catches(&status("0000000100004402"), Signal::SIGUSR1), Some(false));
        assert_eq!(parse_catches(&status("not hex"), Signal::SIGUSR1), None);
        assert_eq!(parse_catches("Name:\tnode\n", Signal::SIGUSR1), None);
    }

    #[test]
    fn starved_thread_burns_and_idle_one_does_not() {
        let at = |cpu_us, queued_us| Activity { cpu_us, queued_us, state: 'R', waits_in: None, syscall: None };
        let second = Duration::from_secs(1);
        let judge = |later| verdict(Some(&at(500, 100)), Some(&later), second);
        assert_eq!(judge(at(900_000, 100)), Verdict::Burns);
        assert_eq!(judge(at(100_000, 800_000)), Verdict::Burns);
        assert_eq!(judge(at(20_000, 1000)), Verdict::Blocked);
        assert_eq!(judge(at(0, 0)), Verdict::Blocked);
        assert_eq!(verdict(None, Some(&at(1, 1)), second), Verdict::Unknown);
        assert_eq!(verdict(Some(&at(1, 1)), Some(&at(1, 1)), Duration::ZERO), Verdict::Unknown);
    }
}
