//! `sluice canary`: shows the version on trial, and decides about it.

use std::fmt::Write as _;
use std::process::ExitCode;

use sluice_admin::protocol::{Request, TrialAction};
use sluice_catalog::snapshot::{FindingSnapshot, PageClassSnapshot, PagesSnapshot, TrialSnapshot};

use super::connect::{ClientError, Gateway};
use super::status::{aligned, duration, harmless};
use crate::args::{CanaryAction, CanaryArgs};
use crate::exit::Exit;
use crate::output;

pub fn run(args: &CanaryArgs) -> Result<ExitCode, ClientError> {
    let action = match args.action {
        CanaryAction::Status => None,
        CanaryAction::Promote => Some(TrialAction::Promote),
        CanaryAction::Hold => Some(TrialAction::Hold),
        CanaryAction::Back => Some(TrialAction::Back),
    };
    let mut gateway = Gateway::connect(&args.run_dir)?;
    gateway.send(&Request::Canary { action })?;
    let Some(reply) = gateway.receive::<sluice_admin::protocol::Reply>()? else {
        return Err(ClientError::Gone(gateway.run_dir().to_owned()));
    };
    if let (Some("canary-refused"), Some(error)) = (reply.code.as_deref(), &reply.error) {
        return Ok(Exit::Failed.because(error));
    }
    let trial = gateway.accepted(reply)?.trial;
    if args.json {
        return gateway.print_json(&trial);
    }
    Ok(output::print(&match &trial {
        Some(trial) => text(trial),
        None => "No version has been on trial since the gateway started.\n".to_owned(),
    }))
}

/// The trial in a few words, for `sluice status`.
pub fn in_a_line(trial: &TrialSnapshot) -> String {
    let reason = trial.reason.as_deref().map_or_else(String::new, |reason| format!(", {}", harmless(reason)));
    format!(
        "{}{reason}, {} of {} requests",
        trial.state.as_str(),
        trial.requests,
        trial.requests + trial.requests_present
    )
}

fn text(trial: &TrialSnapshot) -> String {
    let mut text = String::new();
    let whom = match trial.share {
        Some(share) => format!("{} % of visitors", (share * 10_000.0).round() / 100.0),
        None => "random requests".to_owned(),
    };
    // Writing to a String cannot fail.
    let _ = writeln!(text, "generation    {} ({whom})", trial.generation);
    let reason = trial.reason.as_deref().map_or_else(String::new, |reason| format!(": {}", harmless(reason)));
    let _ = writeln!(text, "state         {}{reason}", trial.state.as_str());
    let _ = writeln!(text, "compared for  {} of {}", duration(trial.compared_s), duration(trial.lasts_s));
    let _ = writeln!(
        text,
        "requests      {}, and {} of the current version; the first {} are not compared\n",
        trial.requests, trial.requests_present, trial.requests_warming
    );
    let mut rows = vec![["MEASURE", "VERDICT", "CHANGE", "99 % INTERVAL", "SURE"].map(str::to_owned)];
    rows.extend(trial.findings.iter().map(row));
    text.push_str(&aligned(&rows));
    if !trial.new_classes.is_empty() {
        let names: Vec<_> = trial.new_classes.iter().take(10).map(|name| harmless(name)).collect();
        let _ = writeln!(text, "\nclasses of this version only, not compared: {}", names.join(", "));
    }
    if let Some(html) = &trial.html {
        text.push_str(&pages(html));
    }
    text
}

/// Classes that are listed.
const CLASSES_LISTED: usize = 15;

fn pages(html: &PagesSnapshot) -> String {
    let PagesSnapshot { compared, differing, unclear, classes, .. } = html;
    #[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
    let percent = *differing as f64 / (*compared).max(1) as f64 * 100.0;
    let mut text = format!("\nHTML: {differing} of {compared} pages differ ({percent:.0} %)");
    if *unclear > 0 {
        let _ = write!(text, "; {unclear} more could not be compared");
    }
    text.push('\n');
    for class in classes.iter().filter(|class| class.differing > 0).take(CLASSES_LISTED) {
        let PageClassSnapshot { class, compared, differing, path, line, present, trial, .. } = class;
        let told = |text: &Option<String>| harmless(text.as_deref().unwrap_or_default());
        let line = line.map_or_else(String::new, |line| format!(", line {line}"));
        let _ = writeln!(text, "{}: {differing} of {compared}; {}{line}", harmless(class), told(path));
        let _ = writeln!(text, "  present  {}\n  trial    {}", told(present), told(trial));
    }
    text
}

fn row(finding: &FindingSnapshot) -> [String; 5] {
    let unit = if finding.is_share { " pp" } else { " %" };
    let percent =
        |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{:+.1}{unit}", value * 100.0));
    let interval = match (finding.low, finding.high) {
        (Some(low), Some(high)) if low < high => format!("{} to {}", percent(Some(low)), percent(Some(high))),
        _ => "-".to_owned(),
    };
    [
        harmless(&finding.measure),
        harmless(&finding.verdict),
        percent(finding.change),
        interval,
        format!("{:.1} %", (finding.sure * 1000.0).floor() / 10.0),
    ]
}
