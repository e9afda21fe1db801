//! Asks the gateway again and again, on a thread of its own, so that keys work while it does not answer. Connects again when it is gone.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use tokio::time::Instant;

use sluice_admin::protocol::{HistoryCursor, Request, WatchReply};
use sluice_catalog::snapshot::GatewayState;

use crate::args::RunDirArg;
use crate::client::connect::{ClientError, Gateway};

/// Shortest interval of looks for a gateway that is gone.
const RETRY_EVERY: Duration = Duration::from_secs(1);
/// Time without an answer after which the screen says that there is none.
const PATIENCE: Duration = Duration::from_secs(3);

/// Result of a question.
#[derive(Debug)]
pub(super) enum News {
    Answer(Box<WatchReply>),
    /// Reason for the lack of an answer.
    Lost(ClientError),
}

/// The thread ends when this is dropped.
#[derive(Debug)]
pub(super) struct Feed {
    pub(super) news: Receiver<News>,
    _ends: Sender<()>,
}

/// One answer, with all that the gateway remembers.
pub(super) fn ask(gateway: &mut Gateway, seen: HistoryCursor) -> Result<WatchReply, ClientError> {
    let reply = gateway.ask(&Request::Watch(seen))?;
    reply.watched.map(|watched| *watched).ok_or_else(|| ClientError::Refused {
        run_dir: gateway.run_dir().to_owned(),
        text: "its answer contains no figures".to_owned(),
    })
}

impl Feed {
    /// `seen` is what the first answer had.
    pub(super) fn start(
        run_dir: RunDirArg,
        gateway: Gateway,
        seen: HistoryCursor,
        interval: Duration,
    ) -> std::io::Result<Self> {
        let (sender, news) = channel();
        let (ends, ended) = channel();
        let asker = Asker { run_dir, gateway: Some(gateway), seen };
        thread::Builder::new().name("feed".to_owned()).spawn(move || asker.run(interval, &sender, &ended))?;
        Ok(Self { news, _ends: ends })
    }
}

struct Asker {
    run_dir: RunDirArg,
    gateway: Option<Gateway>,
    seen: HistoryCursor,
}

impl Asker {
    fn run(mut self, interval: Duration, sender: &Sender<News>, ended: &Receiver<()>) {
        let mut wait = interval;
        loop {
            if !matches!(ended.recv_timeout(wait), Err(RecvTimeoutError::Timeout)) {
                return;
            }
            let asked = Instant::now();
            let news = match self.ask() {
                Ok(watched) => News::Answer(Box::new(watched)),
                Err(error) => {
                    self.gateway = None;
                    News::Lost(error)
                }
            };
            wait = match news {
                News::Answer(_) => interval.saturating_sub(asked.elapsed()),
                News::Lost(_) => interval.max(RETRY_EVERY),
            };
            if sender.send(news).is_err() {
                return;
            }
        }
    }

    fn ask(&mut self) -> Result<WatchReply, ClientError> {
        let gateway = match &mut self.gateway {
            Some(gateway) => gateway,
            none => none.insert(Gateway::connect(&self.run_dir)?),
        };
        gateway.set_patience(Some(PATIENCE))?;
        let watched = ask(gateway, self.seen)?;
        // One that leaves may have a successor, which has the public name.
        if watched.status.state == GatewayState::Draining {
            self.gateway = None;
        }
        self.seen = HistoryCursor {
            epoch: watched.epoch,
            at_ms: watched
                .points
                .last()
                .map_or(if watched.epoch == self.seen.epoch { self.seen.at_ms } else { 0 }, |point| point.at_ms),
            mark: watched
                .marks
                .last()
                .map_or(if watched.epoch == self.seen.epoch { self.seen.mark } else { 0 }, |mark| mark.id),
        };
        Ok(watched)
    }
}
