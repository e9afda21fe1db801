//! `[[server.certificates]]`: certificates beside the default one, each with its files and the names that it is for.

use serde::{Deserialize, Serialize};
use toml::de::DeValue;

use super::table::Bounds;
use super::value_error::ValueError;
use super::values::{Column, Form, Kind, Value, elements};

/// Maximum number of certificates in one config.
pub(super) const CERTIFICATES_MAX: usize = 1_000;

/// A certificate, its private key, and the names that it is for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// File with the certificate chain (PEM).
    pub cert: String,
    /// File with its private key (PEM).
    pub key: String,
    /// Names of hosts; empty for the names in the certificate.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
}

const COLUMNS: &[Column] = &[
    Column { name: "cert", form: Form::Text, is_required: true, text: "File with the certificate chain (PEM)." },
    Column { name: "key", form: Form::Text, is_required: true, text: "File with the certificate's private key (PEM)." },
    Column {
        name: "hosts",
        form: Form::List,
        is_required: false,
        text: "Host names, such as `www.example.com` and `*.example.com`. By default, the DNS names in the certificate.",
    },
];

impl Value for Vec<Certificate> {
    const KIND: Kind = Kind::Tables(COLUMNS);

    fn from_toml(value: &DeValue<'_>, bounds: Option<Bounds>) -> Result<Self, ValueError> {
        elements(value, Self::KIND, |element| read(element, bounds))
    }

    fn from_text(text: &str, _: Option<Bounds>) -> Result<Self, ValueError> {
        serde_json::from_str(text).map_err(ValueError::NotJsonTables)
    }

    fn to_json(&self) -> serde_json::Value {
        serde_json::json!(self)
    }
}

fn read(value: &DeValue<'_>, bounds: Option<Bounds>) -> Result<Certificate, ValueError> {
    let DeValue::Table(table) = value else { return Err(ValueError::of_type(Kind::TextMap, value)) };
    let mut certificate = Certificate::default();
    let mut missing = vec!["cert", "key"];
    for (name, value) in table {
        let (name, value): (&str, _) = (name.get_ref(), value.get_ref());
        let entry = |error| ValueError::Entry { name: name.to_owned(), error: Box::new(error) };
        match name {
            "cert" => certificate.cert = String::from_toml(value, bounds).map_err(entry)?,
            "key" => certificate.key = String::from_toml(value, bounds).map_err(entry)?,
            "hosts" => certificate.hosts = Vec::from_toml(value, bounds).map_err(entry)?,
            _ => return Err(ValueError::UnknownColumn { name: name.to_owned(), columns: COLUMNS }),
        }
        missing.retain(|wanted| *wanted != name);
    }
    match missing.first() {
        Some(name) => Err(ValueError::MissingColumn(name)),
        None => Ok(certificate),
    }
}
