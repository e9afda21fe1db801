//! Destination of spans and which are kept, by OpenTelemetry's own variables.

use hyper::Uri;
use hyper::header::{HeaderName, HeaderValue};
use percent_encoding::percent_decode_str;

use crate::proto::KeyValue;
use crate::sampler::Sampler;

/// Address at which a collector on this machine listens.
const ENDPOINT_DEFAULT: &str = "http://127.0.0.1:4318";
const PATH: &str = "/v1/traces";
const SERVICE_DEFAULT: &str = "sluice";
/// Maximum number of headers that a variable may add to exports.
const HEADERS_MAX: usize = 64;
/// Maximum number of attributes of the service that a variable may add to exports.
const ATTRIBUTES_MAX: usize = 64;

/// Settings of the export.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub(crate) endpoint: Uri,
    /// Headers; they may hold secrets.
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) sampler: Sampler,
    pub(crate) resource: Vec<KeyValue>,
}

/// Settings that cannot be used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Unusable {
    /// No URL of HTTP.
    #[error(
        "{source_name}: {url:?} is not an http or https URL with a host. The usual one is \
        {ENDPOINT_DEFAULT}{PATH}"
    )]
    Endpoint {
        /// Name of the setting.
        source_name: &'static str,
        /// Value of the setting.
        url: String,
    },
    /// A header that cannot be sent. Its value is not told: it may be a secret.
    #[error(
        "{source_name}: the header {name:?} or its value is not valid. Headers are name=value, with commas between"
    )]
    Header {
        /// Name of the setting.
        source_name: &'static str,
        /// Name.
        name: String,
    },
    /// No sampler.
    #[error(
        "OTEL_TRACES_SAMPLER={name:?} with OTEL_TRACES_SAMPLER_ARG={argument:?} is not a sampler. Samplers are \
         always_on, always_off, \
         traceidratio, and these with the prefix parentbased_; the argument is from 0 to 1"
    )]
    Sampler {
        /// The variable.
        name: String,
        /// Argument.
        argument: String,
    },
}

impl Settings {
    /// `environment` gives the value of a variable; empty ones count as unset.
    ///
    /// # Errors
    /// When an endpoint, a header or a sampler is not in order.
    pub fn read(environment: impl Fn(&str) -> Option<String>) -> Result<Self, Unusable> {
        let set = |name: &str| environment(name).filter(|value| !value.is_empty());
        Ok(Settings {
            endpoint: endpoint(&set)?,
            headers: headers(&set)?,
            sampler: sampler(&set)?,
            resource: resource(&set),
        })
    }
}

fn endpoint(set: &impl Fn(&str) -> Option<String>) -> Result<Uri, Unusable> {
    const OWN: &str = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
    const GENERAL: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
    let (source_name, url) = if let Some(url) = set(OWN) {
        (OWN, url)
    } else {
        let base = set(GENERAL).unwrap_or_else(|| ENDPOINT_DEFAULT.to_owned());
        (GENERAL, format!("{}{PATH}", base.trim_end_matches('/')))
    };
    let parsed = url.parse::<Uri>().ok().filter(|uri| {
        matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some_and(|host| !host.is_empty())
    });
    parsed.ok_or(Unusable::Endpoint { source_name, url })
}

/// Only from variables: they hold secrets, and a config file is read by many.
fn headers(set: &impl Fn(&str) -> Option<String>) -> Result<Vec<(HeaderName, HeaderValue)>, Unusable> {
    const OWN: &str = "OTEL_EXPORTER_OTLP_TRACES_HEADERS";
    const GENERAL: &str = "OTEL_EXPORTER_OTLP_HEADERS";
    let told = set(OWN).map(|list| (OWN, list)).or_else(|| set(GENERAL).map(|list| (GENERAL, list)));
    let Some((source_name, list)) = told else { return Ok(Vec::new()) };
    let parse = |(name, value): (String, String)| {
        let header = name.parse().ok().zip(HeaderValue::from_str(&value).ok());
        let (name, mut value): (HeaderName, HeaderValue) = header.ok_or(Unusable::Header { source_name, name })?;
        value.set_sensitive(true);
        Ok((name, value))
    };
    pairs(&list).take(HEADERS_MAX).map(parse).collect()
}

fn sampler(set: &impl Fn(&str) -> Option<String>) -> Result<Sampler, Unusable> {
    let Some(name) = set("OTEL_TRACES_SAMPLER") else { return Ok(Sampler::ParentOr(1.0)) };
    let argument = set("OTEL_TRACES_SAMPLER_ARG").unwrap_or_default();
    Sampler::named(&name, Some(&argument)).ok_or(Unusable::Sampler { name, argument })
}

fn resource(set: &impl Fn(&str) -> Option<String>) -> Vec<KeyValue> {
    let told = set("OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default();
    let mut attributes: Vec<(String, String)> = pairs(&told).take(ATTRIBUTES_MAX).collect();
    if let Some(name) = set("OTEL_SERVICE_NAME") {
        attributes.retain(|(key, _)| key != "service.name");
        attributes.push(("service.name".to_owned(), name));
    }
    if !attributes.iter().any(|(key, _)| key == "service.name") {
        attributes.push(("service.name".to_owned(), SERVICE_DEFAULT.to_owned()));
    }
    attributes.iter().map(|(key, value)| KeyValue::text(key, value)).collect()
}

/// `a=1,b=2`, percent-encoded, as OpenTelemetry's variables have it.
fn pairs(list: &str) -> impl Iterator<Item = (String, String)> {
    let decode = |text: &str| percent_decode_str(text.trim()).decode_utf8_lossy().into_owned();
    list.split(',').filter_map(move |pair| {
        let (name, value) = pair.split_once('=')?;
        Some((decode(name), decode(value)))
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::proto::Value;

    pub(crate) fn read(variables: &[(&str, &str)]) -> Result<Settings, Unusable> {
        Settings::read(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
    }

    fn text(settings: &Settings, key: &str) -> Option<String> {
        let attribute = settings.resource.iter().find(|attribute| attribute.key == key)?;
        match attribute.value.clone()?.value? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    #[test]
    fn endpoint_is_that_of_the_usual_variables() {
        let at = |variables: &[(&str, &str)]| read(variables).unwrap().endpoint.to_string();
        assert_eq!(at(&[]), "http://127.0.0.1:4318/v1/traces");
        let general = ("OTEL_EXPORTER_OTLP_ENDPOINT", "https://collector.example/otlp/");
        assert_eq!(at(&[general]), "https://collector.example/otlp/v1/traces");
        let own = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://a:1/x");
        assert_eq!(at(&[general, own]), "http://a:1/x");
        for wrong in ["collector:4317", "grpc://a", "/v1/traces", "http://"] {
            let own = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", wrong);
            assert!(matches!(read(&[own]), Err(Unusable::Endpoint { .. })), "{wrong}");
        }
    }

    #[test]
    fn headers_are_decoded_and_their_values_told_nobody() {
        let settings = read(&[("OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%20b, x = 1")]).unwrap();
        let told: Vec<_> =
            settings.headers.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
        assert_eq!(told, [("api-key", "a b"), ("x", "1")]);
        assert!(!format!("{settings:?}").contains("a b"));
        let error = read(&[("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "a b=secret")]).unwrap_err().to_string();
        assert!(error.contains("a b") && !error.contains("secret"), "{error}");
    }

    #[test]
    fn sampler_is_that_of_the_usual_variable() {
        assert_eq!(read(&[]).unwrap().sampler, Sampler::ParentOr(1.0));
        let variables = [("OTEL_TRACES_SAMPLER", "traceidratio"), ("OTEL_TRACES_SAMPLER_ARG", "0.5")];
        assert_eq!(read(&variables).unwrap().sampler, Sampler::Always(0.5));
        assert!(matches!(read(&[("OTEL_TRACES_SAMPLER", "x")]), Err(Unusable::Sampler { .. })));
    }

    #[test]
    fn spans_are_of_the_service_that_the_variables_name() {
        let attributes = ("OTEL_RESOURCE_ATTRIBUTES", "service.name=shop,deployment.environment.name=a%2Cb");
        assert_eq!(text(&read(&[]).unwrap(), "service.name").as_deref(), Some("sluice"));
        let told = read(&[attributes]).unwrap();
        assert_eq!(text(&told, "service.name").as_deref(), Some("shop"));
        assert_eq!(text(&told, "deployment.environment.name").as_deref(), Some("a,b"));
        let named = read(&[attributes, ("OTEL_SERVICE_NAME", "front")]).unwrap();
        assert_eq!(text(&named, "service.name").as_deref(), Some("front"));
        assert_eq!(named.resource.len(), 2);
    }
}
