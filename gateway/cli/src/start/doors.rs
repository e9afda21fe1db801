//! The sockets that the world knows: bound at a start, taken over from the gateway before in an upgrade.

use std::io;
use std::os::fd::OwnedFd;

use sluice_admin::MetricsHttp;
use sluice_catalog::config::Config;
use sluice_catalog::errors::Code;
use sluice_sockets as sockets;
use tokio::net::TcpListener;

use super::handover::{Offer, Wire};
use super::{Exit, Failure};

/// The place of another gateway, for the one that is to take it.
pub struct Predecessor {
    pub offer: Offer,
    pub listener: OwnedFd,
    pub metrics: Option<OwnedFd>,
    pub wire: Wire,
}

/// The sockets that the world knows.
pub struct Doors {
    pub listener: TcpListener,
    pub metrics: Option<MetricsHttp>,
}

pub async fn open(config: &Config, predecessor: Option<Predecessor>) -> Result<(Doors, Option<Wire>), Failure> {
    let failed = |error: io::Error| Failure::new(Exit::Failed, error);
    let (listener, inherited, wire) = if let Some(Predecessor { offer, listener, metrics, wire }) = predecessor {
        // One that has moved is bound anew, while the old gateway still answers at the old one.
        let metrics = metrics.filter(|_| offer.admin == config.admin.address);
        (sockets::adopt(listener).map_err(failed)?, metrics, Some(wire))
    } else {
        let (host, port) = (&config.server.host, config.server.port);
        let bound = sockets::bind(host, port);
        (bound.map_err(|error| cannot_bind("--port", &sockets::display(host, port), &error))?, None, None)
    };
    let metrics = match (config.admin.address.as_str(), inherited) {
        ("off", _) => None,
        (address, Some(socket)) => Some(MetricsHttp::adopt(socket, address).map_err(failed)?),
        (wanted, None) => {
            Some(MetricsHttp::bind(wanted).await.map_err(|error| cannot_bind("--admin", wanted, &error))?)
        }
    };
    Ok((Doors { listener, metrics }, wire))
}

fn cannot_bind(flag: &str, address: &str, error: &io::Error) -> Failure {
    if error.kind() == io::ErrorKind::AddrInUse {
        let hint = if flag == "--admin" { ", or --admin off" } else { "" };
        return Failure::new(
            Exit::PortInUse,
            format!("{}: {address} is in use. Choose another with {flag}{hint}.", Code::PortInUse),
        );
    }
    Failure::new(Exit::Failed, format!("cannot listen on {address} ({flag}): {error}"))
}
