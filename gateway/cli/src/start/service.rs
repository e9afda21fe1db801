//! Messages to a service manager that asks for them (`NOTIFY_SOCKET`, systemd's `Type=notify` and `Type=notify-reload`).
//!
//! The gateway that serves sends them, and after an upgrade that is another process than the one that the manager started. So the unit
//! needs `NotifyAccess=all`. The main process stays the same over all upgrades: it is the parent of those that follow, and systemd
//! learns exit codes of its own children alone. Workers never see the socket. It must not know requests or workers.

use std::os::unix::process::parent_id;
use std::rc::Rc;
use std::time::Duration;

use sd_notify::NotifyState;

use super::operator::Gateway;

/// Longest status line, in characters.
const STATUS_CHARS_MAX: usize = 200;

/// The first worker listens, or a reload or an upgrade has ended, well or not.
pub fn ready(status: &str) {
    tell(&[NotifyState::Ready, NotifyState::Status(&one_line(status))]);
}

/// A new version or a new configuration is on its way; `ready` ends that.
pub fn reloading(status: &str) {
    let status = one_line(status);
    let mut states = vec![NotifyState::Reloading, NotifyState::Status(&status)];
    // systemd tells by it that the reload began after its signal.
    states.extend(NotifyState::monotonic_usec_now());
    tell(&states);
}

/// The gateway drains, and leaves.
pub fn stopping() {
    tell(&[NotifyState::Stopping, NotifyState::Status("draining")]);
}

/// Tells the manager that the thread that decides is alive, three times within the time that the unit allows (`WatchdogSec=`). A gateway that
/// hands over leaves this to the one that serves.
pub async fn watchdog(gateway: Rc<Gateway>, number: u32) {
    let variable = |name: &str| std::env::var(name).ok();
    let own = (number == 1).then(|| [std::process::id(), parent_id()]);
    let Some(every) = watchdog_period(variable, own) else { return };
    loop {
        if gateway.in_charge.get() && gateway.overtaken.get().is_none() {
            tell(&[NotifyState::Watchdog]);
        }
        tokio::time::sleep(every).await;
    }
}

/// A third of the time that the unit allows. The variables name the process that systemd started: this gateway, or `npx` or a shell that
/// started it. Gateways of an upgrade inherit them.
fn watchdog_period(variable: impl Fn(&str) -> Option<String>, own: Option<[u32; 2]>) -> Option<Duration> {
    let allowed_us: u64 = variable("WATCHDOG_USEC")?.parse().ok()?;
    let meant = variable("WATCHDOG_PID").and_then(|pid| pid.parse().ok());
    let is_ours = own.is_none_or(|own| meant.is_none_or(|meant| own.contains(&meant)));
    (allowed_us > 0 && is_ours).then(|| Duration::from_micros(allowed_us / 3))
}

fn tell(states: &[NotifyState<'_>]) {
    // Without a manager this does nothing; one that does not listen is none of the gateway's concern.
    let _ = sd_notify::notify(states);
}

/// A message has one line for each state.
fn one_line(text: &str) -> String {
    text.chars().map(|sign| if sign.is_control() { ' ' } else { sign }).take(STATUS_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn watchdog_is_for_the_process_that_systemd_started_and_its_successors() {
        let variable = |name: &str| match name {
            "WATCHDOG_USEC" => Some("3000000".to_owned()),
            "WATCHDOG_PID" => Some("7".to_owned()),
            _ => None,
        };
        let second = Some(Duration::from_secs(1));
        assert_eq!(watchdog_period(variable, Some([7, 1])), second);
        assert_eq!(watchdog_period(variable, Some([9, 7])), second, "by way of npx");
        assert_eq!(watchdog_period(variable, Some([8, 9])), None, "of another service");
        assert_eq!(watchdog_period(variable, None), second);
        assert_eq!(watchdog_period(|_| None, None), None);
    }

    #[test]
    fn a_status_is_one_line() {
        assert_eq!(one_line("a\nREADY=1"), "a READY=1");
        assert_eq!(one_line(&"x".repeat(999)).len(), STATUS_CHARS_MAX);
    }
}
