//! The macro that turns the table of keys into types and into data about them. It must not know any single key.

use super::duration::TimeUnit;
use super::value_error::ValueError;
use super::values::{Kind, Value};
use super::{Config, SECTIONS};

/// Lowest and highest value of a number, both allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Lowest value.
    pub min: u64,
    /// Highest value.
    pub max: u64,
}

/// Time at which a changed value takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applies {
    /// The next `sluice reload`.
    Reload,
    /// The next start of the gateway.
    Restart,
}

/// Secret part of a value: no worker gets the key's variable, and nothing that Sluice prints shows the secret.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Secrecy {
    /// The value has no secret.
    #[default]
    Public,
    /// The whole value is secret; of a table, each value.
    Secret,
    /// User and password of a URL.
    Login,
}

impl Secrecy {
    /// The value with `…` in place of its secrets.
    pub fn masked(self, value: serde_json::Value) -> serde_json::Value {
        match (self, value) {
            (Self::Public, value) | (_, value @ serde_json::Value::Null) => value,
            (Self::Login, serde_json::Value::String(url)) => without_login(&url).into(),
            (_, serde_json::Value::Object(entries)) => {
                entries.into_iter().map(|(name, value)| (name, Self::Secret.masked(value))).collect()
            }
            _ => MASK.into(),
        }
    }
}

/// Mask in place of a secret.
const MASK: &str = "…";

/// A URL without its user and password.
fn without_login(url: &str) -> String {
    match (url.split_once("://"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, place))) => format!("{scheme}://{MASK}@{place}"),
        (None, Some(_)) => MASK.to_owned(),
        _ => url.to_owned(),
    }
}

/// One TOML table.
#[derive(Debug)]
pub struct Section {
    /// Name as in `[name]`.
    pub name: &'static str,
    /// Name of its type in Rust and TypeScript.
    pub type_name: &'static str,
    /// Description as written in the table.
    pub text: &'static str,
    /// Keys of the section, in the table's order.
    pub keys: &'static [Key],
}

/// One key.
#[derive(Debug)]
pub struct Key {
    /// Section it stands in.
    pub section: &'static str,
    /// Name within the section.
    pub name: &'static str,
    /// `section.name`.
    pub path: &'static str,
    /// Type of the value.
    pub kind: Kind,
    /// Bounds, for numbers.
    pub bounds: Option<Bounds>,
    /// Unit of a number; empty if it has none.
    pub unit: &'static str,
    /// Time at which a changed value takes effect.
    pub applies: Applies,
    /// Secret part of the value.
    pub secrecy: Secrecy,
    /// Description as written in the table.
    pub text: &'static str,
    pub(super) read: fn(&Config) -> serde_json::Value,
    pub(super) set_toml: fn(&mut Config, &toml::de::DeValue<'_>) -> Result<(), ValueError>,
    pub(super) set_text: fn(&mut Config, &str) -> Result<(), ValueError>,
    pub(super) successor: fn(&str) -> Option<&'static str>,
    pub(super) copy: fn(&Config, &mut Config),
}

impl Section {
    /// Description on one line.
    pub fn description(&self) -> String {
        one_line(self.text)
    }

    /// The key that is meant where the section's name has a plain value: `react = "fast"`, `sticky = "cookie"`.
    pub fn short(&self) -> Option<&'static Key> {
        self.keys.first().filter(|_| matches!(self.name, "react" | "sticky"))
    }
}

impl Key {
    /// Description on one line.
    pub fn description(&self) -> String {
        one_line(self.text)
    }

    /// The value in `config`; `null` when there is none.
    pub fn value(&self, config: &Config) -> serde_json::Value {
        (self.read)(config)
    }

    /// The value in `config` as it may be printed.
    pub fn shown(&self, config: &Config) -> serde_json::Value {
        self.secrecy.masked((self.read)(config))
    }

    /// The value without file, environment or flags; `null` when there is none.
    pub fn default(&self) -> serde_json::Value {
        (self.read)(&Config::default())
    }

    /// Whether one string can say the value, so that an environment variable may set it.
    pub fn is_scalar(&self) -> bool {
        !matches!(self.kind, Kind::TextList | Kind::TextMap | Kind::Tables(_))
    }

    /// `SLUICE_<SECTION>_<KEY>`; none for lists and maps.
    pub fn env(&self) -> Option<String> {
        self.is_scalar().then(|| format!("SLUICE_{}_{}", self.section, self.name).to_uppercase())
    }

    /// The variable that platforms and process managers set for the same purpose, if there is one.
    pub fn env_conventional(&self) -> Option<&'static str> {
        match self.path {
            "server.port" => Some("PORT"),
            "server.host" => Some("HOST"),
            "workers.count" => Some("WEB_CONCURRENCY"),
            _ => None,
        }
    }
}

/// Every key, section by section.
pub fn keys() -> impl Iterator<Item = &'static Key> {
    SECTIONS.iter().flat_map(|section| section.keys)
}

/// Variables that hold secrets of the gateway, which no process but the gateway's own may get.
pub fn secret_variables() -> impl Iterator<Item = String> {
    keys().filter(|key| key.secrecy != Secrecy::Public).filter_map(Key::env)
}

/// The key with this `section.name`.
pub fn key(path: &str) -> Option<&'static Key> {
    keys().find(|key| key.path == path)
}

impl Config {
    /// Copy of this config in which the keys that a reload may change have the values of `other`.
    pub fn reloaded(&self, other: &Config) -> Config {
        let mut config = self.clone();
        for key in keys().filter(|key| key.applies == Applies::Reload) {
            (key.copy)(other, &mut config);
        }
        config
    }

    /// Keys with another value in `other` that only a restart would bring into force.
    pub fn kept_from(&self, other: &Config) -> impl Iterator<Item = &'static Key> {
        keys().filter(move |key| key.applies == Applies::Restart && key.value(self) != key.value(other))
    }
}

/// Type of a key's value: a number of milliseconds or seconds may be written as a time with a unit as well.
pub(super) const fn kind_of(kind: Kind, unit: &str) -> Kind {
    match (kind, TimeUnit::named(unit)) {
        (Kind::Integer, Some(unit)) => Kind::Time(unit),
        _ => kind,
    }
}

/// Reads the value of a file, for a key whose numbers count this unit.
pub(super) fn read_toml<T: Value>(
    value: &toml::de::DeValue<'_>,
    bounds: Option<Bounds>,
    unit: &str,
) -> Result<T, ValueError> {
    match kind_of(T::KIND, unit) {
        Kind::Time(unit) => match value.as_str() {
            Some(text) => read_time(text, bounds, unit),
            None => match value {
                toml::de::DeValue::Integer(_) => T::from_toml(value, bounds),
                _ => Err(ValueError::of_type(Kind::Time(unit), value)),
            },
        },
        _ => T::from_toml(value, bounds),
    }
}

/// Reads the value of an environment variable or a flag, for a key whose numbers count this unit.
pub(super) fn read_text<T: Value>(text: &str, bounds: Option<Bounds>, unit: &str) -> Result<T, ValueError> {
    match kind_of(T::KIND, unit) {
        Kind::Time(unit) if text.trim().parse::<i128>().is_err() => read_time(text.trim(), bounds, unit),
        _ => T::from_text(text, bounds),
    }
}

fn read_time<T: Value>(text: &str, bounds: Option<Bounds>, unit: TimeUnit) -> Result<T, ValueError> {
    let time_ms = super::parse_ms(text).map_err(|_| ValueError::of_text(Kind::Time(unit), text))?;
    let count = unit.count(time_ms).ok_or_else(|| ValueError::of_text(Kind::Time(unit), text))?;
    T::from_text(&count.to_string(), bounds).map_err(|error| match error {
        ValueError::OutOfBounds { bounds, .. } => {
            ValueError::TimeOutOfBounds { bounds, unit, written: text.to_owned() }
        }
        error => error,
    })
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

macro_rules! config {
    ($(
        $(#[doc = $section_doc:literal])+
        $section:ident: $type_name:ident {
            $(
                $(#[doc = $doc:literal])+
                $key:ident: $type:ty = $default:expr $(, in $min:literal..=$max:literal $(, $unit:literal)?)?
                    => $applies:ident $(, $secrecy:ident)?;
            )+
        }
    )+) => {
        /// Everything that is in force, with one field a section and one field a key, named as in the file.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Config {
            /// Purpose that the app runs for; only `sluice dev` changes it.
            pub mode: $crate::config::Mode,
            /// Bounds that no key sets.
            pub bounds: $crate::config::FixedBounds,
            $(
                $(#[doc = $section_doc])+
                pub $section: $type_name,
            )+
        }

        $(
            $(#[doc = $section_doc])+
            #[derive(Clone, Debug, PartialEq)]
            pub struct $type_name {
                $(
                    $(#[doc = $doc])+
                    pub $key: $type,
                )+
            }

            impl Default for $type_name {
                fn default() -> Self {
                    Self { $($key: $default),+ }
                }
            }

            $(const _: () = assert!(
                <$type as Value>::BOUNDED == config!(@bounds $($min, $max)?).is_some(),
                concat!(stringify!($section), ".", stringify!($key), ": numbers have bounds, and only numbers"),
            );)+
        )+

        /// Every section, in the order of the reference.
        pub static SECTIONS: &[Section] = &[$(Section {
            name: stringify!($section),
            type_name: stringify!($type_name),
            text: concat!($($section_doc),+),
            keys: &[$($crate::config::table::Key {
                section: stringify!($section),
                name: stringify!($key),
                path: concat!(stringify!($section), ".", stringify!($key)),
                kind: $crate::config::table::kind_of(<$type as Value>::KIND, concat!("" $($(, $unit)?)?)),
                bounds: config!(@bounds $($min, $max)?),
                unit: concat!("" $($(, $unit)?)?),
                applies: config!(@applies $applies),
                secrecy: config!(@secrecy $($secrecy)?),
                text: concat!($($doc),+),
                read: |config| Value::to_json(&config.$section.$key),
                set_toml: |config, value| {
                    config.$section.$key =
                        $crate::config::table::read_toml(value, config!(@bounds $($min, $max)?), concat!("" $($(, $unit)?)?))?;
                    Ok(())
                },
                set_text: |config, text| {
                    config.$section.$key =
                        $crate::config::table::read_text(text, config!(@bounds $($min, $max)?), concat!("" $($(, $unit)?)?))?;
                    Ok(())
                },
                successor: <$type as Value>::successor,
                copy: |from, to| to.$section.$key.clone_from(&from.$section.$key),
            }),+],
        }),+];
    };
    (@applies reload) => { $crate::config::table::Applies::Reload };
    (@applies restart) => { $crate::config::table::Applies::Restart };
    (@secrecy) => { $crate::config::table::Secrecy::Public };
    (@secrecy secret) => { $crate::config::table::Secrecy::Secret };
    (@secrecy login) => { $crate::config::table::Secrecy::Login };
    (@bounds) => { None::<$crate::config::table::Bounds> };
    (@bounds $min:literal, $max:literal) => { Some($crate::config::table::Bounds { min: $min, max: $max }) };
}

pub(super) use config;
