//! Carries a request out at an upstream: chooses an address, sends the request, and writes its answer while it comes. A target whose
//! client is slow waits for a while. Then the answer goes to its temporary file, so that a slow client holds no connection for long.
//!
//! It runs in the client's task until the answer's head is there, and in a task of its own from then on.

use std::cell::{Cell, RefCell};
use std::future::{Future as _, poll_fn};
use std::io;
use std::ops::Range;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use sluice_catalog::config::HostHeader;
use sluice_catalog::errors::Code;
use sluice_http1::ResponseFraming;
use sluice_message::Method;
use sluice_wire::receive::body::Body;
use sluice_wire::respond::answer::{Answer, Departure, UpgradedConnection, UpgradedStream};
use sluice_wire::respond::fill::FillReader;
use sluice_wire::respond::reader::{AnswerFault, AnswerTo, Progress, Proof, Reader, is_event_stream};
use tokio::time::{Instant, Sleep, sleep_until};

use crate::balance::MemberId;
use crate::connection::{Connection, IDLE_TIMEOUT};
use crate::fault::{Fault, NoConnection, Stage};
use crate::proxy::Ends;
use crate::stats::{End, Stats};
use crate::upstream::{Grip, Upstream};

/// Maximum size of an answer that a client may leave unread before the gateway pauses the target, bytes.
const UNREAD_BYTES_MAX: u64 = 128 * 1024;
/// Maximum total time for which a target waits for its client. From then on the answer goes to its file, up to the
/// file's bound.
const WAIT_MAX: Duration = Duration::from_secs(10);
/// Longest idle time of a connection that takes a request which must not be sent twice. A target may close one that is idle for longer, and
/// its end may cross with the request.
const IDLE_MAX_UNSAFE: Duration = Duration::from_secs(1);
/// Bytes of a body that are read from its file at once, and that go with the head.
const PIECE_BYTES: usize = 16 * 1024;
/// Seconds after which a client may ask again, where no target could take its request.
const RETRY_AFTER_S: u32 = 1;
/// A time that does not come.
const NEVER: Duration = Duration::from_secs(10 * 365 * 86_400);

/// A request for an upstream.
pub struct Ask {
    /// Complete head, with its empty line.
    pub head: Vec<u8>,
    /// Place of the value of `Host` in the head.
    pub host: Range<usize>,
    /// Complete body.
    pub body: Body,
    /// Method of the request.
    pub method: Method,
    /// The request asks to upgrade to another protocol.
    pub is_upgrade: bool,
    /// Ends of the client's connection, for the PROXY protocol.
    pub client: Option<Ends>,
    /// Answer that is written.
    pub answer: Rc<Answer>,
    /// Facts for the request's record.
    pub told: Rc<Told>,
}

/// Facts about a request at its upstream, for its record.
pub struct Told {
    /// Name of the upstream.
    pub name: Rc<str>,
    /// Address of the last attempt; empty before the first.
    pub target: RefCell<Rc<str>>,
    /// Attempts.
    pub tries: Cell<u32>,
    /// Time of the first attempt.
    pub began: Instant,
    /// Time at which the answer began.
    pub first_byte: Cell<Option<Instant>>,
    /// Time at which it ended.
    pub ended: Cell<Option<Instant>>,
}

impl Told {
    /// Facts about a request that begins now.
    pub fn new(upstream: &Upstream) -> Rc<Self> {
        Rc::new(Told {
            name: Rc::clone(&upstream.name),
            target: RefCell::new(Rc::from("")),
            tries: Cell::new(0),
            began: Instant::now(),
            first_byte: Cell::new(None),
            ended: Cell::new(None),
        })
    }
}

/// Counts a request when it ends, also where its task is dropped. A client whose request's task has panicked must not wait for ever.
struct Ending {
    stats: Rc<Stats>,
    told: Rc<Told>,
    answer: Rc<Answer>,
    end: Cell<End>,
}

impl Drop for Ending {
    fn drop(&mut self) {
        self.stats.ended(self.end.get());
        self.told.ended.set(Some(Instant::now()));
        if std::thread::panicking() {
            self.answer.fail(Code::GatewayFailed);
        }
    }
}

/// Result of an attempt.
enum Attempt {
    /// The answer is written.
    Done,
    /// The connection carries another protocol from now on.
    Upgraded,
    /// The client is gone.
    Left,
    Failed(Fault, Option<MemberId>),
}

/// Carries the request out, with its retries. Ends when the answer is complete, failed or unwanted.
pub async fn run(upstream: Rc<Upstream>, ask: Ask) {
    let (stats, told, answer) = (Rc::clone(&upstream.stats), Rc::clone(&ask.told), Rc::clone(&ask.answer));
    let ending = Ending { stats, told, answer, end: Cell::new(End::Abandoned) };
    upstream.earn();
    let times = upstream.settings.times;
    let until = times.whole.map(|whole| Instant::now() + whole);
    let is_safe = ask.method.is_safe();
    let mut idle_max = if is_safe { IDLE_TIMEOUT } else { IDLE_MAX_UNSAFE };
    let (mut tried, mut retries) = (Vec::new(), upstream.settings.upstream.retries);
    loop {
        let attempt = attempt(&upstream, &ask, &tried, idle_max, until).await;
        let (fault, member) = match attempt {
            Attempt::Done => return ending.end.set(End::Answered),
            Attempt::Upgraded => {
                ending.end.set(End::Answered);
                drop(ending);
                return watch(&ask.answer, times.stream_idle).await;
            }
            // Of a client that has closed one side, this ends the answer.
            Attempt::Left => return ask.answer.leave(),
            Attempt::Failed(fault, member) => (fault, member),
        };
        let is_over = until.is_some_and(|until| until <= Instant::now());
        if fault.is_stale && is_safe && !is_over && !idle_max.is_zero() {
            idle_max = Duration::ZERO;
            upstream.resent();
            continue;
        }
        // A host may have a name with an address that nothing listens on (`localhost`). That takes no time, and no retry.
        if let Some(id) = member.filter(|id| fault.is_refused && !is_over && upstream.has_other_address(*id, &tried)) {
            tried.push(id);
            continue;
        }
        if retries > 0 && !is_over && fault.may_be_retried(&ask.method) && upstream.takes_retry() {
            retries -= 1;
            upstream.stats.retried();
            tried.extend(member);
            continue;
        }
        // Where no time was left to send it, the target is not to blame.
        let fault = if is_over && fault.stage == Stage::Unsent { Fault { end: End::Timeout, ..fault } } else { fault };
        if matches!(fault.end, End::Full | End::Unreachable) {
            ask.answer.facts.retry_after_s.set(Some(RETRY_AFTER_S));
        }
        ending.end.set(fault.end);
        return ask.answer.fail(fault.code());
    }
}

/// Closes an upgraded connection on which nothing moves for too long. Ends with the request.
async fn watch(answer: &Answer, idle: Option<Duration>) {
    loop {
        let at = answer.facts.last_moved.get() + idle.unwrap_or(NEVER);
        if at <= Instant::now() {
            answer.fail(Code::StreamIdle);
            return answer.close();
        }
        tokio::select! {
            () = answer.departing.wait() => {
                if answer.departure() != Departure::None {
                    return;
                }
            }
            () = sleep_until(at) => {}
        }
    }
}

async fn attempt(
    upstream: &Rc<Upstream>,
    ask: &Ask,
    tried: &[MemberId],
    idle_max: Duration,
    until: Option<Instant>,
) -> Attempt {
    let connect_by = || earlier(Instant::now() + upstream.settings.times.connect, until);
    let grip = match upstream.place(tried, connect_by()).await {
        Ok(grip) => grip,
        Err(fault) => return Attempt::Failed(fault, None),
    };
    let began = Instant::now();
    let member = Rc::clone(&grip.member);
    ask.told.tries.update(|tries| tries + 1);
    *ask.told.target.borrow_mut() = Rc::clone(&member.text);
    let connected = upstream.connect(&member, ask.client, idle_max, connect_by()).await;
    let mut connection = match connected {
        Ok(connection) => connection,
        Err(error) => {
            if upstream.is_to_blame(began, until) {
                grip.fail(&error.to_string());
            }
            let is_refused = matches!(error, NoConnection::Failed(_));
            let fault = Fault { is_refused, ..Fault::new(End::Unreachable, Stage::Unsent) };
            return Attempt::Failed(fault, Some(member.id));
        }
    };
    connection.carried += 1;
    let head = match upstream.settings.host() {
        HostHeader::Keep => ask.head.clone(),
        HostHeader::Target => {
            let authority = upstream.settings.targets[member.target].authority();
            [&ask.head[..ask.host.start], authority.as_bytes(), &ask.head[ask.host.end..]].concat()
        }
    };
    let exchange = Exchange {
        upstream,
        ask,
        grip,
        connection,
        writer: Writer::new(head, &ask.body),
        reader: Reader::new(Proof::None, upstream.settings.limits),
        stage: Stage::Unsent,
        is_until_close: false,
        began,
        until,
        bytes: 0,
        waited: Duration::ZERO,
    };
    exchange.carry_out().await
}

fn earlier(at: Instant, until: Option<Instant>) -> Instant {
    until.map_or(at, |until| until.min(at))
}

/// A request on its way to a target.
struct Writer {
    piece: Bytes,
    at: usize,
    body: Option<FillReader>,
    end: Vec<u8>,
    is_done: bool,
}

impl Writer {
    fn new(mut head: Vec<u8>, body: &Body) -> Self {
        let (chunk, end) = body.chunk_around();
        head.extend_from_slice(&chunk);
        let reader = body.reader();
        // A small body goes with the head.
        if let Some(reader) = reader.as_ref().filter(|_| body.bytes() <= PIECE_BYTES as u64) {
            while let Some(piece) = reader.in_memory() {
                head.extend_from_slice(&piece);
            }
        }
        Writer { piece: head.into(), at: 0, body: reader, end, is_done: false }
    }

    /// Whether the next piece has to be fetched before anything else is written.
    fn is_empty(&self) -> bool {
        !self.is_done && self.at == self.piece.len()
    }

    /// Fetches the next piece, or notes that all is written.
    async fn fetch(&mut self) -> io::Result<()> {
        let next = match &self.body {
            Some(body) => body.read(PIECE_BYTES).await?,
            None => None,
        };
        self.at = 0;
        self.piece = if let Some(piece) = next {
            piece
        } else {
            self.body = None;
            std::mem::take(&mut self.end).into()
        };
        self.is_done = self.piece.is_empty();
        Ok(())
    }
}

/// Whether the client still takes the answer.
fn is_wanted(answer: &Answer) -> bool {
    answer.is_wanted() && answer.departure() == Departure::None
}

/// Event on the connection.
enum Event {
    Wrote(usize),
    /// The target takes no more bytes; its answer, or the connection's end, says why.
    Refused,
    Read(io::Result<usize>),
    Late,
    Left,
}

/// State of the answer after the bytes so far.
enum Reading {
    More,
    Complete { is_reusable: bool },
    Upgraded(Box<sluice_http1::ReceivedResponse>),
    Left,
}

/// One attempt on a connection.
struct Exchange<'e> {
    upstream: &'e Rc<Upstream>,
    ask: &'e Ask,
    grip: Grip,
    connection: Connection,
    writer: Writer,
    reader: Reader,
    stage: Stage,
    /// The end of the connection ends the answer.
    is_until_close: bool,
    /// Time at which the address got the request.
    began: Instant,
    /// End of the time for the whole exchange. Time in which the target waits for the client does not count.
    until: Option<Instant>,
    /// Bytes of the answer's body so far.
    bytes: u64,
    /// Time for which the target has waited for the client.
    waited: Duration,
}

impl Exchange<'_> {
    async fn carry_out(mut self) -> Attempt {
        loop {
            if self.writer.is_empty() && self.writer.fetch().await.is_err() {
                self.ask.answer.fail(Code::TempFull);
                return Attempt::Left;
            }
            let reading = match self.event().await {
                Event::Wrote(len) => {
                    self.writer.at += len;
                    if self.stage == Stage::Unsent {
                        self.stage = Stage::Sent;
                    }
                    continue;
                }
                Event::Refused => {
                    self.writer.is_done = true;
                    self.stage = Stage::Sent;
                    continue;
                }
                Event::Left => return Attempt::Left,
                Event::Late => return self.late(),
                Event::Read(Ok(0)) if self.is_until_close => {
                    self.ask.answer.complete(Vec::new());
                    Ok(Reading::Complete { is_reusable: false })
                }
                Event::Read(Ok(0)) => return self.closed("the connection was closed before the answer was complete"),
                Event::Read(Err(error)) => return self.closed(&error.to_string()),
                Event::Read(Ok(_)) => {
                    self.stage = Stage::Heard;
                    self.ask.answer.facts.last_moved.set(Instant::now());
                    self.read().await
                }
            };
            match reading {
                Ok(Reading::More) => {}
                Ok(Reading::Left) => return Attempt::Left,
                Ok(Reading::Complete { is_reusable }) => {
                    self.grip.succeed();
                    if is_reusable && self.writer.is_done {
                        self.upstream.keep(&self.grip.member, self.connection);
                    }
                    return Attempt::Done;
                }
                Ok(Reading::Upgraded(received)) => return self.upgrade(*received),
                Err(detail) => {
                    self.grip.fail(detail);
                    let fault = Fault::new(End::Malformed, Stage::Heard);
                    return Attempt::Failed(fault, Some(self.grip.member.id));
                }
            }
        }
    }

    async fn event(&mut self) -> Event {
        let (ask, writer, connection) = (self.ask, &self.writer, &mut self.connection);
        let times = &self.upstream.settings.times;
        let patience = if ask.answer.facts.is_stream.get() { times.stream_idle } else { Some(times.first_byte) };
        let until = self.until;
        let mut sleep = pin!(None::<Sleep>);
        poll_fn(|cx| {
            if !writer.is_done {
                match connection.poll_write(cx, &writer.piece[writer.at..]) {
                    Poll::Ready(Ok(len)) if len > 0 => return Poll::Ready(Event::Wrote(len)),
                    Poll::Ready(_) => return Poll::Ready(Event::Refused),
                    Poll::Pending => {}
                }
            } else if let Poll::Ready(Err(_)) = connection.poll_flush(cx) {
                // Reading says why.
            }
            if let Poll::Ready(read) = connection.poll_read(cx) {
                return Poll::Ready(Event::Read(read));
            }
            if ask.answer.departing.poll(cx).is_ready() && ask.answer.departure() != Departure::None {
                return Poll::Ready(Event::Left);
            }
            if sleep.is_none() {
                sleep.set(Some(sleep_until(earlier(Instant::now() + patience.unwrap_or(NEVER), until))));
            }
            match sleep.as_mut().as_pin_mut() {
                Some(sleep) => sleep.poll(cx).map(|()| Event::Late),
                None => Poll::Pending,
            }
        })
        .await
    }

    /// Takes the bytes that are there.
    async fn read(&mut self) -> Result<Reading, &'static str> {
        let (ask, answer) = (self.ask, &*self.ask.answer);
        let request = AnswerTo { method: &ask.method, is_upgrade: ask.is_upgrade, token: b"", answer };
        loop {
            let progress = self.reader.step(&mut self.connection.unread, &request).map_err(|fault| match fault {
                AnswerFault::Malformed(detail) => detail,
                AnswerFault::Foreign => "an answer to another request",
            })?;
            match progress {
                Progress::Short => return Ok(Reading::More),
                Progress::Interim(head) => answer.inform(head),
                Progress::Head(received) => {
                    let now = Instant::now();
                    ask.told.first_byte.set(Some(now));
                    self.upstream.stats.first_byte(now.saturating_duration_since(ask.told.began));
                    if received.head.status == 101 {
                        return Ok(Reading::Upgraded(Box::new(received)));
                    }
                    if let Some(value) = received.head.fields.get("keep-alive") {
                        self.connection.note_keep_alive(value);
                    }
                    self.is_until_close = received.framing == ResponseFraming::UntilClose;
                    let is_stream = is_event_stream(&received);
                    answer.facts.is_stream.set(is_stream);
                    if is_stream || self.grip.is_trial() {
                        // Its end may be far, and others wait for what a trial says.
                        self.grip.answered();
                    }
                    answer.begin(received);
                }
                Progress::Piece(piece) => {
                    self.bytes += piece.len() as u64;
                    if let Err(piece) = answer.push_to_memory(piece) {
                        answer.push(piece).await;
                    }
                    if answer.unread_bytes() > UNREAD_BYTES_MAX {
                        self.wait_for_client().await;
                    }
                    if !is_wanted(answer) {
                        return Ok(Reading::Left);
                    }
                }
                Progress::Whole { trailers, is_reusable } => {
                    answer.complete(trailers);
                    return Ok(Reading::Complete { is_reusable });
                }
            }
        }
    }

    /// Waits until the client has taken most of the answer so far. It waits no longer than [`WAIT_MAX`] in all, unless the answer
    /// has become too long for its file.
    async fn wait_for_client(&mut self) {
        let answer = &*self.ask.answer;
        let began = Instant::now();
        let fits = self.bytes < self.upstream.settings.file_bytes_max;
        // Bytes in the file have to be read before memory takes bytes again.
        let unread_max = if self.waited >= WAIT_MAX { 0 } else { UNREAD_BYTES_MAX };
        let at = if fits { began + WAIT_MAX.saturating_sub(self.waited) } else { began + NEVER };
        while is_wanted(answer) && answer.unread_bytes() > unread_max {
            tokio::select! {
                biased;
                () = sleep_until(at) => break,
                () = answer.taken.wait() => {}
                () = answer.departing.wait() => {}
            }
        }
        self.waited += began.elapsed();
        self.until = self.until.map(|until| until + began.elapsed());
    }

    fn late(self) -> Attempt {
        let is_over = self.until.is_some_and(|until| until <= Instant::now());
        if is_over {
            // An answer that only takes long is not the address's fault.
            if self.stage != Stage::Heard && self.upstream.is_to_blame(self.began, self.until) {
                self.grip.fail("no answer came within the time for the whole exchange");
            }
            return Attempt::Failed(Fault::new(End::Timeout, self.stage), Some(self.grip.member.id));
        }
        if self.ask.answer.facts.is_stream.get() {
            self.ask.answer.fail(Code::StreamIdle);
            return Attempt::Done;
        }
        let text = "nothing came in time";
        self.grip.fail(text);
        let stage = if self.ask.told.first_byte.get().is_some() { Stage::Heard } else { self.stage };
        Attempt::Failed(Fault::new(End::Timeout, stage), Some(self.grip.member.id))
    }

    fn closed(self, text: &str) -> Attempt {
        let is_stale = self.stage != Stage::Heard && self.connection.carried > 1;
        if !is_stale {
            self.grip.fail(text);
        }
        // Bytes may have reached the target even where the system reports none as written.
        let stage = if self.stage == Stage::Unsent { Stage::Sent } else { self.stage };
        let fault = Fault { is_stale, ..Fault::new(End::Truncated, stage) };
        Attempt::Failed(fault, Some(self.grip.member.id))
    }

    fn upgrade(self, received: sluice_http1::ReceivedResponse) -> Attempt {
        let Exchange { ask, grip, connection, .. } = self;
        let (stream, unread) = connection.into_parts();
        // The end of the tunnel says nothing of the address.
        grip.answered();
        ask.answer.facts.is_stream.set(true);
        ask.answer.begin(received);
        ask.answer.upgrade(UpgradedConnection {
            stream: UpgradedStream::Upstream(stream),
            first: unread.freeze(),
            counted: Box::new(grip),
        });
        Attempt::Upgraded
    }
}

#[cfg(test)]
mod tests {
    use std::cell::OnceCell;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use sluice_catalog::config::{self, Config};
    use sluice_wire::receive::spool::TempStore;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;
    use tokio::task::{LocalSet, spawn_local};

    use crate::settings::Settings;

    use super::*;

    fn upstream(listeners: &[&TcpListener], timeout: &str) -> Rc<Upstream> {
        let upstream = config::Upstream {
            name: "legacy".to_owned(),
            to: listeners.iter().map(|listener| format!("http://{}", listener.local_addr().unwrap())).collect(),
            timeout: timeout.to_owned(),
            retries: 0,
            ..config::Upstream::default()
        };
        let settings = Settings::of(&upstream, &Config::default(), &OnceCell::new()).unwrap();
        let upstream = Upstream::new(settings, None, Rc::new(|_, _| ()));
        upstream.add_owner();
        upstream
    }

    /// Request of this method, with its answer after the exchange.
    async fn answer(upstream: &Rc<Upstream>, method: Method) -> (Rc<Answer>, Rc<Told>) {
        let store = TempStore::new(std::env::temp_dir(), 0, 1 << 20);
        let (answer, told) = (Answer::new(&store, 1 << 16, 0), Told::new(upstream));
        let head = format!("{} /x HTTP/1.1\r\nHost: app\r\n\r\n", method.as_str()).into_bytes();
        let ask = Ask {
            head,
            host: 0..0,
            body: Body::default(),
            method,
            is_upgrade: false,
            client: None,
            answer: Rc::clone(&answer),
            told: Rc::clone(&told),
        };
        run(Rc::clone(upstream), ask).await;
        (answer, told)
    }

    #[tokio::test]
    async fn a_target_that_hangs_for_the_whole_time_is_ejected() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let upstream = upstream(&[&listener], "30ms");
        for _ in 0..3 {
            let (answer, _) = answer(&upstream, Method::Get).await;
            assert_eq!(answer.failure(), Some(Code::UpstreamTimeout));
        }
        let target = &upstream.snapshot().targets[0];
        assert_eq!((&*target.health, target.failures_total), ("ejected", 3));
    }

    #[tokio::test]
    async fn a_kept_connection_that_closes_is_replaced_for_a_get_and_counted() {
        let serve = async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let upstream = upstream(&[&listener], "0s");
            // Each connection takes one request, and is closed when the next one comes.
            spawn_local(async move {
                while let Ok((mut stream, _)) = listener.accept().await {
                    spawn_local(async move {
                        let mut bytes = [0; 1024];
                        let _ = stream.read(&mut bytes).await;
                        let answer = b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
                        let _ = stream.write_all(answer).await;
                        let _ = stream.read(&mut bytes).await;
                    });
                }
            });
            for tries in [1, 2] {
                let (answer, told) = answer(&upstream, Method::Get).await;
                assert_eq!((answer.failure(), told.tries.get()), (None, tries));
            }
            let snapshot = upstream.snapshot();
            assert_eq!((snapshot.retries_total, snapshot.failures_total), (1, 0));
            let member = &upstream.members()[0];
            assert!(crate::check::check(&upstream, member).await.is_ok(), "an interim answer is no answer");
        };
        LocalSet::new().run_until(serve).await;
    }

    #[test]
    fn a_panic_ends_the_answer_and_a_client_that_leaves_does_not_fail_it() {
        let store = TempStore::new(std::env::temp_dir(), 0, 1 << 20);
        for panics in [true, false] {
            let answer = Answer::new(&store, 1 << 16, 0);
            let told = Rc::new(Told {
                name: "legacy".into(),
                target: RefCell::new("".into()),
                tries: Cell::new(0),
                began: Instant::now(),
                first_byte: Cell::new(None),
                ended: Cell::new(None),
            });
            let (stats, answer_of) = (Rc::default(), Rc::clone(&answer));
            let ending = Ending { stats, told: Rc::clone(&told), answer: answer_of, end: Cell::new(End::Abandoned) };
            let caught = catch_unwind(AssertUnwindSafe(move || {
                let _ending = ending;
                assert!(!panics, "the fault of this test");
            }));
            assert_eq!(caught.is_err(), panics);
            assert_eq!(answer.failure(), panics.then_some(Code::GatewayFailed));
            assert!(told.ended.get().is_some());
        }
    }
}
