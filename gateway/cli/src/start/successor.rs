//! The new gateway's side of an upgrade: takes what the old one passes on, says when its workers are ready, and takes over.
//!
//! Until then nothing that clients or commands can see has changed, so every failure here is only told to the old one.

use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::time::Duration;

use sluice_catalog::config::Config;
use tokio::sync::oneshot;

use super::handover::{HandoverDescriptors, Offer, Wire, Word};
use super::operator::Gateway;
use super::{Exit, Failure, keep_tails, shutdown};

/// Interval of looks at the workers.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// The place that is to be taken.
pub struct Succession {
    pub inherited: HandoverDescriptors,
    stream: UnixStream,
}

impl Succession {
    pub fn receive() -> Result<Self, Failure> {
        let (inherited, stream) = HandoverDescriptors::receive().map_err(|error| {
            Failure::new(Exit::Usage, format!("only a gateway starts this command, for `sluice upgrade`: {error}"))
        })?;
        Ok(Self { inherited, stream })
    }

    /// One more end, to tell of a failure.
    pub fn stream(&self) -> Result<UnixStream, Failure> {
        self.stream.try_clone().map_err(|error| Failure::new(Exit::Failed, error))
    }

    pub fn into_parts(self) -> Result<(HandoverDescriptors, Wire), Failure> {
        let wire = Wire::new(self.stream).map_err(|error| Failure::new(Exit::Failed, error))?;
        Ok((self.inherited, wire))
    }
}

/// The public address is the one thing that an upgrade cannot change: what clients have found there has to stay.
pub fn check_address(config: &Config, offer: &Offer) -> Result<(), Failure> {
    let (host, port) = (&config.server.host, config.server.port);
    if *host == offer.host && port == offer.port {
        return Ok(());
    }
    let text = format!(
        "server.host and server.port are {host} and {port} now, and {} and {} where the gateway listens. \
         An upgrade keeps the address; to change it, stop the gateway and start it again",
        offer.host, offer.port
    );
    Err(Failure::new(Exit::Usage, text))
}

/// Waits until every wanted worker is ready, says so, and waits for the word to take over.
pub async fn come_up(gateway: &Gateway, wire: &mut Wire, gave_up: &mut oneshot::Receiver<()>) -> Result<(), Failure> {
    let gone = || Failure::new(Exit::Failed, "the gateway to be replaced has exited or cancelled the upgrade");
    tokio::select! {
        biased;
        Ok(()) = gave_up => return Err(shutdown::did_not_start(gateway)),
        // It says nothing now, so all that can be heard is its end.
        _ = wire.hear() => return Err(gone()),
        () = all_ready(gateway) => {}
    }
    wire.say(&Word::Ready).await.map_err(|_| gone())?;
    match wire.hear().await {
        Ok(Some(Word::TakeOver { tickets })) => {
            if let (Some(tls), Some(keys)) = (gateway.gate.road.lobby.tls(), tickets) {
                tls.adopt_ticket_keys(keys);
            }
            Ok(())
        }
        _ => Err(gone()),
    }
}

async fn all_ready(gateway: &Gateway) {
    while gateway.gate.scheduler.read(sluice_scheduler::Scheduler::ready_count) < gateway.wanted() {
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Says that this gateway serves, and looks after what the old one still has until that is gone.
pub async fn settle(gateway: Rc<Gateway>, mut wire: Wire) {
    let mut said = wire.say(&Word::Serving).await.is_ok();
    let mut is_released = false;
    while said {
        // Words of a newer gateway that this one does not know are no reason to stop listening.
        match wire.hear().await {
            Ok(Some(Word::Released)) => {
                is_released = true;
                gateway.supervisor.open_auxiliaries();
                keep_tails(&gateway.gate, gateway.state_dir()).await;
            }
            Ok(None) => said = false,
            Err(error) if error.kind() != std::io::ErrorKind::InvalidData => said = false,
            _ => {}
        }
    }
    if !is_released {
        gateway.supervisor.open_auxiliaries();
        keep_tails(&gateway.gate, gateway.state_dir()).await;
    }
    gateway.has_predecessor.set(false);
}
