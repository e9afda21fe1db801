//! The HTTP client by which a CA is asked: HTTPS alone, with a bound on time and on what is read. It must not know ACME.

use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Limited};
use hyper::header::{CONTENT_TYPE, RETRY_AFTER, USER_AGENT};
use hyper::{HeaderMap, Request, Response, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use instant_acme::{BodyWrapper, BytesResponse, Error, HttpClient};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use super::fault::Fault;

/// Time limit of one request to the CA.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// Time limit of a connection to the CA.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum size of an answer of the CA, bytes. Certificate chains have a few thousand.
const ANSWER_BYTES_MAX: usize = 256 * 1024;

/// The client. Clones share connections.
#[derive(Clone)]
pub(crate) struct Http {
    client: Client<HttpsConnector<HttpConnector>, BodyWrapper<Bytes>>,
    /// Value of the latest `Retry-After` of a refusal, seconds; negative without one.
    retry_after_s: Arc<AtomicI64>,
}

impl Http {
    /// A client that trusts the certificates of this file, or without one those that the system trusts.
    pub(crate) fn new(ca_file: Option<&Path>) -> Result<Self, Fault> {
        let mut tcp = HttpConnector::new();
        tcp.set_connect_timeout(Some(CONNECT_TIMEOUT));
        tcp.enforce_http(false);
        let tls = HttpsConnectorBuilder::new();
        let tls = match ca_file {
            None => tls
                .with_provider_and_native_roots(ring::default_provider())
                .map_err(|error| Fault::Roots(error.to_string()))?,
            Some(path) => {
                let failed = |text: String| Fault::CaFile { path: path.to_owned(), text };
                let roots = roots(path).map_err(|error| failed(error.to_string()))?;
                let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
                    .with_safe_default_protocol_versions()
                    .map_err(Fault::own)?
                    .with_root_certificates(roots);
                tls.with_tls_config(config.with_no_client_auth())
            }
        };
        let connector = tls.https_only().enable_http1().wrap_connector(tcp);
        // A few requests in a row, and then nothing for weeks.
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(Duration::from_secs(20))
            .pool_max_idle_per_host(1)
            .build(connector);
        Ok(Http { client, retry_after_s: Arc::new(AtomicI64::new(-1)) })
    }

    /// Takes the time that the CA asked for with `Retry-After` when it refused last.
    pub(crate) fn take_retry_after_s(&self) -> Option<i64> {
        let told_s = self.retry_after_s.swap(-1, Ordering::Relaxed);
        (told_s >= 0).then_some(told_s)
    }

    async fn ask(self, mut request: Request<BodyWrapper<Bytes>>) -> Result<BytesResponse, Error> {
        let name = concat!("sluice/", env!("CARGO_PKG_VERSION"));
        request.headers_mut().insert(USER_AGENT, hyper::header::HeaderValue::from_static(name));
        let url = request.uri().clone();
        let answered = async {
            let answer = self.client.request(request).await.map_err(boxed)?;
            let (parts, body) = answer.into_parts();
            let body = Limited::new(body, ANSWER_BYTES_MAX).collect().await.map_err(Error::Other)?;
            Ok::<_, Error>(Response::from_parts(parts, body.to_bytes()))
        };
        let answer = tokio::time::timeout(REQUEST_TIMEOUT, answered).await.map_err(boxed)??;
        let (parts, body) = answer.into_parts();
        if !parts.status.is_success() {
            if let Some(told_s) = parts.headers.get(RETRY_AFTER).and_then(|value| seconds(value.to_str().ok()?)) {
                self.retry_after_s.store(told_s, Ordering::Relaxed);
            }
            if !is_json(&parts.headers) {
                return Err(boxed(io::Error::other(format!("{} answers {}", address(&url), parts.status))));
            }
        }
        Ok(BytesResponse { parts, body: Box::new(body) })
    }
}

impl HttpClient for Http {
    fn request(
        &self,
        request: Request<BodyWrapper<Bytes>>,
    ) -> Pin<Box<dyn Future<Output = Result<BytesResponse, Error>> + Send>> {
        Box::pin(self.clone().ask(request))
    }
}

fn boxed(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::Other(Box::new(error))
}

fn roots(path: &Path) -> io::Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path).map_err(io::Error::other)? {
        roots.add(certificate.map_err(io::Error::other)?).map_err(io::Error::other)?;
    }
    if roots.is_empty() { Err(io::Error::other("it contains no certificate")) } else { Ok(roots) }
}

/// A problem document (RFC 9457), or at least JSON.
fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    kind.split(';').next().is_some_and(|kind| kind.trim().ends_with("json"))
}

fn seconds(text: &str) -> Option<i64> {
    let date = || {
        let wait = httpdate::parse_http_date(text).ok()?.duration_since(SystemTime::now()).ok()?;
        i64::try_from(wait.as_secs()).ok()
    };
    text.trim().parse().ok().filter(|seconds| *seconds >= 0).or_else(date)
}

fn address(url: &Uri) -> String {
    format!("{}{}", url.authority().map_or("", |authority| authority.as_str()), url.path())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_read_as_seconds_or_as_a_date() {
        assert_eq!(seconds("120"), Some(120));
        assert_eq!(seconds("-5"), None);
        assert_eq!(seconds("soon"), None);
        let date = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(3_600));
        assert!(seconds(&date).is_some_and(|seconds| (3_000..=3_600).contains(&seconds)));
    }

    #[test]
    fn a_file_without_certificates_is_told_with_its_key() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ca.pem");
        for content in [None, Some("nothing")] {
            if let Some(content) = content {
                std::fs::write(&path, content).unwrap();
            }
            let told = Http::new(Some(&path)).err().unwrap().to_string();
            assert!(told.starts_with("acme.ca_file names ") && told.contains("PEM file"), "{told}");
        }
    }
}
