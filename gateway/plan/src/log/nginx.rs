//! nginx's access log: `combined` or `main` with times behind it, or a `log_format`. Its date is that of the request's end.

use super::pattern::{Builder, Field, FormatError, Names, Pattern};

const NAMES: Names =
    Names { date: "$msec", request: "\"$request\"", time: "$upstream_response_time, and $request_time beside it" };

const COMBINED: &str = r#"$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent""#;
/// Fields of the stock configuration's `main` behind `combined`.
const BEHIND: [&str; 2] = ["", r#" "$http_x_forwarded_for""#];
/// Times that guides add.
const TIMES: [&str; 3] = [
    " $request_time $upstream_response_time",
    r#" rt=$request_time uct="$upstream_connect_time" uht="$upstream_header_time" urt="$upstream_response_time""#,
    " $request_time",
];

/// Formats that are recognised. The first are the closest.
pub(super) fn known() -> impl Iterator<Item = Pattern> {
    let formats = BEHIND.iter().flat_map(|behind| TIMES.iter().map(move |times| format!("{COMBINED}{behind}{times}")));
    formats.filter_map(|format| pattern(&format).ok())
}

/// Takes a `log_format` apart.
pub(super) fn pattern(format: &str) -> Result<Pattern, FormatError> {
    let mut builder = Builder::new();
    let mut rest = format.as_bytes();
    while let [byte, after @ ..] = rest {
        rest = after;
        if *byte != b'$' {
            builder.text(*byte);
            continue;
        }
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let is_braced = rest.first() == Some(&b'{');
        rest = &rest[usize::from(is_braced)..];
        let end = rest.iter().position(|byte| !is_name(byte)).unwrap_or(rest.len());
        if is_braced && rest.get(end) != Some(&b'}') {
            return Err(FormatError::Unknown);
        }
        builder.field(match &rest[..end] {
            b"host" | b"http_host" | b"server_name" => Field::Host,
            b"status" => Field::Status,
            b"request_method" => Field::Method,
            b"uri" | b"request_uri" => Field::Target,
            b"request" => Field::Request,
            b"time_local" => Field::Common,
            b"time_iso8601" => Field::Iso,
            b"msec" => Field::Epoch,
            b"request_time" => Field::Seconds,
            b"upstream_response_time" => Field::Upstream,
            _ => Field::Other,
        })?;
        rest = &rest[end + usize::from(is_braced)..];
    }
    builder.build(true, &NAMES)
}
