//! What is said to the thread while it takes the directory over.

use std::sync::mpsc;

use tempfile::TempDir;
use tokio::sync::mpsc::unbounded_channel;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::*;
use crate::clock::Clock;

fn settings(dir: &TempDir) -> Settings {
    Settings {
        dir: dir.path().into(),
        bytes_max: 1 << 20,
        owner: "a test".to_owned(),
        found: Found::Kept,
        clock: Clock::since(Instant::now()),
    }
}

/// Takes the directory over with these wishes. Returns whether it is in use then.
fn opened(dir: &TempDir, wished: impl IntoIterator<Item = Wish>) -> bool {
    let (wishes, (tell, _heard)) = (mpsc::channel(), unbounded_channel());
    for wish in wished {
        wishes.0.send(wish).unwrap();
    }
    open(&settings(dir), &wishes.1, &tell, &Common::default()).unwrap().is_some()
}

#[test]
fn i7_whoever_purges_while_the_directory_is_taken_over_hears_of_it_when_it_is_written() {
    let dir = TempDir::new().unwrap();
    let (done, mut when_done) = oneshot::channel();
    let purged = PurgeMeta { purge: Purge::All, is_soft: false, clock_ms: clock_ms() };
    assert!(opened(&dir, [Wish::Purge { purged, done }]));
    assert_eq!(when_done.try_recv(), Ok(()), "it was given up");
}

#[test]
fn a_gateway_that_leaves_while_it_takes_the_directory_over_lets_go_of_it() {
    let dir = TempDir::new().unwrap();
    let (closed, mut when_closed) = oneshot::channel();
    assert!(!opened(&dir, [Wish::Close(closed)]), "it is in use");
    assert_eq!(when_closed.try_recv(), Ok(()));
    assert!(opened(&dir, []), "it is free for the next one");
}
