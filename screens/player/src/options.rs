//! Arguments of the command line.

use std::path::PathBuf;
use std::time::Duration;

use lexopt::prelude::{Long, Short, Value};

use crate::keys;
use crate::player::Setup;

/// Text of `--help`.
pub const HELP: &str = "\
Plays an app of @sluice/screens without a browser: JavaScript on QuickJS, which only interprets; flexbox, text and drawing in software.

Usage:
  sluice-player BUNDLE [options]        play an app, a script or ES module in one file
  sluice-player --replay FILE [options] draw a recorded stream, or one in the text form, without JavaScript
  sluice-player run SCRIPT [words]      run a script whose surface only counts, as benchmarks do; words are in scriptArgs

What to write:
  --png FILE        the first settled frame, or that of --at; with --keys, the one after the last key
  --at MS           moment of that frame, milliseconds of the player's clock
  --frames DIR      a PNG of each frame that changed
  --report[=FILE]   figures as JSON: frame times, keys, memory, damaged pixels
  --record FILE     the stream, for --replay
  --window          a window of the desktop; needs a build with --features window

What happens:
  --size 1920x1080  pixels of the screen
  --keys STEPS      \"ArrowRight, wait 100, Enter, hold ArrowDown 800, memory 1\", from the first settled frame on;
                    Space and Comma are the keys of those characters
  --keys-file FILE  the same, in a file
  --clock virtual   time counted by frames: the same pictures on every run (default without --window); or: real
  --timeout MS      ends a run that does not settle so long after the last key (default 30000 of the player's clock)

What the app may do:
  --allow-net HOST  fetch and pictures from this host, or HOST:PORT; may be repeated; * for every host
  --memory MB       bytes of its heap (default 256)
  --stack KB        bytes of its stack (default 1024, at most 16384)
  --turn-limit MS   how long it may run without a pause (default 10000)
  --image-memory MB bound of decoded pictures; larger ones are refused (default 128)
  --font FILE       a font; may be repeated; the first one is sans-serif
  --no-system-fonts those of --font alone

Examples:
  sluice-player app.js --png first.png
  sluice-player app.js --keys \"ArrowRight, ArrowRight, Enter\" --png detail.png --report
  sluice-player app.js --record app.stream && sluice-player --replay app.stream --png again.png

Exit codes: 0; 1 if the app threw, did not settle, or a file cannot be written; 2 if an argument is wrong.
";

/// What to do.
#[derive(Debug)]
pub enum Task {
    /// Print [`HELP`].
    Help,
    /// Print the version.
    Version,
    /// Run a script with words.
    Run(PathBuf, Vec<String>, Box<Setup>),
    /// Play.
    Play(Box<Play>),
}

/// A run with a screen.
#[derive(Debug, Default)]
pub struct Play {
    /// The app.
    pub bundle: Option<PathBuf>,
    /// A recorded stream in its place.
    pub replay: Option<PathBuf>,
    /// File for the picture.
    pub png: Option<PathBuf>,
    /// Moment of the picture.
    pub at: Option<f64>,
    /// Folder for pictures of all frames.
    pub frames: Option<PathBuf>,
    /// Where figures go: `None` for nowhere, an empty path for the standard output.
    pub report: Option<PathBuf>,
    /// Whether there is a window.
    pub window: bool,
    /// Milliseconds after which a run ends that does not settle.
    pub timeout: f64,
    /// The rest.
    pub setup: Setup,
}

/// Task of arguments.
///
/// # Errors
///
/// What is wrong, and what to write.
pub fn parse(arguments: impl IntoIterator<Item = std::ffi::OsString>) -> Result<Task, String> {
    let mut parser = lexopt::Parser::from_args(arguments);
    let mut play = Play { timeout: 30_000.0, ..Play::default() };
    let mut clock = None;
    let text = |error: lexopt::Error| error.to_string();
    while let Some(argument) = parser.next().map_err(text)? {
        let option = match argument {
            Short('h') => return Ok(Task::Help),
            Short('V') => return Ok(Task::Version),
            Value(word) if play.bundle.is_none() && word == "run" => return run(&mut parser, play.setup),
            Value(word) if play.bundle.is_none() => {
                play.bundle = Some(word.into());
                continue;
            }
            Value(word) => return Err(format!("one bundle at a time, and {} is a second", word.display())),
            Short(letter) => return Err(unknown(&format!("-{letter}"))),
            Long(name) => name.to_owned(),
        };
        match option.as_str() {
            "help" => return Ok(Task::Help),
            "version" => return Ok(Task::Version),
            "window" if cfg!(feature = "window") => play.window = true,
            "window" => {
                return Err(
                    "this build has no window: build it with cargo build --release --features window".to_owned()
                );
            }
            "report" => play.report = Some(parser.optional_value().unwrap_or_default().into()),
            "no-system-fonts" => play.setup.system_fonts = false,
            name => {
                if !WITH_VALUE.contains(&name) {
                    return Err(unknown(&format!("--{name}")));
                }
                let value = parser.value().map_err(|_| format!("--{name} needs a value: see sluice-player --help"))?;
                if !set_path(&mut play, name, value.clone().into()) {
                    let value = value.into_string().map_err(|_| format!("the value of --{name} is no text"))?;
                    set(&mut play, &mut clock, name, &value)?;
                }
            }
        }
    }
    if play.bundle.is_some() == play.replay.is_some() {
        return Err(
            "give a bundle (sluice-player app.js) or a stream (--replay FILE): see sluice-player --help".to_owned()
        );
    }
    play.setup.is_virtual = clock.unwrap_or(!play.window);
    if play.window && play.setup.is_virtual {
        return Err("a window needs --clock real".to_owned());
    }
    if let Some(bundle) = &play.bundle {
        play.setup.sources.folder = bundle.parent().map(PathBuf::from).unwrap_or_default();
    }
    Ok(Task::Play(Box::new(play)))
}

const WITH_VALUE: [&str; 16] = [
    "png",
    "at",
    "frames",
    "record",
    "replay",
    "size",
    "keys",
    "keys-file",
    "clock",
    "timeout",
    "allow-net",
    "memory",
    "stack",
    "turn-limit",
    "image-memory",
    "font",
];

fn unknown(option: &str) -> String {
    format!("{option} is unknown: see sluice-player --help")
}

fn run(parser: &mut lexopt::Parser, setup: Setup) -> Result<Task, String> {
    let mut words = parser.raw_args().map_err(|error| error.to_string())?;
    let script = words.next().ok_or("run needs a script: sluice-player run SCRIPT [words]")?;
    let words = words.map(|word| word.into_string().map_err(|word| format!("{} is no text", word.display())));
    Ok(Task::Run(script.into(), words.collect::<Result<_, _>>()?, Box::new(setup)))
}

fn set_path(play: &mut Play, name: &str, path: PathBuf) -> bool {
    match name {
        "png" => play.png = Some(path),
        "frames" => play.frames = Some(path),
        "record" => play.setup.record = Some(path),
        "replay" => {
            play.setup.sources.folder = path.parent().map(PathBuf::from).unwrap_or_default();
            play.replay = Some(path);
        }
        _ => return false,
    }
    true
}

/// A host as `--allow-net` takes it, in small letters as addresses are compared.
fn host(value: &str) -> Result<String, String> {
    let is_host =
        value == "*" || value.parse::<ureq::http::uri::Authority>().is_ok_and(|host| !host.as_str().contains('@'));
    if is_host && !value.is_empty() {
        return Ok(value.to_ascii_lowercase());
    }
    Err(format!("--allow-net {value}: give a host, as in tv.example or 127.0.0.1:8080, without http:// and path"))
}

fn set(play: &mut Play, clock: &mut Option<bool>, name: &str, value: &str) -> Result<(), String> {
    let setup = &mut play.setup;
    let number = |least: f64, most: f64| {
        let number: Option<f64> = value.parse().ok();
        let number = number.filter(|number| (least..=most).contains(number));
        number.ok_or_else(|| format!("--{name} {value}: give a number from {least} to {most}"))
    };
    let read = |path: &str| std::fs::read(path).map_err(|error| format!("{path} cannot be read: {error}"));
    match name {
        "at" => play.at = Some(number(0.0, 3_600_000.0)?),
        "timeout" => play.timeout = number(0.0, 3_600_000.0)?,
        "memory" => setup.limits.memory = (number(1.0, 65_536.0)? * 1_048_576.0) as usize,
        "stack" => setup.limits.stack = (number(16.0, 16_384.0)? * 1024.0) as usize,
        "turn-limit" => setup.limits.turn = Duration::from_secs_f64(number(1.0, 3_600_000.0)? / 1000.0),
        "image-memory" => setup.image_bytes = (number(0.0, 65_536.0)? * 1_048_576.0) as usize,
        "allow-net" => setup.sources.hosts.push(host(value)?),
        "font" => {
            let font = read(value)?;
            if !crate::text::is_font(&font) {
                return Err(format!("{value} is no font"));
            }
            setup.fonts.push(font);
        }
        "keys" => setup.keys = keys::parse(value)?,
        "keys-file" => setup.keys = keys::parse(&String::from_utf8_lossy(&read(value)?))?,
        "clock" => {
            *clock = Some(match value {
                "virtual" => true,
                "real" => false,
                _ => return Err(format!("--clock {value}: give virtual or real")),
            });
        }
        "size" => {
            let side = |text: &str| text.parse().ok().filter(|side| (1..=crate::scene::SIDE_MAX).contains(side));
            let sides = value.split_once('x').and_then(|(width, height)| Some((side(width)?, side(height)?)));
            setup.size = sides.ok_or_else(|| format!("--size {value}: give it like 1920x1080, at most 8192 a side"))?;
        }
        _ => return Err(unknown(&format!("--{name}"))),
    }
    Ok(())
}
