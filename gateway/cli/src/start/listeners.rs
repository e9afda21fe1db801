//! Clients that asked for a reload and are told how it goes.

use std::sync::Arc;

use sluice_admin::Progress;
use sluice_catalog::refusals::ReloadError;
use tokio::sync::mpsc;

#[derive(Default)]
pub struct Listeners(Vec<mpsc::Sender<Progress>>);

impl Listeners {
    pub fn add(&mut self, listener: mpsc::Sender<Progress>) {
        self.0.push(listener);
    }

    /// A line, for those who are still there.
    pub fn tell(&mut self, text: &str) {
        self.0.retain(|listener| {
            let told = listener.try_send(Progress::Line(text.to_owned()));
            !matches!(told, Err(mpsc::error::TrySendError::Closed(_)))
        });
    }

    /// Tells the end, after which nobody listens any more.
    pub fn finish(&mut self, result: Result<(), ReloadError>) {
        let result = result.map_err(Arc::new);
        for listener in self.0.drain(..) {
            let ended = Progress::Ended(result.clone());
            // One who is slow to read still gets to know how it ended.
            tokio::task::spawn_local(async move { drop(listener.send(ended).await) });
        }
    }
}
