use serde_json::{Value, json};
use sluice_journal::{AppText, Event, Level, Stream};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::task::LocalSet;

use super::*;
use crate::tests_support::{SOON, TempDir, TestOperator, journal};

struct TestServer {
    dir: TempDir,
    operator: Rc<TestOperator>,
    journal: Journal,
}

impl TestServer {
    async fn connect(&self) -> Client {
        Client(BufReader::new(UnixStream::connect(self.dir.0.join("control.sock")).await.unwrap()))
    }
}

struct Client(BufReader<UnixStream>);

impl Client {
    async fn say(&mut self, bytes: &[u8]) {
        self.0.get_mut().write_all(bytes).await.unwrap();
    }

    /// The next line; `None` once the gateway has closed.
    async fn hear(&mut self) -> Option<Value> {
        let mut line = String::new();
        match timeout(SOON, self.0.read_line(&mut line)).await.expect("an answer in time") {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(serde_json::from_str(&line).unwrap()),
        }
    }

    async fn ask(&mut self, request: &Value) -> Value {
        self.say(format!("{request}\n").as_bytes()).await;
        self.hear().await.expect("an answer")
    }
}

async fn with_server<Fut: Future>(test: impl FnOnce(Rc<TestServer>) -> Fut) {
    let served = Rc::new(TestServer { dir: TempDir::new(), operator: TestOperator::shared(), journal: journal() });
    let socket = ControlSocket::bind(&served.dir.0.join("control.sock")).unwrap();
    let serve = socket.serve(served.operator.clone(), served.journal.clone());
    let local = LocalSet::new();
    local
        .run_until(async {
            tokio::select! {
                () = serve => unreachable!("serving never ends"),
                _ = test(served) => {}
            }
        })
        .await;
}

#[tokio::test(flavor = "current_thread")]
async fn status_answers_with_the_snapshot() {
    with_server(async |served| {
        let mut client = served.connect().await;
        for _ in 0..2 {
            let reply = client.ask(&json!({"command": "status"})).await;
            assert_eq!(reply["ok"], true);
            assert_eq!(reply["status"]["workers"][0]["pid"], 4711);
        }
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn scale_passes_the_number_on_and_tells_why_it_was_refused() {
    with_server(async |served| {
        let mut client = served.connect().await;
        let reply = client.ask(&json!({"command": "scale", "workers": 4})).await;
        assert_eq!(reply, json!({"ok": true, "workers_before": 2}));
        assert_eq!(*served.operator.scaled.borrow(), [4]);
        let reply = client.ask(&json!({"command": "scale", "workers": 400})).await;
        assert_eq!(
            reply,
            json!({"ok": false, "code": "scale-refused", "error": "the number of workers must be from 1 to 100, not 400"})
        );
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn reload_tells_how_far_it_is_and_how_it_ended() {
    with_server(async |served| {
        let mut client = served.connect().await;
        assert_eq!(client.ask(&json!({"command": "reload"})).await, json!({"progress": "started"}));
        assert_eq!(client.hear().await.unwrap(), json!({"progress": "half"}));
        let why = "generation 2 is abandoned: worker 7 did not listen within workers.start_timeout_ms. The previous \
                   version continues.\n\nThe end of its stderr:\nEACCES";
        let failed = json!({"ok": false, "code": "reload-failed", "error": why});
        assert_eq!(client.hear().await.unwrap(), failed);
        assert_eq!(client.ask(&json!({"command": "status"})).await["ok"], true, "the connection goes on");
    })
    .await;
}

#[tokio::test(flavor = "current_thread", start_paused = true)]
async fn stop_keeps_the_connection_open_long_after_others_would_be_closed() {
    with_server(async |served| {
        let mut client = served.connect().await;
        assert_eq!(client.ask(&json!({"command": "stop"})).await, json!({"ok": true}));
        assert_eq!(served.operator.stopped.get(), 1);
        tokio::time::sleep(IDLE_MAX * 10).await;
        assert_eq!(client.ask(&json!({"command": "status"})).await["ok"], true);
    })
    .await;
}

#[tokio::test(flavor = "current_thread", start_paused = true)]
async fn who_says_nothing_is_disconnected() {
    with_server(async |served| {
        let mut client = served.connect().await;
        tokio::time::sleep(IDLE_MAX * 2).await;
        assert_eq!(client.hear().await, None);
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn garbage_gets_an_answer_and_does_no_harm() {
    with_server(async |served| {
        let mut client = served.connect().await;
        for garbage in
            ["\n", "{}\n", "[1]\n", "{\"command\":\"dance\"}\n", "\u{0}\n", "{\"command\":\"scale\",\"workers\":-1}\n"]
        {
            client.say(garbage.as_bytes()).await;
            assert_eq!(client.hear().await.unwrap()["code"], "command-unknown", "{garbage}");
        }
        client.say(b"\xff\xfe\n").await;
        assert_eq!(client.hear().await.unwrap()["ok"], false);
        assert_eq!(client.ask(&json!({"command": "status"})).await["ok"], true);
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn a_line_that_never_ends_is_not_read_to_its_end() {
    with_server(async |served| {
        let mut client = served.connect().await;
        client.say(&vec![b'x'; REQUEST_BYTES_MAX]).await;
        assert_eq!(client.hear().await.unwrap()["code"], "line-too-long");
        assert_eq!(client.hear().await, None);
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn connections_beyond_the_bound_are_told_and_others_still_served() {
    with_server(async |served| {
        let mut clients = Vec::new();
        for _ in 0..CONNECTIONS_MAX {
            let mut client = served.connect().await;
            client.ask(&json!({"command": "status"})).await;
            clients.push(client);
        }
        let mut more = served.connect().await;
        assert_eq!(more.hear().await.unwrap()["code"], "connections-full");
        assert_eq!(more.hear().await, None);
        assert_eq!(clients[0].ask(&json!({"command": "status"})).await["ok"], true);
        clients.pop();
        let deadline = tokio::time::Instant::now() + SOON;
        loop {
            let mut again = served.connect().await;
            // While there is no place, the gateway may have closed before this is written.
            let _ = again.0.get_mut().write_all(b"{\"command\":\"status\"}\n").await;
            if again.hear().await.is_some_and(|reply| reply["ok"] == true) {
                break;
            }
            assert!(tokio::time::Instant::now() < deadline, "the place was never free again");
        }
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn logs_gives_the_last_lines_and_then_says_that_it_is_done() {
    with_server(async |served| {
        for line in ["one", "two", "three"] {
            served.journal.emit(Event::AppLine {
                worker: 7,
                stream: Stream::Stdout,
                said: AppText::read(Stream::Stdout, line),
            });
            served.journal.emit(Event::Note { level: Level::Info, text: "else" });
        }
        let mut client = served.connect().await;
        let first = client.ask(&json!({"command": "logs", "lines": 2, "worker": 7, "kind": "app"})).await;
        assert!(first["line"].as_str().unwrap().ends_with(r#""line":"two","json":null}"#));
        assert!(client.hear().await.unwrap()["line"].as_str().unwrap().ends_with(r#""line":"three","json":null}"#));
        assert_eq!(client.hear().await.unwrap(), json!({"ok": true}));
        let refused = client.ask(&json!({"command": "logs", "kind": "poems"})).await;
        assert_eq!(refused["code"], "kind-unknown");
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn logs_with_follow_sends_each_line_as_it_comes() {
    with_server(async |served| {
        served.journal.emit(Event::Stopped);
        let mut client = served.connect().await;
        let first = client.ask(&json!({"command": "logs", "follow": true})).await;
        assert!(first["line"].as_str().unwrap().contains("stopped"));
        assert_eq!(client.hear().await.unwrap(), json!({"live": true}));
        for text in ["a", "b"] {
            served.journal.emit(Event::Note { level: Level::Warn, text });
            let line = client.hear().await.unwrap();
            assert!(line["line"].as_str().unwrap().contains(&format!("\"text\":\"{text}\"")));
        }
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn the_socket_is_for_its_user_alone_and_replaces_a_dead_one() {
    let dir = TempDir::new();
    let path = dir.0.join("control.sock");
    drop(ControlSocket::bind(&path).unwrap());
    let _socket = ControlSocket::bind(&path).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}
