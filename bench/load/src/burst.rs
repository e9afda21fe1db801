//! Clients that ask for one page at once: when each of them has its first byte and its last.

use std::rc::Rc;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::traffic::Traffic;

/// Time for which all are connected before they ask: a server has accepted them by then.
const SETTLE: Duration = Duration::from_millis(300);

/// Opens all connections, sends the first route's request on each, and notes milliseconds from the first one sent.
pub async fn run(traffic: Rc<Traffic>, connections: usize) {
    let target = traffic.plan.targets[0];
    let mut streams = Vec::with_capacity(connections);
    for _ in 0..connections {
        if let Ok(stream) = TcpStream::connect(target).await {
            streams.push(stream);
        }
    }
    sleep(SETTLE).await;
    let path = traffic.plan.routes.first().map_or("/", |route| &route.path);
    let request = format!("GET {path} HTTP/1.1\r\nHost: {target}\r\nConnection: close\r\n\r\n");
    let began = Instant::now();
    let mut asking = JoinSet::new();
    for mut stream in streams {
        // So few bytes always find room, so that all have asked before anything is read.
        let sent = stream.write_all(request.as_bytes()).await;
        asking.spawn_local(async move {
            sent.ok()?;
            let mut answer = vec![0; 64 * 1024];
            let mut len = stream.read(&mut answer).await.ok().filter(|len| *len > 0)?;
            let first = began.elapsed();
            let is_ok = answer.starts_with(b"HTTP/1.1 200");
            loop {
                match stream.read(&mut answer[len.min(60_000)..]).await.ok()? {
                    0 => break,
                    more => len += more,
                }
            }
            is_ok.then(|| (ms(first), ms(began.elapsed())))
        });
    }
    let mut times: Vec<(f64, f64)> = asking.join_all().await.into_iter().flatten().collect();
    times.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut tally = traffic.tally.borrow_mut();
    tally.extra.insert("first_byte_ms", json!(times.iter().map(|(first, _)| first).collect::<Vec<_>>()));
    tally.extra.insert("last_byte_ms", json!(times.iter().map(|(_, last)| last).collect::<Vec<_>>()));
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
