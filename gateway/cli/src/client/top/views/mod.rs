//! The views: each makes lines of the data, as many as there are. They must not know how many fit on the screen.

mod classes;
mod events;
mod queue;
mod workers;

use clap::ValueEnum;
use ratatui::text::Line;

use super::state::State;

pub(super) use queue::kind as outcome_kind;
pub(in crate::client) use workers::rows as worker_rows;

/// View below the figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum View {
    /// Current work of each worker
    #[default]
    Workers,
    /// Costs of requests, by class
    Classes,
    /// Events, the latest first
    Events,
    /// Queue, and refusals with their reasons
    Queue,
}

/// Lines of a view.
#[derive(Debug, Default)]
pub(in crate::client) struct Body {
    /// Stays while the lines scroll.
    pub(in crate::client) head: Option<Line<'static>>,
    pub(in crate::client) lines: Vec<Line<'static>>,
}

impl View {
    pub(super) const ALL: [Self; 4] = [Self::Workers, Self::Classes, Self::Events, Self::Queue];

    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Workers => "workers",
            Self::Classes => "classes",
            Self::Events => "events",
            Self::Queue => "queue",
        }
    }

    /// Orders of rows, the first for a start.
    pub(super) const fn orders(self) -> &'static [&'static str] {
        match self {
            Self::Workers => &workers::ORDERS,
            Self::Classes => &classes::ORDERS,
            Self::Events => &events::ORDERS,
            Self::Queue => &[],
        }
    }

    pub(super) fn next(self, by: usize) -> Self {
        Self::ALL[(self as usize + by) % Self::ALL.len()]
    }

    pub(super) fn body(self, state: &State, columns: usize) -> Body {
        match self {
            Self::Workers => workers::body(state, columns),
            Self::Classes => classes::body(state, columns),
            Self::Events => events::body(state, columns),
            Self::Queue => queue::body(state, columns),
        }
    }
}
