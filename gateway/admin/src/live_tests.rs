use tokio::task::LocalSet;

use super::*;
use crate::tests_support::TestOperator;

/// A gateway, and its history.
struct Watching(Rc<TestOperator>);

impl Watching {
    fn tick(&self) {
        self.0.live.tick(&*self.0);
    }

    fn join(&self, cut: Rc<Notify>) -> Option<Events> {
        self.0.live.join(&*self.0, None, None, cut)
    }
}

fn live() -> Watching {
    Watching(TestOperator::shared())
}

#[tokio::test(start_paused = true)]
async fn viewer_that_reads_nothing_is_dropped_and_cut_off() {
    let live = live();
    let cut = Rc::new(Notify::new());
    let stalled = live.join(Rc::clone(&cut)).unwrap();
    let mut reader = live.join(Rc::new(Notify::new())).unwrap();
    for _ in 0..20 {
        live.tick();
        while reader.rest.try_recv().is_ok() {}
    }
    assert_eq!(live.0.live.state.borrow().viewers.len(), 1, "the one that reads stays");
    assert!(stalled.rest.len() <= EVENTS_MAX);
    tokio::time::timeout(EVERY, cut.notified()).await.expect("its connection is ended");
}

#[tokio::test(start_paused = true)]
async fn viewers_are_bounded_and_one_that_left_makes_room() {
    let live = live();
    let mut viewers: Vec<Events> = (0..VIEWERS_MAX).map(|_| live.join(Rc::new(Notify::new())).unwrap()).collect();
    assert!(live.join(Rc::new(Notify::new())).is_none());
    viewers.pop();
    assert!(live.join(Rc::new(Notify::new())).is_some());
    live.0.live.close();
    assert!(live.join(Rc::new(Notify::new())).is_none(), "the gateway leaves");
    assert!(live.0.live.state.borrow().viewers.is_empty());
}

#[tokio::test(start_paused = true)]
async fn answer_ends_before_its_connection_must() {
    let live = live();
    let _viewer = live.join(Rc::new(Notify::new())).unwrap();
    tokio::time::advance(STREAM_TIMEOUT).await;
    live.tick();
    assert!(live.0.live.state.borrow().viewers.is_empty());
}

#[tokio::test(start_paused = true)]
async fn history_is_kept_while_nobody_looks() {
    let operator = TestOperator::shared();
    let running = Rc::clone(&operator);
    LocalSet::new()
        .run_until(async {
            let task = tokio::task::spawn_local(async move { running.live.run(&*running).await });
            tokio::time::sleep(Duration::from_secs(31)).await;
            task.abort();
        })
        .await;
    assert_eq!(operator.live.columns(1).at_ms.len(), 30);
}

#[test]
fn ids_that_no_gateway_made_are_nothing() {
    assert_eq!(HistoryCursor::parse("1-2-3"), Some(HistoryCursor { epoch: 1, at_ms: 2, mark: 3 }));
    for id in ["", "1-2", "1-2-3-4", "a-b-c", "1--3", "99999999999999999999-1-1"] {
        assert_eq!(HistoryCursor::parse(id), None, "{id}");
    }
}
