//! What a service manager that asked for it is told (`NOTIFY_SOCKET`, systemd's `Type=notify`).
//!
//! Only the first gateway tells: the manager watches that process, which stays for as long as any gateway serves.

use sd_notify::NotifyState;

/// The first worker listens.
pub fn ready() {
    tell(NotifyState::Ready);
}

/// It leaves.
pub fn stopping() {
    tell(NotifyState::Stopping);
}

fn tell(state: NotifyState<'_>) {
    // Without a manager this does nothing; one that does not listen is none of the gateway's concern.
    let _ = sd_notify::notify(&[state]);
}
