//! CPU profiles of workers that do their work. The preload takes them inside the worker, so that no inspector is opened and
//! the worker serves on; what it answers is input like everything else that workers say.

use std::cmp::Reverse;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use serde_json::json;
use sluice_catalog::refusals::ProfileError;
use sluice_catalog::snapshot::ProfileSnapshot;
use sluice_scheduler::WorkerId;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::Supervisor;
use crate::process::Process;
use crate::stuck;

/// How long the worker may take to answer beyond the profile's own time: a slow render, and reading the profile.
const ANSWER_MAX: Duration = Duration::from_secs(20);
/// Longest sentence of a worker about what was in the way.
const ERROR_CHARS_MAX: usize = 500;

impl Supervisor {
    /// Profiles one worker for `duration`; that which has answered most requests unless one is named.
    ///
    /// # Errors
    /// If no worker takes one, or it is gone before the profile is there.
    pub async fn profile(&self, worker: Option<u64>, duration: Duration) -> Result<ProfileSnapshot, ProfileError> {
        let process = self.to_profile(worker)?;
        let worker = process.worker.0;
        let file = stuck::profiles_dir(&self.sockets).join(format!("worker-{worker}.cpuprofile"));
        make_room(file.clone()).await?;
        let path = file.to_str().ok_or_else(|| ProfileError::FileName(file.clone()))?;
        let mut line =
            json!({ "type": "profile", "duration_ms": duration.as_millis(), "file": path }).to_string().into_bytes();
        line.push(b'\n');
        let (sender, answer) = oneshot::channel();
        if process.profiled.borrow().as_ref().is_some_and(|waiting| !waiting.is_closed()) {
            return Err(ProfileError::UnderWay(worker));
        }
        *process.profiled.borrow_mut() = Some(sender);
        let sent = process.control.borrow().as_ref().and_then(|control| control.try_write(&line).ok());
        if sent != Some(line.len()) {
            process.profiled.borrow_mut().take();
            return Err(ProfileError::NoMessages(worker));
        }
        match timeout(duration + ANSWER_MAX, answer).await {
            Ok(Ok(answer)) => answer.map(|profile| ProfileSnapshot { worker, ..profile }),
            Ok(Err(_)) => Err(ProfileError::Left(worker)),
            Err(_) => Err(ProfileError::Silent(worker)),
        }
    }

    fn to_profile(&self, worker: Option<u64>) -> Result<Rc<Process>, ProfileError> {
        let processes = self.processes.borrow();
        let serves = |process: &Rc<Process>| process.is_ready.get() && !process.is_asked_to_leave.get();
        match worker {
            Some(id) => processes
                .get(&WorkerId(id))
                .filter(|process| serves(process))
                .cloned()
                .ok_or(ProfileError::NotServing(id)),
            None => processes
                .values()
                .filter(|process| serves(process))
                .max_by_key(|process| (self.gate.requests_total(process.worker), Reverse(process.worker.0)))
                .cloned()
                .ok_or(ProfileError::NoWorker),
        }
    }
}

impl Process {
    /// The worker has answered.
    pub(crate) fn heard_profile(&self, profile: Option<ProfileSnapshot>, error: &str) {
        let Some(waiting) = self.profiled.borrow_mut().take() else { return };
        // Whoever asked may have gone meanwhile.
        let _ = waiting.send(profile.ok_or_else(|| {
            let words = error.chars().take(ERROR_CHARS_MAX).collect();
            ProfileError::Said { worker: self.worker.0, words }
        }));
    }
}

async fn make_room(file: PathBuf) -> Result<(), ProfileError> {
    let made = tokio::task::spawn_blocking({
        let file = file.clone();
        move || stuck::make_room(&file)
    });
    let made = made.await.unwrap_or_else(|error| Err(std::io::Error::other(error)));
    made.map_err(|source| ProfileError::File { file, source })
}
