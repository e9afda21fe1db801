//! The player's command line.

use std::cell::RefCell;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::rc::Rc;

use sluice_player::clock::Clock;
use sluice_player::options::{self, HELP, Play, Task};
use sluice_player::output;
use sluice_player::player::{Player, Program, Setup};
use sluice_player::script::{Engine, Surface};
use sluice_player::stream::{Batch, Reader};

/// Layout and drawing go down the tree by calls.
const STACK_BYTES: usize = 128 << 20;

fn main() -> ExitCode {
    let task = match options::parse(std::env::args_os().skip(1)) {
        Ok(task) => task,
        Err(problem) => {
            output::tell(&format!("sluice-player: {problem}"));
            return ExitCode::from(2);
        }
    };
    let result = match task {
        Task::Help => {
            output::print(HELP);
            Ok(0)
        }
        Task::Version => {
            output::print(concat!("sluice-player ", env!("CARGO_PKG_VERSION"), "\n"));
            Ok(0)
        }
        #[cfg(feature = "window")]
        Task::Play(task) if task.window => window(*task),
        task => std::thread::Builder::new()
            .stack_size(STACK_BYTES)
            .spawn(move || match task {
                Task::Play(task) => play(*task),
                Task::Run(script, words, setup) => run(&script, &words, *setup),
                Task::Help | Task::Version => Ok(0),
            })
            .map_err(|error| error.to_string())
            .and_then(|thread| thread.join().map_err(|_| "the player panicked".to_owned())?),
    };
    match result {
        Ok(0) if !output::has_failed() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(problem) => {
            output::tell(&format!("sluice-player: {problem}"));
            ExitCode::FAILURE
        }
    }
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("{} cannot be read: {error}", path.display()))
}

fn source(path: &Path) -> Result<String, String> {
    String::from_utf8(read(path)?).map_err(|_| format!("{} is no JavaScript: it is not UTF-8", path.display()))
}

fn started(task: &mut Play) -> Result<Player, String> {
    let mut problem = None;
    let program = match (&task.bundle, &task.replay) {
        (Some(bundle), _) => Program::Bundle(bundle.display().to_string(), source(bundle)?),
        (None, Some(stream)) => {
            let named = |error| format!("{}: {error}", stream.display());
            let bytes = read(stream)?;
            Program::Stream(match std::str::from_utf8(&bytes) {
                Ok(text) if !bytes.starts_with(b"SLUICES") => {
                    vec![sluice_player::stream::parse(text).map_err(named)?]
                }
                // Batches before the first that is not whole are played.
                _ => Reader::new(&bytes)
                    .map_err(named)?
                    .map_while(|batch| batch.map_err(|error| problem = Some(named(error))).ok())
                    .collect(),
            })
        }
        (None, None) => return Err("there is nothing to play".to_owned()),
    };
    let mut player = Player::new(std::mem::take(&mut task.setup), program)?;
    if let Some(problem) = problem {
        player.fail(&problem);
    }
    Ok(player)
}

/// Plays without a window. Returns the number of errors.
fn play(mut task: Play) -> Result<u32, String> {
    // The time to settle begins with the last key.
    let keys_end = task.setup.keys.last().map_or(0.0, |step| step.at);
    let mut player = started(&mut task)?;
    if let Some(folder) = &task.frames {
        std::fs::create_dir_all(folder).map_err(|error| format!("{} cannot be made: {error}", folder.display()))?;
    }
    let mut drawn = 0;
    let mut unsettled = 0;
    loop {
        player.wait();
        let areas = player.step();
        if let (Some(folder), false) = (&task.frames, areas.is_empty()) {
            drawn += 1;
            write(
                &folder.join(format!("frame-{drawn:05}.png")),
                &player.with_scene(sluice_player::scene::Scene::png)?,
            )?;
        }
        let now = player.now();
        let is_over = match task.at {
            Some(at) => now >= at,
            None => player.is_settled(),
        };
        if is_over || player.is_stopped() {
            break;
        }
        if now > (keys_end + task.timeout).max(task.at.unwrap_or(0.0)) {
            output::tell(&format!(
                "sluice-player: the app did not settle in {} ms: --at MS takes a picture of a moment",
                task.timeout
            ));
            unsettled = 1;
            break;
        }
    }
    Ok(finish(&task, &mut player) + unsettled)
}

/// Writes all that can be written. Returns the number of errors.
fn finish(task: &Play, player: &mut Player) -> u32 {
    let mut results = vec![player.finish()];
    if let Some(path) = &task.png {
        let picture = player.with_scene(sluice_player::scene::Scene::png);
        results.push(picture.and_then(|picture| write(path, &picture)));
    }
    if player.with_scene(|scene| scene.tree.is_empty()) {
        output::tell("sluice-player: the screen is empty: no batch of the app placed a widget");
    }
    if let Some(path) = &task.report {
        let report = format!("{:#}\n", player.report());
        results.push(if path.as_os_str().is_empty() {
            let written = std::io::stdout().lock().write_all(report.as_bytes());
            written.map_err(|error| format!("the report cannot be written: {error}"))
        } else {
            write(path, report.as_bytes())
        });
    }
    let problems = results.into_iter().filter_map(Result::err);
    let failures = problems.inspect(|problem| output::tell(&format!("sluice-player: {problem}"))).count();
    player.failures().saturating_add(failures as u32)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    std::fs::write(path, bytes).map_err(|error| format!("{} cannot be written: {error}", path.display()))
}

#[cfg(feature = "window")]
fn window(mut task: Play) -> Result<u32, String> {
    let player = started(&mut task)?;
    let mut player = sluice_player::window::run(player)?;
    Ok(finish(&task, &mut player))
}

/// A surface that only counts.
struct Counter {
    size: (u32, u32),
    batches: u64,
    words: u64,
}

impl Surface for Counter {
    fn size(&self) -> (u32, u32) {
        self.size
    }

    fn commit(&mut self, batch: &Batch) -> Result<(), String> {
        self.batches += 1;
        self.words += batch.words.len() as u64;
        Ok(())
    }
}

/// Runs a script until it has neither timers nor requests. Returns the number of errors.
fn run(script: &Path, words: &[String], setup: Setup) -> Result<u32, String> {
    let counter = Rc::new(RefCell::new(Counter { size: setup.size, batches: 0, words: 0 }));
    let clock = Rc::new(Clock::real());
    let mut sources = setup.sources;
    sources.folder = script.parent().map(Path::to_path_buf).unwrap_or_default();
    let engine = Engine::new(setup.limits, clock.clone(), sources, counter)?;
    engine.set_up_bench()?;
    engine.set_arguments(words)?;
    engine.run(&script.display().to_string(), &source(script)?);
    while !engine.is_stopped() {
        engine.run_timers();
        engine.take_answers(false);
        if engine.run_idle(50.0) {
            continue;
        }
        match engine.next_timer(true) {
            _ if engine.fetches() > 0 => clock.wait(clock.now() + 1.0),
            Some(due) => clock.wait(due),
            None => break,
        }
    }
    Ok(engine.failures())
}
