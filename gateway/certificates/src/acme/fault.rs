//! Reasons why a certificate could not be obtained, and what to do about them. It must not know when the CA is asked again,
//! but says whether the CA may count the attempt.

use std::fmt;
use std::path::PathBuf;

use instant_acme::{Error, Problem};

use super::settings::Method;
use super::store::StoreError;

/// Maximum length of a message of the CA in the log, characters.
const DETAIL_CHARS_MAX: usize = 400;
const TYPE: &str = "urn:ietf:params:acme:error:";

/// A failed attempt.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    /// The folder takes no file.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// `acme.ca_file` cannot be used.
    #[error("acme.ca_file names {}, which cannot be used: {text}. Name a PEM file with root certificates for the \
        CA", path.display())]
    CaFile { path: PathBuf, text: String },
    /// The system trusts nobody.
    #[error(
        "this system has no root certificates to verify the CA: {0}. Install ca-certificates, or name a file with \
         acme.ca_file"
    )]
    Roots(String),
    /// The CA was not reached.
    #[error("the CA cannot be reached: {0}. Let this machine connect to acme.directory by HTTPS")]
    Unreachable(String),
    /// The CA refuses, or has not found the answer to its challenge.
    #[error("{}", refused(problem, *asked))]
    Refused { problem: Box<Problem>, asked: Option<ChallengeProbe> },
    /// The CA offers no challenge that this gateway can answer.
    #[error("the CA offers neither http-01 (which needs server.redirect_port) nor tls-alpn-01, but {0}")]
    NoChallenge(String),
    /// The CA does not come to an end.
    #[error("the CA took longer than {} s", super::order::ORDER_TIMEOUT.as_secs())]
    Slow,
    /// Answer of the CA that is no certificate for the name.
    #[error("the CA sent an unusable answer: {0}")]
    Given(String),
    /// The library or the system failed.
    #[error("{0}")]
    Own(String),
}

/// Way in which the CA looked for the gateway, and the port at which the gateway was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChallengeProbe {
    pub(crate) method: Method,
    pub(crate) port: u16,
}

impl Fault {
    /// Whether the CA may count the attempt against its limits.
    pub(crate) fn is_counted(&self) -> bool {
        match self {
            Self::Store(_) | Self::CaFile { .. } | Self::Roots(_) | Self::Unreachable(_) | Self::Own(_) => false,
            // A nonce is refused before the request is looked at, such as after a restart of the CA.
            Self::Refused { problem, .. } => kind(problem) != "badNonce",
            Self::NoChallenge(_) | Self::Slow | Self::Given(_) => true,
        }
    }

    /// Whether the CA does not know the account, such as one whose database was lost.
    pub(crate) fn is_unknown_account(&self) -> bool {
        matches!(self, Self::Refused { problem, .. } if kind(problem) == "accountDoesNotExist")
    }

    pub(crate) fn own(error: impl fmt::Display) -> Self {
        Self::Own(error.to_string())
    }

    /// The same with how the CA looked for the gateway.
    pub(crate) fn after(self, asked: ChallengeProbe) -> Self {
        match self {
            Self::Refused { problem, asked: None } => Self::Refused { problem, asked: Some(asked) },
            other => other,
        }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        match error {
            Error::Api(problem) => Self::Refused { problem: Box::new(problem), asked: None },
            Error::Timeout(_) => Self::Slow,
            Error::Other(error) => Self::Unreachable(causes(error.as_ref())),
            Error::Json(error) => Self::Unreachable(format!("its answer is not ACME ({error})")),
            error => Self::Own(error.to_string()),
        }
    }
}

/// An error with what caused it: the last of them says what the system said.
pub(crate) fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    plain(&text)
}

/// Text of the CA's refusal, and what to do about it.
fn refused(problem: &Problem, asked: Option<ChallengeProbe>) -> String {
    // Where the CA tells of several, the first says more than the sum.
    let inner = problem.subproblems.first();
    let detail = inner.and_then(|inner| inner.detail.as_deref()).or(problem.detail.as_deref());
    let kind = inner.and_then(|inner| inner.r#type.as_deref()).map_or_else(|| kind(problem), short);
    let detail = plain(detail.unwrap_or("no reason"));
    let text = format!("the CA refuses ({}): {}", plain(kind), detail.trim_end_matches('.'));
    let advice = advice(kind, asked);
    if advice.is_empty() { text } else { format!("{text}. {advice}") }
}

fn advice(kind: &str, asked: Option<ChallengeProbe>) -> String {
    let way = asked.map(|asked| match asked.method {
        Method::Http => format!("port 80 of the name lead to server.redirect_port ({}) of this gateway", asked.port),
        Method::TlsAlpn => format!("port 443 of the name lead to server.port ({}) of this gateway", asked.port),
    });
    match (kind, way) {
        ("connection", Some(way)) => format!("Let {way}, through every firewall"),
        ("dns", Some(_)) => {
            "Let the name lead to this machine (A and AAAA records), and check acme.names for a typo".to_owned()
        }
        ("unauthorized" | "incorrectResponse", Some(way)) => {
            format!("Another server answers for the name: let {way}, with every A and AAAA record of the name")
        }
        ("tls", Some(way)) => {
            format!(
                "Another program in front of this gateway terminates TLS: let {way}, or set server.redirect_port for \
                 the challenge http-01"
            )
        }
        ("caa", _) => {
            "A CAA record of the domain allows only other CAs: add this one, or change acme.directory".to_owned()
        }
        ("rateLimited", _) => {
            "Sluice waits as long as the CA requires; meanwhile, try the CA's staging directory".to_owned()
        }
        ("rejectedIdentifier", _) => {
            "Remove the name from acme.names, or use another CA with acme.directory".to_owned()
        }
        ("externalAccountRequired", _) => {
            "Set acme.eab_key_id and acme.eab_hmac_key to the values from the CA".to_owned()
        }
        ("invalidContact" | "unsupportedContact", _) => "Fix the address in acme.contact".to_owned(),
        ("userActionRequired", _) => "Read the requirements of the CA".to_owned(),
        _ => String::new(),
    }
}

fn kind(problem: &Problem) -> &str {
    short(problem.r#type.as_deref().unwrap_or("unknown"))
}

fn short(kind: &str) -> &str {
    kind.strip_prefix(TYPE).unwrap_or(kind)
}

/// Text of a CA without control characters: it comes from the network, and goes to logs and terminals.
fn plain(text: &str) -> String {
    let plain = |sign: char| if sign.is_control() { ' ' } else { sign };
    text.chars().map(plain).take(DETAIL_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(kind: &str, detail: &str) -> Problem {
        let text = format!(r#"{{"type":"{TYPE}{kind}","detail":"{detail}","status":403}}"#);
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn a_refusal_says_which_port_must_lead_where() {
        let told = |kind, method| {
            let fault =
                Fault::Refused { problem: Box::new(problem(kind, "203.0.113.9: Connection refused.")), asked: None };
            fault.after(ChallengeProbe { method, port: 8080 }).to_string()
        };
        assert_eq!(
            told("connection", Method::Http),
            "the CA refuses (connection): 203.0.113.9: Connection refused. Let port 80 of the name lead to \
             server.redirect_port (8080) of this gateway, through every firewall"
        );
        assert!(told("connection", Method::TlsAlpn).contains("port 443 of the name lead to server.port (8080)"));
        assert!(told("tls", Method::TlsAlpn).contains("http-01"));
        assert!(told("unauthorized", Method::Http).contains("Another server answers"));
        assert!(told("dns", Method::Http).contains("A and AAAA"));
    }

    #[test]
    fn what_a_ca_says_is_bounded_and_has_no_control_characters() {
        let detail = format!("\\u001b[2J{}", "x".repeat(5_000));
        let told = Fault::Refused { problem: Box::new(problem("malformed", &detail)), asked: None }.to_string();
        assert!(told.chars().count() < 500 && !told.contains('\u{1b}'), "{told}");
    }

    #[test]
    fn only_what_a_ca_has_seen_counts() {
        assert!(Fault::from(Error::Api(problem("dns", ""))).is_counted());
        assert!(Fault::from(Error::Timeout(None)).is_counted());
        assert!(!Fault::from(Error::Other("no route".into())).is_counted());
        assert!(!Fault::from(Error::Api(problem("badNonce", ""))).is_counted());
        assert!(Fault::from(Error::Api(problem("accountDoesNotExist", ""))).is_unknown_account());
    }
}
