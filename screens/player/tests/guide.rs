//! Commands of the guide run as they are written.
#![allow(clippy::unwrap_used, reason = "a test ends there")]

use std::process::Command;

#[test]
fn commands_of_the_guide_run_as_they_are_written() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let guide = std::fs::read_to_string(format!("{root}/docs/guide/screens-player.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(format!("{root}/screens/player/tests/apps/posters.js"), folder.path().join("app.js")).unwrap();
    std::fs::write(folder.path().join("bench.js"), "if (scriptArgs[0] !== 'quick') throw new Error('no words')")
        .unwrap();
    let blocks = guide.split("```sh\n").skip(1).map(|block| block.split("```").next().unwrap());
    let commands: Vec<&str> = blocks.flat_map(str::lines).filter(|line| line.starts_with("sluice-player ")).collect();
    assert!(commands.len() >= 8, "{commands:?}");
    let binary = std::path::Path::new(env!("CARGO_BIN_EXE_sluice-player"));
    let path = format!("{}:{}", binary.parent().unwrap().display(), std::env::var("PATH").unwrap());
    for command in &commands {
        let output =
            Command::new("sh").args(["-c", command]).env("PATH", &path).current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "{command}\n{}", String::from_utf8_lossy(&output.stderr));
        if command.ends_with("--report") {
            let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            for field in guide
                .lines()
                .filter(|line| line.starts_with("| `"))
                .flat_map(|line| line.split('|').nth(1).unwrap().split('`').skip(1).step_by(2))
            {
                assert!(!report[field].is_null(), "the report has no {field}: {report}");
            }
        }
    }
    let same = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    assert!(same("recorded.png") == same("replayed.png"));
    let scene =
        guide.split("```text\n").find(|block| block.starts_with("create")).unwrap().split("```").next().unwrap();
    std::fs::write(folder.path().join("scene.txt"), scene).unwrap();
    let output = Command::new(binary)
        .args(["--replay", "scene.txt", "--png", "scene.png"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(output.status.success());
}
