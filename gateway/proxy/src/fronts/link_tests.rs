//! Each end as it sees the other leave, at any point.

use std::future::{pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use tokio::time::timeout;

use super::*;

const SOON: Duration = Duration::from_secs(10);

async fn departed(core: &CoreEnd) -> Departed {
    poll_fn(|cx| core.poll_departed(cx)).await
}

#[tokio::test]
async fn orders_and_replies_cross_threads_and_each_wakes_who_waits_for_it() {
    let (core, front) = link();
    let obeying = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async move {
            let mut obeyed = 0;
            while let Some(order) = front.order().await {
                assert!(matches!(order, Order::Aside(true)));
                obeyed += 1;
                front.reply(Reply::Sent(Ok(())));
            }
            obeyed
        })
    });
    for _ in 0..1000 {
        core.order(Order::Aside(true));
        let reply = timeout(SOON, core.reply()).await.expect("a reply");
        assert!(matches!(reply, Some(Reply::Sent(Ok(())))));
    }
    drop(core);
    assert_eq!(obeying.join().unwrap(), 1000);
}

#[tokio::test]
async fn a_front_that_leaves_is_a_client_that_has_gone_and_gives_no_reply() {
    let (core, front) = link();
    core.order(Order::TakeBody { bytes_max: 1 });
    drop(front);
    assert!(core.reply().await.is_none());
    assert_eq!(departed(&core).await, Departed::Gone);
}

#[tokio::test]
async fn a_reply_that_was_given_is_heard_though_the_front_has_left() {
    let (core, front) = link();
    core.order(Order::TakeBody { bytes_max: 1 });
    front.reply(Reply::Switched);
    drop(front);
    assert!(matches!(core.reply().await, Some(Reply::Switched)));
    assert!(core.reply().await.is_none());
}

#[tokio::test]
async fn each_step_of_a_clients_leaving_is_told_once() {
    let (core, front) = link();
    front.departed(Departed::Half);
    assert_eq!(departed(&core).await, Departed::Half);
    let nothing = timeout(Duration::from_millis(1), departed(&core)).await;
    assert!(nothing.is_err(), "it was told already: {nothing:?}");
    front.departed(Departed::Gone);
    assert_eq!(departed(&core).await, Departed::Gone);
}

#[tokio::test]
async fn a_core_that_leaves_ends_the_orders() {
    let (core, front) = link();
    core.order(Order::Aside(false));
    drop(core);
    assert!(matches!(front.order().await, Some(Order::Aside(false))), "the last one is carried out");
    assert!(front.order().await.is_none());
}

#[tokio::test]
async fn a_fault_on_the_core_breaks_the_answer_off() {
    let (core, front) = link();
    let fault = catch_unwind(AssertUnwindSafe(|| {
        let _core = core;
        panic!("a fault of the test's");
    }));
    assert!(fault.is_err());
    assert!(matches!(front.order().await, Some(Order::BreakOff)));
    assert!(front.order().await.is_none());
}

#[tokio::test]
async fn what_goes_on_for_long_ends_when_the_core_says_so_or_leaves() {
    for says_so in [true, false] {
        let (core, front) = link();
        let closing = async {
            tokio::select! {
                () = front.closing() => {}
                () = pending() => {}
            }
        };
        if says_so {
            core.order(Order::BreakOff);
        } else {
            drop(core);
        }
        timeout(SOON, closing).await.expect("it ends");
    }
}
