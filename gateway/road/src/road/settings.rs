//! Settings in force: the config, and the values that were read for it. They are one snapshot, swapped whole by a reload.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use sluice_catalog::config::Config;
use sluice_upstreams::Report;
use sluice_wire::front::tls::Certificates;

use super::other_routes::UpstreamRoutes;
use crate::active::ActiveConfig;
use crate::admit::access::Access;
use crate::answers::refuse::Pages;
use crate::answers::shell::ShellFiles;
use crate::request::streams::StreamCounts;

/// See the module's text.
pub(crate) struct Settings {
    active: RefCell<ActiveConfig>,
    /// `None` without `upstreams.routes`.
    upstreams: RefCell<Option<Rc<UpstreamRoutes>>>,
    report: Report,
    /// Streams of upstreams, of this config and those before.
    pub(crate) streams: Rc<StreamCounts>,
}

impl Settings {
    /// Settings at the start. `report` gets what the operator is told of upstreams.
    pub(super) fn new(active: ActiveConfig, report: Report) -> Self {
        let upstreams = UpstreamRoutes::new(&active.upstreams, None, &report);
        Settings { active: RefCell::new(active), upstreams: RefCell::new(upstreams), report, streams: Rc::default() }
    }

    pub(super) fn swap(&self, active: ActiveConfig) {
        let before = self.upstreams.take();
        *self.upstreams.borrow_mut() = UpstreamRoutes::new(&active.upstreams, before.as_deref(), &self.report);
        *self.active.borrow_mut() = active;
    }

    /// Upstreams; `None` if there are none.
    pub(crate) fn upstreams(&self) -> Option<Rc<UpstreamRoutes>> {
        self.upstreams.borrow().clone()
    }

    /// Config in force. Two calls for one request may return different ones, as a reload can come in between.
    pub(crate) fn config(&self) -> Rc<Config> {
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

    pub(super) fn set_certificates(&self, certificates: Arc<Certificates>) {
        self.active.borrow_mut().certificates = Some(certificates);
    }
}
