//! Keys of a script: `ArrowRight, wait 100, Enter, hold ArrowDown 800, memory 1`.

/// What happens at a moment.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// Phase (0 pressed, 1 repeated, 2 released) and name.
    Key(i32, String),
    /// Memory of the device: 0 enough, 1 low, 2 almost none.
    Memory(i32),
}

/// An act with its moment, milliseconds from the start of the script.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Milliseconds.
    pub at: f64,
    /// What happens.
    pub act: Act,
}

/// How long a key is pressed.
const PRESS_MS: f64 = 50.0;
/// Pause after a key.
const PAUSE_MS: f64 = 50.0;
/// How long a key is held before it repeats.
const REPEAT_DELAY_MS: f64 = 400.0;
/// Time between repetitions.
const REPEAT_MS: f64 = 80.0;

/// Steps of a script, in order. Steps are separated by commas or line ends; `//` begins a remark.
///
/// # Errors
///
/// The first step that is none, with what it could be.
pub fn parse(script: &str) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    let mut at = 0.0;
    let lines = script.lines().map(|line| line.split("//").next().unwrap_or_default());
    for step in lines.flat_map(|line| line.split(',')).map(str::trim).filter(|step| !step.is_empty()) {
        let words: Vec<&str> = step.split_whitespace().collect();
        let milliseconds = |word: &str| {
            let value: Option<f64> = word.strip_suffix("ms").unwrap_or(word).parse().ok();
            value
                .filter(|value| (0.0..=3_600_000.0).contains(value))
                .ok_or(format!("\"{word}\" is no number of milliseconds"))
        };
        let mut push = |at: f64, phase: i32, name: &str| steps.push(Step { at, act: Act::Key(phase, named(name)) });
        match words[..] {
            ["wait", time] => at += milliseconds(time)?,
            ["hold", key, time] if is_key(key) => {
                let time = milliseconds(time)?;
                push(at, 0, key);
                let mut repeated = REPEAT_DELAY_MS;
                while repeated < time {
                    push(at + repeated, 1, key);
                    repeated += REPEAT_MS;
                }
                push(at + time, 2, key);
                at += time + PAUSE_MS;
            }
            ["memory", level] => {
                let level = level.parse().ok().filter(|level| (0..=2).contains(level));
                let level = level.ok_or_else(|| format!("\"{step}\": a level of memory is 0, 1 or 2"))?;
                steps.push(Step { at, act: Act::Memory(level) });
            }
            [key] if !matches!(key, "wait" | "hold" | "memory") && is_key(key) => {
                push(at, 0, key);
                push(at + PRESS_MS, 2, key);
                at += PRESS_MS + PAUSE_MS;
            }
            _ => {
                return Err(format!(
                    "\"{step}\" is no step: write a key (\"ArrowRight\"), \"wait 100\", \"hold ArrowDown 800\" or \"memory 1\""
                ));
            }
        }
    }
    Ok(steps)
}

/// Whether it may be a key's name. There are too many to know all, but four arrows.
fn is_key(name: &str) -> bool {
    name.strip_prefix("Arrow").is_none_or(|direction| matches!(direction, "Up" | "Right" | "Down" | "Left"))
}

fn named(name: &str) -> String {
    match name {
        "Space" => " ",
        "Comma" => ",",
        name => name,
    }
    .to_owned()
}
