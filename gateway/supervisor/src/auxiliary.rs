//! Further addresses that an app listens on, such as a metrics port.
//!
//! Every worker would want the same address, and only one could have it. So each worker listens on a private socket, the
//! gateway listens on the address, and passes each connection as raw bytes to one worker after the other. These
//! connections take no slot.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use sluice_journal::{Event, Journal, Level};
use sluice_proxy::listen;
use sluice_scheduler::WorkerId;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener, UnixStream};
use tokio::task::AbortHandle;

/// Connections that one address may have open.
const CONNECTIONS_MAX: usize = 512;

/// Where the app wanted to listen.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Address {
    /// No host means loopback: an app that does not name one must not open a second door to the world by accident.
    Port {
        host: String,
        port: u16,
    },
    Path(PathBuf),
}

impl Address {
    pub(crate) fn new(port: Option<u16>, host: Option<String>, path: Option<String>) -> Option<Self> {
        match (port, path) {
            (_, Some(path)) => Some(Address::Path(path.into())),
            (Some(port), None) => Some(Address::Port { host: host.unwrap_or_else(|| "127.0.0.1".to_owned()), port }),
            (None, None) => None,
        }
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Address::Port { host, port } => f.write_str(&listen::display(host, *port)),
            Address::Path(path) => path.display().fmt(f),
        }
    }
}

/// One address and the workers behind it.
#[derive(Default)]
struct Relay {
    targets: RefCell<Vec<(WorkerId, PathBuf)>>,
    next: Cell<usize>,
    open: Cell<usize>,
    accepting: RefCell<Option<AbortHandle>>,
}

/// All further addresses.
pub(crate) struct Auxiliaries {
    journal: Journal,
    relays: RefCell<HashMap<Address, Rc<Relay>>>,
}

impl Auxiliaries {
    pub(crate) fn new(journal: Journal) -> Self {
        Auxiliaries { journal, relays: RefCell::default() }
    }

    /// A worker listens behind this address.
    pub(crate) fn add(&self, worker: WorkerId, address: &Address, socket: PathBuf) {
        let mut relays = self.relays.borrow_mut();
        let relay = relays.entry(address.clone()).or_insert_with(|| {
            let relay = Rc::new(Relay::default());
            self.open(address, &relay);
            relay
        });
        relay.targets.borrow_mut().push((worker, socket));
    }

    /// A worker closed this one server.
    pub(crate) fn remove(&self, worker: WorkerId, socket: &Path) {
        self.retain(|target, path| target != worker || path != socket);
    }

    /// A worker has gone.
    pub(crate) fn forget(&self, worker: WorkerId) {
        self.retain(|target, _| target != worker);
    }

    /// The address stays bound while no worker is behind it: the next worker of the app will want it again.
    fn retain(&self, keep: impl Fn(WorkerId, &Path) -> bool) {
        for relay in self.relays.borrow().values() {
            relay.targets.borrow_mut().retain(|(worker, path)| keep(*worker, path));
        }
    }

    fn open(&self, address: &Address, relay: &Rc<Relay>) {
        let shared = Rc::clone(relay);
        let task = match address {
            Address::Port { host, port } => {
                listen::bind(host, *port).map(|listener| tokio::task::spawn_local(accept_tcp(listener, shared)))
            }
            Address::Path(path) => {
                UnixListener::bind(path).map(|listener| tokio::task::spawn_local(accept_unix(listener, shared)))
            }
        };
        let text = match &task {
            Ok(_) => format!("the app also listens on {address}; connections there go to its workers in turn"),
            Err(error) => format!("the app also wants to listen on {address}, but: {error}"),
        };
        let level = if task.is_ok() { Level::Info } else { Level::Error };
        self.journal.emit(Event::Note { level, text: &text });
        *relay.accepting.borrow_mut() = task.ok().map(|task| task.abort_handle());
    }
}

impl Drop for Auxiliaries {
    fn drop(&mut self) {
        for relay in self.relays.borrow().values() {
            if let Some(task) = relay.accepting.borrow_mut().take() {
                task.abort();
            }
        }
    }
}

async fn accept_tcp(listener: TcpListener, relay: Rc<Relay>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => pass_on(stream, &relay),
            Err(_) => tokio::time::sleep(std::time::Duration::from_millis(100)).await,
        }
    }
}

async fn accept_unix(listener: UnixListener, relay: Rc<Relay>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => pass_on(stream, &relay),
            Err(_) => tokio::time::sleep(std::time::Duration::from_millis(100)).await,
        }
    }
}

fn pass_on(mut stream: impl AsyncRead + AsyncWrite + Unpin + 'static, relay: &Rc<Relay>) {
    if relay.open.get() >= CONNECTIONS_MAX {
        return;
    }
    let relay = Rc::clone(relay);
    relay.open.set(relay.open.get() + 1);
    tokio::task::spawn_local(async move {
        let attempts = relay.targets.borrow().len();
        for _ in 0..attempts {
            let target = {
                let targets = relay.targets.borrow();
                let at = relay.next.replace(relay.next.get().wrapping_add(1));
                targets.get(at % targets.len().max(1)).map(|(_, path)| path.clone())
            };
            let Some(target) = target else { break };
            if let Ok(mut worker) = UnixStream::connect(target).await {
                let _ = tokio::io::copy_bidirectional(&mut stream, &mut worker).await;
                break;
            }
        }
        relay.open.set(relay.open.get() - 1);
    });
}
