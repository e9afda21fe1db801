//! Knowledge of classes as the text of a file: for the next start, perhaps of another version. It must not know where
//! the file is.

use serde::{Deserialize, Serialize};
use sluice_scheduler::SavedCosts;

const VERSION: u32 = 1;
/// Maximum size of a file of learned costs, bytes. Larger ones are not ours.
pub const TEXT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Places where anything is a parameter, and what classes cost, by name.
type SavedClasses = (Vec<String>, Vec<(String, SavedCosts)>);

#[derive(Deserialize)]
struct Version {
    version: u32,
}

#[derive(Serialize, Deserialize)]
struct File {
    version: u32,
    /// Places where anything is a parameter.
    folds: Vec<String>,
    classes: Vec<Entry>,
}

#[derive(Serialize, Deserialize)]
struct Entry {
    class: String,
    records: u32,
    mean_us: f64,
    mean_square: f64,
    long_mean_us: f64,
    buckets: Vec<(u8, u16)>,
}

/// The text of the file.
pub fn write<'n>(folds: Vec<String>, costs: impl Iterator<Item = (&'n str, SavedCosts)>) -> String {
    let classes = costs.map(|(class, saved)| {
        let SavedCosts { records, mean_us, mean_square, long_mean_us, buckets } = saved;
        Entry { class: class.to_owned(), records, mean_us, mean_square, long_mean_us, buckets }
    });
    let file = File { version: VERSION, folds, classes: classes.collect() };
    // Numbers that JSON has no word for become null and are refused when read.
    serde_json::to_string(&file).unwrap_or_default()
}

/// Reason why such a text cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SavedError {
    /// Text far larger than any of ours.
    #[error("it has more than {TEXT_BYTES_MAX} bytes")]
    TooLarge,
    /// Text that is no JSON, or not of our form.
    #[error("{0}")]
    Form(#[from] serde_json::Error),
    /// Another gateway's.
    #[error("it is of version {0}, and this gateway reads version {VERSION}")]
    Version(u32),
}

/// Reads a text that [`write`] made.
///
/// # Errors
/// If the text is not of that form.
pub fn read(text: &str) -> Result<SavedClasses, SavedError> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(SavedError::TooLarge);
    }
    let Version { version } = serde_json::from_str(text)?;
    if version != VERSION {
        return Err(SavedError::Version(version));
    }
    let file: File = serde_json::from_str(text)?;
    let costs = file.classes.into_iter().map(|entry| {
        let Entry { class, records, mean_us, mean_square, long_mean_us, buckets } = entry;
        (class, SavedCosts { records, mean_us, mean_square, long_mean_us, buckets })
    });
    Ok((file.folds, costs.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let saved = SavedCosts {
            records: 7,
            mean_us: 1.5,
            mean_square: 3.25,
            long_mean_us: 2.0,
            buckets: vec![(3, 9), (100, 1)],
        };
        let text = write(vec!["/shop".to_owned()], [("GET /", saved.clone())].into_iter());
        assert_eq!(read(&text).unwrap(), (vec!["/shop".to_owned()], vec![("GET /".to_owned(), saved)]));
    }

    #[test]
    fn i8_any_other_text_is_refused() {
        for text in
            ["", "{}", "[]", "{\"version\":2}", "{\"version\":1}", "{\"version\":1,\"folds\":[],\"classes\":[1]}"]
        {
            assert!(read(text).is_err(), "{text}");
        }
        assert!(read(&" ".repeat(TEXT_BYTES_MAX + 1)).is_err());
    }
}
