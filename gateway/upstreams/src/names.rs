//! Addresses of targets that are names. The system's resolver is asked again and again, on a thread: each address is a target.

use std::net::SocketAddr;
use std::rc::{Rc, Weak};
use std::time::Duration;

use crate::upstream::{Report, Upstream};

/// Time between two look-ups of a name.
const LOOK_UP_EVERY: Duration = Duration::from_secs(10);
/// The same after a look-up that failed while no address is known.
const LOOK_UP_SOON: Duration = Duration::from_secs(1);
/// Addresses of one name that are used.
const ADDRESSES_MAX: usize = 16;

/// Looks the names of all these upstreams up, one after the other, so that a slow server for names takes one thread.
pub(crate) async fn run(upstreams: Vec<Weak<Upstream>>, report: Report) {
    loop {
        let mut pause = LOOK_UP_EVERY;
        for upstream in upstreams.iter().filter_map(Weak::upgrade) {
            if !look_up(&upstream, &report).await {
                pause = LOOK_UP_SOON;
            }
        }
        tokio::time::sleep(pause).await;
    }
}

/// Looks the names of an upstream up. Returns whether each has an address.
async fn look_up(upstream: &Rc<Upstream>, report: &Report) -> bool {
    let names: Vec<(usize, String, u16)> =
        upstream.names().map(|(target, host, port)| (target, host.to_owned(), port)).collect();
    let targets = upstream.settings.targets.iter().enumerate();
    let mut wanted: Vec<(usize, SocketAddr)> =
        targets.filter_map(|(target, to)| Some((target, SocketAddr::new(to.host.parse().ok()?, to.port)))).collect();
    let mut are_all_known = true;
    for (target, host, port) in names {
        let before = upstream.addresses_of(target);
        let found = tokio::net::lookup_host((host.as_str(), port)).await;
        let mut addresses: Vec<SocketAddr> = match found {
            Ok(found) => found.collect(),
            Err(error) => {
                if before.is_empty() {
                    let name = &upstream.name;
                    report(true, &format!("upstream {name}: {host} has no address: {error}"));
                }
                Vec::new()
            }
        };
        if addresses.is_empty() {
            // What was known goes on to be used.
            addresses = before;
        }
        addresses.sort_unstable();
        addresses.dedup();
        are_all_known &= !addresses.is_empty();
        wanted.extend(addresses.into_iter().take(ADDRESSES_MAX).map(|address| (target, address)));
    }
    // Requests wait for names only until the first look-up of all of them is over.
    upstream.set_addresses(wanted, false);
    are_all_known
}
