use super::*;
use crate::init::look;

/// The plan of a directory with these files.
fn plan_of(package: &str, files: &[(&str, &str)], config: &Config) -> (tempfile::TempDir, Plan) {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("package.json"), package).unwrap();
    for (file, text) in files {
        let path = dir.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let plan = Plan::read(dir.path(), &look(dir.path()).unwrap(), config, false).unwrap();
    (dir, plan)
}

fn text_of(plan: &Plan, args: &InitArgs, name: &str) -> String {
    plan.outputs(args).into_iter().find(|output| output.name == name).unwrap().text
}

#[test]
fn names_are_dns_labels() {
    for (name, expected) in
        [("@acme/My Shop", "my-shop"), ("shop", "shop"), ("7up", "app-7up"), ("---", "app"), ("", "app"), ("é", "app")]
    {
        assert_eq!(label(name), expected);
    }
    assert!(label(&"x-".repeat(99)).len() <= NAME_CHARS_MAX);
}

#[test]
fn package_manager_is_that_of_the_lock_file() {
    let docker = InitArgs { docker: true, ..InitArgs::default() };
    for (locks, command) in [
        (&["package-lock.json"][..], "COPY package.json package-lock.json ./\nRUN npm ci --omit=dev\n"),
        (
            &["pnpm-lock.yaml"],
            "COPY package.json pnpm-lock.yaml ./\nRUN corepack enable && pnpm install --frozen-lockfile --prod\n",
        ),
        (
            &["yarn.lock"],
            "COPY package.json yarn.lock ./\nRUN corepack enable && yarn install --frozen-lockfile --production\n",
        ),
        (
            &["yarn.lock", ".yarnrc.yml"],
            "COPY package.json yarn.lock .yarnrc.yml ./\nRUN corepack enable && yarn workspaces focus",
        ),
        (&[], "COPY package.json ./\nRUN npm install --omit=dev\n"),
    ] {
        let files: Vec<_> = locks.iter().map(|lock| (*lock, "")).collect();
        let (_dir, plan) = plan_of(r#"{"name":"shop","main":"server.js"}"#, &files, &Config::default());
        let text = text_of(&plan, &docker, "Dockerfile");
        assert!(text.contains(command), "{locks:?}\n{text}");
    }
}

#[test]
fn node_is_the_one_that_the_app_asks_for() {
    for (engines, file, expected) in [
        ("", "", "24"),
        (">=20.6", "", "24"),
        (">= 26", "", "26"),
        ("^22.11.0", "", "22"),
        ("20.x", "", "20"),
        (">=18 <21", "", "18"),
        ("^22", "v22.11.0\n", "22.11.0"),
        ("^22", "lts/jod\n", "22"),
    ] {
        let package = serde_json::json!({ "engines": { "node": engines } }).to_string();
        let (_dir, plan) = plan_of(&package, &[(".nvmrc", file)], &Config::default());
        assert_eq!(plan.install.node, expected, "{engines} {file}");
    }
}

#[test]
fn drain_decides_what_supervisors_allow() {
    let mut config = Config::default();
    config.drain.timeout_ms = 60_500;
    config.workers.stop_timeout_ms = 3_000;
    let all = InitArgs { systemd: true, docker: true, compose: true, kubernetes: true, ..InitArgs::default() };
    let (_dir, plan) = plan_of(r#"{"name":"shop"}"#, &[], &config);
    assert!(text_of(&plan, &all, "shop.service").contains("\nTimeoutStopSec=69\n"));
    assert!(text_of(&plan, &all, "Dockerfile").contains("--stop-timeout 69"));
    assert!(text_of(&plan, &all, "compose.yaml").contains("stop_grace_period: 69s"));
    let manifests = text_of(&plan, &all, "kubernetes.yaml");
    assert!(manifests.contains("terminationGracePeriodSeconds: 74\n"), "{manifests}");
    for (name, ms) in [("DRAIN_DELAY", 5_000), ("DRAIN_TIMEOUT", 60_500), ("WORKERS_STOP_TIMEOUT", 3_000)] {
        assert!(manifests.contains(&format!("SLUICE_{name}_MS, value: \"{ms}\"")), "{name}: {manifests}");
    }

    config.drain.delay_ms = 10_000;
    let (_dir, plan) = plan_of(r#"{"name":"shop"}"#, &[], &config);
    let manifests = text_of(&plan, &all, "kubernetes.yaml");
    assert!(manifests.contains("terminationGracePeriodSeconds: 79\n"), "{manifests}");
    assert!(manifests.contains("SLUICE_DRAIN_DELAY_MS, value: \"10000\""), "{manifests}");
}

#[test]
fn only_ports_below_1024_get_a_capability() {
    let all = InitArgs { systemd: true, kubernetes: true, ..InitArgs::default() };
    let mut config = Config::default();
    let (_dir, plan) = plan_of(r#"{"name":"shop"}"#, &[], &config);
    assert!(text_of(&plan, &all, "shop.service").contains("\nCapabilityBoundingSet=\n"));
    assert!(!text_of(&plan, &all, "kubernetes.yaml").contains("NET_BIND_SERVICE"));
    config.server.port = 443;
    let (_dir, plan) = plan_of(r#"{"name":"shop"}"#, &[], &config);
    assert!(text_of(&plan, &all, "shop.service").contains("\nAmbientCapabilities=CAP_NET_BIND_SERVICE\n"));
    assert!(text_of(&plan, &all, "kubernetes.yaml").contains("NET_BIND_SERVICE"));
}

#[test]
fn apps_with_a_build_are_built_in_a_stage_of_their_own() {
    let docker = InitArgs { docker: true, ..InitArgs::default() };
    let package = r#"{"name":"shop","scripts":{"build":"next build","start":"next start"},"dependencies":{"next":"16","sluice":"1"}}"#;
    let (_dir, plan) = plan_of(package, &[("package-lock.json", "{}")], &Config::default());
    let text = text_of(&plan, &docker, "Dockerfile");
    assert!(text.contains("RUN npm ci --include=dev\n") && text.contains("RUN npm prune --omit=dev\n"), "{text}");
    assert!(text.contains("COPY --from=build /app ./\n") && !text.contains("--global"), "{text}");
    assert!(text.ends_with("CMD [\"node_modules/.bin/sluice\", \"start\"]\n"), "{text}");

    let standalone = [("next.config.mjs", "export default {\n  output: 'standalone',\n};\n"), ("public/a.txt", "")];
    let (_dir, plan) = plan_of(package, &standalone, &Config::default());
    let text = text_of(&plan, &docker, "Dockerfile");
    assert!(text.contains("COPY --from=build /app/.next/standalone ./\n"), "{text}");
    assert!(text.contains("COPY --from=build /app/public ./public\n"), "{text}");
    assert!(text.ends_with("CMD [\"sluice\", \"start\", \"server.js\"]\n"), "{text}");

    let comment = [("next.config.mjs", "export default {\n  // output: 'standalone',\n};\n")];
    assert!(!plan_of(package, &comment, &Config::default()).1.is_standalone);
}

#[test]
fn app_that_is_not_built_yet_is_named_on_the_command_line() {
    let package = r#"{"name":"shop","scripts":{"build":"nuxt build"},"dependencies":{"nuxt":"4"}}"#;
    let (_dir, plan) = plan_of(package, &[], &Config::default());
    assert_eq!(plan.command(), ["sluice", "start", ".output/server/index.mjs"]);
    let (_dir, plan) = plan_of(package, &[(".output/server/index.mjs", "")], &Config::default());
    assert_eq!(plan.command(), ["sluice", "start"], "sluice.toml names it");
}

#[test]
fn words_of_a_unit_are_quoted() {
    let mut config = Config::default();
    config.app.entry = None;
    let (_dir, mut plan) = plan_of(r#"{"name":"shop"}"#, &[], &config);
    plan.start_args = vec!["my app/100%.js".to_owned()];
    let text = text_of(&plan, &InitArgs { systemd: true, ..InitArgs::default() }, "shop.service");
    assert!(text.contains(" start \"my app/100%%.js\" --run-dir /run/shop\n"), "{text}");
    plan.start_args = ["--", "npx", "next", "start"].map(str::to_owned).to_vec();
    let text = text_of(&plan, &InitArgs { systemd: true, ..InitArgs::default() }, "shop.service");
    assert!(text.contains(" start --run-dir /run/shop -- npx next start\n"), "{text}");
}

#[test]
fn steps_install_sluice_where_the_unit_expects_it_unless_the_app_has_its_own() {
    let systemd = InitArgs { systemd: true, ..InitArgs::default() };
    for (package, is_installed) in
        [(r#"{"name":"shop"}"#, true), (r#"{"name":"shop","dependencies":{"sluice":"1"}}"#, false)]
    {
        let (_dir, plan) = plan_of(package, &[], &Config::default());
        let is_in_usr_local = text_of(&plan, &systemd, "shop.service").contains("ExecStart=/usr/local/bin/sluice ");
        let steps = plan.next_steps(&systemd).join("\n");
        assert_eq!(steps.contains("npm install --global --prefix /usr/local sluice@"), is_installed, "{steps}");
        assert_eq!(is_in_usr_local, is_installed);
    }
}
