//! What is written is read back as it was, older by the time that has passed; everything else is refused.

use bytes::Bytes;
use proptest::prelude::*;
use sluice_message::{Fields, Method, RequestHead, ResponseHead, Scheme};

use super::*;

const CLOCK_MS: u64 = 1_700_000_000_000;

fn fields(lines: &[(&str, &str)]) -> Fields {
    lines.iter().map(|(name, value)| (*name, value.as_bytes())).collect()
}

fn at(steady_ms: u64) -> Moment {
    Moment { wall_s: 784_111_777, steady_ms }
}

/// A page that is 10 s old at 5 s of this process.
fn page(cache_control: &str) -> Page {
    let request = RequestHead {
        method: Method::Get,
        scheme: Scheme::Http,
        authority: "app.test".to_owned(),
        path_and_query: "/page".to_owned(),
        fields: fields(&[("Accept-Language", "de"), ("Cookie", "a=1; b=2")]),
    };
    let head = ResponseHead::new(
        200,
        fields(&[("Cache-Control", cache_control), ("Age", "10"), ("Vary", "Accept-Language"), ("X-Empty", "")]),
    );
    let chosen = ["cookie:b".to_owned()];
    let policy = storable(StorageCandidate {
        request: &request,
        response: &head,
        chosen: &chosen,
        rule: Rule::default(),
        asked: at(5_000),
        came: at(5_000),
    })
    .unwrap();
    Page {
        key: "http://app.test/page".to_owned(),
        head: ResponseHead { reason: Some(b"Fine \xff".as_slice().into()), ..head },
        policy,
        tags: vec!["product-1".into(), "wäre".into()],
        body: Bytes::from_static(b"<p>\x00\xff"),
    }
}

fn written(page: &Page, now: Moment, clock_ms: u64) -> Bytes {
    let Page { key, head, policy, tags, body } = page;
    encode(&PageRecord { key, head, policy, tags, body }, now, clock_ms).into()
}

#[test]
fn a_page_is_read_as_it_was_written() {
    for cache_control in [
        "public, max-age=60",
        "s-maxage=60, stale-while-revalidate=7, stale-if-error=0",
        "public, max-age=60, must-revalidate, no-transform, stale-if-error=9",
    ] {
        let page = page(cache_control);
        let read = decode(&written(&page, at(5_000), CLOCK_MS), at(5_000), CLOCK_MS).unwrap();
        assert_eq!(read, page, "{cache_control}");
        assert!(read.policy.is_for(&fields(&[("Accept-Language", "de"), ("Cookie", "b=2")])));
        assert!(!read.policy.is_for(&fields(&[("Accept-Language", "de"), ("Cookie", "b=3")])));
    }
}

#[test]
fn a_page_grows_older_on_its_way_by_the_clock_that_both_have() {
    let page = page("public, max-age=60, stale-while-revalidate=10");
    let bytes = written(&page, at(12_600), CLOCK_MS);
    for (after_ms, age_s) in [(0, 17), (399, 17), (400, 18), (30_000, 47), (10_000_000, 10_017)] {
        let read = decode(&bytes, at(0), CLOCK_MS + after_ms).unwrap();
        assert!(read.policy.age_s(at(0)) >= age_s, "{after_ms}: a clock that has just begun makes it no younger");
        let read = decode(&bytes, at(50_000), CLOCK_MS + after_ms).unwrap();
        assert_eq!(read.policy.age_s(at(50_000)), age_s, "{after_ms}");
    }
    let read = decode(&bytes, at(50_000), CLOCK_MS + 45_000).unwrap();
    assert_eq!(read.policy.reuse(at(50_000), StaleLimits::default()), Reuse::WhileRevalidating(2));
    assert_eq!(read.policy.reuse(at(60_000), StaleLimits::default()), Reuse::Never);
}

#[test]
fn a_clock_that_is_set_back_makes_no_page_fresh_again() {
    let bytes = written(&page("public, max-age=60"), at(5_000), CLOCK_MS);
    assert!(decode(&bytes, at(5_000), CLOCK_MS - 1_000).is_ok(), "two readings of one clock may differ a little");
    assert_eq!(decode(&bytes, at(5_000), CLOCK_MS - 1_001), Err(Unreadable::Future));
}

#[test]
fn another_version_is_not_read() {
    let mut bytes = written(&page("public, max-age=60"), at(0), CLOCK_MS).to_vec();
    bytes[3] += 1;
    assert_eq!(decode(&bytes.into(), at(0), CLOCK_MS), Err(Unreadable::Version));
    assert_eq!(decode(&Bytes::new(), at(0), CLOCK_MS), Err(Unreadable::Version));
}

#[test]
fn half_a_page_or_one_with_another_byte_is_refused() {
    let bytes = written(&page("public, max-age=60"), at(5_000), CLOCK_MS);
    for len in 0..bytes.len() {
        assert!(decode(&bytes.slice(..len), at(5_000), CLOCK_MS).is_err(), "{len}");
    }
    for place in 0..bytes.len() {
        let mut other = bytes.to_vec();
        other[place] ^= 0x20;
        assert!(decode(&other.into(), at(5_000), CLOCK_MS).is_err(), "{place}");
    }
}

#[test]
fn a_head_that_would_split_the_answer_is_refused_although_its_checksum_is_right() {
    for (name, value) in [("X-A", "b\r\nSet-Cookie: c"), ("X A", "b"), ("", "b"), ("X-A", "\0")] {
        let mut page = page("public, max-age=60");
        page.head.fields = fields(&[(name, value)]);
        let bytes = written(&page, at(0), CLOCK_MS);
        assert_eq!(decode(&bytes, at(0), CLOCK_MS), Err(Unreadable::Damaged), "{name:?} {value:?}");
    }
}

/// As somebody writes them who knows the form.
fn sealed(rest: &[u8]) -> Bytes {
    let mut bytes = b"SLP\x01".to_vec();
    bytes.extend_from_slice(&crc32fast::hash(rest).to_le_bytes());
    bytes.extend_from_slice(rest);
    bytes.into()
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic_or_reserve_memory(rest in proptest::collection::vec(any::<u8>(), 0..200), clock_ms: u64) {
        let _ = decode(&sealed(&rest), at(5_000), clock_ms);
    }

    #[test]
    fn a_page_with_bytes_of_chance_in_it_never_makes_it_panic(place in 8_usize..150, byte: u8, clock_ms: u64) {
        let mut bytes = written(&page("public, max-age=60"), at(5_000), CLOCK_MS).to_vec();
        let place = place.min(bytes.len() - 1);
        bytes[place] = byte;
        let _ = decode(&sealed(&bytes[8..]), at(5_000), clock_ms);
    }
}
