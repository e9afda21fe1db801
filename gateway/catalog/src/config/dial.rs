//! Form of `render.server`: shares of visitors who get server rendering, for all components, one component, or one device.
//!
//! This module must not know who renders, nor which visitor falls into a share.

use std::collections::BTreeMap;
use std::fmt;

use super::nearest;

/// Devices that an entry may be for, in the words of beacons and of `@sluice/render`.
pub const DEVICES: [&str; 3] = ["mobile", "desktop", "bot"];
/// Entry for components that no other entry is for.
pub const EVERY_COMPONENT: &str = "*";
/// Path at which the gateway takes what browsers measure: TTFB, LCP, INP, CLS, bytes.
pub const VITALS_PATH: &str = "/.sluice/vitals";
/// Maximum number of entries of a dial. Each worker is sent all of them.
const ENTRIES_MAX: usize = 200;
/// Longest name of a component.
const NAME_CHARS_MAX: usize = 100;
const WHOLE: u16 = 10_000;

/// Share of visitors, exact to a hundredth of a percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Share {
    /// Share in hundredths of a percent, 0 to 10,000.
    hundredths_of_percent: u16,
}

/// Shares by component, device or both. There is always one for [`EVERY_COMPONENT`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dial {
    shares: BTreeMap<String, Share>,
}

/// Fault of a dial, as a part of a sentence that follows the name of its key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DialFault {
    /// The dial has too many entries.
    #[error("must contain at most {ENTRIES_MAX} entries, not {0}")]
    TooMany(usize),
    /// The text is no share.
    #[error("contains {text:?} for {name:?}, which must be a share from \"0%\" to \"100%\" with at most two decimals")]
    Share {
        /// The entry.
        name: String,
        /// Text in the place of the share.
        text: String,
    },
    /// The entry can be for no component.
    #[error(
        "contains the entry {0:?}, which must name a component in 1 to {NAME_CHARS_MAX} characters without white space, or be \"*\", \
         optionally with a device after it, like \"Reviews@mobile\" or \"*@bot\""
    )]
    Name(String),
    /// The text after the last `@` is no device.
    #[error(
        "contains the entry {name:?}, whose device must be one of {}{}",
        DEVICES.join(", "),
        near.map_or_else(String::new, |near| format!("; did you mean {near:?}?"))
    )]
    Device {
        /// The entry.
        name: String,
        /// The device that was probably meant.
        near: Option<&'static str>,
    },
}

impl Share {
    /// All visitors.
    pub const ALL: Self = Self { hundredths_of_percent: WHOLE };

    /// Reads `0%` to `100%`, with at most two decimals.
    pub fn parse(text: &str) -> Option<Self> {
        let number = text.trim().strip_suffix('%')?;
        let (whole, decimals) = number.split_once('.').unwrap_or((number, "0"));
        let are_digits = |text: &str, most: usize| {
            (1..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
        };
        if !are_digits(whole, 3) || !are_digits(decimals, 2) {
            return None;
        }
        let hundredths: u16 = format!("{decimals:0<2}").parse().ok()?;
        let hundredths_of_percent = whole.parse::<u16>().ok()?.checked_mul(100)?.checked_add(hundredths)?;
        (hundredths_of_percent <= WHOLE).then_some(Self { hundredths_of_percent })
    }

    /// Share as a fraction, 0 to 1.
    pub fn ratio(self) -> f64 {
        f64::from(self.hundredths_of_percent) / f64::from(WHOLE)
    }
}

/// Writes the share as in the config: `12.5%`.
impl fmt::Display for Share {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}%", f64::from(self.hundredths_of_percent) / 100.0)
    }
}

impl Default for Dial {
    fn default() -> Self {
        Self { shares: BTreeMap::from([(EVERY_COMPONENT.to_owned(), Share::ALL)]) }
    }
}

impl Dial {
    /// Reads entries as they stand in the config.
    ///
    /// # Errors
    /// All that is wrong with them.
    pub fn read(entries: &BTreeMap<String, String>) -> Result<Self, Vec<DialFault>> {
        if entries.len() > ENTRIES_MAX {
            return Err(vec![DialFault::TooMany(entries.len())]);
        }
        let (mut dial, mut faults) = (Self::default(), Vec::new());
        for (name, text) in entries {
            faults.extend(name_fault(name));
            match Share::parse(text) {
                Some(share) => _ = dial.shares.insert(name.clone(), share),
                None => faults.push(DialFault::Share { name: name.clone(), text: text.clone() }),
            }
        }
        if faults.is_empty() { Ok(dial) } else { Err(faults) }
    }

    /// Copy of this dial with other shares for some entries.
    ///
    /// # Errors
    /// All faults of these entries, or of the whole.
    pub fn with(&self, entries: &BTreeMap<String, String>) -> Result<Self, Vec<DialFault>> {
        let Self { shares } = Self::read(entries)?;
        let mut dial = self.clone();
        dial.shares.extend(shares.into_iter().filter(|(name, _)| entries.contains_key(name)));
        match dial.shares.len() {
            0..=ENTRIES_MAX => Ok(dial),
            count => Err(vec![DialFault::TooMany(count)]),
        }
    }

    /// The shares by entry.
    pub fn shares(&self) -> &BTreeMap<String, Share> {
        &self.shares
    }

    /// The shares as they are written.
    pub fn texts(&self) -> BTreeMap<String, String> {
        self.shares.iter().map(|(name, share)| (name.clone(), share.to_string())).collect()
    }
}

/// Fault of an entry's name that no component can match.
fn name_fault(name: &str) -> Option<DialFault> {
    let (component, device) = name.rsplit_once('@').map_or((name, None), |(of, device)| (of, Some(device)));
    let is_name = |text: &str| !text.chars().any(|character| character.is_control() || character.is_whitespace());
    if !is_name(name) || component.is_empty() || component.chars().count() > NAME_CHARS_MAX {
        return Some(DialFault::Name(name.to_owned()));
    }
    let device = device.filter(|device| !DEVICES.contains(device))?;
    Some(DialFault::Device { name: name.to_owned(), near: nearest(device, DEVICES) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(entries: &[(&str, &str)]) -> BTreeMap<String, String> {
        entries.iter().map(|(name, share)| ((*name).to_owned(), (*share).to_owned())).collect()
    }

    #[test]
    fn shares_are_read_and_written_to_a_hundredth_of_a_percent() {
        for (text, ratio, written) in [
            ("0%", 0.0, "0%"),
            ("100%", 1.0, "100%"),
            ("100.00%", 1.0, "100%"),
            ("12.5%", 0.125, "12.5%"),
            ("0.05%", 0.0005, "0.05%"),
            (" 50% ", 0.5, "50%"),
        ] {
            let share = Share::parse(text).unwrap();
            assert!((share.ratio() - ratio).abs() < 1e-9, "{text}");
            assert_eq!(share.to_string(), written);
        }
        for text in
            ["", "%", "50", "50 %", "-1%", "+1%", "101%", "100.01%", "1e1%", "0.005%", ".5%", "5.%", "65636%", "٥%"]
        {
            assert_eq!(Share::parse(text), None, "{text}");
        }
    }

    #[test]
    fn dial_has_a_share_for_everything_unless_it_says_another() {
        let dial = Dial::read(&entries(&[("Reviews", "0%"), ("shop/Price@mobile", "25%")])).unwrap();
        let texts = entries(&[("*", "100%"), ("Reviews", "0%"), ("shop/Price@mobile", "25%")]);
        assert_eq!(dial.texts(), texts);
        let turned = dial.with(&entries(&[("Reviews", "50%")])).unwrap();
        assert_eq!(turned.texts()["Reviews"], "50%");
        assert_eq!(turned.with(&entries(&[("*", "10%")])).unwrap().texts()["*"], "10%");
        assert_eq!(turned.with(&entries(&[("A", "1%")])).unwrap().texts()["*"], "100%", "not touched");
    }

    #[test]
    fn whatever_is_wrong_is_named_with_what_is_allowed() {
        let faults = |name: &str, share: &str| {
            Dial::read(&entries(&[(name, share)])).map_err(|faults| faults.iter().map(ToString::to_string).collect())
        };
        let told = |faults: Result<Dial, Vec<String>>, words: &str| {
            assert!(
                faults.as_ref().is_err_and(|faults| faults.iter().any(|fault| fault.contains(words))),
                "{faults:?}"
            );
        };
        told(faults("Reviews", "half"), "\"half\" for \"Reviews\", which must be a share");
        told(faults("Reviews@mobil", "1%"), "did you mean \"mobile\"?");
        told(faults("Reviews@2", "1%"), "one of mobile, desktop, bot");
        for name in ["", "@mobile", "a b", "a\n", &"x".repeat(101)] {
            told(faults(name, "1%"), "must name a component");
        }
        assert!(faults(&"x".repeat(100), "1%").is_ok());
        let many: BTreeMap<_, _> = (0..=200).map(|number| (format!("C{number}"), "1%".to_owned())).collect();
        assert_eq!(Dial::read(&many), Err(vec![DialFault::TooMany(201)]));
        let full: BTreeMap<_, _> = (0..199).map(|number| (format!("C{number}"), "1%".to_owned())).collect();
        let full = Dial::read(&full).unwrap();
        assert!(full.with(&entries(&[("C1", "2%")])).is_ok());
        assert_eq!(full.with(&entries(&[("D", "2%")])), Err(vec![DialFault::TooMany(201)]));
    }
}
