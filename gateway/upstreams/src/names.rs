//! Addresses of targets that are names. The system's resolver is asked again and again, each name by itself: each address is a target.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::rc::{Rc, Weak};
use std::time::Duration;

use tokio::sync::Semaphore;

use crate::upstream::{Report, Upstream};

/// Maximum number of concurrent name look-ups, each on one thread.
pub(crate) const AT_ONCE_MAX: usize = 16;
/// Time between two look-ups of a name.
const LOOK_UP_EVERY: Duration = Duration::from_secs(10);
/// The same after a look-up that failed while no address is known. It doubles with each further failure, up to [`LOOK_UP_EVERY`].
const LOOK_UP_SOON: Duration = Duration::from_secs(1);
/// Maximum number of addresses of one name.
const ADDRESSES_MAX: usize = 64;

/// Name of a target.
pub(crate) struct Name {
    pub(crate) target: usize,
    pub(crate) host: String,
    pub(crate) port: u16,
}

/// Looks the name up for as long as its upstream is there. `at_once` bounds look-ups at the same time.
pub(crate) async fn run(upstream: Weak<Upstream>, name: Name, at_once: Rc<Semaphore>, report: Report) {
    let (mut soon, mut is_missing) = (LOOK_UP_SOON, false);
    loop {
        let found = {
            let Ok(_permit) = at_once.acquire().await else { return };
            tokio::net::lookup_host((name.host.as_str(), name.port)).await.map(Iterator::collect)
        };
        let Some(upstream) = upstream.upgrade() else { return };
        let is_known = take(&upstream, &name, found, &mut is_missing, &report);
        drop(upstream);
        let pause = if is_known { LOOK_UP_EVERY } else { soon };
        soon = if is_known { LOOK_UP_SOON } else { (soon * 2).min(LOOK_UP_EVERY) };
        tokio::time::sleep(pause).await;
    }
}

/// Takes the result of a look-up, and tells if the name has an address no more, or has one again. Returns whether one is known.
fn take(
    upstream: &Upstream,
    name: &Name,
    found: io::Result<Vec<SocketAddr>>,
    is_missing: &mut bool,
    report: &Report,
) -> bool {
    let known = upstream.addresses_of(name.target);
    let (addresses, why) = match found {
        Ok(found) => (chosen(&known, found, has_route), "the resolver found none".to_owned()),
        Err(error) => (Vec::new(), error.to_string()),
    };
    // Addresses from before stay in use if none was found.
    let addresses = if addresses.is_empty() { known } else { addresses };
    upstream.set_addresses_of(name.target, &addresses);
    let was_missing = std::mem::replace(is_missing, addresses.is_empty());
    let (of, host) = (&upstream.name, &name.host);
    match (was_missing, *is_missing) {
        (false, true) => report(true, &format!("upstream {of}: {host} has no address: {why}")),
        (true, false) => report(false, &format!("upstream {of}: {host} has an address again")),
        _ => {}
    }
    !*is_missing
}

/// Addresses to use of those that were found: without families that have no route from here, unless none has one. Those in use go
/// first, so that a name with more than [`ADDRESSES_MAX`] keeps its connections.
fn chosen(known: &[SocketAddr], found: Vec<SocketAddr>, has_route: impl Fn(SocketAddr) -> bool) -> Vec<SocketAddr> {
    let mut all: Vec<SocketAddr> = Vec::new();
    for address in found {
        if !all.contains(&address) {
            all.push(address);
        }
    }
    let (routed, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(|address| has_route(*address));
    let mut usable = if routed.is_empty() { rest } else { routed };
    usable.sort_by_key(|address| !known.contains(address));
    usable.truncate(ADDRESSES_MAX);
    usable
}

/// Whether the system has a route to the address. Nothing is sent.
fn has_route(address: SocketAddr) -> bool {
    let any = match address.ip() {
        IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    };
    UdpSocket::bind((any, 0)).and_then(|socket| socket.connect(address)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(texts: &[&str]) -> Vec<SocketAddr> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn families_without_a_route_are_left_out_unless_none_has_one() {
        let found = addresses(&["[2001:db8::1]:80", "192.0.2.1:80", "192.0.2.1:80"]);
        assert_eq!(chosen(&[], found.clone(), |address| address.is_ipv4()), addresses(&["192.0.2.1:80"]));
        assert_eq!(chosen(&[], found, |_| false).len(), 2);
        assert!(has_route("127.0.0.1:80".parse().unwrap()));
    }

    #[test]
    fn addresses_in_use_stay_and_the_resolver_orders_the_others() {
        let found: Vec<SocketAddr> = (0..200).rev().map(|n| SocketAddr::from(([10, 0, 0, n], 80))).collect();
        let known = vec![found[150], found[199]];
        let chosen = chosen(&known, found.clone(), |_| true);
        assert_eq!(chosen.len(), ADDRESSES_MAX);
        assert_eq!(chosen[..3], [found[150], found[199], found[0]]);
    }
}
