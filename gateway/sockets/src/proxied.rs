//! Header of the PROXY protocol, versions 1 and 2: a proxy without HTTP tells by it from which client a connection comes.
//!
//! The codec is the crate `proxy-header`. This module bounds what is read, never reads a byte behind the header, and refuses the
//! spellings that the crate accepts beyond the specification.

use std::io;
use std::net::{IpAddr, SocketAddr};

use proxy_header::{ParseConfig, ProxiedAddress, ProxyHeader};
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;

/// Beginning of a header of version 1.
const V1_START: &[u8] = b"PROXY ";
/// Beginning of a header of version 2.
const V2_START: &[u8] = b"\r\n\r\n\0\r\nQUIT\n";
/// Bytes of a header of version 2 before its addresses.
const V2_FIXED_BYTES: usize = 16;
/// Shortest header of either version: `PROXY UNKNOWN` and the end of its line.
const BYTES_MIN: usize = 15;
/// Longest header of version 1, by its specification.
const V1_BYTES_MAX: usize = 107;
/// Longest header of version 2. The addresses take 36 bytes; the rest is for fields about TLS, which are ignored.
const V2_BYTES_MAX: usize = V2_FIXED_BYTES + 4096;

/// Version of the PROXY protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProxyVersion {
    /// A line of text.
    V1,
    /// Binary.
    V2,
}

/// Addresses that a header reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proxied {
    /// The proxy itself has connected, for example to check the server's health, or it cannot name the client.
    Local,
    /// The proxy has connected for a client.
    Client {
        /// Address of the client.
        source: SocketAddr,
        /// Address to which the client has connected.
        destination: SocketAddr,
    },
}

/// Reason why a connection has no usable header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// The first bytes are those of neither version.
    NoHeader,
    /// The header is longer than allowed.
    TooLong,
    /// The header breaks a rule of its version.
    Invalid,
}

impl Malformed {
    /// The reason in words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoHeader => "it does not begin with a PROXY header",
            Self::TooLong => "its PROXY header is too long",
            Self::Invalid => "its PROXY header is malformed",
        }
    }
}

/// State of a header that has been read in part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// Number of further bytes that surely belong to the header.
    Bytes(usize),
    /// The header ends with the next line feed, within this many bytes.
    Line(usize),
    /// The header is complete.
    Done(Proxied),
}

/// Judges the bytes of a header that have been read so far.
///
/// # Errors
/// If no continuation makes a header of these bytes.
pub fn judge(read: &[u8]) -> Result<Reading, Malformed> {
    let is_start = |start: &[u8]| start.iter().zip(read).all(|(wanted, byte)| wanted == byte);
    if is_start(V1_START) {
        judge_line(read)
    } else if is_start(V2_START) {
        judge_binary(read)
    } else {
        Err(Malformed::NoHeader)
    }
}

fn judge_line(read: &[u8]) -> Result<Reading, Malformed> {
    if read.len() < BYTES_MIN {
        return if read.contains(&b'\n') {
            Err(Malformed::Invalid)
        } else {
            Ok(Reading::Bytes(BYTES_MIN - read.len()))
        };
    }
    if read.last() != Some(&b'\n') {
        return match V1_BYTES_MAX.checked_sub(read.len()) {
            None | Some(0) => Err(Malformed::TooLong),
            Some(left) => Ok(Reading::Line(left)),
        };
    }
    if read.len() > V1_BYTES_MAX {
        return Err(Malformed::TooLong);
    }
    let line = read.strip_suffix(b"\r\n").ok_or(Malformed::Invalid)?;
    let words = &line[V1_START.len()..];
    // Nobody is to act upon what stands behind this word.
    let is_unknown = words == b"UNKNOWN" || words.starts_with(b"UNKNOWN ");
    // The crate takes a sign before a port, for example.
    let is_plain = |byte: &u8| byte.is_ascii_hexdigit() || b"TCP:. ".contains(byte);
    if line.contains(&b'\n') || line.contains(&b'\r') || !(is_unknown || words.iter().all(is_plain)) {
        return Err(Malformed::Invalid);
    }
    decode(read)
}

fn judge_binary(read: &[u8]) -> Result<Reading, Malformed> {
    let Some((fixed, _)) = read.split_first_chunk::<V2_FIXED_BYTES>() else {
        // The first reading is as for version 1, so that it takes no byte behind a header of that.
        let wanted = if read.len() < BYTES_MIN { BYTES_MIN } else { V2_FIXED_BYTES };
        return Ok(Reading::Bytes(wanted - read.len()));
    };
    let len = V2_FIXED_BYTES + usize::from(u16::from_be_bytes([fixed[14], fixed[15]]));
    if len > V2_BYTES_MAX {
        return Err(Malformed::TooLong);
    }
    // Connections are streams: a datagram has no place in one.
    if !matches!(fixed[12], 0x20 | 0x21) || fixed[12] == 0x21 && !matches!(fixed[13], 0x00 | 0x11 | 0x21 | 0x31) {
        return Err(Malformed::Invalid);
    }
    // The proxy's own connection: the receiver must not look at the addresses.
    match len.checked_sub(read.len()) {
        None => Err(Malformed::Invalid),
        Some(0) if fixed[12] == 0x20 => Ok(Reading::Done(Proxied::Local)),
        Some(0) => decode(read),
        Some(left) => Ok(Reading::Bytes(left)),
    }
}

fn decode(read: &[u8]) -> Result<Reading, Malformed> {
    let (header, len) = ProxyHeader::parse(read, ParseConfig::default()).map_err(|_| Malformed::Invalid)?;
    if len != read.len() {
        return Err(Malformed::Invalid);
    }
    Ok(Reading::Done(
        header
            .proxied_address()
            .map_or(Proxied::Local, |told| Proxied::Client { source: told.source, destination: told.destination }),
    ))
}

/// Appends the header of this version for a connection on behalf of this client. An address of IPv4 beside one of IPv6 is written as IPv6.
pub fn write(out: &mut Vec<u8>, version: ProxyVersion, source: SocketAddr, destination: SocketAddr) {
    let (source, destination) = if source.is_ipv4() == destination.is_ipv4() {
        (source, destination)
    } else {
        (mapped(source), mapped(destination))
    };
    encode(out, version, &ProxyHeader::with_address(ProxiedAddress::stream(source, destination)));
}

/// Appends the header of this version for a connection of the proxy's own.
pub fn write_local(out: &mut Vec<u8>, version: ProxyVersion) {
    encode(out, version, &ProxyHeader::with_local());
}

fn encode(out: &mut Vec<u8>, version: ProxyVersion, header: &ProxyHeader<'_>) {
    let encoded = match version {
        ProxyVersion::V1 => header.encode_v1(out),
        ProxyVersion::V2 => header.encode_v2(out),
    };
    encoded.expect("both addresses are of one family, and nothing is too long for a Vec");
}

fn mapped(address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(ip) => SocketAddr::new(ip.to_ipv6_mapped().into(), address.port()),
        IpAddr::V6(_) => address,
    }
}

/// Reads the header at the beginning of a connection, and no byte behind it. The caller bounds the time. `None` if the connection ends
/// or is reset
/// before its first byte, as those of health checks do.
///
/// # Errors
/// `InvalidData` with [`Malformed::as_str`] if there is no valid header, another kind if the connection ends within it.
pub async fn read(stream: &mut TcpStream) -> io::Result<Option<Proxied>> {
    let mut read = Vec::with_capacity(V1_BYTES_MAX);
    loop {
        let (wanted, until_line_feed) = match judge(&read) {
            Ok(Reading::Done(proxied)) => return Ok(Some(proxied)),
            Ok(Reading::Bytes(wanted)) => (wanted, false),
            Ok(Reading::Line(wanted)) => (wanted, true),
            Err(malformed) => return Err(io::Error::new(io::ErrorKind::InvalidData, malformed.as_str())),
        };
        let wanted = if until_line_feed {
            let mut ahead = [0; V1_BYTES_MAX];
            let len = stream.peek(&mut ahead[..wanted]).await?;
            ahead[..len].iter().position(|byte| *byte == b'\n').map_or(len, |at| at + 1)
        } else {
            wanted
        };
        let before = read.len();
        let received = (&mut *stream).take(wanted as u64).read_buf(&mut read).await;
        let is_end =
            received.as_ref().map_or_else(|error| error.kind() == io::ErrorKind::ConnectionReset, |len| *len == 0);
        if is_end && read.is_empty() {
            return Ok(None);
        }
        received?;
        if read.len() == before {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(line: &str) -> Result<Reading, Malformed> {
        judge(line.as_bytes())
    }

    fn client(source: &str, destination: &str) -> Reading {
        let (source, destination) = (source.parse().unwrap(), destination.parse().unwrap());
        Reading::Done(Proxied::Client { source, destination })
    }

    fn binary(command: u8, family: u8, rest: &[u8]) -> Vec<u8> {
        let len = u16::try_from(rest.len()).unwrap().to_be_bytes();
        [V2_START, &[command, family], &len, rest].concat()
    }

    const V4: [u8; 12] = [203, 0, 113, 9, 192, 0, 2, 1, 0x1f, 0x90, 0x01, 0xbb];

    #[test]
    fn lines_of_version_1() {
        let local = Ok(Reading::Done(Proxied::Local));
        for (line, expected) in [
            ("PROXY TCP4 203.0.113.9 192.0.2.1 8080 443\r\n", Ok(client("203.0.113.9:8080", "192.0.2.1:443"))),
            ("PROXY TCP6 2001:db8::1 ::1 1 2\r\n", Ok(client("[2001:db8::1]:1", "[::1]:2"))),
            ("PROXY UNKNOWN\r\n", local),
            ("PROXY UNKNOWN ffff::1 ffff::2 65535 65535\r\n", local),
            ("PROXY UNKNOWNTCP4\r\n", Err(Malformed::Invalid)),
            ("PROXY TCP4 203.0.113.9 192.0.2.1 8080 +443\r\n", Err(Malformed::Invalid)),
            ("PROXY TCP4 203.0.113.9 192.0.2.1 8080 65536\r\n", Err(Malformed::Invalid)),
            ("PROXY TCP4 203.0.113.9  192.0.2.1 8080 443\r\n", Err(Malformed::Invalid)),
            ("PROXY TCP4 2001:db8::1 ::1 8080 443\r\n", Err(Malformed::Invalid)),
            ("PROXY TCP6 203.0.113.9 192.0.2.1 8080 443\r\n", Err(Malformed::Invalid)),
            ("PROXY TCP4 203.0.113.9 192.0.2.1 8080 443\n", Err(Malformed::Invalid)),
            ("PROXY TCP4 203.0.113.9 192.0.2.1 8080\r\n", Err(Malformed::Invalid)),
            ("PROXY TCP4 203.0.113.9 192.0.2.1 8080 443 1\r\n", Err(Malformed::Invalid)),
            ("PROXY TCP4 evil.test 192.0.2.1 8080 443\r\n", Err(Malformed::Invalid)),
            ("PROXY UDP4 203.0.113.9 192.0.2.1 8080 443\r\n", Err(Malformed::Invalid)),
            ("PROXY\n", Err(Malformed::NoHeader)),
            ("PROXY \r\n", Err(Malformed::Invalid)),
            ("proxy UNKNOWN\r\n", Err(Malformed::NoHeader)),
            ("GET / HTTP/1.1\r\n", Err(Malformed::NoHeader)),
            ("\u{16}\u{3}\u{1}", Err(Malformed::NoHeader)),
            ("", Ok(Reading::Bytes(BYTES_MIN))),
            ("PROXY TCP4 203.0.113.9 1", Ok(Reading::Line(V1_BYTES_MAX - 24))),
        ] {
            assert_eq!(text(line), expected, "{line:?}");
        }
        assert_eq!(text(&format!("PROXY UNKNOWN {}", "x".repeat(92))), Ok(Reading::Line(1)));
        assert_eq!(text(&format!("PROXY UNKNOWN {}", "x".repeat(93))), Err(Malformed::TooLong));
        assert_eq!(text(&format!("PROXY UNKNOWN {}\r\n", "x".repeat(92))), Err(Malformed::TooLong));
    }

    #[test]
    fn headers_of_version_2() {
        let local = Ok(Reading::Done(Proxied::Local));
        let with_tls = [&V4[..], &[0x20, 0, 1, 7]].concat();
        for (header, expected) in [
            (binary(0x21, 0x11, &V4), Ok(client("203.0.113.9:8080", "192.0.2.1:443"))),
            (binary(0x21, 0x11, &with_tls), Ok(client("203.0.113.9:8080", "192.0.2.1:443"))),
            (binary(0x20, 0x00, &[]), local),
            // Addresses of a local connection are to be ignored, and its families are not to be looked at.
            (binary(0x20, 0x11, &V4), local),
            (binary(0x20, 0x99, &[1]), local),
            (binary(0x21, 0x00, &[]), local),
            (binary(0x21, 0x31, &[0; 216]), local),
            (binary(0x21, 0x31, &[0; 215]), Err(Malformed::Invalid)),
            (binary(0x21, 0x11, &V4[..11]), Err(Malformed::Invalid)),
            (binary(0x21, 0x21, &V4), Err(Malformed::Invalid)),
            (binary(0x21, 0x12, &V4), Err(Malformed::Invalid)),
            (binary(0x22, 0x11, &V4), Err(Malformed::Invalid)),
            (binary(0x11, 0x11, &V4), Err(Malformed::Invalid)),
            (binary(0x20, 0x00, &[0; 4097]), Err(Malformed::TooLong)),
            (binary(0x20, 0x00, &[0; 4096]), local),
            (binary(0x21, 0x11, &V4)[..20].to_vec(), Ok(Reading::Bytes(8))),
            (V2_START.to_vec(), Ok(Reading::Bytes(3))),
            (b"\r\n\r\nGET".to_vec(), Err(Malformed::NoHeader)),
        ] {
            assert_eq!(judge(&header), expected, "{header:?}");
        }
    }

    #[tokio::test]
    async fn no_byte_behind_a_header_is_read_in_whatever_pieces_it_comes() {
        use tokio::io::AsyncWriteExt as _;
        let [source, destination] = ["203.0.113.9:8080", "192.0.2.1:443"].map(|address| address.parse().unwrap());
        for (version, step) in
            [(ProxyVersion::V1, 1), (ProxyVersion::V1, 200), (ProxyVersion::V2, 1), (ProxyVersion::V2, 200)]
        {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let mut ours = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
            let (mut theirs, _) = listener.accept().await.unwrap();
            let mut bytes = Vec::new();
            write(&mut bytes, version, source, destination);
            bytes.extend_from_slice(b"GET /\n\r\n");
            let sending = async {
                for piece in bytes.chunks(step) {
                    ours.write_all(piece).await.unwrap();
                    tokio::task::yield_now().await;
                }
                ours.shutdown().await.unwrap();
            };
            let receiving = async {
                let proxied = read(&mut theirs).await.unwrap();
                let mut rest = Vec::new();
                theirs.read_to_end(&mut rest).await.unwrap();
                (proxied, rest)
            };
            let ((), (proxied, rest)) = tokio::join!(sending, receiving);
            assert_eq!(proxied, Some(Proxied::Client { source, destination }));
            assert_eq!(rest, b"GET /\n\r\n");
        }
    }

    #[tokio::test]
    async fn a_connection_that_ends_early_or_speaks_otherwise_is_an_error() {
        use tokio::io::AsyncWriteExt as _;
        for (sent, kind) in [
            (&b"PROXY TCP4 1.2.3.4"[..], io::ErrorKind::UnexpectedEof),
            (b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c1234", io::ErrorKind::UnexpectedEof),
            (b"GET / HTTP/1.1\r\n\r\n", io::ErrorKind::InvalidData),
        ] {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let mut ours = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
            let (mut theirs, _) = listener.accept().await.unwrap();
            ours.write_all(sent).await.unwrap();
            ours.shutdown().await.unwrap();
            assert_eq!(read(&mut theirs).await.unwrap_err().kind(), kind);
        }
    }

    #[tokio::test]
    async fn a_connection_without_a_byte_is_no_error() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        for is_reset in [false, true] {
            let ours = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
            if is_reset {
                socket2::SockRef::from(&ours).set_linger(Some(std::time::Duration::ZERO)).unwrap();
            }
            drop(ours);
            let (mut theirs, _) = listener.accept().await.unwrap();
            assert_eq!(read(&mut theirs).await.unwrap(), None, "reset: {is_reset}");
        }
    }
}
