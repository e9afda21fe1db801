use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::LocalSet;

use super::{Agent, BALANCERS_MAX, Balancers, Standing, Steady, line};
use crate::tests_support::TestOperator;
use tokio::time::Instant;

#[test]
fn lines_are_those_of_agent_checks() {
    for (standing, known, new) in [
        (Standing::Up(100.0), "up 100%\n", "ready up 100%\n"),
        (Standing::Up(59.6), "up 60%\n", "ready up 60%\n"),
        (Standing::Up(0.2), "up 1%\n", "ready up 1%\n"),
        (Standing::Up(250.0), "up 100%\n", "ready up 100%\n"),
        (
            Standing::Down("no worker\nis ready".to_owned()),
            "down #no worker is ready\n",
            "ready down #no worker is ready\n",
        ),
        (Standing::Drain, "drain\n", "drain\n"),
        (Standing::Maint, "maint\n", "maint\n"),
    ] {
        assert_eq!(line(&standing, false), known);
        assert_eq!(line(&standing, true), new);
    }
}

#[test]
fn a_weight_falls_at_once_and_rises_slowly() {
    let mut steady = Steady::new(Duration::ZERO);
    for (at_ms, wanted, told) in [
        (1_000, 100.0, 100.0),
        // Little changes are not told.
        (2_000, 95.0, 100.0),
        (3_000, 50.0, 50.0),
        (3_500, 53.0, 50.0),
        (4_000, 10.0, 10.0),
        // A second doubles it at most.
        (5_000, 100.0, 20.0),
        (6_000, 100.0, 40.0),
        (7_000, 100.0, 80.0),
        (8_000, 100.0, 100.0),
        (8_100, 0.0, 1.0),
        // Full weight is reached although the last step is little.
        (60_000, 96.0, 96.0),
        (61_000, 100.0, 100.0),
    ] {
        let weight = steady.tell(Duration::from_millis(at_ms), wanted);
        assert!((weight - told).abs() < 1e-9, "{weight} at {at_ms} ms, where {told} was expected");
    }
}

#[test]
fn checks_that_come_more_often_raise_the_weight_no_faster() {
    let (mut often, mut seldom) = (Steady::new(Duration::ZERO), Steady::new(Duration::ZERO));
    often.tell(Duration::ZERO, 10.0);
    seldom.tell(Duration::ZERO, 10.0);
    let often = (1..=200).map(|step| often.tell(Duration::from_millis(10 * step), 100.0)).last().unwrap();
    let seldom = seldom.tell(Duration::from_secs(2), 100.0);
    assert!(often <= seldom && often > 0.8 * seldom, "{often} and {seldom}");
}

#[test]
fn a_balancer_is_new_for_a_minute_from_its_first_check() {
    let started = Instant::now();
    let mut balancers = Balancers::default();
    let at = |s| started + Duration::from_secs(s);
    let [one, other] = ["10.0.0.1", "10.0.0.2"].map(|ip| ip.parse().unwrap());
    assert!(balancers.is_new(one, at(0)));
    assert!(balancers.is_new(one, at(59)));
    assert!(!balancers.is_new(one, at(60)));
    assert!(balancers.is_new(other, at(3_600)), "it could not reach the gateway before");
    assert!(!balancers.is_new(one, at(3_600)));
    for number in 0..2 * u32::try_from(BALANCERS_MAX).unwrap() {
        let foreign = std::net::Ipv4Addr::from(0x0b00_0000 + number).into();
        assert!(balancers.is_new(foreign, at(3_601 + u64::from(number))));
        assert!(!balancers.is_new(one, at(3_601 + u64::from(number))), "it goes on asking, so it is not forgotten");
    }
    assert_eq!(balancers.0.len(), BALANCERS_MAX);
    assert!(balancers.is_new(other, at(10_000)), "it has given way");
}

#[test]
fn a_gateway_that_was_down_comes_back_slowly() {
    let mut steady = Steady::new(Duration::ZERO);
    let at = Duration::from_secs;
    for second in 1..=20 {
        let down = Standing::Down("no worker is ready".to_owned());
        assert_eq!(steady.settle(at(second), down.clone()), down);
    }
    for (second, weight) in [(21, 2.0), (22, 4.0), (23, 8.0)] {
        assert_eq!(steady.settle(at(second), Standing::Up(100.0)), Standing::Up(weight));
    }
}

async fn ask(agent: std::net::SocketAddr, question: &[u8]) -> String {
    let mut stream = TcpStream::connect(agent).await.unwrap();
    stream.write_all(question).await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    text
}

#[tokio::test]
async fn each_connection_gets_one_line() {
    LocalSet::new()
        .run_until(async {
            let agent = Agent::bind("127.0.0.1:0").await.unwrap();
            let address = agent.local_addr().unwrap();
            let operator = TestOperator::shared();
            tokio::task::spawn_local(agent.serve(operator.clone(), std::future::pending()));
            operator.standing.replace(Standing::Up(40.0));
            assert_eq!(ask(address, b"").await, "ready up 40%\n");
            assert_eq!(ask(address, b"which?\n").await, "ready up 40%\n");
            operator.standing.replace(Standing::Drain);
            assert_eq!(ask(address, b"").await, "drain\n");
            // Connections that say nothing keep nobody else from an answer for long.
            let mut silent = Vec::new();
            for _ in 0..super::CONNECTIONS_MAX {
                silent.push(TcpStream::connect(address).await.unwrap());
            }
            drop(silent);
            while ask(address, b"").await != "drain\n" {}
        })
        .await;
}
