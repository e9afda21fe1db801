//! Readers of one answer who take their time with it.

use sluice_cache::{Rule, StorageCandidate, storable};
use sluice_message::{Method, RequestHead};

use super::*;
use sluice_wire::receive::spool::TempStore;
use sluice_wire::respond::answer::{self, Next};

fn read(reader: &Answer) -> usize {
    std::iter::from_fn(|| reader.next())
        .map_while(|next| if let Next::Data(data) = next { Some(data.len()) } else { None })
        .sum()
}

fn flight(store: &Rc<TempStore>, memory_bytes_max: usize, file_bytes_max: u64) -> Rc<SharedAnswer> {
    let head = ResponseHead::new(200, [("Cache-Control", &b"s-maxage=9"[..])].into_iter().collect());
    let (request, now) = (RequestHead { method: Method::Get, ..RequestHead::default() }, Moment::default());
    let policy = storable(StorageCandidate {
        request: &request,
        response: &head,
        chosen: &[],
        rule: Rule::default(),
        asked: now,
        came: now,
    })
    .unwrap();
    let body = Fill::new(store, memory_bytes_max, file_bytes_max);
    SharedAnswer::new(head, Size::Unknown, policy, (Vec::new(), false), body)
}

#[tokio::test(flavor = "current_thread")]
async fn i6_renders_for_the_cache_stay_within_the_total_memory_and_are_cached_complete() {
    let bound = 256 << 10;
    let store = TempStore::new(std::env::temp_dir(), 1 << 30, bound);
    let flights: Vec<_> = (0..20).map(|_| flight(&store, 1 << 20, 1 << 30)).collect();
    for at in 0..30_u8 {
        for shared in &flights {
            shared.push(vec![at; 10_000].into(), 1 << 20).await.unwrap();
            assert!(store.memory.used_bytes() <= bound, "{} bytes", store.memory.used_bytes());
        }
    }
    let expected: Vec<u8> = (0..30_u8).flat_map(|at| vec![at; 10_000]).collect();
    for shared in flights {
        assert!(shared.complete(Vec::new()), "files have room for it");
        assert_eq!(shared.gather().await.unwrap(), expected);
        // Who comes now still gets all of it.
        assert!(shared.is_whole_for_more());
    }
    assert_eq!((store.memory.used_bytes(), store.used_bytes()), (0, 0));
}

#[tokio::test(flavor = "current_thread")]
async fn a_render_that_neither_memory_nor_files_have_room_for_reaches_its_reader_whole_and_is_not_kept() {
    let store = TempStore::new(std::env::temp_dir(), 0, 64 << 10);
    let shared = flight(&store, 1 << 20, 1 << 30);
    let reader = shared.reader();
    let mut read_bytes = 0;
    for _ in 0..100 {
        shared.push(vec![b'x'; 4000].into(), 1 << 20).await.unwrap();
        read_bytes += read(&reader);
    }
    assert!(!shared.complete(Vec::new()));
    assert_eq!(read_bytes, 400_000);
    assert!(matches!(reader.next(), Some(Next::End(answer::End::Complete))));
}

#[tokio::test(flavor = "current_thread")]
async fn who_takes_nothing_takes_nothing_from_others_where_there_is_no_room() {
    let store = TempStore::new(std::env::temp_dir(), 0, 1 << 20);
    let shared = flight(&store, 2000, 0);
    let (fast, slow) = (shared.reader(), shared.reader());
    let mut read_bytes = 0;
    for _ in 0..10 {
        shared.push(vec![b'x'; 500].into(), 1 << 20).await.unwrap();
        read_bytes += read(&fast);
    }
    assert!(!shared.complete(Vec::new()), "there was no room to keep it");
    assert_eq!(read_bytes, 5000);
    assert!(matches!(fast.next(), Some(Next::End(answer::End::Complete))));
    assert_eq!(slow.failure(), Some(Code::TempFull));
    let late = shared.reader();
    slow.abandon();
    assert!(matches!(late.next(), Some(Next::End(_))), "the place of who left may be another's");
    assert_eq!(store.memory.used_bytes(), 0);
}
