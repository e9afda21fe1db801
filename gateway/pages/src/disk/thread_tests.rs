//! What is said to the thread while it takes the directory over.

use std::sync::mpsc;

use tempfile::TempDir;
use tokio::sync::mpsc::unbounded_channel;
use tokio::sync::oneshot;
use tokio::time::Instant;

use sluice_message::{Method, RequestHead, ResponseHead};

use super::super::client::Disk;
use super::*;
use crate::clock::Clock;

fn settings(dir: &TempDir) -> Settings {
    Settings {
        dir: dir.path().into(),
        bytes_max: 1 << 20,
        owner: "a test".to_owned(),
        found: StartupPages::Kept,
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
fn i7_a_purge_while_the_directory_is_taken_over_is_answered_when_it_is_written() {
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

#[test]
fn i7_more_purges_than_may_wait_purge_everything_and_each_is_answered_after_that() {
    let dir = TempDir::new().unwrap();
    let (wishes, (tell, _heard), common) = (mpsc::channel(), unbounded_channel(), Arc::<Common>::default());
    let disk = Disk::over(wishes.0, Arc::clone(&common));
    let log = open(&settings(&dir), &wishes.1, &tell, &common).unwrap().unwrap();
    common.set_state(State::InUse);
    let page = |key: &str| Outgoing {
        key: key.to_owned(),
        head: ResponseHead::new(200, Fields::default()),
        policy: policy(),
        tags: Vec::new(),
        body: "page".into(),
        now: sluice_cache::Moment::default(),
        clock_ms: clock_ms(),
    };
    assert!(disk.store(page("http://a.test/kept")));
    let long = |at: usize| Purge::Url(format!("http://a.test/{at}/{}", "x".repeat(4000)));
    let mut told: Vec<_> = (0..3000).map(|at| disk.purge(&long(at), false)).collect();
    assert!(!disk.store(page("http://a.test/late")), "what is put now could be meant by a purge that does not wait");
    told.push(disk.purge(&Purge::Url("http://a.test/kept".to_owned()), false));
    let closed = disk.close();
    let keeper =
        Keeper { settings: settings(&dir), log, tell, common: Arc::clone(&common), paused: None, is_failing: false };
    keeper.run(&wishes.1);
    assert!(told.iter_mut().all(|told| told.try_recv() == Ok(())), "nobody is left waiting");
    drop(closed);
    assert_eq!(opened_pages(&dir), 0);
}

fn opened_pages(dir: &TempDir) -> usize {
    let (wishes, (tell, _heard)) = (mpsc::channel(), unbounded_channel());
    drop(wishes.0);
    open(&settings(dir), &wishes.1, &tell, &Common::default()).unwrap().unwrap().size().0
}

fn policy() -> sluice_cache::Policy {
    let head = ResponseHead::new(200, [("Cache-Control", &b"max-age=600"[..])].into_iter().collect());
    let now = sluice_cache::Moment::default();
    let request = RequestHead { method: Method::Get, ..RequestHead::default() };
    let rule = sluice_cache::Rule::default();
    let answered =
        sluice_cache::StorageCandidate { request: &request, response: &head, chosen: &[], rule, asked: now, came: now };
    sluice_cache::storable(answered).unwrap()
}
