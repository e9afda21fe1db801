//! Faults of the gateway's own: a panic ends one task, and what that task held is given up by what this module is told.
//!
//! It must not know what the tasks do.

use std::cell::RefCell;
use std::panic;

thread_local! {
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Remembers the place of each panic, besides what is said of it on standard error. To be called once, at the start.
pub fn remember_places() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        PLACE.with(|kept| {
            // A panic while the place of another is written is worth no second.
            if let Ok(mut kept) = kept.try_borrow_mut() {
                *kept = place;
            }
        });
        usual(info);
    }));
}

/// Where the latest panic of this thread was, for the log.
pub(crate) fn place() -> String {
    let place = PLACE.with(|kept| kept.borrow().clone());
    if place.is_empty() { "an unknown place".to_owned() } else { place }
}
