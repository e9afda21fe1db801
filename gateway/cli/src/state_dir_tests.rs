//! Tests of the state directory.

use std::os::unix::fs::PermissionsExt as _;

use super::*;

fn run_dir_in(dir: &Path) -> RunDir {
    let run_dir = RunDir::inherited(dir.join("shop-0a1b2c3d"));
    run_dir.create().unwrap();
    run_dir
}

fn environment(variables: &[(&'static str, &'static str)]) -> impl Fn(&str) -> Option<OsString> {
    let variables = variables.to_vec();
    move |name| variables.iter().find(|(known, _)| *known == name).map(|(_, text)| text.into())
}

#[test]
fn the_config_goes_before_systemd_and_that_before_the_users_state() {
    let run_dir = RunDir::inherited("/run/user/1000/sluice/shop-0a1b2c3d".into());
    let (own, given) = (RunDirArg::default(), RunDirArg { run_dir: Some("/run/shop".into()) });
    let of_systemd = [("STATE_DIRECTORY", "/var/lib/shop:/var/lib/other"), ("HOME", "/h")];
    let place = |named, arg, variables: &[_]| place(named, arg, &run_dir, environment(variables));
    assert_eq!(place(Some("/s"), &given, &of_systemd), StateLocation::Named("/s".into()));
    assert_eq!(place(None, &given, &of_systemd), StateLocation::Named("/var/lib/shop/sluice".into()));
    let of_user = StateLocation::Default("/h/.local/state/sluice/shop-0a1b2c3d".into());
    assert_eq!(place(None, &own, &[("HOME", "/h"), ("XDG_STATE_HOME", "relative")]), of_user);
    assert_eq!(
        place(None, &own, &[("XDG_STATE_HOME", "/x")]),
        StateLocation::Default("/x/sluice/shop-0a1b2c3d".into()),
    );
    assert_eq!(place(None, &own, &[]), StateLocation::RunDir);
    assert_eq!(
        place(None, &given, &[("HOME", "/h")]),
        StateLocation::RunDir,
        "the chosen run directory keeps everything"
    );
}

#[test]
fn the_old_place_is_moved_once() {
    let dir = tempfile::tempdir().unwrap();
    let run_dir = run_dir_in(dir.path());
    let state = StateDir { path: dir.path().join("state"), watched: PathBuf::new(), warnings: Vec::new() };
    private_dir(&state.path).unwrap();
    let old = run_dir.path().join("profiles/tail");
    fs::create_dir_all(&old).unwrap();
    fs::write(old.join("1.cpuprofile"), "{}").unwrap();
    fs::write(run_dir.path().join("costs.json"), "old").unwrap();
    assert_eq!(state.adopt(&run_dir).len(), 2);
    assert_eq!(fs::read_to_string(state.path.join("costs.json")).unwrap(), "old");
    assert!(state.path.join("profiles/tail/1.cpuprofile").exists() && !run_dir.path().join("profiles").exists());
    fs::write(run_dir.path().join("costs.json"), "of an older version").unwrap();
    assert_eq!(state.adopt(&run_dir), Vec::<String>::new());
    assert_eq!(fs::read_to_string(state.path.join("costs.json")).unwrap(), "old");
}

#[test]
fn directory_that_cannot_be_used_costs_a_warning_that_says_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let run_dir = run_dir_in(dir.path());
    let open = dir.path().join("open");
    fs::create_dir(&open).unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o755)).unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    for named in [open, file.join("below")] {
        let mut config = Config::default();
        config.server.state_dir = Some(named.display().to_string());
        let state = StateDir::open(&config, &RunDirArg::default(), &run_dir);
        assert_eq!(state.path, run_dir.path());
        let [warning] = state.warnings.as_slice() else { panic!("{:?}", state.warnings) };
        assert!(!warning.contains("--run-dir") && !warning.contains(".."), "{warning}");
        assert!(warning.contains("--state-dir") && warning.contains(&*file.parent().unwrap().to_string_lossy()));
    }
}

#[test]
fn commands_follow_the_link_that_the_gateway_leaves() {
    let dir = tempfile::tempdir().unwrap();
    let run_dir = run_dir_in(dir.path());
    let arg = RunDirArg { run_dir: Some(run_dir.path().to_owned()) };
    let state = StateDir { path: dir.path().join("state"), watched: PathBuf::new(), warnings: Vec::new() };
    state.link_from(&run_dir).unwrap();
    state.link_from(&run_dir).unwrap();
    assert_eq!(of_instance(&arg, &run_dir), state.path);
    link(&run_dir, run_dir.path()).unwrap();
    assert_eq!(of_instance(&arg, &run_dir), run_dir.path());
}

#[test]
fn state_directory_may_lie_in_the_run_directory_under_the_name_of_the_link() {
    let dir = tempfile::tempdir().unwrap();
    let run_dir = run_dir_in(dir.path());
    let arg = RunDirArg { run_dir: Some(run_dir.path().to_owned()) };
    let state = StateDir { path: run_dir.path().join(LINK), watched: PathBuf::new(), warnings: Vec::new() };
    private_dir(&state.path).unwrap();
    state.link_from(&run_dir).unwrap();
    assert_eq!(of_instance(&arg, &run_dir), state.path);
}

#[test]
fn systemd_without_a_state_directory_is_told_of() {
    let run_dir = RunDir::inherited("/run/shop".into());
    assert!(is_emptied(&run_dir, environment(&[("RUNTIME_DIRECTORY", "/run/shop")])));
    assert!(!is_emptied(&run_dir, environment(&[("RUNTIME_DIRECTORY", "/run/other")])));
    assert!(!is_emptied(&run_dir, environment(&[])));
}

#[test]
fn a_file_that_was_written_is_proof_also_where_the_disk_seems_full() {
    let full = || Err(Unusable::NotWritable("/state".into(), io::ErrorKind::StorageFull.into()));
    assert_eq!(judged(false, true, || panic!("there is room")), None);
    for is_suspect in [false, true] {
        assert_eq!(judged(is_suspect, false, || Ok(())), None, "root may use reserved blocks");
        assert!(judged(is_suspect, false, full).is_some_and(|why| why.starts_with("/state: ")));
    }
    assert!(judged(true, true, full).is_some(), "a file could not be written before");
}
