use super::*;

const BOUNDS: Bounds = Bounds { all: 4, of_address: Some(2) };

fn address(last: u8) -> IpAddr {
    IpAddr::from([192, 0, 2, last])
}

fn admitted(connections: &ConnectionHandles, last: u8) -> Handle {
    connections.admit(address(last), BOUNDS, Instant::now()).unwrap_or_else(|full| panic!("{last}: {full:?}"))
}

/// A connection that has had an answer and waits for its next request.
fn kept_alive(connections: &ConnectionHandles, last: u8) -> Handle {
    let handle = admitted(connections, last);
    connections.works(handle.key);
    connections.rests(handle.key);
    handle
}

#[test]
fn one_address_gets_its_bound_and_no_more() {
    let connections = ConnectionHandles::default();
    let busy = [admitted(&connections, 1), admitted(&connections, 1)];
    assert_eq!(connections.admit(address(1), BOUNDS, Instant::now()).err(), Some(Full::Address));
    admitted(&connections, 2);
    connections.remove(busy[0].key);
    admitted(&connections, 1);
    let exempt = Bounds { of_address: None, ..BOUNDS };
    assert!(connections.admit(address(1), exempt, Instant::now()).is_ok());
}

#[test]
fn networks_of_ipv6_count_as_one_address() {
    let connections = ConnectionHandles::default();
    let admit = |text: &str| connections.admit(text.parse().unwrap(), BOUNDS, Instant::now()).err();
    assert_eq!(admit("2001:db8::1"), None);
    assert_eq!(admit("2001:db8::2"), None);
    assert_eq!(admit("2001:db8::3"), Some(Full::Address));
    assert_eq!(admit("2001:db8:0:1::3"), None);
}

#[test]
fn the_longest_at_rest_makes_room_and_is_told() {
    let connections = ConnectionHandles::default();
    let handles: Vec<_> = (1..=4).map(|last| kept_alive(&connections, last)).collect();
    // The first works again and then rests for less long than the others.
    connections.works(handles[0].key);
    connections.rests(handles[0].key);
    admitted(&connections, 5);
    let told: Vec<bool> = handles.iter().map(Handle::makes_room).collect();
    assert_eq!(told, [false, true, false, false]);
    connections.remove(handles[1].key);
    assert_eq!(connections.count(), 4);
}

#[test]
fn an_address_makes_room_for_itself() {
    let connections = ConnectionHandles::default();
    let other = kept_alive(&connections, 1);
    let own = kept_alive(&connections, 2);
    admitted(&connections, 2);
    admitted(&connections, 2);
    assert!(own.makes_room() && !other.makes_room());
}

#[test]
fn nobody_makes_room_who_works_or_has_just_come() {
    let connections = ConnectionHandles::default();
    let bounds = Bounds { of_address: None, ..BOUNDS };
    let now = Instant::now();
    let fresh: Vec<_> = (0..4).map(|_| connections.admit(address(1), bounds, now).ok().unwrap()).collect();
    connections.rests(fresh[0].key);
    assert_eq!(connections.admit(address(2), bounds, now).err(), Some(Full::All));
    assert!(connections.admit(address(2), bounds, now + SILENT_MIN).is_ok(), "who stays silent makes room");
    assert!(fresh[0].makes_room());
}

#[test]
fn connection_that_makes_room_counts_as_leaving_until_it_has_left() {
    let connections = ConnectionHandles::default();
    let [told, other] = [kept_alive(&connections, 1), kept_alive(&connections, 1)];
    admitted(&connections, 1);
    assert!(told.makes_room() && !other.makes_room());
    let leaving = || {
        let books = connections.books.borrow();
        (books.leaving, books.groups[books.open[other.key].group].leaving)
    };
    assert_eq!(leaving(), (1, 1));
    // Its client may ask once more on its way out.
    connections.works(told.key);
    connections.rests(told.key);
    assert_eq!(leaving(), (1, 1));
    connections.remove(told.key);
    assert_eq!((connections.count(), leaving()), (2, (0, 0)));
}

#[test]
fn books_are_empty_in_the_end() {
    let connections = ConnectionHandles::default();
    for round in 0..200_u8 {
        let handles: Vec<_> = (0..3)
            .filter_map(|at| {
                connections.admit(address(round.wrapping_mul(7).wrapping_add(at) % 5), BOUNDS, Instant::now()).ok()
            })
            .collect();
        for handle in &handles {
            connections.rests(handle.key);
            connections.works(handle.key);
            connections.rests(handle.key);
        }
        if let Some(handle) = handles.first().filter(|_| round % 3 == 0) {
            connections.books.borrow_mut().make_room(Some(handle.key), Instant::now());
        }
        for handle in handles.iter().rev() {
            connections.remove(handle.key);
        }
    }
    let books = connections.books.borrow();
    assert_eq!((books.open.len(), books.groups.len(), books.addresses.len(), books.leaving), (0, 0, 0, 0));
    assert_eq!((books.resting.first, books.resting.last), (None, None));
}

#[test]
fn a_connection_that_a_proxy_has_opened_counts_for_its_client() {
    let connections = ConnectionHandles::default();
    let exempt = Bounds { all: 10, of_address: None };
    let now = Instant::now();
    let proxied = || connections.admit(address(9), exempt, now).unwrap_or_else(|full| panic!("{full:?}"));
    let handles: Vec<Handle> = (0..4).map(|_| proxied()).collect();
    let move_to = |handle: &Handle, last| connections.move_to(handle.key, address(last), Some(2), now);
    assert_eq!(move_to(&handles[0], 1), Ok(()));
    assert_eq!(move_to(&handles[1], 1), Ok(()));
    assert_eq!(move_to(&handles[2], 1), Err(Full::Address));
    assert_eq!(move_to(&handles[2], 2), Ok(()));
    assert_eq!((connections.count(), connections.total()), (4, 4), "it is no further connection");
    // One that is idle makes room, and the client has its bound again when it has ended.
    connections.works(handles[0].key);
    connections.rests(handles[0].key);
    assert_eq!(move_to(&handles[3], 1), Ok(()));
    assert!(handles[0].makes_room());
    for handle in &handles {
        connections.remove(handle.key);
    }
    let books = connections.books.borrow();
    assert!(books.addresses.is_empty() && books.groups.is_empty() && books.leaving == 0);
}
