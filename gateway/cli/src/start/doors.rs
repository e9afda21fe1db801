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
    pub redirect: Option<OwnedFd>,
    pub wire: Wire,
}

/// The sockets that the world knows.
pub struct Doors {
    pub listener: TcpListener,
    pub metrics: Option<MetricsHttp>,
    /// Redirects to HTTPS.
    pub redirect: Option<TcpListener>,
}

pub async fn open(config: &Config, predecessor: Option<Predecessor>) -> Result<(Doors, Option<Wire>), Failure> {
    let failed = |error: io::Error| Failure::new(Exit::Failed, error);
    let (host, wanted) = (&config.server.host, config.server.redirect_port);
    let (listener, inherited, redirect, wire) =
        if let Some(Predecessor { offer, listener, metrics, redirect, wire }) = predecessor {
            // One that has moved is bound anew, while the old gateway still answers at the old one.
            let metrics = metrics.filter(|_| offer.admin == config.admin.address);
            let redirect = redirect.filter(|_| offer.redirect == Some(wanted));
            (sockets::adopt(listener).map_err(failed)?, metrics, redirect, Some(wire))
        } else {
            let port = config.server.port;
            let bound = sockets::bind(host, port);
            (bound.map_err(|error| cannot_bind("--port", &sockets::display(host, port), &error))?, None, None, None)
        };
    let metrics = match (config.admin.address.as_str(), inherited) {
        ("off", _) => None,
        (address, Some(socket)) => Some(MetricsHttp::adopt(socket, address).map_err(failed)?),
        (wanted, None) => {
            Some(MetricsHttp::bind(wanted).await.map_err(|error| cannot_bind("--admin", wanted, &error))?)
        }
    };
    let redirect = match redirect {
        _ if wanted == 0 => None,
        Some(socket) => Some(sockets::adopt(socket).map_err(failed)?),
        None => {
            let bound = sockets::bind(host, wanted);
            let flag = "server.redirect_port";
            Some(bound.map_err(|error| cannot_bind(flag, &sockets::display(host, wanted), &error))?)
        }
    };
    Ok((Doors { listener, metrics, redirect }, wire))
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
