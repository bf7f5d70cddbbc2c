//! A running server, for commands that talk to one.

use std::path::Path;

use serde_json::Value as Json;

use crate::failure::{Failure, OrFail as _};

/// A running server.
pub(crate) struct RunningServer {
    url: String,
    token: String,
}

impl RunningServer {
    /// The server at a URL, with the token in a file or in the environment.
    pub(crate) fn at(url: &str, token_file: Option<&Path>) -> Result<Self, Failure> {
        let token = match token_file {
            Some(path) => {
                let read = std::fs::read_to_string(path).or_fail_with(|| format!("{}: cannot be read", path.display()));
                read.map_err(|failure| failure.help("name the file of a token with --token-file"))?
            }
            None => std::env::var("RARELY_TOKEN").map_err(|_| {
                Failure::new("there is no token").help("name its file with --token-file, or set RARELY_TOKEN")
            })?,
        };
        Ok(Self { url: url.trim_end_matches('/').to_owned(), token: token.trim().to_owned() })
    }

    /// Sends a request and returns the response; a problem document becomes an error with the server's words.
    pub(crate) fn request(&self, method: &str, path: &str, body: Option<&Json>) -> Result<Json, Failure> {
        let text =
            self.answer((method, path), "application/json", body.map(ToString::to_string).unwrap_or_default())?;
        Ok(serde_json::from_str(&text).unwrap_or_default())
    }

    /// Sends a JSON object per line, and returns the answer to each.
    pub(crate) fn send_lines(&self, path: &str, lines: String) -> Result<Vec<Json>, Failure> {
        let text = self.answer(("POST", path), "application/x-ndjson", lines)?;
        text.lines().map(|line| serde_json::from_str(line).or_fail()).collect()
    }

    fn answer(&self, (method, path): (&str, &str), kind: &str, body: String) -> Result<String, Failure> {
        let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
        let request = ureq::http::Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.url))
            .header("Authorization", format!("Bearer {}", self.token))
            .header("Content-Type", kind)
            .body(body)
            .or_fail_with(|| format!("--url {}", self.url))?;
        let answered = agent.run(request).or_fail_with(|| format!("{} does not answer", self.url));
        let mut response = answered?;
        let text = response.body_mut().read_to_string().or_fail()?;
        if response.status().is_success() {
            return Ok(text);
        }
        let answer: Json = serde_json::from_str(&text).unwrap_or_default();
        let words = |name: &str| answer[name].as_str().unwrap_or_default().to_owned();
        let status = response.status().as_u16();
        let failure = Failure::new(format!("{} answered {status}: {}", self.url, words("detail")));
        Err(if answer["remedy"].is_null() { failure } else { failure.help(words("remedy")) })
    }
}
