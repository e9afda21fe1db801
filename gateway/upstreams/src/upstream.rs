//! One upstream: its addresses, the connections to each, and the requests that wait for one.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::rc::Rc;

use sluice_catalog::snapshot::{TargetSnapshot, UpstreamSnapshot};
use sluice_wire::signal::Signal;
use tokio::time::{Instant, timeout_at};

use crate::balance::{Balance, Choice, Ended, Health, MemberId, Place};
use crate::budget::Budget;
use crate::connection::Connection;
use crate::fault::{Fault, NoConnection, Stage, Unhealthy};
use crate::proxy::{self, Ends};
use crate::settings::Settings;
use crate::stats::{End, Stats};

/// Longest time for which a connection may be idle. Node closes idle connections after 5 s.
const IDLE_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(4);
/// Characters of a fault that are kept for `sluice status`.
const FAULT_CHARS_MAX: usize = 200;

/// Tells the operator of a target's health; true if it became worse.
pub type Report = Rc<dyn Fn(bool, &str)>;

/// One address of a target.
pub(crate) struct Member {
    pub(crate) id: MemberId,
    /// Number of the target in the config.
    pub(crate) target: usize,
    pub(crate) address: SocketAddr,
    /// The address as operators see it.
    pub(crate) text: Rc<str>,
    idle: RefCell<Vec<Connection>>,
    requests: Cell<u64>,
    failures: Cell<u64>,
    fault: RefCell<Option<String>>,
}

/// See the module's text.
pub struct Upstream {
    /// Name in logs and metrics.
    pub name: Rc<str>,
    pub(crate) settings: Settings,
    pub(crate) stats: Rc<Stats>,
    balance: RefCell<Balance>,
    members: RefCell<Vec<Rc<Member>>>,
    next_id: Cell<MemberId>,
    /// Requests that wait for a connection, the first in line at the front.
    waiting: RefCell<VecDeque<Rc<Signal>>>,
    /// Names whose addresses are not known yet.
    unresolved: Cell<bool>,
    budget: RefCell<Budget>,
    report: Report,
    epoch: Instant,
}

/// A request's place at an address, which is given up when this is dropped.
pub(crate) struct Grip {
    upstream: Rc<Upstream>,
    pub(crate) member: Rc<Member>,
    ended: Cell<Ended>,
}

impl Grip {
    /// Notes that the address has answered.
    pub(crate) fn succeed(&self) {
        self.ended.set(Ended::Well);
    }

    /// Notes what failed at the address.
    pub(crate) fn fail(&self, fault: &str) {
        self.ended.set(Ended::Badly);
        self.member.failed(fault);
    }
}

impl Drop for Grip {
    fn drop(&mut self) {
        self.upstream.release(&self.member, self.ended.get());
    }
}

impl Member {
    /// An idle connection that is not idle for too long.
    fn take_idle(&self) -> Option<Connection> {
        let connection = self.idle.borrow_mut().pop()?;
        if connection.idle_since.elapsed() < IDLE_TIMEOUT {
            return Some(connection);
        }
        // Those below it are idle for longer still.
        self.idle.borrow_mut().clear();
        None
    }

    fn failed(&self, fault: &str) {
        self.failures.update(|count| count + 1);
        *self.fault.borrow_mut() = Some(fault.chars().take(FAULT_CHARS_MAX).collect());
    }
}

/// A waiting request's place in the line, which it leaves when this is dropped.
struct InLine<'u> {
    upstream: &'u Upstream,
    signal: Rc<Signal>,
}

impl Drop for InLine<'_> {
    fn drop(&mut self) {
        self.upstream.waiting.borrow_mut().retain(|other| !Rc::ptr_eq(other, &self.signal));
    }
}

impl Upstream {
    pub(crate) fn new(settings: Settings, stats: Rc<Stats>, report: Report) -> Rc<Self> {
        let in_flight_max = u32::try_from(settings.upstream.connections_max).unwrap_or(u32::MAX);
        let upstream = Rc::new(Upstream {
            name: settings.name().into(),
            stats,
            balance: RefCell::new(Balance::new(in_flight_max)),
            members: RefCell::default(),
            next_id: Cell::new(0),
            waiting: RefCell::default(),
            unresolved: Cell::new(false),
            budget: RefCell::default(),
            report,
            epoch: Instant::now(),
            settings,
        });
        let has_names = upstream.names().next().is_some();
        upstream.unresolved.set(has_names);
        let addresses = upstream
            .settings
            .targets
            .iter()
            .enumerate()
            .filter_map(|(target, to)| Some((target, SocketAddr::new(to.host.parse().ok()?, to.port))));
        upstream.set_addresses(addresses.collect(), has_names);
        upstream
    }

    /// Targets that are names: their numbers, hosts and ports.
    pub(crate) fn names(&self) -> impl Iterator<Item = (usize, &str, u16)> {
        let targets = self.settings.targets.iter().enumerate();
        targets
            .filter(|(_, target)| target.host.parse::<std::net::IpAddr>().is_err())
            .map(|(number, target)| (number, target.host.as_str(), target.port))
    }

    /// Addresses of a target that are known now.
    pub(crate) fn addresses_of(&self, target: usize) -> Vec<SocketAddr> {
        self.members.borrow().iter().filter(|member| member.target == target).map(|member| member.address).collect()
    }

    /// Sets the addresses of all targets, each with its target's number. Those that stay keep their connections and health.
    pub(crate) fn set_addresses(&self, wanted: Vec<(usize, SocketAddr)>, is_unresolved: bool) {
        let mut members = self.members.borrow_mut();
        members.retain(|member| wanted.contains(&(member.target, member.address)));
        for (target, address) in wanted {
            if members.iter().any(|member| member.address == address && member.target == target) {
                continue;
            }
            let id = self.next_id.get();
            self.next_id.set(id.wrapping_add(1));
            members.push(Rc::new(Member {
                id,
                target,
                address,
                text: address.to_string().into(),
                idle: RefCell::default(),
                requests: Cell::new(0),
                failures: Cell::new(0),
                fault: RefCell::new(None),
            }));
        }
        let places: Vec<Place> = members
            .iter()
            .map(|member| {
                let target = &self.settings.targets[member.target];
                Place { id: member.id, weight: target.weight, is_backup: target.is_backup }
            })
            .collect();
        drop(members);
        self.balance.borrow_mut().set(&places);
        self.unresolved.set(is_unresolved);
        for signal in self.waiting.borrow().iter() {
            signal.set();
        }
    }

    pub(crate) fn members(&self) -> Vec<Rc<Member>> {
        self.members.borrow().clone()
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.epoch.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Counts a request for the budget of retries.
    pub(crate) fn earn(&self) {
        self.budget.borrow_mut().earn();
    }

    /// Takes a retry from the budget, if it has one.
    pub(crate) fn takes_retry(&self) -> bool {
        self.budget.borrow_mut().take(self.epoch.elapsed().as_secs())
    }

    /// Place at an address, if possible at none of `tried`. Waits for one within the time for connecting.
    ///
    /// # Errors
    /// Where no address is known, or none has room in time.
    pub(crate) async fn place(self: &Rc<Self>, tried: &[MemberId]) -> Result<Grip, Fault> {
        if let Choice::Member(id) = self.balance.borrow_mut().choose(self.now_ms(), tried)
            && let Some(grip) = self.grip(id)
        {
            return Ok(grip);
        }
        self.wait(tried).await
    }

    async fn wait(self: &Rc<Self>, tried: &[MemberId]) -> Result<Grip, Fault> {
        let deadline = Instant::now() + self.settings.times.connect;
        let line_max = usize::try_from(self.settings.upstream.connections_max).unwrap_or(usize::MAX);
        loop {
            let choice = self.balance.borrow_mut().choose(self.now_ms(), tried);
            let fault = match choice {
                Choice::Member(id) => match self.grip(id) {
                    Some(grip) => return Ok(grip),
                    None => Fault::new(End::Unreachable, Stage::Unsent),
                },
                Choice::None if !self.unresolved.get() => {
                    return Err(Fault::new(End::Unreachable, Stage::Unsent));
                }
                Choice::None => Fault::new(End::Unreachable, Stage::Unsent),
                Choice::Full => Fault::new(End::Full, Stage::Unsent),
            };
            if self.waiting.borrow().len() >= line_max {
                return Err(fault);
            }
            let place = InLine { upstream: self, signal: Rc::default() };
            self.waiting.borrow_mut().push_back(Rc::clone(&place.signal));
            if timeout_at(deadline, place.signal.wait()).await.is_err() {
                return Err(fault);
            }
        }
    }

    fn grip(self: &Rc<Self>, id: MemberId) -> Option<Grip> {
        let member = self.members.borrow().iter().find(|member| member.id == id).cloned()?;
        member.requests.update(|count| count + 1);
        Some(Grip { upstream: Rc::clone(self), member, ended: Cell::new(Ended::Unknown) })
    }

    fn release(&self, member: &Member, ended: Ended) {
        let changed = self.balance.borrow_mut().ended(member.id, ended, self.now_ms());
        self.tell(member, changed);
        if let Some(signal) = self.waiting.borrow_mut().pop_front() {
            signal.set();
        }
    }

    /// Takes the result of a health check.
    pub(crate) fn checked(&self, member: &Member, result: &Result<(), Unhealthy>) {
        if let Err(fault) = result {
            *member.fault.borrow_mut() = Some(fault.to_string().chars().take(FAULT_CHARS_MAX).collect());
        }
        let changed = self.balance.borrow_mut().checked(member.id, result.is_ok(), self.now_ms());
        self.tell(member, changed);
    }

    fn tell(&self, member: &Member, changed: Option<Health>) {
        let Some(health) = changed else { return };
        let fault = member.fault.borrow();
        let why = fault.as_deref().unwrap_or("unknown");
        let (name, address) = (&self.name, &member.text);
        match health {
            Health::Healthy => (self.report)(false, &format!("upstream {name}: {address} is healthy again")),
            Health::Ejected => {
                (self.report)(true, &format!("upstream {name}: {address} gets no requests for a while ({why})"));
            }
            Health::Down => {
                (self.report)(true, &format!("upstream {name}: {address} fails its health check ({why})"));
            }
        }
    }

    /// Connection to the address: an idle one, unless `is_fresh` asks for a new one.
    ///
    /// # Errors
    /// Where none can be made in time.
    pub(crate) async fn connect(
        &self,
        member: &Member,
        client: Option<Ends>,
        is_fresh: bool,
    ) -> Result<Connection, NoConnection> {
        if !is_fresh {
            while let Some(mut connection) = member.take_idle() {
                if connection.is_quiet() {
                    return Ok(connection);
                }
            }
        }
        let target = &self.settings.targets[member.target];
        let tls = match (&self.settings.tls, target.is_tls) {
            (Some(tls), true) => {
                let name = self.settings.server_name(target).ok_or(NoConnection::Name)?;
                Some((tls, name))
            }
            _ => None,
        };
        let first = self.settings.proxy().map(|version| proxy::header(version, client)).unwrap_or_default();
        let opened = tokio::time::timeout(self.settings.times.connect, Connection::open(member.address, &first, tls));
        Ok(opened.await.map_err(|_| NoConnection::Late)??)
    }

    /// Stores a connection for the next request. One that began with a client's address is for that client alone.
    pub(crate) fn keep(&self, member: &Member, mut connection: Connection) {
        if self.settings.proxy().is_none() {
            connection.idle_since = Instant::now();
            member.idle.borrow_mut().push(connection);
        }
    }

    /// Closes connections that are idle for too long.
    pub(crate) fn close_idle(&self) {
        for member in self.members.borrow().iter() {
            member
                .idle
                .borrow_mut()
                .retain_mut(|connection| connection.idle_since.elapsed() < IDLE_TIMEOUT && connection.is_quiet());
        }
    }

    pub(crate) fn count(&self, health: Health) -> usize {
        let (balance, now_ms) = (self.balance.borrow(), self.now_ms());
        self.members.borrow().iter().filter(|member| balance.health(member.id, now_ms) == health).count()
    }

    pub(crate) fn connections(&self) -> usize {
        let balance = self.balance.borrow();
        let open = |member: &Rc<Member>| member.idle.borrow().len() + balance.in_flight(member.id) as usize;
        self.members.borrow().iter().map(open).sum()
    }

    /// State of the upstream for `sluice status`.
    pub fn snapshot(&self) -> UpstreamSnapshot {
        let (balance, now_ms) = (self.balance.borrow(), self.now_ms());
        let target = |member: &Rc<Member>| TargetSnapshot {
            target: self.settings.targets[member.target].authority(),
            address: member.text.to_string(),
            health: match balance.health(member.id, now_ms) {
                Health::Healthy => "healthy",
                Health::Ejected => "ejected",
                Health::Down => "down",
            }
            .to_owned(),
            is_backup: self.settings.targets[member.target].is_backup,
            in_flight: balance.in_flight(member.id).into(),
            idle: member.idle.borrow().len() as u64,
            requests_total: member.requests.get(),
            failures_total: member.failures.get(),
            fault: member.fault.borrow().clone(),
        };
        UpstreamSnapshot {
            name: self.name.to_string(),
            targets: self.members.borrow().iter().map(target).collect(),
            waiting: self.waiting.borrow().len() as u64,
            requests_total: self.stats.requests(),
            failures_total: self.stats.failures(),
            retries_total: self.stats.retries.get(),
        }
    }
}
