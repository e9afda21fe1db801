//! Clients that come back to the worker which keeps their session. They are found by an Engine.IO session of a worker, by a
//! cookie, by their address, or by the name of a worker in the path of an upgrade.
//!
//! The client's cookie, address or Engine.IO session determines the [`Home`] that the scheduler is asked for. The scheduler knows whether
//! that worker still serves. A session is never older than its worker: another process has another number, another cookie and other
//! Engine.IO sessions. So a client of a worker that has gone is one without a session.

mod address;
mod cookie;
mod engine_io;
mod libraries;
mod table;
#[cfg(test)]
mod tests;
mod trial;

use std::cell::RefCell;
use std::collections::HashMap;
use std::net::IpAddr;
use std::rc::Rc;

use sluice_catalog::config::{Config, Route, SameSite, Sticky, site};
use sluice_journal::Session;
use sluice_message::{RequestHead, ResponseHead};
use sluice_scheduler::{Home, WorkerId};

use address::Addresses;
use engine_io::{Asks, SessionTable};
use libraries::Libraries;
use sluice_classes::Rules;
pub use sluice_compare::Arm;
pub use trial::{Trial, TrialShare};

/// End of a head that tells the worker of a long poll.
pub const POLL: &[u8] = b";waits=1\r\n\r\n";

/// Session settings of the config.
#[derive(Debug)]
struct InForce {
    by: Sticky,
    routes: Rules,
    cookie: String,
    same_site: SameSite,
}

impl InForce {
    fn read(config: &Config) -> Self {
        let sticky = &config.sticky;
        InForce {
            by: sticky.by,
            routes: Rules::of(sticky.routes.iter().filter_map(|pattern| Route::parse(pattern, "").ok())),
            cookie: sticky.cookie.clone(),
            same_site: sticky.same_site,
        }
    }
}

/// All sessions, and the settings in force.
pub struct Sessions {
    in_force: RefCell<Rc<InForce>>,
    names: RefCell<Names>,
    issued: RefCell<SessionTable>,
    addresses: RefCell<Addresses>,
    libraries: RefCell<Libraries>,
    /// The version that is tried beside the present one.
    pub trial: Trial,
}

/// Names of the workers in cookies. They are random, so that they say nothing and fit no other gateway.
#[derive(Default)]
struct Names {
    workers: HashMap<Box<str>, WorkerId>,
    names: HashMap<WorkerId, Box<str>>,
}

/// Facts of a request about its client's session.
pub struct SessionQuery<'r> {
    /// Request head.
    pub head: &'r RequestHead,
    /// The request asks to upgrade to another protocol.
    pub is_upgrade: bool,
    /// Address of the client, or the one that a trusted peer reports.
    pub client: IpAddr,
    /// The client speaks HTTPS.
    pub is_secure: bool,
}

/// Result of looking up a client's session.
#[derive(Debug, Default)]
#[allow(clippy::struct_excessive_bools)] // Each is a fact by itself.
pub struct Visit {
    /// Place of the session.
    pub home: Home,
    /// The client has or will have a session.
    is_counted: bool,
    /// The client named a session that no worker has any more.
    is_lost: bool,
    /// The client finds its worker by a cookie, which is `Secure` or not.
    cookie: Option<bool>,
    /// The request carries the gateway's cookie, which the app must not see.
    hides_cookie: bool,
    /// The request opens an Engine.IO session at this path.
    opens: Option<Rc<str>>,
    /// The request waits in the app until there is data to send.
    waits: bool,
    /// Version that the visitor gets, while one is tried.
    pub arm: Option<Arm>,
    /// Worker of the version on trial that the visitor gets.
    tries: Option<WorkerId>,
    /// The visitor was drawn for that worker, and has no session in it.
    is_drawn: bool,
}

impl Visit {
    /// Visit of which only the version is known: that of the page for which a request is made.
    pub(crate) fn of_arm(arm: Option<Arm>) -> Self {
        Visit { arm, ..Visit::default() }
    }

    /// Worker that the request is for.
    pub fn place(&self) -> Home {
        self.tries.map_or(self.home, Home::At)
    }

    /// Whether any worker serves the visitor as well as the one that it was drawn for.
    pub fn is_drawn(&self) -> bool {
        self.is_drawn
    }

    /// Session field of the request's record, from the worker that got it.
    pub fn session(&self, worker: Option<WorkerId>) -> Option<Session> {
        let worker = worker.filter(|_| self.is_counted)?;
        Some(match self.home {
            _ if self.is_lost => Session::Moved,
            Home::At(home) if home == worker => Session::Kept,
            Home::At(_) => Session::Moved,
            Home::Any | Home::New => Session::New,
        })
    }
}

impl Sessions {
    /// Sessions by the rules of this config.
    pub fn new(config: &Config) -> Self {
        Sessions {
            in_force: RefCell::new(Rc::new(InForce::read(config))),
            names: RefCell::default(),
            issued: RefCell::default(),
            addresses: RefCell::default(),
            libraries: RefCell::default(),
            trial: Trial::default(),
        }
    }

    /// Applies other settings.
    pub fn set_config(&self, config: &Config) {
        *self.in_force.borrow_mut() = Rc::new(InForce::read(config));
    }

    /// Makes a worker available for new sessions.
    pub fn listening(&self, worker: WorkerId) {
        let name: Box<str> = format!("{:032x}", fastrand::u128(..)).into();
        let mut names = self.names.borrow_mut();
        names.workers.insert(name.clone(), worker);
        names.names.insert(worker, name);
    }

    /// Removes the sessions of a worker that has exited.
    pub fn exited(&self, worker: WorkerId) {
        let mut names = self.names.borrow_mut();
        if let Some(name) = names.names.remove(&worker) {
            names.workers.remove(&name);
        }
        self.issued.borrow_mut().forget(worker);
        self.libraries.borrow_mut().forget(worker);
    }

    /// Brings clients back to this worker, in which a library keeps their state: those below `mount` by their address, upgrades by the
    /// worker's `name` in their path.
    pub fn keeps_clients(&self, worker: WorkerId, mount: Option<&str>, name: Option<&str>) {
        self.libraries.borrow_mut().keep(worker, mount, name);
    }

    /// Home of the request's client, and its version while one is tried. `serving` are the places whose workers may get one, `known` the
    /// version if it was drawn before.
    pub fn visit(
        &self,
        asked: &SessionQuery<'_>,
        known: Option<Arm>,
        serving: impl FnOnce() -> Vec<(u32, WorkerId)>,
    ) -> Visit {
        match self.trial.share() {
            None => self.home_of(asked, serving),
            Some(share) => self.visit_in_trial(share, asked, known, serving),
        }
    }

    /// Version of the request's client, while one is tried; `known` as of [`Sessions::visit`].
    pub(crate) fn arm(&self, asked: &SessionQuery<'_>, known: Option<Arm>) -> Option<Arm> {
        self.trial.share().and_then(|share| self.visit_in_trial(share, asked, known, Vec::new).arm)
    }

    fn visit_in_trial(
        &self,
        share: TrialShare,
        asked: &SessionQuery<'_>,
        known: Option<Arm>,
        serving: impl FnOnce() -> Vec<(u32, WorkerId)>,
    ) -> Visit {
        let (path, _) = engine_io::split(&asked.head.path_and_query);
        let by = self.in_force.borrow().by;
        let is_by_address = match by {
            Sticky::Off => self.libraries.borrow().takes(path),
            Sticky::Cookie => false,
            Sticky::Address => true,
        };
        let kept = match by {
            Sticky::Cookie => self.worker_by_cookie(asked.head),
            // Entries outlive their workers. Without a rule they are of libraries' clients, whose pages are of the same version.
            Sticky::Off | Sticky::Address => {
                let latest = self.addresses.borrow_mut().latest_of(asked.client);
                latest.filter(|worker| self.names.borrow().names.contains_key(worker))
            }
        };
        let tried = kept.filter(|worker| self.trial.has(*worker));
        let is_drawn = kept.is_none() && self.trial.draws(share, asked.client);
        let tries = tried.or_else(|| self.trial.worker(asked.client));
        let goes_by_address = is_by_address && tries.is_some() && (tried.is_some() || is_drawn);
        // Otherwise the address would be kept with a worker of the present version.
        let mut visit = if goes_by_address { self.home_of(asked, Vec::new) } else { self.home_of(asked, serving) };
        if let Home::At(home) = visit.home {
            visit.arm = Some(if self.trial.has(home) { Arm::Trial } else { Arm::Present });
            return visit;
        }
        let is_of_trial = match known {
            Some(arm) => arm == Arm::Trial,
            None if kept.is_some() => tried.is_some(),
            None => is_drawn,
        };
        visit.tries = tries.filter(|_| is_of_trial);
        let has_session = kept.is_some() && (by != Sticky::Off || is_by_address);
        visit.is_drawn = visit.tries.is_some() && !has_session && !goes_by_address;
        if let Some(worker) = visit.tries.filter(|_| goes_by_address && visit.is_counted) {
            self.addresses.borrow_mut().keep(asked.client, worker);
        }
        visit.arm = Some(if visit.tries.is_some() { Arm::Trial } else { Arm::Present });
        visit
    }

    fn worker_by_cookie(&self, head: &RequestHead) -> Option<WorkerId> {
        let (in_force, names) = (self.in_force.borrow(), self.names.borrow());
        cookies_of(head, &in_force.cookie).iter().find_map(|name| names.workers.get(*name)).copied()
    }

    fn home_of(&self, asked: &SessionQuery<'_>, serving: impl FnOnce() -> Vec<(u32, WorkerId)>) -> Visit {
        let in_force = Rc::clone(&self.in_force.borrow());
        let libraries = self.libraries.borrow();
        let hides_cookie = in_force.by == Sticky::Cookie && !cookies_of(asked.head, &in_force.cookie).is_empty();
        if let Some(visit) = self.of_engine_io(asked) {
            return Visit { hides_cookie, ..visit };
        }
        let (path, _) = engine_io::split(&asked.head.path_and_query);
        if asked.is_upgrade
            && let Some(worker) = libraries.named_in(path)
        {
            return Visit { home: Home::At(worker), is_counted: true, hides_cookie, ..Visit::default() };
        }
        let is_for = || in_force.routes.find(&asked.head.method, site(&asked.head.authority), path).is_some();
        match in_force.by {
            Sticky::Off if !libraries.takes(path) => Visit::default(),
            Sticky::Cookie | Sticky::Address if !is_for() => Visit { hides_cookie, ..Visit::default() },
            Sticky::Cookie => {
                let given = cookies_of(asked.head, &in_force.cookie);
                let names = self.names.borrow();
                let home = given.iter().find_map(|name| names.workers.get(*name));
                Visit {
                    home: home.map_or(Home::New, |worker| Home::At(*worker)),
                    is_counted: true,
                    is_lost: home.is_none() && !given.is_empty(),
                    cookie: Some(asked.is_secure),
                    hides_cookie,
                    ..Visit::default()
                }
            }
            Sticky::Off | Sticky::Address => {
                let known = self.addresses.borrow_mut().worker_of(asked.client, &serving());
                let (home, is_lost) = known.map_or((Home::New, false), |(worker, is_lost)| (Home::At(worker), is_lost));
                Visit { home, is_counted: true, is_lost, ..Visit::default() }
            }
        }
    }

    fn of_engine_io(&self, asked: &SessionQuery<'_>) -> Option<Visit> {
        let mut issued = self.issued.borrow_mut();
        match engine_io::asks(&asked.head.method, &asked.head.path_and_query)? {
            Asks::Open { path } => {
                // Before the first has been answered, anything may look like this.
                let home = if issued.is_known(path) { Home::New } else { Home::Any };
                let is_counted = home == Home::New;
                Some(Visit { home, is_counted, opens: Some(path.into()), ..Visit::default() })
            }
            Asks::In { sid, path, polls } => {
                let is_lost = issued.is_known(path);
                match issued.find(sid, path) {
                    Some(worker) => {
                        let waits = polls && !asked.is_upgrade;
                        Some(Visit { home: Home::At(worker), is_counted: true, waits, ..Visit::default() })
                    }
                    None => is_lost.then(|| Visit { is_counted: true, is_lost, ..Visit::default() }),
                }
            }
        }
    }

    /// Head for the worker, without the gateway's cookie and with the mark of a long poll.
    pub fn dress(&self, visit: &Visit, mut head: Vec<u8>) -> Vec<u8> {
        if visit.hides_cookie {
            head = cookie::hide(&head, &self.in_force.borrow().cookie);
        }
        if visit.waits && head.ends_with(b"\r\n\r\n") {
            // The last line is the gateway's word to the preload.
            head.truncate(head.len() - 4);
            head.extend_from_slice(POLL);
        }
        head
    }

    /// Value of `Set-Cookie` for a client whose session is in this worker from now on, if it needs one and the answer may carry it.
    pub fn cookie(&self, visit: &Visit, worker: Option<WorkerId>, head: &ResponseHead) -> Option<String> {
        let (is_secure, worker) = (visit.cookie?, worker?);
        if visit.home == Home::At(worker) || head.status == 304 || cookie::may_be_shared(head) {
            return None;
        }
        let names = self.names.borrow();
        let in_force = self.in_force.borrow();
        Some(cookie::line(&in_force.cookie, names.names.get(&worker)?, in_force.same_site, is_secure))
    }

    /// Reads the first piece of an answer, in which an Engine.IO session may begin.
    pub fn learn(&self, visit: &Visit, worker: Option<WorkerId>, data: &[u8]) {
        if let (Some(path), Some(worker)) = (&visit.opens, worker)
            && let Some(sid) = engine_io::sid_in(data)
        {
            self.issued.borrow_mut().learn(sid, path, worker);
        }
    }
}

/// Head for another host, without the gateway's cookie.
pub(crate) fn hide_cookie(config: &Config, head: Vec<u8>) -> Vec<u8> {
    let sticky = &config.sticky;
    if sticky.by == Sticky::Cookie { cookie::hide(&head, &sticky.cookie) } else { head }
}

fn cookies_of<'h>(head: &'h RequestHead, name: &str) -> Vec<&'h str> {
    head.fields.get_all("cookie").flat_map(|value| cookie::values(value, name)).collect()
}
