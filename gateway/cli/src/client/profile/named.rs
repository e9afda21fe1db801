//! `sluice profile FILE`: profiles that somebody has already, as a flame graph. No gateway is asked.

use std::path::Path;
use std::process::ExitCode;

use sluice_profiles::Profile;

use super::files::{FileError, Names, read_into};
use super::{Read, Report, show, text};
use crate::args::ProfileArgs;
use crate::client::source_maps;

pub fn run(args: &ProfileArgs) -> Result<ExitCode, FileError> {
    let files: Vec<String> = args.files.iter().map(|file| file.display().to_string()).collect();
    let files = files.join(", ");
    let names = match (&args.out, args.files.first()) {
        (None, Some(first)) => Names::beside(first),
        (out, _) => Names::new(out.as_deref(), Path::new("."), "profile")?,
    };
    let mut profile = Profile::default();
    for file in &args.files {
        read_into(&mut profile, file, &file.display().to_string())?;
    }
    let profile = source_maps::mapped(profile, "node");
    let longest_us = profile.tracks.iter().map(sluice_profiles::Track::duration_us).max().unwrap_or_default();
    let duration_ms = super::milliseconds(longest_us);
    let report = Report { subject: Some(files.clone()), duration_ms, ..Report::default() };
    // The process's own CPU time is not in the file.
    let (report, html) = Read { profile, report, used_ms: f64::INFINITY }.drawn().page(&names, files)?;
    let text = text::of(&report);
    Ok(show(args, &report, &html, text))
}
