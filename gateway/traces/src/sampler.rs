//! Choice of traces that are kept. The ratio is that of trace ids, so that every service which samples by them keeps the
//! same ones.

/// Choice of traces that are kept. The number is the part of those that no caller has decided about, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sampler {
    /// The caller decides where there is one.
    ParentOr(f64),
    /// Decision by the ratio alone, regardless of the caller.
    Always(f64),
}

impl Sampler {
    /// The sampler that `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG` name; `None` where the name is not one of
    /// OpenTelemetry's, or the number none.
    pub fn named(name: &str, argument: Option<&str>) -> Option<Self> {
        let ratio = || match argument {
            None | Some("") => Some(1.0),
            Some(text) => text.parse().ok().filter(|ratio| (0.0..=1.0).contains(ratio)),
        };
        Some(match name {
            "always_on" => Self::Always(1.0),
            "always_off" => Self::Always(0.0),
            "traceidratio" => Self::Always(ratio()?),
            "parentbased_always_on" => Self::ParentOr(1.0),
            "parentbased_always_off" => Self::ParentOr(0.0),
            "parentbased_traceidratio" => Self::ParentOr(ratio()?),
            _ => return None,
        })
    }

    pub(crate) fn samples(self, trace_id: u128, parent: Option<bool>) -> bool {
        match (self, parent) {
            (Self::ParentOr(_), Some(is_sampled)) => is_sampled,
            (Self::ParentOr(ratio) | Self::Always(ratio), _) => is_within(trace_id, ratio),
        }
    }
}

/// Whether the last 56 bits, which W3C Trace Context asks to be random, are within the ratio.
fn is_within(trace_id: u128, ratio: f64) -> bool {
    const RANDOM_BITS: u32 = 56;
    let random = trace_id & ((1 << RANDOM_BITS) - 1);
    #[expect(clippy::cast_precision_loss, reason = "53 bits of 56 tell ratios apart")]
    let place = random as f64 / (1_u64 << RANDOM_BITS) as f64;
    place < ratio
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_opentelemetry() {
        assert_eq!(Sampler::named("always_on", None), Some(Sampler::Always(1.0)));
        assert_eq!(Sampler::named("parentbased_traceidratio", Some("0.25")), Some(Sampler::ParentOr(0.25)));
        assert_eq!(Sampler::named("traceidratio", Some("")), Some(Sampler::Always(1.0)));
        for wrong in ["2", "-1", "NaN", "x"] {
            assert_eq!(Sampler::named("traceidratio", Some(wrong)), None, "{wrong}");
        }
        assert_eq!(Sampler::named("jaeger_remote", None), None);
    }

    #[test]
    fn caller_decides_unless_it_is_not_asked() {
        for ratio in [0.0, 1.0] {
            for parent in [true, false] {
                assert_eq!(Sampler::ParentOr(ratio).samples(1, Some(parent)), parent);
                assert_eq!(Sampler::Always(ratio).samples(1, Some(parent)), ratio > 0.5);
            }
        }
    }

    #[test]
    fn ratio_is_the_part_of_random_ids() {
        let mut random = fastrand::Rng::with_seed(7);
        let ids: Vec<u128> = (0..10_000).map(|_| random.u128(1..)).collect();
        let kept = |ratio| ids.iter().filter(|id| Sampler::ParentOr(ratio).samples(**id, None)).count();
        assert_eq!((kept(0.0), kept(1.0)), (0, 10_000));
        assert!((2_300..2_700).contains(&kept(0.25)), "{}", kept(0.25));
        let in_quarter = |id: &u128| Sampler::ParentOr(0.25).samples(*id, None);
        assert!(ids.iter().filter(|id| in_quarter(id)).all(|id| Sampler::Always(0.5).samples(*id, None)));
    }
}
