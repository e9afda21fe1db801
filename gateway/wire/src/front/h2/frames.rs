//! Budget for a client's frames that carry nothing of a request: `WINDOW_UPDATE`, `PRIORITY`, `PING`, `SETTINGS`, `RST_STREAM` and unknown
//! ones. The `h2` crate bounds the others, and takes these as fast as they come. Pure: bytes and the clock are passed in.

use std::time::Duration;

use tokio::time::Instant;

/// Maximum number of frames without request data that a client may send at once. Requests and answers allow for more.
const QUIET_FRAMES_MAX: u32 = 1_000;
/// Number of frames without request data that each request, and each sent data frame, adds to the allowance. Clients
/// need up to two for a data frame; those that read in small pieces need some more.
const QUIET_FRAMES_EACH_MAX: u32 = 20;
/// Time after which one more frame is allowed.
const QUIET_FRAME_FORGOTTEN: Duration = Duration::from_millis(50);

const PREFACE_BYTES: usize = 24;
const HEAD_BYTES: usize = 9;
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const CONTINUATION: u8 = 9;

/// Finds the heads of frames in bytes that come in any pieces.
struct Heads {
    /// Bytes to the next head.
    skip: usize,
    head: [u8; HEAD_BYTES],
    len: usize,
}

impl Heads {
    fn after(skip: usize) -> Self {
        Heads { skip, head: [0; HEAD_BYTES], len: 0 }
    }

    /// Calls `found` with the type of each frame whose head is complete.
    fn read(&mut self, mut data: &[u8], mut found: impl FnMut(u8)) {
        while !data.is_empty() {
            let passed = self.skip.min(data.len());
            self.skip -= passed;
            data = &data[passed..];
            let taken = data.len().min(HEAD_BYTES - self.len);
            self.head[self.len..self.len + taken].copy_from_slice(&data[..taken]);
            self.len += taken;
            data = &data[taken..];
            if self.len == HEAD_BYTES {
                let [a, b, c, kind, ..] = self.head;
                self.skip = u32::from_be_bytes([0, a, b, c]) as usize;
                self.len = 0;
                found(kind);
            }
        }
    }
}

/// A client's allowance of such frames.
pub(crate) struct QuietFrames {
    received: Heads,
    sent: Heads,
    /// Frames that the client may still send.
    left: u32,
    /// Time at which the allowance last grew by itself.
    grown: Instant,
    is_flooded: bool,
}

impl QuietFrames {
    pub(crate) fn new(now: Instant) -> Self {
        QuietFrames {
            received: Heads::after(PREFACE_BYTES),
            sent: Heads::after(0),
            left: QUIET_FRAMES_MAX,
            grown: now,
            is_flooded: false,
        }
    }

    /// Whether the client has sent more than it may.
    pub(crate) fn is_flooded(&self) -> bool {
        self.is_flooded
    }

    /// Counts the frames in bytes that the client has sent.
    pub(crate) fn received(&mut self, data: &[u8], now: impl Fn() -> Instant) {
        let (left, grown, is_flooded) = (&mut self.left, &mut self.grown, &mut self.is_flooded);
        self.received.read(data, |kind| match kind {
            HEADERS => *left = allowed(*left, QUIET_FRAMES_EACH_MAX),
            DATA | CONTINUATION => {}
            _ => {
                if *left == 0 {
                    let now = now();
                    let since = now.saturating_duration_since(*grown);
                    let more = since.as_millis() / QUIET_FRAME_FORGOTTEN.as_millis();
                    *left = allowed(0, u32::try_from(more).unwrap_or(u32::MAX));
                    *grown = now;
                }
                *is_flooded |= *left == 0;
                *left = left.saturating_sub(1);
            }
        });
    }

    /// Extends the allowance for bytes that the client is sent.
    pub(crate) fn sent(&mut self, data: &[u8]) {
        let left = &mut self.left;
        self.sent.read(data, |kind| {
            if kind == DATA {
                *left = allowed(*left, QUIET_FRAMES_EACH_MAX);
            }
        });
    }
}

fn allowed(left: u32, more: u32) -> u32 {
    left.saturating_add(more).min(QUIET_FRAMES_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRIORITY: u8 = 2;
    const PING: u8 = 6;
    const WINDOW_UPDATE: u8 = 8;
    const UNKNOWN: u8 = 0x10;

    fn frame(kind: u8, payload_bytes: u8) -> Vec<u8> {
        let head = [0, 0, payload_bytes, kind, 0, 0, 0, 0, 1];
        // A payload that looks like heads of other frames.
        head.into_iter().chain(std::iter::repeat_n(WINDOW_UPDATE, payload_bytes.into())).collect()
    }

    struct Client {
        frames: QuietFrames,
        now: Instant,
    }

    impl Client {
        fn new() -> Self {
            let now = Instant::now();
            let mut client = Client { frames: QuietFrames::new(now), now };
            client.sends(&[b'x'; PREFACE_BYTES]);
            client
        }

        fn sends(&mut self, data: &[u8]) {
            let now = self.now;
            self.frames.received(data, || now);
        }

        /// Number of these that the client may send.
        fn bound(mut self, kind: u8) -> u32 {
            (0..1_000_000)
                .find(|_| {
                    self.sends(&frame(kind, 5));
                    self.frames.is_flooded()
                })
                .expect("a bound")
        }
    }

    #[test]
    fn i6_frames_without_a_part_of_a_request_are_bounded() {
        for kind in [PRIORITY, 3, 4, PING, WINDOW_UPDATE, UNKNOWN] {
            assert_eq!(Client::new().bound(kind), QUIET_FRAMES_MAX, "{kind}");
        }
    }

    #[test]
    fn requests_and_data_that_was_sent_give_reason_for_more_up_to_the_bound() {
        let mut client = Client::new();
        for _ in 0..QUIET_FRAMES_MAX {
            client.sends(&frame(WINDOW_UPDATE, 4));
        }
        client.sends(&frame(HEADERS, 200));
        client.frames.sent(&frame(DATA, 250));
        client.frames.sent(&frame(HEADERS, 250));
        client.sends(&frame(DATA, 250));
        assert_eq!(client.bound(WINDOW_UPDATE), 2 * QUIET_FRAMES_EACH_MAX);
        let mut client = Client::new();
        for _ in 0..1_000 {
            client.frames.sent(&frame(DATA, 250));
        }
        assert_eq!(client.bound(WINDOW_UPDATE), QUIET_FRAMES_MAX);
    }

    #[test]
    fn a_client_that_asks_for_nothing_and_shows_for_hours_that_it_lives_is_no_flood() {
        let mut client = Client::new();
        for _ in 0..10_000 {
            client.now += Duration::from_secs(1);
            client.sends(&frame(PING, 8));
        }
        assert!(!client.frames.is_flooded());
        for _ in 0..20 * QUIET_FRAMES_MAX {
            client.now += Duration::from_millis(5);
            client.sends(&frame(PING, 8));
        }
        assert!(client.frames.is_flooded());
    }

    #[test]
    fn heads_are_found_in_bytes_that_come_in_any_pieces() {
        let stream: Vec<u8> = [frame(HEADERS, 200), frame(PING, 8), frame(DATA, 0), frame(UNKNOWN, 17)].concat();
        for piece_bytes in 1..=stream.len() {
            let (mut heads, mut found) = (Heads::after(3), Vec::new());
            let all: Vec<u8> = [&b"abc"[..], &stream].concat();
            all.chunks(piece_bytes).for_each(|piece| heads.read(piece, |kind| found.push(kind)));
            assert_eq!(found, [HEADERS, PING, DATA, UNKNOWN], "{piece_bytes}");
        }
    }
}
