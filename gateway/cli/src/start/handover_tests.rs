use std::os::fd::AsFd as _;

use super::*;

#[test]
fn an_unknown_field_is_ignored_and_an_unknown_word_is_an_error() {
    assert_eq!(
        serde_json::from_str::<Word>(r#"{"say":"take-over","when":"now"}"#).unwrap(),
        Word::TakeOver { tickets: None }
    );
    assert!(serde_json::from_str::<Word>(r#"{"say":"sing"}"#).is_err());
}

#[test]
fn a_failure_of_any_length_is_told_in_one_line_that_is_heard() {
    let (ours, theirs) = BlockingStream::pair().unwrap();
    say_failed(&theirs, &"ü\n\"".repeat(100_000));
    drop(theirs);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut wire = Wire::new(ours).unwrap();
        assert!(matches!(wire.hear().await.unwrap(), Some(Word::Failed { reason }) if reason.starts_with("ü\n\"")));
        assert!(wire.hear().await.unwrap().is_none());
    });
}

#[test]
fn a_failure_is_told_where_the_wire_was_given_up_before() {
    let (ours, theirs) = BlockingStream::pair().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        drop(Wire::new(theirs.try_clone().unwrap()).unwrap());
        say_failed(&theirs, "no certificate");
        let heard = Wire::new(ours).unwrap().hear().await.unwrap();
        assert_eq!(heard, Some(Word::Failed { reason: "no certificate".to_owned() }));
    });
}

#[test]
fn an_offer_travels_with_its_descriptors() {
    let (ours, theirs) = BlockingStream::pair().unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let offer = Offer::new(2, "/run/shop".into(), "::".to_owned(), 3000, "off".to_owned());
    offer.send(&ours, &[theirs.as_fd(), listener.as_fd()]).unwrap();
    let inherited = HandoverDescriptors::read(&theirs).unwrap();
    assert_eq!((inherited.offer.number, inherited.offer.port), (2, 3000));
    assert!(inherited.metrics.is_none() && inherited.redirect.is_none());
    let passed = std::net::TcpListener::from(inherited.listener);
    assert_eq!(passed.local_addr().unwrap(), listener.local_addr().unwrap());
}

#[test]
fn the_sockets_of_agent_metrics_and_redirect_are_told_apart() {
    let (ours, theirs) = BlockingStream::pair().unwrap();
    let listeners: Vec<_> = (0..3).map(|_| std::net::TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    let [public, metrics, redirect] = [&listeners[0], &listeners[1], &listeners[2]];
    let address = |socket: Option<OwnedFd>| socket.map(|fd| std::net::TcpListener::from(fd).local_addr().unwrap());
    let mut offer = Offer::new(2, "/run/shop".into(), "::".to_owned(), 443, "127.0.0.1:7584".to_owned());
    offer.redirect = Some(80);
    offer.send(&ours, &[theirs.as_fd(), public.as_fd(), metrics.as_fd(), redirect.as_fd()]).unwrap();
    let inherited = HandoverDescriptors::read(&theirs).unwrap();
    assert_eq!(address(inherited.metrics), metrics.local_addr().ok());
    assert_eq!(address(inherited.redirect), redirect.local_addr().ok());
    offer.send(&ours, &[theirs.as_fd(), public.as_fd(), redirect.as_fd()]).unwrap();
    let inherited = HandoverDescriptors::read(&theirs).unwrap();
    assert_eq!((address(inherited.metrics), address(inherited.redirect)), (None, redirect.local_addr().ok()));
    let agent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    assert_eq!(offer.protocol, 1, "gateways without agent checks can take over");
    offer.set_agent("127.0.0.1:9101".to_owned());
    assert_eq!(offer.protocol, 2, "gateways without agent checks would take the socket for another");
    offer.send(&ours, &[theirs.as_fd(), public.as_fd(), agent.as_fd(), redirect.as_fd()]).unwrap();
    let inherited = HandoverDescriptors::read(&theirs).unwrap();
    assert_eq!((address(inherited.agent), address(inherited.metrics)), (agent.local_addr().ok(), None));
    assert_eq!(address(inherited.redirect), redirect.local_addr().ok());
    let all = [theirs.as_fd(), public.as_fd(), agent.as_fd(), metrics.as_fd(), redirect.as_fd()];
    offer.send(&ours, &all).unwrap();
    let inherited = HandoverDescriptors::read(&theirs).unwrap();
    assert_eq!(
        (address(inherited.agent), address(inherited.metrics)),
        (agent.local_addr().ok(), metrics.local_addr().ok())
    );
}
