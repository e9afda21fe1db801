//! Lists of the modules that apps have loaded, which their preloads write.

use std::path::{Path, PathBuf};

/// Extension of the file beside the worker's socket in which the preload lists loaded modules.
const SUFFIX: &str = "sock.loaded";

/// Path of the file in which a worker's preload lists loaded modules.
pub(crate) fn list_beside(socket: &Path) -> PathBuf {
    socket.with_extension(SUFFIX)
}
