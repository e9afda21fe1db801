//! Keys of earlier versions: each says what holds instead, and none keeps the gateway from starting.

use sluice_catalog::config::{Config, REMOVED, key};

use crate::{load, problems};

#[test]
fn every_removed_key_gives_its_message_wherever_it_stands() {
    for (path, instead) in &*REMOVED {
        assert!(key(path).is_none(), "{path} is a key");
        let (section, name) = path.split_once('.').expect("keys have a section");
        let variable = format!("SLUICE_{section}_{name}").to_uppercase();
        let in_file = load(&format!("\n[{section}]\n{name} = \"x\"\n"), &[], &[]).unwrap();
        let in_env = load("", &[(&variable, "x")], &[]).unwrap();
        let in_flag = load("", &[], &[(path, "x")]).unwrap();
        let says = format!("{path} is a key of an earlier version and has no effect: {instead}. Remove the setting.");
        for (loaded, place) in [
            (in_file, "sluice.toml:3: ".to_owned()),
            (in_env, format!("environment variable {variable}: ")),
            (in_flag, "command line: ".to_owned()),
        ] {
            let [warning] = &loaded.warnings[..] else { panic!("{path}: {:?}", loaded.warnings) };
            assert!(warning.ends_with(&format!("{place}{says}")), "{warning}");
            assert_eq!(loaded.config, Config::default(), "{path}");
        }
    }
}

#[test]
fn keys_beside_a_removed_one_are_read_and_checked() {
    let loaded = load("[queue]\nageing = 5\nlength_max = 7\n[alarms]\nafter_s = 9\n", &[], &[]).unwrap();
    assert_eq!((loaded.config.queue.length_max, loaded.warnings.len()), (7, 2));
    assert_eq!(problems("[alarms]\nafter_s = 9\nzzzzzzzzzz = 1\n"), ["3: alarms.zzzzzzzzzz is an unknown key"]);
    assert_eq!(load("[alarms]\n", &[], &[]).unwrap().config, Config::default());
    assert_eq!(problems("alarms = 1\n").len(), 1);
}
