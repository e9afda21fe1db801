use std::cell::Cell;
use std::path::Path;

use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::UnixListener;
use tokio::task::LocalSet;

use super::*;

fn play(story: impl AsyncFnOnce(&Path)) {
    let dir = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    LocalSet::new().block_on(&runtime, async {
        timeout(Duration::from_secs(60), story(dir.path())).await.expect("an end in time");
    });
}

fn purger(dir: &Path) -> SuccessorPurger {
    at(Sockets { own: dir.join("2.sock"), public: dir.join("control.sock") })
}

/// Answers one purge, and returns what was asked.
async fn answer(listener: &UnixListener, reply: &str) -> Request {
    let mut stream = BufReader::new(listener.accept().await.unwrap().0);
    let mut line = String::new();
    stream.read_line(&mut line).await.unwrap();
    stream.write_all(format!("{reply}\n").as_bytes()).await.unwrap();
    serde_json::from_str(&line).unwrap()
}

fn tag(name: &str) -> Purge {
    Purge::Tag(name.to_owned())
}

#[test]
fn purge_is_done_when_the_successor_says_so_by_either_of_its_names() {
    play(async |dir| {
        let purger = purger(dir);
        for name in ["2.sock", "control.sock"] {
            let listener = UnixListener::bind(dir.join(name)).unwrap();
            let mut done = purger(&tag("a"), true);
            assert!(done.try_recv().is_err());
            let asked = answer(&listener, r#"{"ok":true,"purged":1}"#).await;
            assert_eq!(asked, Request::Purge { pages: tag("a"), soft: true });
            done.await.unwrap();
            std::fs::remove_file(dir.join(name)).unwrap();
        }
    });
}

#[test]
fn purge_that_finds_no_connection_is_tried_again_and_one_for_nobody_is_done() {
    play(async |dir| {
        let purger = purger(dir);
        purger(&tag("a"), false).await.unwrap();
        let listener = UnixListener::bind(dir.join("control.sock")).unwrap();
        let mut done = purger(&tag("b"), false);
        answer(&listener, r#"{"ok":false,"code":"connections-full","error":"Too many."}"#).await;
        assert!(done.try_recv().is_err());
        let again = answer(&listener, r#"{"ok":true}"#).await;
        assert_eq!(again, Request::Purge { pages: tag("b"), soft: false });
        done.await.unwrap();
        drop(listener);
        purger(&tag("c"), false).await.unwrap();
    });
}

#[test]
fn i6_waiting_purges_are_bounded_and_a_purge_that_is_too_long_purges_everything() {
    play(async |dir| {
        let listener = UnixListener::bind(dir.join("control.sock")).unwrap();
        let purger = purger(dir);
        let long = purger(&tag(&"t".repeat(REQUEST_BYTES_MAX)), false);
        assert_eq!(answer(&listener, r#"{"ok":true}"#).await, Request::Purge { pages: Purge::All, soft: false });
        long.await.unwrap();
        let done: Vec<_> = (0..=WAITING_MAX).map(|number| purger(&tag(&number.to_string()), true)).collect();
        let count = Cell::new(0);
        let answers = async {
            loop {
                let asked = answer(&listener, r#"{"ok":true}"#).await;
                assert_eq!(asked, Request::Purge { pages: Purge::All, soft: false });
                count.set(count.get() + 1);
            }
        };
        let all = async {
            for done in done {
                done.await.unwrap();
            }
        };
        tokio::select! {
            () = all => {}
            () = answers => {}
        }
        assert_eq!(count.get(), 1, "one stands for all");
    });
}
