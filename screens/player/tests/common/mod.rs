//! Scenes and pictures for tests.
#![allow(dead_code, reason = "each test uses a part")]
#![allow(clippy::unwrap_used, reason = "a test ends there")]

pub mod app;

use std::path::Path;

use sluice_player::net::Sources;
use sluice_player::paint::images::Images;
use sluice_player::scene::Scene;
use sluice_player::text::Fonts;

/// A scene whose font and pictures do not depend on the machine.
pub fn scene(width: u32, height: u32) -> Scene {
    let fonts = Fonts::new(vec![notosans::REGULAR_TTF.to_vec(), notosans::BOLD_TTF.to_vec()], false);
    let images = Images::new(Sources { folder: env!("CARGO_MANIFEST_DIR").into(), hosts: Vec::new() }, 1 << 20);
    Scene::new(width, height, fonts, images)
}

/// Pixels without alpha.
#[derive(Clone, PartialEq, Eq)]
pub struct Picture {
    pub width: u32,
    pub height: u32,
    pub data: Vec<[u8; 3]>,
}

impl Picture {
    pub fn of(scene: &Scene) -> Self {
        let pixels: &[[u8; 4]] = scene.painter.canvas().data().as_chunks().0;
        let data = pixels.iter().map(|&[red, green, blue, _]| [red, green, blue]).collect();
        Self { width: scene.width(), height: scene.height(), data }
    }

    pub fn read(path: &Path) -> Self {
        let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        let mut data = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut data).unwrap();
        assert_eq!(info.color_type, png::ColorType::Rgb, "{}", path.display());
        let (width, height) = (info.width, info.height);
        Self { width, height, data: data.as_chunks().0.to_vec() }
    }

    pub fn pixel(&self, x: u32, y: u32) -> [u8; 3] {
        self.data[(y * self.width + x) as usize]
    }

    /// Pixels that differ by more than 2.
    pub fn off(&self, other: &Self) -> usize {
        let differs =
            |(one, other): &(&[u8; 3], &[u8; 3])| one.iter().zip(*other).any(|(one, other)| one.abs_diff(*other) > 2);
        self.data.iter().zip(&other.data).filter(differs).count()
    }

    /// Largest difference of a channel, 255 if the sizes differ.
    pub fn difference(&self, other: &Self) -> u8 {
        if (self.width, self.height) != (other.width, other.height) {
            return 255;
        }
        let channels = self.data.iter().flatten().zip(other.data.iter().flatten());
        channels.map(|(one, other)| one.abs_diff(*other)).max().unwrap_or(0)
    }
}
