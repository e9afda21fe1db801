//! The Dockerfile: packages first, because they change less often than the app.

use super::{Plan, words_as_json};

pub fn dockerfile(plan: &Plan) -> String {
    let install = &plan.install;
    let image = format!("node:{}-slim", install.node);
    let files = install.files.join(" ");
    let sluice = if plan.has_own_sluice() {
        String::new()
    } else {
        format!("RUN npm install --global sluice@{}\n", env!("CARGO_PKG_VERSION"))
    };
    let head = "# Written by `sluice init --docker`.\n";
    let tail = tail(plan);
    let packages =
        |command: &str| if files.is_empty() { String::new() } else { format!("COPY {files} ./\nRUN {command}\n") };
    if !install.has_build {
        let install = packages(install.command());
        return format!("{head}FROM {image}\nENV NODE_ENV=production\n{sluice}WORKDIR /app\n{install}COPY . .\n{tail}");
    }
    let (all, build) = (packages(install.all()), install.build());
    let (prune, copied) = if plan.is_standalone {
        let public = if plan.has_public { "COPY --from=build /app/public ./public\n" } else { "" };
        let copied = format!(
            "COPY --from=build /app/.next/standalone ./\nCOPY --from=build /app/.next/static ./.next/static\n{public}COPY sluice.toml ./\n"
        );
        (String::new(), copied)
    } else {
        (format!("RUN {}\n", install.prune()), "COPY --from=build /app ./\n".to_owned())
    };
    format!(
        "{head}FROM {image} AS build\nWORKDIR /app\n{all}COPY . .\nRUN {build}\n{prune}\n\
         FROM {image}\nENV NODE_ENV=production\n{sluice}WORKDIR /app\n{copied}{tail}"
    )
}

fn tail(plan: &Plan) -> String {
    let Plan { port, stop_s, .. } = plan;
    format!(
        "USER node\nEXPOSE {port}\n\
         # SIGTERM drains for up to {stop_s} s: docker run --init --stop-timeout {stop_s}\n\
         # The exec form: a shell or npm as process 1 does not pass SIGTERM on.\n\
         CMD {}\n",
        words_as_json(&plan.command())
    )
}

/// Files that no image needs, and that must not be in one.
pub fn ignored() -> String {
    include_str!("texts/dockerignore.txt").to_owned()
}
