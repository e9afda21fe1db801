//! The player's binary in a folder of its own.

use std::process::{Command, Output};

/// Commands of an app on the stream, by the text form's names.
const HELPER: &str = r"
const float = new Float32Array(1);
const bits = new Int32Array(float.buffer);
const bitsOf = value => ((float[0] = value), bits[0]);
const commit = (words, strings = [], cause = 0) => sluiceSurface.commit(Int32Array.from(words), words.length, strings, cause);
const box = (id, width, height, color) => commit([1, id, 2, 0, id, 0, 4 | 12 << 8, id, bitsOf(width), 4 | 13 << 8, id, bitsOf(height), 6 | 47 << 8, id, color | 0]);
";

/// A folder of an app's own.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, source: &str) {
        std::fs::write(self.path(name), source).unwrap();
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        let binary = env!("CARGO_BIN_EXE_sluice-player");
        Command::new(binary).current_dir(self.0.path()).args(arguments).output().unwrap()
    }

    /// Runs an app behind the helper, with a small screen and no font of the machine.
    pub fn play(&self, source: &str, arguments: &[&str]) -> Output {
        self.write("app.js", &format!("{HELPER}\n{source}"));
        let fixed = ["app.js", "--size", "64x48", "--no-system-fonts"];
        self.run(&[&fixed, arguments].concat())
    }
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or(-1)
}

/// Output of an app that has to end well.
pub fn fine(output: &Output) -> String {
    assert_eq!(code(output), 0, "{}{}", text(&output.stderr), text(&output.stdout));
    text(&output.stderr)
}
