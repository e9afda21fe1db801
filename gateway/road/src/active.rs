//! Values that are made from a config before it comes into force, at a start and at each reload.

use std::rc::Rc;
use std::sync::Arc;

use sluice_catalog::config::Config;

use crate::admit::access::Access;
use crate::answers::refuse::Pages;
use crate::answers::shell::ShellFiles;
use crate::unusable::Unusable;
use sluice_wire::front::tls::Certificates;
use sluice_wire::receive::trust::Trust;

/// A config with the values that were read for it: trusted peers, access rules and certificates.
#[derive(Clone)]
pub struct ActiveConfig {
    pub(crate) config: Rc<Config>,
    pub(crate) trust: Rc<Trust>,
    /// `None` where everybody may ask.
    pub(crate) access: Option<Rc<Access>>,
    pub(crate) shells: Rc<ShellFiles>,
    pub(crate) error_pages: Rc<Pages>,
    pub(crate) certificates: Option<Arc<Certificates>>,
    /// Settings of traces; `None` if none are exported.
    pub traces: Option<sluice_traces::Settings>,
    pub(crate) upstreams: Rc<Vec<sluice_upstreams::Settings>>,
    /// `None` if no cache is shared.
    pub(crate) shared_cache: Option<sluice_tier::Settings>,
}

impl ActiveConfig {
    /// Reads the certificates, keys, users and shells that the config names, and the environment variables that set
    /// where traces go.
    ///
    /// # Errors
    /// Fails if one of them cannot be used, traces cannot be exported, or an entry of `server.trusted_peers` is no
    /// network.
    pub fn read(config: Rc<Config>) -> Result<Self, Unusable> {
        let certificates = Certificates::read(&config)?.map(Arc::new);
        sluice_certificates::acme::Settings::read(&config, config.server.port).map_err(sluice_wire::Unusable::from)?;
        let trust = Trust::parse(&config.server.trusted_peers)?;
        let access = Access::read(&config.access)?;
        let shells = Rc::new(ShellFiles::read(&config.shell)?);
        let error_pages = Rc::new(Pages::read(&config.errors)?);
        let upstreams = Rc::new(sluice_upstreams::Settings::read(&config)?);
        let traces = traces(&config)?;
        let shared_cache = crate::cache::shared_settings(&config)?;
        Ok(ActiveConfig {
            config,
            trust: Rc::new(trust),
            access,
            shells,
            error_pages,
            certificates,
            traces,
            upstreams,
            shared_cache,
        })
    }

    /// The config.
    pub fn config(&self) -> &Rc<Config> {
        &self.config
    }

    /// Whether clients speak TLS.
    pub fn is_tls(&self) -> bool {
        self.certificates.is_some()
    }
}

fn traces(config: &Config) -> Result<Option<sluice_traces::Settings>, Unusable> {
    if !config.traces.enabled {
        return Ok(None);
    }
    Ok(Some(sluice_traces::Settings::read(|name| std::env::var(name).ok())?))
}
