//! Node.js's messages about its inspector on stderr. Recognising them keeps them out of the app's log, and passes the
//! address to the task that waits for it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Maximum length of a session's id, bytes. Node's are UUIDs.
const PATH_BYTES_MAX: usize = 64;

/// Address on which an inspector listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) socket: SocketAddr,
    /// Path of the session without the leading slash. It is secret: only clients that know it may connect.
    pub(crate) path: String,
}

/// State of one process's inspector, as reported on its stderr.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Inspector {
    /// No message has come, or it has closed.
    #[default]
    Silent,
    /// The inspector listens.
    Listening(Address),
    /// The inspector could not listen; the text says why.
    Failed(String),
}

impl Inspector {
    pub(super) fn address(&self) -> Option<Address> {
        match self {
            Self::Listening(address) => Some(address.clone()),
            Self::Silent | Self::Failed(_) => None,
        }
    }
}

/// A line on stderr that Node.js wrote and not the app.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum InspectorLine {
    /// The inspector opened or failed to open.
    News(Inspector),
    /// A client has attached, or where to find help.
    Chatter,
}

/// Recognises the inspector's lines. The caller keeps them out of the log only if it opened the inspector itself: a
/// user who starts the app with `--inspect` wants to read them.
pub(crate) fn inspector_line(line: &str) -> Option<InspectorLine> {
    if let Some(url) = line.strip_prefix("Debugger listening on ws://") {
        return address(url).map(|address| InspectorLine::News(Inspector::Listening(address)));
    }
    if let Some(rest) = line.strip_prefix("Starting inspector on ") {
        // "127.0.0.1:9229 failed: address already in use"
        return rest.contains(" failed: ").then(|| InspectorLine::News(Inspector::Failed(rest.to_owned())));
    }
    let is_chatter = line.starts_with("For help, see: https://nodejs.org/")
        // It says so when the last client has left, and listens on.
        || line.starts_with("Debugger ending on ws://")
        || line == "Debugger attached."
        || line == "Waiting for the debugger to disconnect...";
    is_chatter.then_some(InspectorLine::Chatter)
}

fn address(url: &str) -> Option<Address> {
    let (socket, path) = url.trim_end().split_once('/')?;
    let mut socket: SocketAddr = socket.parse().ok()?;
    if socket.ip().is_unspecified() {
        // It listens everywhere; the nearest everywhere is here.
        let here = if socket.is_ipv4() { IpAddr::V4(Ipv4Addr::LOCALHOST) } else { IpAddr::V6(Ipv6Addr::LOCALHOST) };
        socket.set_ip(here);
    }
    // The line may be one that the app copied from a client, and nobody else's address is to be dialled for that.
    if !socket.ip().is_loopback() {
        return None;
    }
    let is_id = path.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    (is_id && !path.is_empty() && path.len() <= PATH_BYTES_MAX).then(|| Address { socket, path: path.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_inspector_are_told_from_those_of_the_app() {
        let line = "Debugger listening on ws://127.0.0.1:43149/56a76db2-bc70-4ec6-b0d0-e61c2e74bff3";
        let Some(InspectorLine::News(Inspector::Listening(address))) = inspector_line(line) else { panic!("{line}") };
        assert_eq!(address.socket, "127.0.0.1:43149".parse().unwrap());
        assert_eq!(address.path, "56a76db2-bc70-4ec6-b0d0-e61c2e74bff3");
        let line = "Debugger listening on ws://0.0.0.0:9229/56a76db2";
        let Some(InspectorLine::News(Inspector::Listening(address))) = inspector_line(line) else { panic!("{line}") };
        assert_eq!(address.socket, "127.0.0.1:9229".parse().unwrap());
        let line = "Starting inspector on 127.0.0.1:9229 failed: address already in use";
        assert_eq!(
            inspector_line(line),
            Some(InspectorLine::News(Inspector::Failed("127.0.0.1:9229 failed: address already in use".to_owned())))
        );
        for line in [
            "For help, see: https://nodejs.org/en/docs/inspector",
            "For help, see: https://nodejs.org/learn/getting-started/debugging",
            "Debugger attached.",
            "Waiting for the debugger to disconnect...",
            "Debugger ending on ws://127.0.0.1:9229/56a76db2",
        ] {
            assert_eq!(inspector_line(line), Some(InspectorLine::Chatter), "{line}");
        }
        for line in [
            "",
            "listening on 3000",
            "Debugger listening on ws://",
            "Debugger listening on ws://127.0.0.1:1",
            "Debugger listening on ws://127.0.0.1:1/",
            "Debugger listening on ws://127.0.0.1:99999/56a7",
            "Debugger listening on ws://example.org:80/56a7",
            "Debugger listening on ws://203.0.113.9:80/56a7",
            "Debugger listening on ws://127.0.0.1:1/a b",
            "Starting inspector on",
            "Starting inspector on the bus",
            "Debugger attached. ",
        ] {
            assert_eq!(inspector_line(line), None, "{line}");
        }
    }
}
