//! Watch over the state directory: an alarm says while no file can be kept there. Serving requests does not depend on it.

use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use super::operator::Gateway;
use crate::state_dir;

/// Interval of looks at the directory.
const LOOK_EVERY: Duration = Duration::from_secs(10);

/// Looks at the directory until the gateway exits.
pub async fn run(gateway: Rc<Gateway>, dir: PathBuf) {
    loop {
        let is_suspect = gateway.gate.road.observer.trouble.state_dir().is_some() || dir != gateway.state_dir();
        let watched = dir.clone();
        // A network file system may hang.
        let looked = tokio::task::spawn_blocking(move || state_dir::trouble(&watched, is_suspect)).await;
        if let Ok(why) = looked {
            report(&gateway, why.as_deref());
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Raises the alarm with this reason, or clears it.
pub fn report(gateway: &Gateway, why: Option<&str>) {
    let text = why.map(|why| {
        format!(
            "no file can be kept in the state directory ({why}): a restart forgets what requests cost, and profiles and crash \
             evidence are lost. Requests are served as before. Free the disk, make the directory writable for this user alone, \
             or name another one with --state-dir"
        )
    });
    gateway.gate.road.observer.trouble.set_state_dir(text);
}
