use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::LocalSet;

use super::*;
use crate::tests_support::{SOON, TestOperator, journal};
use sluice_catalog::snapshot::Purge;

const TOKEN: &str = "0123456789abcdef";

struct TestServer {
    address: SocketAddr,
    operator: Rc<TestOperator>,
}

impl TestServer {
    /// Sends bytes, and reads until the gateway closes.
    async fn exchange(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        // A connection that is cut after its answer still has given its answer.
        let _ = timeout(SOON, stream.read_to_end(&mut answer)).await.expect("an answer in time");
        String::from_utf8(answer).unwrap()
    }

    async fn get(&self, path: &str) -> String {
        let address = self.address;
        self.exchange(&format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")).await
    }
}

async fn with_server<Fut: Future>(test: impl FnOnce(Rc<TestServer>) -> Fut) {
    let http = MetricsHttp::bind("127.0.0.1:0").await.unwrap();
    let served = Rc::new(TestServer { address: http.local_addr().unwrap(), operator: TestOperator::shared() });
    let operator = Rc::clone(&served.operator);
    let secret = Secret { token: Token::new(TOKEN), file: None };
    let serve = http.serve(served.operator.clone(), journal(), secret, std::future::pending());
    LocalSet::new()
        .run_until(async {
            tokio::select! {
                () = serve => unreachable!("serving never ends"),
                () = operator.live.run(&*operator) => unreachable!("the history never ends"),
                _ = test(served) => {}
            }
        })
        .await;
}

#[tokio::test(flavor = "current_thread")]
async fn each_path_answers_its_question() {
    with_server(async |served| {
        let metrics = served.get("/metrics").await;
        assert!(
            metrics.starts_with("HTTP/1.1 200 OK\r\n") && metrics.contains("text/plain; version=0.0.4"),
            "{metrics}"
        );
        assert!(metrics.contains("\nsluice_queue_length 2\n"));
        assert!(served.get("/ping").await.ends_with("\r\n\r\nok\n"));
        let status = served.get("/status.json").await;
        let body = status.split_once("\r\n\r\n").unwrap().1;
        let snapshot: sluice_catalog::snapshot::Snapshot = serde_json::from_str(body).unwrap();
        assert_eq!(snapshot, served.operator.snapshot());
        assert!(served.get("/elsewhere").await.starts_with("HTTP/1.1 404"));
        let page = served.get("/").await;
        assert!(page.starts_with("HTTP/1.1 200 OK\r\n") && page.contains("<!doctype html>"), "{page}");
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn status_names_requests_and_so_needs_the_token_from_elsewhere() {
    with_server(async |served| {
        let address = served.address;
        let head = format!("GET /status.json HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n");
        let through_a_proxy = format!("{head}X-Forwarded-For: 192.0.2.1\r\n\r\n");
        assert!(served.exchange(&through_a_proxy).await.starts_with("HTTP/1.1 401"));
        assert!(served.exchange(&format!("{head}\r\n")).await.starts_with("HTTP/1.1 200"));
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn flame_graph_of_a_slow_request_is_read_like_the_rest() {
    with_server(async |served| {
        assert!(served.get("/flame?tail=7").await.ends_with("{\"title\":\"tail\"}"));
        let gone = served.get("/flame?tail=8").await;
        assert!(
            gone.starts_with("HTTP/1.1 404") && gone.contains("profile 8 of a slow request no longer exists"),
            "{gone}"
        );
        assert!(served.get("/flame?tail=x").await.starts_with("HTTP/1.1 400"));
        let address = served.address;
        let head = format!("GET /flame?tail=7 HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n");
        let forwarded = served.exchange(&format!("{head}X-Forwarded-For: 192.0.2.7\r\n\r\n")).await;
        assert!(forwarded.starts_with("HTTP/1.1 401"), "{forwarded}");
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn ready_follows_readiness() {
    with_server(async |served| {
        let ready = served.get("/ready").await;
        assert!(ready.starts_with("HTTP/1.1 200") && ready.contains("\"ready\":true"), "{ready}");
        served.operator.ready.set(false);
        let unready = served.get("/ready?x").await;
        assert!(unready.starts_with("HTTP/1.1 503") && unready.contains("\"reason\":\"because\""), "{unready}");
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn a_page_that_rebinds_its_name_gets_nothing() {
    with_server(async |served| {
        for (head, status) in [
            ("GET /metrics HTTP/1.1\r\nHost: evil.example:7584\r\n", "421"),
            ("GET http://evil.example/metrics HTTP/1.1\r\nHost: localhost\r\n", "421"),
            ("GET http://localhost/metrics HTTP/1.1\r\nHost: evil.example\r\n", "421"),
            ("GET /metrics HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n", "400"),
            ("GET /metrics HTTP/1.1\r\n", "400"),
            ("GET /metrics HTTP/1.1\r\nHost: localhost:1234\r\n", "200"),
            ("GET /metrics HTTP/1.0\r\n", "200"),
        ] {
            let answer = served.exchange(&format!("{head}Connection: close\r\n\r\n")).await;
            assert!(answer.contains(&format!(" {status} ")), "{head}: {answer}");
            assert_eq!(answer.contains("sluice_queue_length"), status == "200");
        }
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn nothing_but_get_and_head_is_known() {
    with_server(async |served| {
        let post = served
            .exchange("POST /ping HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            .await;
        assert!(post.starts_with("HTTP/1.1 405") && post.contains("allow: GET, HEAD"), "{post}");
        let head = served.exchange("HEAD /ping HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await;
        assert!(head.starts_with("HTTP/1.1 200") && head.ends_with("\r\n\r\n"), "{head}");
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn heads_are_bounded() {
    with_server(async |served| {
        let many = "a: b\r\n".repeat(HEADERS_MAX + 1);
        let answer = served.exchange(&format!("GET /ping HTTP/1.1\r\nHost: localhost\r\n{many}\r\n")).await;
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer}");
        let long = "x".repeat(2 * HEAD_BYTES_MAX);
        let answer = served.exchange(&format!("GET /ping HTTP/1.1\r\nHost: localhost\r\nlong: {long}\r\n\r\n")).await;
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer}");
        assert!(served.exchange("\u{0}\u{1}garbage\r\n\r\n").await.starts_with("HTTP/1.1 400"));
        assert!(served.get("/ping").await.starts_with("HTTP/1.1 200"));
    })
    .await;
}

#[tokio::test(flavor = "current_thread", start_paused = true)]
async fn who_never_finishes_a_head_is_disconnected() {
    with_server(async |served| {
        let mut stream = TcpStream::connect(served.address).await.unwrap();
        stream.write_all(b"GET /ping HTTP/1.1\r\nHost: local").await.unwrap();
        let mut answer = Vec::new();
        let ended = timeout(HEAD_WAIT_MAX * 3, stream.read_to_end(&mut answer)).await;
        assert!(ended.is_ok(), "still open");
        assert!(!answer.starts_with(b"HTTP/1.1 200"));
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn connections_beyond_the_bound_are_closed() {
    with_server(async |served| {
        let mut held = Vec::new();
        for _ in 0..CONNECTIONS_MAX {
            let mut stream = TcpStream::connect(served.address).await.unwrap();
            stream.write_all(b"GET /ping HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
            let mut byte = [0];
            timeout(SOON, stream.read_exact(&mut byte)).await.unwrap().unwrap();
            held.push(stream);
        }
        assert_eq!(served.get("/ping").await, "");
        drop(held);
        let deadline = tokio::time::Instant::now() + SOON;
        while served.get("/ping").await.is_empty() {
            assert!(tokio::time::Instant::now() < deadline, "no place was ever free again");
        }
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn dashboard_is_told_each_second_and_says_where_it_was_when_it_comes_back() {
    with_server(async |served| {
        let mut stream = TcpStream::connect(served.address).await.unwrap();
        let asked = format!("GET /events HTTP/1.1\r\nHost: {}\r\n\r\n", served.address);
        stream.write_all(asked.as_bytes()).await.unwrap();
        let mut heard = String::new();
        let mut buffer = vec![0; 65536];
        // Hello, the frame of now, and one a second later.
        while heard.matches("event: frame\n").count() < 2 {
            let read = timeout(SOON, stream.read(&mut buffer)).await.expect("an event in time").unwrap();
            assert!(read > 0, "{heard}");
            heard += std::str::from_utf8(&buffer[..read]).unwrap();
        }
        assert!(heard.contains("content-type: text/event-stream\r\n"), "{heard}");
        for event in ["hello", "frame", "costs"] {
            assert!(heard.contains(&format!("event: {event}\ndata: {{")), "{heard}");
        }
        assert!(heard.contains("\"resumed\":false"));
        let id = heard.lines().rev().find_map(|line| line.strip_prefix("id: ")).unwrap();
        let mut stream = TcpStream::connect(served.address).await.unwrap();
        let asked = format!("GET /events HTTP/1.1\r\nHost: {}\r\nLast-Event-ID: {id}\r\n\r\n", served.address);
        stream.write_all(asked.as_bytes()).await.unwrap();
        let mut heard = String::new();
        while !heard.contains("event: frame\n") {
            let read = timeout(SOON, stream.read(&mut buffer)).await.expect("an event in time").unwrap();
            heard += std::str::from_utf8(&buffer[..read]).unwrap();
        }
        assert!(heard.contains("\"resumed\":true"), "{heard}");
        let history = served.get("/history?span=1").await;
        assert!(history.contains("\"span_s\":1,\"at_ms\":[1"), "{history}");
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn actions_need_the_token_and_are_done_once() {
    with_server(async |served| {
        let post = async |action: &str, head: &str, body: &str| {
            let request = format!(
                "POST /actions/{action} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{head}Content-Length: {}\r\n\r\n{body}",
                served.address,
                body.len()
            );
            served.exchange(&request).await
        };
        let with_token = format!("Authorization: Bearer {TOKEN}\r\n");
        let scale = r#"{"workers":4}"#;
        let refused = post("scale", "", scale).await;
        assert!(refused.starts_with("HTTP/1.1 401") && refused.contains("www-authenticate: Bearer"), "{refused}");
        let elsewhere = format!("{with_token}Origin: http://evil.example\r\n");
        assert!(post("scale", &elsewhere, scale).await.starts_with("HTTP/1.1 403"));
        assert!(served.operator.scaled.borrow().is_empty());
        assert!(post("scale", &with_token, scale).await.ends_with(r#"{"workers_before":2}"#));
        assert_eq!(*served.operator.scaled.borrow(), [4]);
        for (action, body, status) in [
            ("scale", r#"{"workers":1000}"#, 409),
            ("scale", "{}", 400),
            ("scale", "no JSON", 400),
            ("release", r#"{"which":"all"}"#, 200),
            ("reload", "", 409),
            ("check", "", 200),
            ("elsewhere", "", 404),
        ] {
            let answer = post(action, &with_token, body).await;
            assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{action} {body}: {answer}");
        }
        let long = " ".repeat(5000);
        assert!(post("scale", &with_token, &long).await.starts_with("HTTP/1.1 413"));
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn pages_are_purged_with_the_token_alone_and_shown_to_who_may_read() {
    with_server(async |served| {
        let post = async |head: &str, body: &str| {
            let request = format!(
                "POST /cache/purge HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{head}Content-Length: {}\r\n\r\n{body}",
                served.address,
                body.len()
            );
            served.exchange(&request).await
        };
        let with_token = format!("Authorization: Bearer {TOKEN}\r\n");
        let tags = r#"{"tags":["a","b"],"soft":true}"#;
        assert!(post("", tags).await.starts_with("HTTP/1.1 401"));
        let elsewhere = format!("{with_token}Origin: http://evil.example\r\n");
        assert!(post(&elsewhere, tags).await.starts_with("HTTP/1.1 403"));
        assert!(served.operator.purged.borrow().is_empty());
        let purged = post(&with_token, tags).await;
        assert!(purged.starts_with("HTTP/1.1 200") && purged.ends_with(r#"{"purged":6}"#), "{purged}");
        let expected = ["a", "b"].map(|tag| (Purge::Tag(tag.to_owned()), true));
        assert_eq!(*served.operator.purged.borrow(), expected);
        let wrong = post(&with_token, "{}").await;
        assert!(wrong.starts_with("HTTP/1.1 400") && wrong.contains("Name the pages"), "{wrong}");
        let shown = served.get("/cache/show?url=https%3A%2F%2Fa.test%2Fb%3Fc%26d").await;
        assert!(shown.contains(r#""tags":["https://a.test/b?c&d"]"#), "{shown}");
        assert!(served.get("/cache/show").await.starts_with("HTTP/1.1 400"));
        let from_proxy = format!(
            "GET /cache/show?url=/ HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nVia: x\r\n\r\n",
            served.address
        );
        assert!(served.exchange(&from_proxy).await.starts_with("HTTP/1.1 401"));
    })
    .await;
}
