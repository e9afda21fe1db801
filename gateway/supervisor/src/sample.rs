//! Samples of a process's main thread, from the kernel, by which workers are judged. They distinguish a thread that
//! uses CPU from one that waits. Linux only: elsewhere there are none. It must not know the consequences.

use std::time::Duration;

use nix::sys::signal::Signal;
#[cfg(target_os = "linux")]
use nix::unistd::{SysconfVar, sysconf};

/// Minimum share of the time between two samples that a busy thread has wanted the CPU, percent.
const BURNING_PERCENT: u128 = 50;

/// The main thread at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sample {
    /// `R` runs, `S` sleeps, `D` waits for a disk, `T` is stopped, `Z` has exited; see proc(5).
    pub(crate) state: char,
    /// CPU time used since its start, user and system, microseconds.
    pub(crate) cpu_us: u64,
    /// CPU time used, and time that it was ready to run while no CPU was free, microseconds: it slept for the rest.
    pub(crate) wanted_us: u64,
    /// Reason for its sleep, if it sleeps.
    pub(crate) sleeps: Option<Sleep>,
    /// Whether the times are the kernel scheduler's, and not counted in ticks.
    pub(crate) is_exact: bool,
}

/// Reason for a thread's sleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sleep {
    /// Another thread of its process must wake it, for example one that collects garbage for it.
    AtLock,
    /// An event from outside must wake it, as Node waits in epoll.
    Elsewhere,
    /// The reason may not be read; or the thread is about to sleep or to wake, and waits for a CPU.
    Untold,
}

/// Activity of a main thread that no longer turns its event loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The thread runs, or is ready to: JavaScript, a regular expression, garbage collection.
    Burns,
    /// The thread waits: for a synchronous child, a lock, a disk.
    Blocked,
    /// The system does not report the activity.
    Unknown,
}

/// Judges by two samples. On an overloaded machine a tight loop gets a small share, so the time that it was queued
/// counts as well.
pub(crate) fn verdict(earlier: Option<Sample>, later: Option<Sample>, elapsed: Duration) -> Verdict {
    let (Some(earlier), Some(later)) = (earlier, later) else { return Verdict::Unknown };
    if elapsed.is_zero() {
        return Verdict::Unknown;
    }
    let wanted_us = later.wanted_us.saturating_sub(earlier.wanted_us);
    if u128::from(wanted_us) * 100 >= elapsed.as_micros() * BURNING_PERCENT { Verdict::Burns } else { Verdict::Blocked }
}

/// Takes a sample of a process's main thread. `None` if there is no such process or the system does not report it.
#[cfg(target_os = "linux")]
pub(crate) fn main_thread(pid: u32) -> Option<Sample> {
    let (state, cpu_ticks) = parse_stat(&read(pid, "stat")?)?;
    let exact = read(pid, "schedstat").and_then(|text| parse_schedstat(&text));
    let (cpu_us, queued_us) = exact.unwrap_or_else(|| (ticks_to_us(cpu_ticks), 0));
    let sleeps = (state == 'S').then(|| sleep_of(&read(pid, "wchan").unwrap_or_default()));
    Some(Sample { state, cpu_us, wanted_us: cpu_us + queued_us, sleeps, is_exact: exact.is_some() })
}

/// Takes a sample of a process's main thread. `None` if there is no such process or the system does not report it.
#[cfg(not(target_os = "linux"))]
pub(crate) fn main_thread(_pid: u32) -> Option<Sample> {
    None
}

/// CPU time used by all threads of a process, microseconds. `None` if the system does not report it.
#[cfg(target_os = "linux")]
pub(crate) fn process_cpu_us(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    parse_stat(&stat).map(|(_, ticks)| ticks_to_us(ticks))
}

/// CPU time used by all threads of a process, microseconds. `None` if the system does not report it.
#[cfg(not(target_os = "linux"))]
pub(crate) fn process_cpu_us(_pid: u32) -> Option<u64> {
    None
}

/// Memory that a process has in RAM, bytes. `None` if the system does not report it.
#[cfg(target_os = "linux")]
pub(crate) fn resident_bytes(pid: u32) -> Option<u64> {
    let pages = std::fs::read_to_string(format!("/proc/{pid}/statm")).ok()?.split(' ').nth(1)?.parse::<u64>().ok()?;
    let page_bytes = sysconf(SysconfVar::PAGE_SIZE).ok()??;
    Some(pages * u64::try_from(page_bytes).ok()?)
}

/// Memory that a process has in RAM, bytes. `None` if the system does not report it.
#[cfg(not(target_os = "linux"))]
pub(crate) fn resident_bytes(_pid: u32) -> Option<u64> {
    None
}

/// Description of the main thread's activity, in the kernel's terms.
pub(crate) fn describe(pid: u32) -> String {
    let stat = read(pid, "stat").and_then(|stat| parse_stat(&stat));
    let Some((state, _)) = stat else { return "unknown".to_owned() };
    let waits_in = read(pid, "wchan").filter(|name| !name.is_empty() && name != "0");
    // "running", or the number and its arguments; -1 if it is in none.
    let syscall = read(pid, "syscall").and_then(|text| text.split(' ').next()?.parse().ok());
    words(state, waits_in.as_deref(), syscall)
}

fn words(state: char, waits_in: Option<&str>, syscall: Option<u32>) -> String {
    let mut text = match state {
        'R' => "runs (R)".to_owned(),
        'S' => "sleeps (S)".to_owned(),
        'D' => "waits for a disk (D)".to_owned(),
        'T' => "was stopped by a signal (T)".to_owned(),
        't' => "is held by a debugger (t)".to_owned(),
        other => format!("is in state {other}"),
    };
    if let Some(function) = waits_in {
        text.push_str(" in ");
        text.push_str(function);
    }
    if let Some(number) = syscall {
        text.push_str(", system call ");
        text.push_str(&number.to_string());
    }
    text
}

/// Content of the main thread's file of this name in proc(5).
fn read(pid: u32, name: &str) -> Option<String> {
    std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/{name}")).ok()
}

/// Whether the process has exited, even if its parent has not collected it yet. False if the system does not report it.
#[cfg(target_os = "linux")]
pub(crate) fn has_exited(pid: u32) -> bool {
    match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => parse_stat(&stat).is_some_and(|(state, _)| matches!(state, 'Z' | 'X')),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn has_exited(_pid: u32) -> bool {
    false
}

/// Whether the process has a handler for the signal; without one, the signal would end it. `None` if the system does
/// not report it.
#[cfg(target_os = "linux")]
pub(crate) fn catches(pid: u32, signal: Signal) -> Option<bool> {
    parse_catches(&std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?, signal)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn catches(_pid: u32, _signal: Signal) -> Option<bool> {
    None
}

#[cfg(target_os = "linux")]
fn ticks_to_us(ticks: u64) -> u64 {
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

/// Kind of sleep, by the kernel function in which the thread sleeps: `futex_do_wait`, `futex_wait_queue` and so on for
/// a lock.
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
        let at = |cpu_us, queued_us| {
            Some(Sample { state: 'R', cpu_us, wanted_us: cpu_us + queued_us, sleeps: None, is_exact: true })
        };
        let second = Duration::from_secs(1);
        let judge = |later| verdict(at(500, 100), later, second);
        assert_eq!(judge(at(900_000, 100)), Verdict::Burns);
        assert_eq!(judge(at(100_000, 800_000)), Verdict::Burns);
        assert_eq!(judge(at(20_000, 1000)), Verdict::Blocked);
        assert_eq!(judge(at(0, 0)), Verdict::Blocked);
        assert_eq!(verdict(None, at(1, 1), second), Verdict::Unknown);
        assert_eq!(verdict(at(1, 1), at(1, 1), Duration::ZERO), Verdict::Unknown);
    }

    #[test]
    fn thread_is_described_as_the_kernel_sees_it() {
        assert_eq!(words('S', Some("do_wait"), Some(61)), "sleeps (S) in do_wait, system call 61");
        assert_eq!(words('D', None, None), "waits for a disk (D)");
        #[cfg(target_os = "linux")]
        assert!(!describe(std::process::id()).contains("unknown"));
        assert_eq!(describe(0), "unknown");
    }
}
