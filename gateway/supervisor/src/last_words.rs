//! Error that a worker wrote to stderr before it exited: for apps that handle their uncaught errors themselves, print
//! them and exit.

use std::path::Path;

use crate::App;

/// Longest text that is returned, characters.
const CHARS_MAX: usize = 300;
/// Lines that may follow the stack: an empty one, and Node.js's version.
const AFTER_MAX: usize = 3;
/// Shortest value of an environment variable that counts as a secret. A shorter one would also be found in ordinary words.
const SECRET_LENGTH_MIN: usize = 6;
/// Parts of the names of environment variables whose values are left out.
const SECRET: [&str; 10] = ["key", "token", "secret", "pass", "_pwd", "credential", "auth", "dsn", "_url", "_uri"];

/// Line above the stack that `tail` ends with, and the innermost place in the app's own code. `None` if the tail ends with
/// no stack.
pub(crate) fn error(tail: &str, app: &App) -> Option<String> {
    let (line, place) = last_error(tail, &app.cwd)?;
    let place = place.map_or_else(String::new, |place| format!(" ({place})"));
    let own = app.env.iter().map(|(name, value)| (name.clone(), value.clone()));
    let secrets = own.chain(
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))),
    );
    Some(without_secrets(line.chars().take(CHARS_MAX).collect(), secrets) + &place)
}

fn last_error<'t>(tail: &'t str, cwd: &Path) -> Option<(&'t str, Option<String>)> {
    let lines: Vec<&str> = tail.lines().collect();
    let last = lines.iter().rposition(|line| is_frame(line))?;
    if lines[last + 1..].iter().filter(|line| !line.trim().is_empty()).count() > AFTER_MAX {
        return None;
    }
    let first = lines[..=last].iter().rposition(|line| !is_frame(line)).map_or(0, |above| above + 1);
    let error = lines[..first].last()?.trim();
    let places: Vec<&str> = lines[first..=last].iter().filter_map(|line| place_of(line)).collect();
    let own = places.iter().find(|place| !place.contains("/node_modules/")).or(places.first());
    let place = own.map(|place| {
        let dir = format!("{}/", cwd.display());
        place.strip_prefix(&dir).unwrap_or(place).to_owned()
    });
    (!error.is_empty()).then_some((error, place))
}

fn is_frame(line: &str) -> bool {
    line.starts_with(' ') && line.trim_start().starts_with("at ")
}

/// `file:line:column` of a frame that is in a file.
fn place_of(frame: &str) -> Option<&str> {
    let frame = frame.trim();
    let place = match frame.rfind('(') {
        Some(at) => frame[at + 1..].strip_suffix(')')?,
        None => frame.strip_prefix("at ")?.trim_start_matches("async "),
    };
    let place = place.strip_prefix("file://").unwrap_or(place);
    place.starts_with('/').then_some(place)
}

fn without_secrets(text: String, variables: impl Iterator<Item = (String, String)>) -> String {
    variables
        .filter(|(name, value)| {
            let name = name.to_lowercase();
            value.len() >= SECRET_LENGTH_MIN && SECRET.iter().any(|word| name.contains(word))
        })
        .fold(text, |text, (name, value)| text.replace(&value, &format!("[{name}]")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STACK: &str = "starting\nunhandled Error: pool gone\n    at connect (/srv/shop/node_modules/pg/lib/client.js:9:1)\n    \
                         at load (file:///srv/shop/src/load.js:12:7)\n    at node:internal/timers:1:2\n\nNode.js v22.1.0\n";

    #[test]
    fn error_is_the_line_above_the_last_stack_with_the_place_in_the_app() {
        let found = last_error(STACK, Path::new("/srv/shop")).unwrap();
        assert_eq!(found, ("unhandled Error: pool gone", Some("src/load.js:12:7".to_owned())));
        let (_, place) = last_error(STACK, Path::new("/elsewhere")).unwrap();
        assert_eq!(place.as_deref(), Some("/srv/shop/src/load.js:12:7"));
        assert_eq!(last_error("Error: x\n    at node:fs:1:2", Path::new("/")), Some(("Error: x", None)));
    }

    #[test]
    fn stack_that_other_lines_follow_is_no_cause() {
        assert_eq!(last_error(&format!("{STACK}a\nb\nc\n"), Path::new("/")), None);
        for tail in ["", "look at me\n", "    at x (/a.js:1:1)\n"] {
            assert_eq!(last_error(tail, Path::new("/")), None, "{tail}");
        }
    }

    #[test]
    fn values_of_secret_variables_are_left_out() {
        let variables = [("DATABASE_URL", "postgres://u:hunter2@db/x"), ("API_KEY", "k"), ("MODE", "production")];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let text = "cannot reach postgres://u:hunter2@db/x in production, k".to_owned();
        assert_eq!(without_secrets(text, variables.into_iter()), "cannot reach [DATABASE_URL] in production, k");
    }
}
