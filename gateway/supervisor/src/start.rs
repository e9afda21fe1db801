//! Start of the supervisor: its guardian, its control socket, and the tasks that watch the workers.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;

use sluice_journal::Tasks;
use tokio::sync::{mpsc, oneshot};

use crate::auxiliary::Auxiliaries;
use crate::control::state::StateNotes;
use crate::evidence::Moves;
use crate::guardian::Guardian;
use crate::main_server::MainServer;
use crate::{App, Gate, Notifications, Supervisor, changes, control, priority, waits, watch};

impl Supervisor {
    /// Starts the guardian and the control socket; workers follow as the gate asks for them. `app` is that of
    /// generation 1.
    ///
    /// # Errors
    /// When the guardian cannot be started or the control socket cannot be bound.
    pub fn start(app: App, gate: Rc<dyn Gate>, tasks: Tasks) -> io::Result<(Rc<Self>, Notifications)> {
        let (sender, gave_up) = oneshot::channel();
        let (reloads_sender, reloads) = mpsc::unbounded_channel();
        let control_socket = app.control_socket();
        let development = app.development.clone();
        let supervisor = Rc::new(Supervisor {
            guardian: Guardian::start(&tasks)?,
            may_raise: priority::may_raise(),
            journal: tasks.journal.clone(),
            gate,
            auxiliaries: Auxiliaries::new(tasks.clone()),
            tasks,
            main_server: MainServer::default(),
            processes: RefCell::default(),
            restarts: RefCell::default(),
            loop_delays: Cell::default(),
            backing_off: RefCell::default(),
            gave_up: RefCell::new(Some(sender)),
            reloads: reloads_sender,
            last_failure: RefCell::default(),
            react: RefCell::default(),
            component_cache: Cell::default(),
            react_off_told: Cell::new(false),
            overruns: RefCell::default(),
            state_notes: StateNotes::default(),
            is_lost_evidence_told: Cell::default(),
            evidence_moves: Moves::default(),
            misfit: RefCell::default(),
            is_looking: Rc::default(),
            sockets: app.sockets.clone(),
            profiles: app.profiles.clone(),
            profiles_instead: app.profiles_instead.clone(),
            apps: RefCell::new(BTreeMap::from([(1, Rc::new(app))])),
        });
        control::serve(&supervisor, &control_socket)?;
        supervisor.tasks.spawn("watch", watch::run(Rc::clone(&supervisor)));
        supervisor.tasks.spawn("waits", waits::run(Rc::clone(&supervisor)));
        if let Some(further) = development {
            supervisor.tasks.spawn("changes", changes::run(Rc::clone(&supervisor), further));
        }
        supervisor.gate.set_may_raise(supervisor.may_raise);
        let host = Rc::clone(&supervisor);
        let purging = Rc::downgrade(&supervisor);
        supervisor.gate.set_parts_purger(Rc::new(move |purge| {
            purging.upgrade().map(|supervisor| supervisor.purge_parts(purge)).unwrap_or_default()
        }));
        supervisor.gate.set_host(Rc::new(move |action| host.carry_out(action)));
        Ok((supervisor, Notifications { gave_up, reloads }))
    }
}
