//! Readers of one answer who take their time with it.

use sluice_cache::{Answered, Rule, storable};
use sluice_message::{Method, RequestHead};

use super::*;
use crate::receive::spool::TempStore;
use crate::respond::answer::{self, Next};

fn read(reader: &Answer) -> usize {
    std::iter::from_fn(|| reader.next())
        .map_while(|next| if let Next::Data(data) = next { Some(data.len()) } else { None })
        .sum()
}

#[tokio::test(flavor = "current_thread")]
async fn who_takes_nothing_takes_nothing_from_others_where_there_is_no_room() {
    let store = TempStore::new(std::env::temp_dir(), 0, 1 << 20);
    let head = ResponseHead::new(200, [("Cache-Control", &b"s-maxage=9"[..])].into_iter().collect());
    let (request, now) = (RequestHead { method: Method::Get, ..RequestHead::default() }, Moment::default());
    let policy = storable(Answered {
        request: &request,
        response: &head,
        chosen: &[],
        rule: Rule::default(),
        asked: now,
        came: now,
    })
    .unwrap();
    let shared = Shared::new(head, Size::Unknown, policy, (Vec::new(), false), Fill::new(&store, 2000, 0));
    let (fast, slow) = (shared.reader(), shared.reader());
    let mut read_bytes = 0;
    for _ in 0..10 {
        shared.push(vec![b'x'; 500].into(), 1 << 20).await.unwrap();
        read_bytes += read(&fast);
    }
    assert_eq!(shared.complete(Vec::new()), None, "there was no room to keep it");
    assert_eq!(read_bytes, 5000);
    assert!(matches!(fast.next(), Some(Next::End(answer::End::Complete))));
    assert_eq!(slow.failure(), Some(Code::TempFull));
    let late = shared.reader();
    slow.abandon();
    assert!(matches!(late.next(), Some(Next::End(_))), "the place of who left may be another's");
    assert_eq!(store.memory.used_bytes(), 0);
}
