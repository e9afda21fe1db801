//! Paths with their shares.

use std::collections::BTreeMap;
use std::str::FromStr;

use fastrand::Rng;
use sluice_plan::Asked;

/// A path with its weight, as `--paths` has it: `/a`, `/b=3`.
#[derive(Clone, Debug, PartialEq)]
pub struct Weighted {
    asked: Asked,
    weight: f64,
}

/// Error for a text that is no path with a weight.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected an ASCII path that begins with /, with an optional weight, such as /cart=3")]
pub struct MixError;

/// Splits a weight off. What follows `=` is the value of the last parameter, unless that has one already.
fn split(text: &str) -> (&str, Option<&str>) {
    let Some((path, weight)) = text.rsplit_once('=') else { return (text, None) };
    let parameter = path.split_once('?').map(|(_, query)| query.rsplit('&').next().unwrap_or(query));
    match parameter {
        Some(parameter) if !parameter.contains('=') => (text, None),
        _ => (path, Some(weight)),
    }
}

impl FromStr for Weighted {
    type Err = MixError;

    fn from_str(text: &str) -> Result<Self, MixError> {
        let (path, weight) = split(text);
        let weight = match weight {
            Some(weight) => weight.parse().ok().filter(|weight: &f64| (1e-6..=1e9).contains(weight)).ok_or(MixError)?,
            None => 1.0,
        };
        Ok(Self { asked: Asked::get(path).ok_or(MixError)?, weight })
    }
}

/// Requests that are drawn by chance, each by its share.
#[derive(Clone, Debug)]
pub struct Mix {
    /// Largest share first.
    parts: Vec<(Asked, f64)>,
    /// Sum of the shares up to each part; the last is 1.
    sums: Vec<f64>,
}

impl Mix {
    /// Mix of these paths; `None` if there are none.
    pub fn of(paths: &[Weighted]) -> Option<Self> {
        let mut weights = BTreeMap::new();
        for Weighted { asked, weight } in paths {
            *weights.entry(asked.clone()).or_insert(0.0) += weight;
        }
        Self::new(weights)
    }

    /// Mix with the shares of a sample of requests.
    pub fn of_sample(sample: Vec<Asked>) -> Option<Self> {
        let mut counts = BTreeMap::new();
        for asked in sample {
            *counts.entry(asked).or_insert(0.0) += 1.0;
        }
        Self::new(counts)
    }

    fn new(weights: BTreeMap<Asked, f64>) -> Option<Self> {
        let sum: f64 = weights.values().sum();
        let mut parts: Vec<_> = weights.into_iter().map(|(asked, weight)| (asked, weight / sum)).collect();
        parts.sort_by(|one, other| other.1.total_cmp(&one.1));
        let sums = parts.iter().scan(0.0, |sum, (_, share)| {
            *sum += share;
            Some(*sum)
        });
        let sums = sums.collect();
        (!parts.is_empty()).then_some(Self { parts, sums })
    }

    /// Paths with their shares, largest first.
    pub fn parts(&self) -> &[(Asked, f64)] {
        &self.parts
    }

    /// Draws a request.
    pub fn draw(&self, rng: &mut Rng) -> &Asked {
        let at = rng.f64();
        let place = self.sums.partition_point(|sum| *sum <= at).min(self.parts.len() - 1);
        &self.parts[place].0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weighted(text: &str) -> Option<(String, f64)> {
        text.parse().ok().map(|Weighted { asked, weight }| (asked.target, weight))
    }

    #[test]
    fn weight_follows_a_path_and_is_no_value_of_a_query() {
        let of = |path: &str, weight| Some((path.to_owned(), weight));
        assert_eq!(weighted("/"), of("/", 1.0));
        assert_eq!(weighted("/b=3"), of("/b", 3.0));
        assert_eq!(weighted("/b=0.5"), of("/b", 0.5));
        assert_eq!(weighted("/s?q=1"), of("/s?q=1", 1.0));
        assert_eq!(weighted("/s?a=1&b=2"), of("/s?a=1&b=2", 1.0));
        assert_eq!(weighted("/s?a=1&b=2=4"), of("/s?a=1&b=2", 4.0));
        for text in ["", "a", "/a=", "/a=x", "/a=0", "/a=-1", "/a=nan", "/a=inf", "/a b", "http://a/", "/\u{e4}"] {
            assert_eq!(weighted(text), None, "{text}");
        }
    }

    #[test]
    fn shares_add_up_and_requests_are_drawn_by_them() {
        let paths: Vec<Weighted> = ["/a", "/b=2", "/a"].iter().map(|text| text.parse().unwrap()).collect();
        let mix = Mix::of(&paths).unwrap();
        let shares: Vec<f64> = mix.parts().iter().map(|(_, share)| *share).collect();
        assert_eq!(shares, [0.5, 0.5]);
        let sample = ["/x", "/x", "/x", "/y"].map(|target| Asked::get(target).unwrap()).to_vec();
        let mix = Mix::of_sample(sample).unwrap();
        let mut rng = Rng::with_seed(7);
        let x = (0..10_000).filter(|_| mix.draw(&mut rng).target == "/x").count();
        assert!((7_300..7_700).contains(&x), "{x}");
        assert!(Mix::of_sample(Vec::new()).is_none());
    }
}
