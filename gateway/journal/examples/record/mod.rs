//! A record as of a rendered page, for the examples that measure.

use std::net::{IpAddr, Ipv4Addr};

use sluice_journal::{AccessRecord, Outcome, Step};

/// Makes the record. It has no class.
pub fn record() -> AccessRecord<'static> {
    AccessRecord {
        time_unix_ms: 1_767_225_599_500,
        request_id: "0198c0de-7e57-4a11-8000-00000000002a",
        method: "GET",
        target: "/section-12/4711?colour=red&size=xl&page=2",
        host: "shop.example",
        class: "",
        worker: Some(3),
        tries: 1,
        upstream: None,
        session: None,
        cache: None,
        includes: None,
        step: Some(Step::Render),
        status: 200,
        error: None,
        bytes_in: 0,
        bytes_out: 18_222,
        receive_ms: 0.041,
        queue_ms: Some(1.534),
        unserved_ms: None,
        service_ms: Some(12.251),
        total_ms: 13.912,
        cpu_ms: Some(11.755),
        cpu_weight: 1,
        handler_ms: None,
        outcome: Outcome::Answered,
        peer: IpAddr::V4(Ipv4Addr::new(203, 0, 113, 9)),
        trace_id: Some(0x0af7_6519_16cd_43dd_8448_eb21_1c80_319c),
        headers: &[],
        is_traced: false,
    }
}
