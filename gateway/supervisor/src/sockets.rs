//! Looks whether the sockets between gateway and workers still have their names. The gateway's own is bound again; a worker's
//! cannot be, so the worker is replaced. Until then connections that are open go on.

use std::fs;
use std::io;
use std::path::Path;
use std::rc::Rc;

use sluice_scheduler::Event::Unreachable;

use crate::{Supervisor, control};

/// Looks that must find a worker's socket missing: an app that passes its role on to another server has none for a moment.
const LOOKS: u32 = 3;

impl Supervisor {
    /// To be called now and then. Returns the names that were lost since the last call.
    ///
    /// # Errors
    /// When the directory cannot be made, or the socket not be bound.
    pub fn mend_sockets(self: &Rc<Self>) -> io::Result<Vec<String>> {
        let mut lost = Vec::new();
        let path = self.sockets.join(crate::app::CONTROL_SOCKET);
        if is_missing(&path) {
            fs::create_dir_all(&self.sockets)?;
            control::serve(self, &path)?;
            lost.push(self.name_of(&path));
        }
        for process in self.processes.borrow().values() {
            let socket = self.socket(process.worker);
            if !process.is_ready.get() || process.has_exited.get() || !is_missing(&socket) {
                process.lost_looks.set(0);
                continue;
            }
            process.lost_looks.set(process.lost_looks.get() + 1);
            if process.lost_looks.get() == LOOKS {
                self.gate.tell(Unreachable { worker: process.worker });
                lost.push(self.name_of(&socket));
            }
        }
        Ok(lost)
    }

    fn name_of(&self, path: &Path) -> String {
        let dir = self.sockets.parent().unwrap_or(&self.sockets);
        path.strip_prefix(dir).unwrap_or(path).display().to_string()
    }
}

fn is_missing(path: &Path) -> bool {
    fs::symlink_metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}
