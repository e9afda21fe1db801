//! Limits of lines, for a check that fails when one exceeds them.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use super::{Change, CodeLocation, HotLine, Hotspots};

/// A figure of each line that has a limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// Limited figure.
    pub figure: Figure,
    /// Largest value.
    limit: Limit,
}

/// Figures that may be limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// The longest single run.
    Worst,
    /// Runs above the threshold.
    Runs,
    /// Time with it on the stack.
    Total,
    /// Time with it on top.
    Own,
    /// Time of the garbage collector within its runs.
    Collector,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Limit {
    Ms(f64),
    /// Share of the time in which anything ran.
    Percent(f64),
    Count(f64),
}

/// A line that is over a budget.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Over {
    /// Place of the line.
    #[serde(flatten)]
    pub place: CodeLocation,
    /// The budget, as it was given.
    #[serde(serialize_with = "as_text")]
    pub budget: Budget,
    /// Value of the line, in the budget's unit; with a comparison, the increase.
    pub value: f64,
}

/// Reason why a budget cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotABudget {
    /// Text without `=`.
    #[error("a budget is a figure and its limit, such as worst=50ms or self=5%")]
    Form,
    /// Lines have no such figure.
    #[error("{name} is not a figure of a line; figures are {}", Figure::ALL.map(Figure::as_str).join(", "))]
    Figure {
        /// Name that was written.
        name: String,
    },
    /// The number of runs is none.
    #[error("runs need a number as limit, such as runs=0")]
    Count,
    /// The percentage is none.
    #[error("a limit in percent looks like self=5%")]
    Percent,
    /// The figure is no part of anything.
    #[error("{} cannot have a limit in percent", .0.as_str())]
    NoPercent(Figure),
    /// The time is none.
    #[error(transparent)]
    Time(#[from] NotATime),
}

/// The text is no time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a time such as 10ms, 1.5s or 500us")]
pub struct NotATime(String);

impl Figure {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Worst, Self::Runs, Self::Total, Self::Own, Self::Collector];

    /// The word on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Worst => "worst",
            Self::Runs => "runs",
            Self::Total => "total",
            Self::Own => "self",
            Self::Collector => "gc",
        }
    }

    /// Milliseconds, or a number of runs.
    #[allow(clippy::cast_precision_loss, reason = "runs are far fewer than 2^53")]
    pub fn value(self, line: &HotLine) -> f64 {
        match self {
            Self::Worst => line.worst_ms,
            Self::Runs => line.runs_over as f64,
            Self::Total => line.total_ms,
            Self::Own => line.self_ms,
            Self::Collector => line.gc_ms,
        }
    }
}

impl Budget {
    /// Lines of code that are over it.
    pub fn over(self, report: &Hotspots) -> Vec<Over> {
        let lines = report.lines.iter().filter(|line| line.place.is_code());
        let of_busy = if report.busy_ms > 0.0 { 100.0 / report.busy_ms } else { 0.0 };
        let values = lines.map(|line| (&line.place, self.figure.value(line) * self.scale(of_busy)));
        self.above(values)
    }

    /// Lines of code that have grown by more than it: times in each second watched, percents of a second.
    pub fn over_growth(self, changes: &[Change]) -> Vec<Over> {
        let changes = changes.iter().filter(|change| change.place.is_code());
        let values = changes.map(|change| {
            let value = |figures: &Option<super::compare::Figures>| {
                figures.as_ref().map_or(0.0, |figures| match self.figure {
                    Figure::Worst => figures.worst_ms,
                    Figure::Runs => figures.runs_over_per_s,
                    Figure::Total => figures.total_ms_per_s,
                    Figure::Own => figures.self_ms_per_s,
                    Figure::Collector => figures.gc_ms_per_s,
                })
            };
            (&change.place, (value(&change.after) - value(&change.before)) * self.scale(0.1))
        });
        self.above(values)
    }

    fn scale(self, percent_of_ms: f64) -> f64 {
        if matches!(self.limit, Limit::Percent(_)) { percent_of_ms } else { 1.0 }
    }

    fn above<'p>(self, values: impl Iterator<Item = (&'p CodeLocation, f64)>) -> Vec<Over> {
        let (Limit::Ms(limit) | Limit::Percent(limit) | Limit::Count(limit)) = self.limit;
        let over = values.filter(|(_, value)| *value > limit);
        let mut over: Vec<Over> =
            over.map(|(place, value)| Over { place: place.clone(), budget: self, value }).collect();
        over.sort_by(|a, b| b.value.total_cmp(&a.value));
        over
    }

    /// A value with the budget's unit.
    pub fn show(self, value: f64) -> String {
        match self.limit {
            Limit::Ms(_) => format!("{value:.1} ms"),
            Limit::Percent(_) => format!("{value:.1} %"),
            Limit::Count(_) => format!("{value:.0}"),
        }
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let name = self.figure.as_str();
        match self.limit {
            Limit::Ms(ms) => write!(f, "{name}={ms}ms"),
            Limit::Percent(percent) => write!(f, "{name}={percent}%"),
            Limit::Count(count) => write!(f, "{name}={count}"),
        }
    }
}

impl FromStr for Budget {
    type Err = NotABudget;

    fn from_str(text: &str) -> Result<Self, NotABudget> {
        let (name, limit) = text.split_once('=').ok_or(NotABudget::Form)?;
        let figure = Figure::ALL.into_iter().find(|figure| figure.as_str() == name);
        let figure = figure.ok_or_else(|| NotABudget::Figure { name: name.to_owned() })?;
        let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
        let limit = match (figure, limit.strip_suffix('%')) {
            (Figure::Runs, None) => number(limit).map(Limit::Count).ok_or(NotABudget::Count)?,
            (Figure::Runs | Figure::Worst, Some(_)) => return Err(NotABudget::NoPercent(figure)),
            (_, Some(percent)) => number(percent).map(Limit::Percent).ok_or(NotABudget::Percent)?,
            (_, None) => Limit::Ms(milliseconds(limit)?),
        };
        Ok(Self { figure, limit })
    }
}

/// A time such as `10ms`, `1.5s`, `500us`; without a unit, milliseconds.
///
/// # Errors
/// If it is written otherwise.
pub fn milliseconds(text: &str) -> Result<f64, NotATime> {
    let units = [("us", 0.001), ("ms", 1.0), ("s", 1000.0), ("", 1.0)];
    let found = units.into_iter().find_map(|(unit, ms)| Some((text.strip_suffix(unit)?, ms)));
    let number = found.and_then(|(number, ms)| Some(number.trim_end().parse::<f64>().ok()? * ms));
    number.filter(|ms| ms.is_finite() && *ms >= 0.0).ok_or_else(|| NotATime(text.to_owned()))
}

fn as_text<S: Serializer>(budget: &Budget, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(budget)
}
