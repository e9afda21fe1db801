//! Chunked bodies: what is taken apart, and what is refused.

use sluice_http1::{CHUNK_END, ChunkedDecoder, HeadLimits, LAST_CHUNK, write_chunk_header, write_last_chunk};
use sluice_message::{Reject, Rejection};

const LIMITS: HeadLimits = HeadLimits { request_line_bytes_max: 100, headers_bytes_max: 100, headers_count_max: 3 };

/// The data, what was left after the body, and whether the body has ended.
fn decode(decoder: &mut ChunkedDecoder, mut buf: &[u8]) -> Result<(Vec<u8>, usize, bool), Rejection> {
    let mut data = Vec::new();
    loop {
        let step = decoder.decode(buf)?;
        data.extend_from_slice(&buf[step.data]);
        buf = &buf[step.consumed..];
        if step.done || buf.is_empty() {
            return Ok((data, buf.len(), step.done));
        }
        assert!(step.consumed > 0, "no progress");
    }
}

fn accept(input: &str) -> (Vec<u8>, Vec<(String, Vec<u8>)>) {
    let mut decoder = ChunkedDecoder::for_request(&LIMITS);
    let (data, left, done) = decode(&mut decoder, input.as_bytes()).expect(input);
    assert!(done && decoder.is_done() && left == 0, "{input:?}");
    (data, decoder.trailers().to_vec())
}

fn refuse(input: &str, reject: Reject) {
    let found = decode(&mut ChunkedDecoder::for_request(&LIMITS), input.as_bytes());
    assert_eq!(found.map_err(|rejection| rejection.reject), Err(reject), "{input:?}");
}

#[test]
fn data_is_taken_out_of_its_chunks() {
    for (input, data) in [
        ("0\r\n\r\n", ""),
        ("5\r\nhello\r\n0\r\n\r\n", "hello"),
        ("5\r\nhello\r\n1\r\n,\r\n6\r\n world\r\n0\r\n\r\n", "hello, world"),
        ("A\r\n0123456789\r\n000\r\n\r\n", "0123456789"),
        ("00000000000000a\r\n0123456789\r\n0\r\n\r\n", "0123456789"),
        ("0000000000000001\r\nx\r\n0000000000000000\r\n\r\n", "x"),
        ("2\r\n\r\n\r\n0\r\n\r\n", "\r\n"),
        ("1;a\r\nx\r\n0;b=c\r\n\r\n", "x"),
        ("1;a=b;c=\"d;\\\"\te\";f\r\nx\r\n0\r\n\r\n", "x"),
    ] {
        assert_eq!(accept(input).0, data.as_bytes(), "{input:?}");
    }
}

#[test]
fn the_piece_of_data_is_a_range_of_the_buffer_and_framing_after_it_is_used_up() {
    let mut decoder = ChunkedDecoder::for_request(&LIMITS);
    let step = decoder.decode(b"5\r\nhello\r\n3\r\nabc\r\n0\r\n\r\nGET").unwrap();
    assert_eq!((step.data, step.consumed, step.done), (3..8, 13, false));
    let step = decoder.decode(b"abc\r\n0\r\n\r\nGET").unwrap();
    assert_eq!((step.data, step.consumed, step.done), (0..3, 10, true));
    let step = decoder.decode(b"GET").unwrap();
    assert_eq!((step.data, step.consumed, step.done), (0..0, 0, true));
}

#[test]
fn malformed_chunks_are_refused() {
    for input in [
        "\r\n",
        "\n",
        ";a\r\n",
        " 5\r\n",
        "\t5\r\n",
        "5 \r\n",
        "5\t\r\n",
        "5 ;a\r\n",
        "x\r\n",
        "0x5\r\n",
        "-5\r\n",
        "+5\r\n",
        "5\n",
        "5\rx",
        "5\r\r\n",
        "5h\r\n",
        "5,\r\n",
        "5.0\r\n",
        "5;\r\n",
        "5;;a\r\n",
        "5;a;\r\n",
        "5;=b\r\n",
        "5;a=\r\n",
        "5; a\r\n",
        "5;a =b\r\n",
        "5;a= b\r\n",
        "5;a=b \r\n",
        "5;a b\r\n",
        "5;a=\"b\r\n",
        "5;a=\"b\"c\r\n",
        "5;a=\"b\\\r\n",
        "5;a=\"\n\"\r\n",
        "5;a=\"\0\"\r\n",
        "5;a=\"\x7f\"\r\n",
        "5;a\n",
        "5;a=b=c\r\n",
        "5;a\0\r\n",
        "5;\u{e9}\r\n",
        "5;a=\"b\" \r\n",
        "5;a=b\"c\"\r\n",
        "00000000000000005\r\n",
        "10000000000000000\r\n",
        "fffffffffffffffff\r\n",
        "1\r\nx0\r\n\r\n",
        "1\r\nx\n0\r\n\r\n",
        "1\r\nx\rx",
        "1\r\nxx\r\n",
        "1\r\nx\r\n\r\n",
        "1\r\nx\r\n 0\r\n\r\n",
        "0\n\r\n",
        "0\rX",
        "0 \r\n\r\n",
    ] {
        refuse(input, Reject::ChunkMalformed);
    }
}

#[test]
fn the_largest_size_is_taken_and_waits_for_its_data() {
    let mut decoder = ChunkedDecoder::for_request(&LIMITS);
    assert_eq!(decode(&mut decoder, b"ffffffffffffffff\r\nabc"), Ok((b"abc".to_vec(), 0, false)));
}

#[test]
fn extensions_of_a_whole_body_are_bounded() {
    let chunks = |bytes: usize| format!("1;{}\r\nx\r\n", "a".repeat(bytes)).repeat(4);
    accept(&format!("{}0\r\n\r\n", chunks(1024)));
    refuse(&format!("{}0;a\r\n\r\n", chunks(1024)), Reject::ChunkMalformed);
    refuse(&format!("1;{}", "a".repeat(4097)), Reject::ChunkMalformed);
    refuse(&format!("1;a=\"{}", "a".repeat(4094)), Reject::ChunkMalformed);
}

#[test]
fn trailers_are_fields_by_the_same_rules() {
    let (_, trailers) = accept("0\r\nX-Sum:  abc \r\nx-b:\r\n\r\n");
    assert_eq!(trailers, [("X-Sum".to_owned(), b"abc".to_vec()), ("x-b".to_owned(), Vec::new())]);
    for input in [
        "0\r\nX : a\r\n\r\n",
        "0\r\n X: a\r\n\r\n",
        "0\r\nX: a\r\n b\r\n\r\n",
        "0\r\nX\r\n\r\n",
        "0\r\n: a\r\n\r\n",
        "0\r\nX: a\0\r\n\r\n",
        "0\r\nX: a\n\r\n",
        "0\r\nX: a\rb\r\n\r\n",
        "0\r\n\n",
        "0\r\nX: a\r\n\n",
        "0\r\n\rX",
        "0\r\nX\x7f: a\r\n\r\n",
    ] {
        refuse(input, Reject::HeadMalformed);
    }
    let mut decoder = ChunkedDecoder::for_request(&LIMITS);
    assert_eq!(decode(&mut decoder, b"0\r\nx_a: b\r\nX_Real_IP: c\r\n\r\n"), Ok((Vec::new(), 0, true)));
    assert_eq!(decoder.trailers(), [("x_a".to_owned(), b"b".to_vec())]);
    let mut decoder = ChunkedDecoder::for_response(&LIMITS);
    assert_eq!(decode(&mut decoder, b"0\r\nx_a: b\r\n\r\n"), Ok((Vec::new(), 0, true)));
    assert_eq!(decoder.trailers().len(), 1);
}

#[test]
fn trailers_are_bounded() {
    accept("0\r\na:b\r\na:b\r\na:b\r\n\r\n");
    refuse("0\r\na:b\r\na:b\r\na:b\r\na:b\r\n", Reject::HeadersTooMany);
    accept(&format!("0\r\na:{}\r\n\r\n", "x".repeat(98)));
    refuse(&format!("0\r\na:{}", "x".repeat(99)), Reject::HeadersTooLarge);
    refuse(&format!("0\r\na:{}\r\nb:{}", "x".repeat(50), "x".repeat(50)), Reject::HeadersTooLarge);
}

#[test]
fn fields_that_come_too_late_in_a_trailer_are_dropped() {
    for name in [
        "Content-Length",
        "Transfer-Encoding",
        "Host",
        "Authorization",
        "Cookie",
        "Set-Cookie",
        "Content-Type",
        "Content-Encoding",
        "Cache-Control",
        "TE",
        "Trailer",
        "Connection",
        "Upgrade",
        "Expect",
        "Range",
        "If-Match",
        "X-Forwarded-For",
        "Forwarded",
        "X-Sluice-Request",
    ] {
        assert_eq!(accept(&format!("0\r\n{name}: 1\r\nX: y\r\n\r\n")).1.len(), 1, "{name}");
    }
}

#[test]
fn what_is_written_is_read_back() {
    let mut out = Vec::new();
    for piece in ["hello", "", "x", &"y".repeat(300)] {
        write_chunk_header(&mut out, piece.len());
        if !piece.is_empty() {
            out.extend_from_slice(piece.as_bytes());
            out.extend_from_slice(CHUNK_END);
        }
    }
    let trailers = vec![("x-sum".to_owned(), b"1".to_vec())];
    let (mut plain, mut trailed) = (out.clone(), out);
    plain.extend_from_slice(LAST_CHUNK);
    write_last_chunk(&mut trailed, &trailers);
    let data = format!("hellox{}", "y".repeat(300)).into_bytes();
    assert_eq!(accept(std::str::from_utf8(&plain).unwrap()), (data.clone(), Vec::new()));
    assert_eq!(accept(std::str::from_utf8(&trailed).unwrap()), (data, trailers));
}
