//! One worker's process: what is known of it, and the signals that it gets. It must not know the supervisor.

mod cpu;
pub(crate) mod known;
pub(crate) mod life;
pub(crate) mod turns;

use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;
use std::time::Duration;

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use sluice_catalog::snapshot::ComponentCacheSnapshot;
use sluice_scheduler::{KillReason, WorkerId};
use tokio::sync::{Notify, oneshot, watch};

use crate::forensics::Inspector;
use crate::output::Tail;
use crate::parts::Parts;
use crate::priority::{self, Priority};
use crate::writer::Writer;
use crate::{App, ProcessView, sample};
use cpu::CpuLately;
use known::{Answer, Asked, Excuse, Renders, Threw, Track, Trouble, Unreported};
use tokio::time::Instant;
use turns::Turns;

/// How long npm or a shell may outlive the process that served below it.
const FOLLOW_TIMEOUT: Duration = Duration::from_millis(300);

/// How long a worker whose main thread is blocked may continue before it is ended: what it ran is told when that is
/// over.
const LAST_WORD_TIMEOUT: Duration = Duration::from_secs(1);

/// What a worker has reported holds for so long; four reports a second come.
const REPORTS_WITHIN: Duration = Duration::from_secs(1);

/// How often is looked whether a worker's last stream has ended.
const LOOK_EVERY: Duration = Duration::from_millis(20);

pub(crate) struct Process {
    pub(crate) worker: WorkerId,
    pub(crate) app: Rc<App>,
    pub(crate) pid: u32,
    pub(crate) started: Instant,
    /// What it has from when it listens, unless it is lowered.
    pub(crate) priority: Priority,
    /// The process that listens, where that is not the one that was started.
    pub(crate) listener_pid: Cell<Option<u32>>,
    /// Heads of its answers carry the tokens of their requests, by the word of its preload.
    pub(crate) marks: Cell<bool>,
    /// It may get requests ahead of time, by the same word.
    pub(crate) takes_ahead: Cell<bool>,
    /// Its server listens.
    pub(crate) listens: Cell<bool>,
    /// It is not ready before the app has said so.
    pub(crate) waits_for_word: Cell<bool>,
    pub(crate) is_ready: Cell<bool>,
    /// Its process id may be another's by now.
    pub(crate) has_exited: Cell<bool>,
    pub(crate) is_asked_to_leave: Cell<bool>,
    /// Its control connection has ended without its being asked to leave: it is dying, whatever it is told now.
    pub(crate) is_dying: Cell<bool>,
    pub(crate) was_killed: Cell<Option<KillReason>>,
    /// The gateway has killed what was left of it after the process that served had ended by itself.
    pub(crate) rest_was_killed: Cell<bool>,
    /// When its last beat came, and what its main thread had wanted of the CPU until then, where the kernel tells.
    pub(crate) beaten: Cell<Option<(Instant, Option<u64>)>>,
    /// What the preload last said of it.
    pub(crate) vitals: Cell<ProcessView>,
    /// How its event loop turned.
    pub(crate) turns: RefCell<Turns>,
    pub(crate) overlaps_total: Cell<u64>,
    /// Its memory was told to be over the limit.
    pub(crate) is_overweight: Cell<bool>,
    /// How often in a row its socket was looked for and not found.
    pub(crate) lost_looks: Cell<u32>,
    /// When it last said anything, once it beats.
    pub(crate) last_heard: Cell<Option<Instant>>,
    pub(crate) cpu: Cell<CpuLately>,
    /// The samples of its main thread since then.
    pub(crate) track: Cell<Option<Track>>,
    /// It was told to be overdue, after so long without a word, and has said nothing since.
    pub(crate) overdue: Cell<Option<Duration>>,
    /// It has its priority again, before its time is over.
    pub(crate) is_spared: Cell<bool>,
    /// Why it is examined.
    pub(crate) trouble: Cell<Option<Trouble>>,
    /// It is looked into, and killed afterwards.
    pub(crate) is_examined: Cell<bool>,
    /// What its stderr has said of its inspector.
    pub(crate) inspector: watch::Receiver<Inspector>,
    /// The way to the preload, once it has said hello.
    pub(crate) control: RefCell<Option<Writer>>,
    /// The end of what it wrote to stderr.
    pub(crate) tail: Rc<RefCell<Tail>>,
    /// How it ended, in words, once all that it wrote has been read.
    pub(crate) ended_as: RefCell<Option<String>>,
    /// The app listens to 'message'.
    pub(crate) hears_messages: Cell<bool>,
    /// What its preload was asked of its main thread.
    pub(crate) asked: Cell<Asked>,
    /// Until when its main thread is in a loop that lets others in, as far as is known.
    pub(crate) breathes_until: Cell<Option<Instant>>,
    /// It has been granted a request since it said so.
    pub(crate) is_breath_taken: Cell<bool>,
    /// What it has last said of its React renders.
    pub(crate) react: RefCell<Renders>,
    /// What it has last said of its component cache.
    pub(crate) component_cache: Cell<ComponentCacheSnapshot>,
    /// The version of the dial that it was told last.
    pub(crate) dial_told: Cell<u64>,
    /// The version of the counts of overruns that it was told last.
    pub(crate) overruns_told: Cell<u64>,
    /// How many lines about overruns it has sent.
    pub(crate) overruns_heard: Cell<u64>,
    /// What it is still to purge of the parts of pages that it keeps.
    pub(crate) parts: Parts,
    /// Whoever waits for a profile of it, by the number of what was asked.
    pub(crate) profiled: RefCell<Option<(u64, oneshot::Sender<Answer>)>>,
    /// How many profiles it was asked for.
    pub(crate) profile_number: Cell<u64>,
    /// It may stand still, because it was asked for what takes long.
    pub(crate) excuse: Cell<Option<Excuse>>,
    /// The latest exception that nothing in the app caught.
    pub(crate) threw: RefCell<Option<Threw>>,
    /// CPU time of which no request was told.
    pub(crate) unreported: RefCell<Unreported>,
    /// All that the preload has said is read. Told once, where there was a preload.
    pub(crate) is_heard_out: Notify,
}

impl Process {
    /// A process that has just been started.
    pub(crate) fn new(
        worker: WorkerId,
        app: Rc<App>,
        pid: u32,
        priority: Priority,
        waits_for_word: bool,
        inspector: watch::Receiver<Inspector>,
    ) -> Self {
        Process {
            worker,
            app,
            pid,
            started: Instant::now(),
            priority,
            listener_pid: Cell::new(None),
            marks: Cell::new(false),
            takes_ahead: Cell::new(false),
            listens: Cell::new(false),
            waits_for_word: Cell::new(waits_for_word),
            is_ready: Cell::new(false),
            has_exited: Cell::new(false),
            is_asked_to_leave: Cell::new(false),
            is_dying: Cell::new(false),
            was_killed: Cell::new(None),
            rest_was_killed: Cell::new(false),
            beaten: Cell::new(None),
            vitals: Cell::default(),
            turns: RefCell::default(),
            overlaps_total: Cell::new(0),
            is_overweight: Cell::new(false),
            lost_looks: Cell::new(0),
            last_heard: Cell::new(None),
            cpu: Cell::default(),
            track: Cell::default(),
            overdue: Cell::new(None),
            is_spared: Cell::new(false),
            trouble: Cell::default(),
            is_examined: Cell::new(false),
            inspector,
            control: RefCell::default(),
            tail: Rc::default(),
            ended_as: RefCell::default(),
            hears_messages: Cell::new(false),
            asked: Cell::default(),
            breathes_until: Cell::default(),
            is_breath_taken: Cell::default(),
            react: RefCell::default(),
            component_cache: Cell::default(),
            dial_told: Cell::default(),
            overruns_told: Cell::default(),
            overruns_heard: Cell::default(),
            parts: Parts::default(),
            profiled: RefCell::default(),
            profile_number: Cell::default(),
            excuse: Cell::default(),
            threw: RefCell::default(),
            unreported: RefCell::default(),
            is_heard_out: Notify::new(),
        }
    }

    pub(crate) fn view(&self) -> ProcessView {
        let turns = self.turns.borrow();
        ProcessView {
            pid: Some(self.listener_pid.get().unwrap_or(self.pid)),
            cpu: self.cores(),
            heard: self.last_heard.get(),
            event_loop_utilization: turns.utilization(Instant::now()),
            event_loop_delay_max: turns.delay_max(Instant::now()),
            ..self.vitals.get()
        }
    }

    /// CPU time lately, in cores. A worker whose main thread stands still reports none, and is judged by looks at that thread.
    fn cores(&self) -> Option<f64> {
        let is_silent = self.last_heard.get().is_some_and(|heard| heard.elapsed() >= REPORTS_WITHIN);
        match self.track.get() {
            Some(track) if is_silent => track.cores(),
            _ => self.cpu.get().cores().filter(|_| !is_silent),
        }
    }

    /// Looks how much CPU time it has used. For the last moment before it is killed: afterwards nobody can tell.
    pub(crate) fn note_used(&self) {
        if let Some(total_us) = sample::process_cpu_us(self.listener_pid.get().unwrap_or(self.pid)) {
            self.unreported.borrow_mut().used(total_us);
        }
    }

    /// Its inspector is open, and the gateway has not opened it.
    pub(crate) fn is_inspected(&self) -> bool {
        matches!(&*self.inspector.borrow(), Inspector::Listening(_))
    }

    /// The `'shutdown'` message, then SIGTERM: at once, or after `grace` if the app listens to messages and so may be
    /// leaving already. A worker that is replaced and still has streams gets that time as well, unless they end sooner. One whose main
    /// thread stands still has a moment to say what ran for so long.
    pub(crate) fn ask_to_leave(self: &Rc<Self>, grace: Duration, has_streams: impl Fn() -> bool + 'static) {
        self.is_asked_to_leave.set(!self.is_dying.get());
        // A worker that does not read gets its signal all the same.
        self.say(r#"{"type":"message","message":"shutdown"}"#);
        if self.is_dying.get() {
            return self.end_the_rest(None);
        }
        let end = Instant::now() + grace;
        let word_by = end.min(Instant::now() + LAST_WORD_TIMEOUT);
        let process = Rc::clone(self);
        let has_time = move |now: Instant| {
            let stays = process.hears_messages.get() || has_streams();
            stays && now < end || process.overdue.get().is_some() && now < word_by
        };
        if !has_time(Instant::now()) {
            return self.terminate();
        }
        let process = Rc::clone(self);
        tokio::task::spawn_local(async move {
            while has_time(Instant::now()) {
                tokio::time::sleep(LOOK_EVERY).await;
            }
            process.terminate();
        });
    }

    /// The process that serves is gone, so its id may be another's by now. What stood above it, npm or a shell, has a moment
    /// to follow.
    pub(crate) fn end_the_rest(self: &Rc<Self>, reason: Option<KillReason>) {
        let process = Rc::clone(self);
        tokio::task::spawn_local(async move {
            tokio::time::sleep(FOLLOW_TIMEOUT).await;
            if !process.has_exited.get() {
                // The primary of a `node:cluster` would start another.
                process.signal_group(Signal::SIGTERM);
                tokio::time::sleep(FOLLOW_TIMEOUT).await;
            }
            if !process.has_exited.get() {
                process.was_killed.set(process.was_killed.get().or(reason));
                process.rest_was_killed.set(true);
                process.signal_group(Signal::SIGKILL);
            }
        });
    }

    /// SIGTERM to the process that serves. Between it and the gateway may stand npm and a shell; they leave when it does. The
    /// primary of a `node:cluster` does not, and would start another.
    fn terminate(self: &Rc<Self>) {
        if self.has_exited.get() {
            return;
        }
        match self.listener_pid.get() {
            Some(pid) if pid != self.pid => {
                signal_one(pid, Signal::SIGTERM);
                let process = Rc::clone(self);
                tokio::task::spawn_local(async move { process.terminate_the_rest(pid).await });
            }
            Some(pid) => signal_one(pid, Signal::SIGTERM),
            None if self.app.is_command() => self.signal_group(Signal::SIGTERM),
            None => signal_one(self.pid, Signal::SIGTERM),
        }
    }

    /// Asks what stands above the process that served, once that has gone and it has had a moment to follow.
    async fn terminate_the_rest(&self, served: u32) {
        while !self.has_exited.get() && kill(to_pid(served), None).is_ok() {
            tokio::time::sleep(LOOK_EVERY).await;
        }
        tokio::time::sleep(FOLLOW_TIMEOUT).await;
        if !self.has_exited.get() {
            self.signal_group(Signal::SIGTERM);
        }
    }

    /// Gives the process that serves this priority, with all its threads.
    pub(crate) fn set_priority(&self, priority: Priority) -> io::Result<()> {
        if self.has_exited.get() {
            return Ok(());
        }
        priority::set(self.listener_pid.get().unwrap_or(self.pid), priority)
    }

    pub(crate) fn signal_group(&self, signal: Signal) {
        let _ = killpg(to_pid(self.pid), signal);
    }
}

fn signal_one(pid: u32, signal: Signal) {
    let _ = kill(to_pid(pid), signal);
}

pub(crate) fn to_pid(pid: u32) -> Pid {
    // Process ids fit: the kernel's own type is signed.
    Pid::from_raw(i32::try_from(pid).unwrap_or(i32::MAX))
}
