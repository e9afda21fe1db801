//! What parts of classes and learned hosts bring: simulated days of the scheduler with classes as the gateway finds them, beside the
//! same requests with nothing in them that would tell two classes apart.
//! `cargo run --release -p sluice_classes --example pays`.

#![allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]

#[path = "../../scheduler/tests/simulation/lanes/day.rs"]
#[allow(dead_code)] // The simulation, whose they are, uses all of them.
mod day;
#[path = "../../scheduler/tests/simulation/limits.rs"]
mod limits;
#[path = "../../scheduler/tests/simulation/rng.rs"]
#[allow(dead_code)]
mod rng;
#[path = "../../scheduler/tests/simulation/lanes/toy.rs"]
#[allow(dead_code)]
mod toy;

use std::collections::HashMap;

use sluice_catalog::config::Config;
use sluice_classes::{Change, Class, Classes, Traits};
use sluice_message::Method;
use sluice_scheduler::{ClassId, RequestId, Scheduler};

use day::{Classify, run};
use limits::LIMITS;
use toy::{Day, Kind, Outcome};

/// A kind of request: its part of all, CPU milliseconds, host, path with query, and bytes of its body.
type RequestKind = (f64, f64, &'static str, &'static str, u64);

const SITE: &str = "shop.example";
const OTHER: &str = "other.example";

struct Learner {
    classes: Classes,
    asked: Vec<RequestKind>,
    held: HashMap<RequestId, Class>,
    /// Hosts, queries and bodies are left out.
    is_blind: bool,
}

impl Learner {
    /// As the gateway does it.
    fn tell(&self, scheduler: &mut Scheduler) {
        for change in self.classes.take_changes() {
            match change {
                Change::Forget(class) => scheduler.forget_class(class),
                Change::Seed(class, saved) => scheduler.restore_class(class, &saved),
            }
        }
    }
}

impl Classify for Learner {
    fn arrived(&mut self, scheduler: &mut Scheduler, request: RequestId, kind: usize) -> ClassId {
        let (_, _, mut host, target, mut body_bytes) = self.asked[kind];
        let mut target = target.replace('#', &request.0.to_string());
        if self.is_blind {
            (host, body_bytes) = (SITE, 0);
            target.truncate(target.find('?').unwrap_or(target.len()));
        }
        let class = self.classes.classify(&Traits { method: &Method::Get, host, target: &target, body_bytes });
        self.tell(scheduler);
        let id = class.id;
        self.held.insert(request, class);
        id
    }

    fn ended(&mut self, scheduler: &mut Scheduler, request: RequestId, _: usize, cost_us: u64) -> Option<ClassId> {
        let class = self.classes.measured(&self.held.remove(&request)?, cost_us);
        self.tell(scheduler);
        class
    }
}

fn table(name: &str, asked: &[RequestKind]) {
    println!("\n{name}; latencies of each kind, p50 p95 p99, in milliseconds, and the mean of all");
    let kinds: Vec<Kind> = asked.iter().map(|(share, cost_ms, ..)| Kind::known(*share, *cost_ms)).collect();
    for load in [0.5, 0.72, 0.9] {
        for (word, is_blind) in [("without", true), ("with", false)] {
            let day =
                Day { cores: 2, short_workers: 2, kinds: kinds.clone(), cut_ms: 0.0, load, requests: 100_000, seed: 7 };
            let classes = Classes::new(&Config::default());
            let learned = Learner { classes, asked: asked.to_vec(), held: HashMap::new(), is_blind };
            let (outcomes, _) = run(load, &day, LIMITS, learned);
            print!("{:>3.0} % {word:8}", load * 100.0);
            for outcome in &outcomes {
                let [p50, p95, p99] = [0.5, 0.95, 0.99].map(|q| Outcome::quantile(&outcome.latencies_ms, q));
                print!(" | {p50:>6.0} {p95:>6.0} {p99:>6.0}");
            }
            let all = || outcomes.iter().flat_map(|outcome| &outcome.latencies_ms);
            println!(" | {:>6.1}", all().sum::<f64>() / all().count() as f64);
        }
    }
}

fn main() {
    table("a key of the query", &[(0.9, 5.0, SITE, "/search?q=w#", 0), (0.1, 100.0, SITE, "/search?q=w#&facets=1", 0)]);
    table(
        "a value of the query, beside other pages",
        &[
            (0.5, 8.0, SITE, "/products/#", 0),
            (0.4, 5.0, SITE, "/list?view=short&page=#", 0),
            (0.1, 100.0, SITE, "/list?view=full&page=#", 0),
        ],
    );
    table("the size of the body", &[(0.9, 5.0, SITE, "/graphql", 300), (0.1, 100.0, SITE, "/graphql", 60_000)]);
    table("two sites", &[(0.9, 5.0, SITE, "/p/#", 0), (0.1, 100.0, OTHER, "/p/#", 0)]);
    table("two sites that cost three times as much", &[(0.7, 10.0, SITE, "/p/#", 0), (0.3, 30.0, OTHER, "/p/#", 0)]);
    table("two sites that cost alike", &[(0.5, 10.0, SITE, "/p/#", 0), (0.5, 10.0, OTHER, "/p/#", 0)]);
}
