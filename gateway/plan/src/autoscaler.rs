//! The `HorizontalPodAutoscaler` of Kubernetes (`autoscaling/v2`) with the metrics and bounds that the chart in `packaging/helm/sluice`
//! sets. KEDA drives the same one. Pure: it gets the pods, and says how many there should be.

use std::collections::VecDeque;

/// Deviation from a target within which nothing changes, as Kubernetes has it unless it is told otherwise.
const TOLERANCE: f64 = 0.1;

/// Bound on changes: at most so many pods, or so many percent, whichever is more, in a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Pods.
    pub pods: usize,
    /// Percent of the pods at the period's beginning.
    pub percent: usize,
    /// Period, seconds.
    pub period_s: usize,
}

/// Settings, by the names in the chart's values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Autoscaler {
    /// Fewest pods.
    pub min: usize,
    /// Most pods.
    pub max: usize,
    /// Mean predicted wait of all pods above which pods are added, milliseconds.
    pub wait_ms: f64,
    /// Share of the requested CPU, percent; `None` to scale by the wait alone.
    pub cpu_percent: Option<f64>,
    /// Bound on added pods.
    pub up: Pace,
    /// Bound on pods that leave.
    pub down: Pace,
    /// Time for which fewer pods must have been enough, seconds.
    pub down_after_s: f64,
    /// Whether the wait is one number of all pods, as KEDA asks Prometheus for it, or one of each pod.
    pub is_external: bool,
}

impl Default for Autoscaler {
    /// Settings of the chart.
    fn default() -> Self {
        Self {
            min: 2,
            max: 10,
            wait_ms: 500.0,
            cpu_percent: Some(60.0),
            up: Pace { pods: 4, percent: 100, period_s: 30 },
            down: Pace { pods: 1, percent: 25, period_s: 60 },
            down_after_s: 300.0,
            is_external: false,
        }
    }
}

/// Pod as its metrics show it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Seen {
    pub is_ready: bool,
    /// Mean predicted wait of the last minute, milliseconds.
    pub wait_ms: Option<f64>,
    /// CPU time of the last interval, percent of the request.
    pub cpu_percent: Option<f64>,
}

/// Autoscaler with its memory.
pub(crate) struct Controller {
    settings: Autoscaler,
    current: usize,
    /// Recommendations with their times, seconds.
    recommended: VecDeque<(f64, usize)>,
    /// Pods added and removed, with their times.
    changes: VecDeque<(f64, usize, usize)>,
}

#[allow(clippy::cast_precision_loss, reason = "few")]
fn count(pods: usize) -> f64 {
    pods as f64
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "not negative, and bounded by the most pods"
)]
fn pods(ratio: f64, of: usize) -> usize {
    (ratio * count(of)).ceil().clamp(0.0, 1e6) as usize
}

fn is_near(ratio: f64) -> bool {
    (ratio - 1.0).abs() <= TOLERANCE
}

/// Pods that a mean of all pods asks for; `None` if no pod has the metric. Pods without it count as `missing` where fewer would be
/// enough, and as idle where more are wanted. So do pods that are not ready, of which there are `unready`.
fn wanted(current: usize, values: &[f64], missing: usize, unready: usize, target: f64, full: f64) -> Option<usize> {
    if values.is_empty() {
        return None;
    }
    let sum: f64 = values.iter().sum();
    let ratio = sum / count(values.len()) / target;
    let counts_unready = unready > 0 && ratio > 1.0;
    if !counts_unready && missing == 0 {
        return Some(if is_near(ratio) { current } else { pods(ratio, values.len()) });
    }
    let (sum, all) = if ratio < 1.0 { (sum + full * count(missing), missing) } else { (sum, missing) };
    let all = values.len() + all + if counts_unready { unready } else { 0 };
    let careful = sum / count(all) / target;
    if is_near(careful) || (ratio < 1.0) != (careful < 1.0) {
        return Some(current);
    }
    let wanted = pods(careful, all);
    Some(if careful < 1.0 { wanted.min(current) } else { wanted.max(current) })
}

impl Controller {
    /// Creates one that finds so many pods.
    pub(crate) fn new(settings: Autoscaler, current: usize) -> Self {
        Self { settings, current, recommended: VecDeque::new(), changes: VecDeque::new() }
    }

    /// Pods that there should be from now on.
    pub(crate) fn sync(&mut self, now_s: f64, seen: &[Seen]) -> usize {
        let Autoscaler { min, max, .. } = self.settings;
        let desired = self.recommend(seen).clamp(min, max);
        let stabilised = self.stabilised(now_s, desired);
        let next = self.paced(now_s, stabilised);
        self.recommended.push_back((now_s, desired));
        if next != self.current {
            let (added, removed) = (next.saturating_sub(self.current), self.current.saturating_sub(next));
            self.changes.push_back((now_s, added, removed));
            self.current = next;
        }
        next
    }

    /// The most that one of the metrics asks for. Where a metric has no value, pods may be added and none leave.
    fn recommend(&self, seen: &[Seen]) -> usize {
        let Autoscaler { wait_ms: target, cpu_percent, is_external, .. } = self.settings;
        let waits: Vec<f64> = seen.iter().filter_map(|pod| pod.wait_ms).collect();
        let ready = seen.iter().filter(|pod| pod.is_ready).count();
        let by_wait = if is_external {
            let ratio = waits.iter().sum::<f64>() / count(waits.len().max(1)) / target;
            (!waits.is_empty()).then(|| if is_near(ratio) { self.current } else { pods(ratio, ready) })
        } else {
            wanted(self.current, &waits, seen.len() - waits.len(), 0, target, target)
        };
        let by_cpu = cpu_percent.map(|target| {
            let of_ready = || seen.iter().filter(|pod| pod.is_ready);
            let shares: Vec<f64> = of_ready().filter_map(|pod| pod.cpu_percent).collect();
            wanted(self.current, &shares, ready - shares.len(), seen.len() - ready, target, target.max(100.0))
        });
        let floor = if by_wait.is_none() || by_cpu == Some(None) { self.current } else { 0 };
        [by_wait, by_cpu.flatten()].into_iter().flatten().max().unwrap_or(self.current).max(floor)
    }

    /// More at once, fewer where all recommendations of the window allow it.
    fn stabilised(&mut self, now_s: f64, desired: usize) -> usize {
        while self.recommended.front().is_some_and(|(at_s, _)| *at_s < now_s - self.settings.down_after_s) {
            self.recommended.pop_front();
        }
        if desired >= self.current {
            return desired;
        }
        let most = self.recommended.iter().map(|(_, pods)| *pods).max().unwrap_or(desired).max(desired);
        most.min(self.current)
    }

    fn paced(&self, now_s: f64, desired: usize) -> usize {
        let Autoscaler { up, down, .. } = self.settings;
        let start = |pace: Pace| {
            let since_s = now_s - count(pace.period_s);
            let recent = self.changes.iter().filter(|(at_s, ..)| *at_s > since_s);
            let (added, removed) = recent.fold((0, 0), |sum, (_, more, fewer)| (sum.0 + more, sum.1 + fewer));
            (self.current + removed).saturating_sub(added)
        };
        if desired > self.current {
            let start = start(up);
            let limit = (start + up.pods).max((start * (100 + up.percent)).div_ceil(100));
            return desired.min(limit.max(self.current));
        }
        let start = start(down);
        let limit = start.saturating_sub(down.pods).min(start * 100_usize.saturating_sub(down.percent) / 100);
        desired.max(limit.min(self.current))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READY: Seen = Seen { is_ready: true, wait_ms: Some(0.0), cpu_percent: Some(30.0) };
    const FREE: Autoscaler = Autoscaler {
        min: 1,
        max: 100,
        wait_ms: 100.0,
        cpu_percent: Some(60.0),
        up: Pace { pods: 100, percent: 0, period_s: 60 },
        down: Pace { pods: 100, percent: 0, period_s: 60 },
        down_after_s: 0.0,
        is_external: false,
    };

    fn after(settings: Autoscaler, from: usize, seen: &[Seen]) -> usize {
        Controller::new(settings, from).sync(0.0, seen)
    }

    #[test]
    fn metric_that_asks_for_the_most_decides_and_little_changes_nothing() {
        let pod = |wait_ms, cpu_percent| Seen { wait_ms: Some(wait_ms), cpu_percent: Some(cpu_percent), ..READY };
        for (seen, expected) in [(pod(0.0, 60.0), 4), (pod(0.0, 65.0), 4), (pod(0.0, 70.0), 5), (pod(250.0, 10.0), 10)]
        {
            assert_eq!(after(FREE, 4, &[seen; 4]), expected, "{seen:?}");
        }
        assert_eq!(after(FREE, 4, &[READY; 4]), 2);
        assert_eq!(after(FREE, 4, &[pod(0.0, 0.0); 4]), 1);
    }

    #[test]
    fn pods_that_start_count_as_idle_where_more_are_wanted_and_as_full_where_fewer_are() {
        let busy = Seen { wait_ms: Some(300.0), cpu_percent: Some(100.0), ..READY };
        let starts = Seen::default();
        // The mean of 300, 300, 0 and 0 asks for 6, not the 3 times 2 and more that follow each sync.
        assert_eq!(after(FREE, 4, &[busy, busy, starts, starts]), 6);
        let keda = Autoscaler { is_external: true, ..FREE };
        assert_eq!(after(keda, 4, &[busy, busy, starts, starts]), 6);
        // The two that serve need half of themselves; those that start count as full by the wait.
        assert_eq!(after(FREE, 4, &[READY, READY, starts, starts]), 2);
        assert_eq!(
            after(FREE, 4, &[Seen { cpu_percent: None, ..READY }; 4]),
            4,
            "a metric without a value removes none"
        );
    }

    #[test]
    fn pods_leave_when_the_whole_window_allows_it_and_at_their_pace() {
        let settings = Autoscaler { down_after_s: 30.0, down: Pace { pods: 1, percent: 25, period_s: 60 }, ..FREE };
        let mut controller = Controller::new(settings, 8);
        let busy = Seen { cpu_percent: Some(120.0), ..READY };
        let idle = Seen { cpu_percent: Some(0.0), ..READY };
        assert_eq!(controller.sync(0.0, &[busy; 8]), 16);
        assert_eq!(controller.sync(15.0, &[idle; 16]), 16);
        assert_eq!(controller.sync(30.0, &[idle; 16]), 16);
        // 8 came within the period, so it began with 8.
        assert_eq!(controller.sync(45.0, &[idle; 16]), 6);
        assert_eq!(controller.sync(60.0, &[idle; 6]), 6, "the period began with 16 and gives 12, which is more than 6");
    }

    #[test]
    fn pods_come_at_their_pace() {
        let settings = Autoscaler { up: Pace { pods: 2, percent: 100, period_s: 60 }, ..FREE };
        let mut controller = Controller::new(settings, 1);
        let busy = Seen { wait_ms: Some(10_000.0), ..READY };
        let grown: Vec<usize> = [0.0, 15.0, 30.0, 60.0, 75.0, 120.0]
            .map(|now_s| {
                let pods = vec![busy; controller.current];
                controller.sync(now_s, &pods)
            })
            .to_vec();
        assert_eq!(grown, [3, 3, 3, 6, 6, 12]);
    }
}
