//! Times with a unit, for every key that counts milliseconds or seconds.

use proptest::prelude::*;
use sluice_catalog::config::{Config, Kind, Sources, TimeUnit, keys, parse_ms, written_ms};

use super::{load, problems};

#[test]
fn a_time_may_be_a_number_or_carry_its_unit() {
    let file = "[server]\nsend_timeout_ms = \"2m\"\nkeep_alive_timeout_ms = 2_000\nhsts_max_age_s = \"2m\"\n";
    let config =
        load(file, &[("SLUICE_QUEUE_WAIT_MS_MAX", "3s"), ("SLUICE_DRAIN_TIMEOUT_MS", "70")], &[]).unwrap().config;
    assert_eq!((config.server.send_timeout_ms, config.server.keep_alive_timeout_ms), (120_000, 2_000));
    assert_eq!((config.server.hsts_max_age_s, config.queue.wait_ms_max, config.drain.timeout_ms), (120, 3_000, 70));
}

#[test]
fn anything_else_is_answered_with_what_may_be_written() {
    for (file, problem) in [
        (
            "[server]\nsend_timeout_ms = \"2 min\"\n",
            "2: server.send_timeout_ms must be a whole number of milliseconds, or a whole number with a unit (ms, s, m, h or d), like \
             \"500ms\" or \"3s\", not \"2 min\"",
        ),
        ("[server]\nsend_timeout_ms = \"2h\"\n", "2: server.send_timeout_ms must be between 100ms and 1h, not 2h"),
        (
            "[server]\nsend_timeout_ms = 7_200_000\n",
            "2: server.send_timeout_ms must be between 100 and 3600000, not 7200000",
        ),
        (
            "[server]\nhsts_max_age_s = \"1500ms\"\n",
            "2: server.hsts_max_age_s must be a whole number of seconds, or a time of whole seconds like \"90s\" or \"2m\", not \"1500ms\"",
        ),
        (
            "[server]\nhsts_max_age_s = 1.5\n",
            "2: server.hsts_max_age_s must be a whole number of seconds, or a time of whole seconds like \"90s\" or \"2m\", not a fraction",
        ),
    ] {
        assert_eq!(problems(file), [problem]);
    }
    // A number that counts other things has no unit.
    assert_eq!(problems("[queue]\nlength_max = \"3s\"\n").len(), 1);
}

#[test]
fn every_key_that_counts_milliseconds_or_seconds_is_a_time() {
    let times: Vec<_> = keys().filter(|key| matches!(key.kind, Kind::Time(_))).collect();
    assert!(times.len() > 15);
    for key in keys() {
        let is_named_so = key.name.split('_').any(|word| matches!(word, "ms" | "s")) && !key.name.contains("_per_");
        assert_eq!(is_named_so, times.iter().any(|time| time.path == key.path), "{}", key.path);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn a_time_is_read_as_it_is_written(time_ms in any::<u64>(), zeros in 0_u32..12) {
        let time_ms = time_ms / 10_u64.pow(zeros) * 10_u64.pow(zeros);
        prop_assert_eq!(parse_ms(&written_ms(time_ms)), Ok(time_ms));
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "\\PC{0,20}|[0-9]{0,25}(ms|s|m|h|d|é)?") {
        let _ = parse_ms(&text);
    }

    #[test]
    fn a_key_takes_a_time_with_its_unit_as_the_same_number(index in 0..keys().count(), count in 0_u64..100_000) {
        let key = keys().nth(index).unwrap();
        if let Kind::Time(unit) = key.kind {
            let set = |text: String| Config::load(Sources { file: None, env: [], flags: vec![(key.path, text)] });
            let (number, time) = (set(count.to_string()), set(unit.written(count)));
            prop_assert_eq!(number.is_ok(), time.is_ok());
            if let (Ok(number), Ok(time)) = (number, time) {
                prop_assert_eq!(number.config, time.config);
            }
            let fraction = format!("{count}001ms");
            prop_assert!(unit != TimeUnit::Seconds || set(fraction).is_err());
        }
    }
}
