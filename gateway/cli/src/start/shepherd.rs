//! The first gateway's last role. The program that started it (systemd, Docker, a terminal, npm) watches this process,
//! so the process must not end while a successor serves. It passes signals on, waits, and ends as the serving gateway
//! does.
//!
//! The process replaces its own program, which gives back the memory, threads and descriptors of the gateway it was. It
//! must not know requests, workers or sockets.

use std::ffi::{CStr, CString};
use std::os::unix::ffi::OsStrExt as _;
use std::process::ExitCode;
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::signal::{SigSet, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use tokio::signal::unix::{SignalKind, signal};

use super::service;
use super::signals::{Signals, pid_of};
use crate::args::ShepherdArgs;
use crate::exit::Exit;
use crate::run_dir::RunDir;

/// Interval of looks without news of an exit.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Makes the orphans of gateways that have left this process's children from now on, if the system can do that.
pub fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_child_subreaper(true);
}

/// Whether this process, the instance's `number`th gateway, has to stay when it has handed over. Where orphans cannot be
/// adopted, every gateway stays for the next.
pub fn must_stay(number: u32) -> bool {
    number == 1 || cfg!(not(target_os = "linux"))
}

/// Becomes the shepherd; returns only if that is not possible.
pub fn become_shepherd(run_dir: &RunDir, pid: u32) -> Errno {
    let path = CString::new(run_dir.path().as_os_str().as_bytes()).unwrap_or_default();
    let pid = CString::new(pid.to_string()).unwrap_or_default();
    let words: [&CStr; 4] = [c"sluice", c"shepherd", &path, &pid];
    // The file that runs, even if another stands at its path by now.
    let own = if cfg!(target_os = "linux") { Some(c"/proc/self/exe".to_owned()) } else { None };
    let by_path = std::env::current_exe().ok().and_then(|path| CString::new(path.as_os_str().as_bytes()).ok());
    let mut error = Errno::ENOENT;
    for program in own.into_iter().chain(by_path) {
        let Err(refused) = nix::unistd::execv(&program, &words);
        error = refused;
    }
    error
}

/// The shepherd's whole life. Its signals are blocked until it listens to them.
#[allow(clippy::needless_pass_by_value, reason = "every command takes its arguments by value")]
pub fn run(args: ShepherdArgs) -> ExitCode {
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_name(c"sluice");
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
        return Exit::Failed.because("the shepherd cannot run");
    };
    runtime.block_on(watch(&RunDir::inherited(args.run_dir), args.pid))
}

/// Waits for the gateway `first` and those after it; returns the exit code of the last.
pub async fn watch(run_dir: &RunDir, first: u32) -> ExitCode {
    let (Ok(mut signals), Ok(mut exits)) = (Signals::new(), signal(SignalKind::child())) else {
        return Exit::Failed.because("cannot install signal handlers");
    };
    let _ = SigSet::all().thread_unblock();
    let serving = || run_dir.read_pid().map(pid_of);
    let mut current = pid_of(first);
    loop {
        loop {
            match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
                Ok(status) if status.pid() == Some(current) && has_ended(status) => match serving() {
                    Some(next) if next != current && kill(next, None).is_ok() => current = next,
                    _ => return code_of(status),
                },
                Ok(WaitStatus::StillAlive) => break,
                Ok(_) | Err(Errno::EINTR) => {}
                // Its exit was seen by somebody else.
                Err(_) if kill(current, None).is_err() => return Exit::Failed.into(),
                Err(_) => break,
            }
        }
        tokio::select! {
            heard = signals.next() => {
                if heard.asks_to_leave() {
                    service::stopping();
                }
                heard.pass_on(run_dir, u32::try_from(current.as_raw()).unwrap_or(u32::MAX));
            }
            _ = exits.recv() => {}
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
    }
}

fn has_ended(status: WaitStatus) -> bool {
    matches!(status, WaitStatus::Exited(..) | WaitStatus::Signaled(..))
}

fn code_of(status: WaitStatus) -> ExitCode {
    match status {
        WaitStatus::Exited(_, code) => ExitCode::from(u8::try_from(code).unwrap_or(1)),
        WaitStatus::Signaled(_, signal, _) => ExitCode::from(128 + u8::try_from(signal as i32).unwrap_or(0)),
        _ => Exit::Failed.into(),
    }
}
