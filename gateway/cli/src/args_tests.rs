//! Tests of the command line.

use super::*;

fn start(line: &str) -> StartArgs {
    match Cli::try_parse_from(line.split(' ')).unwrap().command {
        Command::Start(args) => args,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_command_line_is_consistent() {
    Cli::command().debug_assert();
    public_command().debug_assert();
}

#[test]
fn every_command_has_examples_and_every_option_help() {
    for command in public_command().get_subcommands() {
        let name = command.get_name();
        let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        assert!(examples.contains(&format!("sluice {name}")), "{name} has no example");
        assert!(command.get_about().is_some(), "{name} has no help");
        for option in command.get_arguments() {
            assert!(option.get_help().is_some(), "{name} {} has no help", option.get_id());
        }
    }
}

#[test]
fn examples_parse() {
    for command in public_command().get_subcommands() {
        let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        for line in examples.lines().filter_map(|line| line.trim().strip_prefix("sluice ")) {
            let line = line.split("  ").next().unwrap_or(line);
            let line = line.split(['|', '>', '<']).next().unwrap_or(line).trim();
            let words = std::iter::once(String::from("sluice")).chain(words_of(line));
            Cli::try_parse_from(words).unwrap_or_else(|error| panic!("sluice {line}: {error}"));
        }
    }
}

/// Words of a command line as a shell takes them: what stands in single quotes is one.
fn words_of(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for (at, part) in line.split('\'').enumerate() {
        for (space, piece) in part.split(if at % 2 == 0 { ' ' } else { '\0' }).enumerate() {
            if space > 0 {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.push_str(piece);
            }
        }
    }
    words
}

#[test]
fn every_command_takes_run_dir() {
    for command in public_command().get_subcommands().filter(|command| {
        !["access", "compare", "completion", "init", "list", "plan", "rehearse"].contains(&command.get_name())
    }) {
        assert!(command.get_arguments().any(|arg| arg.get_id() == "run_dir"), "{}", command.get_name());
    }
}

#[test]
fn start_turns_options_into_keys() {
    let flags =
        start("sluice start app.js -p 80 --host ::1 -w 2 --concurrency 3 --sticky cookie --admin off --node n --log-format json")
            .flags();
    let expected = [
        ("app.entry", "app.js"),
        ("server.port", "80"),
        ("server.host", "::1"),
        ("workers.count", "2"),
        ("workers.concurrency", "3"),
        ("sticky.by", "cookie"),
        ("admin.address", "off"),
        ("app.node", "n"),
        ("log.format", "json"),
    ];
    assert_eq!(flags, expected.map(|(key, text)| (key, text.to_owned())));
    for (key, _) in flags {
        assert!(config::key(key).is_some(), "{key}");
    }
    assert!(start("sluice start").flags().is_empty());
}

#[test]
fn what_follows_two_dashes_is_the_command_with_all_its_options() {
    let args = start("sluice start --port 1 -- npm run start -- --port 2");
    assert_eq!(args.command, ["npm", "run", "start", "--", "--port", "2"]);
    assert_eq!(args.flags()[1], ("app.command", r#"["npm","run","start","--","--port","2"]"#.to_owned()));
    assert!(Cli::try_parse_from(["sluice", "start", "server.js", "--", "npm"]).is_err());
}

#[test]
fn the_help_of_an_option_names_keys_that_exist() {
    for command in public_command().get_subcommands() {
        for option in command.get_arguments() {
            let help = option.get_help().map(ToString::to_string).unwrap_or_default();
            if let Some((_, rest)) = help.split_once("[config: ") {
                let path = rest.trim_end_matches(']');
                assert!(config::key(path).is_some(), "{path}");
            }
        }
    }
}

#[test]
fn hidden_commands_work_and_stay_hidden() {
    let parsed = Cli::try_parse_from(["sluice", "guardian", "--fd", "3"]).unwrap();
    assert!(matches!(parsed.command, Command::Guardian(args) if args.rest.len() == 2));
    assert!(Cli::try_parse_from(["sluice", "generate", ".", "--check"]).is_ok());
    let help = Cli::command().render_long_help().to_string();
    assert!(!help.contains("guardian") && !help.contains("generate"));
}

#[test]
fn times_are_refused_where_nothing_takes_them_and_may_be_parts_of_a_second_elsewhere() {
    let parse = |line: &str| Cli::try_parse_from(line.split(' '));
    for line in ["sluice heap --snapshot --seconds 3", "sluice hotspots a.cpuprofile -s 3"] {
        assert!(parse(line).is_err(), "{line}");
    }
    for line in ["sluice profile", "sluice heap", "sluice heap --allocations", "sluice hotspots --live"] {
        for seconds in ["-s 0.05", "--seconds 60"] {
            assert!(parse(&format!("{line} {seconds}")).is_ok(), "{line} {seconds}");
        }
        for seconds in ["-s 0", "-s 61", "-s nan"] {
            assert!(parse(&format!("{line} {seconds}")).is_err(), "{line} {seconds}");
        }
    }
    let Command::Hotspots(args) = parse("sluice hotspots --live -s 0.25").unwrap().command else { panic!() };
    assert_eq!(args.seconds_ms, 250);
    assert!(parse("sluice heap --snapshot").is_ok(), "its default counts as no wish");
}
