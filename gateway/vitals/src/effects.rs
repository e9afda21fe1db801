//! Settings of the dial side by side: what their pages cost on the server, and what visitors got.

use std::time::Duration;

use sluice_catalog::snapshot::{EffectsSnapshot, HoleSnapshot, SettingSnapshot, VitalsSnapshot};

use crate::arms::{ExperimentFindings, Experiments};
use crate::beacon::{Beacon, Device, Measure, is_label};
use crate::components::{ComponentReport, Components, Holes, in_ms};
use crate::names::{Names, OTHER};
use crate::row::{CLS_BOUNDS, Histogram, Row, Totals};

/// Maximum number of distinguished settings.
const SETTINGS_MAX: usize = 32;
/// Maximum number of distinguished variants.
const VARIANTS_MAX: usize = 100;
/// Maximum number of distinguished page classes.
const PAGES_MAX: usize = 100;
/// Maximum number of page classes shown to operators.
const PAGES_SHOWN_MAX: usize = 20;
/// Maximum CPU time that one report can add, microseconds. An hour.
const CPU_US_MAX: u64 = 3_600_000_000;

/// Report of a worker on pages with one setting, since its report before.
#[derive(Clone, Copy, Debug)]
pub struct SettingReport<'a> {
    /// The setting.
    pub setting: &'a str,
    /// Number of pages.
    pub pages: u64,
    /// CPU time of their components, microseconds.
    pub cpu_us: u64,
}

#[derive(Debug, Default)]
struct Setting {
    pages: u64,
    cpu_us: u64,
    /// Rows by device.
    rows: [Row; 3],
    totals: [Totals; 3],
}

/// Everything that workers and browsers report of rendering.
#[derive(Debug, Default)]
pub struct Effects {
    components: Components,
    settings: Names<Setting, SETTINGS_MAX>,
    variants: Names<Row, VARIANTS_MAX>,
    experiments: Experiments,
    pages: Names<Row, PAGES_MAX>,
}

/// Cell by setting and device, for metrics.
type Cell<'a> = (&'a str, Device, &'a Row, &'a Totals);

impl Effects {
    /// A worker has rendered a component.
    pub fn rendered(&mut self, rendered: &ComponentReport<'_>, now: Duration) {
        self.components.add(rendered, now);
    }

    /// A worker has made pages with one setting.
    pub fn spent(&mut self, spent: &SettingReport<'_>, now: Duration) {
        let name = if is_label(spent.setting) { spent.setting } else { OTHER };
        let setting = self.settings.used(name, now);
        setting.pages = setting.pages.saturating_add(spent.pages);
        setting.cpu_us = setting.cpu_us.saturating_add(spent.cpu_us.min(CPU_US_MAX));
    }

    /// A worker has made pages of this variant.
    pub fn varied(&mut self, variant: &str, now: Duration) {
        if is_label(variant) {
            self.variants.used(variant, now);
            self.experiments.known(variant, now);
        }
    }

    /// A browser has measured a page; `class` is that of the page, if the gateway has one for it.
    pub fn measured(&mut self, beacon: &Beacon, class: Option<&str>, now: Duration) {
        let device = beacon.device as usize;
        let setting = self.settings.found(&beacon.setting);
        setting.rows[device].add(beacon, now);
        setting.totals[device].add(beacon);
        // Classes are the gateway's own, and bounded there.
        let class = class.unwrap_or(OTHER);
        for variant in beacon.labels() {
            self.variants.found(variant).add(beacon, now);
            self.experiments.measured(variant, beacon, class);
        }
        self.pages.used(class, now).add(beacon, now);
    }

    /// Figures for operators without experiments; `None` while nothing was reported.
    #[must_use]
    pub fn snapshot(&mut self, now: Duration) -> Option<EffectsSnapshot> {
        let (components, components_count) = self.components.snapshot();
        let settings: Vec<_> = self.settings.iter_mut().map(|(name, setting)| setting.snapshot(name, now)).collect();
        if components.is_empty() && settings.is_empty() {
            return None;
        }
        let of = |(name, row): (&str, &mut Row)| row.snapshot(name, now);
        let mut pages: Vec<_> = self.pages.iter_mut().collect();
        pages.sort_by_key(|(_, page)| std::cmp::Reverse(page.reports));
        let [renders_total, holes_total] = self.components.holes();
        let worst = self.components.worst(now);
        Some(EffectsSnapshot {
            components,
            components_count,
            renders_total,
            holes_total,
            worst_hole: worst.map(|Holes { component, share, outcome }| HoleSnapshot { component, share, outcome }),
            settings,
            variants: self.variants.iter_mut().map(of).collect(),
            experiments: Vec::new(),
            pages: pages.into_iter().take(PAGES_SHOWN_MAX).map(of).collect(),
        })
    }

    /// Arms of experiments, compared by what browsers measured.
    #[must_use]
    pub fn experiments(&self) -> Vec<ExperimentFindings> {
        self.experiments.findings()
    }

    /// The component of whose recent renders most left a hole, if any did.
    pub fn worst_holes(&mut self, now: Duration) -> Option<Holes> {
        self.components.worst(now)
    }

    /// Renders by component and outcome.
    pub fn renders(&self) -> impl Iterator<Item = (&str, &str, u64)> {
        self.components.renders()
    }

    /// CPU time by component, microseconds.
    pub fn component_cpu_us(&self) -> impl Iterator<Item = (&str, u64)> {
        self.components.cpu_us()
    }

    /// Pages and their components' CPU time in microseconds, by setting.
    pub fn costs(&self) -> impl Iterator<Item = (&str, u64, u64)> {
        self.settings.iter().map(|(name, setting)| (name, setting.pages, setting.cpu_us))
    }

    /// Beacons by setting and device.
    pub fn reports(&self) -> impl Iterator<Item = (&str, Device, u64)> {
        self.cells().map(|(name, device, row, _)| (name, device, row.reports))
    }

    /// One measure by setting and device.
    pub fn seconds(
        &self,
        measure: Measure,
    ) -> impl Iterator<Item = (&str, Device, &Histogram<{ sluice_catalog::metrics::BUCKETS_SECONDS.len() + 1 }>)> {
        self.cells().map(move |(name, device, _, totals)| (name, device, &totals.seconds[measure as usize]))
    }

    /// Layout shifts by setting and device.
    pub fn shifts(&self) -> impl Iterator<Item = (&str, Device, &Histogram<{ CLS_BOUNDS.len() + 1 }>)> {
        self.cells().map(|(name, device, _, totals)| (name, device, &totals.cls))
    }

    /// Bytes of HTML and of JavaScript by setting and device.
    pub fn bytes(&self) -> impl Iterator<Item = (&str, Device, [f64; 2])> {
        self.cells().map(|(name, device, _, totals)| (name, device, [totals.html_bytes, totals.js_bytes]))
    }

    /// Components with another HTML than expected, and such that failed, by setting and device.
    pub fn faults(&self) -> impl Iterator<Item = (&str, Device, [u64; 2])> {
        self.cells().map(|(name, device, _, totals)| (name, device, [totals.mismatches, totals.failed]))
    }

    fn cells(&self) -> impl Iterator<Item = Cell<'_>> {
        self.settings.iter().flat_map(|(name, setting)| {
            let rows = Device::ALL.into_iter().zip(setting.rows.iter().zip(&setting.totals));
            rows.filter(|(_, (row, _))| row.reports > 0).map(move |(device, (row, totals))| (name, device, row, totals))
        })
    }
}

impl Setting {
    fn snapshot(&mut self, name: &str, now: Duration) -> SettingSnapshot {
        let rows = Device::ALL.into_iter().zip(&mut self.rows).filter(|(_, row)| row.reports > 0);
        let devices: Vec<VitalsSnapshot> = rows.map(|(device, row)| row.snapshot(device.as_str(), now)).collect();
        #[allow(clippy::cast_precision_loss, reason = "pages are far below 2^52")]
        let cpu_ms_per_page = (self.pages > 0).then(|| in_ms(self.cpu_us) / self.pages as f64);
        SettingSnapshot {
            name: name.to_owned(),
            pages_total: self.pages,
            cpu_ms_total: in_ms(self.cpu_us),
            cpu_ms_per_page,
            devices,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::from_secs(60);

    fn beacon(setting: &str, variant: &str, device: &str, lcp_ms: u32) -> Beacon {
        let text = format!(
            r#"{{"v":1,"setting":"{setting}","variant":"{variant}","device":"{device}","ttfb_ms":{},"lcp_ms":{lcp_ms},"cls":0.1,
               "html_bytes":1000,"js_bytes":500}}"#,
            lcp_ms / 10
        );
        Beacon::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn settings_are_compared_by_what_they_cost_and_what_visitors_got() {
        let mut effects = Effects::default();
        assert_eq!(effects.snapshot(NOW), None);
        effects.spent(&SettingReport { setting: "s100", pages: 4, cpu_us: 40_000 }, NOW);
        effects.spent(&SettingReport { setting: "s0", pages: 2, cpu_us: 1000 }, NOW);
        effects.varied("hero:b", NOW);
        for lcp_ms in [1000, 1100, 1200, 5000] {
            effects.measured(&beacon("s100", "hero:b", "mobile", lcp_ms), Some("GET /p/:"), NOW);
        }
        effects.measured(&beacon("s0", "hero:z", "desktop", 3000), None, NOW);
        let EffectsSnapshot { settings, variants, pages, .. } = effects.snapshot(NOW).unwrap();
        let [s0, s100] = settings.as_slice() else { panic!("{settings:?}") };
        assert_eq!((s0.name.as_str(), s0.cpu_ms_per_page), ("s0", Some(0.5)));
        assert_eq!((s100.pages_total, s100.cpu_ms_per_page), (4, Some(10.0)));
        let mobile = &s100.devices[0];
        assert_eq!((mobile.name.as_str(), mobile.reports_total, mobile.inp_ms), ("mobile", 4, None));
        assert!(mobile.lcp_ms.is_some_and(|ms| (ms - 1200.0).abs() < 40.0), "{mobile:?}");
        assert!(mobile.cls.is_some_and(|cls| (cls - 0.1).abs() < 0.005), "{mobile:?}");
        let names =
            |rows: &[VitalsSnapshot]| rows.iter().map(|row| (row.name.clone(), row.reports_total)).collect::<Vec<_>>();
        assert_eq!(names(&variants), [("hero:b".to_owned(), 4), ("other".to_owned(), 1)]);
        assert_eq!(names(&pages), [("GET /p/:".to_owned(), 4), ("other".to_owned(), 1)]);
        let lcp: Vec<_> = effects.seconds(Measure::Lcp).map(|(name, device, seen)| (name, device, seen.sum)).collect();
        assert_eq!(lcp, [("s0", Device::Desktop, 3.0), ("s100", Device::Mobile, 8.3)]);
        assert_eq!(effects.bytes().map(|(_, _, bytes)| bytes).next(), Some([1000.0, 500.0]));
    }

    #[test]
    fn i6_ten_thousand_made_up_settings_take_one_row_and_hide_no_real_one() {
        let mut effects = Effects::default();
        for number in 0..10_000 {
            let name = format!("made-up-{number}");
            effects.measured(&beacon(&name, &name, "bot", 1), None, NOW);
        }
        effects.spent(&SettingReport { setting: "s50", pages: 1, cpu_us: 1 }, NOW);
        effects.measured(&beacon("s50", "a", "bot", 1), None, NOW);
        let seen: Vec<_> = effects.reports().collect();
        assert_eq!(seen, [("s50", Device::Bot, 1), ("other", Device::Bot, 10_000)]);
        // A worker is bounded as well.
        for number in 0..10_000 {
            effects.spent(&SettingReport { setting: &format!("w{number}"), pages: u64::MAX, cpu_us: u64::MAX }, NOW);
            effects.varied(&format!("w{number}"), NOW);
        }
        effects.spent(&SettingReport { setting: "no label", pages: 1, cpu_us: 1 }, NOW);
        let EffectsSnapshot { settings, variants, .. } = effects.snapshot(NOW).unwrap();
        assert_eq!((settings.len(), variants.len()), (SETTINGS_MAX + 1, VARIANTS_MAX + 1));
    }
}
