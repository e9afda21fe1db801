//! Share of pages that workers render, and the browsers that may report on it. It must not know how a share is drawn.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use sluice_catalog::config::{self, Dial};
use sluice_supervisor::DialInForce;

use crate::admit::beacons::Beacons;

/// The dial, and the limits on beacons, which report its effects.
pub(super) struct Rendering {
    pub(super) dial: RefCell<Dial>,
    /// `sluice dial` has changed the dial since the config came into force.
    pub(super) is_turned: Cell<bool>,
    pub(super) in_force: RefCell<Rc<DialInForce>>,
    pub(super) beacons: RefCell<Beacons>,
}

impl Rendering {
    pub(super) fn new(config: &config::Render) -> Self {
        let dial = of_config(config);
        let in_force = DialInForce { version: 1, server: ratios(&dial) };
        Rendering {
            dial: RefCell::new(dial),
            is_turned: Cell::new(false),
            in_force: RefCell::new(Rc::new(in_force)),
            beacons: RefCell::default(),
        }
    }

    /// Puts a dial in force. Returns whether its shares have changed.
    pub(super) fn set(&self, dial: Dial) -> bool {
        let server = ratios(&dial);
        let mut in_force = self.in_force.borrow_mut();
        let is_changed = *self.dial.borrow() != dial;
        if is_changed {
            *in_force = Rc::new(DialInForce { version: in_force.version + 1, server });
        }
        *self.dial.borrow_mut() = dial;
        is_changed
    }
}

/// Dial of a config, which was checked before.
pub(super) fn of_config(config: &config::Render) -> Dial {
    Dial::read(&config.server).unwrap_or_default()
}

fn ratios(dial: &Dial) -> BTreeMap<String, f64> {
    dial.shares().iter().map(|(name, share)| (name.clone(), share.ratio())).collect()
}
