//! Requests certificates according to the config in force, and reports the results. It must not know how a CA is asked.

use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sluice_catalog::config::Config;
use sluice_catalog::snapshot::CertificateSnapshot;
use sluice_certificates::acme::{AcmeNotice, Asker, NameState, Settings};
use sluice_journal::{Event, Level};
use tokio::sync::mpsc;

use crate::road::Road;
use sluice_wire::front::tls::CertificateValidity;

/// Pause between two checks whether another config is in force.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Maximum number of certificates in an alarm.
const NAMED_MAX: usize = 3;
/// Maximum number of certificates in `sluice status`.
const SHOWN_MAX: usize = 100;

/// Connection to the thread that requests certificates; `None` until a config has names for a CA.
#[derive(Default)]
pub(crate) struct Renewals(RefCell<Option<Asker>>);

impl Renewals {
    fn states(&self) -> Vec<NameState> {
        self.0.borrow().as_ref().map(Asker::states).unwrap_or_default()
    }
}

/// Renews certificates for ever. A gateway that drains requests none, as another may be there that does.
pub async fn run(road: Rc<Road>) {
    let mut in_force: Option<Rc<Config>> = None;
    let mut told = None;
    loop {
        let wanted = Some(road.config()).filter(|_| !road.lobby.is_draining());
        let is_same = match (&wanted, &in_force) {
            (Some(wanted), Some(in_force)) => Rc::ptr_eq(wanted, in_force),
            (wanted, in_force) => wanted.is_none() && in_force.is_none(),
        };
        if !is_same {
            let settings = wanted.as_ref().and_then(|config| Settings::read(config, road.lobby.port()).ok().flatten());
            if settings.is_some() && told.is_none() {
                told = start(&road);
            }
            if let Some(asker) = &*road.renewals.0.borrow() {
                asker.ask(settings);
            }
            in_force = wanted;
        }
        tokio::select! {
            heard = hear(&mut told) => tell(&road, &heard),
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
    }
}

fn start(road: &Road) -> Option<mpsc::Receiver<AcmeNotice>> {
    match Asker::start() {
        Ok((asker, told)) => {
            road.renewals.0.replace(Some(asker));
            Some(told)
        }
        Err(error) => {
            let text = format!(
                "no certificate is requested (acme.names): {error}. Raise the limit on processes (pids.max of the \
                 cgroup, \
                 ulimit -u), and start again"
            );
            road.observer.emit(Event::Note { level: Level::Error, text: &text });
            None
        }
    }
}

async fn hear(told: &mut Option<mpsc::Receiver<AcmeNotice>>) -> AcmeNotice {
    if let Some(listener) = told
        && let Some(heard) = listener.recv().await
    {
        return heard;
    }
    *told = None;
    std::future::pending().await
}

fn tell(road: &Road, told: &AcmeNotice) {
    let (level, text) = match told {
        AcmeNotice::Obtained { name, days } => {
            (Level::Info, format!("the CA has issued a certificate for {name}, valid for {days} days"))
        }
        AcmeNotice::Failed { name, text, again_s } => {
            let has_one = road.renewals.states().iter().any(|state| state.name == *name && state.validity.is_some());
            let kept = if has_one { "the current one stays in use. " } else { "" };
            let text =
                format!("no new certificate for {name}: {text}. {kept}Sluice asks the CA again in {}", span(*again_s));
            (if has_one { Level::Warn } else { Level::Error }, text.replace(". the present", ". The present"))
        }
    };
    road.observer.emit(Event::Note { level, text: &text });
}

impl Road {
    /// Certificates of the config, with those that a CA has not issued yet.
    pub fn certificate_snapshots(&self) -> Vec<CertificateSnapshot> {
        let (Some(certificates), now) = (self.settings.certificates(), now_unix_s()) else { return Vec::new() };
        let states = self.renewals.states();
        let mut found: Vec<_> = certificates.known().iter().map(|known| snapshot(known, &states, now)).collect();
        let awaited = states
            .iter()
            .filter(|state| !certificates.known().iter().any(|known| known.key == ASKED && known.name == state.name));
        found.extend(awaited.map(|state| CertificateSnapshot {
            name: state.name.clone(),
            key: ASKED.to_owned(),
            file: None,
            expires_in_s: None,
            asked_in_s: Some(seconds((state.due_unix_s.saturating_sub(now)).max(0))),
            problem: state.problem.clone(),
        }));
        let end_s = |one: &CertificateSnapshot| one.expires_in_s.unwrap_or(f64::MIN);
        found.sort_by(|one, other| end_s(one).total_cmp(&end_s(other)));
        found.truncate(SHOWN_MAX);
        found
    }

    /// Name and seconds left of each certificate, each name once.
    pub fn certificate_ends(&self) -> Vec<(String, f64)> {
        let (Some(certificates), now) = (self.settings.certificates(), now_unix_s()) else { return Vec::new() };
        let mut names = HashSet::new();
        let ends =
            certificates.known().iter().filter_map(|known| Some((known.name.clone(), known.validity?.left_s(now))));
        // Of two for the same name clients get the first.
        ends.filter(|(name, _)| names.insert(name.clone())).map(|(name, left_s)| (name, seconds(left_s))).collect()
    }

    /// Alarm text about certificates that are about to expire, and about names that have none although the CA was
    /// asked.
    pub fn certificates_in_need(&self) -> Option<String> {
        let now = now_unix_s();
        let certificates = self.settings.certificates()?;
        let states = self.renewals.states();
        let problem =
            |name: &str| states.iter().find(|state| state.name == name).and_then(|state| state.problem.clone());
        let expiring = certificates.known().iter().filter_map(|known| {
            let left_s = known.validity.filter(|validity| validity.is_near_end(now))?.left_s(now);
            let when = if left_s < 0 {
                format!("expired {} ago", span(-left_s))
            } else {
                format!("expires in {}", span(left_s))
            };
            let advice = match (known.key == ASKED).then(|| problem(&known.name)) {
                Some(problem) => problem.unwrap_or_else(|| "the CA has not been asked yet".to_owned()),
                None => format!("put a new one into {}; the gateway loads it by itself", known.file),
            };
            Some(format!("the certificate of {} {when}: {advice}", known.name))
        });
        let awaited = states
            .iter()
            .filter(|state| state.validity.is_none())
            .filter_map(|state| Some(format!("{} has no certificate: {}", state.name, state.problem.as_ref()?)));
        let found: Vec<String> = expiring.chain(awaited).collect();
        let more = found.len().saturating_sub(NAMED_MAX);
        let text = found.iter().take(NAMED_MAX).cloned().collect::<Vec<_>>().join("; ");
        let more = if more == 0 { String::new() } else { format!("; and {more} more (`sluice status --json`)") };
        (!found.is_empty()).then(|| text + &more)
    }
}

/// Config key that names the certificates to get from a CA.
const ASKED: &str = "acme.names";

fn snapshot(known: &CertificateValidity, states: &[NameState], now: i64) -> CertificateSnapshot {
    let state = states.iter().find(|state| known.key == ASKED && state.name == known.name);
    CertificateSnapshot {
        name: known.name.clone(),
        key: known.key.to_owned(),
        file: Some(known.file.clone()),
        expires_in_s: known.validity.map(|validity| seconds(validity.left_s(now))),
        asked_in_s: state.map(|state| seconds(state.due_unix_s.saturating_sub(now).max(0))),
        problem: state.and_then(|state| state.problem.clone()),
    }
}

#[allow(clippy::cast_precision_loss, reason = "times of certificates are far below 2^53 s")]
fn seconds(count: i64) -> f64 {
    count as f64
}

fn span(seconds: i64) -> String {
    match seconds {
        ..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}

fn now_unix_s() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}
