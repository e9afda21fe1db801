//! Frameworks by what they leave behind: how package.json names them, where their builds put files for browsers, and how they
//! start. Each is as the framework's own server has it.

/// One framework.
pub struct Framework {
    pub name: &'static str,
    /// One of them is in package.json.
    packages: &'static [&'static str],
    /// Beginnings of URLs and directories, of which the first that is there counts.
    pub mounts: &'static [Mount],
    /// Beginning of the URL below which each name has a hash of its content, where the gateway does not know that by itself.
    pub immutable: Option<&'static str>,
    pub start: Start,
}

/// Files that the gateway can send.
pub struct Mount {
    pub prefix: &'static str,
    pub dir: &'static str,
}

/// Way in which a framework's server is started.
pub enum Start {
    /// A script that Node.js runs.
    Entry(&'static str),
    /// A command of one of its packages.
    Command(&'static [&'static str]),
    /// Server of the app's own.
    Own,
}

const NITRO_START: Start = Start::Entry(".output/server/index.mjs");
const NITRO_MOUNTS: &[Mount] = &[Mount { prefix: "/", dir: ".output/public" }];
const CLIENT_MOUNTS: &[Mount] = &[Mount { prefix: "/", dir: "build/client" }];
const HASHED_ASSETS: Option<&str> = Some("/assets/");

/// A framework stands before those that it is built on.
static FRAMEWORKS: [Framework; 8] = [
    Framework {
        name: "Next.js",
        packages: &["next"],
        mounts: &[Mount { prefix: "/_next/static/", dir: ".next/static" }],
        immutable: None,
        start: Start::Command(&["npx", "next", "start"]),
    },
    Framework {
        name: "React Router",
        packages: &["@react-router/dev", "@react-router/serve"],
        mounts: CLIENT_MOUNTS,
        immutable: HASHED_ASSETS,
        start: Start::Command(&["npx", "react-router-serve", "./build/server/index.js"]),
    },
    Framework {
        name: "Remix",
        packages: &["@remix-run/dev", "@remix-run/serve"],
        mounts: CLIENT_MOUNTS,
        immutable: HASHED_ASSETS,
        start: Start::Command(&["npx", "remix-serve", "./build/server/index.js"]),
    },
    Framework {
        name: "Astro",
        packages: &["astro"],
        mounts: &[Mount { prefix: "/", dir: "dist/client" }],
        immutable: None,
        start: Start::Entry("dist/server/entry.mjs"),
    },
    Framework {
        name: "SvelteKit",
        packages: &["@sveltejs/kit"],
        mounts: CLIENT_MOUNTS,
        immutable: None,
        start: Start::Entry("build/index.js"),
    },
    Framework { name: "Nuxt", packages: &["nuxt"], mounts: NITRO_MOUNTS, immutable: None, start: NITRO_START },
    Framework {
        name: "Nitro",
        packages: &["nitro", "nitropack", "@tanstack/react-start", "@solidjs/start"],
        mounts: NITRO_MOUNTS,
        immutable: None,
        start: NITRO_START,
    },
    Framework {
        name: "Vite",
        packages: &["vite"],
        mounts: &[
            Mount { prefix: "/assets/", dir: "dist/client/assets" },
            Mount { prefix: "/assets/", dir: "dist/assets" },
        ],
        immutable: HASHED_ASSETS,
        start: Start::Own,
    },
];

/// The framework of an app with these packages.
pub fn of(has_package: impl Fn(&str) -> bool) -> Option<&'static Framework> {
    FRAMEWORKS.iter().find(|framework| framework.packages.iter().any(|package| has_package(package)))
}
