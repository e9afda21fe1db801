//! The error catalogue: every way in which Sluice refuses or fails a request, or fails to start.
//!
//! A code, once released, is never reused for something else. This module must not know where errors arise.

use std::fmt;

/// Party that causes an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// The client sent something that Sluice must not accept.
    Client,
    /// The gateway is out of room or time, or is not set up right.
    Gateway,
    /// The app or its process.
    Worker,
}

impl Source {
    /// The word used in docs and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Gateway => "gateway",
            Self::Worker => "worker",
        }
    }
}

/// Entry of the catalogue about one error.
#[derive(Debug, PartialEq, Eq)]
pub struct Entry {
    /// Error that this is about.
    pub id: Code,
    /// The stable code, for example `SLU-QUEUE-FULL`.
    pub code: &'static str,
    /// HTTP status of the answer; 0 for errors that only the operator sees.
    pub status: u16,
    /// Whether sending the same request again, later, is sensible and safe.
    pub retryable: bool,
    /// Party that causes it.
    pub source: Source,
    /// Text for clients. Says nothing about the inside.
    pub public: &'static str,
    /// Meaning for the operator, and what to do about it.
    pub operator: &'static str,
}

macro_rules! errors {
    ($($id:ident $code:literal $status:literal $retry:ident $source:ident $public:literal $operator:literal)+) => {
        /// Every error of the catalogue.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code {
            $(
                #[doc = concat!("`", $code, "`: ", $operator)]
                $id,
            )+
        }

        /// The whole catalogue, in the order of a request's way through the gateway.
        pub static ALL: &[Entry] = &[$(Entry {
            id: Code::$id,
            code: $code,
            status: $status,
            retryable: errors!(@retry $retry),
            source: Source::$source,
            public: $public,
            operator: $operator,
        }),+];
    };
    (@retry retry) => { true };
    (@retry final) => { false };
}

errors! {
    HeadMalformed "SLU-HEAD-MALFORMED" 400 final Client
        "The request is not valid HTTP/1.1."
        "The request line or a header breaks RFC 9112: control bytes, white space before a colon, a line without one, a bare CR or a folded line. Nothing reached a worker. Look at what stands between the client and Sluice when real clients meet it."
    HostInvalid "SLU-HOST-INVALID" 400 final Client
        "The Host header is missing, repeated or invalid."
        "HTTP/1.1 wants exactly one valid Host (RFC 9112 §3.2). Health checks written by hand often leave it out: add one."
    LengthInvalid "SLU-LENGTH-INVALID" 400 final Client
        "The request's length is ambiguous."
        "Content-Length is repeated, not a number, or stands beside Transfer-Encoding. That is how requests are smuggled, so the connection was closed. If a proxy in front sends this, repair or replace it."
    CodingUnknown "SLU-CODING-UNKNOWN" 501 final Client
        "The request uses a transfer coding that is not supported."
        "Only `chunked`, once and last, is understood as Transfer-Encoding of a request (RFC 9112 §6.1). Let the client compress with Content-Encoding instead."
    ChunkMalformed "SLU-CHUNK-MALFORMED" 400 final Client
        "The request's body is not framed correctly."
        "A chunk's size, extension or end breaks RFC 9112 §7.1. Nothing reached a worker and the connection was closed."
    TargetInvalid "SLU-TARGET-INVALID" 400 final Client
        "The request target is invalid."
        "The target holds bytes that may not stand there, user information, or names another authority than Host. Sluice is no forward proxy."
    MethodUnsupported "SLU-METHOD-UNSUPPORTED" 501 final Client
        "The request method is not supported."
        "CONNECT, TRACE, a method that Node.js does not know, or one that is too long. Sluice makes no tunnels."
    VersionUnsupported "SLU-VERSION-UNSUPPORTED" 505 final Client
        "The HTTP version is not supported."
        "The request line names something else than HTTP/1.0 or HTTP/1.1. A client that speaks HTTP/2 in clear text ends here: use HTTP/1.1."
    HeaderAlias "SLU-HEADER-ALIAS" 400 final Client
        "A header name is not acceptable."
        "A header's name has `_` where another header of the request, or one that the gateway sets, has `-`. Some servers treat both alike, which lets clients forge headers, so such requests are refused. `server.underscore_headers` changes which."
    TargetTooLong "SLU-TARGET-TOO-LONG" 414 final Client
        "The request target is too long."
        "The request line is over 8 KiB and over half of `server.headers_bytes_max`. Raise that key if real links of the app are that long."
    HeadersTooLarge "SLU-HEADERS-TOO-LARGE" 431 final Client
        "The request headers are too large."
        "All header lines together are over `server.headers_bytes_max`; grown cookies are the usual cause. Shrink them, or raise the limit; workers are told to take as much."
    HeadersTooMany "SLU-HEADERS-TOO-MANY" 431 final Client
        "The request has too many headers."
        "The request has more than 100 header lines."
    BodyTooLarge "SLU-BODY-TOO-LARGE" 413 final Client
        "The request body is too large."
        "The declared or received body is over `server.body_bytes_max`, or that of a beacon to `/.sluice/vitals` over 4 KiB. Raise `server.body_bytes_max` if the app takes uploads of that size."
    ExpectationUnknown "SLU-EXPECTATION-UNKNOWN" 417 final Client
        "The Expect header asks for something that is not supported."
        "Only `Expect: 100-continue` is known (RFC 9110 §10.1.1)."
    AccessDenied "SLU-ACCESS-DENIED" 403 final Client
        "Requests from this address are not allowed."
        "The client's address is in `access.deny`, or `access.allow` has networks and it is in none. The access line's `peer` is the address. If all clients seem to be one, name the proxy in front in `server.trusted_peers`."
    LoginRequired "SLU-LOGIN-REQUIRED" 401 final Client
        "A user name and a password are needed."
        "`access.basic_auth` or `access.basic_auth_file` has users, and the request came without the name and the password of one. Paths that have to be open, such as webhooks, belong in `access.basic_auth_exempt`."
    LoginLimited "SLU-LOGIN-LIMITED" 429 retry Client
        "There were too many attempts to log in. Please try again later."
        "The address has sent ten wrong passwords, so the gateway refuses further ones for a while; one address may try six a minute. Or more logins came at once than the gateway computes. Passwords that were right lately are still accepted. If all clients seem to be one, name the proxy in front in `server.trusted_peers`."
    RateLimited "SLU-RATE-LIMITED" 429 retry Client
        "There were too many requests from this address. Please try again later."
        "The client is over its limit of `rate.limits`. `Retry-After` says when its next request is let through. If real clients meet it, raise the rate or the burst; if all of them seem to be one, name the proxy in front in `server.trusted_peers`."
    VitalsRefused "SLU-VITALS-REFUSED" 400 final Client
        "This is no report that is taken here."
        "A beacon to `/.sluice/vitals` is not one that `@sluice/browser` sends: another form, a measure that no page can have, or it comes from a page of another site. It was not counted. If real browsers meet this, page and gateway are of different versions."
    VitalsLimited "SLU-VITALS-LIMITED" 429 retry Client
        "There were too many reports from this address."
        "One address sent more than 60 beacons a minute to `/.sluice/vitals`; those beyond are not counted. If all clients seem to be one, name the proxy in front in `server.trusted_peers`."
    HeadersTimeout "SLU-HEADERS-TIMEOUT" 408 retry Client
        "The request took too long to arrive."
        "The headers were not complete within 15 s. No worker was held. Many of these from few addresses are an attack or a broken client."
    BodyTooSlow "SLU-BODY-TOO-SLOW" 408 final Client
        "The request body arrived too slowly."
        "After 10 s the body came slower than 512 bytes per second. No worker was held."
    QueueFull "SLU-QUEUE-FULL" 503 retry Gateway
        "The service is busy. Please try again shortly."
        "`queue.length_max` requests were already waiting. There are too few workers for the load, or renders have become slower: compare service time with what it was, then scale."
    QueueWaitPredicted "SLU-QUEUE-WAIT" 503 retry Gateway
        "The service is busy. Please try again shortly."
        "The wait predicted from the queue and recent service times was over `queue.wait_ms_max`, or too long for the `deadline_ms` of its route. The gateway refused the request at once instead of late. There are too few workers for the load, or the deadline is shorter than what the route takes."
    QueueOverBudget "SLU-QUEUE-BUDGET" 503 retry Gateway
        "The service is busy. Please try again shortly."
        "The wait predicted for the request's class was over its budget (`budget_ms` of its route, or `queue.budget_ms`), and nothing cheaper than a render could be had. There are too few workers for the load, or the budget is too small."
    QueueDeadline "SLU-QUEUE-DEADLINE" 503 retry Gateway
        "The service is busy. Please try again shortly."
        "The request waited `queue.wait_ms_max` and no worker became free, or for so long that the `deadline_ms` of its route could not be met any more. Workers took longer than predicted, died, or have no memory for further requests that wait: look at their current requests and memory with `sluice status`."
    Draining "SLU-DRAINING" 503 retry Gateway
        "The service is restarting. Please try again shortly."
        "The gateway is stopping and takes nothing new. Expected during a stop; otherwise find out who sent the signal."
    AppDown "SLU-APP-DOWN" 503 retry Worker
        "The app has stopped, and starts again when one of its files changes."
        "`sluice dev` runs the app, and its process ended. The reason is in its own output. The next change of a file that it had loaded starts it again; `sluice reload` does so without a change."
    ConnectionsFull "SLU-CONNECTIONS-FULL" 503 retry Gateway
        "The service is busy. Please try again shortly."
        "`server.connections_max` client connections are open, or `server.connections_per_address_max` of one address, and none of them is idle. Raise it (and the limit of open files), or shorten `server.keep_alive_timeout_ms`."
    TempFull "SLU-TEMP-FULL" 503 retry Gateway
        "The service is short of space. Please try again shortly."
        "A body did not fit: the temporary files reached `temp.bytes_max`, or their disk is full. Free space, move `temp.dir`, or raise the limit."
    StreamsFull "SLU-STREAMS-FULL" 503 retry Gateway
        "The service is busy. Please try again shortly."
        "Every worker holds as many upgraded connections or event streams as it may, or the memory that requests may wait in is used up. Raise the heap (`--max-old-space-size`), or add workers."
    GatewayFailed "SLU-GATEWAY-FAILED" 500 final Gateway
        "The service failed to answer."
        "A fault in the gateway itself ended the task that carried the request to its worker. The log has the place; please report it. The worker was replaced. A static file that cannot be read to its end, or a body that cannot be compressed, ends the answer with this code too."
    RequestQuarantined "SLU-REQUEST-QUARANTINED" 500 final Worker
        "The service failed at this request before and does not try it again for now."
        "Two workers died with this request or with those that it cannot be told from, one after the other, so it reaches none for `quarantine.ttl_ms`. `sluice quarantine` lists such requests; look into the log for what the workers wrote last, mend the app, then `sluice quarantine --release ID`."
    WorkerDied "SLU-WORKER-DIED" 502 final Worker
        "The service failed to answer."
        "The worker's process exited while it held this request. The request could not be retried: its method is not safe, its answer had begun, or it was the second worker. The log line `worker_exited` and `sluice status` have the exception's first line; `sluice logs --kind app --worker N` has all that the worker wrote."
    WorkerAnswerMalformed "SLU-WORKER-ANSWER-MALFORMED" 502 final Worker
        "The service failed to answer."
        "The worker's answer is not valid HTTP: garbage, control bytes in a header, or more than 64 KiB or 256 lines of headers. Look for headers built from unchecked data."
    WorkerAnswerTruncated "SLU-WORKER-ANSWER-TRUNCATED" 502 final Worker
        "The service failed to answer."
        "The worker closed the connection before its answer was complete. If headers were already sent, the client's connection was cut instead."
    WorkerTimeout "SLU-WORKER-TIMEOUT" 504 final Worker
        "The service took too long to answer."
        "The worker sent nothing for `response.worker_timeout_ms`. Its slot stays held until it finishes or dies. See its current request with `sluice status`."
    WorkerStuck "SLU-WORKER-STUCK" 504 final Worker
        "The server could not finish this request in time."
        "The worker's event loop had not turned for `workers.stuck_after_ms` (an infinite loop, an endless regular expression) or 60 s (a synchronous wait). So the worker was killed with this request. The log's `worker_stuck` or `worker_blocked` names the place. The request is not sent again."

    StreamIdle "SLU-STREAM-IDLE" 0 final Gateway
        "The stream was idle for too long."
        "On an event stream or an upgraded connection nothing moved for `streams.idle_timeout_ms`, so it was closed. Its response had begun, so the client sees only the end. Let the app send a comment or a ping now and then, or raise the limit."

    AppNeverListened "SLU-APP-NEVER-LISTENED" 0 final Worker
        "The app did not start."
        "The app ran for `workers.start_timeout_ms` without an HTTP server that listens. Check that ENTRY is the script that calls `listen()`; raise the limit if it only starts slowly. An app that is not Node.js (Deno, Bun, Python) has to listen on the unix socket whose path is in `SLUICE_SOCKET`, not on `PORT`."
    AppNeverReady "SLU-APP-NEVER-READY" 0 final Worker
        "The app did not start."
        "The app listens, and did not call `process.send('ready')` within `workers.start_timeout_ms`, as `workers.wait_ready` asks of it. Call it when the app can serve, or switch `workers.wait_ready` off."
    AppExited "SLU-APP-EXITED" 0 final Worker
        "The app did not start."
        "The app's process ended before it listened. The reason is in its own output above; running the same command by hand shows it too."
    WorkerOutOfMemory "SLU-WORKER-OUT-OF-MEMORY" 0 final Worker
        "JavaScript ran out of memory."
        "V8 ended the worker's process because its heap was full. Requests that it held got `SLU-WORKER-DIED`. If the app needs that much, raise the heap with `--max-old-space-size` (MiB) in `app.node_args`. If it grows without end, look for the leak, and meanwhile let `recycle.memory_bytes_max` replace workers in time."
    AppNotStarted "SLU-APP-NOT-STARTED" 0 final Gateway
        "The app did not start."
        "The program that runs the app could not be started. Check `--node` or the command."
    PortInUse "SLU-PORT-IN-USE" 0 final Gateway
        "The address is in use."
        "Another process listens on the address. Stop it, or choose another with `--port` or `--admin`."
    ConfigInvalid "SLU-CONFIG-INVALID" 0 final Gateway
        "The configuration is not valid."
        "A key of the file, the environment or the flags is unknown or out of bounds. `sluice check` names all of them with their places."
    RunDirBusy "SLU-RUN-DIR-BUSY" 0 final Gateway
        "Another gateway runs here."
        "A gateway already uses this run directory. Stop it with `sluice stop`, or give this one its own `--run-dir`."
    RunDirPath "SLU-RUN-DIR-PATH" 0 final Gateway
        "The run directory cannot be used."
        "The path is too long for a unix socket, or the directory belongs to someone else or is open to others. Choose another with `--run-dir`."
    EntryMissing "SLU-ENTRY-MISSING" 0 final Gateway
        "There is no app to start."
        "No script or command was given, and neither sluice.toml (`app.entry`, `app.command`) nor package.json (`main`, `scripts.start`) names an app. No framework is known there, and no script has a usual name; or the named script does not exist."
}

impl Code {
    /// Entry of the catalogue about this error.
    pub fn entry(self) -> &'static Entry {
        // The macro writes variants and entries in one order, so the discriminant is the index.
        &ALL[self as usize]
    }

    /// The stable code, for example `SLU-QUEUE-FULL`.
    pub fn as_str(self) -> &'static str {
        self.entry().code
    }

    /// HTTP status of the answer; 0 for errors that only the operator sees.
    pub fn status(self) -> u16 {
        self.entry().status
    }
}

impl fmt::Display for Code {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_code_finds_its_own_entry() {
        for entry in ALL {
            assert_eq!(entry.id.entry(), entry);
        }
    }

    #[test]
    fn codes_are_unique_and_spelled_alike() {
        let codes: BTreeSet<_> = ALL.iter().map(|entry| entry.code).collect();
        assert_eq!(codes.len(), ALL.len());
        for code in codes {
            let tail = code.strip_prefix("SLU-").unwrap();
            assert!(!tail.is_empty() && tail.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'-'), "{code}");
        }
    }

    #[test]
    fn statuses_fit_their_source() {
        for entry in ALL {
            match entry.source {
                _ if entry.status == 0 => {}
                Source::Client => assert!((400..=505).contains(&entry.status), "{}", entry.code),
                // 500 is for a fault of its own, which waiting does not mend.
                Source::Gateway => assert!([500, 503].contains(&entry.status), "{}", entry.code),
                // 503 is for an app in development that is down until a file changes.
                Source::Worker => assert!([500, 502, 503, 504].contains(&entry.status), "{}", entry.code),
            }
        }
    }

    #[test]
    fn what_a_client_is_told_says_nothing_about_the_inside() {
        for entry in ALL.iter().filter(|entry| entry.status != 0) {
            for word in ["worker", "queue", "sluice", "`"] {
                assert!(!entry.public.to_lowercase().contains(word), "{} says {word}", entry.code);
            }
        }
    }

    #[test]
    fn config_keys_that_errors_mention_exist() {
        let sections: BTreeSet<_> = crate::config::keys().map(|key| key.section).collect();
        for entry in ALL {
            for quoted in entry.operator.split('`').skip(1).step_by(2) {
                if let Some((section, _)) = quoted.split_once('.')
                    && sections.contains(section)
                {
                    assert!(crate::config::key(quoted).is_some(), "{} names {quoted}", entry.code);
                }
            }
        }
    }
}
