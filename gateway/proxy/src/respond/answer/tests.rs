use super::*;

fn store(memory_bytes_max: usize) -> Rc<TempStore> {
    TempStore::new(std::env::temp_dir(), 1 << 30, memory_bytes_max)
}

fn begun(store: &Rc<TempStore>, own_bytes_max: usize) -> Rc<Answer> {
    let answer = Answer::new(store, own_bytes_max, 1 << 30);
    answer.inner.borrow_mut().head_taken = true;
    answer
}

/// Everything that is there, as a client would get it: framed bytes in capitals.
async fn drained(answer: &Answer, piece_bytes: usize) -> String {
    let mut text = String::new();
    loop {
        match answer.next() {
            Some(Next::Data(data)) => text.push_str(std::str::from_utf8(&data).unwrap()),
            Some(Next::Spilled { is_framed }) => {
                let data = answer.read_back(piece_bytes).await.unwrap();
                let data = std::str::from_utf8(&data).unwrap();
                text.push_str(&if is_framed { data.to_uppercase() } else { data.to_owned() });
            }
            _ => return text,
        }
    }
}

#[tokio::test]
async fn what_is_set_aside_and_what_comes_later_keep_their_order() {
    let store = store(1 << 20);
    let answer = begun(&store, 1 << 20);
    answer.push(Bytes::from_static(b"one ")).await;
    answer.push(Bytes::from_static(b"two ")).await;
    answer.set_aside(b"rest ").await.unwrap();
    assert_eq!(store.memory.used_bytes(), 0);
    answer.push(Bytes::from_static(b"three ")).await;
    // Once more, with nothing in memory but what the client had been given.
    answer.set_aside(b"first ").await.unwrap();
    answer.push(Bytes::from_static(b"four")).await;
    answer.complete(Vec::new());
    assert_eq!(drained(&answer, 3).await, "FIRST REST one two three four");
    assert!(matches!(answer.next(), Some(Next::End(End::Complete))));
    assert_eq!(store.used_bytes(), 0, "the file is gone");
}

#[tokio::test]
async fn memory_is_used_again_after_the_file_was_read() {
    let store = store(1 << 20);
    let answer = begun(&store, 1 << 20);
    answer.push(Bytes::from_static(b"one")).await;
    answer.set_aside(b"").await.unwrap();
    assert_eq!(drained(&answer, 3).await, "one");
    answer.push(Bytes::from_static(b"two")).await;
    assert!(store.memory.used_bytes() > 0 && store.used_bytes() == 0);
    assert_eq!(drained(&answer, 3).await, "two");
}

#[tokio::test]
async fn answers_of_clients_that_do_not_read_stay_within_the_bound_of_all() {
    let store = store(1 << 20);
    let answers: Vec<_> = (0..50).map(|_| begun(&store, 1 << 20)).collect();
    for _ in 0..10 {
        for answer in &answers {
            answer.push(Bytes::from(vec![b'x'; 20_000])).await;
            assert!(store.memory.used_bytes() <= 1 << 20);
        }
    }
    for answer in &answers {
        assert_eq!(drained(answer, 64 * 1024).await.len(), 200_000);
        answer.abandon();
    }
    assert_eq!((store.memory.used_bytes(), store.used_bytes()), (0, 0));
}

#[tokio::test]
async fn small_piece_does_not_keep_the_buffer_that_it_came_in() {
    let store = store(1 << 20);
    let answer = begun(&store, 1 << 20);
    let mut buffer = bytes::BytesMut::from(&*vec![b'x'; 32 * 1024]);
    answer.push(buffer.split_to(5000).freeze()).await;
    drop(buffer);
    let Some(Next::Data(data)) = answer.next() else { panic!("there is a piece") };
    assert!(data.is_unique());
    assert!(bytes::BytesMut::from(data).capacity() < 8192);
}

#[tokio::test]
async fn abandoned_answer_gives_memory_and_file_back() {
    let store = store(1 << 20);
    let answer = begun(&store, 50_000);
    for _ in 0..10 {
        answer.push(Bytes::from(vec![b'x'; 20_000])).await;
    }
    assert!(store.memory.used_bytes() > 0 && store.used_bytes() > 0);
    answer.abandon();
    assert_eq!((store.memory.used_bytes(), store.used_bytes()), (0, 0));
}
