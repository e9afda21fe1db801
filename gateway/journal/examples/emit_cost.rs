//! What telling the journal of one request costs: `cargo run --release -p sluice_journal --example emit_cost`.
//!
//! Lines go to `/dev/null` through the writer's thread, as fast as they come, so the figure holds the hand-over too.

mod record;

use std::error::Error;
use std::fs::OpenOptions;
use std::time::Duration;

use record::record;
use sluice_journal::{AccessRecord, Event, Format, Journal, Options};
use tokio::time::Instant;

const EVENTS: u32 = 1_000_000;
const ROUNDS: u32 = 5;

fn main() -> Result<(), Box<dyn Error>> {
    let classes: Vec<String> = (0..50).map(|number| format!("shop.example GET /section-{number}/:id")).collect();
    let record = record();
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
