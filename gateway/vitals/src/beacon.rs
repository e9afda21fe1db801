//! One beacon: what a browser measured of one page view, as `@sluice/browser` sends it. Everything in it is a stranger's word, so
//! it is taken whole or not at all. It must not know what it is added to.

use serde::Deserialize;

/// Longest beacon. Real ones have some 300 bytes.
pub const BEACON_BYTES_MAX: u64 = 4096;
/// The version of the form that is understood.
const VERSION: u8 = 1;
/// Maximum accepted time of a page, milliseconds. Nobody waits for ten minutes.
const TIME_MS_MAX: f64 = 600_000.0;
/// Maximum accepted sum of layout shifts. Pages that shift all the time reach some tens.
const CLS_MAX: f64 = 100.0;
/// Maximum accepted size of a page and its code, bytes.
const BYTES_MAX: f64 = 1e9;
/// Maximum accepted memory of a page, bytes.
const MEMORY_BYTES_MAX: f64 = 1e11;
/// Maximum accepted number of faulty components of a page.
const FAULTS_MAX: u64 = 10_000;
/// Maximum number of experiments of one page.
const VARIANTS_MAX: usize = 16;
/// Longest path or id of a page.
const PAGE_BYTES_MAX: usize = 2048;

/// A measure of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Time to the first byte.
    Ttfb,
    /// First contentful paint.
    Fcp,
    /// Largest contentful paint.
    Lcp,
    /// Interaction to next paint.
    Inp,
    /// Time to interactive: until the page's components answered.
    Tti,
    /// Slowest answer to a key.
    Key,
    /// Time by which frames were too long.
    Long,
}

impl Measure {
    /// All of them.
    pub const ALL: [Self; 7] = [Self::Ttfb, Self::Fcp, Self::Lcp, Self::Inp, Self::Tti, Self::Key, Self::Long];

    /// The word of metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ttfb => "ttfb",
            Self::Fcp => "fcp",
            Self::Lcp => "lcp",
            Self::Inp => "inp",
            Self::Tti => "tti",
            Self::Key => "key",
            Self::Long => "long",
        }
    }

    /// Milliseconds of a page view.
    pub(crate) fn of(self, beacon: &Beacon) -> Option<f64> {
        match self {
            Self::Ttfb => beacon.ttfb_ms,
            Self::Fcp => beacon.fcp_ms,
            Self::Lcp => beacon.lcp_ms,
            Self::Inp => beacon.inp_ms,
            Self::Tti => beacon.tti_ms,
            Self::Key => beacon.key_ms,
            Self::Long => beacon.long_ms,
        }
    }
}

/// Kinds of devices of visitors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Device {
    /// A telephone.
    Mobile,
    /// Any other.
    Desktop,
    /// A program.
    Bot,
}

impl Device {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 3] = [Self::Mobile, Self::Desktop, Self::Bot];

    /// The word in beacons, metrics and the config.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mobile => "mobile",
            Self::Desktop => "desktop",
            Self::Bot => "bot",
        }
    }
}

/// Measurements of a browser. Each measure is within its bounds.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Beacon {
    v: u8,
    /// Path or id of the page.
    #[serde(default)]
    pub page: Option<String>,
    /// The setting of the dial that this page got, as the page says it; empty where it says none.
    #[serde(default)]
    pub setting: String,
    /// The variant that the visitor is in.
    #[serde(default)]
    pub variant: Option<String>,
    /// Arms of all experiments that had a say in the page, where there are several: `variant` and others.
    #[serde(default)]
    pub variants: Vec<String>,
    /// The visitor's device.
    pub device: Device,
    /// Time to the first byte, milliseconds.
    #[serde(default)]
    pub ttfb_ms: Option<f64>,
    /// First contentful paint, milliseconds.
    #[serde(default)]
    pub fcp_ms: Option<f64>,
    /// Largest contentful paint, milliseconds.
    #[serde(default)]
    pub lcp_ms: Option<f64>,
    /// Interaction to next paint, milliseconds; none without an interaction.
    #[serde(default)]
    pub inp_ms: Option<f64>,
    /// Time until the page's components answered, milliseconds: those that are hydrated as soon as it loads.
    #[serde(default)]
    pub tti_ms: Option<f64>,
    /// Slowest answer to a key, to the next paint, milliseconds; none without a key.
    #[serde(default)]
    pub key_ms: Option<f64>,
    /// Time by which frames took longer than 50 ms, added up, milliseconds.
    #[serde(default)]
    pub long_ms: Option<f64>,
    /// JavaScript's memory when the page was left, bytes.
    #[serde(default)]
    pub memory_bytes: Option<f64>,
    /// Cumulative layout shift.
    #[serde(default)]
    pub cls: Option<f64>,
    /// Bytes of HTML.
    #[serde(default)]
    pub html_bytes: Option<f64>,
    /// Bytes of JavaScript.
    #[serde(default)]
    pub js_bytes: Option<f64>,
    /// Components whose HTML was not what the browser would have rendered.
    #[serde(default)]
    pub mismatches: u64,
    /// Components that the browser could not bring to life.
    #[serde(default)]
    pub failed: u64,
}

/// Reason why bytes are no beacon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.as_str())]
pub enum NotABeacon {
    /// No JSON object with the fields of a beacon.
    Form,
    /// Another version.
    Version,
    /// A label that no page has.
    Label,
    /// A measure that no page can have.
    Range,
}

impl NotABeacon {
    /// The same, as a part of a sentence.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Form => "it is not a JSON object with the fields of a beacon",
            Self::Version => "its version is not 1",
            Self::Label => "its setting, variant or page is too long or has characters that labels may not have",
            Self::Range => "one of its measures is out of range",
        }
    }
}

impl Beacon {
    /// Reads a beacon.
    ///
    /// # Errors
    /// If it is not one, or has a measure that no page can have.
    pub fn parse(bytes: &[u8]) -> Result<Self, NotABeacon> {
        let beacon: Self = serde_json::from_slice(bytes).map_err(|_| NotABeacon::Form)?;
        if beacon.v != VERSION {
            return Err(NotABeacon::Version);
        }
        let is_named = (beacon.setting.is_empty() || is_label(&beacon.setting))
            && beacon.variant.as_deref().is_none_or(is_label)
            && beacon.variants.len() <= VARIANTS_MAX
            && beacon.variants.iter().all(|variant| is_label(variant));
        if !is_named || beacon.page.as_ref().is_some_and(|page| page.len() > PAGE_BYTES_MAX) {
            return Err(NotABeacon::Label);
        }
        let times = Measure::ALL.map(|measure| (measure.of(&beacon), TIME_MS_MAX));
        let others = [
            (beacon.cls, CLS_MAX),
            (beacon.html_bytes, BYTES_MAX),
            (beacon.js_bytes, BYTES_MAX),
            (beacon.memory_bytes, MEMORY_BYTES_MAX),
        ];
        let is_plausible = |(value, max): &(Option<f64>, f64)| value.is_none_or(|value| (0.0..=*max).contains(&value));
        let is_counted = beacon.mismatches.max(beacon.failed) <= FAULTS_MAX;
        if is_counted && times.iter().chain(&others).all(is_plausible) { Ok(beacon) } else { Err(NotABeacon::Range) }
    }
}

impl Beacon {
    /// Labels of all arms that the page is of, each once.
    pub fn labels(&self) -> impl Iterator<Item = &str> {
        let others = self
            .variants
            .iter()
            .enumerate()
            .filter(|(at, other)| self.variant.as_ref() != Some(*other) && !self.variants[..*at].contains(other));
        self.variant.as_deref().into_iter().chain(others.map(|(_, other)| other.as_str()))
    }
}

/// Longest label of a setting or a variant.
const LABEL_BYTES_MAX: usize = 64;

/// Whether pages may carry this label.
pub(crate) fn is_label(text: &str) -> bool {
    (1..=LABEL_BYTES_MAX).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._:%-".contains(&byte))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WHOLE: &str = r#"{"v":1,"page":"/p/7","setting":"s50","variant":"hero:b","device":"mobile","ttfb_ms":120.5,
        "fcp_ms":800,"lcp_ms":1900,"inp_ms":null,"cls":0.02,"html_bytes":40000,"js_bytes":61000}"#;

    #[test]
    fn beacons_are_taken_whole_with_measures_that_are_there() {
        let beacon = Beacon::parse(WHOLE.as_bytes()).unwrap();
        assert_eq!((beacon.setting.as_str(), beacon.variant.as_deref()), ("s50", Some("hero:b")));
        assert_eq!((beacon.device, beacon.ttfb_ms, beacon.inp_ms), (Device::Mobile, Some(120.5), None));
        let least = Beacon::parse(br#"{"v":1,"device":"bot","later":{"a":[1]}}"#).unwrap();
        assert_eq!((least.page, least.lcp_ms, least.device), (None, None, Device::Bot));
        assert_eq!((least.setting.as_str(), least.mismatches, least.failed), ("", 0, 0));
        assert_eq!(beacon.labels().collect::<Vec<_>>(), ["hero:b"]);
        let several = br#"{"v":1,"device":"mobile","variant":"hero:b","variants":["hero:b","card:a","card:a"]}"#;
        let several = Beacon::parse(several).unwrap();
        assert_eq!(several.labels().collect::<Vec<_>>(), ["hero:b", "card:a"], "each of them once");
    }

    #[test]
    fn anything_else_is_refused_and_says_why() {
        let with = |from: &str, to: &str| {
            let text = WHOLE.replacen(from, to, 1);
            assert_ne!(text, WHOLE, "{from} is not there");
            Beacon::parse(text.as_bytes()).unwrap_err()
        };
        let long = format!(r#""setting":"{}""#, "x".repeat(65));
        let many = format!(r#""v":1,"variants":["a:b"{}],"#, r#","a:b""#.repeat(VARIANTS_MAX));
        for (from, to, why) in [
            (r#""v":1"#, r#""v":2"#, NotABeacon::Version),
            (r#""v":1,"#, "", NotABeacon::Form),
            (r#""setting":"s50""#, r#""variant":"""#, NotABeacon::Form),
            (r#""v":1,"#, r#""v":1,"failed":10001,"#, NotABeacon::Range),
            (r#""v":1,"#, r#""v":1,"failed":-1,"#, NotABeacon::Form),
            (r#""setting":"s50""#, r#""setting":"a\nb""#, NotABeacon::Label),
            (r#""setting":"s50""#, &long, NotABeacon::Label),
            (r#""variant":"hero:b""#, r#""variant":"<b>""#, NotABeacon::Label),
            (r#""v":1,"#, r#""v":1,"variants":["a:b","<b>"],"#, NotABeacon::Label),
            (r#""v":1,"#, &many, NotABeacon::Label),
            (r#""v":1,"#, r#""v":1,"variants":"a:b","#, NotABeacon::Form),
            (r#""mobile""#, r#""toaster""#, NotABeacon::Form),
            (r#""mobile""#, "7", NotABeacon::Form),
            ("120.5", "-1", NotABeacon::Range),
            ("120.5", "600001", NotABeacon::Range),
            ("120.5", "1e308", NotABeacon::Range),
            ("120.5", "1e999", NotABeacon::Form),
            ("120.5", "NaN", NotABeacon::Form),
            ("120.5", r#""120""#, NotABeacon::Form),
            (r#""inp_ms":null"#, r#""tti_ms":-1"#, NotABeacon::Range),
            (r#""inp_ms":null"#, r#""key_ms":600001"#, NotABeacon::Range),
            (r#""inp_ms":null"#, r#""long_ms":"1""#, NotABeacon::Form),
            (r#""inp_ms":null"#, r#""memory_bytes":1e12"#, NotABeacon::Range),
            ("0.02", "101", NotABeacon::Range),
            ("61000", "1e10", NotABeacon::Range),
            (r#""fcp_ms":800"#, r#""ttfb_ms":1"#, NotABeacon::Form),
        ] {
            assert_eq!(with(from, to), why, "{to}");
        }
        let deep = format!(r#"{{"v":1,"setting":"s","device":"bot","x":{}"#, "[".repeat(4000));
        for text in ["", "null", "[]", "{}", "\u{0}", &WHOLE[..40], &format!("{WHOLE}{WHOLE}"), &deep] {
            assert_eq!(Beacon::parse(text.as_bytes()).unwrap_err(), NotABeacon::Form, "{text:.40}");
        }
        assert_eq!(Beacon::parse(b"{\"v\":1,\"setting\":\"\xff\"}").unwrap_err(), NotABeacon::Form);
    }

    proptest! {
        #[test]
        fn i8_no_bytes_make_the_parser_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300), at in 0..WHOLE.len()) {
            let _ = Beacon::parse(&bytes);
            let mut mangled = WHOLE.as_bytes().to_vec();
            mangled.splice(at..at, bytes);
            let _ = Beacon::parse(&mangled);
        }
    }
}
