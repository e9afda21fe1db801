//! Error that a worker wrote to stderr before it exited: for apps that handle their uncaught errors themselves, print
//! them and exit.

use std::cmp::Reverse;
use std::path::Path;

use crate::App;

/// Maximum length of an exception's text, characters.
const CHARS_MAX: usize = 300;
/// Maximum number of lines after the stack. An empty one, and Node.js's version.
const AFTER_MAX: usize = 3;
/// Shortest value of an environment variable that counts as a secret. A shorter one would also be found in ordinary words.
const SECRET_LENGTH_MIN: usize = 6;
/// Parts of the names of environment variables whose values are left out, as in `packages/preload/src/control/thrown.ts`.
const SECRET: [&str; 13] = [
    "key",
    "token",
    "secret",
    "pass",
    "credential",
    "auth",
    "dsn",
    "cookie",
    "session",
    "connection",
    "salt",
    "_url",
    "_uri",
];

/// Line above the stack that `tail` ends with, and the innermost place in the app's own code. `None` if the tail ends with
/// no stack.
pub(crate) fn error(tail: &str, app: &App) -> Option<String> {
    let own = app.env.iter().map(|(name, value)| (name.clone(), value.clone()));
    let variables = own.chain(
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))),
    );
    cleaned(tail, &app.cwd, variables)
}

fn cleaned(tail: &str, cwd: &Path, variables: impl Iterator<Item = (String, String)>) -> Option<String> {
    let (line, place) = last_error(tail, cwd)?;
    let place = place.map_or_else(String::new, |place| format!(" ({place})"));
    // A secret that the cut has shortened would not be found.
    Some(without_secrets(line, variables).chars().take(CHARS_MAX).collect::<String>() + &place)
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

/// Replaces values of variables with secret names, and passwords of URLs in all variables, by the variable's name.
fn without_secrets(text: &str, variables: impl Iterator<Item = (String, String)>) -> String {
    let mut secrets = Vec::new();
    for (name, value) in variables {
        secrets.extend(password_of(&value).map(|password| (password.to_owned(), name.clone())));
        if is_secret(&name) {
            secrets.push((value, name));
        }
    }
    secrets.retain(|(secret, _)| secret.chars().count() >= SECRET_LENGTH_MIN);
    // The longest first: a short one may be a part of it.
    secrets.sort_by_key(|(secret, _)| Reverse(secret.len()));
    secrets.iter().fold(text.to_owned(), |text, (secret, name)| text.replace(secret, &format!("[{name}]")))
}

fn is_secret(name: &str) -> bool {
    let name = name.to_lowercase();
    // PWD and OLDPWD are the shell's directories.
    SECRET.iter().any(|word| name.contains(word)) || name != "oldpwd" && name.find("pwd").is_some_and(|at| at > 0)
}

/// Password of a URL. `None` if the value is none, or has no password.
fn password_of(value: &str) -> Option<&str> {
    let (scheme, rest) = value.split_once("://")?;
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.chars().all(|letter| letter.is_ascii_alphanumeric() || "+.-".contains(letter));
    let authority = rest.split(['/', '?', '#']).next()?;
    let (user, _) = authority.rsplit_once('@').filter(|_| is_scheme)?;
    user.split_once(':').map(|(_, password)| password)
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

    /// The preload's test runs them, too.
    const SECRETS: &str = include_str!("last_words_secrets.json");

    #[test]
    fn values_of_secret_variables_and_passwords_of_urls_are_left_out() {
        let cases: Vec<serde_json::Value> = serde_json::from_str(SECRETS).unwrap();
        for case in cases {
            let variables = case["variables"].as_object().unwrap().iter();
            let variables = variables.map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned()));
            let shown = without_secrets(case["text"].as_str().unwrap(), variables);
            assert_eq!(shown, case["shown"].as_str().unwrap(), "{}", case["why"]);
        }
    }

    #[test]
    fn a_secret_at_the_cut_does_not_show_its_head() {
        let variables = [("SHOP_TOKEN".to_owned(), "tok_0123456789abcdefgh".to_owned())];
        let head = "x".repeat(CHARS_MAX - 10);
        let tail = format!("{head}tok_0123456789abcdefgh\n    at a (/srv/a.js:1:2)");
        let found = cleaned(&tail, Path::new("/elsewhere"), variables.into_iter()).unwrap();
        assert_eq!(found, format!("{head}[SHOP_TOKE (/srv/a.js:1:2)"));
    }
}
