//! `sluice dial`.

use std::collections::BTreeMap;
use std::process::ExitCode;

use sluice_admin::protocol::Request;
use sluice_catalog::config::{EVERY_COMPONENT, Share};
use sluice_catalog::snapshot::DialSnapshot;

use super::connect::{ClientError, Gateway};
use super::status::{aligned, harmless};
use crate::args::DialArgs;
use crate::exit::Exit;
use crate::{output, settings};

pub fn run(args: &DialArgs) -> Result<ExitCode, ClientError> {
    let wanted = match wanted(args) {
        Ok(wanted) => wanted,
        Err(refused) => return Ok(refused),
    };
    let mut gateway = Gateway::connect(&args.run_dir)?;
    let dial = match wanted {
        Some(request) => gateway.ask(&request)?.dial.unwrap_or_default(),
        None => gateway.status()?.dial,
    };
    if args.json { gateway.print_json(&dial) } else { Ok(output::print(&table(&dial))) }
}

/// Change that the gateway is to make; nothing if the dial is only to be shown.
fn wanted(args: &DialArgs) -> Result<Option<Request>, ExitCode> {
    if let Some(file) = &args.config {
        let loaded = settings::load(Some(file), Vec::new()).map_err(|error| Exit::Usage.because(error))?;
        return Ok(Some(Request::Dial { server: loaded.config.render.server, replaces: true }));
    }
    let one = |what: &str, share: &str| {
        let server = BTreeMap::from([(what.to_owned(), share.to_owned())]);
        Ok(Some(Request::Dial { server, replaces: false }))
    };
    match (args.what.as_deref(), args.share.as_deref()) {
        (Some(what), Some(share)) => one(what, share),
        (Some(share), None) if Share::parse(share).is_some() => one(EVERY_COMPONENT, share),
        (Some(what), None) => {
            let what = harmless(what);
            Err(Exit::Usage
                .because(format!("{what:?} is not a share from 0% to 100%; add a share after it, like: {what} 50%")))
        }
        (None, _) => Ok(None),
    }
}

fn table(dial: &DialSnapshot) -> String {
    let mut rows = vec![["COMPONENT".to_owned(), "DEVICE".to_owned(), "SERVER RENDERING FOR".to_owned()]];
    rows.extend(dial.server.iter().map(|(name, share)| {
        let (component, device) = name.rsplit_once('@').unwrap_or((name, "-"));
        [harmless(component), harmless(device), share.clone()]
    }));
    let note = if dial.turned {
        "\nDifferent from the configuration: the next reload applies [render.server] again.\n"
    } else {
        ""
    };
    format!("{}{note}", aligned(&rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(what: Option<&str>, share: Option<&str>) -> DialArgs {
        DialArgs {
            what: what.map(str::to_owned),
            share: share.map(str::to_owned),
            config: None,
            run_dir: crate::args::RunDirArg::default(),
            json: false,
        }
    }

    #[test]
    fn share_alone_is_for_all_components() {
        let asked = |what, share| wanted(&args(what, share)).unwrap();
        let one = |what: &str, share: &str| {
            let server = BTreeMap::from([(what.to_owned(), share.to_owned())]);
            Some(Request::Dial { server, replaces: false })
        };
        assert_eq!(asked(Some("80%"), None), one("*", "80%"));
        assert_eq!(asked(Some("Reviews"), Some("0%")), one("Reviews", "0%"));
        assert_eq!(asked(None, None), None);
        assert!(wanted(&args(Some("Reviews"), None)).is_err());
    }

    #[test]
    fn table_shows_devices_apart_and_says_when_the_config_says_otherwise() {
        let server = [("*", "100%"), ("Price@mobile", "5%")].map(|(name, share)| (name.to_owned(), share.to_owned()));
        let dial = DialSnapshot { server: server.into(), turned: true };
        let text = table(&dial);
        assert!(text.contains("Price      mobile  5%"), "{text}");
        assert!(text.contains("*          -       100%"), "{text}");
        assert!(text.contains("Different from the configuration"), "{text}");
        assert!(!table(&DialSnapshot { turned: false, ..dial }).contains("config"));
    }
}
