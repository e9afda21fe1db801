//! Where bytes come from: files beside the bundle, `data:` addresses, and hosts that the player was told to trust.

use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine as _;
use ureq::http::{Method, Request};

/// Most bytes of an answer.
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
        if asked.address.starts_with("http://") || asked.address.starts_with("https://") {
            return self.request(asked);
        }
        self.file(&asked.address).map(file)
    }

    fn file(&self, path: &str) -> Result<Vec<u8>, String> {
        let plain = path.strip_prefix("./").unwrap_or(path);
        let folder = if self.folder.as_os_str().is_empty() { Path::new(".") } else { &self.folder };
        let inside = folder.canonicalize().and_then(|folder| {
            let file = folder.join(plain).canonicalize()?;
            Ok(file.starts_with(&folder).then_some(file))
        });
        match inside {
            Ok(Some(file)) => std::fs::read(&file).map_err(|error| format!("{path}: {error}")),
            Ok(None) => Err(format!("{path} is not beside the bundle: the player reads files of its folder alone")),
            Err(error) => Err(format!("{path}: {error} (in {})", folder.display())),
        }
    }

    fn request(&self, asked: &Asked) -> Result<Answer, String> {
        let Asked { address, method, headers, body } = asked;
        let uri: ureq::http::Uri = address.parse().map_err(|error| format!("{address}: {error}"))?;
        let host = uri.host().unwrap_or_default();
        let authority = uri.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
        if !self.hosts.iter().any(|allowed| allowed == "*" || allowed == host || *allowed == authority) {
            return Err(format!("{address} is not allowed: start the player with --allow-net {authority}"));
        }
        let agent: ureq::Agent = ureq::Agent::config_builder()
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

fn data_of(data: &str) -> Result<Vec<u8>, String> {
    let (kind, content) = data.split_once(',').ok_or("data: without a comma")?;
    if !kind.ends_with(";base64") {
        return Err("data: without base64".to_owned());
    }
    let engine = &base64::engine::general_purpose::STANDARD;
    engine.decode(content).map_err(|error| format!("data: {error}"))
}
