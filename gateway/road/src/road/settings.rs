//! Settings in force: the config, and the values that were read for it. They are one snapshot, swapped whole by a reload.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use sluice_catalog::config::Config;
use sluice_wire::front::tls::Certificates;

use crate::active::ActiveConfig;
use crate::admit::access::Access;
use crate::answers::refuse::Pages;
use crate::answers::shell::ShellFiles;

/// See the module's text.
pub(crate) struct Settings(RefCell<ActiveConfig>);

impl Settings {
    pub(super) fn new(active: ActiveConfig) -> Self {
        Settings(RefCell::new(active))
    }

    pub(super) fn swap(&self, active: ActiveConfig) {
        *self.0.borrow_mut() = active;
    }

    /// Config in force. Two calls for one request may return different ones, as a reload can come in between.
    pub(crate) fn config(&self) -> Rc<Config> {
        Rc::clone(&self.0.borrow().config)
    }

    /// Access rules; `None` if everybody may ask.
    pub(crate) fn access(&self) -> Option<Rc<Access>> {
        self.0.borrow().access.clone()
    }

    /// Shells that the config names as files.
    pub(crate) fn shell_files(&self) -> Rc<ShellFiles> {
        Rc::clone(&self.0.borrow().shells)
    }

    /// Error pages that the config names.
    pub(crate) fn error_pages(&self) -> Rc<Pages> {
        Rc::clone(&self.0.borrow().error_pages)
    }

    /// The certificates in force.
    pub(crate) fn certificates(&self) -> Option<Arc<Certificates>> {
        self.0.borrow().certificates.clone()
    }

    pub(super) fn set_certificates(&self, certificates: Arc<Certificates>) {
        self.0.borrow_mut().certificates = Some(certificates);
    }
}
