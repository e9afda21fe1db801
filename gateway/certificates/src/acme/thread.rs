//! The thread that asks the CA, one name after the other, and tells what came of it. It must not know how an order goes.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nix::sys::signal::SigSet;
use tokio::runtime::Builder;
use tokio::sync::{mpsc, watch};

use super::fault::Fault;
use super::http::Http;
use super::order::{check, obtain};
use super::schedule::{Failures, OrderFailure, due_unix_s};
use super::settings::Settings;
use super::store::{Store, Turn};
use crate::Validity;

/// Interval of looks at the folder while nothing is due: another gateway may have asked.
const LOOK_EVERY: Duration = Duration::from_secs(60);
/// Shortest pause between two looks, and the pause while another gateway asks.
const LOOK_MIN: Duration = Duration::from_secs(1);
/// Maximum number of messages that wait for the main thread.
const TOLD_MAX: usize = 256;

/// News that an operator should read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AcmeNotice {
    /// A certificate that was not there before.
    Obtained {
        /// Name that it is for.
        name: String,
        /// Days that it is valid, in whole days.
        days: i64,
    },
    /// Failure to get a certificate.
    Failed {
        /// Name that it is for.
        name: String,
        /// Reason, and what to do about it.
        text: String,
        /// Seconds until the CA is asked again.
        again_s: i64,
    },
}

/// State of one name of the config.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameState {
    /// The name, in lower case.
    pub name: String,
    /// Validity of the stored certificate, if there is one.
    pub validity: Option<Validity>,
    /// Time at which the CA is asked, seconds of Unix time.
    pub due_unix_s: i64,
    /// Reason why the latest attempts failed; `None` if they did not.
    pub problem: Option<String>,
}

/// The thread, which ends when this is dropped.
pub struct Asker {
    settings: watch::Sender<Option<Arc<Settings>>>,
    states: Arc<Mutex<Vec<NameState>>>,
}

impl Asker {
    /// Starts the thread. It asks for nothing until [`Asker::ask`] is called.
    ///
    /// # Errors
    /// When the operating system gives no thread.
    pub fn start() -> io::Result<(Self, mpsc::Receiver<AcmeNotice>)> {
        let (settings, wanted) = watch::channel(None);
        let (told, listener) = mpsc::channel(TOLD_MAX);
        let states = Arc::default();
        let thread = Thread { wanted, told, states: Arc::clone(&states), unkept: BTreeMap::new() };
        let runtime = Builder::new_current_thread().enable_all().max_blocking_threads(1).build()?;
        thread::Builder::new().name("acme".to_owned()).spawn(move || {
            // Signals are for the main thread.
            let _ = SigSet::all().thread_block();
            runtime.block_on(thread.run());
            // A name that is being looked up holds up nobody.
            runtime.shutdown_background();
        })?;
        Ok((Asker { settings, states }, listener))
    }

    /// Sets the certificates to ask for from now on; `None` for nothing. Waits that are there for failures end, as somebody may have
    /// fixed their cause.
    pub fn ask(&self, settings: Option<Settings>) {
        self.settings.send_replace(settings.map(Arc::new));
    }

    /// State of each name.
    pub fn states(&self) -> Vec<NameState> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

struct Thread {
    wanted: watch::Receiver<Option<Arc<Settings>>>,
    told: mpsc::Sender<AcmeNotice>,
    states: Arc<Mutex<Vec<NameState>>>,
    /// Failures that the folder did not take.
    unkept: BTreeMap<String, Failures>,
}

impl Thread {
    async fn run(mut self) {
        let mut is_first = true;
        loop {
            let settings = self.wanted.borrow_and_update().clone();
            let ended = match settings {
                None => self.wanted.changed().await.is_err(),
                Some(settings) => {
                    // The first settings are those of a start: what failed before has to wait, or a start in a loop would use up
                    // what the CA allows.
                    let ended = self.serve(&settings, !is_first).await;
                    is_first = false;
                    ended
                }
            };
            if ended {
                return;
            }
        }
    }

    /// Keeps these certificates until other settings come; true when none will.
    async fn serve(&mut self, settings: &Settings, is_reload: bool) -> bool {
        let store = Store::new(settings.folder.clone());
        if is_reload {
            self.forgive(&store);
        }
        loop {
            let pause = tokio::select! {
                biased;
                changed = self.wanted.changed() => return changed.is_err(),
                pause = look(settings, &store, &mut self.unkept, &self.told, &self.states) => pause,
            };
            tokio::select! {
                changed = self.wanted.changed() => return changed.is_err(),
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    fn forgive(&mut self, store: &Store) {
        self.unkept.values_mut().for_each(Failures::forgive);
        // While another gateway asks, its failures are its own.
        let Ok(Some(_turn)) = store.turn() else { return };
        let mut failures = store.failures();
        failures.values_mut().for_each(Failures::forgive);
        let _ = store.keep_failures(&failures);
    }
}

/// Asks for all that is due. How long nothing has to be done then.
async fn look(
    settings: &Settings,
    store: &Store,
    unkept: &mut BTreeMap<String, Failures>,
    told: &mpsc::Sender<AcmeNotice>,
    states: &Mutex<Vec<NameState>>,
) -> Duration {
    let show = |unkept: &BTreeMap<String, Failures>| {
        let found = look_at(settings, store, unkept);
        let next_unix_s = found.iter().map(|state| state.due_unix_s).min();
        *states.lock().unwrap_or_else(PoisonError::into_inner) = found;
        next_unix_s
    };
    show(unkept);
    for name in &settings.names {
        let is_due = |unkept: &BTreeMap<String, Failures>| {
            state_of(name, store, &store.failures(), unkept).due_unix_s <= now_unix_s()
        };
        if !is_due(unkept) {
            continue;
        }
        let asked = match store.create().and_then(|()| store.turn()) {
            Ok(None) => continue,
            // Whoever had the turn may have asked for it.
            Ok(Some(_)) if !is_due(unkept) => continue,
            Ok(Some(turn)) => {
                let attempts = failures_of(name, &store.failures(), unkept).map_or(0, |failures| failures.count);
                let asked = ask(settings, store, name, attempts).await;
                Attempt { _turn: Some(turn), asked }
            }
            Err(error) => Attempt { _turn: None, asked: Err((error.into(), None)) },
        };
        let _ = told.try_send(match &asked.asked {
            Ok(validity) => succeeded(store, unkept, name, *validity),
            Err((fault, retry_after_s)) => failed(store, unkept, name, fault, *retry_after_s),
        });
        drop(asked);
        show(unkept);
    }
    let until_next =
        show(unkept).map(|next_unix_s| u64::try_from(next_unix_s.saturating_sub(now_unix_s())).unwrap_or(0));
    until_next.map_or(LOOK_EVERY, Duration::from_secs).clamp(LOOK_MIN, LOOK_EVERY)
}

/// Result of an attempt, with the turn, which lasts until that is written down.
struct Attempt {
    _turn: Option<Turn>,
    asked: Result<Validity, (Fault, Option<i64>)>,
}

/// A failure comes with what the CA said of the time to wait, in seconds.
async fn ask(settings: &Settings, store: &Store, name: &str, attempts: u32) -> Result<Validity, (Fault, Option<i64>)> {
    let http = Http::new(settings.ca_file.as_deref()).map_err(|fault| (fault, None))?;
    // A port that nobody reaches does not keep the CA from the other.
    let method = settings.methods[attempts as usize % settings.methods.len()];
    obtain(settings, store, &http, name, method).await.map_err(|fault| (fault, http.take_retry_after_s()))
}

fn succeeded(store: &Store, unkept: &mut BTreeMap<String, Failures>, name: &str, validity: Validity) -> AcmeNotice {
    unkept.remove(name);
    let mut failures = store.failures();
    if failures.remove(name).is_some() {
        let _ = store.keep_failures(&failures);
    }
    AcmeNotice::Obtained { name: name.to_owned(), days: validity.lifetime_s() / 86_400 }
}

fn failed(
    store: &Store,
    unkept: &mut BTreeMap<String, Failures>,
    name: &str,
    fault: &Fault,
    retry_after_s: Option<i64>,
) -> AcmeNotice {
    let (now, text) = (now_unix_s(), fault.to_string());
    let failed = OrderFailure { is_counted: fault.is_counted(), retry_after_s };
    let mut failures = store.failures();
    let before = failures_of(name, &failures, unkept).cloned().unwrap_or_default();
    let after = before.and(failed, text.clone(), name, now);
    let again_s = after.wait_until_unix_s - now;
    failures.insert(name.to_owned(), after.clone());
    // What the folder does not take, this gateway remembers.
    match store.keep_failures(&failures) {
        Ok(()) => unkept.remove(name),
        Err(_) => unkept.insert(name.to_owned(), after),
    };
    AcmeNotice::Failed { name: name.to_owned(), text, again_s }
}

fn failures_of<'a>(
    name: &str,
    kept: &'a BTreeMap<String, Failures>,
    unkept: &'a BTreeMap<String, Failures>,
) -> Option<&'a Failures> {
    unkept.get(name).or_else(|| kept.get(name))
}

fn look_at(settings: &Settings, store: &Store, unkept: &BTreeMap<String, Failures>) -> Vec<NameState> {
    let failures = store.failures();
    settings.names.iter().map(|name| state_of(name, store, &failures, unkept)).collect()
}

fn state_of(
    name: &str,
    store: &Store,
    failures: &BTreeMap<String, Failures>,
    unkept: &BTreeMap<String, Failures>,
) -> NameState {
    let kept = std::fs::read_to_string(store.certificate(name)).ok();
    let validity = kept.and_then(|pem| check(&pem).ok());
    let failures = failures_of(name, failures, unkept);
    NameState {
        name: name.to_owned(),
        validity,
        due_unix_s: due_unix_s(name, validity, failures),
        problem: failures.map(|failures| failures.text.clone()),
    }
}

fn now_unix_s() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}
