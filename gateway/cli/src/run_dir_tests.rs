//! Tests of the run directory.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::atomic::{AtomicU32, Ordering};

use super::*;

/// A private directory of its own, removed at the end.
struct Dir(PathBuf);

impl Dir {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let path = PathBuf::from(format!("/tmp/sl-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)));
        DirBuilder::new().mode(0o700).create(&path).unwrap();
        Self(path)
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn given(path: impl Into<PathBuf>) -> Result<RunDir, RunDirError> {
    RunDir::locate(&RunDirArg { run_dir: Some(path.into()) })
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn the_default_is_private_to_user_and_project() {
    let project = Path::new("/home/ada/My Shop");
    let run_dir = RunDir::default_for(project, None, 1000);
    let name = run_dir.path().to_str().unwrap();
    assert!(name.starts_with("/tmp/sluice-1000/my-shop-"), "{name}");
    assert_eq!(run_dir, RunDir::default_for(project, Some(Path::new("relative")), 1000));
    assert_ne!(run_dir, RunDir::default_for(Path::new("/home/bob/My Shop"), None, 1000));
    let in_runtime_dir = RunDir::default_for(project, Some(Path::new("/run/user/1000")), 1000);
    assert!(in_runtime_dir.path().starts_with("/run/user/1000/sluice"));
}

#[test]
fn any_project_gives_a_default_that_is_short_enough() {
    for project in ["/", "/app", "/データ", &format!("/{}", "x".repeat(250)), "/a/b/---"] {
        let run_dir = RunDir::default_for(Path::new(project), None, u32::MAX).checked_length().unwrap();
        let name = run_dir.path().file_name().unwrap().to_str().unwrap().to_owned();
        assert!(name.len() <= PROJECT_NAME_BYTES_MAX + 9, "{name}");
        assert!(name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'), "{name}");
    }
}

#[test]
fn the_hash_is_that_of_the_standard() {
    assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
    assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
}

#[test]
fn the_longest_path_that_is_taken_leaves_room_for_a_socket() {
    let dir = Dir::new();
    let room = SOCKET_PATH_BYTES_MAX - 1 - NAME_BYTES_MAX;
    let longest = dir.0.join("d".repeat(room - dir.0.as_os_str().len() - 1));
    let run_dir = given(&longest).unwrap();
    run_dir.create().unwrap();
    let socket = longest.join("s".repeat(NAME_BYTES_MAX - 1));
    std::os::unix::net::UnixListener::bind(socket).unwrap();

    let error = given(format!("{}d", longest.display())).unwrap_err();
    assert!(matches!(error, RunDirError::TooLong { bytes, bytes_max, .. } if bytes == room + 1 && bytes_max == room));
    let text = error.to_string();
    assert!(text.starts_with("SLU-RUN-DIR-PATH: ") && text.contains("--run-dir"), "{text}");
}

#[test]
fn a_missing_directory_is_created_private_with_its_parents() {
    let dir = Dir::new();
    let run_dir = given(dir.0.join("a/b")).unwrap();
    run_dir.create().unwrap();
    assert_eq!((mode(run_dir.path()), mode(&dir.0.join("a"))), (0o700, 0o700));
    run_dir.create().unwrap();
    assert_eq!(run_dir.control_socket(), dir.0.join("a/b/control.sock"));
}

#[test]
fn a_directory_that_others_may_enter_is_refused_and_left_as_it_is() {
    let dir = Dir::new();
    fs::set_permissions(&dir.0, fs::Permissions::from_mode(0o755)).unwrap();
    let error = given(&dir.0).unwrap().create().unwrap_err();
    assert!(error.to_string().contains("mode 0755"), "{error}");
    assert_eq!(mode(&dir.0), 0o755);
}

#[test]
fn a_file_in_its_place_is_refused() {
    let dir = Dir::new();
    let file = dir.0.join("file");
    fs::write(&file, "").unwrap();
    assert!(matches!(given(&file).unwrap().create(), Err(RunDirError::NotADirectory(_))));
}

#[test]
fn a_link_that_somebody_put_in_the_default_place_is_refused() {
    let dir = Dir::new();
    DirBuilder::new().mode(0o700).create(dir.0.join("elsewhere")).unwrap();
    symlink(dir.0.join("elsewhere"), dir.0.join("sluice")).unwrap();
    let run_dir = RunDir::default_for(Path::new("/app"), Some(&dir.0), current_user());
    assert!(matches!(run_dir.create(), Err(RunDirError::NotADirectory(_))));
}

#[test]
fn a_directory_of_somebody_else_is_refused() {
    // `/` belongs to root, and root cannot be kept from anything: there the owner is compared on metadata alone.
    let metadata = fs::metadata("/").unwrap();
    if metadata.uid() != current_user() {
        assert!(matches!(check_private(Path::new("/"), Ok(metadata)), Err(RunDirError::NotOurs { .. })));
    }
}

#[test]
fn a_relative_directory_is_made_absolute() {
    assert!(given("x").map_or(true, |run_dir| run_dir.path().is_absolute()));
}

#[test]
fn steps_up_are_taken_as_the_file_system_takes_them() {
    let dir = Dir::new();
    let real = fs::canonicalize(&dir.0).unwrap();
    fs::create_dir_all(real.join("a/b")).unwrap();
    symlink(real.join("a/b"), real.join("link")).unwrap();
    for (text, path) in [("a/../run", "run"), ("link/../run", "a/run"), ("missing/../run", "run"), ("link", "link")] {
        assert_eq!(given(real.join(text)).unwrap().path(), real.join(path), "{text}");
    }
}
