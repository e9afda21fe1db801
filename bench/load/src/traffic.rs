//! One request's life in the generator: pick a route, perhaps plan to give up, send, wait, count.
//!
//! It does not decide when a request is sent; `closed` and `open` do.

use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::time::timeout;

use crate::client::{Answer, Connection, Failure};
use crate::plan::Plan;
use crate::random::Random;
use crate::tally::{Outcome, Tally};

struct PreparedRoute {
    class: String,
    is_head: bool,
    /// Request line and headers, without the empty line that ends them.
    head: Vec<u8>,
    body: Vec<u8>,
    answer_bytes: Option<u64>,
    /// Sum of the weights up to and including this one.
    weight_until: f64,
}

impl PreparedRoute {
    /// A success counts only with the whole body that the plan expects.
    fn outcome(&self, answer: &Answer) -> Outcome {
        let is_success = (200..400).contains(&answer.status);
        if is_success && self.answer_bytes.is_some_and(|bytes| bytes != answer.body_bytes) {
            return Outcome::Failed("wrong_length");
        }
        Outcome::Answered { status: answer.status, body_bytes: answer.body_bytes, queue: answer.queue }
    }
}

/// State that all connections of a run share.
pub struct Traffic {
    /// The plan in force.
    pub plan: Plan,
    /// Counts of all requests that have ended.
    pub tally: RefCell<Tally>,
    routes: Vec<PreparedRoute>,
    random: Random,
    next_id: Cell<u64>,
    next_target: Cell<usize>,
}

struct Draw {
    route: usize,
    id: u64,
    give_up: Option<GiveUp>,
}

#[derive(Clone, Copy)]
struct GiveUp {
    after: Duration,
    with_reset: bool,
}

impl Traffic {
    /// Prepares the bytes of every route.
    pub fn new(plan: Plan, keep_alive: bool) -> Self {
        let host = plan.targets[0];
        let mut weight_until = 0.0;
        let routes = plan
            .routes
            .iter()
            .map(|route| {
                weight_until += route.weight;
                let mut head = format!("{} {} HTTP/1.1\r\nhost: {host}\r\naccept: */*\r\n", route.method, route.path);
                for (name, value) in &route.headers {
                    head.extend([name, ": ", value, "\r\n"]);
                }
                let body = match route.body.as_bytes() {
                    [] => vec![b'x'; route.body_bytes],
                    given => given.to_vec(),
                };
                if !body.is_empty() {
                    head.extend(["content-length: ", &body.len().to_string(), "\r\n"]);
                }
                if !keep_alive {
                    head += "connection: close\r\n";
                }
                PreparedRoute {
                    class: route.class.clone(),
                    is_head: route.method == "HEAD",
                    head: head.into_bytes(),
                    body,
                    answer_bytes: route.answer_bytes,
                    weight_until,
                }
            })
            .collect();
        let random = Random::new(plan.seed);
        let tally = Tally::new(Instant::now(), plan.samples);
        Self { plan, tally: RefCell::new(tally), routes, random, next_id: Cell::new(1), next_target: Cell::new(0) }
    }

    /// Targets in turn.
    pub fn next_target(&self) -> usize {
        let at = self.next_target.get();
        self.next_target.set((at + 1) % self.plan.targets.len());
        at
    }

    /// Makes one request on the connection in `slot`, or on a new one that is left there if it may be used again.
    /// Latency counts from `from`.
    pub async fn request(&self, slot: &mut Option<Connection>, target: SocketAddr, from: Instant) {
        let draw = self.draw();
        let bytes = self.render(&draw);
        let route = &self.routes[draw.route];
        let limit = Duration::from_millis(self.plan.timeout_ms);
        let patience = draw.give_up.map_or(limit, |give_up| give_up.after.min(limit));
        self.tally.borrow_mut().sent += 1;

        let attempt = self.attempt(slot, target, &bytes, route.is_head);
        let outcome = match timeout(patience, attempt).await {
            Ok(Ok(answer)) => {
                if !answer.keep_alive {
                    *slot = None;
                }
                // A refusal or an error page may come from the front, which cannot know the id.
                if self.plan.check_echo && answer.status == 200 && answer.load_id != Some(draw.id) {
                    self.tally.borrow_mut().mixed_up();
                }
                route.outcome(&answer)
            }
            Ok(Err(failure)) => {
                *slot = None;
                Outcome::Failed(failure.name())
            }
            Err(_) => match (slot.take(), draw.give_up) {
                (connection, Some(give_up)) => {
                    if let Some(connection) = connection.filter(|_| give_up.with_reset) {
                        connection.reset();
                    }
                    Outcome::Aborted
                }
                (_, None) => Outcome::Failed("timeout"),
            },
        };
        self.tally.borrow_mut().end(&route.class, outcome, from, Instant::now());
    }

    /// An arrival for which no connection was left.
    pub fn generator_limit(&self, from: Instant) {
        let class = &self.routes[self.draw().route].class;
        self.tally.borrow_mut().end(class, Outcome::Failed("generator_limit"), from, Instant::now());
    }

    async fn attempt(
        &self,
        slot: &mut Option<Connection>,
        target: SocketAddr,
        bytes: &[u8],
        is_head: bool,
    ) -> Result<Answer, Failure> {
        if !self.plan.resend && slot.as_mut().is_some_and(Connection::is_closed) {
            *slot = None;
        }
        if let Some(connection) = slot.as_mut() {
            // A server may close a kept connection at any moment. Browsers then send again on a new one; so does this,
            // and counts it, since it also hides a server that dropped the request.
            match connection.exchange(bytes, is_head).await {
                Err(Failure::Closed) if connection.used && self.plan.resend => {
                    self.tally.borrow_mut().stale_retries += 1;
                }
                result => return result,
            }
        }
        self.tally.borrow_mut().connections += 1;
        slot.insert(Connection::open(target).await?).exchange(bytes, is_head).await
    }

    fn draw(&self) -> Draw {
        let total = self.routes.last().map_or(0.0, |route| route.weight_until);
        let at = self.random.unit() * total;
        let route = self.routes.partition_point(|route| route.weight_until <= at).min(self.routes.len() - 1);
        let give_up = self.plan.abort.as_ref().filter(|abort| self.random.unit() < abort.fraction).map(|abort| {
            let after_ms = abort.after_ms_min + self.random.unit() * (abort.after_ms_max - abort.after_ms_min);
            GiveUp {
                after: Duration::from_secs_f64(after_ms / 1000.0),
                with_reset: self.random.unit() < abort.reset_fraction,
            }
        });
        let id = self.next_id.get();
        self.next_id.set(id + 1);
        Draw { route, id, give_up }
    }

    fn render(&self, draw: &Draw) -> Vec<u8> {
        let route = &self.routes[draw.route];
        let mut bytes = Vec::with_capacity(route.head.len() + 64 + route.body.len());
        bytes.extend_from_slice(&route.head);
        if self.plan.check_echo {
            bytes.extend_from_slice(format!("x-load-id: {}\r\n", draw.id).as_bytes());
        }
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(&route.body);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(status: u16, body_bytes: u64) -> Outcome {
        let plan = r#"{"targets":["127.0.0.1:1"],"routes":[{"path":"/","answer_bytes":5}],
            "mode":{"kind":"closed","connections":1,"requests":1}}"#;
        let traffic = Traffic::new(Plan::parse(plan).unwrap(), true);
        traffic.routes[0].outcome(&Answer { status, body_bytes, keep_alive: true, load_id: None, queue: None })
    }

    #[test]
    fn a_success_with_another_body_than_expected_is_a_failure() {
        assert!(matches!(outcome(200, 5), Outcome::Answered { status: 200, .. }));
        assert!(matches!(outcome(200, 4), Outcome::Failed("wrong_length")));
        assert!(matches!(outcome(200, 0), Outcome::Failed("wrong_length")));
    }

    #[test]
    fn an_error_page_keeps_its_status_whatever_its_length() {
        assert!(matches!(outcome(502, 157), Outcome::Answered { status: 502, .. }));
    }
}
