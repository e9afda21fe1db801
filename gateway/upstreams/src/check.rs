//! Active health checks: a request to each address, now and then.

use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use bytes::Buf as _;
use sluice_http1::{HeadReader, Parse};
use sluice_message::Method;
use tokio::task::JoinSet;

use crate::connection::Connection;
use crate::fault::Unhealthy;
use crate::upstream::{Member, Upstream};

/// Time between two checks of an address.
const CHECK_EVERY: Duration = Duration::from_secs(5);
/// Time limit of one check.
const CHECK_TIMEOUT: Duration = Duration::from_secs(4);

/// Checks all addresses of the upstream for as long as it is there.
pub(crate) async fn run(upstream: std::rc::Weak<Upstream>) {
    loop {
        let Some(now) = upstream.upgrade() else { return };
        let mut checks = JoinSet::new();
        for member in now.members() {
            let upstream = Rc::clone(&now);
            checks.spawn_local(async move {
                let checked = tokio::time::timeout(CHECK_TIMEOUT, check(&upstream, &member)).await;
                let result = checked.unwrap_or(Err(Unhealthy::Late));
                upstream.checked(&member, &result);
            });
        }
        drop(now);
        while checks.join_next().await.is_some() {}
        tokio::time::sleep(CHECK_EVERY).await;
    }
}

/// Asks the address once.
///
/// # Errors
/// Where it gives no answer, or another than 2xx and 3xx.
pub(crate) async fn check(upstream: &Upstream, member: &Member) -> Result<(), Unhealthy> {
    let settings = &upstream.settings;
    let authority = settings.check_host(&settings.targets[member.target]);
    let path = &settings.upstream.health;
    let head = format!("GET {path} HTTP/1.1\r\nHost: {authority}\r\nUser-Agent: sluice\r\nConnection: close\r\n\r\n");
    let connect_by = tokio::time::Instant::now() + settings.times.connect;
    let mut connection = upstream.connect(member, None, Duration::ZERO, connect_by).await?;
    let (mut heads, mut sent) = (HeadReader::new(), 0);
    loop {
        let read = poll_fn(|cx| {
            while sent < head.len() {
                match connection.poll_write(cx, &head.as_bytes()[sent..]) {
                    Poll::Ready(Ok(len)) if len > 0 => sent += len,
                    Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                    Poll::Ready(Ok(_)) | Poll::Pending => break,
                }
            }
            if let Poll::Ready(Err(error)) = connection.poll_flush(cx) {
                return Poll::Ready(Err(error));
            }
            connection.poll_read(cx)
        });
        if read.await? == 0 {
            return Err(Unhealthy::Closed);
        }
        if let Some(status) = status(&mut heads, &mut connection, &settings.limits)? {
            return if (200..400).contains(&status) { Ok(()) } else { Err(Unhealthy::Status(status)) };
        }
    }
}

/// Status of the answer, once it has come.
fn status(
    heads: &mut HeadReader,
    connection: &mut Connection,
    limits: &sluice_http1::HeadLimits,
) -> Result<Option<u16>, Unhealthy> {
    loop {
        let parsed = heads.response(&connection.unread, limits, &Method::Get);
        match parsed.map_err(|rejection| Unhealthy::Malformed(rejection.detail))? {
            // The answer itself comes behind interim ones.
            Parse::Complete { received, consumed } if (100..200).contains(&received.head.status) => {
                connection.unread.advance(consumed);
                *heads = HeadReader::new();
            }
            Parse::Complete { received, .. } => return Ok(Some(received.head.status)),
            Parse::Incomplete => return Ok(None),
        }
    }
}
