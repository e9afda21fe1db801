//! Warms a worker: requests of the gateway's own, through the worker's slot, until it is as fast as it will get.
//!
//! Compilers, caches and connections of an app are cold after its start, and the first clients would pay for that. The
//! scheduler chooses the worker to be warmed and the time by which that has to end. Its slot is counted as for clients
//! (I1). This must not know what a generation is, nor what becomes of one whose warm-up fails.

use std::rc::Rc;
use std::time::Duration;

use sluice_catalog::errors::Code;
use sluice_catalog::refusals::WarmUpError;
use sluice_message::{Method, RequestHead, Scheme};
use sluice_scheduler::WorkerId;
use tokio::time::Instant;

use crate::gate::warm_ups::WarmUps;
use sluice_road::Road;
use sluice_road::own::Own;
use sluice_road::request::serve_request;
use sluice_wire::front::exchange::Exchange;
use sluice_wire::front::origin::Origin;

/// Pause between two checks whether the app has ended a request whose answer is no longer read.
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// Least number of service times that are compared with as many before them.
const SAMPLES_MIN: usize = 5;

/// Result of one request.
enum WarmUpResult {
    /// The worker is no longer to be warmed.
    Over,
    /// The deadline has passed.
    Late,
    /// The worker answered, after this time.
    Answered(Duration),
    /// The worker gave no answer that clients could be sent.
    Failed(WarmUpError),
}

/// Begins to warm the worker.
pub(crate) fn start(road: Rc<Road>, warm_ups: Rc<WarmUps>, worker: WorkerId) {
    tokio::task::spawn_local(async move {
        let outcome = run(&road, &warm_ups, worker).await;
        if warm_ups.is_jammed(worker) {
            warm_ups.jammed(worker, outcome.err().unwrap_or(WarmUpError::NotEnded));
        } else {
            warm_ups.warmed(worker, outcome);
        }
    });
}

/// # Errors
/// Reason why the worker must not take requests.
async fn run(road: &Rc<Road>, warm_ups: &WarmUps, worker: WorkerId) -> Result<(), WarmUpError> {
    let config = road.config();
    let targets = &config.warm_up.paths;
    let deadline = Instant::now() + Duration::from_millis(config.warm_up_timeout_ms());
    let window = targets.len().max(SAMPLES_MIN);
    let mut times = Vec::new();
    let mut answered = vec![false; targets.len()];
    for (at, target) in targets.iter().enumerate().cycle().take(config.bounds.warm_up_requests_max as usize) {
        match ask(road, warm_ups, worker, target, deadline).await {
            WarmUpResult::Late if !answered[at] => {
                return Err(WarmUpError::Late { target: target.clone() });
            }
            WarmUpResult::Over | WarmUpResult::Late => return Ok(()),
            WarmUpResult::Failed(why) => return Err(why),
            WarmUpResult::Answered(took) => {
                answered[at] = true;
                times.push(took);
            }
        }
        if has_settled(&times, window) {
            break;
        }
    }
    Ok(())
}

/// Whether the times have settled: the median of the latest is within a fifth of that of as many before.
fn has_settled(times: &[Duration], window: usize) -> bool {
    let Some(before) = times.len().checked_sub(2 * window) else { return false };
    let median = |times: &[Duration]| {
        let mut times = times.to_vec();
        times.sort_unstable();
        times[times.len() / 2]
    };
    let (earlier, later) = times[before..].split_at(window);
    let (earlier, later) = (median(earlier), median(later));
    earlier.abs_diff(later) * 5 <= earlier
}

async fn ask(road: &Rc<Road>, warm_ups: &WarmUps, worker: WorkerId, target: &str, deadline: Instant) -> WarmUpResult {
    let scheme = Scheme::of(road.config().is_tls());
    let origin = Origin::own(&road.lobby.trust(), road.lobby.port(), scheme);
    let fields = [("Accept", &b"*/*"[..]), ("User-Agent", b"sluice"), ("Sluice-Warm-Up", b"1")];
    let head = RequestHead {
        method: Method::Get,
        scheme,
        authority: format!("localhost:{}", road.lobby.port()),
        path_and_query: target.to_owned(),
        fields: fields.into_iter().collect(),
    };
    let mut exchange = Exchange::Own(Box::new(Own::warm_up(head, worker)));
    let began = Instant::now();
    let sent = tokio::time::timeout_at(deadline, serve_request(&mut exchange, &origin, road)).await;
    let took = began.elapsed();
    let Ok(sent) = sent else {
        return if warm_ups.is_warming(worker) { WarmUpResult::Late } else { WarmUpResult::Over };
    };
    // The slot is the worker's until it has ended the request, whatever is still read of the answer.
    while warm_ups.is_jammed(worker) {
        if Instant::now() >= deadline {
            return WarmUpResult::Late;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    match sent.error {
        _ if !warm_ups.is_warming(worker) => WarmUpResult::Over,
        // The worker gave the request back: the app was still at the one before it.
        Some(Code::Draining) => WarmUpResult::Answered(took),
        Some(code) => WarmUpResult::Failed(WarmUpError::Failed { target: target.to_owned(), code }),
        None if sent.status == 0 => WarmUpResult::Failed(WarmUpError::Left { target: target.to_owned() }),
        None if sent.status >= 500 => {
            WarmUpResult::Failed(WarmUpError::Status { target: target.to_owned(), status: sent.status })
        }
        None => WarmUpResult::Answered(took),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(times_ms: &[u64]) -> bool {
        let times: Vec<_> = times_ms.iter().copied().map(Duration::from_millis).collect();
        has_settled(&times, SAMPLES_MIN)
    }

    #[test]
    fn service_time_has_settled_when_its_median_stays_within_a_fifth() {
        assert!(!settled(&[10; 9]), "too few");
        assert!(settled(&[10; 10]));
        assert!(!settled(&[100, 90, 80, 70, 60, 50, 40, 30, 20, 10]), "still falling");
        assert!(settled(&[100, 90, 80, 70, 60, 12, 11, 10, 10, 10, 10, 10, 10, 9, 90]), "one outlier says nothing");
        assert!(!settled(&[10, 10, 10, 10, 10, 13, 13, 13, 13, 13]), "rising");
    }
}
