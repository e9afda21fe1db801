//! The preface of a connection to an additional address: the client's addresses, before its first byte.
//!
//! One line of the PROXY protocol, version 1. The worker acknowledges it with one byte, and only then gets the client's
//! data. So no client data can be read together with the line, and a connection that a dying worker did not take can go
//! to another.

use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;

const ACKNOWLEDGEMENT: u8 = b'\n';

/// The line for a connection from `peer` to `local`. A client of a unix socket has no addresses.
pub(crate) fn line(ends: Option<(SocketAddr, SocketAddr)>) -> String {
    let ends =
        ends.map(|(peer, local)| ((peer.ip().to_canonical(), peer.port()), (local.ip().to_canonical(), local.port())));
    match ends {
        Some(((peer, peer_port), (local, local_port))) if peer.is_ipv4() == local.is_ipv4() => {
            let version = if peer.is_ipv4() { 4 } else { 6 };
            format!("PROXY TCP{version} {peer} {local} {peer_port} {local_port}\r\n")
        }
        _ => "PROXY UNKNOWN\r\n".to_owned(),
    }
}

/// Waits until the worker has taken the line: as long as its event loop is busy, or until it is gone.
///
/// # Errors
/// When the worker closed the connection instead; it has had nothing of the client then.
pub(crate) async fn introduce(worker: &mut UnixStream, line: &str) -> io::Result<()> {
    worker.write_all(line.as_bytes()).await?;
    match worker.read_u8().await? {
        ACKNOWLEDGEMENT => Ok(()),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(peer: &str, local: &str) -> String {
        line(Some((peer.parse().unwrap(), local.parse().unwrap())))
    }

    #[test]
    fn line_names_both_ends_in_their_family() {
        assert_eq!(of("192.0.2.9:51234", "192.0.2.1:9464"), "PROXY TCP4 192.0.2.9 192.0.2.1 51234 9464\r\n");
        assert_eq!(of("[2001:db8::9]:1", "[2001:db8::1]:2"), "PROXY TCP6 2001:db8::9 2001:db8::1 1 2\r\n");
        assert_eq!(of("[::ffff:192.0.2.9]:1", "[::ffff:192.0.2.1]:2"), "PROXY TCP4 192.0.2.9 192.0.2.1 1 2\r\n");
        assert_eq!(line(None), "PROXY UNKNOWN\r\n");
    }

    #[test]
    fn i6_longest_line_is_within_what_a_worker_reads() {
        let longest = "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535";
        assert!(of(longest, longest).len() <= 107);
    }

    #[tokio::test]
    async fn worker_that_closes_has_not_taken_the_connection() {
        let (mut gateway, worker) = UnixStream::pair().unwrap();
        drop(worker);
        assert!(introduce(&mut gateway, &line(None)).await.is_err());
        let (mut gateway, mut worker) = UnixStream::pair().unwrap();
        worker.write_all(b"\nhello").await.unwrap();
        introduce(&mut gateway, &line(None)).await.unwrap();
        let mut first = [0; 5];
        gateway.read_exact(&mut first).await.unwrap();
        assert_eq!(&first, b"hello");
    }
}
