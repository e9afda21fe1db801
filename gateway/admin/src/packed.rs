//! Long answers, compressed for those who accept that. It must not know what they hold.

use std::io::{self, Write as _};

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http_body_util::Full;
use hyper::header::{self, HeaderValue};
use hyper::{Response, StatusCode};
use tokio::task::spawn_blocking;

use crate::http::{JSON, respond as plain};

/// Shorter ones fit a packet or two.
const BYTES_MIN: usize = 2048;

/// JSON, on a thread beside that of the requests where it is to be compressed.
pub(crate) async fn respond(accepts_gzip: bool, status: StatusCode, json: Vec<u8>) -> Response<Full<Bytes>> {
    if !accepts_gzip || json.len() < BYTES_MIN {
        return plain(status, JSON, json);
    }
    match spawn_blocking(move || packed(&json).map_err(|_| json)).await {
        Ok(Ok(packed)) => {
            let mut response = plain(status, JSON, packed);
            response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            response
        }
        Ok(Err(json)) => plain(status, JSON, json),
        // The runtime ends, and with it the connection.
        Err(_) => plain(StatusCode::SERVICE_UNAVAILABLE, JSON, "{}"),
    }
}

fn packed(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes)?;
    encoder.finish()
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use flate2::read::GzDecoder;
    use http_body_util::BodyExt as _;

    use super::*;

    #[tokio::test(flavor = "current_thread")]
    async fn long_answers_are_compressed_for_those_who_accept_it() {
        let json = vec![b' '; 100_000];
        for (accepts_gzip, length, is_packed) in [(true, 100_000, true), (false, 100_000, false), (true, 100, false)] {
            let response = respond(accepts_gzip, StatusCode::OK, json[..length].to_vec()).await;
            assert_eq!(response.headers().contains_key(header::CONTENT_ENCODING), is_packed);
            let body = response.into_body().collect().await.unwrap().to_bytes();
            let mut read = Vec::new();
            if is_packed {
                assert!(body.len() < 1000, "{}", body.len());
                GzDecoder::new(&*body).read_to_end(&mut read).unwrap();
            } else {
                read.extend_from_slice(&body);
            }
            assert_eq!(read, json[..length]);
        }
    }
}
