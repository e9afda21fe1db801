//! Comparison of the latest version of the app with the one before it, by what their requests took. This module must not know how a
//! version comes.

use sluice_catalog::snapshot::{ClassChangeSnapshot, DeploySnapshot, FindingSnapshot, ReportSide, ReportSnapshot};
use sluice_compare::{Counted, Finding, Measure, REQUESTS_MIN, Spent, Verdict, compare_shares, like_for_like};
use sluice_trends::SideParts;

/// Changes below which times do not matter, as ratios: compiled code and neighbours of a process differ.
const CPU_MARGIN: f64 = 0.02;
const SERVICE_MARGIN: f64 = 0.05;
/// The same for shares of failures and holes.
const SHARE_MARGIN: f64 = 0.002;
/// Maximum number of reported classes.
const CLASSES_MAX: usize = 10;

/// A finding for programs.
pub fn finding_snapshot(finding: &Finding) -> FindingSnapshot {
    let Finding { measure, verdict, change, sure } = *finding;
    let verdict = match verdict {
        Verdict::Better => "better",
        Verdict::Equal => "equal",
        Verdict::Unknown => "unknown",
        Verdict::Worse => "worse",
    };
    FindingSnapshot {
        measure: measure.name().to_owned(),
        verdict: verdict.to_owned(),
        change: change.map(|change| change.value),
        low: change.map(|change| change.low),
        high: change.map(|change| change.high),
        sure,
        is_share: measure.is_share(),
    }
}

/// Compares both sides of a report by their parts; `None` if one of them has no requests.
pub(crate) fn compare(report: &ReportSnapshot, [was, is]: &[SideParts; 2]) -> Option<DeploySnapshot> {
    let (before, after) = (report.before.as_ref()?, report.after.as_ref()?);
    let times = [
        (Measure::Cpu, CPU_MARGIN, cpu_of(before), cpu_of(after)),
        (Measure::Service, SERVICE_MARGIN, service(was), service(is)),
    ];
    let (mut findings, mut changes, mut compared) = (Vec::new(), Vec::new(), 0);
    for (measure, margin, before, after) in &times {
        findings.extend(like_for_like(before, after).map(|all| all.finding_beyond(*measure, *margin, 1)));
        let pairs: Vec<_> =
            before.iter().filter_map(|was| Some((was, after.iter().find(|is| is.class == was.class)?))).collect();
        let pairs: Vec<_> =
            pairs.into_iter().filter(|(was, is)| was.requests.min(is.requests) >= REQUESTS_MIN).collect();
        compared = compared.max(pairs.len());
        for (was, is) in &pairs {
            let Some(change) = like_for_like(&[**was], &[**is]) else { continue };
            // One of all classes, each in both measures.
            let finding = change.finding_beyond(*measure, *margin, pairs.len() * times.len());
            if matches!(finding.verdict, Verdict::Worse | Verdict::Better) {
                changes.push((was.class, was.mean_us, is.mean_us, finding));
            }
        }
    }
    findings.push(compare_shares(Measure::Failures, &failures(was), &failures(is), SHARE_MARGIN));
    findings.push(compare_shares(Measure::Holes, &holes(was), &holes(is), SHARE_MARGIN));
    let value = |finding: &Finding| finding.change.map_or(0.0, |change| change.value);
    changes.sort_by(|one, other| value(&other.3).total_cmp(&value(&one.3)));
    changes.truncate(CLASSES_MAX);
    let shown = |(class, before_us, after_us, finding): (&str, f64, f64, Finding)| ClassChangeSnapshot {
        class: class.to_owned(),
        before_ms: before_us / 1000.0,
        after_ms: after_us / 1000.0,
        finding: finding_snapshot(&finding),
    };
    let latest = |side: &ReportSide| side.generations.last().copied().unwrap_or_default();
    Some(DeploySnapshot {
        generation: latest(after),
        before: latest(before),
        at_ms: after.from_ms,
        requests: [before.all.requests, after.all.requests],
        findings: findings.iter().map(finding_snapshot).collect(),
        classes: changes.into_iter().map(shown).collect(),
        compared: compared as u64,
    })
}

/// CPU time of a request of each class, where it is known.
pub fn cpu_of(side: &ReportSide) -> Vec<Spent<'_>> {
    let known = side.classes.iter().filter_map(|of| Some((of, of.cpu_s_per_1000?)));
    known
        .map(|(of, cpu_s)| Spent {
            class: &of.class,
            requests: of.requests,
            mean_us: cpu_s * 1_000.0,
            parts: &of.parts,
        })
        .collect()
}

#[allow(clippy::cast_precision_loss)] // Far below 2^53.
fn service(side: &SideParts) -> Vec<Spent<'_>> {
    side.classes
        .iter()
        .filter_map(|(class, parts)| {
            let parts = &parts.service;
            let [requests, us] = parts.iter().fold([0, 0], |[count, us], part| [count + part[0], us + part[1]]);
            (requests > 0).then(|| Spent { class, requests, mean_us: us as f64 / requests as f64, parts })
        })
        .collect()
}

fn failures(side: &SideParts) -> Vec<Counted<'_>> {
    side.classes.iter().map(|(class, parts)| (&**class, &*parts.failures)).collect()
}

fn holes(side: &SideParts) -> Vec<Counted<'_>> {
    side.holes.iter().map(|(component, parts)| (&**component, &**parts)).collect()
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use sluice_trends::{RequestCost, Spending};

    use super::*;

    /// Requests of two classes, one a second each, whose times differ by a few percent.
    fn serve(spending: &mut Spending, from_s: u64, generation: u64, search_us: u64, fails_every: u64, holes: u64) {
        for second in 0..1_200 {
            let now_ms = (from_s + second) * 1000;
            let noise = second * 7 % 11;
            for (class, us) in [("GET /", 2_000), ("GET /search", search_us)] {
                let us = us * (95 + noise) / 100;
                let failed = class == "GET /" && second % fails_every == 0;
                let ended = RequestCost { cpu_us: Some(us), service_us: us * 2, runs: &[], failed };
                spending.request(now_ms, generation, &Rc::from(class), &ended);
            }
            spending.rendered(now_ms, generation, "Price", 10, holes);
        }
    }

    fn deploy(search_us: u64, fails_every: u64, holes: u64) -> DeploySnapshot {
        let mut spending = Spending::default();
        serve(&mut spending, 0, 1, 10_000, u64::MAX, 0);
        serve(&mut spending, 1_200, 2, search_us, fails_every, holes);
        compare(&spending.report(None), &spending.parts().unwrap()).unwrap()
    }

    fn verdicts(deploy: &DeploySnapshot) -> Vec<(&str, &str)> {
        deploy.findings.iter().map(|finding| (finding.measure.as_str(), finding.verdict.as_str())).collect()
    }

    #[test]
    fn a_version_that_is_worse_is_told_by_measure_and_class_with_how_sure_that_is() {
        let worse = deploy(15_000, 10, 1);
        let all =
            [("CPU time", "worse"), ("service time", "worse"), ("failures", "worse"), ("holes in pages", "worse")];
        assert_eq!(verdicts(&worse), all);
        assert_eq!((worse.generation, worse.before, worse.at_ms, worse.compared), (2, 1, 1_200_000, 2));
        assert_eq!(worse.requests, [2_400, 2_400]);
        assert!(worse.findings.iter().all(|finding| finding.sure > 0.98), "{worse:?}");
        let classes: Vec<_> = worse.classes.iter().map(|of| (of.class.as_str(), of.finding.measure.as_str())).collect();
        assert_eq!(classes, [("GET /search", "CPU time"), ("GET /search", "service time")]);
        let search = &worse.classes[1];
        assert!((search.before_ms - 20.0).abs() < 0.5 && (search.after_ms - 30.0).abs() < 0.5, "{search:?}");
    }

    #[test]
    fn a_version_that_is_alike_is_told_as_no_sure_change() {
        let alike = deploy(10_000, u64::MAX, 0);
        assert!(verdicts(&alike).iter().all(|(_, verdict)| *verdict == "unknown"), "{alike:?}");
        assert_eq!(alike.classes, []);
        let better = deploy(5_000, u64::MAX, 0);
        assert_eq!(verdicts(&better)[..2], [("CPU time", "better"), ("service time", "better")]);
    }

    #[test]
    fn another_mix_of_requests_and_renders_is_no_change_of_failures_and_holes() {
        let mut spending = Spending::default();
        let class = Rc::from("GET /bad");
        for (from_s, generation, every) in [(0, 1, 30), (1_200, 2, 6)] {
            serve(&mut spending, from_s, generation, 10_000, u64::MAX, 0);
            for second in (0..1_200).step_by(every) {
                let now_ms = (from_s + second) * 1000;
                let ended = RequestCost { cpu_us: Some(900), service_us: 1_000, runs: &[], failed: true };
                spending.request(now_ms, generation, &class, &ended);
                spending.rendered(now_ms, generation, "Ad", 10, 10);
            }
        }
        let mixed = compare(&spending.report(None), &spending.parts().unwrap()).unwrap();
        for finding in &mixed.findings[2..] {
            assert_eq!((finding.verdict.as_str(), finding.change), ("unknown", Some(0.0)), "{finding:?}");
        }
    }

    #[test]
    fn one_version_alone_is_compared_with_nothing() {
        let mut spending = Spending::default();
        serve(&mut spending, 0, 1, 10_000, 10, 1);
        assert_eq!(spending.parts(), None);
    }
}
