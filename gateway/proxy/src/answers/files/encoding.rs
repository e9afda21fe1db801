//! Which of the compressed siblings of a file a client takes (RFC 9110 §12.5.3). Pure; it must not know what lies there.

/// A compressed sibling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Brotli,
    Gzip,
}

impl Encoding {
    /// The name in `Content-Encoding`.
    pub(super) fn token(self) -> &'static str {
        match self {
            Self::Brotli => "br",
            Self::Gzip => "gzip",
        }
    }

    /// What its file has after the name of the plain one.
    pub(super) fn extension(self) -> &'static str {
        match self {
            Self::Brotli => ".br",
            Self::Gzip => ".gz",
        }
    }
}

/// What to look for, the better first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Accepted([Option<Encoding>; 2]);

impl Accepted {
    pub(super) fn of<'a>(values: impl Iterator<Item = &'a [u8]>) -> Self {
        let (mut brotli, mut gzip, mut identity, mut any) = (None, None, None, None);
        for element in values.flat_map(|value| value.split(|byte| *byte == b',')) {
            let mut parts = element.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
            let name = parts.next().unwrap_or_default().to_ascii_lowercase();
            let weight = weight(parts.next());
            match name.as_slice() {
                b"br" => brotli = Some(weight),
                b"gzip" | b"x-gzip" => gzip = Some(weight),
                b"identity" => identity = Some(weight),
                b"*" => any = Some(weight),
                _ => {}
            }
        }
        let least = identity.unwrap_or(0).max(1);
        let wanted = |weight: Option<u16>| weight.or(any).filter(|weight| *weight >= least);
        let brotli = wanted(brotli).map(|weight| (weight, Encoding::Brotli));
        let gzip = wanted(gzip).map(|weight| (weight, Encoding::Gzip));
        let gzip_first = matches!((brotli, gzip), (Some((brotli, _)), Some((gzip, _))) if gzip > brotli);
        let order = if gzip_first { [gzip, brotli] } else { [brotli, gzip] };
        Accepted(order.map(|found| found.map(|(_, encoding)| encoding)))
    }

    pub(super) fn iter(self) -> impl Iterator<Item = Encoding> {
        self.0.into_iter().flatten()
    }
}

/// Thousandths, from `q=0.5`. What cannot be read is taken for a no: the plain file always serves.
fn weight(parameter: Option<&[u8]>) -> u16 {
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

    #[test]
    fn better_of_the_accepted_encodings_comes_first() {
        let order = |value: &str| {
            Accepted::of(std::iter::once(value.as_bytes())).iter().map(Encoding::token).collect::<Vec<_>>().join(" ")
        };
        for (value, expected) in [
            ("", ""),
            ("gzip, deflate, br, zstd", "br gzip"),
            ("gzip", "gzip"),
            ("GZip;Q=0.5", "gzip"),
            ("x-gzip", "gzip"),
            ("br;q=0, gzip", "gzip"),
            ("br;q=0.5, gzip;q=0.8", "gzip br"),
            ("br;q=0.50,gzip;q=0.5", "br gzip"),
            ("*", "br gzip"),
            ("*;q=0.1, br;q=0", "gzip"),
            ("*;q=0", ""),
            ("identity", ""),
            ("identity, br;q=0.5", ""),
            ("identity;q=0.4, br;q=0.5, gzip;q=0.3", "br"),
            ("identity;q=0, br", "br"),
            ("br;q=2, gzip;q=x", ""),
            ("br;quality=1", ""),
            ("br ; q=1.000", "br"),
            ("broken\u{e9}, brx", ""),
        ] {
            assert_eq!(order(value), expected, "{value}");
        }
    }

    #[test]
    fn several_fields_are_one_list() {
        let both = Accepted::of([b"gzip".as_slice(), b"br;q=0.1"].into_iter());
        assert_eq!(both.iter().collect::<Vec<_>>(), [Encoding::Gzip, Encoding::Brotli]);
    }
}
