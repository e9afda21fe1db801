//! Checks whether the sockets between gateway and workers still have their names. The gateway's own is bound again. A
//! worker's cannot be, so the worker is replaced; its open connections continue until then.

use std::fs;
use std::io;
use std::path::Path;
use std::rc::Rc;

use sluice_scheduler::Event::Unreachable;

use crate::{Supervisor, control};

/// Consecutive checks that must find a worker's socket missing: while an app passes its role to another server, it has
/// none for a moment.
const LOOKS: u32 = 3;

impl Supervisor {
    /// Checks the sockets and repairs them; to be called regularly. Returns the names that were lost since the last
    /// call.
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
