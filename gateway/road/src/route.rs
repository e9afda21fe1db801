//! Route of a request: the gateway answers it by itself, or a worker does.

use sluice_catalog::config::VITALS_PATH;
use sluice_catalog::errors::Code;
use sluice_message::{Method, RequestHead};

use crate::answers::files::FilePath;
use crate::request::passage::Request;
use crate::request::ticket::Call;
use crate::road::Road;
use crate::road::other_routes::is_ambiguous;
use sluice_wire::front::origin::Origin;
use sluice_wire::receive::failure::Failure;
use sluice_wire::receive::failure::Refusal;
use sluice_wire::receive::failure::refused;

/// Destination of a request.
pub(crate) enum Route {
    Ping,
    Ready,
    /// Measurements of a browser.
    Vitals,
    /// A file, if it exists; otherwise the request is for the workers.
    File(FilePath),
    /// A worker, or the upstream that the request has from now on.
    Workers,
    /// Redirect to the same URL by HTTPS.
    Redirect,
    /// A request of the gateway's own, for the worker that it warms.
    Own,
}

/// Source of a request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asker {
    Client,
    /// A composed page, of a client that was let in with it.
    Page,
    Gateway,
}

/// Chooses the route. Refuses clients that may not ask, before a body is received.
pub(crate) fn route(road: &Road, origin: &Origin, asker: Asker, request: &mut Request) -> Result<Route, Failure> {
    if asker == Asker::Gateway {
        return Ok(Route::Own);
    }
    let upstream = road.upstream_of(&request.head);
    // An upgrade is for the app, whatever lies at its path.
    let has_files = request.upgrade.is_none() && upstream.is_none();
    let route = if origin.is_redirected { Route::Redirect } else { find(road, &request.head, has_files) };
    if let (Route::Workers, Some(upstream)) = (&route, upstream) {
        if is_ambiguous(request.head.path()) {
            return Err(refused(
                Code::TargetInvalid,
                "servers read the path in several ways, and it is for an upstream",
            ));
        }
        request.call = Some(Call::Routed(upstream));
    }
    if asker == Asker::Page {
        return Ok(route);
    }
    // Balancers and browsers ask many times a minute, and nobody looks for that in a trace.
    if let Route::Ping | Route::Ready | Route::Vitals = route {
        request.trace = None;
    }
    if let Route::Workers | Route::File(_) | Route::Redirect | Route::Vitals = route
        && road.settings.access().is_some_and(|access| access.denies(request.peer))
    {
        return Err(Code::AccessDenied.into());
    }
    Ok(route)
}

/// Refuses clients that ask too often, before a body is received. Includes of a page were counted with it.
pub(crate) async fn limit_rate(road: &Road, route: &Route, asker: Asker, request: &mut Request) -> Result<(), Failure> {
    if asker == Asker::Client
        && let Route::Workers | Route::File(_) | Route::Vitals = route
        && let Some(wait_s) = road.over_rate(request.peer, &request.head.path_and_query).await
    {
        request.classify(&*road.workers());
        let refusal = Refusal { retry_after_s: Some(wait_s), ..Refusal::of(Code::RateLimited) };
        return Err(Failure::Refused(refusal));
    }
    Ok(())
}

/// Lets a request through that needs no password or has one.
pub(crate) async fn log_in(road: &Road, route: &Route, request: &mut Request) -> Result<(), Failure> {
    if let Route::Workers | Route::File(_) | Route::Vitals = route
        && !request.is_logged_in
        && let Some(access) = road.settings.access()
        && let Some(login) = &access.login
    {
        request.is_logged_in = login.admit(request.peer, &mut request.head).await.map_err(Failure::Refused)?;
    }
    Ok(())
}

fn find(road: &Road, head: &RequestHead, has_files: bool) -> Route {
    let path = head.path();
    if head.method == Method::Post && path == VITALS_PATH {
        return Route::Vitals;
    }
    if !matches!(head.method, Method::Get | Method::Head) {
        return Route::Workers;
    }
    let config = road.config();
    let edge = &config.edge;
    if path == edge.ping_path {
        Route::Ping
    } else if path == edge.ready_path {
        Route::Ready
    } else {
        let found = if has_files { road.files.find(path) } else { None };
        found.map_or(Route::Workers, Route::File)
    }
}
