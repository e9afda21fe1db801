//! State of the gateway as the screen knows it: the latest answer, the minutes before it, and events. Pure: answers go
//! in.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use sluice_admin::protocol::{HistoryCursor, WatchReply};
use sluice_catalog::dashboard::{Mark, MarkKind, MarkLevel, Point};
use sluice_catalog::snapshot::{ClassesSnapshot, QuarantinedRequest, Snapshot};

/// Maximum length of trends, seconds.
pub(super) const POINTS_MAX: usize = 300;
/// Maximum number of stored events of each kind, across gateways.
const MARKS_MAX: usize = 200;
/// Seconds that rates of classes are of.
const CLASS_RATE_S: u64 = 10;

/// All that is drawn.
#[derive(Clone, Debug)]
pub(super) struct Data {
    pub(super) seen: HistoryCursor,
    pub(super) now_ms: u64,
    pub(super) status: Snapshot,
    pub(super) points: VecDeque<Point>,
    /// The latest last.
    pub(super) marks: VecDeque<Mark>,
    pub(super) classes: ClassesSnapshot,
    pub(super) quarantined: Vec<QuarantinedRequest>,
    /// Requests of each class at some earlier answers.
    counts: VecDeque<(u64, BTreeMap<String, u64>)>,
}

impl Data {
    pub(super) fn new(watched: WatchReply) -> Self {
        let mut data = Self {
            seen: HistoryCursor::default(),
            now_ms: watched.now_ms,
            status: watched.status.clone(),
            points: VecDeque::new(),
            marks: VecDeque::new(),
            classes: ClassesSnapshot::default(),
            quarantined: Vec::new(),
            counts: VecDeque::new(),
        };
        data.seen.epoch = watched.epoch;
        data.add(watched);
        data
    }

    /// Takes in one more answer, perhaps of another gateway.
    pub(super) fn add(&mut self, watched: WatchReply) {
        let WatchReply { epoch, now_ms, status, points, marks, costs } = watched;
        if epoch != self.seen.epoch {
            self.points.clear();
            self.counts.clear();
            self.seen = HistoryCursor { epoch, ..HistoryCursor::default() };
            let text = format!("another gateway answers: process {} after {}", status.pid, self.status.pid);
            self.push_mark(Mark {
                id: 0,
                at_ms: now_ms,
                kind: MarkKind::Note,
                event: "gateway_replaced".to_owned(),
                level: MarkLevel::Warn,
                worker: None,
                text,
                detail: None,
            });
        }
        for point in points {
            if point.at_ms > self.seen.at_ms {
                self.seen.at_ms = point.at_ms;
                self.points.push_back(point);
            }
        }
        while self.points.len() > POINTS_MAX {
            self.points.pop_front();
        }
        for mark in marks {
            if mark.id > self.seen.mark {
                self.seen.mark = mark.id;
                self.push_mark(mark);
            }
        }
        self.now_ms = now_ms;
        self.status = status;
        self.classes = costs.classes;
        self.quarantined = costs.quarantined;
        let counts = self.classes.classes.iter().map(|class| (class.class.clone(), class.requests)).collect();
        self.counts.push_back((now_ms, counts));
        while self.counts.get(1).is_some_and(|(at_ms, _)| at_ms + CLASS_RATE_S * 1000 <= now_ms) {
            self.counts.pop_front();
        }
    }

    fn push_mark(&mut self, mark: Mark) {
        let alike = || self.marks.iter().enumerate().filter(|(_, known)| known.kind == mark.kind).map(|(at, _)| at);
        if alike().count() == MARKS_MAX
            && let Some(oldest) = alike().next()
        {
            self.marks.remove(oldest);
        }
        self.marks.push_back(mark);
    }

    /// Time since then, seconds.
    pub(super) fn ago_s(&self, at_ms: u64) -> f64 {
        Duration::from_millis(self.now_ms.saturating_sub(at_ms)).as_secs_f64()
    }

    /// Requests of a class a second over about the last ten; `None` after the first answer.
    #[allow(clippy::cast_precision_loss, reason = "counts of ten seconds")]
    pub(super) fn class_rate(&self, class: &str, requests: u64) -> Option<f64> {
        let (at_ms, counts) = self.counts.front()?;
        let over_s = self.now_ms.saturating_sub(*at_ms) as f64 / 1000.0;
        let before = counts.get(class).copied().unwrap_or(0);
        (over_s > 0.0).then(|| requests.saturating_sub(before) as f64 / over_s)
    }

    /// The mean of a figure over the last so many seconds.
    #[allow(clippy::cast_precision_loss, reason = "a few points")]
    pub(super) fn mean(&self, seconds: usize, of: impl Fn(&Point) -> f32) -> Option<f64> {
        let latest = self.points.iter().rev().take(seconds);
        let count = latest.len();
        (count > 0).then(|| latest.map(|point| f64::from(of(point))).sum::<f64>() / count as f64)
    }
}
