//! CPU profiles of workers that do their work. The preload takes them inside the worker, so that no inspector is opened and
//! the worker serves on; what it answers is input like everything else that workers say.

use std::cmp::Reverse;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use serde_json::json;
use sluice_catalog::snapshot::ProfileSnapshot;
use sluice_scheduler::WorkerId;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::Supervisor;
use crate::process::Process;
use crate::process::known::Answer;
use crate::stuck;

/// How long the worker may take to answer beyond the profile's own time: a slow render, and reading the profile.
const ANSWER_MAX: Duration = Duration::from_secs(20);
/// Longest sentence of a worker about what was in the way.
const ERROR_CHARS_MAX: usize = 500;

impl Supervisor {
    /// Profiles one worker for `duration`; that which has answered most requests unless one is named.
    ///
    /// # Errors
    /// A sentence for the operator.
    pub async fn profile(&self, worker: Option<u64>, duration: Duration) -> Answer {
        let process = self.to_profile(worker)?;
        let worker = process.worker.0;
        let file = stuck::profiles_dir(&self.sockets).join(format!("worker-{worker}.cpuprofile"));
        make_room(file.clone()).await?;
        let path = file.to_str().ok_or_else(|| format!("{}: not a name in UTF-8", file.display()))?;
        let mut line =
            json!({ "type": "profile", "duration_ms": duration.as_millis(), "file": path }).to_string().into_bytes();
        line.push(b'\n');
        let (sender, answer) = oneshot::channel();
        if process.profiled.borrow().as_ref().is_some_and(|waiting| !waiting.is_closed()) {
            return Err(format!("a profile of worker {worker} is being taken already"));
        }
        *process.profiled.borrow_mut() = Some(sender);
        let sent = process.control.borrow().as_ref().and_then(|control| control.try_write(&line).ok());
        if sent != Some(line.len()) {
            process.profiled.borrow_mut().take();
            return Err(format!("worker {worker} takes no messages; only apps in Node.js can be profiled"));
        }
        match timeout(duration + ANSWER_MAX, answer).await {
            Ok(Ok(Ok(profile))) => Ok(ProfileSnapshot { worker, ..profile }),
            Ok(Ok(Err(why))) => Err(format!("worker {worker}: {why}")),
            Ok(Err(_)) => Err(format!("worker {worker} left before its profile was there")),
            Err(_) => Err(format!("worker {worker} did not answer; its event loop may be blocked (`sluice status`)")),
        }
    }

    fn to_profile(&self, worker: Option<u64>) -> Result<Rc<Process>, String> {
        let processes = self.processes.borrow();
        let serves = |process: &Rc<Process>| process.is_ready.get() && !process.is_asked_to_leave.get();
        match worker {
            Some(id) => processes
                .get(&WorkerId(id))
                .filter(|process| serves(process))
                .cloned()
                .ok_or_else(|| format!("no worker {id} serves; `sluice status` lists them")),
            None => processes
                .values()
                .filter(|process| serves(process))
                .max_by_key(|process| (self.gate.requests_total(process.worker), Reverse(process.worker.0)))
                .cloned()
                .ok_or_else(|| "no worker serves".to_owned()),
        }
    }
}

impl Process {
    /// The worker has answered.
    pub(crate) fn heard_profile(&self, profile: Option<ProfileSnapshot>, error: &str) {
        let Some(waiting) = self.profiled.borrow_mut().take() else { return };
        // Whoever asked may have gone meanwhile.
        let _ = waiting.send(profile.ok_or_else(|| error.chars().take(ERROR_CHARS_MAX).collect()));
    }
}

async fn make_room(file: PathBuf) -> Result<(), String> {
    let made = tokio::task::spawn_blocking({
        let file = file.clone();
        move || stuck::make_room(&file)
    });
    let made = made.await.unwrap_or_else(|error| Err(std::io::Error::other(error)));
    made.map_err(|error| format!("{}: {error}", file.display()))
}
