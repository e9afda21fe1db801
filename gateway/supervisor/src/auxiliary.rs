//! Additional addresses that an app listens on, such as a metrics port.
//!
//! Every worker would want the same address, and only one could have it. So each worker listens on a private socket.
//! The gateway listens on the address, and passes each connection as raw bytes to one worker after the other. These
//! connections take no slot.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use sluice_journal::{Event, Journal, Level, Tasks};
use sluice_scheduler::WorkerId;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener, UnixStream};
use tokio::sync::Notify;
use tokio::task::AbortHandle;

use crate::preface;

/// Maximum number of additional addresses of an app.
const ADDRESSES_MAX: usize = 32;
/// Maximum number of open connections per address.
const CONNECTIONS_MAX: usize = 512;
/// Maximum number of workers to which a connection is offered before it is closed.
const TRIES_MAX: usize = 8;
/// Time between two attempts to bind an address.
const BIND_PERIOD: Duration = Duration::from_secs(2);

/// Address on which the app wanted to listen.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Address {
    /// A port. Without a host it means loopback: an app that names no host must not be exposed to the network by
    /// accident.
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
            Address::Port { host, port } => f.write_str(&sluice_sockets::display(host, *port)),
            Address::Path(path) => path.display().fmt(f),
        }
    }
}

/// Socket of a worker behind an address.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) worker: WorkerId,
    pub(crate) socket: PathBuf,
    /// Whether the worker wants the client's addresses before the connection's data.
    pub(crate) takes_preface: bool,
}

/// One address and the workers behind it.
#[derive(Default)]
struct Relay {
    targets: RefCell<Vec<Target>>,
    next: Cell<usize>,
    open: Cell<usize>,
    serving: RefCell<Option<AbortHandle>>,
}

impl Relay {
    /// Next worker in turn that was not tried. A worker may have appeared during an earlier attempt.
    fn untried(&self, tried: &[PathBuf]) -> Option<Target> {
        let targets = self.targets.borrow();
        let first = self.next.replace(self.next.get().wrapping_add(1));
        let turn = (0..targets.len()).map(|offset| &targets[first.wrapping_add(offset) % targets.len()]);
        turn.filter(|_| tried.len() < TRIES_MAX).find(|target| !tried.contains(&target.socket)).cloned()
    }

    fn close(&self) -> Option<AbortHandle> {
        let task = self.serving.borrow_mut().take();
        task.inspect(AbortHandle::abort)
    }
}

/// All additional addresses.
pub(crate) struct Auxiliaries {
    tasks: Tasks,
    relays: RefCell<HashMap<Address, Rc<Relay>>>,
    /// Whether the operator was told that there are too many.
    is_full_noted: Cell<bool>,
    held: Rc<AddressHandover>,
}

/// Whether another gateway still has the addresses, and the tasks that wait for them.
#[derive(Default)]
struct AddressHandover {
    is_held: Cell<bool>,
    opened: Notify,
}

impl Auxiliaries {
    pub(crate) fn new(tasks: Tasks) -> Self {
        Auxiliaries { tasks, relays: RefCell::default(), is_full_noted: Cell::new(false), held: Rc::default() }
    }

    pub(crate) fn hold(&self) {
        self.held.is_held.set(true);
    }

    pub(crate) fn open(&self) {
        self.held.is_held.set(false);
        self.held.opened.notify_waiters();
    }

    /// Releases every address; all are free when this returns.
    pub(crate) async fn release(&self) {
        let tasks: Vec<_> = self.relays.borrow().values().filter_map(|relay| relay.close()).collect();
        // An aborted task closes its socket when it is looked at the next time.
        while tasks.iter().any(|task| !task.is_finished()) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// Adds a worker's socket behind this address.
    pub(crate) fn add(&self, address: &Address, target: Target) {
        let mut relays = self.relays.borrow_mut();
        if !relays.contains_key(address) && relays.len() >= ADDRESSES_MAX {
            // Addresses that are only kept for a worker to come back to make room first.
            relays.retain(|_, relay| {
                let is_used = !relay.targets.borrow().is_empty();
                if !is_used {
                    relay.close();
                }
                is_used
            });
            if relays.len() >= ADDRESSES_MAX {
                return self.note_full(address);
            }
        }
        let relay = relays.entry(address.clone()).or_insert_with(|| {
            let relay = Rc::new(Relay::default());
            let task = serve(address.clone(), Rc::clone(&relay), Rc::clone(&self.held), self.tasks.journal.clone());
            *relay.serving.borrow_mut() = Some(self.tasks.spawn("further-address", task));
            relay
        });
        relay.targets.borrow_mut().push(target);
    }

    fn note_full(&self, address: &Address) {
        if !self.is_full_noted.replace(true) {
            let text = format!(
                "the app wants to listen on more than {ADDRESSES_MAX} further addresses; {address} and later \
                 addresses are not opened"
            );
            self.tasks.journal.emit(Event::Note { level: Level::Error, text: &text });
        }
    }

    /// Removes one socket that a worker has closed.
    pub(crate) fn remove(&self, worker: WorkerId, socket: &Path) {
        self.retain(|target, path| target != worker || path != socket);
    }

    /// Removes all sockets of a worker that has exited.
    pub(crate) fn forget(&self, worker: WorkerId) {
        self.retain(|target, _| target != worker);
    }

    /// Removes sockets but keeps their addresses bound, because the next worker of the app will want them again.
    fn retain(&self, keep: impl Fn(WorkerId, &Path) -> bool) {
        for relay in self.relays.borrow().values() {
            relay.targets.borrow_mut().retain(|target| keep(target.worker, &target.socket));
        }
    }
}

/// Stops the tasks of the relays. Each task refers to its relay, so neither would be freed otherwise.
impl Drop for Auxiliaries {
    fn drop(&mut self) {
        for relay in self.relays.borrow().values() {
            relay.close();
        }
    }
}

/// Binds the address, retrying while another process has it, and then accepts connections on it.
async fn serve(address: Address, relay: Rc<Relay>, held: Rc<AddressHandover>, journal: Journal) {
    let mut is_noted = false;
    loop {
        // Without a worker behind it there is nothing to serve, and the address may be somebody else's for good.
        let is_wanted = !held.is_held.get() && !relay.targets.borrow().is_empty();
        let listener = if is_wanted { Some(bind(&address).await) } else { None };
        match listener {
            Some(Ok(listener)) => {
                let text = format!("the app also listens on {address}; connections there go to its workers in turn");
                journal.emit(Event::Note { level: Level::Info, text: &text });
                let _left_clean = Unlink(&address);
                return listener.accept_for(&relay).await;
            }
            Some(Err(error)) if !is_noted => {
                is_noted = true;
                let text = format!("the app also wants to listen on {address}, but: {error}; Sluice tries again");
                journal.emit(Event::Note { level: Level::Error, text: &text });
            }
            _ => {}
        }
        tokio::select! {
            () = tokio::time::sleep(BIND_PERIOD) => {}
            () = held.opened.notified() => {}
        }
    }
}

/// Removes the path of a unix socket when the listener ends; a remaining file would prevent the next bind.
struct Unlink<'a>(&'a Address);

impl Drop for Unlink<'_> {
    fn drop(&mut self) {
        if let Address::Path(path) = self.0 {
            let _ = std::fs::remove_file(path);
        }
    }
}

enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl Listener {
    async fn accept_for(self, relay: &Rc<Relay>) {
        match self {
            Listener::Tcp(listener) => accept_tcp(listener, relay).await,
            Listener::Unix(listener) => accept_unix(listener, relay).await,
        }
    }
}

async fn bind(address: &Address) -> io::Result<Listener> {
    match address {
        Address::Path(path) => UnixListener::bind(path).map(Listener::Unix),
        Address::Port { host, port } => {
            let (host, port) = (host.clone(), *port);
            // A name may have to be looked up, which blocks.
            let bound = tokio::task::spawn_blocking(move || sluice_sockets::bind(&host, port)).await;
            bound.unwrap_or_else(|error| Err(io::Error::other(error))).map(Listener::Tcp)
        }
    }
}

async fn accept_tcp(listener: TcpListener, relay: &Rc<Relay>) {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                let ends = stream.local_addr().ok().map(|local| (peer, local));
                pass_on(stream, preface::line(ends), relay);
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}

async fn accept_unix(listener: UnixListener, relay: &Rc<Relay>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => pass_on(stream, preface::line(None), relay),
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}

fn pass_on(mut stream: impl AsyncRead + AsyncWrite + Unpin + 'static, preface: String, relay: &Rc<Relay>) {
    if relay.open.get() >= CONNECTIONS_MAX {
        return;
    }
    let open = Open::new(relay);
    tokio::task::spawn_local(async move {
        let mut tried = Vec::new();
        while let Some(target) = open.0.untried(&tried) {
            if let Some(mut worker) = reach(&target, &preface).await {
                let _ = tokio::io::copy_bidirectional(&mut stream, &mut worker).await;
                break;
            }
            tried.push(target.socket);
        }
    });
}

/// A counted connection. The count ends with its task, however that ends.
struct Open(Rc<Relay>);

impl Open {
    fn new(relay: &Rc<Relay>) -> Self {
        relay.open.set(relay.open.get() + 1);
        Open(Rc::clone(relay))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.set(self.0.open.get() - 1);
    }
}

/// Connects to the worker; `None` if the worker is leaving and has received no byte of the client.
async fn reach(target: &Target, preface: &str) -> Option<UnixStream> {
    let mut worker = UnixStream::connect(&target.socket).await.ok()?;
    if target.takes_preface {
        preface::introduce(&mut worker, preface).await.ok()?;
    }
    Some(worker)
}
