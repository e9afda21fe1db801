use super::pieces::JOINED_BYTES_MAX;
use super::*;
use crate::respond::answer::{Answer, End, Next};
use sluice_catalog::errors::Code;

fn store(memory_bytes_max: usize) -> Rc<TempStore> {
    TempStore::new(std::env::temp_dir(), 1 << 30, memory_bytes_max)
}

fn fill(store: &Rc<TempStore>, own_bytes_max: usize) -> Rc<Fill> {
    Rc::new(Fill::new(store, own_bytes_max, 1 << 30))
}

/// Everything that is there for this reader: framed bytes in capitals.
async fn drained(fill: &Fill, key: Key, piece_bytes: usize) -> String {
    let mut text = String::new();
    while let Some(part) = fill.next(key) {
        match part {
            Part::Data(data) => text.push_str(std::str::from_utf8(&data).unwrap()),
            Part::Spilled { is_framed } => {
                let data = fill.read_back(key, piece_bytes).await.unwrap();
                let data = std::str::from_utf8(&data).unwrap();
                text.push_str(&if is_framed { data.to_uppercase() } else { data.to_owned() });
            }
        }
    }
    fill.is_appending();
    text
}

async fn push(fill: &Fill, text: &'static str) {
    fill.push(Bytes::from_static(text.as_bytes())).await.unwrap();
}

#[tokio::test]
async fn what_is_set_aside_and_what_comes_later_keep_their_order() {
    let store = store(1 << 20);
    let fill = fill(&store, 1 << 20);
    let key = fill.add_reader();
    push(&fill, "one ").await;
    push(&fill, "two ").await;
    fill.set_aside(key, b"rest ").await.unwrap();
    assert_eq!(store.memory.used_bytes(), 0);
    push(&fill, "three ").await;
    // Once more, with nothing in memory but what the client had been given.
    fill.set_aside(key, b"first ").await.unwrap();
    push(&fill, "four").await;
    assert_eq!(drained(&fill, key, 3).await, "FIRST REST one two three four");
    assert_eq!(store.used_bytes(), 0, "the file is gone");
}

#[tokio::test]
async fn memory_is_used_again_after_the_file_was_read() {
    let store = store(1 << 20);
    let fill = fill(&store, 1 << 20);
    let key = fill.add_reader();
    push(&fill, "one").await;
    fill.set_aside(key, b"").await.unwrap();
    assert_eq!(drained(&fill, key, 3).await, "one");
    push(&fill, "two").await;
    assert!(store.memory.used_bytes() > 0 && store.used_bytes() == 0);
    assert_eq!(drained(&fill, key, 3).await, "two");
}

#[tokio::test]
async fn fills_of_clients_that_do_not_read_stay_within_the_bound_of_all() {
    let store = store(1 << 20);
    let fills: Vec<_> = (0..50).map(|_| fill(&store, 1 << 20)).collect();
    let keys: Vec<_> = fills.iter().map(|fill| fill.add_reader()).collect();
    for _ in 0..10 {
        for fill in &fills {
            fill.push(Bytes::from(vec![b'x'; 20_000])).await.unwrap();
            assert!(store.memory.used_bytes() <= 1 << 20);
        }
    }
    for (fill, key) in fills.iter().zip(keys) {
        assert_eq!(drained(fill, key, 64 * 1024).await.len(), 200_000);
    }
    assert_eq!((store.memory.used_bytes(), store.used_bytes()), (0, 0));
}

#[tokio::test]
async fn small_piece_does_not_keep_the_buffer_that_it_came_in() {
    let store = store(1 << 20);
    let fill = fill(&store, 1 << 20);
    let key = fill.add_reader();
    let mut buffer = bytes::BytesMut::from(&*vec![b'x'; 32 * 1024]);
    fill.push(buffer.split_to(5000).freeze()).await.unwrap();
    drop(buffer);
    let Some(Part::Data(data)) = fill.next(key) else { panic!("there is a piece") };
    assert!(data.is_unique());
    assert!(bytes::BytesMut::from(data).capacity() < 8192);
}

#[tokio::test]
async fn fill_that_nobody_reads_any_more_gives_memory_and_file_back_and_takes_no_more() {
    let store = store(1 << 20);
    let fill = fill(&store, 50_000);
    let key = fill.add_reader();
    for _ in 0..10 {
        fill.push(Bytes::from(vec![b'x'; 20_000])).await.unwrap();
    }
    assert!(store.memory.used_bytes() > 0 && store.used_bytes() > 0);
    fill.leave(key);
    assert_eq!((store.memory.used_bytes(), store.used_bytes()), (0, 0));
    push(&fill, "for nobody").await;
    assert_eq!((store.memory.used_bytes(), store.used_bytes(), fill.bytes()), (0, 0, 200_010));
    assert!(fill.next(key).is_none() && !fill.has_framed(key));
}

#[tokio::test]
async fn two_readers_get_everything_each_at_its_own_pace() {
    let store = store(1 << 20);
    let fill = fill(&store, 1 << 20);
    let (fast, slow) = (FillReader::new(&fill), FillReader::new(&fill));
    push(&fill, "one ").await;
    assert_eq!(drained(&fill, fast.key, 3).await, "one ");
    push(&fill, "two ").await;
    // The slow one takes nothing for a while; the fast one is in the middle of what goes to the file.
    fill.set_aside(slow.key, b"rest ").await.unwrap();
    assert_eq!(store.memory.used_bytes(), 0);
    push(&fill, "three").await;
    assert_eq!(drained(&fill, fast.key, 3).await, "two three");
    assert!(store.used_bytes() > 0, "the slow one needs it still");
    assert_eq!(drained(&fill, slow.key, 2).await, "REST one two three");
    assert_eq!((store.memory.used_bytes(), store.used_bytes()), (0, 0));
}

#[tokio::test]
async fn slowest_reader_sets_the_watermark_until_it_leaves() {
    let store = store(1 << 20);
    let fill = fill(&store, 100_000);
    let (fast, slow) = (FillReader::new(&fill), FillReader::new(&fill));
    for _ in 0..10 {
        fill.push(Bytes::from(vec![b'x'; 20_000])).await.unwrap();
        assert_eq!(drained(&fill, fast.key, 64 * 1024).await.len(), 20_000);
    }
    assert!(store.memory.used_bytes() > 0 && store.used_bytes() > 0, "first memory, then the file");
    drop(slow);
    assert_eq!((store.memory.used_bytes(), store.used_bytes()), (0, 0));
    push(&fill, "after it").await;
    assert_eq!(drained(&fill, fast.key, 64).await, "after it");
}

#[tokio::test]
async fn what_was_set_aside_framed_stays_when_another_reader_has_everything_and_leaves() {
    let store = store(1 << 20);
    let fill = fill(&store, 1 << 20);
    let (fast, slow) = (FillReader::new(&fill), FillReader::new(&fill));
    push(&fill, "one").await;
    for reader in [&fast, &slow] {
        assert_eq!(drained(&fill, reader.key, 64).await, "one");
    }
    fill.set_aside(slow.key, b"framed").await.unwrap();
    assert_eq!(drained(&fill, fast.key, 64).await, "");
    drop(fast);
    let Some(Part::Spilled { is_framed: true }) = fill.next(slow.key) else { panic!("it is there") };
    assert_eq!(fill.read_back(slow.key, 64).await.unwrap(), "framed");
    assert!(fill.next(slow.key).is_none() && !fill.is_appending());
    assert_eq!(store.used_bytes(), 0);
}

#[tokio::test]
async fn late_reader_begins_with_what_is_still_there() {
    let store = store(1 << 20);
    let fill = fill(&store, 1 << 20);
    let first = FillReader::new(&fill);
    let large: &'static str = Box::leak("x".repeat(JOINED_BYTES_MAX).into_boxed_str());
    push(&fill, "gone").await;
    assert_eq!(drained(&fill, first.key, 64).await, "gone");
    push(&fill, large).await;
    let late = FillReader::new(&fill);
    assert_eq!(first.in_memory().unwrap().len(), large.len());
    assert_eq!(drained(&fill, late.key, 64).await, large);
    assert_eq!(store.memory.used_bytes(), 0);
}

/// By a seed, which a failure prints: readers come, read, set aside and leave in any order.
#[tokio::test]
async fn readers_in_any_order_get_what_was_written_since_they_came() {
    let first: u64 = std::env::var("SLUICE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    for seed in first..first + 200 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let store = store(20_000);
        let fill = fill(&store, 2_000);
        let keeper = FillReader::new(&fill);
        let mut written = Vec::new();
        let mut readers: Vec<(FillReader, Vec<u8>)> = Vec::new();
        for _ in 0..60 {
            match rng.u8(..6) {
                0 | 1 => {
                    let piece: Vec<u8> = (0..rng.usize(1..900)).map(|_| rng.u8(..)).collect();
                    written.extend_from_slice(&piece);
                    fill.push(piece.into()).await.unwrap();
                }
                2 => readers.push((FillReader::new(&fill), Vec::new())),
                3 if !readers.is_empty() => drop(readers.swap_remove(rng.usize(..readers.len()))),
                4 if !readers.is_empty() => {
                    let (reader, _) = &readers[rng.usize(..readers.len())];
                    fill.set_aside(reader.key, b"").await.unwrap();
                }
                _ => {
                    for (reader, read) in &mut readers {
                        if rng.bool()
                            && let Some(piece) = reader.read(rng.usize(1..500)).await.unwrap()
                        {
                            read.extend_from_slice(&piece);
                        }
                    }
                }
            }
        }
        for (reader, mut read) in readers {
            while let Some(piece) = reader.read(1000).await.unwrap() {
                read.extend_from_slice(&piece);
            }
            assert!(read == written, "seed {seed}: {} of {} bytes", read.len(), written.len());
        }
        drop(keeper);
        assert_eq!((store.memory.used_bytes(), store.used_bytes()), (0, 0), "seed {seed}");
    }
}

/// A runtime whose one thread for files waits until the guard is dropped, so that work on files cannot end before.
async fn files_wait() -> std::sync::mpsc::Sender<()> {
    let (go_on, waits) = std::sync::mpsc::channel::<()>();
    let (tell, begun) = tokio::sync::oneshot::channel();
    tokio::task::spawn_blocking(move || {
        let _ = tell.send(());
        let _ = waits.recv();
    });
    begun.await.unwrap();
    go_on
}

/// Begins the work and drops it while a thread has it.
async fn cancelled(work: impl Future) {
    let mut work = std::pin::pin!(work);
    let is_pending = std::future::poll_fn(|cx| std::task::Poll::Ready(work.as_mut().poll(cx).is_pending())).await;
    assert!(is_pending);
}

fn run_with_one_thread_for_files(test: impl Future) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(1).build().unwrap();
    runtime.block_on(async { tokio::time::timeout(std::time::Duration::from_secs(20), test).await }).map(drop).unwrap();
}

#[test]
fn cancelled_move_to_the_file_loses_nothing() {
    run_with_one_thread_for_files(async {
        let store = store(1 << 20);
        let fill = fill(&store, 1 << 20);
        let key = fill.add_reader();
        push(&fill, "one ").await;
        fill.set_aside(key, b"").await.unwrap();
        push(&fill, "two ").await;
        let go_on = files_wait().await;
        cancelled(fill.set_aside(key, b"rest")).await;
        drop(go_on);
        assert!(!fill.has_lost());
        push(&fill, "three").await;
        assert_eq!(drained(&fill, key, 3).await, "one two three");
        assert_eq!(store.used_bytes(), 0);
    });
}

#[test]
fn piece_whose_writer_was_cancelled_is_an_error_and_what_came_before_is_still_read() {
    run_with_one_thread_for_files(async {
        let store = store(1 << 20);
        let fill = fill(&store, 1 << 20);
        let key = fill.add_reader();
        push(&fill, "one ").await;
        fill.set_aside(key, b"").await.unwrap();
        let go_on = files_wait().await;
        cancelled(fill.push(Bytes::from_static(b"two "))).await;
        drop(go_on);
        assert!(fill.has_lost());
        assert!(fill.push(Bytes::from_static(b"three")).await.is_err());
        assert_eq!(drained(&fill, key, 3).await, "one ");
        assert!(fill.read_back(key, 3).await.is_err(), "there is nothing more to read");
    });
}

#[test]
fn answer_with_a_lost_piece_is_never_complete() {
    run_with_one_thread_for_files(async {
        let answer = Answer::new(&store(1 << 20), 1, 1 << 20);
        let go_on = files_wait().await;
        cancelled(answer.push(Bytes::from_static(b"a piece that has to go to the file"))).await;
        drop(go_on);
        answer.complete(Vec::new());
        assert!(matches!(answer.next(), Some(Next::End(End::Failed(Code::TempFull)))));
    });
}
