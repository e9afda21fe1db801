//! `sluice completion SHELL`.

use std::process::ExitCode;

use clap_complete::Shell;

use crate::args;
use crate::output;

/// Prints the script that teaches a shell the commands and options.
pub fn run(shell: Shell) -> ExitCode {
    output::print(&script(shell))
}

fn script(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut args::public_command(), "sluice", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    #[test]
    fn every_shell_learns_the_commands_but_not_the_hidden_ones() {
        for shell in Shell::value_variants() {
            let script = script(*shell);
            for word in ["start", "reload", "status", "logs", "run-dir"] {
                assert!(script.contains(word), "{shell} does not know {word}");
            }
            assert!(!script.contains("guardian"), "{shell} knows guardian");
        }
    }
}
