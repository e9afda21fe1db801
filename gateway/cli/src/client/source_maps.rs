//! Original places of profiled code by its source maps. A Node.js process reads them (`packages/preload/src/profiles/source-maps.ts`),
//! because a large or hostile map must take no memory of this one. Without an answer places stay those of the code that ran.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use sluice_catalog::config::secret_variables;
use sluice_profiles::{Original, Places, Profile};
use tokio::time::Instant;

use crate::start::app::find_preload;
use crate::stderr;

/// Time limit for reading source maps.
const READING_TIMEOUT: Duration = Duration::from_secs(60);
/// Memory of the process that reads source maps, in megabytes.
const HEAP_MB_MAX: u32 = 2048;
/// Maximum size of the answer of the process that reads source maps, bytes.
const ANSWER_BYTES_MAX: u64 = 512 * 1024 * 1024;

/// The profile with functions and lines where they were written. `node`: the Node.js that reads the maps.
pub fn mapped(profile: Profile, node: &str) -> Profile {
    let originals = originals(&profile.places(), node);
    with_own_code(if originals.is_empty() { profile } else { profile.at(&originals) })
}

/// The profile with Sluice's own code as code of its packages, in a checkout too.
pub fn with_own_code(profile: Profile) -> Profile {
    profile.with_checkouts(|root| {
        let manifest = fs::read(Path::new(root).join("packages/preload/package.json"));
        match manifest.map(|text| serde_json::from_slice::<Value>(&text)) {
            Ok(manifest) => manifest.is_ok_and(|manifest| manifest["name"] == "@sluice/preload"),
            // The profile is of another machine: nothing else is named like it.
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        }
    })
}

/// Places in the sources of these places, in their order; nothing if that cannot be asked, which is said.
pub fn originals(places: &Places, node: &str) -> Vec<Original> {
    if places.places.is_empty() {
        return Vec::new();
    }
    let asked = serde_json::to_vec(places).map_err(io::Error::other);
    asked.and_then(|asked| ask(node, asked)).unwrap_or_else(|why| {
        stderr::say(format_args!("sluice: source maps were not read ({why}); positions are in the compiled code."));
        Vec::new()
    })
}

fn ask(node: &str, asked: Vec<u8>) -> io::Result<Vec<Original>> {
    let reader = find_preload().map_err(io::Error::other)?.with_file_name("profiles/source-maps.js");
    let mut command = Command::new(node);
    command.arg(format!("--max-old-space-size={HEAP_MB_MAX}")).arg(reader);
    // They are meant for the app.
    command.env_remove("NODE_OPTIONS").env_remove("NODE_V8_COVERAGE");
    for name in secret_variables() {
        command.env_remove(name);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let (Some(mut stdin), Some(stdout)) = (stdin, stdout) else { return Err(io::ErrorKind::BrokenPipe.into()) };
    // It reads everything before it answers, and may end before either.
    let writing = thread::spawn(move || stdin.write_all(&asked));
    let reading = thread::spawn(move || {
        let mut answer = Vec::new();
        stdout.take(ANSWER_BYTES_MAX).read_to_end(&mut answer).map(|_| answer)
    });
    let is_whole = wait(&mut child);
    let _ = writing.join();
    let answer = reading.join().map_err(|_| io::Error::other("its answer was not read"))?;
    if !is_whole {
        return Err(io::Error::other(format!("{node} failed or took longer than {} s", READING_TIMEOUT.as_secs())));
    }
    serde_json::from_slice(&answer?).map_err(io::Error::other)
}

/// Whether it ended well in its time; else it is killed.
fn wait(child: &mut Child) -> bool {
    let end = Instant::now() + READING_TIMEOUT;
    while Instant::now() < end {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) => thread::sleep(Duration::from_millis(10)),
            Err(_) => break,
        }
    }
    let _ = child.kill();
    let _ = child.wait();
    false
}
