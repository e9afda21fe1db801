use std::future::Future;
use std::io::Read as _;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::time::Instant;

use super::*;

const LIMITS: Limits = Limits { threads: 1, nice: 2, bodies_max: 100 };

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

fn inflated(data: &[u8]) -> Vec<u8> {
    let mut read = Vec::new();
    flate2::read::GzDecoder::new(data).read_to_end(&mut read).unwrap();
    read
}

fn text() -> Bytes {
    "All work and no play makes Jack a dull boy. ".repeat(20_000).into()
}

#[test]
fn a_whole_body_is_compressed_and_counted() {
    let (pool, text) = (Pool::new(LIMITS), text());
    let packed = block_on(pool.whole(&text, Coding::Gzip, Effort::Kept)).unwrap().unwrap();
    assert!(inflated(&packed) == text && packed.len() < text.len() / 10);
    let counts = pool.counts();
    assert_eq!((counts.input_bytes(), counts.output_bytes()), (text.len() as u64, packed.len() as u64));
    assert_eq!((counts.bodies(Coding::Gzip), counts.bodies(Coding::Zstd), counts.fallbacks()), (1, 0, 0));
    assert!(counts.cpu() > Duration::ZERO);
}

#[test]
fn a_body_that_becomes_no_smaller_is_sent_as_it_is() {
    let pool = Pool::new(LIMITS);
    for body in ["", "x"] {
        assert_eq!(block_on(pool.whole(&body.into(), Coding::Gzip, Effort::Once)), Ok(None));
    }
    assert_eq!(pool.counts().fallbacks(), 0);
}

#[test]
fn pieces_come_out_at_each_flush_and_the_end_is_the_end() {
    let pool = Pool::new(LIMITS);
    let mut stream = pool.begin(Coding::Gzip, Effort::Once).unwrap();
    block_on(async {
        let mut out = stream.encode(vec!["a".into(), "b".into()], Step::Flush).await.unwrap();
        assert!(!out.is_empty());
        out.append(&mut stream.encode(vec!["c".into()], Step::More).await.unwrap());
        out.append(&mut stream.encode(vec![], Step::Finish).await.unwrap());
        assert_eq!(inflated(&out), b"abc");
        assert_eq!(stream.encode(vec!["d".into()], Step::Finish).await, Err(CompressionFailure));
    });
}

#[test]
fn more_bodies_than_allowed_at_once_fall_back_and_one_that_ends_makes_room() {
    let pool = Pool::new(Limits { bodies_max: 2, ..LIMITS });
    let begin = || pool.begin(Coding::Brotli, Effort::Once);
    let (first, _second) = (begin(), begin());
    assert!(first.is_some() && begin().is_none());
    drop(first);
    assert!(begin().is_some());
    assert_eq!(pool.counts().fallbacks(), 1);
    pool.set_bodies_max(0);
    assert!(begin().is_none());
    assert_eq!(block_on(pool.whole(&text(), Coding::Gzip, Effort::Once)), Err(Busy));
}

#[test]
fn no_body_is_begun_while_too_many_pieces_wait() {
    let pool = Pool::new(LIMITS);
    let spare = pool.work.spare();
    let mut waiting: Vec<_> =
        (0..QUEUED_PER_THREAD_MAX).map(|_| pool.begin(Coding::Gzip, Effort::Once).unwrap()).collect();
    {
        let mut pieces: Vec<_> =
            waiting.iter_mut().map(|stream| Box::pin(stream.encode(vec!["a".into()], Step::Finish))).collect();
        for piece in &mut pieces {
            assert!(piece.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        }
        assert!(pool.begin(Coding::Gzip, Effort::Once).is_none());
        drop(spare);
        // Bodies that were begun come to their end.
        for piece in pieces {
            assert_eq!(inflated(&block_on(piece).unwrap()), b"a");
        }
    }
    assert!(pool.begin(Coding::Gzip, Effort::Once).is_some());
}

#[test]
fn a_body_that_is_given_up_leaves_its_memory_to_the_next() {
    let pool = Pool::new(LIMITS);
    let mut stream = pool.begin(Coding::Zstd, Effort::Once).unwrap();
    block_on(stream.encode(vec!["secret".into()], Step::Flush)).unwrap();
    drop(stream);
    let mut stream = pool.begin(Coding::Zstd, Effort::Once).unwrap();
    {
        // Given up while a thread has it.
        let mut piece = pin!(stream.encode(vec!["x".into()], Step::Flush));
        assert!(matches!(piece.as_mut().poll(&mut Context::from_waker(Waker::noop())), Poll::Pending | Poll::Ready(_)));
    }
    drop(stream);
    let deadline = Instant::now() + Duration::from_secs(20);
    while pool.work.spare().len() != 1 || pool.work.queued.load(Ordering::Relaxed) != 0 {
        assert!(Instant::now() < deadline, "the coder did not come back");
        std::thread::yield_now();
    }
    assert_eq!(pool.work.bodies.load(Ordering::Relaxed), 0);
}
