//! One upstream: its addresses, the connections to each, and the requests that wait for one.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use sluice_catalog::config::Target;
use sluice_catalog::snapshot::{TargetSnapshot, UpstreamSnapshot};
use tokio::time::{Instant, timeout_at};

use crate::balance::{Balance, Choice, Ended, Health, MemberId, Place, Taken};
use crate::budget::Budget;
use crate::connection::Connection;
use crate::fault::{Fault, NoConnection, Stage, Unhealthy};
use crate::line::Line;
use crate::proxy::{self, Ends};
use crate::settings::Settings;
use crate::stats::{End, Stats};

/// Maximum stored length of a fault for `sluice status`, characters.
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
    line: Line,
    /// Targets whose names were not looked up yet.
    unresolved: RefCell<BTreeSet<usize>>,
    budget: RefCell<Budget>,
    report: Report,
    /// Configs that have it. Without one, no request will come.
    owners: Cell<u32>,
    epoch: Instant,
}

/// A request's place at an address, which is given up when this is dropped.
pub(crate) struct Grip {
    upstream: Rc<Upstream>,
    pub(crate) member: Rc<Member>,
    taken: Taken,
    ended: Cell<Ended>,
}

impl Grip {
    /// Whether the request tries an address after its ejection.
    pub(crate) fn is_trial(&self) -> bool {
        self.taken.is_trial
    }

    /// Tells that the address has answered, while the request continues.
    pub(crate) fn answered(&self) {
        let changed = self.upstream.balance.borrow_mut().answered(self.taken, self.upstream.now_ms());
        self.upstream.changed(&self.member, changed);
    }

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
        let changed = self.upstream.balance.borrow_mut().ended(self.taken, self.ended.get(), self.upstream.now_ms());
        self.upstream.changed(&self.member, changed);
        self.upstream.line.offer();
    }
}

impl Member {
    /// A connection that is idle for less than this time, and can carry another request.
    fn take_idle(&self, idle_max: Duration) -> Option<Connection> {
        // The last one is idle for the shortest time. Others are closed by `close_idle`.
        let mut idle = self.idle.borrow_mut();
        while let Some(mut connection) = idle.pop_if(|connection| connection.idle_since.elapsed() < idle_max) {
            if connection.is_usable() {
                return Some(connection);
            }
        }
        None
    }

    fn failed(&self, fault: &str) {
        self.failures.update(|count| count + 1);
        *self.fault.borrow_mut() = Some(fault.chars().take(FAULT_CHARS_MAX).collect());
    }
}

impl Upstream {
    /// Upstream with these settings. It takes over the counts of `before`, and what that knows of the same targets.
    pub(crate) fn new(settings: Settings, before: Option<&Self>, report: Report) -> Rc<Self> {
        let in_flight_max = u32::try_from(settings.upstream.connections_max).unwrap_or(u32::MAX);
        let upstream = Rc::new(Upstream {
            name: settings.name().into(),
            stats: before.map(|before| Rc::clone(&before.stats)).unwrap_or_default(),
            balance: RefCell::new(Balance::new(in_flight_max)),
            members: RefCell::default(),
            next_id: Cell::new(0),
            line: Line::default(),
            unresolved: RefCell::default(),
            budget: RefCell::default(),
            report,
            owners: Cell::new(0),
            epoch: before.map_or_else(Instant::now, |before| before.epoch),
            settings,
        });
        let targets = upstream.settings.targets.iter().enumerate();
        let numeric =
            targets.filter_map(|(target, to)| Some((target, SocketAddr::new(to.host.parse().ok()?, to.port))));
        let mut addresses: Vec<_> = numeric.collect();
        for (target, ..) in upstream.names() {
            let known =
                before.map(|before| before.addresses_like(&upstream.settings.targets[target])).unwrap_or_default();
            if known.is_empty() {
                upstream.unresolved.borrow_mut().insert(target);
            }
            addresses.extend(known.into_iter().map(|address| (target, address)));
        }
        upstream.set_addresses(addresses);
        if let Some(before) = before {
            upstream.adopt(before);
        }
        upstream
    }

    /// Copies what `before` knows of the addresses of equal targets.
    fn adopt(&self, before: &Self) {
        let health = |upstream: &Self| upstream.settings.upstream.health.clone();
        let is_same_check = !health(self).is_empty() && health(self) == health(before);
        for member in self.members.borrow().iter() {
            let members = before.members.borrow();
            let (address, target) = (member.address, &self.settings.targets[member.target]);
            let is_same = |old: &&Rc<Member>| {
                old.address == address && is_same_target(&before.settings.targets[old.target], target)
            };
            let Some(old) = members.iter().find(is_same) else { continue };
            member.requests.set(old.requests.get());
            member.failures.set(old.failures.get());
            member.fault.replace(old.fault.borrow().clone());
            self.balance.borrow_mut().adopt(member.id, &before.balance.borrow(), old.id, is_same_check);
        }
    }

    fn addresses_like(&self, wanted: &Target) -> Vec<SocketAddr> {
        let targets = self.settings.targets.iter().enumerate();
        let same = targets.filter(|(_, target)| is_same_target(target, wanted)).map(|(number, _)| number).next();
        same.map(|number| self.addresses_of(number)).unwrap_or_default()
    }

    /// Adds a config that has it.
    pub(crate) fn add_owner(&self) {
        self.owners.update(|owners| owners + 1);
    }

    /// Removes a config that had it. After the last, its idle connections are closed.
    pub(crate) fn remove_owner(&self) {
        self.owners.update(|owners| owners.saturating_sub(1));
        if self.owners.get() == 0 {
            for member in self.members.borrow().iter() {
                member.idle.borrow_mut().clear();
            }
        }
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

    /// Sets the addresses of a target whose name was looked up.
    pub(crate) fn set_addresses_of(&self, target: usize, addresses: &[SocketAddr]) {
        self.unresolved.borrow_mut().remove(&target);
        let mut wanted: Vec<_> = self.members.borrow().iter().map(|member| (member.target, member.address)).collect();
        wanted.retain(|(of, _)| *of != target);
        wanted.extend(addresses.iter().map(|address| (target, *address)));
        self.set_addresses(wanted);
    }

    /// Sets the addresses of all targets, each with its target's number. Those that stay keep their connections and health.
    fn set_addresses(&self, wanted: Vec<(usize, SocketAddr)>) {
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
        self.line.offer_all();
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

    /// Counts a request that is sent again because its connection was closed meanwhile. It needs no retry of the budget, and costs one.
    pub(crate) fn resent(&self) {
        self.takes_retry();
        self.stats.retried();
    }

    /// Whether an address that got a request at `began` is to blame that nothing came: the time was not up, or the address had most of it.
    pub(crate) fn is_to_blame(&self, began: Instant, until: Option<Instant>) -> bool {
        let whole = self.settings.times.whole.unwrap_or_default();
        until.is_none_or(|until| Instant::now() < until) || began.elapsed() * 2 >= whole
    }

    /// Whether the name of the address's target has an address besides those of `tried`.
    pub(crate) fn has_other_address(&self, id: MemberId, tried: &[MemberId]) -> bool {
        let members = self.members.borrow();
        let Some(failed) = members.iter().find(|member| member.id == id) else { return false };
        members.iter().any(|member| member.target == failed.target && member.id != id && !tried.contains(&member.id))
    }

    /// Place at an address, if possible at none of `tried`. Waits for one until `deadline` at most.
    ///
    /// # Errors
    /// Where no address is known, or none has room in time.
    pub(crate) async fn place(self: &Rc<Self>, tried: &[MemberId], deadline: Instant) -> Result<Grip, Fault> {
        let mut fault = Fault::new(End::Full, Stage::Unsent);
        if !self.line.has_offer() {
            match self.take(tried) {
                Ok(grip) => return Ok(grip),
                Err(why) => fault = why,
            }
        }
        let line_max = usize::try_from(self.settings.upstream.connections_max).unwrap_or(usize::MAX);
        if self.is_final(&fault) || self.line.len() >= line_max {
            return Err(fault);
        }
        let place = self.line.enter();
        while timeout_at(deadline, place.offered()).await.is_ok() {
            match self.take(tried) {
                Ok(grip) => {
                    place.accept();
                    return Ok(grip);
                }
                Err(why) => fault = why,
            }
            place.pass_on();
            if self.is_final(&fault) {
                break;
            }
        }
        Err(fault)
    }

    fn take(self: &Rc<Self>, tried: &[MemberId]) -> Result<Grip, Fault> {
        let choice = self.balance.borrow_mut().choose(self.now_ms(), tried);
        match choice {
            Choice::Member(taken) => self.grip(taken).ok_or(Fault::new(End::Unreachable, Stage::Unsent)),
            Choice::None => Err(Fault::new(End::Unreachable, Stage::Unsent)),
            Choice::Full => Err(Fault::new(End::Full, Stage::Unsent)),
        }
    }

    /// Whether waiting does not help.
    fn is_final(&self, fault: &Fault) -> bool {
        fault.end == End::Unreachable && self.unresolved.borrow().is_empty()
    }

    fn grip(self: &Rc<Self>, taken: Taken) -> Option<Grip> {
        let member = self.members.borrow().iter().find(|member| member.id == taken.id).cloned()?;
        member.requests.update(|count| count + 1);
        Some(Grip { upstream: Rc::clone(self), member, taken, ended: Cell::new(Ended::Unknown) })
    }

    /// Takes the result of a health check.
    pub(crate) fn checked(&self, member: &Member, result: &Result<(), Unhealthy>) {
        if let Err(fault) = result {
            *member.fault.borrow_mut() = Some(fault.to_string().chars().take(FAULT_CHARS_MAX).collect());
        }
        let changed = self.balance.borrow_mut().checked(member.id, result.is_ok(), self.now_ms());
        self.changed(member, changed);
    }

    /// Tells the operator of an address's health, if it has changed.
    fn changed(&self, member: &Member, changed: Option<Health>) {
        let Some(health) = changed else { return };
        if health == Health::Healthy {
            self.line.offer_all();
        }
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

    /// Connection to the address: one that is idle for less than `idle_max`, or else a new one, which takes until `deadline` at most.
    ///
    /// # Errors
    /// Where none can be made in time.
    pub(crate) async fn connect(
        &self,
        member: &Member,
        client: Option<Ends>,
        idle_max: Duration,
        deadline: Instant,
    ) -> Result<Connection, NoConnection> {
        if let Some(connection) = member.take_idle(idle_max) {
            return Ok(connection);
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
        let opened = timeout_at(deadline, Connection::open(member.address, &first, tls));
        Ok(opened.await.map_err(|_| NoConnection::Late)??)
    }

    /// Stores a connection for the next request. One that began with a client's address is for that client alone.
    pub(crate) fn keep(&self, member: &Member, mut connection: Connection) {
        if self.settings.proxy().is_none() && self.owners.get() > 0 {
            connection.idle_since = Instant::now();
            member.idle.borrow_mut().push(connection);
        }
    }

    /// Closes connections that are idle for too long.
    pub(crate) fn close_idle(&self) {
        for member in self.members.borrow().iter() {
            member.idle.borrow_mut().retain_mut(Connection::is_usable);
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
            waiting: self.line.len() as u64,
            requests_total: self.stats.requests(),
            failures_total: self.stats.failures(),
            retries_total: self.stats.retries.get(),
        }
    }
}

fn is_same_target(one: &Target, other: &Target) -> bool {
    (one.is_tls, &one.host, one.port) == (other.is_tls, &other.host, other.port)
}

#[cfg(test)]
mod tests {
    use std::cell::OnceCell;

    use sluice_catalog::config::{self, Config};
    use tokio::net::TcpListener;
    use tokio::task::{JoinHandle, LocalSet, spawn_local, yield_now};

    use super::*;
    use crate::connection::IDLE_TIMEOUT;

    fn settings(to: &[&str], health: &str, connections_max: u64) -> Settings {
        let upstream = config::Upstream {
            name: "legacy".to_owned(),
            to: to.iter().map(|target| (*target).to_owned()).collect(),
            connections_max,
            health: health.to_owned(),
            ..config::Upstream::default()
        };
        Settings::of(&upstream, &Config::default(), &OnceCell::new()).unwrap()
    }

    fn upstream(settings: Settings, before: Option<&Upstream>) -> Rc<Upstream> {
        Upstream::new(settings, before, Rc::new(|_, _| ()))
    }

    type Order = Rc<RefCell<Vec<&'static str>>>;

    /// Request that notes its name when it has a place, and then gives the place up.
    fn wait(upstream: &Rc<Upstream>, order: &Order, name: &'static str, tried: &[MemberId]) -> JoinHandle<()> {
        let (upstream, order, tried) = (Rc::clone(upstream), Rc::clone(order), tried.to_vec());
        spawn_local(async move {
            let deadline = Instant::now() + Duration::from_secs(60);
            let grip = upstream.place(&tried, deadline).await;
            order.borrow_mut().push(if grip.is_ok() { name } else { "refused" });
        })
    }

    async fn place(upstream: &Rc<Upstream>, tried: &[MemberId]) -> Grip {
        upstream.place(tried, Instant::now()).await.unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn the_line_is_kept_and_a_newcomer_stands_behind_it() {
        let run = async {
            let upstream = upstream(settings(&["http://127.0.0.1:1"], "", 2), None);
            let order = Order::default();
            let (one, two) = (place(&upstream, &[]).await, place(&upstream, &[]).await);
            let first = wait(&upstream, &order, "first", &[]);
            let second = wait(&upstream, &order, "second", &[]);
            yield_now().await;
            assert_eq!(upstream.snapshot().waiting, 2);
            drop(one);
            // A place is free, and it is the first one's.
            assert!(upstream.place(&[], Instant::now()).await.is_err());
            for waiting in [first, second] {
                waiting.await.unwrap();
            }
            assert_eq!(*order.borrow(), ["first", "second"]);
            drop(two);
            assert_eq!(upstream.snapshot().waiting, 0);
            place(&upstream, &[]).await;
        };
        LocalSet::new().run_until(run).await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_place_that_the_first_in_line_does_not_use_goes_to_the_next() {
        let run = async {
            let upstream = upstream(settings(&["http://127.0.0.1:1", "http://127.0.0.1:2 backup"], "", 3), None);
            let order = Order::default();
            let mut held = Vec::new();
            for _ in 0..3 {
                held.push(place(&upstream, &[]).await);
            }
            let ids = [held[0].member.id];
            let mut backup = Vec::new();
            for _ in 0..3 {
                backup.push(place(&upstream, &ids).await);
            }
            // This one is for the backup alone.
            let picky = wait(&upstream, &order, "picky", &ids);
            yield_now().await;
            let leaving = wait(&upstream, &order, "leaving", &[]);
            yield_now().await;
            assert_eq!(upstream.snapshot().waiting, 2);
            // The first has no use for the place, and the next one leaves before it looks.
            held.pop();
            leaving.abort();
            let last = upstream.place(&[], Instant::now() + Duration::from_secs(1)).await;
            assert!(last.is_ok(), "the place was passed on");
            assert_eq!(upstream.snapshot().waiting, 1);
            drop((last, held, backup));
            picky.await.unwrap();
            assert_eq!(*order.borrow(), ["picky"]);
        };
        LocalSet::new().run_until(run).await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_reload_keeps_what_is_known_of_equal_targets() {
        let before = upstream(settings(&["http://127.0.0.1:1", "http://legacy.example"], "/health", 10), None);
        let known = ["192.0.2.1:80", "192.0.2.2:80"].map(|address| address.parse().unwrap());
        assert!(!before.unresolved.borrow().is_empty());
        before.set_addresses_of(1, &known);
        let members = before.members();
        for _ in 0..3 {
            let grip = place(&before, &[members[1].id, members[2].id]).await;
            assert_eq!(grip.member.id, members[0].id);
            grip.fail("refused");
        }
        for _ in 0..2 {
            before.checked(&members[1], &Err(Unhealthy::Closed));
        }
        let states = |upstream: &Upstream| -> Vec<(String, String, u64)> {
            let targets = upstream.snapshot().targets.into_iter();
            targets.map(|target| (target.address, target.health, target.failures_total)).collect()
        };
        let same_check = settings(&["http://127.0.0.1:1 weight=2", "http://legacy.example"], "/health", 10);
        let after = upstream(same_check, Some(&before));
        assert_eq!(states(&after), states(&before));
        assert_eq!(
            states(&after).iter().map(|(_, health, _)| &**health).collect::<Vec<_>>(),
            ["ejected", "down", "healthy"]
        );
        assert!(after.unresolved.borrow().is_empty());
        // Nobody would take the verdict of a check back that is no more.
        let no_check = upstream(settings(&["http://legacy.example", "http://127.0.0.1:9"], "", 10), Some(&before));
        assert_eq!(no_check.count(Health::Healthy), 3);
    }

    #[tokio::test]
    async fn connections_are_kept_for_as_long_as_the_target_and_a_config_want_them() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let target = format!("http://{}", listener.local_addr().unwrap());
        let upstream = upstream(settings(&[&target], "", 10), None);
        let member = Rc::clone(&upstream.members()[0]);
        let deadline = Instant::now() + Duration::from_secs(30);
        let open = async || upstream.connect(&member, None, Duration::ZERO, deadline).await.ok().unwrap();
        upstream.keep(&member, open().await);
        assert!(member.take_idle(IDLE_TIMEOUT).is_none(), "no config has it");
        upstream.add_owner();
        let (mut short, mut long) = (open().await, open().await);
        short.note_keep_alive(b"timeout=0, max=100");
        long.note_keep_alive(b"max=100, Timeout=600");
        assert_eq!(long.idle_max, IDLE_TIMEOUT);
        long.note_keep_alive(b"timeout=2");
        assert_eq!(long.idle_max, Duration::from_millis(1_600));
        upstream.keep(&member, long);
        upstream.keep(&member, short);
        assert!(member.take_idle(Duration::ZERO).is_none());
        assert_eq!(member.idle.borrow().len(), 2);
        let taken = member.take_idle(IDLE_TIMEOUT).unwrap();
        assert_eq!(taken.idle_max, Duration::from_millis(1_600), "the other one may be idle for no time");
        upstream.keep(&member, taken);
        upstream.remove_owner();
        assert_eq!(member.idle.borrow().len(), 0);
    }
}
