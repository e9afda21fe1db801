//! The socket on which the preloads in the workers report: JSON lines, one connection a worker.
//!
//! Workers are input (I8): lines are bounded, what is not understood is ignored, and a worker speaks only for itself.

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::rc::Rc;

use serde::Deserialize;
use sluice_journal::{Event, Level};
use sluice_scheduler::{RequestId, WorkerId};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::net::{UnixListener, UnixStream};

use crate::{ProcessView, Supervisor};
use crate::auxiliary::Address;
use crate::process::Process;

const LINE_BYTES_MAX: u64 = 1024 * 1024;

/// What a preload says.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
enum Message {
    Hello {
        worker: u64,
        pid: u32,
    },
    Listening {},
    Aux {
        port: Option<u16>,
        host: Option<String>,
        path: Option<String>,
        socket: String,
    },
    AuxClosed {
        socket: String,
    },
    Done {
        requests: Vec<Done>,
    },
    Beat(Beat),
    /// Lines that this version has no use for, such as what the app says with `process.send`.
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
struct Done {
    id: u64,
    cpu_us: u64,
}

#[derive(Debug, Deserialize)]
struct Beat {
    rss_bytes: Option<u64>,
    heap_used_bytes: Option<u64>,
    elu: Option<f64>,
    loop_delay_ms_max: Option<f64>,
    overlaps_total: Option<u64>,
    cpu_us_total: Option<u64>,
}

/// Binds the socket and serves it from now on.
///
/// # Errors
/// When it cannot be bound.
pub(crate) fn serve(supervisor: &Rc<Supervisor>) -> io::Result<()> {
    let path = supervisor.app.control_socket();
    let _ = std::fs::remove_file(&path);
    let listener = UnixListener::bind(&path)?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
    let supervisor = Rc::clone(supervisor);
    tokio::task::spawn_local(async move {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => {
                    tokio::task::spawn_local(converse(Rc::clone(&supervisor), stream));
                }
                Err(error) => {
                    supervisor.note(Level::Error, &format!("cannot accept a worker's control connection: {error}"));
                    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
                }
            }
        }
    });
    Ok(())
}

async fn converse(supervisor: Rc<Supervisor>, stream: UnixStream) {
    let mut reader = BufReader::new(stream);
    let mut line = Vec::new();
    let mut process: Option<Rc<Process>> = None;
    loop {
        line.clear();
        let read = (&mut reader).take(LINE_BYTES_MAX).read_until(b'\n', &mut line).await;
        if !matches!(read, Ok(len) if len > 0) || line.last() != Some(&b'\n') {
            break;
        }
        let Ok(message) = serde_json::from_slice::<Message>(&line) else { continue };
        if let Message::Hello { worker, pid } = message {
            process = supervisor.processes.borrow().get(&WorkerId(worker)).cloned();
            if let Some(process) = &process {
                process.listener_pid.set(Some(pid));
            }
        } else if let Some(process) = &process {
            hear(&supervisor, process, message);
        }
    }
    // The process that serves has gone, even if npm or a shell above it has not noticed yet.
    if let Some(process) = process
        && process.is_ready.get()
        && !process.is_asked_to_leave.get()
    {
        supervisor.gate.left_by_itself(process.worker);
    }
}

fn hear(supervisor: &Rc<Supervisor>, process: &Rc<Process>, message: Message) {
    match message {
        Message::Listening {} => {
            if !process.is_ready.replace(true) {
                let after_ms = u64::try_from(process.started.elapsed().as_millis()).unwrap_or(u64::MAX);
                supervisor.journal.emit(Event::WorkerReady { worker: process.worker.0, after_ms });
                supervisor.gate.listening(process.worker, supervisor.socket(process.worker), true);
            }
        }
        Message::Aux { port, host, path, socket } => {
            let Some(address) = Address::new(port, host, path) else { return };
            supervisor.auxiliaries.add(process.worker, &address, socket.into());
        }
        Message::AuxClosed { socket } => supervisor.auxiliaries.remove(process.worker, socket.as_ref()),
        Message::Done { requests } => {
            for done in requests {
                supervisor.gate.reported(process.worker, RequestId(done.id), done.cpu_us);
            }
        }
        Message::Beat(beat) => {
            process.vitals.set(ProcessView {
                pid: None,
                rss_bytes: beat.rss_bytes,
                #[allow(clippy::cast_precision_loss)] // CPU times are far below 2^53 µs.
                cpu_ms_total: beat.cpu_us_total.map(|us| us as f64 / 1000.0),
                heap_used_bytes: beat.heap_used_bytes,
                event_loop_utilization: beat.elu,
                event_loop_delay_ms: beat.loop_delay_ms_max,
            });
            let overlaps = beat.overlaps_total.unwrap_or(0);
            let before = process.overlaps_total.replace(overlaps);
            if overlaps > before {
                supervisor.journal.emit(Event::OverlapSeen { worker: process.worker.0, count: overlaps - before });
            }
        }
        Message::Hello { .. } | Message::Other => {}
    }
}
