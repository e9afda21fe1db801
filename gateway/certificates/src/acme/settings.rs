//! Settings of the config for the CA and its certificates. It must not know how a CA is asked.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::alphabet::URL_SAFE;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use sluice_catalog::config::Config;

/// Base64 as CAs write keys, with or without padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);
/// Maximum length of the name of a CA's directory, bytes.
const FOLDER_BYTES_MAX: usize = 120;

/// Way of showing the CA that a name leads to this gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    /// A file below `/.well-known/acme-challenge/` at port 80 (RFC 8555 §8.3).
    Http,
    /// A certificate of a special form at port 443 (RFC 8737).
    TlsAlpn,
}

/// Certificates to ask for, and the CA.
#[derive(Clone, PartialEq, Eq)]
pub struct Settings {
    /// Names in lower case, a certificate each.
    pub(crate) names: Vec<String>,
    pub(crate) contact: Option<String>,
    pub(crate) directory: String,
    pub(crate) ca_file: Option<PathBuf>,
    pub(crate) folder: PathBuf,
    /// Methods, at least one; the attempts after each other take them in turn.
    pub(crate) methods: Vec<Method>,
    pub(crate) binding: Option<Binding>,
    pub(crate) redirect_port: u16,
    pub(crate) tls_port: u16,
}

/// Binding of the account to one that the CA knows already (RFC 8555 §7.3.4).
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Binding {
    pub(crate) key_id: String,
    pub(crate) hmac_key: Vec<u8>,
}

/// Setting of the config that cannot work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// Lack of a folder for keys and certificates.
    #[error(
        "is required, because this user has no home directory: name a directory that outlives a restart, for the \
         account key and certificates"
    )]
    NoDir,
    /// The key of the external account is no base64.
    #[error("must be the key as the CA shows it, in base64 of the URL-safe alphabet")]
    Binding,
}

impl Settings {
    /// `None` where no certificate is to be asked for. `tls_port` is the port that speaks TLS.
    ///
    /// # Errors
    /// When there is no folder, or the key of the external account is none.
    pub fn read(config: &Config, tls_port: u16) -> Result<Option<Self>, Unusable> {
        let acme = &config.acme;
        let Some(folder) = folder(config)? else { return Ok(None) };
        let binding = match (&acme.eab_key_id, &acme.eab_hmac_key) {
            (Some(key_id), Some(key)) => {
                let hmac_key = BASE64.decode(key.trim()).map_err(|_| Unusable::Binding)?;
                Some(Binding { key_id: key_id.clone(), hmac_key })
            }
            _ => None,
        };
        let methods = match config.server.redirect_port {
            0 => vec![Method::TlsAlpn],
            _ => vec![Method::Http, Method::TlsAlpn],
        };
        Ok(Some(Self {
            names: acme.names.iter().map(|name| name.to_ascii_lowercase()).collect(),
            contact: acme.contact.clone(),
            directory: acme.directory.clone(),
            ca_file: acme.ca_file.as_ref().map(PathBuf::from),
            folder,
            methods,
            binding,
            redirect_port: config.server.redirect_port,
            tls_port,
        }))
    }
}

/// The folder of the CA that the config names; `None` where no certificate is to be asked for.
///
/// # Errors
/// When the config names no folder and there is none by default.
pub fn folder(config: &Config) -> Result<Option<PathBuf>, Unusable> {
    let acme = &config.acme;
    if acme.names.is_empty() {
        return Ok(None);
    }
    let dir = acme.dir.as_ref().ok_or(Unusable::NoDir)?;
    Ok(Some(Path::new(dir).join(folder_name(&acme.directory))))
}

/// Each CA has accounts and certificates of its own: a try with a CA's staging directory leaves the others alone.
fn folder_name(directory: &str) -> String {
    let text = directory.strip_prefix("https://").unwrap_or(directory);
    let plain = |sign: char| if sign.is_ascii_alphanumeric() || matches!(sign, '.' | '-') { sign } else { '-' };
    let name: String = text.chars().map(plain).take(FOLDER_BYTES_MAX).collect();
    // Never `.` or `..`.
    format!("ca-{}", name.trim_matches(['-', '.']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> Config {
        let mut config = Config::default();
        config.acme.names = vec!["Shop.example".to_owned()];
        config.acme.dir = Some("/state".to_owned());
        config
    }

    #[test]
    fn every_ca_has_a_folder_of_its_own() {
        let name = |directory: &str| folder_name(directory);
        assert_eq!(name("https://acme-v02.api.letsencrypt.org/directory"), "ca-acme-v02.api.letsencrypt.org-directory");
        assert_eq!(name("https://127.0.0.1:14000/dir"), "ca-127.0.0.1-14000-dir");
        assert_eq!(name("https://../../etc"), "ca-etc");
        assert_eq!(name(&format!("https://{}", "a".repeat(500))).len(), 3 + FOLDER_BYTES_MAX);
    }

    #[test]
    fn challenges_are_those_of_the_ports_that_are_there() {
        let mut config = config();
        let methods = |config: &Config| Settings::read(config, 443).unwrap().unwrap().methods;
        assert_eq!(methods(&config), [Method::TlsAlpn]);
        config.server.redirect_port = 80;
        assert_eq!(methods(&config), [Method::Http, Method::TlsAlpn]);
        assert_eq!(Settings::read(&config, 443).unwrap().unwrap().names, ["shop.example"]);
    }

    #[test]
    fn what_cannot_be_used_is_told() {
        let mut config = config();
        config.acme.eab_key_id = Some("id".to_owned());
        for (key, is_key) in
            [("zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W", true), ("aGk=", true), ("a b", false)]
        {
            config.acme.eab_hmac_key = Some(key.to_owned());
            assert_eq!(Settings::read(&config, 443).is_ok(), is_key, "{key}");
        }
        config.acme.dir = None;
        assert_eq!(Settings::read(&config, 443).err(), Some(Unusable::NoDir));
        config.acme.names.clear();
        assert!(Settings::read(&config, 443).unwrap().is_none());
    }
}
