//! Whether a file's name changes with its content, so that caches may keep it for ever. Pure; it must not know the content.
//!
//! A wrong guess would make a file stale in browsers for a year, and a missed one costs a 304. Uncertain names therefore count as unhashed.

/// Folders in which bundlers put nothing but files of that kind: Next.js, Astro, Nuxt, `SvelteKit`.
const FOLDERS: [&str; 4] = ["/_next/static/", "/_astro/", "/_nuxt/", "/_app/immutable/"];
/// Path below such a folder that each build rewrites: Nuxt's information on its latest version.
const CHANGING: &str = "/_nuxt/builds/";

/// Lengths of hexadecimal hashes in names. 24 is an id of `MongoDB`, 32 a UUID: names of things, not of contents.
const HEX_LENS: [usize; 7] = [8, 10, 12, 16, 20, 40, 64];
/// Length of the hashes of Rollup and Vite (base64url) and esbuild (base32).
const SHORT_LEN: usize = 8;
/// Fewest alternations between upper case, lower case, digits and signs in a hash of eight characters. Random characters alternate more
/// often than words.
const TURNS_MIN: usize = 4;

/// Whether the file's name changes with its content. `path` is the URL's, as it was sent.
pub fn is_immutable(path: &str) -> bool {
    if FOLDERS.iter().any(|folder| path.contains(folder)) {
        return !path.contains(CHANGING);
    }
    path.rsplit('/').next().is_some_and(has_hash)
}

/// Whether a name has a hash: `app.3f2a9c1b.js`, `index-DiwrgTda.css`, `chunk-7QWA3XYZ.js.map`. The hash is the last part before the
/// extensions, and not the first of the name.
fn has_hash(name: &str) -> bool {
    let Some((stem, _)) = name.rsplit_once('.') else { return false };
    let stem = [".js", ".mjs", ".css"].iter().find_map(|extension| stem.strip_suffix(extension)).unwrap_or(stem);
    let stem = stem.strip_suffix(".min").unwrap_or(stem);
    if let Some(at) = stem.rfind(['.', '-', '_'])
        && at > 0
        && is_hex_hash(&stem[at + 1..])
        && !ends_with_uuid(stem)
    {
        return true;
    }
    // A hash in base64url may hold both signs that stand before one.
    let Some(at) = stem.len().checked_sub(SHORT_LEN + 1).filter(|at| *at > 0) else { return false };
    stem.is_char_boundary(at)
        && stem.as_bytes()[at..].first().is_some_and(|byte| matches!(byte, b'.' | b'-' | b'_'))
        && (is_base64_hash(&stem.as_bytes()[at + 1..]) || is_base32_hash(&stem.as_bytes()[at + 1..]))
}

fn is_hex_hash(text: &str) -> bool {
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let letters = text.bytes().filter(u8::is_ascii_lowercase).count();
    // Digits alone are a date or a number, letters alone a word.
    HEX_LENS.contains(&text.len()) && text.bytes().all(is_hex) && (1..text.len()).contains(&letters)
}

/// Whether a name ends with a UUID: 8-4-4-4-12 digits.
fn ends_with_uuid(stem: &str) -> bool {
    let mut parts = stem.rsplit('-').map(str::len);
    [12, 4, 4, 4].iter().all(|len| parts.next() == Some(*len)) && parts.next().is_some_and(|len| len >= 8)
}

fn is_base64_hash(text: &[u8]) -> bool {
    let kind = |byte: u8| match byte {
        b'A'..=b'Z' => Some(0),
        b'a'..=b'z' => Some(1),
        b'0'..=b'9' => Some(2),
        b'-' | b'_' => Some(3),
        _ => None,
    };
    let Some(kinds) = text.iter().map(|byte| kind(*byte)).collect::<Option<Vec<_>>>() else { return false };
    let turns = kinds.windows(2).filter(|pair| pair[0] != pair[1]).count();
    // A sign between two words is a turn more: `Guide-V5`.
    kinds.contains(&0) && kinds.contains(&1) && turns >= TURNS_MIN + usize::from(kinds.contains(&3))
}

fn is_base32_hash(text: &[u8]) -> bool {
    let is_digit = |byte: &u8| matches!(byte, b'2'..=b'7');
    let turns = text.windows(2).filter(|pair| is_digit(&pair[0]) != is_digit(&pair[1])).count();
    text.iter().all(|byte| is_digit(byte) || byte.is_ascii_uppercase()) && turns >= 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_known_folders_never_change_but_for_what_each_build_rewrites() {
        for path in [
            "/_next/static/chunks/main.js",
            "/_next/static/Xy3_abc/_buildManifest.js",
            "/docs/_next/static/css/a.css",
            "/_astro/hero.png",
            "/_nuxt/entry.js",
            "/_app/immutable/start.js",
        ] {
            assert!(is_immutable(path), "{path}");
        }
        for path in ["/_nuxt/builds/latest.json", "/_app/version.json", "/_next/data/x.json", "/_next/static"] {
            assert!(!is_immutable(path), "{path}");
        }
    }

    #[test]
    fn names_as_bundlers_make_them_have_a_hash() {
        for name in [
            "app.3f2a9c1b.js",
            "main.3f2a9c1b.chunk.js.3f2a9c1b.js",
            "runtime.1a2b3c4d5e6f7a8b.js",
            "main.84de4d2ec1f09a8e2fb1.css",
            "logo-3f2a9c1b5d.svg",
            "vendor_3f2a9c1b.min.js",
            "app.3f2a9c1b.js.map",
            "application-5d41402abc4b2a76b9719d911017c592aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.css",
            "index-BxY12_ab.css",
            "index-DiwrgTdA.css",
            "entry.client-D4-fkP2a.js",
            "root-_xK3mZ9q.js",
            "chunk-7QWA3XYZ.js",
            "Inter-Dx4kXJAl.woff2",
        ] {
            assert!(is_immutable(&format!("/assets/{name}")), "{name}");
        }
    }

    #[test]
    fn names_that_people_and_databases_give_have_none() {
        for name in [
            "app.js",
            "index.html",
            "sw.js",
            "favicon.ico",
            "photo-20240101.jpg",
            "report_20240101.pdf",
            "invoice-0012345678.pdf",
            "jquery-3.7.1.min.js",
            "my-holidays.jpg",
            "index-Homepage.js",
            "logo-LogoDark.png",
            "photo-WhiteFox.jpg",
            "Migration-Guide-V5.md",
            "GlobalSign_Root_E46.crt",
            "avatar-User1234.png",
            "img-DSC02345.jpg",
            "IMG-ABCDEFGH.jpg",
            "case-deadbeef.txt",
            "3f2a9c1b.js",
            "user-507f1f77bcf86cd799439011.png",
            "5d41402abc4b2a76b9719d911017c592.png",
            "x-5d41402abc4b2a76b9719d911017c592.png",
            "550e8400-e29b-41d4-a716-44665544abcd.png",
            "avatar-550e8400-e29b-41d4-a716-44665544abcd.png",
            "app-3F2A9C1B",
            "größe-ééééé.js",
            "-BxY12_ab.css",
            "",
        ] {
            assert!(!is_immutable(&format!("/assets/{name}")), "{name}");
        }
    }
}
