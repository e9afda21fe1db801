//! The app's main server: the settings with which workers look for it, and the server that they found.
//!
//! A worker must guess if the app does not listen on `PORT`, and a good guess takes time. So the first worker waits a
//! while, and later ones know its result. It must not know how a preload decides.

use std::cell::{Cell, RefCell};
use std::fmt::Write as _;
use std::path::Path;

use sluice_journal::Level;
use sluice_scheduler::WorkerId;
use tokio::process::Command;

use crate::auxiliary::Address;
use crate::control::ListenAddress;
use crate::{App, Supervisor};

/// Time that a server elsewhere waits for one on `PORT` while nothing is known of the app, in milliseconds.
const WAIT_MS: u64 = 3000;
/// The same time if an earlier worker's main server had no port of its own, so that only waiting finds it again.
const WAIT_AGAIN_MS: u64 = 250;
/// Maximum number of other servers named in a message.
const OTHERS_MAX: usize = 5;

/// A preload's report about the main server.
#[derive(Debug)]
pub(crate) struct ServerReport {
    pub(crate) requested: ListenAddress,
    /// Whether it is an HTTPS server.
    pub(crate) tls: bool,
    /// Time that it waited for another server, milliseconds; 0 if the app had nothing left to open, `None` if it was
    /// the intended one.
    pub(crate) waited_ms: Option<u64>,
    pub(crate) others: Vec<ListenAddress>,
}

/// Address of the main server of an earlier worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ServerAddress {
    #[default]
    Nowhere,
    At(u16),
    /// The server is on port 0 or a path.
    Elsewhere,
}

/// Knowledge about the app's main server, and the messages already written about it.
#[derive(Debug, Default)]
pub(crate) struct MainServer {
    seen: Cell<ServerAddress>,
    told: RefCell<String>,
    is_tls_told: Cell<bool>,
}

impl MainServer {
    fn tell(&self, command: &mut Command, app: &App, start_timeout_ms: u64) {
        let (port, wait) = plan(app.main_port, app.port, self.seen.get(), start_timeout_ms);
        command.env("SLUICE_MAIN_PORT", port.to_string());
        command.env("SLUICE_MAIN_WAIT_MS", wait.map_or("never".to_owned(), |ms| ms.to_string()));
    }
}

/// Port to look for besides `PORT` (0 for none), and time that other servers wait for it in milliseconds, `None` for no
/// limit.
fn plan(named: u16, public: u16, seen: ServerAddress, start_timeout_ms: u64) -> (u16, Option<u64>) {
    let wait_ms = WAIT_MS.min(start_timeout_ms / 4);
    match seen {
        _ if named != 0 => (named, None),
        ServerAddress::Nowhere => (0, Some(wait_ms)),
        // It will come; only a new version could have moved it, and still has to start in time.
        ServerAddress::At(port) if port == public => (0, Some(start_timeout_ms / 2)),
        ServerAddress::At(port) => (port, Some(wait_ms)),
        ServerAddress::Elsewhere => (0, Some(WAIT_AGAIN_MS.min(wait_ms))),
    }
}

impl Supervisor {
    /// Command that starts a worker, with all its settings.
    pub(crate) fn command(&self, app: &App, worker: WorkerId, instance: u32, socket: &Path) -> Command {
        let mut command = app.command(worker, instance, socket);
        let config = self.gate.config();
        self.main_server.tell(&mut command, app, config.workers.start_timeout_ms);
        // Other hosts answer on the app's port before the app does.
        let refuses = if config.upstreams.routes.is_empty() { "1" } else { "0" };
        command.env("SLUICE_REFUSES_EARLY", refuses);
        command
    }

    /// Remembers the server for later workers, and reports surprises once, because all workers report the same.
    pub(crate) fn found_main(&self, app: &App, found: &ServerReport) {
        let main = &self.main_server;
        main.seen.set(match found.requested.port {
            Some(port) if port != 0 => ServerAddress::At(port),
            _ => ServerAddress::Elsewhere,
        });
        if let Some((level, text)) = choice(app.port, found) {
            if *main.told.borrow() != text {
                self.note(level, &text);
                *main.told.borrow_mut() = text;
            }
        } else if found.requested.port == Some(app.port) && !main.told.take().is_empty() {
            self.note(Level::Info, &format!("the app's server on port {} is now its main server", app.port));
        }
        if found.tls && !main.is_tls_told.replace(true) {
            let (level, text) = of_tls(self.gate.config().is_tls());
            self.note(level, text);
        }
    }
}

/// Message for the operator about a server that was chosen because no better one came.
fn choice(port: u16, found: &ServerReport) -> Option<(Level, String)> {
    let waited_ms = found.waited_ms?;
    let mut text = format!("the app's server on {} counts as its main server, because none ", name(&found.requested));
    let _ = match waited_ms {
        0 => write!(text, "listens on PORT ({port}) and the app opens no others"),
        _ => write!(text, "listened on PORT ({port}) within {waited_ms} ms"),
    };
    let others: Vec<_> = found.others.iter().take(OTHERS_MAX).map(name).collect();
    if !others.is_empty() {
        let _ = write!(text, "; it has others on {}", others.join(", "));
    }
    text.push_str(". app.port (sluice start --app-port) names another");
    if waited_ms > 0 {
        text.push_str(", and saves the wait");
    }
    // With one server alone there was nothing to choose.
    let level = if waited_ms == 0 && others.is_empty() { Level::Info } else { Level::Warn };
    Some((level, text))
}

fn name(requested: &ListenAddress) -> String {
    match (requested.port, &requested.path) {
        (Some(0), _) => "any free port".to_owned(),
        (Some(port), _) if requested.host.is_none() => format!("port {port}"),
        (port, path) => Address::new(port, requested.host.clone(), path.clone())
            .map_or_else(|| "an address of its own".to_owned(), |address| address.to_string()),
    }
}

fn of_tls(has_tls: bool) -> (Level, &'static str) {
    if has_tls {
        return (
            Level::Info,
            "the app's main server is an HTTPS server. TLS ends at the gateway, with the gateway's certificate; the \
             app's certificate is not used",
        );
    }
    (
        Level::Warn,
        "the app's main server is an HTTPS server, but TLS ends at the gateway, which has no certificate: clients get \
         plain HTTP, and https:// does not work. Set server.tls_cert, server.certificates or acme.names, or \
         terminate TLS in front of the gateway. Client certificates do not reach the app",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_was_taken_without_a_wait_is_a_warning_only_where_there_was_a_choice() {
        let at = |port| ListenAddress { port: Some(port), ..ListenAddress::default() };
        let found = |waited_ms, others| ServerReport { requested: at(8080), tls: false, waited_ms, others };
        assert!(choice(3000, &found(None, vec![])).is_none());

        let (level, text) = choice(3000, &found(Some(0), vec![])).unwrap();
        assert_eq!(level, Level::Info);
        assert_eq!(
            text,
            "the app's server on port 8080 counts as its main server, because none listens on PORT (3000) and the \
             app opens no \
             others. app.port (sluice start --app-port) names another"
        );
        assert_eq!(choice(3000, &found(Some(0), vec![at(9464)])).unwrap().0, Level::Warn);
        let (level, text) = choice(3000, &found(Some(3000), vec![])).unwrap();
        assert_eq!(level, Level::Warn);
        assert!(text.contains("none listened on PORT (3000) within 3000 ms. app.port"), "{text}");
    }

    #[test]
    fn workers_wait_as_long_as_is_known_to_be_worth_it() {
        assert_eq!(plan(0, 3000, ServerAddress::Nowhere, 60_000), (0, Some(3000)));
        assert_eq!(plan(0, 3000, ServerAddress::Nowhere, 1000), (0, Some(250)));
        assert_eq!(plan(0, 3000, ServerAddress::At(3000), 60_000), (0, Some(30_000)));
        assert_eq!(plan(0, 3000, ServerAddress::At(8080), 60_000), (8080, Some(3000)));
        assert_eq!(plan(0, 3000, ServerAddress::Elsewhere, 60_000), (0, Some(250)));
        assert_eq!(plan(9000, 3000, ServerAddress::At(3000), 60_000), (9000, None));
    }
}
