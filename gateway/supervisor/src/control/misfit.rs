//! A warning of a preload of another build than the gateway. Features that only one of them has do not work, and nothing else
//! would say so.

use std::path::Path;

use sluice_journal::Level;

use super::record::PROTOCOL;
use crate::Supervisor;
use crate::process::Process;

/// Maximum shown length of a fingerprint or version, characters.
const SHOWN_MAX: usize = 40;

/// Warns of a preload whose protocol is not the gateway's, once for each.
pub(super) fn tell(supervisor: &Supervisor, process: &Process, protocol: &str) {
    if protocol == PROTOCOL {
        return;
    }
    if supervisor.misfit.borrow_mut().replace(protocol.to_owned()).is_none_or(|before| before != protocol) {
        let preload = &process.app.preload;
        supervisor.note(Level::Warn, &text(preload, version(preload).as_deref(), protocol));
    }
}

fn text(preload: &Path, version: Option<&str>, protocol: &str) -> String {
    let shown = |text: &str| text.chars().take(SHOWN_MAX).collect::<String>();
    let protocol = if protocol.is_empty() { "none".to_owned() } else { shown(protocol) };
    format!(
        "the preload {} (version {}, protocol {protocol}) is from another build than this gateway (version {}, \
         protocol {PROTOCOL}): \
         features that only one of them has do not work. Install the same version of both, or rebuild the preload, and start again",
        preload.display(),
        version.map_or_else(|| "unknown".to_owned(), shown),
        env!("CARGO_PKG_VERSION"),
    )
}

/// Version in the preload's package. Reads a small file.
fn version(preload: &Path) -> Option<String> {
    let package = std::fs::read(preload.parent()?.parent()?.join("package.json")).ok()?;
    let package: serde_json::Value = serde_json::from_slice(&package).ok()?;
    Some(package.get("version")?.as_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_builds_are_named_and_the_remedy() {
        let dir = tempfile::tempdir().unwrap();
        let preload = dir.path().join("dist/index.js");
        assert_eq!(version(&preload), None);
        std::fs::write(dir.path().join("package.json"), r#"{"version":"0.0.9"}"#).unwrap();
        assert_eq!(version(&preload).as_deref(), Some("0.0.9"));
        let text = text(&preload, Some("0.0.9"), "");
        for part in ["version 0.0.9, protocol none", PROTOCOL, env!("CARGO_PKG_VERSION"), "rebuild the preload"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
