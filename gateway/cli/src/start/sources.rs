//! Sources of the settings of the start, and reading them again. It must not know what is done with them.

use std::path::{Path, PathBuf};

use sluice_catalog::config::ConfigInForce;
use sluice_catalog::refusals::NotBegun;

use super::app::{self, AppCommand};
use super::heads;
use super::sizing::{self, InForce};
use crate::{files, settings};

/// Sources of the settings of the start, to be read again.
#[derive(Clone)]
pub struct Sources {
    /// The file after `--config`.
    pub config: Option<PathBuf>,
    pub flags: Vec<(&'static str, String)>,
    /// The command line names the app.
    pub names_app: bool,
    /// Arguments for Node.js, besides those of the file.
    pub node_args: Vec<String>,
    /// The directory of the start, by the name that leads to it: where that is a symbolic link to a release, it may lead to
    /// another one by now.
    pub here: PathBuf,
}

impl Sources {
    /// Reads everything that a start reads, and looks at the files that a new worker needs. Heaps are for the workers in force.
    pub fn read(&self, in_force: InForce) -> Result<(ConfigInForce, AppCommand), NotBegun> {
        let mut loaded = settings::load_in(&self.here, self.config.as_deref(), self.flags.clone())?;
        let mut start = app::resolve(&loaded, self)?;
        sizing::settle(&mut loaded, &mut start, Some(in_force));
        heads::settle(&mut loaded, &start);
        files::check_node(&loaded, &start)?;
        Ok((loaded, start))
    }
}

/// The current directory by the name that the shell knows it by, which may be that of a symbolic link.
pub fn here() -> std::io::Result<PathBuf> {
    use std::os::unix::fs::MetadataExt as _;
    let real = std::env::current_dir()?;
    let Some(named) = std::env::var_os("PWD").map(PathBuf::from).filter(|named| named.is_absolute()) else {
        return Ok(real);
    };
    let place = |path: &Path| path.metadata().map(|found| (found.dev(), found.ino())).ok();
    Ok(if place(&named).is_some() && place(&named) == place(&real) { named } else { real })
}
