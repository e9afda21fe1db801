use sluice_catalog::config::Sources;

use super::*;

fn machine(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in [("proc/meminfo", "MemTotal:       16777216 kB\n")].iter().chain(files) {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    dir
}

fn config(flags: &[(&'static str, &str)]) -> Config {
    let flags = flags.iter().map(|(key, text)| (*key, (*text).to_owned())).collect();
    Config::load(Sources { file: None, env: Vec::new(), flags }).unwrap().config
}

fn script(node_args: &[&str]) -> Start {
    let node_args = node_args.iter().map(|arg| (*arg).to_owned()).collect();
    Start::Script { node: "node".to_owned(), node_args, entry: "a.js".into(), args: Vec::new() }
}

fn command(words: &[&str]) -> Start {
    Start::Command(words.iter().map(|word| (*word).to_owned()).collect())
}

/// Sizes at a start.
fn choose(config: &Config, start: &Start, node_options: Option<&str>, room: &Room) -> Sizing {
    super::choose(config, start, node_options, room, worker_count(config, room))
}

fn room(cpus: u32, memory_mib: u64) -> Room {
    Room { cpus, quota: None, memory_bytes: Some(memory_mib * MIB), is_cgroup: true }
}

#[test]
fn quota_and_limit_of_cgroup_version_2_are_the_lowest_above_the_process() {
    let dir = machine(&[
        ("proc/self/cgroup", "0::/kube/pod\n"),
        ("sys/fs/cgroup/kube/pod/cpu.max", "max 100000\n"),
        ("sys/fs/cgroup/kube/cpu.max", "250000 100000\n"),
        ("sys/fs/cgroup/kube/pod/memory.max", "536870912\n"),
    ]);
    let expected = Room { cpus: 2, quota: Some(2.5), memory_bytes: Some(512 * MIB), is_cgroup: true };
    assert_eq!(Room::of(dir.path(), 2), expected);
}

#[test]
fn quota_and_limit_of_cgroup_version_1_count_also_at_the_top_of_what_is_mounted() {
    let dir = machine(&[
        ("proc/self/cgroup", "5:cpu,cpuacct:/docker/1234\n4:memory:/docker/1234\n"),
        ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "50000\n"),
        ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
        ("sys/fs/cgroup/memory/memory.limit_in_bytes", "1073741824\n"),
    ]);
    let expected = Room { cpus: 1, quota: Some(0.5), memory_bytes: Some(GIB), is_cgroup: true };
    assert_eq!(Room::of(dir.path(), 1), expected);
    let dir = machine(&[
        ("proc/self/cgroup", "1:cpu:/\n"),
        ("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"),
        ("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"),
    ]);
    let expected = Room { cpus: 8, quota: None, memory_bytes: Some(16 * GIB), is_cgroup: false };
    assert_eq!(Room::of(dir.path(), 8), expected);
}

#[test]
fn number_of_workers_is_that_of_the_cpus_where_the_memory_has_room() {
    let plain = config(&[]);
    assert_eq!(worker_count(&plain, &room(4, 4_096)), 4);
    // 448 MiB are left beside the buffers: four workers of 96 MiB, of which one is for long requests and one for a reload.
    assert_eq!(worker_count(&plain, &room(4, 512)), 2);
    assert_eq!(worker_count(&plain, &room(4, 576)), 3);
    assert_eq!(worker_count(&plain, &room(64, 128)), 1, "one in any case");
    assert_eq!(worker_count(&config(&[("workers.lanes", "off")]), &room(4, 512)), 3);
    assert_eq!(worker_count(&config(&[("cache.enabled", "true")]), &room(4, 576)), 2, "the cache takes an eighth");
    assert_eq!(worker_count(&config(&[("workers.count", "9")]), &room(4, 512)), 9, "the user decides");
    let unknown = Room { memory_bytes: None, is_cgroup: false, ..room(4, 0) };
    assert_eq!(worker_count(&plain, &unknown), 4);
}

#[test]
fn heap_is_limited_only_where_nodes_own_limit_exceeds_the_share_of_a_limited_memory() {
    let heap = |start: &Start, room: &Room| {
        let sizing = choose(&config(&[("workers.count", "2")]), start, None, room);
        (sizing.heap_by, sizing.heap_mib)
    };
    // Four workers share 1,792 MiB of 2,048: 448 each, three quarters of them for the heap. Node.js would take 1,024.
    assert_eq!(heap(&script(&[]), &room(2, 2_048)), (HeapBy::Sluice, Some(336)));
    assert_eq!(heap(&script(&[]), &room(2, 32_768)), (HeapBy::Node, None), "4 GiB are less than the share");
    assert_eq!(heap(&script(&[]), &Room { is_cgroup: false, ..room(2, 2_048) }), (HeapBy::Node, None));
    let own = script(&["--no-warnings", "--max_old_space_size=300"]);
    assert_eq!(heap(&own, &room(2, 2_048)), (HeapBy::App, Some(300)));
    assert_eq!(heap(&script(&["--max-heap-size=300"]), &room(2, 2_048)), (HeapBy::App, None));
    assert_eq!(heap(&script(&["--max-old-space-size", "300"]), &room(2, 2_048)), (HeapBy::App, None));
    let shell = command(&["sh", "-c", "exec node --max-old-space-size=200 a.js"]);
    assert_eq!(heap(&shell, &room(2, 2_048)), (HeapBy::App, Some(200)));
    let options = choose(&config(&[]), &script(&[]), Some("--max-old-space-size=150 -r a"), &room(2, 2_048));
    assert_eq!((options.heap_by, options.heap_mib), (HeapBy::App, Some(150)));
}

#[test]
fn heap_reaches_a_script_as_an_option_and_a_command_by_the_environment() {
    let mut config = config(&[("workers.count", "2")]);
    let mut start = script(&["--no-warnings"]);
    let sizing = choose(&config, &start, None, &room(2, 2_048));
    give_heap(&sizing, &mut config, &mut start, None);
    let Start::Script { node_args, .. } = &start else { panic!() };
    assert_eq!(node_args, &["--max-old-space-size=336", "--no-warnings"]);
    assert!(config.app.env.is_empty());
    give_heap(&sizing, &mut config, &mut command(&["npm", "start"]), Some("-r a".to_owned()));
    assert_eq!(config.app.env["NODE_OPTIONS"], "--max-old-space-size=336 -r a");
}

#[test]
fn warnings_name_what_does_not_fit() {
    let warnings = |count: &str, node_args: &[&str], room: &Room| {
        choose(&config(&[("workers.count", count)]), &script(node_args), None, room).warnings
    };
    assert_eq!(warnings("4", &[], &room(4, 4_096)), [""; 0]);
    let quota = Room { quota: Some(1.5), ..room(1, 4_096) };
    assert_eq!(warnings("2", &[], &quota), [""; 0], "a part of a CPU may be used by a worker of its own");
    let [text] = &warnings("3", &[], &quota)[..] else { panic!() };
    assert!(text.contains("3 workers are wanted") && text.contains("quota of the cgroup is 1.5"), "{text}");
    let [text] = &warnings("2", &["--max-old-space-size=1024"], &room(2, 2_048))[..] else { panic!() };
    assert!(text.contains("4 workers") && text.contains("may use 4.0 GiB") && text.contains("2.0 GiB"), "{text}");
    let [text] = &warnings("16", &[], &room(2, 1_024))[..] else { panic!() };
    assert!(text.contains("21 workers") && text.contains("42 MiB each"), "{text}");
    let machine = Room { is_cgroup: false, ..room(2, 2_048) };
    assert_eq!(warnings("2", &[], &machine), [""; 0], "Node's own limit on a machine without a cgroup's");
}

#[test]
fn choice_is_told_in_two_lines() {
    let lines = |flags: &[(&'static str, &str)], room: &Room| choose(&config(flags), &script(&[]), None, room).lines();
    let [workers, heap] = lines(&[], &room(4, 576));
    assert_eq!(
        workers,
        "Workers: 3, fewer than the 4 CPUs, because the memory limit of the cgroup, 576 MiB, is too small for more; up to 1 more for long requests (workers.lanes) and 1 during a reload."
    );
    assert!(heap.starts_with("Heap of each: --max-old-space-size=75, because Node's own limit exceeds"), "{heap}");
    let [workers, heap] =
        lines(&[("workers.count", "2")], &Room { is_cgroup: false, quota: Some(2.0), ..room(2, 65_536) });
    assert!(workers.starts_with("Workers: 2, set by workers.count, with 2 CPUs (CPU quota 2.0)"), "{workers}");
    assert_eq!(heap, "Heap of each: Node's own limit.");
}

#[test]
fn heaps_at_a_reload_are_for_the_workers_in_force() {
    let room = room(2, 2_048);
    let config = config(&[("workers.count", "2")]);
    let scaled = InForce { count: 2, wanted: 6 };
    assert_eq!(scaled.under(&config, &room), 6);
    assert_eq!(InForce { count: 4, ..scaled }.under(&config, &room), 2, "a new workers.count undoes sluice scale");
    let sizing = super::choose(&config, &script(&[]), None, &room, scaled.under(&config, &room));
    // Six, one for long requests and one for the reload share 1,792 MiB: 224 each.
    assert_eq!((sizing.workers, sizing.heap_mib), (6, Some(168)));
}

#[test]
fn more_workers_than_heaps_were_sized_for_are_a_warning() {
    let config = config(&[("workers.count", "2")]);
    let warning = warning_of_scale(&config, &room(2, 2_048), 2, 6).unwrap();
    assert!(warning.contains("6 workers have 224 MiB each") && warning.contains("sluice reload"), "{warning}");
    assert_eq!(warning_of_scale(&config, &room(2, 2_048), 6, 2), None, "fewer have room");
    assert_eq!(warning_of_scale(&config, &room(2, 65_536), 2, 6), None, "Node's own limit is below the share");
    assert_eq!(warning_of_scale(&config, &Room { is_cgroup: false, ..room(2, 2_048) }, 2, 6), None);
}
