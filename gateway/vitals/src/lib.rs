//! Costs of components on the server and reports of browsers on pages, side by side for each setting of the dial. Pure: the
//! clock is passed in. It must not know connections, processes, or how a setting is chosen for a visitor.
//!
//! Two kinds of input meet here. Workers report which components they rendered; their words are bounded in number and length.
//! Browsers send beacons, and anybody can. A beacon counts under a name only if a worker has used that name before, so that
//! made-up names add to `other` alone.
//!
//! HTTP calls of apps to other hosts are counted here as well, as they are rows by name in bounded number.

mod arms;
mod beacon;
mod calls;
mod components;
mod effects;
mod graph;
mod names;
mod row;
mod spread;

pub use arms::{ArmFindings, ExperimentFindings};
pub use beacon::{BEACON_BYTES_MAX, Beacon, Device, Measure, NotABeacon};
pub use calls::{Calls, CallsReport, HostCalls};
pub use components::{ComponentReport, Holes, is_hole};
pub use effects::{Effects, SettingReport};
pub use graph::{GraphCounts, GraphFailures, GraphPathReport, GraphRoute, GraphRouteReport, Graphs};
pub use row::{CLS_BOUNDS, Histogram};
