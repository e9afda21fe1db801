//! `sluice stop`: the gateway keeps the connection open for as long as it lives, so its end is the answer.

use std::process::ExitCode;
use std::thread::sleep;
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::signal::kill;
use nix::unistd::Pid;
use serde_json::Value;
use sluice_admin::protocol::Request;
use tokio::time::Instant;

use super::connect::{ClientError, Gateway};
use crate::args::StopArgs;
use crate::exit::Exit;
use crate::output;

/// Time limit between the end of the connection and the exit of the process. A parent that does not collect its child
/// leaves the process in the table, though it is gone.
const LAST_STEPS_MAX: Duration = Duration::from_secs(2);
const LOOK_EVERY: Duration = Duration::from_millis(10);

pub fn run(args: &StopArgs) -> Result<ExitCode, ClientError> {
    stop(Gateway::connect(&args.run_dir)?, Duration::from_millis(args.timeout_ms))
}

fn stop(mut gateway: Gateway, timeout: Duration) -> Result<ExitCode, ClientError> {
    let started = Instant::now();
    let pid = match gateway.status() {
        Ok(snapshot) => Some(snapshot.pid),
        // One of another version can be stopped all the same.
        Err(ClientError::Answer { .. }) => None,
        Err(error) => return Err(error),
    };
    gateway.ask(&Request::Stop)?;
    loop {
        let left = timeout.saturating_sub(started.elapsed());
        if left.is_zero() {
            return Ok(Exit::Failed.because(still_there(pid, timeout)));
        }
        gateway.set_patience(Some(left))?;
        match gateway.receive::<Value>() {
            Ok(None) => break,
            Ok(Some(_)) | Err(ClientError::Silent(_)) => {}
            Err(error) => return Err(error),
        }
    }
    let deadline = Instant::now() + LAST_STEPS_MAX.min(timeout.saturating_sub(started.elapsed()));
    while pid.is_some_and(is_alive) && Instant::now() < deadline {
        sleep(LOOK_EVERY);
    }
    Ok(output::print(&format!("gateway stopped (run directory {})\n", gateway.run_dir().display())))
}

fn still_there(pid: Option<u32>, timeout: Duration) -> String {
    let by_force = pid.map(|pid| {
        format!(
            " `kill -9 {pid}` kills it immediately, with its workers and their \
        requests."
        )
    });
    format!(
        "the gateway is still finishing requests after {} ms. It exits when they end, or after drain.timeout_ms. \
         `sluice status` shows them.{}",
        timeout.as_millis(),
        by_force.unwrap_or_default()
    )
}

fn is_alive(pid: u32) -> bool {
    i32::try_from(pid).is_ok_and(|pid| pid > 0 && kill(Pid::from_raw(pid), None) != Err(Errno::ESRCH))
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::os::unix::net::UnixListener;
    use std::sync::mpsc::{Sender, channel};
    use std::thread;

    use super::*;
    use crate::client::status::tests::snapshot;
    use crate::client::tests_support::TempDir;

    /// A gateway that answers both questions and leaves when it is told to.
    fn gateway() -> (TempDir, Gateway, Sender<()>) {
        let dir = TempDir::new();
        let socket = dir.0.join("control.sock");
        let listener = UnixListener::bind(&socket).unwrap();
        let (leave, told) = channel();
        thread::spawn(move || {
            let mut stream = BufReader::new(listener.accept().unwrap().0);
            let mut line = String::new();
            stream.read_line(&mut line).unwrap();
            let status = serde_json::json!({"ok": true, "status": snapshot()});
            stream.get_mut().write_all(format!("{status}\n").as_bytes()).unwrap();
            stream.read_line(&mut line).unwrap();
            assert!(line.contains("stop"));
            stream.get_mut().write_all(b"{\"ok\":true}\n").unwrap();
            let _ = told.recv();
        });
        let gateway = Gateway::connect_to(&dir.0, &socket).unwrap();
        (dir, gateway, leave)
    }

    #[test]
    fn stop_ends_when_the_gateway_does() {
        let (_dir, gateway, leave) = gateway();
        drop(leave);
        let code = stop(gateway, Duration::from_secs(20)).unwrap();
        assert_eq!(format!("{code:?}"), format!("{:?}", ExitCode::from(Exit::Ok)));
    }

    #[test]
    fn stop_gives_up_when_the_gateway_does_not_leave() {
        let (_dir, gateway, leave) = gateway();
        let code = stop(gateway, Duration::from_millis(50)).unwrap();
        assert_eq!(format!("{code:?}"), format!("{:?}", ExitCode::from(Exit::Failed)));
        drop(leave);
    }
}
