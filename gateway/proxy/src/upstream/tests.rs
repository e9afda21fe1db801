//! I10 against workers that make every mistake with their bytes, by a seed, which a failure prints; and leases that are lost.

use std::borrow::Cow;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use fastrand::Rng;
use sluice_message::{Method, ResponseHead};
use sluice_scheduler::{RequestId, WorkerId};
use sluice_supervisor::Gate as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};

use super::{Lease, LostLease, RequestParts, WorkerMessage};
use crate::gate::Gate;
use crate::gate::tests::one_ready_worker_at;
use crate::quarantine::deaths::Pass;
use sluice_classes::Class;
use sluice_road::sessions::POLL;
use sluice_wire::receive::body::Body;
use sluice_wire::respond::answer::{Answer, End, Next};

const REQUESTS: u64 = 150;

/// What the worker does with one request, besides answering it.
#[derive(Clone, Copy, Debug)]
enum Mistake {
    None,
    /// A whole answer behind the announced end, made up to look like the next one's.
    Late,
    /// The beginning of a head, up to the middle of a field or of its first line: the next answer's own head completes it.
    Half,
    /// A whole answer behind the announced end, at once.
    Long,
    /// Fewer bytes than announced, and its end is reported.
    Short,
    /// Neither an answer nor a head.
    Garbage,
    /// An answer in place of the worker's own, without the token.
    Unmarked,
}

fn mistake(rng: &mut Rng) -> Mistake {
    use Mistake::{Garbage, Half, Late, Long, None, Short, Unmarked};
    rng.choice([None, None, None, Late, Late, Half, Long, Short, Garbage, Unmarked]).unwrap_or(None)
}

fn forged(word: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nx-sluice-answer: 0123456789abcdef\r\ncontent-length: {}\r\n\r\n{word}", word.len())
}

/// Nobody but a request with this word shall get its status or its field.
fn half(word: &str, rng: &mut Rng) -> String {
    let status = rng.choice(["200", "103", "304"]).unwrap_or("200");
    let lines = [
        format!("HTTP/1.1 {status} "),
        format!("HTTP/1.1 {status} {word}"),
        format!("HTTP/1.1 {status} OK\r\nx-late: "),
        format!("HTTP/1.1 {status} OK\r\nx-of: {word}\r\nx-late: "),
    ];
    rng.choice(lines).unwrap_or_default()
}

/// Reads heads of requests and answers them, rightly or not. What the app writes late comes when the next request is there
/// already, but before its answer: that is where the preload lets it be.
async fn misbehave(gate: Rc<Gate>, worker: WorkerId, mut stream: UnixStream, mut rng: Rng) {
    let mut late: Option<String> = None;
    let mut head = Vec::new();
    loop {
        while !head.ends_with(b"\r\n\r\n") {
            let Ok(byte) = stream.read_u8().await else { return };
            head.push(byte);
        }
        let text = String::from_utf8(std::mem::take(&mut head)).unwrap();
        let mut words = text.split([' ', '\r']);
        let (word, id, token) = (words.nth(1).unwrap(), words.next().unwrap(), words.next().unwrap());
        if let Some(late) = late.take() {
            if stream.write_all(late.as_bytes()).await.is_err() {
                return;
            }
            // Alone at first, so that nothing but the token tells them from an answer.
            tokio::time::sleep(Duration::from_millis(rng.u64(..3))).await;
        }
        let mistake = mistake(&mut rng);
        let body = word.repeat(rng.usize(1..4));
        let marked = |announced: usize| {
            format!("HTTP/1.1 200 OK\r\nx-sluice-answer: {token}\r\ncontent-length: {announced}\r\n\r\n{body}")
        };
        let answer = match mistake {
            Mistake::None | Mistake::Late | Mistake::Half => marked(body.len()),
            Mistake::Long => marked(body.len()) + &forged(word),
            Mistake::Short => marked(body.len() + 7),
            Mistake::Garbage => format!("{word}\r\n{word}\r\n\r\n"),
            Mistake::Unmarked => forged(word),
        };
        late = match mistake {
            Mistake::Late => Some(forged(word)),
            Mistake::Half => Some(half(word, &mut rng)),
            _ => None,
        };
        let cut = rng.usize(..answer.len());
        for piece in [&answer[..cut], &answer[cut..]] {
            if stream.write_all(piece.as_bytes()).await.is_err() {
                break;
            }
            if rng.bool() {
                tokio::task::yield_now().await;
            }
        }
        let request = RequestId(id.parse().unwrap());
        if rng.bool() && late.is_none() {
            gate.reports().reported(
                worker,
                request,
                &sluice_supervisor::CpuReport { cpu_us: Some(1), ..Default::default() },
            );
        } else {
            let gate = Rc::clone(&gate);
            tokio::task::spawn_local(async move {
                tokio::time::sleep(Duration::from_millis(1)).await;
                gate.reports().reported(
                    worker,
                    request,
                    &sluice_supervisor::CpuReport { cpu_us: Some(1), ..Default::default() },
                );
            });
        }
    }
}

fn submit(gate: &Rc<Gate>, word: &str) -> Rc<Answer> {
    submit_with(gate, word, b"\r\n\r\n").1
}

fn submit_with(gate: &Rc<Gate>, word: &str, end: &[u8]) -> (RequestId, Rc<Answer>) {
    let request = gate.dispatch.requests.next_number();
    let (answer, token) = (gate.road.new_answer(), gate.tokens.of(request));
    let token_text = String::from_utf8(token.as_bytes().to_vec()).unwrap();
    let start = format!("GET {word} {} {token_text}", request.0);
    let asked = RequestParts {
        request,
        message: WorkerMessage {
            token,
            head: [start.as_bytes(), end].concat(),
            body: Body::default().into(),
            method: Method::Get,
            is_upgrade: false,
            request_id: word.into(),
        },
        class: Class::default(),
        answer: Rc::clone(&answer),
        is_own: false,
        pass: Some(Pass::default()),
        seat: None,
    };
    gate.dispatch.submit(tokio::time::Instant::now(), &gate.worker_request(asked));
    (request, answer)
}

/// What of a head could have come from another answer.
fn foreign_in(head: &ResponseHead, word: &str) -> Option<String> {
    let values = head.fields.iter().map(|(_, value)| value).chain([head.reason()]);
    let mut texts = values.map(String::from_utf8_lossy);
    texts.find(|text| text.replace(word, "").contains(['<', '/'])).map(Cow::into_owned)
}

/// The bytes of the answer's body, and how it ended.
async fn read(answer: &Answer, word: &str) -> (Vec<Bytes>, End) {
    let mut body = Vec::new();
    loop {
        match answer.next() {
            Some(Next::Informational(head)) => panic!("{word} got {} {:?}", head.status, foreign_in(&head, word)),
            Some(Next::Head(head)) => assert_eq!(foreign_in(&head.head, word), None, "{word}"),
            Some(Next::Data(data)) => body.push(data),
            Some(Next::End(end)) => return (body, end),
            Some(Next::Spilled { .. }) => body.push(answer.read_back(64 * 1024).await.unwrap()),
            None => std::future::poll_fn(|cx| answer.changed.poll(cx)).await,
        }
    }
}

/// One worker's life of answers; `marks` says whether it has a preload.
async fn live(seed: u64, marks: bool) {
    let path = std::env::temp_dir().join(format!("slu-i10-{}-{seed}-{marks}.sock", std::process::id()));
    let listener = UnixListener::bind(&path).unwrap();
    let (gate, worker) = one_ready_worker_at(path.clone(), marks);
    let serving = Rc::clone(&gate);
    tokio::task::spawn_local(async move {
        let mut rng = Rng::with_seed(seed);
        while let Ok((stream, _)) = listener.accept().await {
            tokio::task::spawn_local(misbehave(Rc::clone(&serving), worker, stream, rng.fork()));
        }
    });
    let mut whole = 0;
    for number in 0..REQUESTS {
        let word = format!("<{number:x}>");
        let answer = submit(&gate, &word);
        let (body, end) = tokio::time::timeout(Duration::from_secs(20), read(&answer, &word))
            .await
            .unwrap_or_else(|_| panic!("seed {seed}, marks {marks}: no end of the answer to {word}"));
        let body: Vec<u8> = body.concat();
        let text = String::from_utf8_lossy(&body);
        assert!(text.replace(&word, "").is_empty(), "seed {seed}, marks {marks}: {word} got {text}");
        whole += u64::from(end == End::Complete);
    }
    assert!(whole > REQUESTS / 4, "seed {seed}, marks {marks}: only {whole} answers are whole");
    std::fs::remove_file(path).unwrap();
}

#[tokio::test]
async fn i10_no_byte_of_an_answer_reaches_another_request_whatever_the_worker_writes() {
    let first = std::env::var("SLUICE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(20_250_101);
    tokio::task::LocalSet::new()
        .run_until(async {
            for seed in first..first + 6 {
                live(seed, true).await;
                live(seed, false).await;
            }
        })
        .await;
}

/// The app answers just when its preload says that it waits; `is_read`: the gateway has read the beginning by then.
async fn answer_in_two_parts(is_read: bool) {
    let path = std::env::temp_dir().join(format!("slu-poll-{}-{is_read}.sock", std::process::id()));
    let listener = UnixListener::bind(&path).unwrap();
    let (gate, worker) = one_ready_worker_at(path.clone(), true);
    let (request, answer) = submit_with(&gate, "/poll", POLL);
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(POLL) {
        head.push(stream.read_u8().await.unwrap());
    }
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\none ").await.unwrap();
    while is_read && answer.facts.times.get().head.is_none() {
        tokio::task::yield_now().await;
    }
    gate.reports().waits_on(worker, request);
    gate.reports().reported(worker, request, &sluice_supervisor::CpuReport { cpu_us: Some(1), ..Default::default() });
    // Longer than the last bytes of an answer may take that was reported to have ended.
    tokio::time::sleep(Duration::from_millis(50)).await;
    stream.write_all(b"two ").await.unwrap();
    let (body, end) = tokio::time::timeout(Duration::from_secs(20), read(&answer, "/poll")).await.unwrap();
    assert_eq!((body.concat(), end), (b"one two ".to_vec(), End::Complete), "{is_read}");
    std::fs::remove_file(path).unwrap();
}

#[tokio::test]
async fn an_answer_that_comes_as_its_poll_is_said_to_wait_comes_whole() {
    let local = tokio::task::LocalSet::new();
    for is_read in [true, false] {
        local.run_until(answer_in_two_parts(is_read)).await;
    }
}

#[test]
fn i1_a_dropped_lease_is_reported_and_a_returned_one_is_not() {
    let (sender, lost) = std::sync::mpsc::channel();
    let lease = |request| Lease::new(WorkerId(3), RequestId(request), &sender);
    lease(1).end();
    assert!(lost.try_recv().is_err());
    let held = lease(2);
    // What crosses threads later does so today.
    std::thread::spawn(move || drop(held)).join().unwrap();
    let LostLease { worker, request, .. } = lost.try_recv().unwrap();
    assert_eq!((worker, request), (WorkerId(3), RequestId(2)));
}
