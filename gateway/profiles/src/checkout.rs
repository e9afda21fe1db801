//! Code of Sluice in a checkout of its sources, which is below no `node_modules`: it is named as the packages that it is.

use std::collections::HashSet;

use crate::owner::{Owner, path_of};
use crate::profile::Profile;

/// Package that every worker runs, by which a checkout is found.
const PRELOAD: &str = "preload";
/// Packages whose code workers run.
const PACKAGES: [&str; 9] = [PRELOAD, "breathe", "browser", "compiler", "graph", "host", "react", "render", "screens"];

impl Profile {
    /// The profile with Sluice's own code as code of its packages. `is_sluice` says whether a directory above `packages` is a
    /// checkout of Sluice.
    #[must_use]
    pub fn with_checkouts(mut self, is_sluice: impl Fn(&str) -> bool) -> Self {
        let found: HashSet<String> = self
            .frames()
            .iter()
            .filter(|frame| frame.owner == Owner::App)
            .filter_map(|frame| parts_of(&path_of(&frame.url)).filter(|(_, name)| name == PRELOAD))
            .map(|(root, _)| root)
            .collect();
        let roots: HashSet<String> = found.into_iter().filter(|root| is_sluice(root)).collect();
        if !roots.is_empty() {
            self.change_owners(|frame| match parts_of(&path_of(&frame.url)) {
                Some((root, name)) if frame.owner == Owner::App && roots.contains(&root) => {
                    Owner::Package(format!("@sluice/{name}"))
                }
                _ => frame.owner.clone(),
            });
        }
        self
    }
}

/// Directory above `packages`, and the package, of a file in `packages/NAME/src` or `packages/NAME/dist`.
fn parts_of(path: &str) -> Option<(String, String)> {
    let (root, rest) = path.rsplit_once("/packages/")?;
    let mut parts = rest.split('/');
    let name = parts.next().filter(|name| PACKAGES.contains(name))?;
    let is_code = matches!(parts.next(), Some("src" | "dist")) && parts.next().is_some();
    is_code.then(|| (root.to_owned(), name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packages whose code no worker runs: of browsers, and of the command.
    const ELSEWHERE: [&str; 3] = ["dashboard", "flame", "sluice"];

    #[test]
    fn every_package_is_known() {
        let packages = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packages");
        let is_package = |entry: &std::fs::DirEntry| entry.path().join("package.json").is_file();
        let found = std::fs::read_dir(packages).unwrap().map(Result::unwrap).filter(is_package);
        let mut names: Vec<String> = found.map(|entry| entry.file_name().into_string().unwrap()).collect();
        names.sort();
        let mut known: Vec<&str> = PACKAGES.into_iter().chain(ELSEWHERE).collect();
        known.sort_unstable();
        assert_eq!(names, known, "a package whose code workers run belongs to PACKAGES");
    }

    fn owners(urls: &[&str], is_sluice: bool) -> Vec<String> {
        let nodes: Vec<_> = (1..)
            .zip(urls)
            .map(|(id, url)| {
                serde_json::json!({
                    "id": id, "callFrame": { "functionName": "f", "url": url, "lineNumber": 1, "columnNumber": 1 }
                })
            })
            .collect();
        let ids: Vec<usize> = (1..=urls.len()).collect();
        let text = serde_json::json!({
            "nodes": nodes, "samples": ids, "timeDeltas": vec![1; urls.len()], "startTime": 0, "endTime": 9
        });
        let mut profile = Profile::default();
        profile.read("a", text.to_string().as_bytes()).unwrap();
        let named = profile.with_checkouts(|_| is_sluice);
        let mut names: Vec<String> = named.frames()[1..].iter().map(|frame| frame.owner.name().to_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn code_of_a_checkout_is_of_its_packages_and_the_rest_of_the_app() {
        let urls = [
            "file:///srv/sluice%20fork/packages/preload/dist/requests/requests.js",
            "/srv/sluice fork/packages/react/src/render.ts",
            "/srv/sluice fork/examples/shop/server.js",
            "/srv/shop/packages/react/src/page.ts",
        ];
        assert_eq!(owners(&urls, true), ["@sluice/preload", "@sluice/react", "app", "app"]);
        assert_eq!(owners(&urls, false), ["app"; 4]);
        // Without a preload there is no checkout.
        assert_eq!(owners(&urls[1..], true), ["app"; 3]);
    }
}
