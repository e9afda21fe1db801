//! Trace of a request, and the ids of its spans (W3C Trace Context).

use crate::sampler::Sampler;

/// Content of a `traceparent`: the span that a request was sent in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parent {
    /// Trace id; not 0.
    pub trace_id: u128,
    /// Span id; not 0.
    pub span_id: u64,
    /// The caller keeps the trace.
    pub is_sampled: bool,
}

/// A request's trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context {
    /// The caller's, or a new one.
    pub trace_id: u128,
    /// The caller's span.
    pub parent: Option<u64>,
    /// The span of the whole request. Those of its parts follow from it.
    pub server: u64,
    /// The span of its time in a worker, which the app gets for its parent.
    pub service: u64,
    /// True if its spans are exported.
    pub is_sampled: bool,
}

impl Context {
    pub(crate) fn new(parent: Option<Parent>, sampler: Sampler) -> Self {
        let trace_id = parent.map_or_else(|| fastrand::u128(1..), |parent| parent.trace_id);
        let is_sampled = sampler.samples(trace_id, parent.map(|parent| parent.is_sampled));
        Context {
            trace_id,
            parent: parent.map(|parent| parent.span_id),
            server: new_span(),
            service: new_span(),
            is_sampled,
        }
    }

    /// The `traceparent` that the app gets.
    pub fn traceparent(&self) -> String {
        let flags = u8::from(self.is_sampled);
        format!("00-{:032x}-{:016x}-{flags:02x}", self.trace_id, self.service)
    }
}

pub(crate) fn new_span() -> u64 {
    fastrand::u64(1..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn app_is_below_the_service_span_in_the_callers_trace() {
        let parent = Parent { trace_id: 0xabc, span_id: 7, is_sampled: true };
        let context = Context::new(Some(parent), Sampler::ParentOr(0.0));
        assert_eq!((context.trace_id, context.parent, context.is_sampled), (0xabc, Some(7), true));
        let expected = format!("00-00000000000000000000000000000abc-{:016x}-01", context.service);
        assert_eq!(context.traceparent(), expected);
        assert_ne!(context.server, context.service);
    }

    #[test]
    fn request_without_a_parent_begins_a_trace() {
        let [one, other] = [(); 2].map(|()| Context::new(None, Sampler::ParentOr(0.0)));
        assert!(one.parent.is_none() && !one.is_sampled && one.trace_id != other.trace_id);
        assert!(one.traceparent().ends_with("-00"));
    }
}
