//! A request's record as spans have it. It must not know how they are exported.

use sluice_journal::AccessRecord;
use sluice_message::{Scheme, path_of};
use sluice_traces::{Context, RequestSpan};

/// Data of an ended request's spans.
pub(crate) fn ended(context: Context, scheme: Scheme, record: &AccessRecord<'_>) -> RequestSpan {
    RequestSpan {
        context,
        time_unix_ms: record.time_unix_ms,
        method: record.method.to_owned(),
        path: path_of(record.target).to_owned(),
        host: record.host.to_owned(),
        scheme: scheme.as_str(),
        class: record.class.to_owned(),
        request_id: record.request_id.to_owned(),
        peer: record.peer,
        status: record.status,
        error: record.error.map(|code| code.entry().code),
        outcome: record.outcome.as_str(),
        // A client that leaves, or that sends what cannot be served, is no failure of the server (OpenTelemetry's rule for 4xx).
        is_failed: record.outcome.is_failure(),
        worker: record.worker,
        tries: record.tries,
        receive_ms: record.receive_ms,
        queue_ms: record.queue_ms,
        unserved_ms: record.unserved_ms,
        service_ms: record.service_ms,
        total_ms: record.total_ms,
        cpu_ms: record.cpu_ms,
        bytes_in: record.bytes_in,
        bytes_out: record.bytes_out,
    }
}
