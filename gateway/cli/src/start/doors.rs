//! The sockets that the world knows: bound at a start, taken over from the gateway before in an upgrade.

use std::io;
use std::os::fd::OwnedFd;

use sluice_admin::{Agent, MetricsHttp};
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
    pub agent: Option<OwnedFd>,
    pub metrics: Option<OwnedFd>,
    pub redirect: Option<OwnedFd>,
    pub wire: Wire,
}

/// The sockets that the world knows.
pub struct Doors {
    pub listener: TcpListener,
    /// Agent checks of a balancer.
    pub agent: Option<Agent>,
    pub metrics: Option<MetricsHttp>,
    /// Redirects to HTTPS.
    pub redirect: Option<TcpListener>,
}

pub async fn open(config: &Config, predecessor: Option<Predecessor>) -> Result<(Doors, Option<Wire>), Failure> {
    let failed = |error: io::Error| Failure::new(Exit::Failed, error);
    let (host, wanted) = (&config.server.host, config.server.redirect_port);
    let (listener, agent, inherited, redirect, wire) =
        if let Some(Predecessor { offer, listener, agent, metrics, redirect, wire }) = predecessor {
            // One that has moved is bound anew, while the old gateway still answers at the old one.
            let agent = agent.filter(|_| offer.agent() == Some(&*config.admin.agent_address));
            let metrics = metrics.filter(|_| offer.admin == config.admin.address);
            let redirect = redirect.filter(|_| offer.redirect == Some(wanted));
            (sockets::adopt(listener).map_err(failed)?, agent, metrics, redirect, Some(wire))
        } else {
            let port = config.server.port;
            let bound = sockets::bind(host, port);
            let bound = bound.map_err(|error| cannot_bind("--port", &sockets::display(host, port), &error))?;
            (bound, None, None, None, None)
        };
    let agent = match (config.admin.agent_address.as_str(), agent) {
        ("off", _) => None,
        (_, Some(socket)) => Some(Agent::adopt(socket).map_err(failed)?),
        (wanted, None) => {
            let bound = Agent::bind(wanted).await;
            Some(bound.map_err(|error| cannot_bind("admin.agent_address", wanted, &error))?)
        }
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
    Ok((Doors { listener, agent, metrics, redirect }, wire))
}

fn cannot_bind(flag: &str, address: &str, error: &io::Error) -> Failure {
    if error.kind() == io::ErrorKind::AddrInUse {
        let hint = if flag == "--admin" { ", or --admin off" } else { "" };
        return Failure::new(
            Exit::PortInUse,
            format!("{}: {address} is in use. Choose another with {flag}{hint}.", Code::PortInUse),
        );
    }
    if error.kind() == io::ErrorKind::PermissionDenied {
        return Failure::new(Exit::Failed, no_rights(flag, address));
    }
    Failure::new(Exit::Failed, format!("cannot listen on {address} ({flag}): {error}"))
}

/// Low ports are for root, unless the system says otherwise: each way to have one, the narrowest first.
fn no_rights(flag: &str, address: &str) -> String {
    let port = address.rsplit(':').next().unwrap_or(address);
    let program = std::env::current_exe().map_or_else(|_| "sluice".to_owned(), |path| path.display().to_string());
    let ways = if cfg!(target_os = "linux") {
        format!(
            "\n  systemd     AmbientCapabilities=CAP_NET_BIND_SERVICE in the unit\n  \
             capability  sudo setcap cap_net_bind_service=+ep {program}\n  \
             kernel      sudo sysctl net.ipv4.ip_unprivileged_port_start={port}\n  \
             authbind    authbind --deep sluice start ...\n"
        )
    } else {
        " root.\n".to_owned()
    };
    format!(
        "cannot listen on {address} ({flag}): ports below 1024 need a privilege. It comes from:{ways}\
         Or use another port ({flag}) behind a proxy or a firewall rule."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_without_rights_names_the_ways_to_have_it() {
        let Failure(exit, text) = cannot_bind("--port", "[::]:80", &io::ErrorKind::PermissionDenied.into());
        assert_eq!(exit, Exit::Failed);
        assert!(text.starts_with("cannot listen on [::]:80 (--port)"), "{text}");
        if cfg!(target_os = "linux") {
            for word in ["setcap", "AmbientCapabilities", "ip_unprivileged_port_start=80", "authbind"] {
                assert!(text.contains(word), "{text}");
            }
        }
    }
}
