//! What is made from a config before it comes into force, at a start and at each reload.

use std::rc::Rc;

use sluice_catalog::config::Config;
use tokio_rustls::TlsAcceptor;

use crate::front::tls;
use crate::receive::trust::Trust;
use crate::unusable::Unusable;

/// A config with what was read for it: who is trusted, and the certificate.
#[derive(Clone)]
pub struct ActiveConfig {
    pub(crate) config: Rc<Config>,
    pub(crate) trust: Rc<Trust>,
    pub(crate) tls: Option<TlsAcceptor>,
}

impl ActiveConfig {
    /// Reads the certificate and key that the config names.
    ///
    /// # Errors
    /// When one of them cannot be used, or an entry of `server.trusted_peers` is no network.
    pub fn read(config: Rc<Config>) -> Result<Self, Unusable> {
        let tls = tls::read(&config)?;
        let trust = Trust::parse(&config.server.trusted_peers)?;
        Ok(ActiveConfig { config, trust: Rc::new(trust), tls })
    }

    /// The config.
    #[must_use]
    pub fn config(&self) -> &Rc<Config> {
        &self.config
    }

    /// Whether clients speak TLS.
    #[must_use]
    pub fn is_tls(&self) -> bool {
        self.tls.is_some()
    }
}
