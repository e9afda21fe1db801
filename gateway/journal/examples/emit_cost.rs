//! What telling the journal of one request costs: `cargo run --release -p sluice_journal --example emit_cost`.
//!
//! Lines go to `/dev/null` through the writer's thread, as fast as they come, so the figure holds the hand-over too.

use std::error::Error;
use std::fs::OpenOptions;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use sluice_journal::{AccessRecord, Event, Format, Journal, Options, Outcome, Step};
use tokio::time::Instant;

const EVENTS: u32 = 1_000_000;
const ROUNDS: u32 = 5;

fn main() -> Result<(), Box<dyn Error>> {
    let classes: Vec<String> = (0..50).map(|number| format!("shop.example GET /section-{number}/:id")).collect();
    let record = AccessRecord {
        time_unix_ms: 1_767_225_599_500,
        request_id: "0198c0de-7e57-4a11-8000-00000000002a",
        method: "GET",
        target: "/section-12/4711?colour=red&size=xl&page=2",
        host: "shop.example",
        class: "",
        worker: Some(3),
        tries: 1,
        session: None,
        cache: None,
        includes: None,
        step: Some(Step::Render),
        status: 200,
        error: None,
        bytes_in: 0,
        bytes_out: 18_222,
        receive_ms: 0.041,
        queue_ms: Some(1.534),
        unserved_ms: None,
        service_ms: Some(12.251),
        total_ms: 13.912,
        cpu_ms: Some(11.755),
        cpu_weight: 1,
        outcome: Outcome::Answered,
        peer: IpAddr::V4(Ipv4Addr::new(203, 0, 113, 9)),
        trace_id: Some(0x0af7_6519_16cd_43dd_8448_eb21_1c80_319c),
        headers: &[],
        is_traced: false,
    };
    for (name, format, access) in [
        ("JSON access log", Format::Json, true),
        ("readable access log", Format::Text, true),
        ("access log off", Format::Json, false),
    ] {
        let out = OpenOptions::new().write(true).open("/dev/null")?;
        let journal = Journal::new(Options { format, access, ..Options::default() }, out)?;
        let mut best = Duration::MAX;
        for _ in 0..ROUNDS {
            let started = Instant::now();
            for (number, class) in (0..EVENTS).zip(classes.iter().cycle()) {
                let time_unix_ms = record.time_unix_ms + u64::from(number / 100);
                journal.emit(Event::Access(AccessRecord { class, time_unix_ms, ..record }));
            }
            best = best.min(started.elapsed());
        }
        journal.close(Duration::from_secs(10));
        println!("{name}: {:.0} ns per request (best of {ROUNDS})", best.as_secs_f64() * 1e9 / f64::from(EVENTS));
    }
    Ok(())
}
