use std::io::{Read as _, Write as _};

use bytes::Bytes;
use sluice_cache::{Answered, Moment, Policy, Rule, storable};
use sluice_catalog::snapshot::Purge;
use sluice_message::{Fields, Method, RequestHead, ResponseHead, Scheme};

use tokio::time::Instant;

use super::*;

fn policy() -> Policy {
    let request = RequestHead {
        method: Method::Get,
        path_and_query: "/".to_owned(),
        authority: "shop.test".to_owned(),
        scheme: Scheme::Http,
        fields: Fields::default(),
    };
    let mut fields = Fields::default();
    fields.push("Cache-Control", "public, max-age=600");
    let response = ResponseHead::new(200, fields);
    let now = Moment::default();
    let rule = Rule::default();
    storable(Answered { request: &request, response: &response, chosen: &[], rule, asked: now, came: now }).unwrap()
}

fn page(key: &str, body: &'static [u8], age_ms: u64) -> Outgoing {
    let now = Moment { wall_s: 0, steady_ms: age_ms };
    Outgoing {
        key: key.to_owned(),
        head: ResponseHead::new(200, Fields::default()),
        policy: policy(),
        tags: vec!["one".into()],
        body: Bytes::from_static(body),
        now,
        clock_ms: clock_ms(),
    }
}

fn clock() -> Clock {
    Clock::since(Instant::now())
}

fn hello() -> Hello {
    Hello::new("rules".to_owned(), true)
}

fn told(number: u64) -> Told {
    Told { number, purge: Purge::Tag("one".to_owned()), is_soft: false, has_parts: true }
}

fn pair() -> [(Relay, mpsc::Receiver<Heard>); 2] {
    let (ours, theirs) = UnixStream::pair().unwrap();
    [ours, theirs].map(|stream| Relay::start(stream, clock(), 1024 * 1024, hello()).unwrap())
}

fn run(story: impl AsyncFnOnce()) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(Duration::from_secs(60), story()).await.unwrap() });
}

/// One side whose other end the test speaks for.
fn alone() -> (UnixStream, Relay, mpsc::Receiver<Heard>) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let (relay, heard) = Relay::start(ours, clock(), 1000, hello()).unwrap();
    (theirs, relay, heard)
}

async fn broken(heard: &mut mpsc::Receiver<Heard>) -> Fault {
    loop {
        if let Heard::Broken(fault) = heard.recv().await.unwrap() {
            return fault;
        }
    }
}

#[test]
fn what_one_side_says_the_other_hears_in_its_order_and_pages_keep_their_age() {
    run(async || {
        let [(ours, _our_heard), (_theirs, mut heard)] = pair();
        ours.page(page("http://a.test/", b"body", 7_500));
        ours.purge(told(1));
        ours.page(page("http://b.test/", b"", 0));
        ours.done(5);
        ours.all_sent();
        ours.bye().await.unwrap();
        assert!(matches!(heard.recv().await, Some(Heard::Hello(said)) if said == hello()));
        let Some(Heard::Page(first)) = heard.recv().await else { panic!() };
        assert_eq!((&*first.key, &*first.body, &*first.tags), ("http://a.test/", &b"body"[..], &["one".into()][..]));
        let age_s = first.policy.age_s(Moment { wall_s: 0, steady_ms: 1000 });
        assert!((8..60).contains(&age_s), "{age_s}");
        assert!(matches!(heard.recv().await, Some(Heard::Purge(said)) if said == told(1)));
        assert!(matches!(heard.recv().await, Some(Heard::Page(page)) if page.key == "http://b.test/"));
        assert!(matches!(heard.recv().await, Some(Heard::Done(5))));
        assert!(matches!(heard.recv().await, Some(Heard::AllSent)));
        assert!(matches!(heard.recv().await, Some(Heard::Bye)));
        assert!(heard.recv().await.is_none());
    });
}

#[test]
fn a_side_that_goes_without_a_word_is_told_from_one_that_says_so() {
    run(async || {
        let [(ours, _our_heard), (_theirs, mut heard)] = pair();
        drop(ours);
        assert!(matches!(broken(&mut heard).await, Fault::Gone | Fault::Io(_)));
    });
}

#[test]
fn garbage_half_a_page_and_another_version_end_it() {
    let mut cut = vec![b'P', 100, 0, 0, 0];
    cut.extend_from_slice(b"half");
    let mut damaged = Vec::new();
    let mut bytes = page("http://a.test/", b"body", 0).encode();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    frame::write(&mut damaged, &Frame::Page(bytes.into())).unwrap();
    let mut long = vec![b'U'];
    long.extend_from_slice(&u32::MAX.to_le_bytes());
    for (bytes, is_expected) in [
        (cut, (|fault| matches!(fault, Fault::Gone)) as fn(&Fault) -> bool),
        (damaged, |fault| matches!(fault, Fault::Page(_))),
        (long, |fault| matches!(fault, Fault::Garbage)),
        (b"GET / HTTP/1.1\r\n\r\n".to_vec(), |fault| matches!(fault, Fault::Garbage)),
    ] {
        run(async || {
            let (mut theirs, _relay, mut heard) = alone();
            frame::write(&mut theirs, &Frame::Hello(hello())).unwrap();
            theirs.write_all(&bytes).unwrap();
            theirs.shutdown(Shutdown::Write).unwrap();
            let fault = broken(&mut heard).await;
            assert!(is_expected(&fault), "{fault}");
        });
    }
    run(async || {
        let (mut theirs, _relay, mut heard) = alone();
        let text = br#"{"version":99,"rules":"","wants_pages":true}"#;
        theirs.write_all(&[b'H', u8::try_from(text.len()).unwrap(), 0, 0, 0]).unwrap();
        theirs.write_all(text).unwrap();
        assert!(matches!(broken(&mut heard).await, Fault::Version(99)));
    });
}

#[test]
fn a_page_before_the_greeting_is_not_heard() {
    run(async || {
        let (mut theirs, _relay, mut heard) = alone();
        frame::write(&mut theirs, &Frame::Page(page("http://a.test/", b"body", 0).encode().into())).unwrap();
        assert!(matches!(heard.recv().await, Some(Heard::Broken(Fault::Garbage))));
    });
}

#[test]
fn a_page_that_is_too_large_is_passed_over() {
    run(async || {
        let (mut theirs, _relay, mut heard) = alone();
        let huge = vec![0; HEAD_BYTES_MAX + 1001];
        let writer = thread::spawn(move || {
            frame::write(&mut theirs, &Frame::Hello(hello())).unwrap();
            frame::write(&mut theirs, &Frame::Page(huge.into())).unwrap();
            frame::write(&mut theirs, &Frame::AllSent).unwrap();
            theirs
        });
        assert!(matches!(heard.recv().await, Some(Heard::Hello(_))));
        assert!(matches!(heard.recv().await, Some(Heard::AllSent)));
        drop(writer.join().unwrap());
    });
}

#[test]
fn pages_wait_for_a_side_that_does_not_read_and_purges_do_not() {
    run(async || {
        let (mut theirs, relay, _heard) = alone();
        let body: &[u8] = vec![b'x'; 512 * 1024].leak();
        let mut sent = 0_usize;
        while relay.has_room() {
            relay.page(page("http://a.test/", body, 0));
            sent += 1;
            assert!(sent < 1000, "what waits has no bound");
        }
        relay.purge(told(1));
        // It reads at last.
        let reader = thread::spawn(move || {
            let mut bytes = 0;
            let mut buffer = vec![0; 64 * 1024];
            while bytes < sent * 512 * 1024 {
                bytes += theirs.read(&mut buffer).unwrap();
            }
            theirs
        });
        relay.room().await;
        drop(reader.join().unwrap());
    });
}

#[test]
fn a_side_that_is_told_more_than_it_takes_is_given_up() {
    run(async || {
        let (_theirs, relay, mut heard) = alone();
        for number in 0..QUEUED_MAX as u64 + 20_000 {
            relay.purge(Told { purge: Purge::Tag("t".repeat(100)), ..told(number) });
        }
        assert!(matches!(broken(&mut heard).await, Fault::Gone | Fault::Io(_)));
    });
}
