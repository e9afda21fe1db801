//! The Dockerfile: packages first, because they change less often than the app. They have a stage of their own, so that caches of
//! the package manager are not in the image.

use super::{Plan, words_as_json};

pub fn dockerfile(plan: &Plan) -> String {
    let install = &plan.install;
    let image = format!("node:{}-slim", install.node);
    let files = install.files.join(" ");
    let sluice = if plan.has_own_sluice() {
        String::new()
    } else {
        format!("RUN npm install --global sluice@{} && npm cache clean --force\n", env!("CARGO_PKG_VERSION"))
    };
    let packages =
        |command: &str| if files.is_empty() { String::new() } else { format!("COPY {files} ./\nRUN {command}\n") };
    let built = if !install.has_build {
        format!("{}COPY . .\n", packages(install.command()))
    } else if plan.is_standalone {
        format!("{}COPY . .\nRUN {}\n", packages(install.all()), install.build())
    } else {
        format!("{}COPY . .\nRUN {}\nRUN {}\n", packages(install.all()), install.build(), install.prune())
    };
    let copied = if plan.is_standalone && install.has_build {
        let public = if plan.has_public { "COPY --from=build /app/public ./public\n" } else { "" };
        format!(
            "COPY --from=build /app/.next/standalone ./\nCOPY --from=build /app/.next/static ./.next/static\n{public}COPY sluice.toml ./\n"
        )
    } else {
        "COPY --from=build /app ./\n".to_owned()
    };
    format!(
        "# Written by `sluice init --docker`.\nFROM {image} AS build\nWORKDIR /app\n{built}\n\
         FROM {image}\nENV NODE_ENV=production\n{sluice}WORKDIR /app\n{copied}{}",
        tail(plan)
    )
}

fn tail(plan: &Plan) -> String {
    let (port, stop_s) = (plan.port, plan.times.stop_s());
    format!(
        "USER node\nEXPOSE {port}\n\
         # SIGTERM drains for up to {stop_s} s: docker run --init --stop-timeout {stop_s}\n\
         # The exec form, because a shell or npm as process 1 does not forward SIGTERM.\n\
         CMD {}\n",
        words_as_json(&plan.command())
    )
}

/// Files that no image needs, and that must not be in one.
pub fn ignored() -> String {
    include_str!("texts/dockerignore.txt").to_owned()
}
