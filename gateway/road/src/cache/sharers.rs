//! Other gateways that share a cache with this one: their purges, and reports to the operator when the cache comes and goes.

use std::rc::Rc;

use sluice_catalog::snapshot::Purge;
use sluice_journal::{Event as Happening, Level};
use sluice_tier::TierEvent;

use super::tier::SecondTier;
use crate::road::Road;

/// Carries out the purges of other gateways, and reports to the operator when the shared cache comes and goes. It runs for as long as there
/// is one.
pub async fn hear_other_gateways(road: Rc<Road>) {
    let Some(tier) = &road.pages.cache.tier else { return };
    let Some(mut heard) = tier.heard.take() else { return };
    while let Some(heard) = heard.recv().await {
        take(&road, tier, heard);
    }
    tier.tier.went_down();
    note(&road, Level::Error, "a fault in the gateway stopped its thread; it stays disabled until the next start");
}

fn take(road: &Road, second: &SecondTier, heard: TierEvent) {
    match heard {
        TierEvent::Up => {
            second.tier.came_up();
            if second.told_up.replace(Some(true)) != Some(true) {
                note(road, Level::Info, "it is in use");
            }
        }
        TierEvent::Down(why) => {
            second.tier.went_down();
            if second.told_up.replace(Some(false)) != Some(false) {
                let rates =
                    if road.config().rate.shared { ", and each gateway counts clients' requests alone" } else { "" };
                let text = format!("{why}; pages are only in this gateway's memory{rates} until it answers in time");
                note(road, Level::Warn, &text);
            }
        }
        TierEvent::Refuses(Some(why)) => note(road, Level::Warn, &format!("it refuses pages: {why}")),
        TierEvent::Refuses(None) => note(road, Level::Info, "it accepts pages again"),
        // Workers purge what they keep themselves whatever comes of it.
        TierEvent::Purge(purge, is_soft) => drop(road.pages.purge_here(purge, is_soft, Vec::new())),
        TierEvent::Lost => {
            drop(road.pages.purge_pages(&Purge::Prefix(String::new()), true, Vec::new()));
            note(
                road,
                Level::Warn,
                "its purges were lost; all pages in memory count as stale, because any of them may have been purged",
            );
        }
    }
}

fn note(road: &Road, level: Level, what: &str) {
    let address = road.pages.cache.tier.as_ref().map_or("", |tier| tier.tier.address());
    let text = format!("shared cache {address}: {what}");
    road.observer.emit(Happening::Note { level, text: &text });
}
