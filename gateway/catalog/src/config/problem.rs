//! Problems in a configuration, and the places where they were written.

use std::fmt;
use std::path::PathBuf;

/// Place where a value was written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Location {
    /// A line of the file, from 1; 0 for the file as a whole.
    File(PathBuf, usize),
    /// An environment variable.
    Env(String),
    /// A flag of the command line, by the key it sets.
    Flag(String),
    /// No place, because the value is missing.
    Default,
}

/// One problem of a configuration.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// Place where the value was written.
    pub place: Location,
    /// The key, section or other name that it is about; may be empty.
    pub name: String,
    /// Fault, as the words after the name.
    pub message: String,
}

/// All problems of a configuration, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ConfigError {
    /// Problems, at least one.
    pub problems: Vec<Problem>,
}

impl fmt::Display for Location {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path, 0) => write!(out, "{}: ", path.display()),
            Self::File(path, line) => write!(out, "{}:{line}: ", path.display()),
            Self::Env(name) => write!(out, "environment variable {name}: "),
            Self::Flag(_) => write!(out, "command line: "),
            Self::Default => Ok(()),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.place)?;
        if !self.name.is_empty() {
            write!(out, "{} ", self.name)?;
        }
        out.write_str(&self.message)
    }
}

/// One problem a line.
impl fmt::Display for ConfigError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
                out.write_str("\n")?;
            }
            write!(out, "{problem}")?;
        }
        Ok(())
    }
}
