//! What a thread for the journal would cost and gain, CPU time per request:
//! `cargo run --release -p sluice_journal --example thread_cost`. Linux only. See decision 0130.
//!
//! Requests end at a steady rate, as on a busy gateway. In place, the thread that serves writes each line. Apart, it gives
//! records away in batches, and another thread writes the lines: one wake-up for many records.

mod record;

use std::error::Error;
use std::fs::{self, OpenOptions};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::Duration;

use sluice_journal::{AccessRecord, Event, Journal, Options};
use tokio::time::Instant;

/// How long the serving thread sleeps between turns.
const TURN: Duration = Duration::from_millis(1);
const SECONDS: u32 = 4;
/// A batch is given away when it has so many records.
const BATCH_MAX: usize = 64;
/// Or when its oldest record has waited for so many turns.
const TURNS_MAX: u32 = 5;
/// Batches that may wait.
const QUEUE_MAX: usize = 64;
/// Time between two hand-overs of lines to the journal's writer, as in the gateway.
const FLUSH_AFTER: Duration = Duration::from_millis(50);

/// What the road knows of a request when it has ended.
struct Record {
    request_id: Arc<str>,
    target: String,
    host: String,
    class: Arc<str>,
    number: u32,
}

fn record(number: u32, classes: &[Arc<str>]) -> Record {
    Record {
        request_id: "0198c0de-7e57-4a11-8000-00000000002a".into(),
        target: format!("/section-{}/4711?colour=red&size=xl&page=2", number % 50),
        host: "shop.example".to_owned(),
        class: Arc::clone(&classes[number as usize % classes.len()]),
        number,
    }
}

fn emit(journal: &Journal, record: &Record) {
    journal.emit(Event::Access(AccessRecord {
        time_unix_ms: 1_767_225_599_500 + u64::from(record.number / 100),
        request_id: &record.request_id,
        target: &record.target,
        host: &record.host,
        class: &record.class,
        ..record::record()
    }));
}

fn journal() -> Result<Journal, Box<dyn Error + Send + Sync>> {
    Ok(Journal::new(Options::default(), OpenOptions::new().write(true).open("/dev/null")?)?)
}

fn flush(journal: &Journal, flushed: &mut Instant) {
    if flushed.elapsed() >= FLUSH_AFTER {
        *flushed = Instant::now();
        journal.flush();
    }
}

/// CPU time of this thread, nanoseconds.
fn cpu_ns() -> Result<u64, Box<dyn Error + Send + Sync>> {
    let told = fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(told.split(' ').next().unwrap_or_default().parse()?)
}

/// Ends so many requests in each turn.
fn serve(by_turn: u32, mut turn: impl FnMut(Option<Record>)) -> Result<u64, Box<dyn Error + Send + Sync>> {
    let classes: Vec<Arc<str>> =
        (0..50).map(|number| format!("shop.example GET /section-{number}/:id").into()).collect();
    let (started, before) = (Instant::now(), cpu_ns()?);
    for nth in 0..SECONDS * 1000 {
        for number in 0..by_turn {
            turn(Some(record(nth * by_turn + number, &classes)));
        }
        turn(None);
        let next = TURN * (nth + 1);
        thread::sleep(next.saturating_sub(started.elapsed()));
    }
    Ok(cpu_ns()? - before)
}

fn in_place(by_turn: u32) -> Result<(u64, u64), Box<dyn Error + Send + Sync>> {
    let (journal, mut flushed) = (journal()?, Instant::now());
    let cpu_ns = serve(by_turn, |record| match record {
        Some(record) => emit(&journal, &record),
        None => flush(&journal, &mut flushed),
    })?;
    Ok((cpu_ns, 0))
}

fn apart(by_turn: u32) -> Result<(u64, u64), Box<dyn Error + Send + Sync>> {
    let (give, take): (_, Receiver<Vec<Record>>) = sync_channel(QUEUE_MAX);
    let (give_back, take_back) = sync_channel(QUEUE_MAX);
    let observer = thread::spawn(move || -> Result<u64, Box<dyn Error + Send + Sync>> {
        let (journal, mut flushed, before) = (journal()?, Instant::now(), cpu_ns()?);
        for mut batch in take {
            batch.drain(..).for_each(|record| emit(&journal, &record));
            flush(&journal, &mut flushed);
            let _ = give_back.try_send(batch);
        }
        Ok(cpu_ns()? - before)
    });
    let mut batch = Vec::with_capacity(BATCH_MAX);
    let mut turns = 0;
    let hand_over = |batch: &mut Vec<Record>| {
        let next = take_back.try_recv().unwrap_or_else(|_| Vec::with_capacity(BATCH_MAX));
        give.send(std::mem::replace(batch, next)).is_ok()
    };
    let cpu_ns = serve(by_turn, |record| {
        let is_turn = record.is_none();
        batch.extend(record);
        turns += u32::from(is_turn);
        if batch.len() >= BATCH_MAX || turns >= TURNS_MAX && !batch.is_empty() {
            hand_over(&mut batch);
            turns = 0;
        }
    })?;
    drop(give);
    let observer_ns = observer.join().map_err(|_| "the observer has panicked")??;
    Ok((cpu_ns, observer_ns))
}

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    for by_turn in [5, 20, 60] {
        let count = f64::from(by_turn * SECONDS * 1000);
        let idle_ns = serve(by_turn, drop)?;
        for (name, run) in [("in place", in_place as fn(u32) -> _), ("apart", apart)] {
            let (mut serving, mut observing) = (f64::MAX, f64::MAX);
            for _ in 0..3 {
                let (serving_ns, observing_ns) = run(by_turn)?;
                #[allow(clippy::cast_precision_loss)] // Far below 2^53.
                let each = |ns: u64| ns as f64 / count;
                serving = serving.min(each(serving_ns.saturating_sub(idle_ns)));
                observing = observing.min(each(observing_ns));
            }
            println!(
                "{} requests a second, {name}: {serving:.0} ns of the serving thread, {observing:.0} ns of the other, {:.0} in all",
                by_turn * 1000,
                serving + observing
            );
        }
    }
    Ok(())
}
