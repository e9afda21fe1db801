//! Content codings, and which of those on offer a client takes (RFC 9110 §8.4.1 and §12.5.3).

/// A content coding that answers are sent in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Coding {
    /// Zstandard (RFC 8878).
    Zstd,
    /// Brotli (RFC 7932).
    Brotli,
    /// Gzip (RFC 1952).
    Gzip,
}

impl Coding {
    /// Every coding.
    pub const ALL: [Coding; 3] = [Coding::Zstd, Coding::Brotli, Coding::Gzip];

    /// The name in `Content-Encoding`.
    pub fn token(self) -> &'static str {
        match self {
            Self::Zstd => "zstd",
            Self::Brotli => "br",
            Self::Gzip => "gzip",
        }
    }

    /// The coding of that name, in lower case.
    pub fn of_token(token: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|coding| coding.token() == token)
    }
}

/// The codings that a client takes of those on offer, the better first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodingChoice([Option<Coding>; Coding::ALL.len()]);

impl CodingChoice {
    /// Reads the values of all `Accept-Encoding` fields. `offered` is in the server's order, which decides where the client
    /// weighs two alike. A coding that the client likes less than `identity` is not taken. Without a field nothing is.
    pub fn of<'a>(values: impl Iterator<Item = &'a [u8]>, offered: &[Coding]) -> Self {
        let (mut weights, mut identity, mut any) = ([None; Coding::ALL.len()], None, None);
        for element in values.flat_map(|value| value.split(|byte| *byte == b',')) {
            let mut parts = element.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
            let name = parts.next().unwrap_or_default();
            let weight = weight(parts.next());
            if name == b"*" {
                any = Some(weight);
            } else if name.eq_ignore_ascii_case(b"identity") {
                identity = Some(weight);
            } else if let Some(coding) = Coding::ALL.into_iter().find(|coding| is_named(name, *coding)) {
                weights[coding as usize] = Some(weight);
            }
        }
        let least = identity.unwrap_or(0).max(1);
        let wanted = |coding: Coding| weights[coding as usize].or(any).filter(|weight| *weight >= least);
        // Three at most: the best that is left is looked for as often.
        let mut accepted = CodingChoice::default();
        for at in 0..accepted.0.len() {
            let taken = accepted.0;
            let left = offered.iter().copied().filter(|coding| !taken.contains(&Some(*coding)));
            let weighed = left.filter_map(|coding| Some((wanted(coding)?, coding)));
            // Of several that weigh alike the first on offer.
            accepted.0[at] =
                weighed.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, coding)| coding);
        }
        accepted
    }

    /// The best of them.
    pub fn best(self) -> Option<Coding> {
        self.0[0]
    }

    /// The codings, the better first.
    pub fn iter(self) -> impl Iterator<Item = Coding> {
        self.0.into_iter().flatten()
    }
}

fn is_named(name: &[u8], coding: Coding) -> bool {
    // RFC 9110 §8.4.1.3: `x-gzip` is the same.
    name.eq_ignore_ascii_case(coding.token().as_bytes())
        || (coding == Coding::Gzip && name.eq_ignore_ascii_case(b"x-gzip"))
}

/// Thousandths, from `q=0.5`. What cannot be read is taken for a no: the plain answer always serves.
pub(crate) fn weight(parameter: Option<&[u8]>) -> u16 {
    let Some(parameter) = parameter else { return 1000 };
    let Some((b"q" | b"Q", value)) = parameter.split_at_checked(1) else { return 0 };
    let text = value.strip_prefix(b"=").and_then(|value| std::str::from_utf8(value).ok()).unwrap_or_default();
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if fraction.len() > 3 || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return 0;
    }
    match whole {
        "1" => 1000,
        "0" => format!("{fraction:0<3}").parse().unwrap_or(0),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(values: &[&str], offered: &[Coding]) -> String {
        let accepted = CodingChoice::of(values.iter().map(|value| value.as_bytes()), offered);
        assert_eq!(accepted.best(), accepted.iter().next());
        accepted.iter().map(Coding::token).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn better_of_the_accepted_codings_comes_first() {
        for (value, expected) in [
            ("", ""),
            ("gzip, deflate, br, zstd", "zstd br gzip"),
            ("gzip", "gzip"),
            ("GZip;Q=0.5", "gzip"),
            ("x-gzip", "gzip"),
            ("br;q=0, gzip", "gzip"),
            ("br;q=0.5, gzip;q=0.8", "gzip br"),
            ("br;q=0.50,gzip;q=0.5", "br gzip"),
            ("zstd;q=0.1, br;q=0.2, gzip;q=0.3", "gzip br zstd"),
            ("*", "zstd br gzip"),
            ("*;q=0.1, br;q=0", "zstd gzip"),
            ("gzip, *;q=0.5", "gzip zstd br"),
            ("*;q=0", ""),
            ("*;q=0, gzip", "gzip"),
            ("identity", ""),
            ("identity, br;q=0.5", ""),
            ("identity;q=0.4, br;q=0.5, gzip;q=0.3", "br"),
            ("identity;q=0, br", "br"),
            ("identity;q=0", ""),
            ("br;q=2, gzip;q=x", ""),
            ("br;quality=1", ""),
            ("br ; q=1.000", "br"),
            ("broken\u{e9}, brx", ""),
        ] {
            assert_eq!(order(&[value], &Coding::ALL), expected, "{value}");
        }
    }

    #[test]
    fn only_what_is_on_offer_is_taken_and_in_the_servers_order() {
        let value = "gzip, br, zstd";
        assert_eq!(order(&[value], &[Coding::Gzip, Coding::Zstd]), "gzip zstd");
        assert_eq!(order(&[value], &[Coding::Brotli, Coding::Brotli]), "br");
        assert_eq!(order(&[value], &[]), "");
    }

    #[test]
    fn several_fields_are_one_list() {
        assert_eq!(order(&["gzip", "br;q=0.1"], &[Coding::Brotli, Coding::Gzip]), "gzip br");
        assert_eq!(order(&[], &Coding::ALL), "");
    }

    #[test]
    fn tokens_name_their_coding() {
        assert!(Coding::ALL.into_iter().all(|coding| Coding::of_token(coding.token()) == Some(coding)));
        assert_eq!(Coding::of_token("deflate"), None);
    }
}
