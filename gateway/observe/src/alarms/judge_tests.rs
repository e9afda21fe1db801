use super::*;

const LIMITS: Limits = Limits { after_ms: 60_000, queue_wait_ms: 500, cost_drift_percent: 100 };

/// A judge with a clock that moves one second a look.
#[derive(Default)]
struct Stage {
    judge: Judge,
    now_ms: u64,
    /// `+` and `-` with the second and the alarm.
    log: Vec<String>,
}

impl Stage {
    fn look(&mut self, reading: &Reading) {
        self.now_ms += 1_000;
        for change in self.judge.look(self.now_ms, &LIMITS, reading) {
            let (sign, (alarm, class)) = match &change {
                Change::Raised { key, .. } => ('+', key),
                Change::Cleared { key, .. } => ('-', key),
            };
            let class = class.as_deref().unwrap_or_default();
            self.log.push(format!("{sign}{} {}{class}", self.now_ms / 1000, alarm.as_str()));
        }
    }

    fn look_for(&mut self, seconds: u64, reading: &Reading) {
        for _ in 0..seconds {
            self.look(reading);
        }
    }
}

fn waiting(queue_length_min: usize, wait_mean_ms: f64) -> Reading {
    Reading {
        queue_length_min,
        wait_mean_ms: Some(wait_mean_ms),
        wait_lately_ms: Some(wait_mean_ms),
        ..Reading::default()
    }
}

fn drifted(factor: f64) -> Reading {
    Reading { drifts: vec![("/a".into(), factor)], ..Reading::default() }
}

fn asleep(share: f64) -> Reading {
    Reading { asleep: Some((share, 1.0 / (1.0 - share))), ..Reading::default() }
}

fn holes(share: f64) -> Reading {
    let holes = Holes { component: "Price".to_owned(), share, outcome: "late".to_owned() };
    Reading { holes: Some(holes), ..Reading::default() }
}

#[test]
fn a_component_that_often_leaves_holes_is_an_alarm_until_it_seldom_does() {
    let mut stage = Stage::default();
    stage.look_for(10, &holes(0.04));
    assert_eq!(stage.log, Vec::<String>::new());
    stage.look_for(10, &holes(0.12));
    let text = stage.judge.raised().next().unwrap().1.text.clone();
    assert!(text.starts_with("12 % of the renders of Price") && text.contains("outcome late"), "{text}");
    stage.look_for(10, &holes(0.03));
    assert_eq!(stage.log, ["+11 holes"], "it does not flutter");
    stage.look_for(70, &Reading::default());
    assert_eq!(stage.log, ["+11 holes", "-91 holes"], "a minute after the cause has gone");
}

#[test]
fn workers_that_sleep_for_a_minute_while_requests_queue_are_an_alarm_and_those_that_compute_are_none() {
    let mut stage = Stage::default();
    stage.look_for(100, &asleep(0.3));
    stage.look_for(100, &Reading::default());
    assert_eq!(stage.log, Vec::<String>::new());
    stage.look_for(40, &asleep(0.8));
    stage.look_for(1, &Reading::default());
    stage.look_for(70, &asleep(0.8));
    stage.look_for(70, &asleep(0.3));
    assert_eq!(stage.log, ["+302 workers_asleep"], "near what raised it, it stays");
    stage.look_for(70, &Reading::default());
    assert_eq!(stage.log, ["+302 workers_asleep", "-387 workers_asleep"]);
}

#[test]
fn a_queue_that_is_never_empty_for_a_minute_is_an_alarm_and_one_that_was_empty_for_some_seconds_is_none() {
    let mut stage = Stage::default();
    stage.look_for(100, &waiting(1, 20.0));
    stage.look_for(100, &waiting(0, 20.0));
    assert_eq!(stage.log, ["+61 steady_queue", "-106 steady_queue"]);
}

#[test]
fn a_queue_before_workers_that_sleep_with_all_that_they_may_hold_asks_for_more_requests_a_worker() {
    let text_with = |asleep_when_full| {
        let mut stage = Stage::default();
        stage.look_for(61, &Reading { asleep_when_full, ..waiting(1, 20.0) });
        let text = stage.judge.raised().next().unwrap().1.text.clone();
        (text.contains("--max-old-space-size"), text.contains("workers.count"))
    };
    assert_eq!(text_with(Some(0.9)), (true, false));
    assert_eq!(text_with(Some(0.3)), (false, true), "they compute most of the time");
    assert_eq!(text_with(None), (false, true));
}

#[test]
fn a_queue_that_becomes_empty_now_and_then_is_an_alarm_only_where_waits_are_long() {
    let mut stage = Stage::default();
    for second in 0..300 {
        stage.look(&waiting(usize::from(second % 50 != 0), 400.0));
    }
    assert_eq!(stage.log, [""; 0]);
    stage.look_for(61, &waiting(0, 501.0));
    assert_eq!(stage.log.len(), 1);
}

#[test]
fn waits_that_move_around_their_limit_raise_one_alarm_and_end_none() {
    let mut stage = Stage::default();
    stage.look_for(61, &waiting(0, 600.0));
    for second in 0..600 {
        stage.look(&waiting(0, if second % 90 < 70 { 300.0 } else { 600.0 }));
    }
    assert_eq!(stage.log, ["+61 steady_queue"]);
    stage.look_for(5, &waiting(0, 200.0));
    stage.look(&waiting(0, 300.0));
    stage.look_for(61, &waiting(0, 200.0));
    assert_eq!(stage.log, ["+61 steady_queue", "-673 steady_queue"]);
}

#[test]
fn a_queue_that_has_gone_ends_its_alarm_although_the_mean_of_the_last_seconds_is_still_high() {
    let mut stage = Stage::default();
    stage.look_for(61, &waiting(5, 2_000.0));
    let gone = Reading { wait_mean_ms: Some(1_500.0), wait_lately_ms: Some(100.0), ..Reading::default() };
    stage.look_for(6, &gone);
    assert_eq!(stage.log, ["+61 steady_queue", "-67 steady_queue"]);
}

#[test]
fn an_alarm_has_the_numbers_of_now_while_it_is_raised() {
    let mut stage = Stage::default();
    let text = |stage: &Stage| stage.judge.raised().next().unwrap().1.text.clone();
    stage.look_for(61, &waiting(5, 2_000.0));
    assert!(text(&stage).contains("now 2000 ms on average, with 5 or more"), "{}", text(&stage));
    stage.look(&waiting(2, 700.0));
    assert!(text(&stage).contains("now 700 ms on average, with 2 or more"), "{}", text(&stage));
    stage.look(&waiting(0, 300.0));
    assert_eq!(text(&stage), "requests now wait for 300 ms on average; below 250 ms the alarm ends");
    stage.look(&waiting(0, 100.0));
    assert_eq!(stage.judge.raised().next().unwrap().1.gone_ms, Some(64_000));
}

#[test]
fn a_class_that_costs_twice_as_much_is_an_alarm_until_that_is_what_it_costs() {
    let mut stage = Stage::default();
    stage.look_for(10, &drifted(1.9));
    assert_eq!(stage.log, [""; 0]);
    stage.look(&drifted(2.1));
    stage.look_for(100, &drifted(1.6));
    stage.look(&drifted(2.5));
    stage.look_for(100, &drifted(1.4));
    stage.look_for(10, &drifted(0.2));
    assert_eq!(stage.log, ["+11 cost_drift/a", "-173 cost_drift/a"]);
}

#[test]
fn i1_an_overlap_raises_an_alarm_immediately_and_further_ones_prolong_it() {
    let mut stage = Stage::default();
    let overlaps = |overlaps_total| Reading { overlaps_total, ..Reading::default() };
    stage.look_for(5, &overlaps(0));
    stage.look(&overlaps(1));
    stage.look_for(50, &overlaps(1));
    stage.look(&overlaps(2));
    stage.look_for(70, &overlaps(2));
    assert_eq!(stage.log, ["+6 overlap", "-118 overlap"]);
}

#[test]
fn a_crash_is_an_alarm_for_a_while_and_requests_in_quarantine_for_as_long_as_they_are() {
    let mut stage = Stage::default();
    let crash = |text: &str| Reading { crash: Some(text.to_owned()), ..Reading::default() };
    stage.look(&crash("worker 1 ended: TypeError: boom"));
    stage.look_for(30, &Reading::default());
    stage.look(&crash("worker 2 ended: TypeError: boom"));
    let texts: Vec<_> = stage.judge.raised().map(|(_, raised)| raised.text.clone()).collect();
    assert_eq!(texts, ["worker 2 ended: TypeError: boom"]);
    stage.look_for(70, &Reading::default());
    let quarantine = Reading { quarantine: Some("1 request".to_owned()), ..Reading::default() };
    stage.look_for(200, &quarantine);
    stage.look_for(10, &Reading::default());
    assert_eq!(stage.log, ["+1 crash", "-93 crash", "+103 quarantine", "-308 quarantine"]);
}

#[test]
fn what_is_switched_off_is_no_alarm() {
    let limits = Limits { queue_wait_ms: 0, cost_drift_percent: 0, ..LIMITS };
    let reading = Reading { wait_mean_ms: Some(1e9), drifts: drifted(100.0).drifts, ..Reading::default() };
    let mut judge = Judge::default();
    for second in 0..100 {
        assert_eq!(judge.look(second * 1000, &limits, &reading), []);
    }
}

#[test]
fn an_alarm_says_what_to_do() {
    let mut stage = Stage::default();
    let mut everything = waiting(3, 840.0);
    everything.overlaps_total = 1;
    everything.drifts = drifted(3.0).drifts;
    stage.look_for(61, &everything);
    let texts: Vec<_> = stage.judge.raised().map(|(_, raised)| raised.text.as_str()).collect();
    assert_eq!(texts.len(), 3);
    for (text, words) in texts.iter().zip(["classes.routes", "`sluice classes`", "please report"]) {
        assert!(text.contains(words), "{text}");
    }
}
