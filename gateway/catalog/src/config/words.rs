//! Keys whose value is one of some words, each with its meaning. It must not know any key.

use serde_json::json;
use toml::de::DeValue;

use super::table::Bounds;
use super::value_error::ValueError;
use super::values::{Kind, Value};

macro_rules! words {
    ($(#[doc = $type_doc:literal] $type:ident { $($(#[doc = $doc:literal])+ $variant:ident = $word:literal,)+ })+) => {$(
        #[doc = $type_doc]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $type {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl $type {
            /// The word in the file.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl Value for $type {
            const KIND: Kind = Kind::Word(&[$(($word, concat!($($doc),+).trim_ascii())),+]);

            fn from_toml(value: &DeValue<'_>, bounds: Option<Bounds>) -> Result<Self, ValueError> {
                value.as_str().ok_or_else(|| ValueError::of_type(Self::KIND, value))
                    .and_then(|text| Self::from_text(text, bounds))
            }

            fn from_text(text: &str, _: Option<Bounds>) -> Result<Self, ValueError> {
                match text.trim() {
                    $($word => Ok(Self::$variant),)+
                    _ => Err(ValueError::of_text(Self::KIND, text)),
                }
            }

            fn to_json(&self) -> serde_json::Value {
                json!(self.as_str())
            }
        }
    )+};
}

words! {
    /// Order in which waiting requests are dispatched.
    Order {
        /// The request with the lowest expected cost goes first, unless another has waited for too long.
        Shortest = "shortest",
        /// The oldest request goes first.
        Fifo = "fifo",
    }
    /// Whether long requests get workers of their own.
    Lanes {
        /// Enabled while there are both long and short requests, `queue.order` is `shortest` and `workers.concurrency` is
        /// `"while-waiting"` or 1.
        Auto = "auto",
        /// Disabled.
        Off = "off",
    }
    /// Means by which a client finds the worker that keeps its session.
    Sticky {
        /// None: any worker answers any client.
        Off = "off",
        /// A cookie that the gateway sets, with the worker that answered first.
        Cookie = "cookie",
        /// The client's address (the first 64 bits of an IPv6 address).
        Address = "address",
    }
    /// Requests from other sites to which a browser adds the cookie.
    SameSite {
        /// Browsers add the cookie when a visitor follows a link to the app.
        Lax = "lax",
        /// Browsers add it to no request from other sites.
        Strict = "strict",
        /// Browsers add it to all requests, for apps in other sites' pages. They accept such a cookie only over HTTPS.
        None = "none",
    }
    /// Renderer behind an app's imports of react-dom's server modules.
    Renderer {
        /// The renderer of `react-dom`.
        ReactDom = "react-dom",
        /// `@sluice/react`, wherever its output is identical.
        Fast = "fast",
    }
    /// Clients whose trace context reaches the app.
    TraceContext {
        /// All clients, as without a gateway: any client can request sampling of its requests.
        Pass = "pass",
        /// Only `server.trusted_peers`.
        Trusted = "trusted",
        /// No clients: each request begins a new trace.
        Off = "off",
    }
    /// Requests that are profiled after others of their class took unusually long.
    Tails {
        /// No requests.
        Off = "off",
        /// A few of them, so that profiling uses at most half a percent of a worker's time.
        Sampled = "sampled",
        /// Each of the next 20 requests of the class, one at a time.
        On = "on",
    }
    /// Use of cached pages after a new version of the app takes over.
    OnReload {
        /// Cached pages stay in use.
        Keep = "keep",
        /// Cached pages become stale: they are used only while a new page is rendered, or if the render fails.
        Stale = "stale",
        /// Cached pages are deleted.
        Drop = "drop",
    }
    /// Requests with `_` in a header's name that are accepted.
    UnderscoreHeaders {
        /// Requests in which the name, with `-` for `_`, differs from all other headers of the request, and from headers that
        /// the gateway sets or interprets.
        Distinct = "distinct",
        /// No such requests.
        Refuse = "refuse",
        /// All requests, unless the name with `-` is one of the gateway's own, `X-Sluice-*` or `Sluice-Warm-Up`.
        Pass = "pass",
    }
    /// Reports of the gateway's load to the balancer in front of it.
    LoadReport {
        /// No reports.
        Off = "off",
        /// A header in each answer.
        Header = "header",
        /// A trailer in each answer of unknown length, so that the report is from the end of the answer. All other answers have
        /// the header.
        Trailer = "trailer",
    }
    /// Format of log lines.
    LogFormat {
        /// Readable text on a terminal, otherwise JSON lines.
        Auto = "auto",
        /// JSON lines.
        Json = "json",
        /// Readable text.
        Text = "text",
    }
    /// Names of the fields in JSON lines.
    LogFields {
        /// Names in the reference.
        Sluice = "sluice",
        /// Names in OpenTelemetry's semantic conventions, else `sluice.` and the name in the reference.
        Otel = "otel",
        /// Names in the Elastic Common Schema, else `sluice.` and the name in the reference.
        Ecs = "ecs",
    }
    /// Log lines and query strings.
    LogQuery {
        /// Lines show query strings unchanged.
        Keep = "keep",
        /// Lines show only paths.
        Drop = "drop",
        /// Lines show `***` for the values of parameters that `query_masked` names.
        Mask = "mask",
    }
}
