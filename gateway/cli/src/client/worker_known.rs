//! Whether a worker that a command names can have been one of the gateway's: ids count up and are never given twice.

use super::connect::{ClientError, Gateway};

/// Refuses a worker that there cannot have been, with those that there are.
pub fn check(gateway: &mut Gateway, worker: Option<u64>) -> Result<(), ClientError> {
    let Some(worker) = worker else { return Ok(()) };
    // Places that wait for their next start show no worker.
    let ids: Vec<u64> = gateway.status()?.workers.iter().map(|view| view.id).filter(|id| *id > 0).collect();
    match ids.iter().max() {
        Some(latest) if worker == 0 || worker > *latest => {
            let known = ids.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
            Err(ClientError::NoWorker { worker, known })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use crate::client::tests_support::FakeGateway;

    #[test]
    fn a_worker_that_there_cannot_have_been_is_refused_with_those_that_there_are() {
        let snapshot = crate::client::status::tests::snapshot();
        let reply = serde_json::json!({ "ok": true, "status": snapshot }).to_string();
        let check = |worker| super::check(&mut FakeGateway::answering(&[&reply]).connect(), worker);
        assert_eq!(check(Some(99)).unwrap_err().to_string(), "worker 99 never existed; current workers: 7, 8");
        assert!(check(Some(0)).is_err());
        for worker in [None, Some(8), Some(3)] {
            assert!(check(worker).is_ok(), "{worker:?}");
        }
    }
}
