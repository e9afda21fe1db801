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
        /// The one whose class is expected to cost least, unless another has waited for too long.
        Shortest = "shortest",
        /// The one that came first.
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
        /// Nothing: any worker answers any client.
        Off = "off",
        /// A cookie that the gateway sets, which names the worker that answered first.
        Cookie = "cookie",
        /// The client's address (the first 64 bits of an IPv6 one).
        Address = "address",
    }
    /// Requests from other sites to which a browser adds the cookie.
    SameSite {
        /// Links to the app.
        Lax = "lax",
        /// None.
        Strict = "strict",
        /// All, for apps in other sites' pages. Browsers take such a cookie over HTTPS alone.
        None = "none",
    }
    /// Renderer behind an app's imports of react-dom's server modules.
    Renderer {
        /// The renderer of `react-dom` itself.
        ReactDom = "react-dom",
        /// `@sluice/react`, wherever it renders the same bytes.
        Fast = "fast",
    }
    /// Clients whose trace context reaches the app.
    TraceContext {
        /// Every client, as without a gateway: any client may ask for its request to be sampled.
        Pass = "pass",
        /// Only `server.trusted_peers`.
        Trusted = "trusted",
        /// No client: each request begins a trace of its own.
        Off = "off",
    }
    /// Requests that are profiled after others of their class took unusually long.
    Tails {
        /// None.
        Off = "off",
        /// A few, so that profiling takes at most half a percent of a worker's time.
        Sampled = "sampled",
        /// Each of the next 20 of the class, one at a time.
        On = "on",
    }
    /// Use of cached pages after a new version of the app takes over.
    OnReload {
        /// Cached pages stay in use.
        Keep = "keep",
        /// Cached pages count as stale: used only while a new one is rendered, or where none can be.
        Stale = "stale",
        /// Cached pages are dropped.
        Drop = "drop",
    }
    /// Requests with `_` in a header's name that are accepted.
    UnderscoreHeaders {
        /// Requests in which that name, with `_` read as `-`, is neither that of another header of the request nor of one that
        /// the gateway sets or acts on.
        Distinct = "distinct",
        /// None.
        Refuse = "refuse",
        /// All but those that would become the gateway's own `X-Sluice-*` or `Sluice-Warm-Up`.
        Pass = "pass",
    }
    /// Reports of the gateway's load to the balancer in front of it.
    LoadReport {
        /// None.
        Off = "off",
        /// A header in each answer.
        Header = "header",
        /// A trailer of each answer whose length is unknown at its beginning, so that the report is fresh at its end. All other answers have
        /// the header.
        Trailer = "trailer",
    }
    /// Format of log lines.
    LogFormat {
        /// Readable on a terminal, JSON lines elsewhere.
        Auto = "auto",
        /// JSON lines.
        Json = "json",
        /// Readable lines.
        Text = "text",
    }
    /// Names of the fields in JSON lines.
    LogFields {
        /// Names of the reference.
        Sluice = "sluice",
        /// Names of OpenTelemetry's semantic conventions, else `sluice.` and the name of the reference.
        Otel = "otel",
        /// Names of the Elastic Common Schema, else `sluice.` and the name of the reference.
        Ecs = "ecs",
    }
    /// Log lines and query strings.
    LogQuery {
        /// Lines show query strings as they came.
        Keep = "keep",
        /// Lines show paths alone.
        Drop = "drop",
        /// Lines show `***` for the values of parameters that `query_masked` names.
        Mask = "mask",
    }
}
