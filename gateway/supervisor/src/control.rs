//! Control socket of the preloads in the workers: JSON lines, one connection per worker.
//!
//! Workers are input (I8): lines are bounded, unknown ones are ignored, and a worker speaks only for itself.

mod calls;
mod graph;
mod misfit;
pub(crate) mod overruns;
mod record;
mod render;
pub(crate) mod state;

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use serde_json::json;
use sluice_catalog::snapshot::{ComponentCacheSnapshot, Purge};
use sluice_journal::{Event, Level};
use sluice_observe::TailReport;
use sluice_scheduler::Event::{HoldsOne, Overweight, Weighed};
use sluice_scheduler::{Memory, RequestId, WorkerId};
use sluice_sockets::lines::{BoundedLine, Lines};
use tokio::net::{UnixListener, UnixStream};
use tokio::time::Instant;

use crate::auxiliary::{Address, Target};
use crate::gate::{CpuReport, LongRun, RoutesReport, RunsReport, Vitals};
use crate::main_server::ServerReport;
use crate::process::Process;
use crate::process::facts::{Renders, THREW_TIMEOUT, Threw};
use crate::process::filling::Memory as HeapState;
use crate::writer::Writer;
use crate::{ProcessView, Supervisor, sample};

use record::{ControlRecord, Kind, Leaving, PurgeTarget};
pub(crate) use record::{ListenAddress, ProfileRecord};

/// Longest line of a worker on the control channel, bytes; a longer one is skipped.
const LINE_BYTES_MAX: usize = 1024 * 1024;
/// Purges accepted in one line.
const PURGES_MAX: usize = 100;
/// Time between two attempts to report finished purges to a worker that does not read.
const PURGED_PAUSE: Duration = Duration::from_millis(100);
/// Longest accepted URL or tag of a purge, bytes.
const PURGE_BYTES_MAX: usize = 4096;
/// Longest accepted route template, bytes.
const ROUTE_BYTES_MAX: usize = 256;
/// Long runs accepted in one line.
const LONG_RUNS_MAX: usize = 10;

/// Places accepted in one line about routes.
const PLACES_MAX: usize = 3;
/// Longest accepted text of an exception with its place, characters.
const EXCEPTION_CHARS_MAX: usize = 500;
/// Longest accepted path of a file of the app, characters.
const FILE_CHARS_MAX: usize = 500;

/// Binds the socket and serves it.
///
/// # Errors
/// When it cannot be bound.
pub(crate) fn serve(supervisor: &Rc<Supervisor>, path: &Path) -> io::Result<()> {
    let _ = std::fs::remove_file(path);
    let listener = UnixListener::bind(path)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    let tasks = supervisor.tasks.clone();
    let supervisor = Rc::clone(supervisor);
    tasks.spawn("preloads", async move {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => {
                    supervisor.tasks.spawn("preload", converse(Rc::clone(&supervisor), stream));
                }
                Err(error) => {
                    supervisor.note(Level::Error, &format!("cannot accept a worker's control connection: {error}"));
                    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
                }
            }
        }
    });
    Ok(())
}

async fn converse(supervisor: Rc<Supervisor>, stream: UnixStream) {
    // Who speaks is the kernel's word, not the speaker's: signals go to this process.
    let pid = stream
        .peer_cred()
        .ok()
        .and_then(|peer| peer.pid())
        .and_then(|pid| u32::try_from(pid).ok())
        .filter(|pid| *pid > 1);
    let (reading, writing) = stream.into_split();
    let mut lines = Lines::new(reading, LINE_BYTES_MAX);
    let mut writing = Some(Writer::new(writing));
    let mut process: Option<Rc<Process>> = None;
    while let Ok(Some(line)) = lines.next().await {
        // The app may say anything with `process.send`, and must not lose its gateway.
        let BoundedLine::Whole(line) = line else { continue };
        let Ok(said) = serde_json::from_slice::<ControlRecord>(line) else { continue };
        if said.kind == Kind::Hello {
            if process.is_none() {
                process = supervisor.speaker(WorkerId(said.worker));
                if let Some(process) = &process {
                    supervisor.gate.reports().has_reported_all(process.worker, Instant::now());
                    process.listener_pid.set(pid);
                    misfit::tell(&supervisor, process, &said.protocol);
                    process.marks.set(said.marks);
                    process.takes_ahead.set(said.takes_ahead);
                    *process.control.borrow_mut() = writing.take();
                    render::tell_dial(&supervisor, process);
                    render::tell_overruns(&supervisor, process);
                }
            }
        } else if let Some(process) = &process {
            hear(&supervisor, process, said);
        }
    }
    if let Some(process) = &process {
        drop(process.profiled.borrow_mut().take());
        process.parts.forget();
        process.is_heard_out.notify_one();
    }
    // The process that serves has gone, even if npm or a shell above it has not noticed yet.
    if let Some(process) = process
        && process.is_ready.get()
        && !process.is_asked_to_leave.get()
    {
        process.is_dying.set(true);
        supervisor.gate.workers().faulted(process.worker);
    }
}

fn hear(supervisor: &Rc<Supervisor>, process: &Rc<Process>, said: ControlRecord) {
    // Whatever it says, its event loop turns; but only who beats is expected to go on saying something.
    if said.kind == Kind::Beat || process.last_heard.get().is_some() {
        supervisor.is_heard(process, Instant::now());
    }
    if process.profiled.borrow().is_none() {
        process.excuse.set(None);
    }
    match said.kind {
        Kind::Closing => supervisor.closing(process),
        Kind::Listening => {
            let ControlRecord { requested, tls, waited_ms, others, .. } = said;
            supervisor.found_main(&process.app, &ServerReport { requested, tls, waited_ms, others });
            supervisor.listening(process);
        }
        Kind::Aux => {
            let Some(address) = Address::new(said.port, said.host, said.path) else { return };
            let (worker, takes_preface) = (process.worker, said.preface);
            supervisor.auxiliaries.add(&address, Target { worker, socket: said.socket.into(), takes_preface });
        }
        Kind::AuxClosed => supervisor.auxiliaries.remove(process.worker, said.socket.as_ref()),
        Kind::Done => hear_done(supervisor, process, &said),
        Kind::Idle => supervisor.gate.reports().idle(process.worker),
        Kind::AsksItself => hear_own_call(supervisor, process, &said),
        Kind::Busy => supervisor.gate.reports().busy(process.worker, RequestId(said.id), RequestId(said.by)),
        Kind::Overlong => tell_overlong(supervisor, process, &said),
        Kind::Raw => supervisor.gate.workers().writes_raw(process.worker, said.dropped_bytes),
        Kind::Runs => {
            let ControlRecord { counts, time_us, observed_us, collections, collected_us, long, .. } = &said;
            // The run in which it is killed is told with what was found then.
            let is_examined = process.is_examined.get();
            let told = RunsReport {
                counts,
                time_us,
                observed_us: *observed_us,
                collections: *collections,
                collected_us: *collected_us,
                long: long.iter().filter(|_| !is_examined).take(LONG_RUNS_MAX).map(long_run).collect(),
            };
            supervisor.gate.reports().runs(process.worker, &told);
        }
        Kind::RoutesGrown => {
            let places = said.places.iter().take(PLACES_MAX);
            let places = places.map(|adder| (excerpt(&adder.file, FILE_CHARS_MAX), adder.line, adder.added)).collect();
            let told = RoutesReport { size: said.size, added: said.added, places };
            supervisor.gate.reports().routes_grown(process.worker, &told);
        }
        Kind::Threw => hear_thrown(process, &said),
        Kind::Turn => supervisor.gate.reports().has_reported_all(process.worker, Instant::now()),
        Kind::Beat => hear_beat(supervisor, process, &said),
        Kind::Memory => hear_memory(supervisor, process, &said),
        Kind::React => {
            let ControlRecord { renders, reasons, .. } = said;
            supervisor.heard_renders(process, Renders { renders, reasons });
        }
        Kind::ComponentCache => {
            let ControlRecord { hits, misses, evictions, entries, bytes, bytes_max, .. } = said;
            let now = ComponentCacheSnapshot {
                hits_total: hits,
                misses_total: misses,
                evictions_total: evictions,
                entries,
                bytes,
                bytes_max,
            };
            supervisor.heard_component_cache(process, now);
        }
        Kind::ReactOff => supervisor.heard_react_off(process, &said.why),
        Kind::KeepsState => supervisor.heard_state(process, &said),
        Kind::Rendered => render::hear(supervisor, process, &said),
        Kind::Graph => supervisor.gate.reports().used_graph(&graph::told(&said)),
        Kind::Called => supervisor.gate.reports().called(process.worker, &calls::told(&said)),
        Kind::Overrun => render::hear_overrun(supervisor, process, &said),
        Kind::Tailed => {
            let ControlRecord { id, file, file_bytes, used_us, service_us, overhead_us, .. } = said;
            let request = RequestId(id);
            let told = TailReport { request, file, bytes: file_bytes, used_us, service_us, overhead_us };
            supervisor.gate.reports().has_profiled(process.worker, told);
        }
        Kind::Profiled => {
            process.heard_profile(said.number, said.taken, said.error.as_deref().unwrap_or_default());
        }
        Kind::Purge => purge(supervisor, process, said.serial, &said.purges),
        Kind::PartsPurged => process.parts.heard(said.serial, |line| process.say(line)),
        Kind::HearsMessages => process.hears_messages.set(true),
        Kind::Breathes => supervisor.breathes(process, Instant::now()),
        Kind::Look => process.heard_look(said.rests, said.run_us, said.active_us),
        Kind::Resets => supervisor.gate.tell(HoldsOne { worker: process.worker }),
        // Of what the app says with `process.send`, this one word means something; it is the one that pm2 knows too.
        Kind::Send if said.message == "ready" => supervisor.said_ready(process),
        // Nothing else that an app says means anything, `hello` was heard, and the last is of a version that knows more.
        Kind::InspectorClosed => process.filling.inspector_has_closed(),
        Kind::Send | Kind::Hello | Kind::Unknown => {}
    }
}

/// Handles requests that the app has finished or released.
fn hear_done(supervisor: &Supervisor, process: &Process, said: &ControlRecord) {
    for done in &said.requests {
        match done.left {
            Leaving::Upgrade | Leaving::Stream => {
                supervisor.gate.reports().app_took(process.worker, RequestId(done.id));
            }
            Leaving::Wait => supervisor.gate.reports().waits_on(process.worker, RequestId(done.id)),
            Leaving::End | Leaving::Abandoned | Leaving::Unknown => {}
        }
        let route = done.route.as_deref().filter(|route| route.len() <= ROUTE_BYTES_MAX);
        let cpu_us = (!done.shared).then_some(done.cpu_us);
        process.unreported.borrow_mut().told(cpu_us.unwrap_or(0));
        let longest = done.longest.as_ref().map(long_run);
        let weight = done.weight.map(|weight| u32::try_from(weight).unwrap_or(u32::MAX));
        let reported = CpuReport { cpu_us, weight, route, runs: &done.runs, longest, handler_us: done.handler_us };
        supervisor.gate.reports().reported(process.worker, RequestId(done.id), &reported);
    }
    for id in &said.ended {
        supervisor.gate.reports().reported(process.worker, RequestId(*id), &CpuReport::default());
    }
}

/// Records an uncaught exception. Of several, the first one counts, because the others follow from it.
fn hear_thrown(process: &Process, said: &ControlRecord) {
    process.unreported.borrow_mut().used(said.cpu_us_total);
    let mut threw = process.threw.borrow_mut();
    if threw.as_ref().is_none_or(|threw| threw.at.elapsed() > THREW_TIMEOUT) {
        let request = (said.id > 0).then_some(RequestId(said.id));
        *threw = Some(Threw { at: Instant::now(), text: excerpt(&said.text, EXCEPTION_CHARS_MAX).to_owned(), request });
    }
}

/// Carries out purges for the app, and reports to it when all are done.
fn purge(supervisor: &Supervisor, process: &Rc<Process>, serial: u64, wanted: &[PurgeTarget]) {
    let wanted = wanted.iter().take(PURGES_MAX);
    let purges: Vec<_> =
        wanted.map(|wanted| meant(wanted).map(|purge| supervisor.gate.purge(&purge, wanted.soft))).collect();
    let process = Rc::clone(process);
    supervisor.tasks.spawn("purge", async move {
        let mut counts = Vec::with_capacity(purges.len());
        for purge in purges {
            counts.push(match purge {
                Some(count) => count.await.unwrap_or_default(),
                None => 0,
            });
        }
        let answer = json!({ "type": "purged", "serial": serial, "counts": counts }).to_string();
        // The app waits for it, and asks for nothing more before.
        while !process.say(&answer) && !process.has_exited.get() {
            tokio::time::sleep(PURGED_PAUSE).await;
        }
    });
}

/// Purge that the app asked for; `None` if it names nothing, or a name is too long.
fn meant(wanted: &PurgeTarget) -> Option<Purge> {
    let fine = |text: &Option<String>| text.clone().filter(|text| (1..=PURGE_BYTES_MAX).contains(&text.len()));
    match (fine(&wanted.url), fine(&wanted.prefix), fine(&wanted.tag)) {
        (Some(url), ..) => Some(Purge::Url(url)),
        (_, Some(prefix), _) => Some(Purge::Prefix(prefix)),
        (.., Some(tag)) => Some(Purge::Tag(tag)),
        _ => wanted.all.then_some(Purge::All),
    }
}

fn long_run(said: &record::LongRun) -> LongRun {
    let record::LongRun { us, collected_us, cpu_us, queued_us, ago_ms, id } = *said;
    let part = |part_us: Option<u64>| part_us.map(|part_us| part_us.min(us));
    let request = id.map(RequestId);
    LongRun {
        us,
        collected_us: collected_us.min(us),
        cpu_us: part(cpu_us),
        queued_us: part(queued_us),
        ago_ms,
        request,
    }
}

/// Reports an answer that exceeded its Content-Length. The preload cuts it, because the excess would be read as the
/// start of another answer.
fn tell_overlong(supervisor: &Supervisor, process: &Process, said: &ControlRecord) {
    let ControlRecord { request, method, target, bytes, more, .. } = said;
    let (request, target) = (excerpt(request, 128), excerpt(target, 256));
    let more = if *more == 0 { String::new() } else { format!(" ({more} more such answers before)") };
    let text = format!(
        "request {request} at worker {} ({method} {target}): the app wrote {bytes} bytes more than its \
         Content-Length; Sluice dropped them. Compute the length in bytes: Buffer.byteLength(text){more}",
        process.worker.0
    );
    supervisor.note(Level::Warn, &text);
}

/// The first `chars_max` characters.
fn excerpt(text: &str, chars_max: usize) -> &str {
    text.char_indices().nth(chars_max).map_or(text, |(end, _)| &text[..end])
}

/// Reports the time for which the main thread was awake since the last beat. The event loop counts waiting for a CPU
/// after a wake-up as idle, and the kernel counts waiting for a child as sleep. So the thread slept only as long as
/// both say.
fn tell_sleep(supervisor: &Supervisor, process: &Process, elu: f64) {
    let now = Instant::now();
    let sample = process.listener_pid.get().and_then(sample::main_thread).filter(|sample| sample.is_exact);
    let before = process.beaten.replace(Some((now, sample)));
    let Some((then, sample_then)) = before else { return };
    let elapsed = now.saturating_duration_since(then);
    let turned = elapsed.mul_f64(elu.clamp(0.0, 1.0));
    let wanted = sample
        .zip(sample_then)
        .map(|(sample, then)| Duration::from_micros(sample.wanted_us.saturating_sub(then.wanted_us)));
    supervisor.gate.reports().was_awake(process.worker, elapsed, turned.max(wanted.unwrap_or_default()));
}

/// Reports a connection of the app to the gateway itself.
fn hear_own_call(supervisor: &Supervisor, process: &Process, said: &ControlRecord) {
    if let Some(port) = said.port {
        supervisor.gate.workers().asks_itself(process.worker, port, said.closed);
    }
}

/// Reports memory, which limits parked requests: the worker's heap, and its share of the memory of the machine or
/// cgroup.
fn hear_memory(supervisor: &Supervisor, process: &Process, said: &ControlRecord) {
    let worker = process.worker;
    let weigh = |memory, used_bytes, limit_bytes| {
        if limit_bytes > 0 {
            supervisor.gate.tell(Weighed { worker, memory, used_bytes, limit_bytes });
        }
    };
    process.filling.memory.set(HeapState {
        heap_used: said.heap_used_bytes,
        heap_max: said.heap_bytes_max,
        resident: said.rss_bytes,
        is_closed: said.handles_sigusr1,
    });
    weigh(Memory::Heap, said.heap_used_bytes, said.heap_bytes_max);
    weigh(Memory::Resident, said.rss_bytes, supervisor.resident_bytes_max());
}

fn hear_beat(supervisor: &Supervisor, process: &Process, said: &ControlRecord) {
    supervisor.gate.reports().has_reported_all(process.worker, Instant::now());
    // It reads again, after whatever held it up.
    if let Some(control) = &*process.control.borrow() {
        control.finish();
    }
    process.parts.tell(|line| process.say(line));
    render::tell_dial(supervisor, process);
    render::tell_overruns(supervisor, process);
    tell_sleep(supervisor, process, said.elu);
    process.cpu.set(process.cpu.get().with(Instant::now(), said.cpu_us_total));
    process.unreported.borrow_mut().beat(said.cpu_us_total);
    let delay = Duration::try_from_secs_f64(said.loop_delay_ms_max / 1000.0).unwrap_or_default();
    process.turns.borrow_mut().hear(Instant::now(), said.elu, delay);
    let mut delays = supervisor.loop_delays.get();
    delays.count(delay);
    supervisor.loop_delays.set(delays);
    process.vitals.set(ProcessView {
        pid: None,
        cpu: None,
        heard: None,
        rss_bytes: Some(said.rss_bytes),
        #[allow(clippy::cast_precision_loss)] // CPU times are far below 2^53 µs.
        cpu_ms_total: Some(said.cpu_us_total as f64 / 1000.0),
        heap_used_bytes: Some(said.heap_used_bytes),
        // The process adds what its event loop did.
        event_loop_utilization: None,
        event_loop_delay_max: None,
        gc_share: said.gc_share.map(|share| share.clamp(0.0, 1.0)),
        lost_share: said.lost_share.map(|share| share.clamp(0.0, 1.0)),
    });
    if let Some(pid) = process.listener_pid.get() {
        let (rss_bytes, heap_used_bytes) = (said.rss_bytes, said.heap_used_bytes);
        supervisor.gate.reports().beats(process.worker, Vitals { pid, rss_bytes, heap_used_bytes });
    }
    let memory_bytes_max = supervisor.gate.config().recycle.memory_bytes_max;
    let is_over = memory_bytes_max > 0 && said.rss_bytes > memory_bytes_max;
    if is_over && process.is_ready.get() && !process.is_overweight.replace(true) {
        supervisor.gate.tell(Overweight { worker: process.worker });
    }
    let overlaps = said.overlaps_total;
    let before = process.overlaps_total.replace(overlaps);
    if overlaps > before {
        supervisor.journal.emit(Event::OverlapSeen { worker: process.worker.0, count: overlaps - before });
    }
}
