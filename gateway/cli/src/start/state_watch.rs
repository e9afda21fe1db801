//! Watch over the state directory: an alarm says while no file can be kept there. Serving requests does not depend on it.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::operator::Gateway;
use crate::state_dir;

/// Interval of looks at the directory.
const LOOK_EVERY: Duration = Duration::from_secs(10);
/// Time limit of one check of the state directory. A network file system may hang.
const LOOK_TIMEOUT: Duration = Duration::from_secs(2);

/// Look at a directory that has been begun.
type Look = JoinHandle<Option<String>>;

/// Looks at the directory until the gateway exits.
pub async fn run(gateway: Rc<Gateway>, dir: PathBuf) {
    let mut hung = None;
    loop {
        let is_suspect = gateway.gate.road.observer.trouble.state_dir().is_some() || dir != gateway.state_dir();
        let watched = dir.clone();
        let look = hung
            .take()
            .unwrap_or_else(|| tokio::task::spawn_blocking(move || state_dir::trouble(&watched, is_suspect)));
        let (why, left) = answer(look, LOOK_TIMEOUT, &dir).await;
        hung = left;
        gateway.gate.road.observer.trouble.set_state_dir(alarm(why.as_deref(), &dir, gateway.state_dir()));
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Reason why no file can be kept; and the look itself if it hangs, so that no second one hangs beside it.
async fn answer(mut look: Look, longest: Duration, dir: &Path) -> (Option<String>, Option<Look>) {
    match timeout(longest, &mut look).await {
        Ok(Ok(why)) => (why, None),
        Ok(Err(error)) => (Some(format!("{}: {error}", dir.display())), None),
        Err(_) => (Some(format!("{} does not answer", dir.display())), Some(look)),
    }
}

/// Raises the alarm: a file could not be written in the directory that is in use.
pub fn raise(gateway: &Gateway, why: &str) {
    let dir = gateway.state_dir();
    gateway.gate.road.observer.trouble.set_state_dir(alarm(Some(why), dir, dir));
}

/// Text of the alarm; `None` if all is well. `used` is the run directory if `watched` could not be used at the start.
fn alarm(why: Option<&str>, watched: &Path, used: &Path) -> Option<String> {
    let meanwhile = if watched == used {
        "a restart forgets what requests cost, crash evidence is lost, and profiles go to the run directory".to_owned()
    } else {
        let used = used.display();
        format!("learned costs, profiles and crash evidence are stored in {used}, and may be lost with it")
    };
    match why {
        Some(why) => {
            let restart = if watched == used { "" } else { ". Then restart the gateway" };
            Some(format!(
                "no file can be stored in the state directory ({why}): {meanwhile}. Requests are served as before. \
                 Free the disk, \
                 make the directory writable for this user alone, or name another one with --state-dir{restart}"
            ))
        }
        None if watched == used => None,
        None => Some(format!(
            "the state directory {} can be used now; restart to use it. Until then, {meanwhile}",
            watched.display()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_alarm_says_where_files_go_and_lasts_until_the_directory_is_used() {
        let (state, run) = (Path::new("/var/lib/shop"), Path::new("/run/shop"));
        assert_eq!(alarm(None, state, state), None);
        let full = alarm(Some("full"), state, state).unwrap();
        assert!(
            full.contains("(full)") && full.contains("evidence is lost") && !full.contains("restart the gateway"),
            "{full}"
        );
        let from_the_start = alarm(Some("full"), state, run).unwrap();
        assert!(from_the_start.contains("stored in /run/shop,"), "{from_the_start}");
        assert!(!from_the_start.contains("is lost") && from_the_start.ends_with("Then restart the gateway"));
        let mended = alarm(None, state, run).unwrap();
        assert!(mended.contains("/var/lib/shop can be used now; restart to use it"), "{mended}");
        assert!(mended.contains("stored in /run/shop,"), "{mended}");
    }

    #[tokio::test]
    async fn a_directory_that_does_not_answer_is_an_alarm_and_is_not_looked_at_twice() {
        let (release, hung) = std::sync::mpsc::channel::<()>();
        let look = tokio::task::spawn_blocking(move || hung.recv().err().and(None));
        let (why, look) = answer(look, Duration::from_millis(10), Path::new("/mnt/state")).await;
        assert_eq!(why.as_deref(), Some("/mnt/state does not answer"));
        drop(release);
        let (why, look) = answer(look.unwrap(), Duration::MAX, Path::new("/mnt/state")).await;
        assert_eq!((why, look.is_none()), (None, true));
    }
}
