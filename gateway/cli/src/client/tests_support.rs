//! A gateway that only says what it was told to.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use super::connect::Gateway;

/// A directory that is gone with the value.
pub struct TempDir(pub PathBuf);

impl TempDir {
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("sluice-client-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub struct FakeGateway {
    pub dir: TempDir,
}

impl FakeGateway {
    /// Takes one connection, answers its first request with these lines, and closes.
    pub fn answering(lines: &[&str]) -> Self {
        Self::start(1, lines)
    }

    /// Takes one connection, answers each of its requests with one of these lines, and closes at the next one.
    pub fn answering_each(lines: &[&str]) -> Self {
        Self::start(usize::MAX, lines)
    }

    fn start(requests_max: usize, lines: &[&str]) -> Self {
        let dir = TempDir::new();
        let listener = UnixListener::bind(dir.0.join("control.sock")).unwrap();
        let lines: Vec<String> = lines.iter().map(|line| format!("{line}\n")).collect();
        thread::spawn(move || {
            let mut stream = BufReader::new(listener.accept().unwrap().0);
            let mut requests = 0;
            let mut read = |stream: &mut BufReader<UnixStream>| {
                if requests < requests_max {
                    requests += 1;
                    stream.read_line(&mut String::new()).unwrap();
                }
            };
            for line in lines {
                read(&mut stream);
                // The command may have seen enough.
                let _ = stream.get_mut().write_all(line.as_bytes());
            }
            read(&mut stream);
        });
        Self { dir }
    }

    pub fn connect(&self) -> Gateway {
        Gateway::connect_to(&self.dir.0, &self.dir.0.join("control.sock")).unwrap()
    }
}
