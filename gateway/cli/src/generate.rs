//! `sluice generate ROOT`: writes every file that is made from the catalogue and the command line.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

use sluice_catalog::generate::{self, File};

use crate::args::{self, GenerateArgs};
use crate::exit::Exit;
use crate::stderr;

/// Columns of the help texts in the reference, whatever the terminal's width is.
const HELP_WIDTH: usize = 100;

/// Writes what is not up to date; with `--check`, only names it and fails.
pub fn run(args: &GenerateArgs) -> ExitCode {
    let stale: Vec<File> = generate::files(&cli_page()).into_iter().filter(|file| is_stale(&args.root, file)).collect();
    if args.check {
        if stale.is_empty() {
            return Exit::Ok.into();
        }
        let paths: Vec<&str> = stale.iter().map(|file| file.path).collect();
        return Exit::Failed.because(format_args!("not up to date, run `make generate`:\n  {}", paths.join("\n  ")));
    }
    for file in &stale {
        if let Err(error) = write(&args.root, file) {
            return Exit::Failed.because(format_args!("{}: {error}", file.path));
        }
        stderr::say(format_args!("sluice: wrote {}", file.path));
    }
    Exit::Ok.into()
}

fn is_stale(root: &Path, file: &File) -> bool {
    fs::read_to_string(root.join(file.path)).map_or(true, |text| text != file.text)
}

fn write(root: &Path, file: &File) -> io::Result<()> {
    let path: PathBuf = root.join(file.path);
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir)?;
    }
    fs::write(path, &file.text)
}

/// The page on the command line: what `--help` says of each command, and the exit codes.
fn cli_page() -> String {
    let mut top = args::public_command().term_width(HELP_WIDTH);
    // Gives the subcommands their full names, as in `Usage: sluice start`.
    top.build();
    let mut page = format!("{}\n", help(&mut top));
    for command in top.get_subcommands_mut().filter(|command| command.get_name() != "help") {
        let text = help(command);
        let _ = write!(page, "\n## `sluice {}`\n\n{text}\n", command.get_name());
    }
    let codes: Vec<Vec<String>> =
        Exit::ALL.iter().map(|exit| vec![(*exit as u8).to_string(), exit.text().to_owned()]).collect();
    let _ = write!(page, "\n## Exit codes\n\n{}", generate::table(&["Code", "Meaning"], &codes));
    page
}

fn help(command: &mut clap::Command) -> String {
    let help = command.render_help().to_string();
    let lines: Vec<&str> = help.trim().lines().map(str::trim_end).collect();
    format!("```text\n{}\n```", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_every_visible_command_with_its_usage() {
        let page = cli_page();
        for command in args::public_command().get_subcommands() {
            let name = command.get_name();
            assert!(
                page.contains(&format!("## `sluice {name}`")) && page.contains(&format!("Usage: sluice {name}")),
                "{name}"
            );
        }
        assert!(!page.contains("guardian"));
    }
}
