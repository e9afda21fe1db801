//! Where a request goes: it is one that the gateway answers by itself, or one for the workers.

use sluice_message::{Method, RequestHead};

use crate::answers::files::FilePath;
use crate::gate::Gate;

/// Where a request goes.
pub(crate) enum Route {
    Ping,
    Ready,
    /// Perhaps: where there is no such file, the request is for the workers.
    File(FilePath),
    Workers,
    /// The gateway's own, for the worker that it warms.
    Own,
}

pub(crate) fn route(gate: &Gate, is_own: bool, head: &RequestHead, is_upgrade: bool) -> Route {
    let path = head.path();
    if is_own {
        return Route::Own;
    }
    if !matches!(head.method, Method::Get | Method::Head) {
        return Route::Workers;
    }
    let config = gate.config();
    let edge = &config.edge;
    if path == edge.ping_path {
        Route::Ping
    } else if path == edge.ready_path {
        Route::Ready
    } else {
        // An upgrade is for the app, whatever lies at its path.
        let found = if is_upgrade { None } else { gate.files.find(path) };
        found.map_or(Route::Workers, Route::File)
    }
}
