//! The app's package manager by its lock file, its Node.js by what it asks for, and its build script.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// Node.js of the image where the app asks for nothing, and where it takes older ones as well: the latest that is supported for long.
const NODE_MAJOR: u32 = 24;

/// One package manager, as its lock file tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manager {
    Npm,
    /// npm without a lock file, or none that is known.
    NpmUnlocked,
    Pnpm,
    YarnClassic,
    /// Yarn 2 and later, which writes `.yarnrc.yml`.
    Yarn,
}

/// Commands that install the app's packages and build its files.
#[derive(Debug, PartialEq, Eq)]
pub struct Install {
    pub manager: Manager,
    /// Files that an install needs, each of which is there.
    pub files: Vec<&'static str>,
    /// Tag of the image `node`, before `-slim`.
    pub node: String,
    pub has_build: bool,
    pub has_sluice: bool,
}

impl Install {
    pub fn read(dir: &Path, package: &Value) -> Self {
        let has = |name: &str| dir.join(name).is_file();
        let manager = if has("pnpm-lock.yaml") {
            Manager::Pnpm
        } else if has("yarn.lock") {
            if has(".yarnrc.yml") { Manager::Yarn } else { Manager::YarnClassic }
        } else if has("package-lock.json") || has("npm-shrinkwrap.json") {
            Manager::Npm
        } else {
            Manager::NpmUnlocked
        };
        let locks: &[&str] = match manager {
            Manager::Npm | Manager::NpmUnlocked => &["package-lock.json", "npm-shrinkwrap.json", ".npmrc"],
            Manager::Pnpm => &["pnpm-lock.yaml", "pnpm-workspace.yaml", ".npmrc"],
            Manager::YarnClassic => &["yarn.lock", ".yarnrc", ".npmrc"],
            Manager::Yarn => &["yarn.lock", ".yarnrc.yml"],
        };
        let files = std::iter::once("package.json").chain(locks.iter().copied()).filter(|name| has(name)).collect();
        Install {
            manager,
            files,
            node: node(dir, package),
            has_build: package.pointer("/scripts/build").is_some_and(Value::is_string),
            has_sluice: package.pointer("/dependencies/sluice").is_some(),
        }
    }

    /// Installs everything, for a build.
    pub fn all(&self) -> &'static str {
        match self.manager {
            Manager::Npm => "npm ci --include=dev",
            Manager::NpmUnlocked => "npm install --include=dev",
            Manager::Pnpm => "corepack enable && pnpm install --frozen-lockfile --prod=false",
            Manager::YarnClassic => "corepack enable && yarn install --frozen-lockfile --production=false",
            Manager::Yarn => "corepack enable && yarn install --immutable",
        }
    }

    /// Installs what the app needs while it runs.
    pub fn command(&self) -> &'static str {
        match self.manager {
            Manager::Npm => "npm ci --omit=dev",
            Manager::NpmUnlocked => "npm install --omit=dev",
            Manager::Pnpm => "corepack enable && pnpm install --frozen-lockfile --prod",
            Manager::YarnClassic => "corepack enable && yarn install --frozen-lockfile --production",
            Manager::Yarn => "corepack enable && yarn workspaces focus --production",
        }
    }

    pub fn build(&self) -> &'static str {
        match self.manager {
            Manager::Npm | Manager::NpmUnlocked => "npm run build",
            Manager::Pnpm => "pnpm run build",
            Manager::YarnClassic | Manager::Yarn => "yarn run build",
        }
    }

    /// Takes away what only the build needed.
    pub fn prune(&self) -> &'static str {
        match self.manager {
            Manager::Npm | Manager::NpmUnlocked => "npm prune --omit=dev",
            // `pnpm prune` would ask at a terminal.
            Manager::Pnpm => "CI=true pnpm prune --prod",
            Manager::YarnClassic => "yarn install --frozen-lockfile --production --ignore-scripts --prefer-offline",
            Manager::Yarn => "yarn workspaces focus --production",
        }
    }
}

/// The version that the app names for itself, else the major that its `engines` start at, unless a newer one fits as well.
fn node(dir: &Path, package: &Value) -> String {
    let named = [".nvmrc", ".node-version"].iter().filter_map(|name| fs::read_to_string(dir.join(name)).ok());
    for text in named {
        let version = text.trim().trim_start_matches('v');
        let is_number =
            version.split('.').all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
        if is_number {
            return version.to_owned();
        }
    }
    let engines = package.pointer("/engines/node").and_then(Value::as_str).unwrap_or_default();
    let digits: String =
        engines.chars().skip_while(|sign| !sign.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
    let is_open = engines.trim_start().starts_with('>') && !engines.contains('<');
    match digits.parse::<u32>() {
        Ok(major) if major > NODE_MAJOR || !is_open => major.to_string(),
        _ => NODE_MAJOR.to_string(),
    }
}
