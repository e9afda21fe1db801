//! A window of the desktop: keys from its keyboard, frames to its pixels.

use std::num::NonZeroU32;
use std::rc::Rc;
use std::time::{Duration, Instant};

use softbuffer::{Context, Rect, Surface};
use winit::application::ApplicationHandler;
use winit::dpi::PhysicalSize;
use winit::event::{ElementState, KeyEvent, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop};
use winit::keyboard::{Key, NamedKey};
use winit::window::{Window, WindowId};

use crate::geometry::Pixels;
use crate::player::Player;

/// Runs the player in a window until it is closed, and gives it back.
///
/// # Errors
///
/// If there is no desktop, or its window cannot be drawn to.
pub fn run(player: Player) -> Result<Player, String> {
    let desktop = EventLoop::new().map_err(|error| format!("there is no desktop for a window: {error}"))?;
    let mut app = App { player, shown: None, problem: None, due: 0.0 };
    desktop.run_app(&mut app).map_err(|error| error.to_string())?;
    match app.problem {
        Some(problem) => Err(problem),
        None => Ok(app.player),
    }
}

struct Shown {
    window: Rc<Window>,
    surface: Surface<Rc<Window>, Rc<Window>>,
    /// Whether all of it has to be drawn.
    whole: bool,
}

struct App {
    player: Player,
    shown: Option<Shown>,
    problem: Option<String>,
    /// Moment of the next step, milliseconds of the player's clock.
    due: f64,
}

impl App {
    fn open(&self, desktop: &ActiveEventLoop) -> Result<Shown, String> {
        let (width, height) = self.player.with_scene(|scene| (scene.width(), scene.height()));
        let size = PhysicalSize::new(width, height);
        let attributes = Window::default_attributes().with_title("sluice-player").with_inner_size(size);
        let window = Rc::new(desktop.create_window(attributes).map_err(|error| error.to_string())?);
        let context = Context::new(window.clone()).map_err(|error| error.to_string())?;
        let surface = Surface::new(&context, window.clone()).map_err(|error| error.to_string())?;
        Ok(Shown { window, surface, whole: true })
    }

    fn fail(&mut self, desktop: &ActiveEventLoop, problem: String) {
        self.problem = Some(problem);
        desktop.exit();
    }

    fn present(&mut self, areas: &[Pixels]) -> Result<(), String> {
        let Some(shown) = &mut self.shown else { return Ok(()) };
        let size = shown.window.inner_size();
        let (Some(width), Some(height)) = (NonZeroU32::new(size.width), NonZeroU32::new(size.height)) else {
            return Ok(());
        };
        let text = |error: softbuffer::SoftBufferError| error.to_string();
        shown.surface.resize(width, height).map_err(text)?;
        let mut buffer = shown.surface.buffer_mut().map_err(text)?;
        // A buffer that is not the last one's lacks what earlier frames drew.
        let whole = [Pixels::new(0, 0, size.width as i32, size.height as i32)];
        let is_whole = std::mem::take(&mut shown.whole) || buffer.age() != 1;
        let areas = if is_whole { &whole[..] } else { areas };
        let mut damage = Vec::new();
        self.player.with_scene(|scene| {
            let canvas = scene.painter.canvas();
            let pixels: &[[u8; 4]] = canvas.data().as_chunks().0;
            for area in areas.iter().map(|area| area.intersect(canvas.bounds()).intersect(whole[0])) {
                let (Some(wide), Some(high)) = (NonZeroU32::new(area.width()), NonZeroU32::new(area.height())) else {
                    continue;
                };
                for y in area.top..area.bottom {
                    let from = y as usize * canvas.bounds().width() as usize;
                    let to = y as usize * size.width as usize;
                    for x in area.left as usize..area.right as usize {
                        let [red, green, blue, _] = pixels[from + x];
                        buffer[to + x] = u32::from_be_bytes([0, red, green, blue]);
                    }
                }
                damage.push(Rect { x: area.left as u32, y: area.top as u32, width: wide, height: high });
            }
        });
        if damage.is_empty() { Ok(()) } else { buffer.present_with_damage(&damage).map_err(text) }
    }
}

impl ApplicationHandler for App {
    fn resumed(&mut self, desktop: &ActiveEventLoop) {
        if self.shown.is_none() {
            match self.open(desktop) {
                Ok(shown) => self.shown = Some(shown),
                Err(problem) => self.fail(desktop, problem),
            }
        }
    }

    fn window_event(&mut self, desktop: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        match event {
            WindowEvent::CloseRequested => desktop.exit(),
            WindowEvent::Resized(size) => {
                let is_new =
                    self.player.with_scene(|scene| (scene.width(), scene.height()) != (size.width, size.height));
                if is_new && size.width > 0 && size.height > 0 {
                    self.player.resize(size.width, size.height);
                }
                if let Some(shown) = &mut self.shown {
                    shown.whole = true;
                }
            }
            WindowEvent::RedrawRequested => {
                if let Some(shown) = &mut self.shown {
                    shown.whole = true;
                }
                if let Err(problem) = self.present(&[]) {
                    self.fail(desktop, problem);
                }
            }
            WindowEvent::KeyboardInput { event: KeyEvent { logical_key, state, repeat, .. }, .. } => {
                if let Some(name) = name(&logical_key) {
                    let phase = match state {
                        ElementState::Released => 2,
                        ElementState::Pressed => i32::from(repeat),
                    };
                    self.player.key(phase, &name);
                }
            }
            _ => {}
        }
    }

    fn about_to_wait(&mut self, desktop: &ActiveEventLoop) {
        // What came since the last step may be due earlier.
        self.due = self.due.min(self.player.next_step());
        if self.player.now() >= self.due {
            let areas = self.player.step();
            self.due = self.player.next_step();
            if !areas.is_empty()
                && let Err(problem) = self.present(&areas)
            {
                self.fail(desktop, problem);
            }
        }
        if self.player.is_stopped() {
            desktop.exit();
        }
        let wait = (self.due - self.player.now()).max(0.0);
        desktop.set_control_flow(ControlFlow::WaitUntil(Instant::now() + Duration::from_secs_f64(wait / 1000.0)));
    }
}

/// Name of a key as in the DOM.
fn name(key: &Key) -> Option<String> {
    match key {
        Key::Named(NamedKey::Space) => Some(" ".to_owned()),
        // Names of this crate are those of the DOM.
        Key::Named(named) => Some(format!("{named:?}")),
        Key::Character(text) => Some(text.to_string()),
        Key::Unidentified(_) | Key::Dead(_) => None,
    }
}
