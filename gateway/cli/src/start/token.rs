//! The token that opens the dashboard from another host and allows its actions.

use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use sluice_admin::{Secret, Token};
use sluice_catalog::config::Config;

use crate::run_dir::RunDir;

/// Random bytes of a token that the gateway makes.
const TOKEN_BYTES: usize = 32;

/// The token of the config, else that of the run directory, which is made where there is none. The next gateway of the instance
/// takes the same, so that a dashboard that is open stays so.
///
/// # Errors
/// What the operating system says.
pub fn secret(config: &Config, run_dir: &RunDir) -> io::Result<Secret> {
    if let Some(token) = &config.admin.token {
        return Ok(Secret { token: Token::new(token), file: None });
    }
    let file = run_dir.token_file();
    let text = match kept(&file) {
        Some(text) => text,
        None => make(&file)?,
    };
    Ok(Secret { token: Token::new(&text), file: Some(file.display().to_string()) })
}

/// Token of an earlier gateway, if nobody else could have written or read it.
fn kept(file: &Path) -> Option<String> {
    let metadata = fs::symlink_metadata(file).ok()?;
    let is_ours = metadata.is_file() && metadata.mode() & 0o7777 == 0o600;
    let text = fs::read_to_string(file).ok().filter(|_| is_ours)?;
    let text = text.trim_end();
    let is_whole = text.len() == 2 * TOKEN_BYTES && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_whole.then(|| text.to_owned())
}

fn make(file: &Path) -> io::Result<String> {
    let mut bytes = [0; TOKEN_BYTES];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    let text = bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    });
    // Whatever stands there is not ours; a link would lead the token elsewhere.
    let fresh = file.with_extension(std::process::id().to_string());
    let _ = fs::remove_file(&fresh);
    let mut out = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&fresh)?;
    writeln!(out, "{text}")?;
    fs::rename(fresh, file)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn token_is_made_once_and_nobody_else_may_read_it() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("admin-token");
        assert_eq!(kept(&file), None);
        let made = make(&file).unwrap();
        assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
        assert_eq!(kept(&file), Some(made.clone()));
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(kept(&file), None, "others may have read it");
        assert_ne!(make(&file).unwrap(), made);
        fs::write(&file, "short").unwrap();
        assert_eq!(kept(&file), None);
    }
}
