//! Words between two gateways while one takes the other's place: JSON lines over a socket pair, whose one end is the new
//! gateway's standard input. The sockets that clients know travel along as descriptors (`SCM_RIGHTS`), so that none of
//! them leaks into any other process.
//!
//! The two may be of different versions: unknown fields are ignored, and unknown lines end the attempt, never the old
//! gateway. It must not know what is done with what it passes on.

use std::io::{self, IoSlice, IoSliceMut, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream as BlockingStream;
use std::path::PathBuf;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
};
use serde::{Deserialize, Serialize};
use sluice_sockets::lines::{BoundedLine, Lines, json_line};
use sluice_wire::front::tls::TicketKeys;
use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixStream;

/// Maximum size of a line, bytes. The longest text in one is what an app wrote to stderr before it died.
const LINE_BYTES_MAX: usize = 64 * 1024;
/// Maximum number of descriptors in one message. The lock, the listening socket, that of agent checks, that of the
/// metrics, that of the redirect. Older gateways look for the last two at the end.
const DESCRIPTORS_MAX: usize = 5;
/// Counted up when an older gateway could misunderstand a newer one.
const PROTOCOL: u32 = 2;
/// Protocol of an offer without a socket of agent checks. Gateways that know only this one would take that socket for another.
const PROTOCOL_WITHOUT_AGENT: u32 = 1;

/// Offer of the old gateway to the new one; the descriptors come with it, in the order of the fields below.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Offer {
    protocol: u32,
    /// Number of the new gateway in the instance.
    pub number: u32,
    pub run_dir: PathBuf,
    /// `server.host` and `server.port` of the old one's config, as the socket was bound by them.
    pub host: String,
    pub port: u16,
    /// `admin.address` likewise; the descriptor is missing for `off`.
    pub admin: String,
    /// `admin.agent_address` likewise, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    /// `server.redirect_port` likewise, where there is one. Its descriptor is the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirect: Option<u16>,
}

/// Descriptors that are passed on beside the words.
pub struct HandoverDescriptors {
    pub offer: Offer,
    pub lock: OwnedFd,
    pub listener: OwnedFd,
    pub agent: Option<OwnedFd>,
    pub metrics: Option<OwnedFd>,
    pub redirect: Option<OwnedFd>,
}

/// A line between the two, after the offer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "kebab-case")]
pub enum Word {
    /// New to old: the workers are ready.
    Ready,
    /// New to old: it will not come to that.
    Failed { reason: String },
    /// Old to new: accept from now on.
    TakeOver {
        /// Keys of session tickets, where clients speak TLS.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tickets: Option<TicketKeys>,
    },
    /// New to old: it does, and the public names are its own.
    Serving,
    /// Old to new: the app's further addresses are free.
    Released,
}

impl Offer {
    pub fn new(number: u32, run_dir: PathBuf, host: String, port: u16, admin: String) -> Self {
        Self { protocol: PROTOCOL_WITHOUT_AGENT, number, run_dir, host, port, admin, agent: None, redirect: None }
    }

    /// Offers the socket of agent checks too, which is bound to this address.
    pub fn set_agent(&mut self, address: String) {
        (self.protocol, self.agent) = (PROTOCOL, Some(address));
    }

    /// Address of the socket of agent checks, if one is offered.
    pub fn agent(&self) -> Option<&str> {
        self.agent.as_deref()
    }

    /// Sends it with its descriptors, on a pair that is still empty and so has room.
    pub fn send(&self, stream: &BlockingStream, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        let line = json_line(self)?;
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !control.push(SendAncillaryMessage::ScmRights(descriptors)) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let sent = rustix::net::sendmsg(stream, &[IoSlice::new(&line)], &mut control, SendFlags::empty())?;
        let mut stream = stream;
        stream.write_all(&line[sent..])
    }
}

impl HandoverDescriptors {
    /// Takes the offer from standard input, which is closed by it.
    pub fn receive() -> io::Result<(Self, BlockingStream)> {
        let stream = BlockingStream::from(io::stdin().as_fd().try_clone_to_owned()?);
        nix::unistd::dup2_stdin(std::fs::File::open("/dev/null")?)?;
        Ok((Self::read(&stream)?, stream))
    }

    fn read(stream: &BlockingStream) -> io::Result<Self> {
        let mut descriptors = Vec::new();
        let mut line = Vec::new();
        while line.last() != Some(&b'\n') {
            if line.len() > LINE_BYTES_MAX {
                return Err(io::ErrorKind::InvalidData.into());
            }
            // Byte by byte would be as right: nothing follows the offer until it was answered.
            let mut piece = [0; 4096];
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
            let mut control = RecvAncillaryBuffer::new(&mut space);
            let received =
                rustix::net::recvmsg(stream, &mut [IoSliceMut::new(&mut piece)], &mut control, close_on_exec())?;
            for message in control.drain() {
                if let RecvAncillaryMessage::ScmRights(passed) = message {
                    descriptors.extend(passed);
                }
            }
            if received.bytes == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            line.extend_from_slice(&piece[..received.bytes]);
        }
        for descriptor in &descriptors {
            rustix::io::fcntl_setfd(descriptor, rustix::io::FdFlags::CLOEXEC)?;
        }
        let offer: Offer = serde_json::from_slice(&line)?;
        let mut descriptors = descriptors.into_iter();
        let (Some(lock), Some(listener)) = (descriptors.next(), descriptors.next()) else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        if !(PROTOCOL_WITHOUT_AGENT..=PROTOCOL).contains(&offer.protocol) {
            let text = "this version cannot take over from the version of the running gateway";
            return Err(io::Error::new(io::ErrorKind::Unsupported, text));
        }
        let mut rest: Vec<OwnedFd> = descriptors.collect();
        let redirect = offer.redirect.and_then(|_| rest.pop());
        let agent = if offer.agent.is_some() && !rest.is_empty() { Some(rest.remove(0)) } else { None };
        Ok(Self { offer, lock, listener, agent, metrics: rest.pop(), redirect })
    }
}

/// Flags that keep the descriptors from processes started at the same moment, if the kernel can.
fn close_on_exec() -> RecvFlags {
    #[cfg(target_os = "linux")]
    return RecvFlags::CMSG_CLOEXEC;
    #[cfg(not(target_os = "linux"))]
    RecvFlags::empty()
}

/// One end, for words.
pub struct Wire(Lines<UnixStream>);

impl Wire {
    pub fn new(stream: BlockingStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self(Lines::new(UnixStream::from_std(stream)?, LINE_BYTES_MAX)))
    }

    pub async fn say(&mut self, word: &Word) -> io::Result<()> {
        self.0.get_mut().write_all(&json_line(word)?).await
    }

    /// The next word; `None` once the other process is gone. A dropped future loses nothing.
    pub async fn hear(&mut self) -> io::Result<Option<Word>> {
        match self.0.next().await {
            Ok(Some(BoundedLine::Whole(line))) => Ok(Some(serde_json::from_slice(line)?)),
            Ok(Some(BoundedLine::TooLong)) => Err(io::ErrorKind::InvalidData.into()),
            Err(error) if error.kind() != io::ErrorKind::ConnectionReset => Err(error),
            Ok(None) | Err(_) => Ok(None),
        }
    }
}

/// Tells the old gateway that there will be no new one, from wherever that turns out.
pub fn say_failed(stream: &BlockingStream, reason: &str) {
    // Room for the quotes and escapes of JSON.
    let mut end = reason.len().min(16 * 1024);
    while !reason.is_char_boundary(end) {
        end -= 1;
    }
    let Ok(line) = json_line(&Word::Failed { reason: reason[..end].to_owned() }) else { return };
    let mut stream = stream;
    // The pair may be non-blocking by now; it is empty, so the line fits. If nobody listens, nobody has to know.
    let _ = stream.write_all(&line);
}

#[cfg(test)]
#[path = "handover_tests.rs"]
mod tests;
