//! The open connections. They are counted, also by address, are told when the gateway drains, and are closed for others
//! while they are idle.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::os::fd::RawFd;
use std::rc::Rc;
use std::time::Duration;

use nix::sys::socket::Shutdown;
use slab::Slab;
use tokio::time::Instant;

use crate::signal::Signal;

/// Time for which a new connection without a request is not closed: its request is most likely on its way.
const SILENT_MIN: Duration = Duration::from_secs(1);
/// Maximum number of connections that are closing to make room. As many may be open beyond the bound.
const LEAVING_MAX: usize = 64;

/// Limits on the number of open connections.
#[derive(Clone, Copy)]
pub struct Bounds {
    /// Most connections of all clients together.
    pub all: usize,
    /// `None` for an address that is exempt.
    pub of_address: Option<usize>,
}

/// Reason why there is no room for a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    /// All connections together.
    All,
    /// Connections of this address.
    Address,
}

/// Handle that a connection holds.
pub struct Handle {
    /// Key in the register.
    pub(crate) key: usize,
    /// Set when the gateway drains, and when the connection is to make room.
    pub(crate) draining: Rc<Signal>,
    makes_room: Rc<Cell<bool>>,
}

impl Handle {
    /// Whether it is to close as soon as no request is under way.
    #[must_use]
    pub(crate) fn makes_room(&self) -> bool {
        self.makes_room.get()
    }
}

/// Every open client connection.
#[derive(Default)]
pub struct ConnectionHandles {
    books: RefCell<Books>,
    total: Cell<u64>,
}

#[derive(Default)]
struct Books {
    open: Slab<Entry>,
    addresses: HashMap<IpAddr, usize>,
    groups: Slab<Group>,
    resting: Ends,
    leaving: usize,
}

struct Entry {
    draining: Rc<Signal>,
    makes_room: Rc<Cell<bool>>,
    /// Socket of the connection, which is open for as long as this entry is there.
    socket: Option<RawFd>,
    group: usize,
    opened: Instant,
    is_used: bool,
    is_resting: bool,
    /// Places in the list of all idle connections, and in that of the address.
    links: [Links; 2],
}

/// The connections of one address.
struct Group {
    network: IpAddr,
    count: usize,
    leaving: usize,
    resting: Ends,
}

impl Group {
    fn of(network: IpAddr) -> Self {
        Group { network, count: 0, leaving: 0, resting: Ends::default() }
    }
}

/// A list of idle connections, the longest idle first. Its links are in the entries, so that a request costs no search.
#[derive(Clone, Copy, Default)]
struct Ends {
    first: Option<usize>,
    last: Option<usize>,
}

#[derive(Clone, Copy, Default)]
struct Links {
    before: Option<usize>,
    after: Option<usize>,
}

const OF_ALL: usize = 0;
const OF_ADDRESS: usize = 1;

impl ConnectionHandles {
    /// Open connections.
    pub fn count(&self) -> usize {
        self.books.borrow().open.len()
    }

    /// Connections since the start.
    pub fn total(&self) -> u64 {
        self.total.get()
    }

    /// Accepts a connection, for which an idle one may have to close.
    ///
    /// # Errors
    /// Names the bound that is reached.
    pub fn admit(&self, address: IpAddr, bounds: Bounds, now: Instant) -> Result<Handle, Full> {
        let mut books = self.books.borrow_mut();
        let network = network(address);
        if let Some(first) = books.is_greedy(network, bounds.of_address) {
            books.make_room(first, now).ok_or(Full::Address)?;
        } else if books.open.len() >= bounds.all.saturating_add(books.leaving) {
            let first = books.resting.first;
            books.make_room(first, now).ok_or(Full::All)?;
        }
        self.total.set(self.total.get() + 1);
        Ok(books.add(network, now))
    }

    /// Counts an open connection that was never idle as one of another address, for which an idle one of that may have to close.
    ///
    /// # Errors
    /// If the address has as many as it may have.
    pub(crate) fn move_to(
        &self,
        key: usize,
        address: IpAddr,
        of_address: Option<usize>,
        now: Instant,
    ) -> Result<(), Full> {
        let mut books = self.books.borrow_mut();
        let network = network(address);
        if let Some(first) = books.is_greedy(network, of_address) {
            books.make_room(first, now).ok_or(Full::Address)?;
        }
        books.move_to(key, network);
        Ok(())
    }

    /// Removes a connection that has ended.
    pub(crate) fn remove(&self, key: usize) {
        self.books.borrow_mut().remove(key);
    }

    /// Marks the connection as idle.
    pub(crate) fn rests(&self, key: usize) {
        self.books.borrow_mut().rests(key);
    }

    /// Marks the connection as active.
    pub(crate) fn works(&self, key: usize) {
        let mut books = self.books.borrow_mut();
        books.stops_resting(key);
        if let Some(entry) = books.open.get_mut(key) {
            entry.is_used = true;
        }
    }

    /// Records the connection's socket.
    pub(crate) fn opened(&self, key: usize, socket: RawFd) {
        if let Some(entry) = self.books.borrow_mut().open.get_mut(key) {
            entry.socket = Some(socket);
        }
    }

    /// Shuts all connections down, so that tasks which wait for a client learn that it is gone.
    pub(crate) fn cut(&self) {
        for (_, entry) in &self.books.borrow().open {
            if let Some(socket) = entry.socket {
                // One that has lost its client already cannot be shut down.
                let _ = nix::sys::socket::shutdown(socket, Shutdown::Both);
            }
        }
    }

    /// Closes connections that have no request.
    pub fn close_idle(&self) {
        for (_, entry) in &self.books.borrow().open {
            entry.draining.set();
        }
    }
}

/// Network that counts as one client, as one client may have all addresses of an IPv6 network of 64 bits.
fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(ip) => IpAddr::V6(Ipv6Addr::from_bits(ip.to_bits() >> 64 << 64)),
    }
}

impl Books {
    /// Whether this network has as many connections as it may have. If so, returns the one that is idle for longest, if any.
    #[allow(clippy::option_option, reason = "whether, and which")]
    fn is_greedy(&self, network: IpAddr, max: Option<usize>) -> Option<Option<usize>> {
        let group = &self.groups[*self.addresses.get(&network)?];
        (group.count >= max? + group.leaving).then_some(group.resting.first)
    }

    fn join(&mut self, network: IpAddr) -> usize {
        let groups = &mut self.groups;
        let group = *self.addresses.entry(network).or_insert_with(|| groups.insert(Group::of(network)));
        groups[group].count += 1;
        group
    }

    fn leave(&mut self, group: usize, left: usize) {
        let entry = &mut self.groups[group];
        entry.count -= 1;
        entry.leaving -= left;
        if entry.count == 0 {
            let group = self.groups.remove(group);
            self.addresses.remove(&group.network);
        }
    }

    fn move_to(&mut self, key: usize, network: IpAddr) {
        let Some(entry) = self.open.get(key) else { return };
        let (before, left) = (entry.group, usize::from(entry.makes_room.get()));
        let group = self.join(network);
        self.groups[group].leaving += left;
        self.open[key].group = group;
        self.leave(before, left);
    }

    fn add(&mut self, network: IpAddr, now: Instant) -> Handle {
        let group = self.join(network);
        let (draining, makes_room) = (Rc::new(Signal::default()), Rc::new(Cell::new(false)));
        let key = self.open.insert(Entry {
            draining: Rc::clone(&draining),
            makes_room: Rc::clone(&makes_room),
            socket: None,
            group,
            opened: now,
            is_used: false,
            is_resting: false,
            links: [Links::default(); 2],
        });
        Handle { key, draining, makes_room }
    }

    fn remove(&mut self, key: usize) {
        self.stops_resting(key);
        let Some(entry) = self.open.try_remove(key) else { return };
        let left = usize::from(entry.makes_room.get());
        self.leaving -= left;
        self.leave(entry.group, left);
    }

    /// Tells the connection that is idle for longest to close.
    fn make_room(&mut self, first: Option<usize>, now: Instant) -> Option<()> {
        let key = first.filter(|_| self.leaving < LEAVING_MAX)?;
        let entry = self.open.get(key)?;
        if !entry.is_used && now.saturating_duration_since(entry.opened) < SILENT_MIN {
            return None;
        }
        entry.makes_room.set(true);
        entry.draining.set();
        self.leaving += 1;
        self.groups[entry.group].leaving += 1;
        self.stops_resting(key);
        Some(())
    }

    fn rests(&mut self, key: usize) {
        let Some(entry) = self.open.get_mut(key).filter(|entry| !entry.is_resting && !entry.makes_room.get()) else {
            return;
        };
        entry.is_resting = true;
        let group = entry.group;
        push_back(&mut self.open, &mut self.resting, OF_ALL, key);
        push_back(&mut self.open, &mut self.groups[group].resting, OF_ADDRESS, key);
    }

    fn stops_resting(&mut self, key: usize) {
        let Some(entry) = self.open.get_mut(key).filter(|entry| entry.is_resting) else { return };
        entry.is_resting = false;
        let group = entry.group;
        take_out(&mut self.open, &mut self.resting, OF_ALL, key);
        take_out(&mut self.open, &mut self.groups[group].resting, OF_ADDRESS, key);
    }
}

fn push_back(open: &mut Slab<Entry>, ends: &mut Ends, list: usize, key: usize) {
    open[key].links[list] = Links { before: ends.last, after: None };
    match ends.last {
        Some(last) => open[last].links[list].after = Some(key),
        None => ends.first = Some(key),
    }
    ends.last = Some(key);
}

fn take_out(open: &mut Slab<Entry>, ends: &mut Ends, list: usize, key: usize) {
    let Links { before, after } = open[key].links[list];
    match before {
        Some(before) => open[before].links[list].after = after,
        None => ends.first = after,
    }
    match after {
        Some(after) => open[after].links[list].before = before,
        None => ends.last = before,
    }
}

#[cfg(test)]
#[path = "handles_tests.rs"]
mod tests;
