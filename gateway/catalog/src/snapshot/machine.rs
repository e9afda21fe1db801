//! The machine below the gateway, and the last minute of requests by how they ended.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// CPU and memory that the gateway and its workers share with others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MachineSnapshot {
    /// CPUs that are online.
    pub cpus: u32,
    /// CPUs that this process may use: its affinity and the quota of its cgroup.
    pub cpus_allowed: u32,
    /// CPU time of everything on the machine over the last seconds, in cores; `None` where the system does not report it.
    pub cpu: Option<f64>,
    /// Memory in use, bytes, without what the kernel can drop at once; `None` where the system does not report it.
    pub memory_bytes: Option<u64>,
    /// Memory that there is, bytes: the limit of the cgroup or that of the machine, whichever is less.
    pub memory_bytes_max: Option<u64>,
    /// Whether that limit is the cgroup's. Memory in use is the cgroup's too then.
    pub is_cgroup: bool,
}

/// Requests of the last minute, and CPU time of the last seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LatelySnapshot {
    /// Seconds that the counts are of: 60, or less after the start.
    pub over_s: f64,
    /// Requests by outcome, with the names of the access log's `outcome`.
    pub outcomes: BTreeMap<String, u64>,
    /// Requests by error code.
    pub errors: BTreeMap<String, u64>,
    /// CPU time of all workers over the last five seconds, in cores.
    pub cpu: Option<f64>,
    /// CPU time of the gateway over the last five seconds, in cores.
    pub gateway_cpu: Option<f64>,
}
