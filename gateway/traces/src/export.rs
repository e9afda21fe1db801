//! The export of spans by OTLP over HTTP, in batches. A collector that is away, slow or full costs requests nothing: spans wait, up
//! to a bound, and are dropped beyond it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::header::{CONTENT_TYPE, RETRY_AFTER, USER_AGENT};
use hyper::{Request, StatusCode};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use prost::Message as _;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::proto::{ExportRequest, ExportResponse, Resource, ResourceSpans, Scope, ScopeSpans};
use crate::settings::Settings;
use crate::spans::RequestSpan;

/// Maximum number of requests in one export.
const BATCH_MAX: usize = 128;
/// Time for which the first of them waits for more.
const BATCH_WAIT: Duration = Duration::from_secs(5);
/// Time limit of one export.
const EXPORT_MAX: Duration = Duration::from_secs(10);
/// Maximum size of a collector's answer, bytes.
const ANSWER_BYTES_MAX: usize = 64 * 1024;
/// Maximum number of attempts to export a batch.
const TRIES_MAX: u32 = 5;
/// Wait before the first retry; it doubles from then on.
const RETRY_FIRST: Duration = Duration::from_secs(1);
/// Maximum wait that a collector may request.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(30);
/// Failures are told at most so often.
const TELL_EVERY: Duration = Duration::from_secs(60);
/// Time for which an idle connection to the collector stays open.
const IDLE_MAX: Duration = Duration::from_secs(60);

type Http = Client<HttpsConnector<HttpConnector>, Full<Bytes>>;

/// Fates of spans. Each only grows.
#[derive(Debug, Default)]
pub struct Counts {
    exported: Cell<u64>,
    dropped: Cell<u64>,
    failed: Cell<u64>,
    /// Requests whose spans wait, or are being exported.
    waiting: Cell<u64>,
    /// Reason of the latest failed export that has not been reported.
    why: RefCell<Option<String>>,
    /// Time of the latest report of a failure, and the number of spans lost by then.
    told: Cell<Option<(Instant, u64)>>,
}

impl Counts {
    /// Spans that the collector took.
    pub fn exported(&self) -> u64 {
        self.exported.get()
    }

    /// Spans that found no room, because the collector took those before them too slowly.
    pub fn dropped(&self) -> u64 {
        self.dropped.get()
    }

    /// Spans that the collector refused, or did not take in any of several tries.
    pub fn failed(&self) -> u64 {
        self.failed.get()
    }

    /// Losses since the latest report and their reason, for people. `None` if nothing was lost, or it was reported a
    /// moment ago.
    pub fn take_failure(&self, now: Instant) -> Option<String> {
        let told = self.told.get();
        if told.is_some_and(|(at, _)| now.saturating_duration_since(at) < TELL_EVERY) {
            return None;
        }
        let why = self.why.take()?;
        let lost = self.failed.get() + self.dropped.get();
        self.told.set(Some((now, lost)));
        let spans = lost - told.map_or(0, |(_, lost)| lost);
        Some(format!("traces: {spans} spans were not exported: {why}"))
    }

    pub(crate) fn waiting(&self) -> u64 {
        self.waiting.get()
    }

    pub(crate) fn waits(&self) {
        self.waiting.set(self.waiting.get() + 1);
    }

    fn is_over(&self, requests: usize) {
        self.waiting.set(self.waiting.get().saturating_sub(requests as u64));
    }

    pub(crate) fn drop_spans(&self, count: u64) {
        self.dropped.set(self.dropped.get() + count);
    }
}

/// Exports until nobody sends any more.
pub(crate) async fn run(settings: Settings, mut receiver: mpsc::Receiver<Box<RequestSpan>>, counts: Rc<Counts>) {
    let http = match client(&settings) {
        Ok(http) => http,
        Err(error) => {
            counts.why.replace(Some(format!("certificates of this system: {error}")));
            while receiver.recv().await.is_some() {
                counts.is_over(1);
                counts.drop_spans(crate::spans::SPANS_MAX);
            }
            return;
        }
    };
    let mut batch = Vec::with_capacity(BATCH_MAX);
    while let Some(first) = receiver.recv().await {
        batch.push(first);
        let until = Instant::now() + BATCH_WAIT;
        while batch.len() < BATCH_MAX {
            match timeout_at(until, receiver.recv()).await {
                Ok(Some(ended)) => batch.push(ended),
                // Nobody sends any more, or the first has waited for long enough.
                Ok(None) | Err(_) => break,
            }
        }
        send(&http, &settings, &counts, &batch).await;
        counts.is_over(batch.len());
        batch.clear();
    }
}

fn client(settings: &Settings) -> std::io::Result<Http> {
    let is_tls = settings.endpoint.scheme_str() == Some("https");
    let mut tcp = HttpConnector::new();
    tcp.set_connect_timeout(Some(EXPORT_MAX));
    tcp.enforce_http(false);
    let tls = HttpsConnectorBuilder::new();
    let tls = if is_tls {
        tls.with_provider_and_native_roots(ring::default_provider())?
    } else {
        // Never used, and the system's certificates take a while to read.
        let none = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(std::io::Error::other)?
            .with_root_certificates(RootCertStore::empty());
        tls.with_tls_config(none.with_no_client_auth())
    };
    let connector = tls.https_or_http().enable_http1().wrap_connector(tcp);
    Ok(Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(IDLE_MAX)
        .pool_max_idle_per_host(1)
        .build(connector))
}

async fn send(http: &Http, settings: &Settings, counts: &Counts, batch: &[Box<RequestSpan>]) {
    let spans: Vec<_> = batch.iter().flat_map(|ended| ended.spans()).collect();
    let count = spans.len() as u64;
    let scope = Scope { name: "sluice".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() };
    let resource = Resource { attributes: settings.resource.clone() };
    let body = Bytes::from(
        ExportRequest {
            resource_spans: vec![ResourceSpans {
                resource: Some(resource),
                scope_spans: vec![ScopeSpans { scope: Some(scope), spans }],
            }],
        }
        .encode_to_vec(),
    );
    let mut wait = RETRY_FIRST;
    for attempt in 1..=TRIES_MAX {
        let tried = timeout(EXPORT_MAX, export(http, settings, body.clone())).await;
        let failure = match tried {
            Ok(Ok(rejected)) => {
                counts.exported.set(counts.exported.get() + count.saturating_sub(rejected));
                counts.failed.set(counts.failed.get() + rejected.min(count));
                return;
            }
            Ok(Err(failure)) => failure,
            Err(_) => Failure::again(format!("no answer in {} s", EXPORT_MAX.as_secs())),
        };
        let Failure { text, is_final, retry_after } = failure;
        if is_final || attempt == TRIES_MAX {
            counts.failed.set(counts.failed.get() + count);
            counts.why.replace(Some(text));
            return;
        }
        // Gateways that lost the collector at the same time do not come back at the same time.
        let spread = wait.mul_f64(0.75 + fastrand::f64() / 2.0);
        sleep(retry_after.map_or(spread, |asked| asked.min(RETRY_AFTER_MAX))).await;
        wait *= 2;
    }
}

struct Failure {
    text: String,
    /// Another try would have the same end.
    is_final: bool,
    retry_after: Option<Duration>,
}

impl Failure {
    fn again(text: String) -> Self {
        Failure { text, is_final: false, retry_after: None }
    }
}

/// Number of spans that the collector refused of those that it got.
async fn export(http: &Http, settings: &Settings, body: Bytes) -> Result<u64, Failure> {
    let mut request = Request::post(settings.endpoint.clone())
        .header(CONTENT_TYPE, "application/x-protobuf")
        .header(USER_AGENT, concat!("sluice/", env!("CARGO_PKG_VERSION")));
    for (name, value) in &settings.headers {
        request = request.header(name, value);
    }
    let request = request.body(Full::new(body)).map_err(|error| Failure {
        text: error.to_string(),
        is_final: true,
        retry_after: None,
    })?;
    let answer = http.request(request).await.map_err(|error| Failure::again(causes(&error)))?;
    let (status, retry_after) = (answer.status(), answer.headers().get(RETRY_AFTER).and_then(seconds));
    let whole = Limited::new(answer.into_body(), ANSWER_BYTES_MAX).collect().await;
    if status.is_success() {
        // An answer that cannot be read is none about refused spans.
        let answer = whole.ok().and_then(|whole| ExportResponse::decode(whole.to_bytes()).ok());
        let partial = answer.and_then(|answer| answer.partial_success);
        return Ok(partial.map_or(0, |partial| u64::try_from(partial.rejected_spans).unwrap_or(0)));
    }
    // The statuses that OTLP calls retryable.
    let may_try_again = matches!(
        status,
        StatusCode::TOO_MANY_REQUESTS
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT
    );
    Err(Failure { text: format!("the collector answered {status}"), is_final: !may_try_again, retry_after })
}

fn seconds(value: &hyper::header::HeaderValue) -> Option<Duration> {
    let text = value.to_str().ok()?;
    let date = || httpdate::parse_http_date(text).ok()?.duration_since(SystemTime::now()).ok();
    text.parse().ok().map(Duration::from_secs).or_else(date)
}

/// An error with what caused it: the last of them says what the system said.
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_that_are_lost_again_and_again_are_told_once_a_minute() {
        let (counts, start) = (Counts::default(), Instant::now());
        let fail = |spans: u64| {
            counts.failed.set(counts.failed.get() + spans);
            counts.why.replace(Some("the collector answered 404 Not Found".to_owned()));
        };
        let told = |s| counts.take_failure(start + Duration::from_secs(s));
        assert_eq!(told(0), None);
        fail(5);
        assert_eq!(told(1).unwrap(), "traces: 5 spans were not exported: the collector answered 404 Not Found");
        for _ in 0..1000 {
            fail(5);
            assert_eq!(told(2), None);
        }
        counts.drop_spans(10);
        assert!(told(61).unwrap().starts_with("traces: 5010 spans were not exported: "));
        assert_eq!(told(200), None, "nothing more was lost");
    }
}
