//! Trace context of requests (W3C Trace Context): the part that the app gets, and the id for the access log.
//!
//! While no spans are exported the gateway has no place in a trace. A `traceparent` of its own would then tell the app's tracer that a
//! caller exists and whether that caller sampled, and tracers trust it: with `sampled` unset they export nothing.

use sluice_catalog::config::TraceContext;
use sluice_message::Fields;
use sluice_traces::{Context, Parent, Traces};

/// The trace that a request belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trace {
    /// The caller's trace, whose context passes unchanged. Its id is never 0.
    Passed(u128),
    /// A trace in which the gateway has spans.
    Own(Context),
}

impl Trace {
    /// Id of the trace.
    pub fn id(self) -> u128 {
        match self {
            Self::Passed(id) => id,
            Self::Own(context) => context.trace_id,
        }
    }

    /// Context of the spans that are exported.
    pub fn kept(self) -> Option<Context> {
        match self {
            Self::Own(context) if context.is_sampled => Some(context),
            Self::Own(_) | Self::Passed(_) => None,
        }
    }

    /// Whether this field of the caller's context reaches the app. `tracestate` belongs to the trace, whichever spans are in it.
    #[must_use]
    pub fn passes(self, name: &str) -> bool {
        match self {
            Self::Passed(_) => true,
            Self::Own(context) => context.parent.is_some() && name.eq_ignore_ascii_case("tracestate"),
        }
    }
}

/// Trace of a request that this caller sent; `None` if the app gets no context.
pub(crate) fn of(parent: Option<Parent>, traces: &Traces) -> Option<Trace> {
    let own = traces.begin(parent).map(Trace::Own);
    own.or_else(|| parent.map(|parent| Trace::Passed(parent.trace_id)))
}

/// Bytes of a `traceparent` of version 00.
const VERSION_00_BYTES: usize = 55;

/// Whether the field belongs to the trace context.
pub fn is_field(name: &str) -> bool {
    name.eq_ignore_ascii_case("traceparent") || name.eq_ignore_ascii_case("tracestate")
}

/// Span of the caller. `None` if the policy does not trust it, and if `traceparent` is missing, malformed or sent twice, after which a
/// receiver starts a new trace (§3.2.2, §4.3).
pub(crate) fn parent(policy: TraceContext, is_trusted: bool, fields: &Fields) -> Option<Parent> {
    let is_wanted = match policy {
        TraceContext::Pass => true,
        TraceContext::Trusted => is_trusted,
        TraceContext::Off => false,
    };
    let mut parents = fields.get_all("traceparent").filter(|_| is_wanted);
    let parent = parents.next()?;
    parents.next().is_none().then(|| parse(parent)).flatten()
}

/// Parses `version-traceid-parentid-flags` (§3.2.2). Later versions may append fields; version 00 has none.
fn parse(parent: &[u8]) -> Option<Parent> {
    let version = hex(parent.get(..2)?)?;
    let trace_id = hex(parent.get(3..35)?)?;
    let span_id = u64::try_from(hex(parent.get(36..52)?)?).ok()?;
    let flags = hex(parent.get(53..VERSION_00_BYTES)?)?;
    let is_separated = [2, 35, 52].iter().all(|&at| parent[at] == b'-');
    let has_an_end = match parent.get(VERSION_00_BYTES) {
        None => true,
        Some(&next) => version != 0 && next == b'-',
    };
    (is_separated && has_an_end && version != 0xff && trace_id != 0 && span_id != 0).then_some(Parent {
        trace_id,
        span_id,
        is_sampled: flags & 1 == 1,
    })
}

/// Number of up to 32 lower-case hexadecimal digits.
fn hex(digits: &[u8]) -> Option<u128> {
    digits.iter().try_fold(0, |value: u128, &digit| {
        let nibble = match digit {
            b'0'..=b'9' => digit - b'0',
            b'a'..=b'f' => digit - b'a' + 10,
            _ => return None,
        };
        Some(value << 4 | u128::from(nibble))
    })
}

#[cfg(test)]
mod tests {
    use sluice_http1::{HeadLimits, Parse, parse_request};

    use super::*;

    const SAMPLED: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const TRACE_ID: u128 = 0x0af7_6519_16cd_43dd_8448_eb21_1c80_319c;
    const ID: Option<u128> = Some(TRACE_ID);

    fn fields(lines: &str) -> Fields {
        let head = format!("GET / HTTP/1.1\r\nHost: a\r\n{lines}\r\n");
        let Ok(Parse::Complete { received, .. }) = parse_request(head.as_bytes(), &HeadLimits::default()) else {
            panic!("not a head: {head}");
        };
        received.head.fields
    }

    #[test]
    fn well_formed_parents_have_an_id_and_others_do_not() {
        for (parent, id) in [
            (SAMPLED, ID),
            ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00", ID),
            ("01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more", ID),
            ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more", None),
            ("01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01more", None),
            ("ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", None),
            ("00-00000000000000000000000000000000-b7ad6b7169203331-01", None),
            ("00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01", None),
            ("00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01", None),
            ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0", None),
            ("00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", None),
            ("00-0af7651916cd43dd8448eb211c80319c", None),
            ("", None),
        ] {
            assert_eq!(parse(parent.as_bytes()).map(|parent| parent.trace_id), id, "{parent}");
        }
    }

    #[test]
    fn policy_says_whose_context_passes() {
        let one = fields(&format!("traceparent: {SAMPLED}\r\n"));
        for (policy, is_trusted, id) in [
            (TraceContext::Pass, false, ID),
            (TraceContext::Trusted, false, None),
            (TraceContext::Trusted, true, ID),
            (TraceContext::Off, true, None),
        ] {
            let believed = parent(policy, is_trusted, &one).map(|parent| parent.trace_id);
            assert_eq!(believed, id, "{policy:?} {is_trusted}");
        }
    }

    #[test]
    fn two_parents_are_none() {
        let two = fields(&format!("traceparent: {SAMPLED}\r\nTraceparent: {SAMPLED}\r\n"));
        assert_eq!(parent(TraceContext::Pass, true, &two), None);
    }

    #[test]
    fn callers_span_and_its_decision_are_read() {
        let one = fields(&format!("traceparent: {SAMPLED}\r\n"));
        let expected = Parent { trace_id: TRACE_ID, span_id: 0xb7ad_6b71_6920_3331, is_sampled: true };
        assert_eq!(parent(TraceContext::Pass, false, &one), Some(expected));
        let unsampled = fields("traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-02\r\n");
        assert_eq!(parent(TraceContext::Pass, false, &unsampled), Some(Parent { is_sampled: false, ..expected }));
    }

    #[test]
    fn without_an_exporter_the_callers_context_passes_as_it_came() {
        let caller = Parent { trace_id: TRACE_ID, span_id: 1, is_sampled: true };
        let trace = of(Some(caller), &Traces::default()).unwrap();
        assert!(trace == Trace::Passed(TRACE_ID) && trace.passes("Traceparent") && trace.passes("tracestate"));
        assert_eq!(trace.kept(), None);
        assert_eq!(of(None, &Traces::default()), None);
    }
}
