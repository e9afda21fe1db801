//! Number of allocations that a light request costs the gateway, from its first byte to the last of its answer. The bound is slightly above
//! the count. A change that raises it is explained in decision 0046.

use std::io::{Read, Write as _};
use std::net::{Ipv4Addr, TcpStream as Client};
use std::os::unix::net::UnixListener as WorkerListener;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sluice_catalog::config::Config;
use sluice_message::Scheme;
use sluice_scheduler::RequestId;
use sluice_supervisor::Gate as _;
use tokio::net::TcpListener;
use tokio::time::Instant;

use crate::gate::tests::one_ready_worker_with;
use sluice_wire::front::client::ClientStream;
use sluice_wire::front::connection::serve;
use sluice_wire::front::handles::Bounds;
use sluice_wire::front::listen;
use sluice_wire::socket::Socket;

/// Bound for a request to a worker. Counted: 10.0, one request at a time.
const PER_REQUEST_MAX: u64 = 11;
/// Bound for an answer from the cache. Counted: 5.0.
const PER_HIT_MAX: u64 = 6;

const WARM_UP: u64 = 200;
const COUNTED: u64 = 1000;

/// Reads up to the end of a head; `None` if the other side has closed.
fn read_head(from: &mut impl Read) -> Option<String> {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        from.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    String::from_utf8(head).ok()
}

/// A worker with a preload: answers on one connection as long as that lives.
fn work(listener: &WorkerListener) {
    let (mut stream, _) = listener.accept().unwrap();
    while let Some(head) = read_head(&mut stream) {
        let (_, label) = head.split_once(";token=").unwrap();
        let token = &label[..16];
        let date = httpdate::fmt_http_date(std::time::SystemTime::now());
        let answer = format!(
            "HTTP/1.1 200 OK\r\nx-sluice-answer: {token}\r\nDate: {date}\r\n\
             Cache-Control: s-maxage=600\r\nVary: Accept\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nhello"
        );
        stream.write_all(answer.as_bytes()).unwrap();
    }
}

/// Sends requests one after the other, and counts the answers.
fn ask(mut stream: Client, requests: u64, answered: &AtomicU64) {
    for _ in 0..requests {
        stream.write_all(b"GET /page HTTP/1.1\r\nHost: app.test\r\nAccept: */*\r\n\r\n").unwrap();
        let head = read_head(&mut stream).unwrap();
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
        let mut body = [0; 5];
        stream.read_exact(&mut body).unwrap();
        answered.fetch_add(1, Ordering::Relaxed);
    }
}

/// Allocations of the gateway's thread while it serves this number of requests on one connection.
fn allocations_of(requests: u64, is_kept: bool) -> u64 {
    let path = std::env::temp_dir().join(format!("slu-count-{}-{requests}-{is_kept}.sock", std::process::id()));
    let mut config = Config::default();
    config.cache.enabled = is_kept;
    // Taken from the machine's memory at a start.
    config.cache.bytes_max = 1 << 24;
    config.memory.buffers_bytes_max = 1 << 24;
    let listener = WorkerListener::bind(&path).unwrap();
    std::thread::spawn(move || work(&listener));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let serve_all = async {
        let (gate, worker) = one_ready_worker_with(config, path.clone(), true);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let local = listener.local_addr().unwrap();
        let answered = Arc::new(AtomicU64::new(0));
        let counting = Arc::clone(&answered);
        let asking = std::thread::spawn(move || ask(Client::connect(local).unwrap(), requests, &counting));
        let (stream, peer) = listener.accept().await.unwrap();
        let bounds = Bounds { all: 10, of_address: None };
        let Ok(handle) = gate.road.lobby.connections.admit(peer.ip(), bounds, Instant::now()) else {
            panic!("there is room")
        };
        let reporting = Rc::clone(&gate);
        // As a preload does, for all that have ended.
        let reports = tokio::task::spawn_local(async move {
            for request in 1..=(if is_kept { 1 } else { requests }) {
                while answered.load(Ordering::Relaxed) < request {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
                reporting.reports().reported(
                    worker,
                    RequestId(request),
                    &sluice_supervisor::CpuReport { cpu_us: Some(50), ..Default::default() },
                );
            }
        });
        let origin = listen::origin(&gate.road.lobby, peer, local, Scheme::Http);
        serve(ClientStream::Plain(Socket::Os(stream)), origin, Rc::clone(&gate.road), handle).await;
        reports.abort();
        asking.join().unwrap();
    };
    let counted = allocation_counter::measure(|| tokio::task::LocalSet::new().block_on(&runtime, serve_all));
    std::fs::remove_file(path).unwrap();
    counted.count_total
}

fn allocations_per(what: &str, is_kept: bool, max: u64) {
    let counted = allocations_of(WARM_UP + COUNTED, is_kept) - allocations_of(WARM_UP, is_kept);
    assert!(counted <= max * COUNTED, "{counted} allocations for {COUNTED} {what}");
}

#[test]
fn a_light_request_costs_no_more_allocations_than_were_counted() {
    allocations_per("requests", false, PER_REQUEST_MAX);
}

#[test]
fn a_hit_costs_no_more_allocations_than_were_counted() {
    allocations_per("hits", true, PER_HIT_MAX);
}
