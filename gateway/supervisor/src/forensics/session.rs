//! A session with one inspector: commands, their answers, and the two events that matter. Everything that comes in is
//! input: bounded, and never trusted to be well-formed.

use std::collections::HashMap;
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

use super::Why;
use super::inspector::Address;
use super::places::{RawFrame, Script};

/// Maximum size of a message, bytes. Scripts are announced with inline source maps, so a message can be as large as a
/// map.
const MESSAGE_BYTES_MAX: usize = 32 * 1024 * 1024;

/// Total size of all URLs of scripts and source maps, bytes; `data:` URLs are the large ones.
const SCRIPTS_BYTES_MAX: usize = 32 * 1024 * 1024;

/// Maximum number of frames; a deeper stack adds nothing useful.
const FRAMES_MAX: usize = 64;

/// Time for closing the connection. A missing answer to the close does no harm.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(50);

pub(super) struct Session {
    socket: WebSocketStream<TcpStream>,
    patience: Duration,
    last_id: u64,
    paused: Option<Vec<RawFrame>>,
    pub(super) scripts: HashMap<String, Script>,
    scripts_bytes: usize,
}

impl Session {
    pub(super) async fn connect(address: &Address, patience: Duration) -> Result<Self, Why> {
        let config = WebSocketConfig::default()
            .max_message_size(Some(MESSAGE_BYTES_MAX))
            .max_frame_size(Some(MESSAGE_BYTES_MAX));
        let connecting = async {
            let stream = TcpStream::connect(address.socket).await.map_err(Error::Io)?;
            stream.set_nodelay(true).map_err(Error::Io)?;
            let url = format!("ws://{}/{}", address.socket, address.path);
            client_async_with_config(url, stream, Some(config)).await
        };
        match timeout(patience, connecting).await {
            Ok(Ok((socket, _))) => {
                Ok(Self { socket, patience, last_id: 0, paused: None, scripts: HashMap::new(), scripts_bytes: 0 })
            }
            Ok(Err(error)) => Err(Why::Connection(error.to_string())),
            Err(_) => Err(Why::NoAnswer("the connection")),
        }
    }

    /// Sends a command and waits for its complete answer.
    pub(super) async fn call(&mut self, method: &'static str, params: Value) -> Result<String, Why> {
        let patience = self.patience;
        timeout(patience, self.answer(method, params)).await.unwrap_or(Err(Why::NoAnswer(method)))
    }

    /// Sends a command without waiting for its answer. V8 handles commands in order, so the answer to a later one shows
    /// that this one is done. On a busy machine, each skipped answer saves time.
    pub(super) async fn send(&mut self, method: &'static str, params: Value) -> Result<(), Why> {
        let patience = self.patience;
        let sending = self.command(method, params);
        timeout(patience, sending).await.unwrap_or(Err(Why::NoAnswer(method))).map(drop)
    }

    async fn command(&mut self, method: &'static str, params: Value) -> Result<u64, Why> {
        self.last_id += 1;
        let id = self.last_id;
        let command = json!({ "id": id, "method": method, "params": params }).to_string();
        self.socket.send(Message::text(command)).await.map_err(|error| Why::Connection(error.to_string()))?;
        Ok(id)
    }

    async fn answer(&mut self, method: &'static str, params: Value) -> Result<String, Why> {
        let id = self.command(method, params).await?;
        loop {
            let (head, text) = self.next().await?;
            if head.id != Some(id) {
                continue;
            }
            return match head.error {
                None => Ok(text),
                Some(error) => Err(Why::BadAnswer(method, error.message.chars().take(200).collect())),
            };
        }
    }

    /// Waits until JavaScript has paused, and returns the stack.
    pub(super) async fn paused(&mut self) -> Result<Vec<RawFrame>, Why> {
        let patience = self.patience;
        let waiting = async {
            loop {
                if let Some(frames) = self.paused.take() {
                    return Ok(frames);
                }
                self.next().await?;
            }
        };
        timeout(patience, waiting).await.unwrap_or(Err(Why::NoAnswer("Debugger.pause")))
    }

    pub(super) async fn close(mut self) {
        let _ = timeout(CLOSE_TIMEOUT, self.socket.close(None)).await;
    }

    async fn next(&mut self) -> Result<(Head, String), Why> {
        loop {
            // Node.js answers and reports in two small writes. Without this the second waits for the acknowledgement of
            // the first, which Linux delays by 40 ms.
            #[cfg(target_os = "linux")]
            let _ = self.socket.get_ref().set_quickack(true);
            let text = match self.socket.next().await {
                None | Some(Ok(Message::Close(_))) => return Err(Why::Connection("it was closed".to_owned())),
                Some(Err(error)) => return Err(Why::Connection(error.to_string())),
                Some(Ok(Message::Text(text))) => text.as_str().to_owned(),
                Some(Ok(_)) => continue,
            };
            let Ok(head) = serde_json::from_str::<Head>(&text) else { continue };
            match head.method.as_deref() {
                Some("Debugger.paused") => self.paused = Some(frames(&text)),
                Some("Debugger.scriptParsed") => self.keep_script(&text),
                _ => {}
            }
            return Ok((head, text));
        }
    }

    fn keep_script(&mut self, text: &str) {
        let Some(ScriptParsed { script_id, url, source_map_url }) = params(text) else { return };
        let bytes = script_id.len() + url.len() + source_map_url.len() + size_of::<(String, Script)>();
        if self.scripts_bytes + bytes <= SCRIPTS_BYTES_MAX {
            self.scripts_bytes += bytes;
            self.scripts.insert(script_id, Script { url, map_url: source_map_url });
        }
    }
}

fn frames(text: &str) -> Vec<RawFrame> {
    let frames = params::<PauseEvent>(text).map(|paused| paused.call_frames).unwrap_or_default();
    frames
        .into_iter()
        .take(FRAMES_MAX)
        .map(|frame| RawFrame {
            function: frame.function_name,
            script: frame.location.script_id,
            line: frame.location.line_number,
            column: frame.location.column_number,
        })
        .collect()
}

fn params<T: DeserializeOwned>(text: &str) -> Option<T> {
    #[derive(Deserialize)]
    struct Event<T> {
        params: T,
    }
    serde_json::from_str::<Event<T>>(text).ok().map(|event| event.params)
}

/// Fields that identify a message; the rest of it is skipped.
#[derive(Deserialize)]
struct Head {
    id: Option<u64>,
    method: Option<String>,
    error: Option<Refusal>,
}

#[derive(Deserialize)]
struct Refusal {
    #[serde(default)]
    message: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ScriptParsed {
    script_id: String,
    #[serde(default)]
    url: String,
    #[serde(default, rename = "sourceMapURL")]
    source_map_url: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PauseEvent {
    call_frames: Vec<CallFrame>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallFrame {
    #[serde(default)]
    function_name: String,
    location: Location,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    script_id: String,
    line_number: u32,
    #[serde(default)]
    column_number: u32,
}
