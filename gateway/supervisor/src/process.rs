//! One worker's process: its state, and the signals that it gets. It must not know the supervisor.

mod cpu;
pub(crate) mod facts;
pub(crate) mod filling;
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

use crate::forensics::{Inspector, Subject};
use crate::output::Tail;
use crate::parts::Parts;
use crate::priority::{self, Priority};
use crate::sample::Sample;
use crate::writer::Writer;
use crate::{App, ProcessView, sample};
use cpu::CpuLately;
use facts::{Answer, Excuse, ProfileQuestion, Renders, Threw, Track, Trouble, UnreportedCpu};
use filling::Filling;
use tokio::time::{Instant, timeout};
use turns::Turns;

/// Time that npm or a shell may outlive the process that it started.
const FOLLOW_TIMEOUT: Duration = Duration::from_millis(300);

/// Time that a worker with a blocked main thread may continue before it is killed. Its preload reports the run when
/// that is over.
const LAST_WORD_TIMEOUT: Duration = Duration::from_secs(1);

/// Time for which a worker's report holds; four reports a second come.
pub(crate) const REPORTS_WITHIN: Duration = Duration::from_secs(1);

/// Time between two checks whether a worker's last stream has ended.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Longest wait for the result of an examination, which may read source maps after the kill.
const DIAGNOSIS_TIMEOUT: Duration = Duration::from_secs(3);

pub(crate) struct Process {
    pub(crate) worker: WorkerId,
    pub(crate) app: Rc<App>,
    pub(crate) pid: u32,
    pub(crate) started: Instant,
    /// Priority from the time it listens, unless it is lowered.
    pub(crate) priority: Priority,
    /// Id of the process that listens, if that is not the one that was started.
    pub(crate) listener_pid: Cell<Option<u32>>,
    /// Whether heads of its answers carry the tokens of their requests, as reported by its preload.
    pub(crate) marks: Cell<bool>,
    /// Whether it may get requests ahead of time, as reported by its preload.
    pub(crate) takes_ahead: Cell<bool>,
    /// Whether its server listens.
    pub(crate) listens: Cell<bool>,
    /// Whether it is not ready before the app reports so.
    pub(crate) waits_for_word: Cell<bool>,
    pub(crate) is_ready: Cell<bool>,
    /// Whether it has exited, so that its process id may belong to another.
    pub(crate) has_exited: Cell<bool>,
    pub(crate) is_asked_to_leave: Cell<bool>,
    /// Whether its control connection has ended without a request to exit: it is dying, whatever it is sent now.
    pub(crate) is_dying: Cell<bool>,
    pub(crate) was_killed: Cell<Option<KillReason>>,
    /// Whether the gateway has killed the remaining processes after the serving one had exited by itself.
    pub(crate) rest_was_killed: Cell<bool>,
    /// Time of its last beat, and the exact sample of its main thread from then, if the kernel reports one.
    pub(crate) beaten: Cell<Option<(Instant, Option<Sample>)>>,
    /// Latest report of the preload about its resources.
    pub(crate) vitals: Cell<ProcessView>,
    /// Record of its event loop's delays.
    pub(crate) turns: RefCell<Turns>,
    pub(crate) overlaps_total: Cell<u64>,
    /// Whether its memory was reported to exceed the limit.
    pub(crate) is_overweight: Cell<bool>,
    /// Number of consecutive checks that did not find its socket.
    pub(crate) lost_looks: Cell<u32>,
    /// Time of its last report; `None` before its first beat.
    pub(crate) last_heard: Cell<Option<Instant>>,
    pub(crate) cpu: Cell<CpuLately>,
    /// Samples of its main thread since its last report.
    pub(crate) track: Cell<Option<Track>>,
    /// Whether it was found overdue, and the watch has not begun anew since.
    pub(crate) is_overdue: Cell<bool>,
    /// Whether the log says so of its present silence.
    pub(crate) is_told_overdue: Cell<bool>,
    /// Whether the alarm about the present run was raised.
    pub(crate) is_long_run_told: Cell<bool>,
    /// Latest word of the worker itself. `last_heard` is also set where the watch begins anew.
    pub(crate) spoke: Cell<Option<Instant>>,
    /// Whether the scheduler has lowered its priority.
    pub(crate) is_lowered: Cell<bool>,
    /// Whether it got its priority back before its time was over.
    pub(crate) is_spared: Cell<bool>,
    /// Reason for its examination.
    pub(crate) trouble: Cell<Option<Trouble>>,
    /// Whether it is being examined, and killed afterwards.
    pub(crate) is_examined: Cell<bool>,
    /// Result of the examination in words, once it is logged.
    pub(crate) diagnosis: watch::Sender<Option<String>>,
    /// State of its inspector, from its stderr.
    pub(crate) inspector: watch::Receiver<Inspector>,
    /// Growth of its memory while its event loop does not turn.
    pub(crate) filling: Filling,
    /// Connection to the preload, after its hello.
    pub(crate) control: RefCell<Option<Writer>>,
    /// End of its stderr.
    pub(crate) tail: Rc<RefCell<Tail>>,
    /// End of the process in words, after all its output was read.
    pub(crate) ended_as: RefCell<Option<String>>,
    /// Whether the app listens to 'message'.
    pub(crate) hears_messages: Cell<bool>,
    /// Latest question to its preload about its main thread, and the answer.
    pub(crate) asked: Cell<ProfileQuestion>,
    /// Time until which its main thread is in a loop that lets others in; `None` while no such loop was reported.
    pub(crate) breathes_until: Cell<Option<Instant>>,
    /// Whether it has been granted a request since it last reported that loop.
    pub(crate) is_breath_taken: Cell<bool>,
    /// Latest report about its React renders.
    pub(crate) react: RefCell<Renders>,
    /// Latest report about its component cache.
    pub(crate) component_cache: Cell<ComponentCacheSnapshot>,
    /// Version of the dial that it was last sent.
    pub(crate) dial_told: Cell<u64>,
    /// Version of the counts of overruns that it was last sent.
    pub(crate) overruns_told: Cell<u64>,
    /// Number of lines about overruns that it has sent.
    pub(crate) overruns_heard: Cell<u64>,
    /// Pending purges of the parts of pages that it caches.
    pub(crate) parts: Parts,
    /// Number of the profile that it was asked for, and the sender that waits for the answer.
    pub(crate) profiled: RefCell<Option<(u64, oneshot::Sender<Answer>)>>,
    /// Number of profiles that it was asked for.
    pub(crate) profile_number: Cell<u64>,
    /// Excuse for being blocked, because it was asked for something that takes long.
    pub(crate) excuse: Cell<Option<Excuse>>,
    /// Latest exception that nothing in the app caught.
    pub(crate) threw: RefCell<Option<Threw>>,
    /// Time of the last line on stderr.
    pub(crate) wrote_stderr: Cell<Option<Instant>>,
    /// CPU time that no report attributed to a request.
    pub(crate) unreported: RefCell<UnreportedCpu>,
    /// Notified once when all that the preload has sent is read, if there was a preload.
    pub(crate) is_heard_out: Notify,
}

impl Process {
    /// Creates the record of a process at its start.
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
            is_overdue: Cell::new(false),
            is_told_overdue: Cell::new(false),
            is_long_run_told: Cell::new(false),
            spoke: Cell::new(None),
            is_lowered: Cell::new(false),
            is_spared: Cell::new(false),
            trouble: Cell::default(),
            is_examined: Cell::new(false),
            diagnosis: watch::Sender::default(),
            inspector,
            filling: Filling::default(),
            control: RefCell::default(),
            tail: Rc::default(),
            wrote_stderr: Cell::new(None),
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

    /// Id of the process that serves, or of the first one until one listens.
    pub(crate) fn serving_pid(&self) -> u32 {
        self.listener_pid.get().unwrap_or(self.pid)
    }

    pub(crate) fn view(&self) -> ProcessView {
        let turns = self.turns.borrow();
        let pid = self.serving_pid();
        let reported = self.vitals.get();
        // The last report of a blocked worker may be old, and its memory is what an operator looks for.
        let rss_bytes = if self.is_silent() { sample::resident_bytes(pid) } else { None };
        ProcessView {
            pid: Some(pid),
            cpu: self.cores(),
            heard: self.last_heard.get(),
            rss_bytes: rss_bytes.or(reported.rss_bytes),
            event_loop_utilization: turns.utilization(Instant::now()),
            event_loop_delay_max: turns.delay_max(Instant::now()),
            ..reported
        }
    }

    /// Result of its examination as stuck or blocked, once it is there. `None` if it was not examined, or takes too long.
    pub(crate) async fn diagnosed(&self) -> Option<String> {
        if !self.is_examined.get() {
            return None;
        }
        let mut diagnosis = self.diagnosis.subscribe();
        let found = timeout(DIAGNOSIS_TIMEOUT, diagnosis.wait_for(Option::is_some)).await;
        found.ok().and_then(Result::ok).and_then(|found| found.clone())
    }

    /// Whether its reports are overdue, as its event loop does not turn.
    pub(crate) fn is_silent(&self) -> bool {
        self.spoke.get().is_some_and(|spoke| spoke.elapsed() >= REPORTS_WITHIN)
    }

    /// Recent CPU use, in cores. A worker whose main thread is blocked reports none, and is judged by samples of that
    /// thread.
    fn cores(&self) -> Option<f64> {
        let is_silent = self.is_silent();
        match self.track.get() {
            Some(track) if is_silent => track.cores(),
            _ => self.cpu.get().cores().filter(|_| !is_silent),
        }
    }

    /// Records the CPU time that it has used. Called directly before it is killed, because the figure is lost
    /// afterwards.
    pub(crate) fn note_used(&self) {
        if let Some(total_us) = sample::process_cpu_us(self.serving_pid()) {
            self.unreported.borrow_mut().used(total_us);
        }
    }

    /// Subject of a look into its process `pid`.
    pub(crate) fn subject(&self, pid: u32) -> Subject {
        let app = &self.app;
        let source_maps = app.preload.with_file_name("profiles/source-maps.js");
        Subject { pid, cwd: app.cwd.clone(), node: app.node().to_owned(), source_maps }
    }

    /// Whether its inspector is open, and the gateway has not opened it.
    pub(crate) fn is_inspected(&self) -> bool {
        matches!(&*self.inspector.borrow(), Inspector::Listening(_)) && !self.filling.is_open.get()
    }

    /// Sends the `'shutdown'` message, then SIGTERM: at once, or after `grace` if the app listens to messages and so
    /// may be exiting already.
    ///
    /// A worker that is replaced and still has streams gets that time as well, unless they end sooner. A worker whose
    /// main thread is blocked gets a moment to report the run, and one that is profiled to end the profile early.
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
            let has_word = process.is_overdue.get() || process.profiled.borrow().is_some();
            stays && now < end || has_word && now < word_by
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

    /// Ends the remaining processes after the one that served has exited, whose id may belong to another by now. Its
    /// parents, npm or a shell, get a moment to exit by themselves.
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

    /// Sends SIGTERM to the process that serves. The npm and shell processes between it and the gateway exit with it.
    /// The primary of a `node:cluster` would not, and would start another.
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

    /// Sends SIGTERM to the parents of the process that served, after it has exited and they have had a moment to
    /// follow.
    async fn terminate_the_rest(&self, served: u32) {
        while !self.has_exited.get() && kill(to_pid(served), None).is_ok() {
            tokio::time::sleep(LOOK_EVERY).await;
        }
        tokio::time::sleep(FOLLOW_TIMEOUT).await;
        if !self.has_exited.get() {
            self.signal_group(Signal::SIGTERM);
        }
    }

    /// Sets the priority of the process that serves, with all its threads.
    pub(crate) fn set_priority(&self, priority: Priority) -> io::Result<()> {
        if self.has_exited.get() {
            return Ok(());
        }
        priority::set(self.serving_pid(), priority)
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
