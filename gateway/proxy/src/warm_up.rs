//! Warms a worker: requests of the gateway's own, through the worker's slot, until it is as fast as it will get.
//!
//! Compilers, caches and connections of an app are cold after its start, and the first clients would pay for that. The
//! scheduler says which worker is warmed and when that has to end; the books of its slot are kept as for clients (I1).
//! This must not know what a generation is, nor what becomes of one whose warm-up fails.

mod recent;

use std::rc::Rc;
use std::time::{Duration, Instant};

use sluice_catalog::config::Config;
use sluice_catalog::errors::Code;
use sluice_http1::{Method, RequestHead};
use sluice_scheduler::WorkerId;

pub(crate) use recent::Recent;

use crate::gate::{Gate, Pass};
use crate::receive::spool::Body;
use crate::respond::answer::{Answer, End, Next};
use crate::upstream::Job;
use crate::upstream::forward;
use sluice_classes::Traits;

/// What is read of an answer; the rest is thrown away unread, as is an answer that never ends.
const ANSWER_BYTES_MAX: usize = 1024 * 1024;
/// How much of it is read back from a temporary file at once.
const READ_BACK_BYTES: usize = 64 * 1024;
/// The longest target of a client that is asked for again.
const TARGET_BYTES_MAX: usize = 2048;
/// How often is looked whether the app has ended a request whose answer is no longer read.
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// Service times that are compared with as many before them, at least.
const SAMPLES_MIN: usize = 5;

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Target {
    host: String,
    target: String,
    /// Somebody has named it in the config, so it has to work.
    must_work: bool,
}

/// How one request ended.
enum Asked {
    /// The worker is no longer to be warmed, for whatever reason.
    Over,
    /// There is no time left.
    Late,
    /// With an answer, after so long.
    Answered(Duration),
    /// Without one that clients could be sent.
    Failed(String),
}

/// Keeps what a client asked for, to warm later workers with, where the answer is for everybody.
pub(crate) fn note(gate: &Gate, head: &RequestHead, class: &Rc<str>, answer: &Answer) {
    if head.method != Method::Get || head.target.len() > TARGET_BYTES_MAX || !gate.config().warm_up.recent {
        return;
    }
    let Some(answered) = answer.head() else { return };
    let is_private = answered.fields.get_all("cache-control").any(|value| {
        let value = value.to_ascii_lowercase();
        [&b"private"[..], b"no-store"].iter().any(|word| value.windows(word.len()).any(|part| part == *word))
    });
    if (200..300).contains(&answered.status) && !is_private && !answer.is_stream.get() {
        gate.recent.borrow_mut().note(class, &head.host, &head.target);
    }
}

/// Begins to warm the worker.
pub(crate) fn start(gate: &Rc<Gate>, worker: WorkerId) {
    let gate = Rc::clone(gate);
    tokio::task::spawn_local(async move {
        let outcome = run(&gate, worker).await;
        if gate.is_jammed(worker) {
            gate.jammed(worker, outcome.err().unwrap_or_else(|| "a request was not ended in time".to_owned()));
        } else {
            gate.warmed(worker, outcome);
        }
    });
}

/// # Errors
/// Why the worker must not take requests.
async fn run(gate: &Rc<Gate>, worker: WorkerId) -> Result<(), String> {
    let config = gate.config();
    let targets = targets(gate, &config);
    let deadline = Instant::now() + Duration::from_millis(config.warm_up.timeout_ms);
    let window = targets.len().max(SAMPLES_MIN);
    let mut times = Vec::new();
    let mut answered = vec![false; targets.len()];
    for (at, target) in targets.iter().enumerate().cycle().take(config.warm_up.requests_max as usize) {
        match ask(gate, &config, worker, target, deadline).await {
            Asked::Late if target.must_work && !answered[at] => {
                return Err(format!("{} was not answered within warm_up.timeout_ms", target.target));
            }
            Asked::Over | Asked::Late => return Ok(()),
            Asked::Failed(why) if target.must_work => return Err(format!("{} {why}", target.target)),
            Asked::Failed(_) => {}
            Asked::Answered(took) => {
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

fn targets(gate: &Gate, config: &Config) -> Vec<Target> {
    let host = format!("localhost:{}", gate.port());
    let named = config.warm_up.paths.iter();
    let mut targets: Vec<Target> =
        named.map(|target| Target { host: host.clone(), target: target.clone(), must_work: true }).collect();
    if config.warm_up.recent {
        targets.extend(gate.recent.borrow().targets().map(|(host, target)| Target {
            host: host.to_owned(),
            target: target.to_owned(),
            must_work: false,
        }));
    }
    targets
}

/// Whether the median of the latest service times is within a fifth of that of as many before.
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

async fn ask(gate: &Rc<Gate>, config: &Config, worker: WorkerId, target: &Target, deadline: Instant) -> Asked {
    let request = gate.next_request_id();
    let request_id = forward::new_request_id();
    let proto = if config.server.tls_cert.is_some() { "https" } else { "http" };
    let token = gate.tokens.of(request);
    let Target { host, target: path, .. } = target;
    let job = Job {
        request,
        token,
        head: Rc::new(forward::warm_up_head(path, host, proto, gate.port(), request, token, &request_id)),
        body: Body::default(),
        method: Method::Get,
        is_upgrade: false,
        class: gate.classify(&Traits {
            method: &Method::Get,
            host: &target.host,
            target: &target.target,
            body_bytes: 0,
        }),
        request_id,
        answer: gate.new_answer(),
        is_own: true,
        _pass: Pass::default(),
    };
    let answer = Rc::clone(&job.answer);
    let began = Instant::now();
    if !gate.warm_with(worker, job) {
        return Asked::Over;
    }
    let read = tokio::time::timeout_at(deadline.into(), read(&answer)).await;
    let took = began.elapsed();
    answer.abandon();
    let Ok(read) = read else { return if gate.is_warming(worker) { Asked::Late } else { Asked::Over } };
    // The slot is the worker's until it has ended the request, whatever is still read of the answer.
    while gate.is_in_service(request) {
        if Instant::now() >= deadline {
            return Asked::Late;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    match read {
        _ if !gate.is_warming(worker) => Asked::Over,
        Ok(status) if status < 500 => Asked::Answered(took),
        Ok(status) => Asked::Failed(format!("was answered with status {status}")),
        Err(why) => Asked::Failed(why),
    }
}

/// Reads the answer and throws it away. Returns its status.
async fn read(answer: &Answer) -> Result<u16, String> {
    let mut status = 0;
    let mut read_bytes = 0;
    loop {
        match answer.next() {
            None => answer.changed.wait().await,
            Some(Next::Informational(_)) => {}
            Some(Next::Head(head)) => {
                status = head.status;
                if answer.is_stream.get() {
                    return Ok(status);
                }
            }
            Some(Next::Data(data)) => read_bytes += data.len(),
            Some(Next::Spilled { .. }) => match answer.read_back(READ_BACK_BYTES).await {
                Ok(data) => read_bytes += data.len(),
                Err(error) => return Err(format!("could not be read: {error}")),
            },
            // `Draining` is for one that the worker gave back: the app was still at the one before it.
            Some(Next::End(End::Complete | End::Failed(Code::Draining))) => return Ok(status),
            Some(Next::End(End::Left)) => return Err("was left".to_owned()),
            Some(Next::End(End::Failed(code))) => return Err(format!("failed with {code}")),
        }
        if read_bytes > ANSWER_BYTES_MAX {
            return Ok(status);
        }
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
