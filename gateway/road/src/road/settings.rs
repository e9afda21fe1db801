//! Settings in force: the config, and the values that were read for it.

use std::rc::Rc;
use std::sync::Arc;

use sluice_catalog::config::Config;
use sluice_wire::front::tls::{Certificates, TicketKeys, Tls};

use super::Road;
use crate::active::ActiveConfig;
use crate::admit::access::Access;
use crate::answers::refuse::Pages;
use crate::answers::shell::ShellFiles;

impl Road {
    /// Config in force. Two calls for one request may return different ones, as a reload can come in between.
    pub fn config(&self) -> Rc<Config> {
        Rc::clone(&self.active.borrow().config)
    }

    /// Access rules; `None` if everybody may ask.
    pub(crate) fn access(&self) -> Option<Rc<Access>> {
        self.active.borrow().access.clone()
    }

    /// Shells that the config names as files.
    pub(crate) fn shell_files(&self) -> Rc<ShellFiles> {
        Rc::clone(&self.active.borrow().shells)
    }

    /// Error pages that the config names.
    pub(crate) fn error_pages(&self) -> Rc<Pages> {
        Rc::clone(&self.active.borrow().error_pages)
    }

    /// The certificates in force.
    pub(crate) fn certificates(&self) -> Option<Arc<Certificates>> {
        self.active.borrow().certificates.clone()
    }

    /// Puts new contents of the same files in force.
    pub(crate) fn serve_certificates(&self, certificates: Arc<Certificates>) {
        if let Some(tls) = self.lobby.tls() {
            tls.serve(Arc::clone(&certificates));
        }
        self.active.borrow_mut().certificates = Some(certificates);
    }

    /// The keys of session tickets, for the gateway that takes over.
    pub fn ticket_keys(&self) -> Option<TicketKeys> {
        self.lobby.tls().map(Tls::ticket_keys)
    }

    /// Uses the ticket keys of the gateway before this one, whose clients resume their sessions here.
    pub fn adopt_ticket_keys(&self, keys: TicketKeys) {
        if let Some(tls) = self.lobby.tls() {
            tls.adopt_ticket_keys(keys);
        }
    }

    /// Puts another config in force. Open connections keep their certificate.
    pub fn activate(&self, active: ActiveConfig) {
        let config = Rc::clone(&active.config);
        if let (Some(tls), Some(certificates)) = (self.lobby.tls(), &active.certificates) {
            tls.serve(Arc::clone(certificates));
        }
        self.lobby.set_config(Rc::clone(&config), Rc::clone(&active.trust));
        self.observer.traces.apply(active.traces.clone());
        self.observer.set_config(Rc::clone(&config));
        *self.active.borrow_mut() = active;
        self.compression.set_config(&config);
        self.cache.set_config(&config.cache);
        self.set_rendering(&config.render);
    }
}
