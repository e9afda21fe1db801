//! The JSON line of a request, under the names of the reference or of a convention. This module must not know other events.

use sluice_catalog::config::{LogFields, site};

use super::fields::Fields;
use super::{FIELD_BYTES_MAX, TARGET_BYTES_MAX};
use crate::encode::{address, milliseconds, number};
use crate::event::{AccessRecord, CacheUse, LoggedHeader, Session, Step, UpstreamUse};
use crate::window::microseconds;

pub(super) fn json_access(fields: &mut Fields<'_>, record: &AccessRecord<'_>, names: LogFields) {
    fields.text(b",\"request_id\":", record.request_id, FIELD_BYTES_MAX);
    fields.text(b",\"method\":", record.method, FIELD_BYTES_MAX);
    fields.text(b",\"target\":", record.target, TARGET_BYTES_MAX);
    // The conventions have a field of its own for the port.
    let host = if names == LogFields::Sluice { record.host } else { site(record.host) };
    fields.text(b",\"host\":", host, FIELD_BYTES_MAX);
    fields.text(b",\"class\":", record.class, FIELD_BYTES_MAX);
    match record.worker {
        Some(worker) => fields.number(b",\"worker\":", worker),
        None => fields.null(b",\"worker\":"),
    }
    fields.number(b",\"tries\":", u64::from(record.tries));
    match record.upstream {
        None => fields.null(b",\"upstream\":"),
        Some(upstream) => json_upstream(fields, upstream),
    }
    fields.text_or_null(b",\"step\":", record.step.map(Step::as_str), FIELD_BYTES_MAX);
    fields.text_or_null(b",\"session\":", record.session.map(Session::as_str), FIELD_BYTES_MAX);
    fields.text_or_null(b",\"cache\":", record.cache.map(CacheUse::as_str), FIELD_BYTES_MAX);
    if let Some(includes) = record.includes {
        fields.number(b",\"includes\":", u64::from(includes.asked));
        fields.number(b",\"includes_failed\":", u64::from(includes.failed));
    } else {
        fields.null(b",\"includes\":");
        fields.null(b",\"includes_failed\":");
    }
    fields.number(b",\"status\":", u64::from(record.status));
    match record.error {
        Some(code) => fields.text(b",\"error\":", code.entry().code, FIELD_BYTES_MAX),
        None => fields.null(b",\"error\":"),
    }
    fields.number(b",\"bytes_in\":", record.bytes_in);
    fields.number(b",\"bytes_out\":", record.bytes_out);
    fields.milliseconds(b",\"receive_ms\":", Some(record.receive_ms));
    fields.milliseconds(b",\"queue_ms\":", record.queue_ms);
    fields.milliseconds(b",\"unserved_ms\":", record.unserved_ms);
    fields.milliseconds(b",\"service_ms\":", record.service_ms);
    fields.milliseconds(b",\"total_ms\":", Some(record.total_ms));
    fields.milliseconds(b",\"cpu_ms\":", record.cpu_ms);
    fields.milliseconds(b",\"handler_ms\":", record.handler_ms);
    fields.text(b",\"outcome\":", record.outcome.as_str(), FIELD_BYTES_MAX);
    fields.key(b",\"peer\":");
    fields.out.push(b'"');
    address(fields.out, record.peer);
    fields.out.push(b'"');
    fields.trace_id(b",\"trace_id\":", record.trace_id);
    match names {
        LogFields::Sluice => headers(fields, record.headers),
        LogFields::Otel => named_headers(fields, record.headers, "http.request.header.", true),
        LogFields::Ecs => {
            fields.number(b",\"event.duration\":", microseconds(record.total_ms).saturating_mul(1_000));
            named_headers(fields, record.headers, "sluice.headers.", false);
        }
    }
}

fn json_upstream(fields: &mut Fields<'_>, upstream: &UpstreamUse<'_>) {
    fields.key(b",\"upstream\":");
    fields.out.extend_from_slice(b"{\"name\":");
    fields.string(upstream.name, FIELD_BYTES_MAX);
    fields.out.extend_from_slice(b",\"target\":");
    fields.string(upstream.target, FIELD_BYTES_MAX);
    fields.out.extend_from_slice(b",\"tries\":");
    number(fields.out, u64::from(upstream.tries));
    fields.out.extend_from_slice(b",\"first_byte_ms\":");
    match upstream.first_byte_ms {
        Some(first_byte_ms) => milliseconds(fields.out, first_byte_ms),
        None => fields.out.extend_from_slice(b"null"),
    }
    fields.out.extend_from_slice(b",\"ms\":");
    milliseconds(fields.out, upstream.ms);
    fields.out.push(b'}');
}

fn headers(fields: &mut Fields<'_>, headers: &[LoggedHeader]) {
    if headers.is_empty() {
        return fields.null(b",\"headers\":");
    }
    fields.key(b",\"headers\":");
    for (at, header) in headers.iter().enumerate() {
        fields.out.push(if at == 0 { b'{' } else { b',' });
        fields.string(&header.name, FIELD_BYTES_MAX);
        fields.out.push(b':');
        fields.string(&header.value, FIELD_BYTES_MAX);
    }
    fields.out.push(b'}');
}

/// A field for each header. OpenTelemetry has lists of values.
fn named_headers(fields: &mut Fields<'_>, headers: &[LoggedHeader], prefix: &str, is_list: bool) {
    for header in headers {
        let is_agent = &*header.name == "user-agent";
        fields.out.push(b',');
        if is_agent {
            fields.string("user_agent.original", FIELD_BYTES_MAX);
        } else {
            fields.string(&format!("{prefix}{}", header.name), FIELD_BYTES_MAX);
        }
        fields.out.push(b':');
        let brackets = is_list && !is_agent;
        if brackets {
            fields.out.push(b'[');
        }
        fields.string(&header.value, FIELD_BYTES_MAX);
        if brackets {
            fields.out.push(b']');
        }
    }
}
