//! Loads and faults, and the cells that they make.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use serde::{Serialize, Serializer};

/// Maximum number of clients.
const CLIENTS_MAX: u32 = 4_000;

/// Requests that arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// 30 % of the capacity that was measured.
    Low,
    /// 75 % of it.
    High,
    /// 110 % of it: the queue grows for as long as the load lasts.
    Queueing,
    /// Number of clients, each of which sends its next request when it has its answer.
    Clients(u32),
}

impl Load {
    /// Part of the capacity, where requests arrive regardless of answers.
    pub fn share(self) -> Option<f64> {
        match self {
            Self::Low => Some(0.3),
            Self::High => Some(0.75),
            Self::Queueing => Some(1.1),
            Self::Clients(_) => None,
        }
    }
}

impl Display for Load {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Low => out.write_str("low"),
            Self::High => out.write_str("high"),
            Self::Queueing => out.write_str("queueing"),
            Self::Clients(1) => out.write_str("1 client"),
            Self::Clients(count) => write!(out, "{count} clients"),
        }
    }
}

/// Error for a text that is no load.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected low, high, queueing or a number of clients from 1 to {CLIENTS_MAX}")]
pub struct LoadError;

impl FromStr for Load {
    type Err = LoadError;

    fn from_str(text: &str) -> Result<Self, LoadError> {
        match text {
            "low" => Ok(Self::Low),
            "high" => Ok(Self::High),
            "queueing" => Ok(Self::Queueing),
            _ => {
                text.parse().ok().filter(|count| (1..=CLIENTS_MAX).contains(count)).map(Self::Clients).ok_or(LoadError)
            }
        }
    }
}

/// Event during the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// None.
    None,
    /// A rolling reload, as by `sluice reload`.
    Reload,
    /// SIGKILL of a worker, several times.
    Kills,
    /// A loop without end in a worker.
    Loop,
}

impl Fault {
    /// Every fault, in the order of the report.
    pub const ALL: [Self; 4] = [Self::None, Self::Reload, Self::Kills, Self::Loop];

    /// Name, as it is written for `--faults`.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Reload => "reload",
            Self::Kills => "kills",
            Self::Loop => "loop",
        }
    }

    /// Whether a request that is lost with it is a fault of the gateway or of its settings.
    pub fn must_lose_nothing(self) -> bool {
        matches!(self, Self::None | Self::Reload)
    }
}

impl Serialize for Load {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl Serialize for Fault {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name())
    }
}

/// Everything that is tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matrix {
    loads: Vec<Load>,
    faults: Vec<Fault>,
}

impl Matrix {
    /// Each load with each fault; what is named twice is tried once.
    pub fn new(loads: &[Load], faults: &[Fault]) -> Self {
        let mut matrix = Self { loads: Vec::new(), faults: Vec::new() };
        for load in loads {
            if !matrix.loads.contains(load) {
                matrix.loads.push(*load);
            }
        }
        matrix.faults.extend(Fault::ALL.into_iter().filter(|fault| faults.contains(fault)));
        matrix
    }

    /// Cells in their order: all faults of one load, then the next load, with the load's number.
    pub fn cells(&self) -> impl Iterator<Item = (u64, Load, Fault)> + '_ {
        let loads = (0..).zip(&self.loads);
        loads.flat_map(|(number, load)| self.faults.iter().map(move |fault| (number, *load, *fault)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_are_words_or_numbers_of_clients() {
        assert_eq!("queueing".parse(), Ok(Load::Queueing));
        assert_eq!("13".parse(), Ok(Load::Clients(13)));
        for text in ["", "0", "-1", "4001", "LOW", "5.5", "lows"] {
            assert_eq!(text.parse::<Load>(), Err(LoadError), "{text}");
        }
        assert_eq!([Load::Clients(1), Load::Clients(2)].map(|load| load.to_string()), ["1 client", "2 clients"]);
    }

    #[test]
    fn cells_are_all_faults_of_each_load_once_with_none_first() {
        let matrix =
            Matrix::new(&[Load::High, Load::Clients(5), Load::High], &[Fault::Kills, Fault::None, Fault::None]);
        let cells: Vec<_> = matrix.cells().collect();
        assert_eq!(
            cells,
            [
                (0, Load::High, Fault::None),
                (0, Load::High, Fault::Kills),
                (1, Load::Clients(5), Fault::None),
                (1, Load::Clients(5), Fault::Kills),
            ]
        );
    }
}
