//! The worker of an address: the place that ranks highest for it (rendezvous hashing). Clients of a place whose worker goes spread over the
//! others, and no other client moves. A client that has a worker keeps it when another place gets one, as long as the table has room for
//! the address.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::net::{IpAddr, Ipv4Addr};

use sluice_scheduler::WorkerId;

use super::table::Table;

/// Address or network that counts as one client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Client {
    V4(Ipv4Addr),
    /// The network part of an IPv6 address: the 64 bits after it are one client's, which changes them at will.
    V6(u64),
}

impl Client {
    pub(super) fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(v4) => Client::V4(v4),
            IpAddr::V6(v6) => Client::V6(u64::try_from(u128::from(v6) >> 64).unwrap_or(0)),
        }
    }
}

#[derive(Default)]
pub(crate) struct Addresses(Table<Client, ()>);

impl Addresses {
    /// Worker that this address had last, which may have gone.
    pub(super) fn latest_of(&mut self, address: IpAddr) -> Option<WorkerId> {
        self.0.find(&Client::of(address), |_, ()| true)
    }

    /// Keeps the address with this worker.
    pub(super) fn keep(&mut self, address: IpAddr, worker: WorkerId) {
        self.0.insert(Client::of(address), worker, ());
    }

    /// Worker of this address among those that serve (places with their workers), and whether it had another before.
    pub(crate) fn worker_of(&mut self, address: IpAddr, serving: &[(u32, WorkerId)]) -> Option<(WorkerId, bool)> {
        let client = Client::of(address);
        let serves = |worker| serving.iter().any(|(_, serving)| *serving == worker);
        if let Some(worker) = self.0.find(&client, |worker, ()| serves(worker)) {
            return Some((worker, false));
        }
        let is_moved = self.0.contains(&client);
        let (_, worker) = serving.iter().max_by_key(|(place, _)| rank(client, *place))?;
        self.0.insert(client, *worker, ());
        Some((*worker, is_moved))
    }
}

fn rank(client: Client, place: u32) -> u64 {
    let mut hasher = DefaultHasher::new();
    (client, place).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::net::Ipv6Addr;

    use super::*;

    /// Worker for an address that has none yet.
    fn worker_of(client: IpAddr, serving: &[(u32, WorkerId)]) -> Option<WorkerId> {
        Addresses::default().worker_of(client, serving).map(|(worker, _)| worker)
    }

    fn places(count: u32) -> Vec<(u32, WorkerId)> {
        (0..count).map(|place| (place, WorkerId(u64::from(place) + 1))).collect()
    }

    fn clients() -> impl Iterator<Item = IpAddr> {
        (0..4000_u32).map(|at| IpAddr::V4(Ipv4Addr::from(0xCB00_7100 + at)))
    }

    #[test]
    fn every_worker_gets_its_part_of_the_addresses() {
        for worker in 1..=4 {
            let count = clients().filter(|client| worker_of(*client, &places(4)) == Some(WorkerId(worker))).count();
            assert!((850..1150).contains(&count), "worker {worker} has {count} of 4000");
        }
    }

    #[test]
    fn only_clients_of_the_place_that_goes_move_and_all_of_them_come_back() {
        let all = places(4);
        let without: Vec<_> = all.iter().copied().filter(|(place, _)| *place != 2).collect();
        let replaced: Vec<_> = all.iter().map(|(place, _)| (*place, WorkerId(u64::from(*place) + 100))).collect();
        for client in clients() {
            let (before, gone) = (worker_of(client, &all), worker_of(client, &without));
            assert!(before == Some(WorkerId(3)) || gone == before, "{client} moved for nothing");
            let after = worker_of(client, &replaced).map(|worker| worker.0 - 99);
            assert_eq!(after, before.map(|worker| worker.0), "{client} lost its place");
        }
    }

    #[test]
    fn who_has_a_worker_keeps_it_when_others_come_and_until_it_goes() {
        let mut addresses = Addresses::default();
        for client in clients() {
            assert_eq!(addresses.worker_of(client, &places(1)), Some((WorkerId(1), false)));
        }
        for client in clients() {
            assert_eq!(
                addresses.worker_of(client, &places(4)),
                Some((WorkerId(1), false)),
                "{client} moved for nothing"
            );
        }
        let others = &places(4)[1..];
        for client in clients() {
            let other = worker_of(client, others).unwrap();
            assert_eq!(addresses.worker_of(client, others), Some((other, true)));
            assert_eq!(addresses.worker_of(client, others), Some((other, false)));
        }
    }

    #[test]
    fn addresses_of_one_ipv6_network_and_both_forms_of_an_ipv4_one_are_one_client() {
        let one = |text: &str| worker_of(text.parse().unwrap(), &places(64));
        assert_eq!(one("2001:db8:1:2::1"), one("2001:db8:1:2:ffff::9"));
        assert_ne!(one("2001:db8:1:2::1"), one("2001:db8:1:7::1"));
        assert_eq!(one("::ffff:192.0.2.1"), one("192.0.2.1"));
        assert_eq!(worker_of(IpAddr::V6(Ipv6Addr::LOCALHOST), &[]), None);
    }
}
