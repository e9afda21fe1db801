//! Beacons of browsers: received, counted and answered without a worker. It must not know what they are added to.

use sluice_catalog::errors::Code;
use sluice_message::{Fields, RequestHead, ResponseHead};
use sluice_vitals::{BEACON_BYTES_MAX, Beacon};

use super::{Response, ResponseBody};
use crate::request::passage::Request;
use crate::road::Road;
use sluice_wire::front::exchange::Exchange;
use sluice_wire::ids::to_usize;
use sluice_wire::receive::failure::Failure;
use sluice_wire::receive::failure::Refusal;
use sluice_wire::receive::failure::refused;

/// Takes a beacon. A sender that is refused is refused before the body is received.
pub(crate) async fn take(exchange: &mut Exchange<'_>, road: &Road, request: &mut Request) -> Result<Response, Failure> {
    // Fetch Metadata: browsers say where a request comes from. Another site must not have its visitors speak of this one.
    if request.head.fields.get("sec-fetch-site").is_some_and(|site| site != b"same-origin") {
        return Err(refused(Code::VitalsRefused, "it comes from a page of another site"));
    }
    if let Some(wait_s) = road.rendering.over_beacons(request.peer) {
        let refusal = Refusal { retry_after_s: Some(wait_s), ..Refusal::of(Code::VitalsLimited) };
        return Err(Failure::Refused(refusal));
    }
    let body = exchange.body(BEACON_BYTES_MAX).await?;
    request.bytes_in = body.bytes();
    let read = body.beginning(to_usize(BEACON_BYTES_MAX)).read().await;
    let bytes = read.map_err(|_| refused(Code::TempFull, "the temporary file could not be read"))?;
    let beacon = Beacon::parse(&bytes).map_err(|why| refused(Code::VitalsRefused, why.as_str()))?;
    road.rendering.take_beacon(&beacon, &request.head, &*road.workers());
    Ok(Response { head: ResponseHead::new(204, Fields::default()), body: ResponseBody::Empty })
}

/// Path of the page that a beacon is about: the path in the beacon if there is one, else the referrer's.
pub(crate) fn page_path<'a>(beacon: &'a Beacon, head: &'a RequestHead) -> Option<&'a str> {
    let said = beacon.page.as_deref().filter(|page| page.starts_with('/'));
    said.or_else(|| {
        let referrer = std::str::from_utf8(head.fields.get("referer")?).ok()?;
        let (_, after) = referrer.split_once("://")?;
        Some(&after[after.find('/')?..])
    })
}
