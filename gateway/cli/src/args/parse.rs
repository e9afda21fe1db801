//! Reads the command line of this process. A word that is no command gets suggestions, none of which is a command that only Sluice
//! itself starts.

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory as _, Parser as _};

use super::Cli;

/// The command line; ends the process with the help that was asked for, or with what is wrong.
pub fn parse() -> Cli {
    Cli::try_parse().unwrap_or_else(|error| without_hidden(error).exit())
}

fn without_hidden(mut error: clap::Error) -> clap::Error {
    let command = Cli::command();
    let is_hidden = |name: &String| command.find_subcommand(name).is_some_and(clap::Command::is_hide_set);
    let suggested = match error.remove(ContextKind::SuggestedSubcommand) {
        Some(ContextValue::Strings(names)) => names,
        Some(ContextValue::String(name)) => vec![name],
        _ => return error,
    };
    let suggested: Vec<String> = suggested.into_iter().filter(|name| !is_hidden(name)).collect();
    if suggested.is_empty() {
        error.remove(ContextKind::Suggested);
    } else {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(suggested));
    }
    error
}

#[cfg(test)]
mod tests {
    use clap::error::ErrorKind;

    use super::*;

    fn refused(words: &[&str]) -> clap::Error {
        without_hidden(Cli::try_parse_from(words).unwrap_err())
    }

    #[test]
    fn help_of_a_command_is_had_both_ways() {
        for words in [["sluice", "help", "start"], ["sluice", "start", "--help"]] {
            let error = refused(&words);
            assert_eq!(error.kind(), ErrorKind::DisplayHelp, "{error}");
            assert!(error.to_string().contains("sluice start server.js"), "{error}");
        }
    }

    #[test]
    fn words_that_are_nearly_a_command_get_it_suggested_and_hidden_ones_never_are() {
        assert!(refused(&["sluice", "statu"]).to_string().contains("'status'"));
        for hidden in ["guardian", "shepherd", "successor", "draw-flame", "generate"] {
            let nearly = &hidden[..hidden.len() - 1];
            let text = refused(&["sluice", nearly]).to_string();
            assert!(text.contains(&format!("'{nearly}'")) && !text.contains(&format!("'{hidden}'")), "{text}");
        }
    }
}
