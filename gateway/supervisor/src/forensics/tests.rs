//! Real Node.js processes that are stuck in each way. `NODE` names another binary than the one on the path.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::TcpListener;
use tokio::process::{Child, Command};
use tokio::sync::watch;
use tokio_tungstenite::tungstenite::Message;

use super::*;
use crate::sample::Verdict;

/// What the preload does, so that workers do not want the same port.
const FREE_PORT: &str = "--import=data:text/javascript,process.debugPort=0";

const PATIENT: Patience = Patience {
    address: Duration::from_secs(10),
    step: Duration::from_secs(10),
    profile: Duration::from_millis(300),
    mapping: Duration::from_secs(5),
    total: Duration::from_secs(30),
};

struct Worker {
    child: Child,
    subject: Subject,
    inspector: watch::Receiver<Inspector>,
    _directory: tempfile::TempDir,
}

impl Worker {
    /// Runs `app.js` of the files and returns once it has printed that it is about to be stuck.
    async fn start(node_args: &[&str], files: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let cwd = directory.path().canonicalize().unwrap();
        for (name, content) in files {
            write(&cwd, name, content);
        }
        let node = std::env::var("NODE").unwrap_or_else(|_| "node".to_owned());
        let mut child = Command::new(&node)
            .args(node_args)
            .arg(files[0].0)
            .current_dir(&cwd)
            // Held open for the child that waits for its end.
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let (sender, inspector) = watch::channel(Inspector::default());
        let mut errors = BufReader::new(child.stderr.take().unwrap()).lines();
        tokio::spawn(async move {
            while let Ok(Some(line)) = errors.next_line().await {
                match inspector_line(&line) {
                    Some(InspectorLine::News(news)) => drop(sender.send(news)),
                    Some(InspectorLine::Chatter) => {}
                    None => eprintln!("app: {line}"),
                }
            }
        });
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let line = timeout(Duration::from_secs(20), lines.next_line()).await.expect("it starts").unwrap();
        assert_eq!(line.as_deref(), Some("stuck"));
        let source_maps = cwd.join("source-maps.cjs");
        let subject = Subject { pid: child.id().unwrap(), cwd, node, source_maps };
        Self { child, subject, inspector, _directory: directory }
    }

    async fn examine(&self, patience: Patience) -> Examination {
        let begin = Instant::now();
        let look = look(&self.subject, self.inspector.clone(), patience, Besides::CpuProfile).await;
        let examination = look.examine(&self.subject, patience).await;
        // For a machine with other work; without a bound it would be for ever.
        let slack = Duration::from_secs(5);
        assert!(begin.elapsed() <= patience.total + patience.mapping + slack, "it took {:?}", begin.elapsed());
        examination
    }

    /// Looks twice until the verdict is what is expected; a process that has just started may still be compiling.
    async fn is_judged(&self, expected: Verdict) {
        if !cfg!(target_os = "linux") {
            return;
        }
        let deadline = Instant::now() + Duration::from_secs(15);
        loop {
            let (earlier, begin) = (sample::main_thread(self.subject.pid), Instant::now());
            tokio::time::sleep(Duration::from_millis(300)).await;
            let later = sample::main_thread(self.subject.pid);
            if sample::verdict(earlier, later, begin.elapsed()) == expected {
                return;
            }
            assert!(Instant::now() < deadline, "never judged {expected:?}: {earlier:?}, {later:?}");
        }
    }
}

fn write(cwd: &Path, name: &str, content: &str) {
    let file = cwd.join(name);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, content).unwrap();
}

/// The frames in the app's own files, innermost first.
fn own(examination: &Examination) -> Vec<String> {
    let stack = examination.stack.as_ref().unwrap_or_else(|why| panic!("{why}"));
    stack.iter().filter(|frame| !frame.file.starts_with("node:")).map(ToString::to_string).collect()
}

fn hottest(examination: &Examination) -> &Frame {
    let profile = examination.profile.as_ref().unwrap_or_else(|why| panic!("{why}"));
    let content: serde_json::Value = serde_json::from_slice(&profile.json).unwrap();
    assert!(content["samples"].as_array().unwrap().len() > 10, "{content}");
    let (frame, self_ms) = &profile.hottest[0];
    assert!(*self_ms >= 50, "{:?}", profile.hottest);
    frame
}

fn failure(examination: &Examination) -> &Why {
    let why = examination.stack.as_ref().expect_err("no stack can be had");
    assert_eq!(examination.profile.as_ref().expect_err("no profile without a stack"), why);
    why
}

const LOOP: &str = "\
function spin(start) {
  let x = start;
  while (true) {
    x = (x * 31 + 7) | 0;
  }
}
setTimeout(function handler() {
  console.log('stuck');
  spin(1);
}, 50);
";

#[tokio::test]
async fn infinite_loop_is_named_with_function_file_and_line() {
    let worker = Worker::start(&[FREE_PORT], &[("app.js", LOOP)]).await;
    worker.is_judged(Verdict::Burns).await;
    let examination = worker.examine(PATIENT).await;
    let stack = own(&examination);
    assert!(stack[0].starts_with("spin (app.js:3:") || stack[0].starts_with("spin (app.js:4:"), "{stack:?}");
    assert_eq!(stack[1], "handler (app.js:9:3)");
    let frame = hottest(&examination);
    assert_eq!((frame.function.as_str(), frame.file.as_str(), frame.line), ("spin", "app.js", 1));
}

#[tokio::test]
async fn places_are_those_of_the_sources_where_there_is_a_map() {
    // Each line of the code that runs is ten lines further down in the source.
    let reader = "\
const { scripts, places } = JSON.parse(require('fs').readFileSync(0));
const isAsked = ({ url, map }) => url.endsWith('/dist/app.js') && map === 'app.js.map';
const original = ([script, line, column]) => isAsked(scripts[script]) ? [__dirname + '/src/app.ts', line + 10, column] : null;
console.log(JSON.stringify(places.map(original)));
";
    let script = format!("{LOOP}//# sourceMappingURL=app.js.map\n");
    let files = [("dist/app.js", script.as_str()), ("source-maps.cjs", reader)];
    let worker = Worker::start(&[FREE_PORT], &files).await;
    worker.is_judged(Verdict::Burns).await;
    let examination = worker.examine(PATIENT).await;
    let stack = own(&examination);
    assert!(stack[0].starts_with("spin (src/app.ts:13:") || stack[0].starts_with("spin (src/app.ts:14:"), "{stack:?}");
    assert!(stack[1].starts_with("handler (src/app.ts:19:"), "{stack:?}");
    let frame = hottest(&examination);
    assert_eq!((frame.file.as_str(), frame.line), ("src/app.ts", 11));
}

#[tokio::test]
async fn reader_of_maps_that_fails_or_never_ends_costs_the_places_in_the_sources_alone() {
    let script = format!("{LOOP}//# sourceMappingURL=app.js.map\n");
    for reader in [
        "throw new Error('no')",
        "console.log('[')",
        "console.log('[[\"a\",-1,0]]')",
        "console.log('[]')",
        "for (;;) console.log('x'.repeat(1000))",
        "for (;;);",
    ] {
        let worker = Worker::start(&[FREE_PORT], &[("app.js", &script), ("source-maps.cjs", reader)]).await;
        worker.is_judged(Verdict::Burns).await;
        let patience = Patience { mapping: Duration::from_secs(2), ..PATIENT };
        let examination = worker.examine(patience).await;
        assert_eq!(own(&examination)[1], "handler (app.js:9:3)", "{reader}");
        assert!(examination.profile.is_ok(), "{reader}");
    }
}

#[tokio::test]
async fn regular_expression_that_never_ends_is_named() {
    let script = "\
function check(text) {
  return /^(a+)+$/.test(text);
}
console.log('stuck');
check('a'.repeat(80) + 'b');
";
    let worker = Worker::start(&[FREE_PORT], &[("app.js", script)]).await;
    worker.is_judged(Verdict::Burns).await;
    let examination = worker.examine(PATIENT).await;
    assert_eq!(own(&examination)[0], "check (app.js:2:20)");
    assert_eq!(hottest(&examination).function, "check");
}

#[tokio::test]
async fn wait_for_shared_memory_is_named_and_burns_nothing() {
    let script = "\
console.log('stuck');
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
";
    let worker = Worker::start(&[FREE_PORT], &[("app.js", script)]).await;
    worker.is_judged(Verdict::Blocked).await;
    let examination = worker.examine(PATIENT).await;
    assert!(own(&examination)[0].contains("(app.js:2:"), "{:?}", examination.stack);
}

#[tokio::test]
async fn synchronous_child_cannot_be_looked_into_and_is_given_up_in_time() {
    let script = "console.log('stuck'); require('node:child_process').execSync('cat', { stdio: 'inherit' });";
    let worker = Worker::start(&[FREE_PORT], &[("app.js", script)]).await;
    worker.is_judged(Verdict::Blocked).await;
    assert_eq!(failure(&worker.examine(Patience::default()).await), &Why::NoAddress);
}

#[tokio::test]
async fn process_that_has_exited_is_gone() {
    let mut worker = Worker::start(&[FREE_PORT], &[("app.js", "console.log('stuck');")]).await;
    // Linux tells that it has exited before anybody has collected it.
    let deadline = Instant::now() + Duration::from_secs(15);
    while cfg!(target_os = "linux") && !sample::has_exited(worker.subject.pid) {
        assert!(Instant::now() < deadline, "it never exits");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    #[cfg(target_os = "linux")]
    assert_eq!(failure(&worker.examine(PATIENT).await), &Why::Gone);
    worker.child.wait().await.unwrap();
    assert_eq!(failure(&worker.examine(PATIENT).await), &Why::Gone);
}

#[tokio::test]
async fn port_of_another_is_said_to_be_taken() {
    let other = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = format!("--inspect-port={}", other.local_addr().unwrap().port());
    let worker = Worker::start(&[&port], &[("app.js", LOOP)]).await;
    let examination = worker.examine(PATIENT).await;
    let Why::PortNotOpened(reason) = failure(&examination) else { panic!("{:?}", examination.stack) };
    assert!(reason.ends_with("address already in use"), "{reason}");
}

#[tokio::test]
async fn workers_stuck_at_the_same_time_do_not_want_the_same_port() {
    let files = [("app.js", LOOP)];
    let (one, two) = tokio::join!(Worker::start(&[FREE_PORT], &files), Worker::start(&[FREE_PORT], &files));
    tokio::join!(one.is_judged(Verdict::Burns), two.is_judged(Verdict::Burns));
    let (first, second) = tokio::join!(one.examine(PATIENT), two.examine(PATIENT));
    assert_eq!((own(&first)[1].as_str(), own(&second)[1].as_str()), ("handler (app.js:9:3)", "handler (app.js:9:3)"));
}

#[tokio::test]
async fn inspector_that_is_open_already_is_used() {
    let worker = Worker::start(&["--inspect=0"], &[("app.js", LOOP)]).await;
    worker.is_judged(Verdict::Burns).await;
    assert_eq!(own(&worker.examine(PATIENT).await)[1], "handler (app.js:9:3)");
}

#[tokio::test]
async fn app_that_handles_the_signal_itself_opens_no_inspector() {
    let script = format!("process.on('SIGUSR1', () => {{}});\n{LOOP}");
    let worker = Worker::start(&[FREE_PORT], &[("app.js", &script)]).await;
    let patience = Patience { address: Duration::from_millis(500), ..Patience::default() };
    assert_eq!(failure(&worker.examine(patience).await), &Why::NoAddress);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn process_that_would_die_of_the_signal_is_not_sent_it() {
    let mut child = Command::new("sleep").arg("30").kill_on_drop(true).spawn().unwrap();
    let (node, source_maps) = ("node".to_owned(), PathBuf::new());
    let subject = Subject { pid: child.id().unwrap(), cwd: std::env::temp_dir(), node, source_maps };
    let (_sender, inspector) = watch::channel(Inspector::default());
    let examination = look(&subject, inspector, PATIENT, Besides::CpuProfile).await.examine(&subject, PATIENT).await;
    assert_eq!(failure(&examination), &Why::NotInspectable);
    assert_eq!(child.try_wait().unwrap(), None);
}

#[tokio::test]
async fn idle_process_has_no_stack_and_goes_on() {
    let script = "console.log('stuck'); process.stdin.resume(); setTimeout(() => {}, 60_000);";
    let mut worker = Worker::start(&[FREE_PORT], &[("app.js", script)]).await;
    let patience = Patience { step: Duration::from_millis(500), ..PATIENT };
    worker.is_judged(Verdict::Blocked).await;
    let examination = worker.examine(patience).await;
    // Opening a connection may itself make Node.js run JavaScript of its own, and then that is what is seen.
    if let Ok(stack) = &examination.stack {
        assert!(stack.iter().all(|frame| frame.file.starts_with("node:")), "{stack:?}");
    }
    assert_eq!(worker.child.try_wait().unwrap(), None);
}

/// Answers each command with what is given, then goes.
async fn false_inspector(answers: Vec<Message>) -> Address {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let socket = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let mut socket = tokio_tungstenite::accept_async(stream).await.unwrap();
        for answer in answers {
            if socket.send(answer).await.is_err() {
                return;
            }
        }
        while let Some(Ok(message)) = socket.next().await {
            if message.to_text().is_ok_and(|text| text.contains("Profiler.enable")) {
                let _ = socket.send(Message::text(r#"{"id":1,"error":{"code":-1,"message":"no"}}"#)).await;
            }
        }
    });
    Address { socket, path: "0".to_owned() }
}

#[tokio::test]
async fn nonsense_from_an_inspector_is_passed_over() {
    let nonsense = [
        "",
        "{",
        "[]",
        "null",
        "{\"id\":-1}",
        "{\"id\":\"1\"}",
        "{\"id\":99,\"result\":{}}",
        "{\"method\":7}",
        r#"{"method":"Debugger.paused"}"#,
        r#"{"method":"Debugger.scriptParsed","params":{"scriptId":1}}"#,
    ];
    let mut messages: Vec<Message> = nonsense.into_iter().map(Message::text).collect();
    messages.push(Message::text("[".repeat(100_000)));
    // As large as a script with its source map inside it may be.
    messages.push(Message::text("x".repeat(30 * 1024 * 1024)));
    messages.push(Message::binary(vec![0xFF; 1000]));
    let address = false_inspector(messages).await;
    let mut session = Session::connect(&address, Duration::from_secs(10)).await.unwrap();
    let answer = session.call("Profiler.enable", json!({})).await;
    assert_eq!(answer, Err(Why::BadAnswer("Profiler.enable", "no".to_owned())));
    assert_eq!(session.paused().await, Ok(Vec::new()), "what cannot be read has no frames");
}

#[tokio::test]
async fn message_without_bounds_ends_the_conversation() {
    let address = false_inspector(vec![Message::text("x".repeat(40 * 1024 * 1024))]).await;
    let mut session = Session::connect(&address, Duration::from_secs(10)).await.unwrap();
    let answer = session.call("Profiler.enable", json!({})).await;
    assert!(matches!(answer, Err(Why::Connection(_))), "{answer:?}");
}

#[tokio::test]
async fn inspector_that_never_answers_is_given_up() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = Address { socket: silent.local_addr().unwrap(), path: "0".to_owned() };
    let session = Session::connect(&address, Duration::from_millis(100)).await;
    assert_eq!(session.err(), Some(Why::NoAnswer("the connection")));
    let address = false_inspector(Vec::new()).await;
    let mut session = Session::connect(&address, Duration::from_millis(500)).await.unwrap();
    assert_eq!(session.call("Debugger.enable", json!({})).await, Err(Why::NoAnswer("Debugger.enable")));
}
