//! Shares of visitors who get server rendering (the dial), as workers, operators and browsers meet them, and beacons, which report the
//! effects. It must not know how a share is drawn.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::rc::Rc;

use sluice_catalog::config::{self, Dial, DialFault};
use sluice_catalog::snapshot::DialSnapshot;
use sluice_classes::Traits;
use sluice_journal::Event as Happening;
use sluice_message::{Method, RequestHead};
use sluice_observe::Observer;
use sluice_supervisor::DialInForce;
use sluice_vitals::Beacon;
use tokio::time::Instant;

use super::settings::Settings;
use super::workers::Workers;
use crate::admit::beacons::Beacons;
use crate::answers::vitals::page_path;

/// The dial, and the limits on beacons, which report its effects.
pub struct Rendering {
    dial: RefCell<Dial>,
    /// `sluice dial` has changed the dial since the config came into force.
    is_turned: Cell<bool>,
    in_force: RefCell<Rc<DialInForce>>,
    beacons: RefCell<Beacons>,
    settings: Rc<Settings>,
    observer: Rc<Observer>,
    epoch: Instant,
}

impl Rendering {
    pub(super) fn new(settings: &Rc<Settings>, observer: &Rc<Observer>, epoch: Instant) -> Self {
        let dial = of_config(&settings.config().render);
        let in_force = DialInForce { version: 1, server: ratios(&dial) };
        Rendering {
            dial: RefCell::new(dial),
            is_turned: Cell::new(false),
            in_force: RefCell::new(Rc::new(in_force)),
            beacons: RefCell::default(),
            settings: Rc::clone(settings),
            observer: Rc::clone(observer),
            epoch,
        }
    }

    /// Puts a dial in force. Returns whether its shares have changed.
    fn put(&self, dial: Dial) -> bool {
        let server = ratios(&dial);
        let mut in_force = self.in_force.borrow_mut();
        let is_changed = *self.dial.borrow() != dial;
        if is_changed {
            *in_force = Rc::new(DialInForce { version: in_force.version + 1, server });
        }
        *self.dial.borrow_mut() = dial;
        is_changed
    }

    /// Dial setting that workers are told.
    pub fn dial_in_force(&self) -> Rc<DialInForce> {
        Rc::clone(&self.in_force.borrow())
    }

    /// Puts the config's dial in force, and discards changes by `sluice dial`.
    pub(super) fn set_config(&self, config: &config::Render) {
        self.is_turned.set(false);
        if self.put(of_config(config)) {
            self.tell_shares();
        }
    }

    /// Changes the shares of some entries, or with `replaces` those of all, until the next reload. Workers get them within a second.
    ///
    /// # Errors
    /// All that is wrong with the entries.
    pub fn turn(&self, entries: &BTreeMap<String, String>, replaces: bool) -> Result<DialSnapshot, Vec<DialFault>> {
        let dial = if replaces { Dial::read(entries)? } else { self.dial.borrow().with(entries)? };
        let config = self.settings.config();
        self.is_turned.set(dial != of_config(&config.render));
        if self.put(dial) {
            self.tell_shares();
        }
        Ok(self.snapshot())
    }

    fn tell_shares(&self) {
        let DialSnapshot { server, .. } = self.snapshot();
        let shares: Vec<_> = server.iter().map(|(name, share)| format!("{name} = {share}")).collect();
        self.observer.emit(Happening::DialChanged { shares: &shares.join(", ") });
    }

    /// The dial as operators see it.
    pub fn snapshot(&self) -> DialSnapshot {
        DialSnapshot { server: self.dial.borrow().texts(), turned: self.is_turned.get() }
    }

    /// Counts a beacon of this client. If it is over its limit, returns the seconds after which it may send the next.
    pub(crate) fn over_beacons(&self, client: IpAddr) -> Option<u32> {
        let now_ns = u64::try_from(self.epoch.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.beacons.borrow_mut().refuses(client, now_ns)
    }

    /// Takes a browser's measurements of a page of this host.
    pub(crate) fn take_beacon(&self, beacon: &Beacon, head: &RequestHead, workers: &dyn Workers) {
        let class = page_path(beacon, head).and_then(|target| {
            let traits = Traits { method: &Method::Get, host: &head.authority, target, body_bytes: 0 };
            workers.known_class(&traits)
        });
        self.observer.effects.measured(beacon, class.as_deref());
    }
}

/// Dial of a config, which was checked before.
fn of_config(config: &config::Render) -> Dial {
    Dial::read(&config.server).unwrap_or_default()
}

fn ratios(dial: &Dial) -> BTreeMap<String, f64> {
    dial.shares().iter().map(|(name, share)| (name.clone(), share.ratio())).collect()
}
