//! Where bytes come from: files beside the bundle, `data:` addresses, and hosts that the player was told to trust.

use std::io::Read as _;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use base64::Engine as _;
use ureq::http::{Method, Request};

/// Headers that say where a request goes and how it is sent. Browsers do not let an app set them either.
const OWN_HEADERS: [&str; 9] =
    ["connection", "content-length", "expect", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"];

/// Most bytes of an answer, and of a file.
const BYTES_MAX: u64 = 64 << 20;

/// What the app may read.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// Folder of the bundle.
    pub folder: PathBuf,
    /// Hosts, with or without a port; `*` is every host.
    pub hosts: Vec<String>,
}

/// A request of the app.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Address or path.
    pub address: String,
    /// Method in capitals.
    pub method: String,
    /// Names and values.
    pub headers: Vec<(String, String)>,
    /// Body of a POST.
    pub body: String,
}

/// An answer, whatever its status.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Status of HTTP; 200 for files.
    pub status: u16,
    /// Names in small letters, and values.
    pub headers: Vec<(String, String)>,
    /// Body.
    pub body: Vec<u8>,
}

impl Sources {
    /// Bytes of an address, for pictures.
    ///
    /// # Errors
    ///
    /// What is wrong, for people.
    pub fn read(&self, address: &str) -> Result<Vec<u8>, String> {
        let asked =
            Asked { address: address.to_owned(), method: "GET".to_owned(), headers: Vec::new(), body: String::new() };
        let answer = self.ask(&asked)?;
        if answer.status == 200 { Ok(answer.body) } else { Err(format!("{address} answered {}", answer.status)) }
    }

    /// Answer to a request.
    ///
    /// # Errors
    ///
    /// What is wrong, for people.
    pub fn ask(&self, asked: &Asked) -> Result<Answer, String> {
        let file = |body| Answer { status: 200, headers: Vec::new(), body };
        if let Some(data) = asked.address.strip_prefix("data:") {
            return data_of(data).map(file);
        }
        if has_scheme(&asked.address, "http://") || has_scheme(&asked.address, "https://") {
            return self.request(asked);
        }
        self.file(&asked.address).map(file)
    }

    fn file(&self, address: &str) -> Result<Vec<u8>, String> {
        let path = address.split(['?', '#']).next().unwrap_or_default();
        // Nothing is said of files elsewhere, not even whether there are any.
        let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        let outside = || format!("{address} is not beside the bundle: the player reads files of its folder alone");
        if !Path::new(path).components().all(is_plain) {
            return Err(outside());
        }
        let folder = if self.folder.as_os_str().is_empty() { Path::new(".") } else { &self.folder };
        let failed = |error: std::io::Error| format!("{address}: {error} (in {})", folder.display());
        let folder = folder.canonicalize().map_err(failed)?;
        let file = folder.join(path).canonicalize().map_err(failed)?;
        if !file.starts_with(&folder) {
            return Err(outside());
        }
        // Before it is opened: that waits for the writer of a pipe.
        if !file.metadata().map_err(failed)?.is_file() {
            return Err(format!("{address} is no regular file"));
        }
        let mut bytes = Vec::new();
        std::fs::File::open(&file).and_then(|file| file.take(BYTES_MAX + 1).read_to_end(&mut bytes)).map_err(failed)?;
        if bytes.len() as u64 > BYTES_MAX {
            return Err(format!("{address} has more than {BYTES_MAX} bytes"));
        }
        Ok(bytes)
    }

    fn request(&self, asked: &Asked) -> Result<Answer, String> {
        let Asked { address, method, headers, body } = asked;
        let uri: ureq::http::Uri = address.parse().map_err(|error| format!("{address}: {error}"))?;
        let host = uri.host().unwrap_or_default().to_ascii_lowercase();
        let authority = uri.port().map_or_else(|| host.clone(), |port| format!("{host}:{port}"));
        if !self.hosts.iter().any(|allowed| allowed == "*" || *allowed == host || *allowed == authority) {
            return Err(format!("{address} is not allowed: start the player with --allow-net {authority}"));
        }
        if let Some((name, _)) = headers.iter().find(|(name, _)| is_own(name)) {
            return Err(format!("{address}: an app may not set the header {name}"));
        }
        let agent: ureq::Agent = ureq::Agent::config_builder()
            // One that the environment names would get the requests to hosts that are allowed.
            .proxy(None)
            .timeout_global(Some(Duration::from_secs(30)))
            .http_status_as_error(false)
            // A redirect could lead to a host that is not allowed.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .build()
            .into();
        let method: Method = method.parse().map_err(|_| format!("method {method} is unknown"))?;
        let mut request = Request::builder().method(&method).uri(uri);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let failed = |error: &dyn std::fmt::Display| format!("{address}: {error}");
        let answer = if method == Method::POST {
            agent.run(request.body(body.as_str()).map_err(|error| failed(&error))?)
        } else {
            agent.run(request.body(()).map_err(|error| failed(&error))?)
        };
        let mut answer = answer.map_err(|error| failed(&error))?;
        let headers = answer.headers().iter();
        let headers = headers.filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.to_owned())));
        let headers = headers.collect();
        let status = answer.status().as_u16();
        let body = answer.body_mut().with_config().limit(BYTES_MAX).read_to_vec().map_err(|error| failed(&error))?;
        Ok(Answer { status, headers, body })
    }
}

fn has_scheme(address: &str, scheme: &str) -> bool {
    address.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
}

fn is_own(header: &str) -> bool {
    let name = header.to_ascii_lowercase();
    OWN_HEADERS.contains(&name.as_str()) || name.starts_with("proxy-") || name.starts_with("sec-")
}

fn data_of(data: &str) -> Result<Vec<u8>, String> {
    let (kind, content) = data.split_once(',').ok_or("data: without a comma")?;
    if !kind.ends_with(";base64") {
        return Err("data: without base64".to_owned());
    }
    let engine = &base64::engine::general_purpose::STANDARD;
    engine.decode(content).map_err(|error| format!("data: {error}"))
}
