//! `sluice profile FILE`: profiles that somebody has already, as a flame graph. No gateway is asked.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use sluice_profiles::Profile;

use super::files::{FileError, Names, read_into};
use super::{ProfileTotals, Read, Report, show, text};
use crate::args::ProfileArgs;
use crate::client::source_maps;

pub fn run(args: &ProfileArgs) -> Result<ExitCode, FileError> {
    let files: Vec<String> = args.files.iter().map(|file| file.display().to_string()).collect();
    let files = files.join(", ");
    let names = match (&args.out, args.files.first()) {
        (None, Some(first)) => Names::beside(first),
        (out, _) => Names::new(out.as_deref(), Path::new("."), "profile")?,
    };
    let (report, html) = drawn(&args.files, &files)?.page(&names, files)?;
    let text = text::of(&report);
    Ok(show(args, &report, &html, text))
}

/// Files over one tree. The CPU time of their processes is not in them.
fn drawn(files: &[PathBuf], subject: &str) -> Result<ProfileTotals, FileError> {
    let mut profile = Profile::default();
    for file in files {
        read_into(&mut profile, file, &file.display().to_string())?;
    }
    let profile = source_maps::mapped(profile, "node");
    let longest_us = profile.tracks.iter().map(sluice_profiles::Track::duration_us).max().unwrap_or_default();
    let duration_ms = super::milliseconds(longest_us);
    let report = Report { subject: Some(subject.to_owned()), duration_ms, ..Report::default() };
    Ok(Read { profile, report, used_ms: None }.drawn())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_program_that_waited_has_wall_clock_time_and_no_cpu_time() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("waits.cpuprofile");
        let text = json!({
            "nodes": [
                { "id": 1, "callFrame": { "functionName": "(root)", "url": "", "lineNumber": -1 }, "children": [2] },
                { "id": 2, "callFrame": { "functionName": "waits", "url": "file:///srv/app.js", "lineNumber": 6 } },
            ],
            "samples": [2], "timeDeltas": [0], "startTime": 0, "endTime": 1_500_000,
        });
        std::fs::write(&file, text.to_string()).unwrap();
        let ProfileTotals { report, flame, .. } = drawn(&[file], "waits.cpuprofile").unwrap();
        assert_eq!((report.cpu_ms, report.busy_ms), (None, 1500.0));
        let said = text::of(&report);
        assert!(said.starts_with("waits.cpuprofile, 1.5 s: 1.50 s of wall-clock time in 1 samples"), "{said}");
        assert!(!said.contains("CPU") && flame.facts.iter().all(|(name, _)| !name.contains("CPU")), "{said}");
    }
}
