//! Knowledge of classes and their costs, kept in the state directory for the next gateway. Nothing depends on it:
//! without the file, or with one that cannot be read, everything is learned afresh.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use sluice_observe::write_whole;

use super::operator::Gateway;
use super::state_watch;

const FILE_NAME: &str = "costs.json";
const SAVE_EVERY: Duration = Duration::from_secs(60);
/// Maximum size of a file of an earlier run, bytes. Our own are far smaller.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Continues from what an earlier gateway left, if it did, and keeps what is learned from now on.
pub fn start(gateway: &Rc<Gateway>) {
    restore(gateway);
    gateway.tasks.spawn("costs", keep_saving(Rc::clone(gateway)));
}

fn restore(gateway: &Gateway) {
    let path = path(gateway);
    let restored = match read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return,
        read => read.and_then(|text| gateway.gate.costs.restore(&text).map_err(io::Error::other)),
    };
    if let Err(why) = restored {
        let text = format!("{} cannot be used, so costs are learned again: {why}", path.display());
        gateway.warn(&text);
    }
}

/// Keeps what is known now. Returns when it is written; a power cut may lose it.
pub fn save(gateway: &Gateway) {
    tell(gateway, &write_whole(&path(gateway), gateway.gate.costs.saved().as_bytes()));
}

/// Saves it every minute, for as long as this gateway is the one that serves.
async fn keep_saving(gateway: Rc<Gateway>) {
    loop {
        tokio::time::sleep(SAVE_EVERY).await;
        if !gateway.in_charge.get() || gateway.gate.draining.is_draining() {
            continue;
        }
        let (path, text) = (path(&gateway), gateway.gate.costs.saved());
        let saved = tokio::task::spawn_blocking(move || write_whole(&path, text.as_bytes()))
            .await
            .map_err(io::Error::other)
            .flatten();
        tell(&gateway, &saved);
    }
}

fn tell(gateway: &Gateway, saved: &io::Result<()>) {
    // A directory that stays full is told of once, by its alarm.
    if let Err(error) = saved
        && gateway.gate.road.observer.trouble.state_dir().is_none()
    {
        let why = format!("{}: {error}", path(gateway).display());
        gateway.warn(&format!("learned costs could not be written: {why}"));
        state_watch::raise(gateway, &why);
    }
}

fn path(gateway: &Gateway) -> PathBuf {
    gateway.state_dir().join(FILE_NAME)
}

fn read(path: &Path) -> io::Result<String> {
    let file = fs::File::open(path)?;
    let mut text = String::new();
    let read_bytes = file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text)?;
    if read_bytes as u64 > FILE_BYTES_MAX {
        return Err(io::Error::other("it is too large"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_written_whole_and_read_again() {
        let dir = std::env::temp_dir().join(format!("sluice-learned-{}", std::process::id()));
        fs::create_dir(&dir).unwrap();
        let path = dir.join(FILE_NAME);
        write_whole(&path, b"one").unwrap();
        write_whole(&path, b"two").unwrap();
        assert_eq!(read(&path).unwrap(), "two");
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 1, "nothing else is left");
        fs::write(&path, vec![b' '; usize::try_from(FILE_BYTES_MAX).unwrap() + 1]).unwrap();
        assert!(read(&path).is_err());
        fs::remove_dir_all(&dir).unwrap();
    }
}
