//! The loop of the player: keys, timers, the app, frames.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::PathBuf;
use std::rc::Rc;

use crate::clock::{Clock, FRAME_MS};
use crate::geometry::Pixels;
use crate::keys::{Act, Step};
use crate::net::Sources;
use crate::output;
use crate::paint::images::Images;
use crate::report::Report;
use crate::scene::Scene;
use crate::script::{Engine, Limits, Surface};
use crate::stream::{Batch, encode, prologue};
use crate::text::Fonts;

/// What a run is made of.
#[derive(Debug)]
pub struct Setup {
    /// Width and height.
    pub size: (u32, u32),
    /// Whether time is counted by frames.
    pub is_virtual: bool,
    /// What the app may read.
    pub sources: Sources,
    /// Bounds of the app.
    pub limits: Limits,
    /// Bytes of pictures that are kept.
    pub image_bytes: usize,
    /// Font files.
    pub fonts: Vec<Vec<u8>>,
    /// Whether fonts of the system are used too.
    pub system_fonts: bool,
    /// Keys, from the first settled frame on.
    pub keys: Vec<Step>,
    /// File for the stream.
    pub record: Option<PathBuf>,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            size: (1920, 1080),
            is_virtual: true,
            sources: Sources::default(),
            limits: Limits::default(),
            image_bytes: 128 << 20,
            fonts: Vec::new(),
            system_fonts: true,
            keys: Vec::new(),
            record: None,
        }
    }
}

/// What to show.
#[derive(Debug)]
pub enum Program {
    /// A bundle: its name and source.
    Bundle(String, String),
    /// Batches of a recorded stream, one a frame.
    Stream(Vec<Batch>),
}

/// The screen as the app's surface.
struct Shown {
    scene: Scene,
    report: Report,
    causes: Vec<i32>,
    record: Option<BufWriter<File>>,
    /// Why the recording ended early.
    problem: Option<String>,
}

impl Surface for Shown {
    fn size(&self) -> (u32, u32) {
        (self.scene.width(), self.scene.height())
    }

    fn commit(&mut self, batch: &Batch) -> Result<(), String> {
        self.scene.commit(batch).map_err(|error| error.to_string())?;
        self.report.commit(batch.cause);
        if batch.cause != 0 {
            self.causes.push(batch.cause);
        }
        if let Some(file) = &mut self.record {
            let mut bytes = Vec::new();
            encode(batch, &mut bytes);
            if let Err(error) = file.write_all(&bytes) {
                self.problem = Some(format!("the stream cannot be recorded: {error}"));
                self.record = None;
            }
        }
        Ok(())
    }
}

/// A running app with its screen.
pub struct Player {
    engine: Option<Engine>,
    shown: Rc<RefCell<Shown>>,
    clock: Rc<Clock>,
    keys: VecDeque<Step>,
    /// Moment at which the script of keys began.
    keys_start: Option<f64>,
    sequence: i32,
    stream: VecDeque<Batch>,
    frame: u64,
    quiet: bool,
    failures: u32,
}

impl std::fmt::Debug for Player {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Player").field("frame", &self.frame).finish_non_exhaustive()
    }
}

impl Player {
    /// A screen whose app has run once.
    ///
    /// # Errors
    ///
    /// What is wrong, for people. Errors of the app are counted, not returned.
    pub fn new(setup: Setup, program: Program) -> Result<Self, String> {
        let clock = Rc::new(if setup.is_virtual { Clock::counted() } else { Clock::real() });
        let fonts = Fonts::new(setup.fonts, setup.system_fonts);
        if fonts.is_empty() {
            output::tell("sluice-player: there is no font, so text is not shown: give one with --font FILE");
        }
        let images = Images::new(setup.sources.clone(), setup.image_bytes);
        let record = setup.record.map(|path| {
            let problem = |error: std::io::Error| format!("{} cannot be written: {error}", path.display());
            let mut file = BufWriter::new(File::create(&path).map_err(problem)?);
            file.write_all(&prologue()).map_err(problem)?;
            Ok::<_, String>(file)
        });
        let shown = Rc::new(RefCell::new(Shown {
            scene: Scene::new(setup.size.0, setup.size.1, fonts, images),
            report: Report::new(),
            causes: Vec::new(),
            record: record.transpose()?,
            problem: None,
        }));
        let mut player = Self {
            engine: None,
            shown,
            clock,
            keys: setup.keys.into(),
            keys_start: None,
            sequence: 0,
            stream: VecDeque::new(),
            frame: 0,
            quiet: false,
            failures: 0,
        };
        match program {
            Program::Stream(batches) => player.stream = batches.into(),
            Program::Bundle(name, source) => {
                let surface: Rc<RefCell<dyn Surface>> = player.shown.clone();
                let engine = Engine::new(setup.limits, player.clock.clone(), setup.sources, surface)?;
                engine.run(&name, &source);
                player.engine = Some(engine);
            }
        }
        Ok(player)
    }

    /// Milliseconds of the player's clock.
    pub fn now(&self) -> f64 {
        self.clock.now()
    }

    /// Frames that have drawn something.
    pub fn frames(&self) -> usize {
        self.shown.borrow().report.frames()
    }

    /// A look at the screen.
    pub fn with_scene<T>(&self, look: impl FnOnce(&Scene) -> T) -> T {
        look(&self.shown.borrow().scene)
    }

    /// Gives the screen another size.
    pub fn resize(&mut self, width: u32, height: u32) {
        self.shown.borrow_mut().scene.resize(width, height);
    }

    /// A key: `phase` 0 pressed, 1 repeated, 2 released.
    pub fn key(&mut self, phase: i32, name: &str) {
        self.sequence = self.sequence.wrapping_add(1).max(1);
        self.deliver();
        let mut shown = self.shown.borrow_mut();
        if phase < 2 {
            shown.report.key(name, self.sequence);
        }
        shown.scene.events.key(phase, self.sequence, self.clock.now(), name);
        drop(shown);
        self.deliver();
    }

    fn deliver(&self) {
        let mut events = std::mem::take(&mut self.shown.borrow_mut().scene.events);
        if let Some(engine) = &self.engine {
            engine.deliver(&mut events);
        }
    }

    fn act(&mut self, act: &Act) {
        match act {
            Act::Key(phase, name) => self.key(*phase, name),
            Act::Memory(level) => {
                self.shown.borrow_mut().scene.events.memory(*level);
                self.deliver();
            }
        }
    }

    /// Runs what is due and draws a frame. Returns the rectangles that were drawn.
    pub fn step(&mut self) -> Vec<Pixels> {
        let waits = self.clock.is_virtual();
        self.shown.borrow_mut().scene.take_images(waits);
        while let Some(engine) = &self.engine {
            engine.take_answers(waits);
            if !waits || engine.fetches() == 0 || engine.is_stopped() {
                break;
            }
        }
        self.replay();
        while let (Some(start), Some(step)) = (self.keys_start, self.keys.front()) {
            if start + step.at > self.clock.now() || self.is_stopped() {
                break;
            }
            if let Some(step) = self.keys.pop_front() {
                self.act(&step.act);
            }
        }
        if let Some(engine) = self.engine.as_ref().filter(|engine| !engine.is_stopped()) {
            engine.run_timers();
        }
        let areas = self.draw();
        if !self.is_stopped() {
            self.deliver();
            self.idle();
        }
        self.frame += 1;
        self.quiet = self.is_quiet();
        if self.quiet && self.keys_start.is_none() {
            self.keys_start = Some(self.clock.now());
        }
        areas
    }

    fn replay(&mut self) {
        let Some(batch) = self.stream.pop_front() else { return };
        let result = self.shown.borrow_mut().commit(&batch);
        if let Err(problem) = result {
            self.fail(&format!("the stream has a batch that breaks a rule: {problem}"));
            self.stream.clear();
        }
    }

    fn draw(&self) -> Vec<Pixels> {
        let mut shown = self.shown.borrow_mut();
        let Shown { scene, report, causes, .. } = &mut *shown;
        if !scene.is_changing(true) {
            return Vec::new();
        }
        let drawn = scene.frame(self.clock.now());
        let causes = std::mem::take(causes);
        if !drawn.areas.is_empty() {
            report.frame(&drawn, &causes, scene.tree.len());
        }
        for problem in scene.problems.drain(..) {
            output::tell(&format!("sluice-player: {problem}"));
        }
        drawn.areas
    }

    fn idle(&self) {
        let Some(engine) = &self.engine else { return };
        let end = (self.clock.now() / FRAME_MS).floor().mul_add(FRAME_MS, FRAME_MS);
        // As many as wait now: what they ask for waits for the next frame.
        for _ in 0..1000 {
            let left = if self.clock.is_virtual() { 8.0 } else { end - self.clock.now() };
            if left < 1.0 || engine.is_stopped() || !engine.run_idle(left) || self.clock.is_virtual() {
                break;
            }
        }
    }

    /// Whether the app ran too long.
    pub fn is_stopped(&self) -> bool {
        self.engine.as_ref().is_some_and(Engine::is_stopped)
    }

    fn is_quiet(&self) -> bool {
        let shown = self.shown.borrow();
        let scene = &shown.scene;
        let soon = self.clock.now() + 1000.0;
        let app_waits = self.engine.as_ref().is_none_or(|engine| {
            let has_timer = engine.next_timer(false).is_some_and(|due| due < soon);
            engine.fetches() == 0 && !engine.has_idle() && !has_timer
        });
        app_waits
            && self.stream.is_empty()
            && !scene.is_changing(false)
            && scene.painter.images.pending() == 0
            && scene.events.is_empty()
    }

    /// Whether nothing will change by itself any more, but animations without end and timers that repeat or are a second away; and all
    /// keys have been pressed.
    pub fn is_settled(&self) -> bool {
        self.quiet && self.keys.is_empty() && self.keys_start.is_some_and(|start| self.now() >= start)
    }

    /// Moment of the next step, milliseconds of the clock.
    pub fn next_step(&self) -> f64 {
        if self.clock.is_virtual() {
            return self.frame as f64 * FRAME_MS;
        }
        let now = self.clock.now();
        let next_frame = (now / FRAME_MS).floor().mul_add(FRAME_MS, FRAME_MS);
        let shown = self.shown.borrow();
        let engine = self.engine.as_ref();
        let waits = shown.scene.painter.images.pending() > 0
            || engine.is_some_and(|engine| engine.fetches() > 0 || engine.has_idle())
            || !self.stream.is_empty();
        if waits || shown.scene.is_changing(true) || !shown.scene.events.is_empty() {
            return next_frame;
        }
        let key = self.keys.front().zip(self.keys_start).map(|(step, start)| start + step.at);
        let timer = engine.and_then(|engine| engine.next_timer(true));
        [key, timer].into_iter().flatten().fold(now + 250.0, f64::min).max(now)
    }

    /// Waits for the next step; a virtual clock is there at once.
    pub fn wait(&self) {
        self.clock.wait(self.next_step());
    }

    /// Tells of an error, and counts it.
    pub fn fail(&mut self, problem: &str) {
        output::tell(&format!("sluice-player: {problem}"));
        self.failures += 1;
    }

    /// Errors that nobody caught.
    pub fn failures(&self) -> u32 {
        self.failures + self.engine.as_ref().map_or(0, Engine::failures)
    }

    /// Figures as JSON.
    pub fn report(&self) -> serde_json::Value {
        let shown = self.shown.borrow();
        let heap = self.engine.as_ref().map_or(0, Engine::heap);
        shown.report.json(&[
            ("heapBytes", heap.into()),
            ("widgets", shown.scene.tree.len().into()),
            ("imageBytes", shown.scene.painter.images.bytes().into()),
            ("errors", self.failures().into()),
        ])
    }

    /// Ends the recording.
    ///
    /// # Errors
    ///
    /// If the file cannot be written, or could not on the way.
    pub fn finish(&mut self) -> Result<(), String> {
        let mut shown = self.shown.borrow_mut();
        if let Some(mut file) = shown.record.take() {
            file.flush().map_err(|error| format!("the stream cannot be recorded: {error}"))?;
        }
        shown.problem.take().map_or(Ok(()), Err)
    }
}
