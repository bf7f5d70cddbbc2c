//! Notices by POST, signed as the Standard Webhooks convention says.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rarely_store::{Hash, now_ms};
use ring::hmac;

use super::channel::Channel;
use super::notice::Notice;

/// How long a receiver may take for its answer, all in all.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The least and the most bytes of a secret.
const SECRET_BYTES: std::ops::RangeInclusive<usize> = 24..=64;

/// The secret that a receiver checks signatures with.
#[derive(Clone)]
pub struct WebhookSecret(Arc<[u8]>);

impl WebhookSecret {
    /// Reads a secret: base64, perhaps after `whsec_`.
    ///
    /// # Errors
    /// What a secret looks like. The secret itself is not repeated.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let bytes = STANDARD.decode(text.strip_prefix("whsec_").unwrap_or(text)).ok();
        let bytes = bytes.filter(|bytes| SECRET_BYTES.contains(&bytes.len()));
        bytes.map(|bytes| Self(bytes.into())).ok_or_else(|| {
            format!(
                "expected whsec_ and {} to {} random bytes as base64, as of `openssl rand -base64 32`",
                SECRET_BYTES.start(),
                SECRET_BYTES.end()
            )
        })
    }

    /// The header `webhook-signature` of a message.
    pub fn sign(&self, id: &str, timestamp: u64, body: &str) -> String {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &self.0);
        let tag = hmac::sign(&key, format!("{id}.{timestamp}.{body}").as_bytes());
        format!("v1,{}", STANDARD.encode(tag))
    }
}

impl fmt::Debug for WebhookSecret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("WebhookSecret")
    }
}

/// A receiver of notices.
#[derive(Debug, Clone)]
pub struct Webhook {
    url: String,
    secret: WebhookSecret,
    timeout: Duration,
}

impl Webhook {
    /// The receiver at an address.
    pub fn new(url: String, secret: WebhookSecret) -> Self {
        Self { url, secret, timeout: TIMEOUT }
    }

    /// With another patience.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }
}

impl Channel for Webhook {
    /// Paths and queries of such addresses may be secrets, so that a digest stands for them.
    fn name(&self) -> String {
        let host = self.url.split("://").nth(1).unwrap_or_default();
        let host = host.split(['/', '?', '#']).next().unwrap_or_default();
        let host = host.rsplit('@').next().unwrap_or_default();
        let digest = Hash::of(self.url.as_bytes()).to_string();
        format!("the webhook at {host} ({})", &digest[..8])
    }

    fn deliver(&self, notice: &Notice) -> Result<(), String> {
        let (body, timestamp) = (notice.json().to_string(), now_ms() / 1000);
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            // Whoever answers at another address did not get our signature for it.
            .max_redirects(0)
            .timeout_global(Some(self.timeout))
            .build()
            .into();
        let request = agent
            .post(&self.url)
            .header("content-type", "application/json")
            .header("webhook-id", &notice.id)
            .header("webhook-timestamp", timestamp.to_string())
            .header("webhook-signature", self.secret.sign(&notice.id, timestamp, &body));
        // The body of the answer is not read, however long it is.
        let answer = request.send(body).map_err(|error| in_words(&error))?;
        let status = answer.status();
        if status.is_success() { Ok(()) } else { Err(format!("it answered {status}")) }
    }
}

/// What went wrong, without the address.
fn in_words(error: &ureq::Error) -> String {
    match error {
        ureq::Error::Timeout(_) => "it did not answer in time".to_owned(),
        ureq::Error::HostNotFound => "its host is not known".to_owned(),
        ureq::Error::Io(error) => error.to_string(),
        ureq::Error::Tls(problem) => (*problem).to_owned(),
        ureq::Error::TooManyRedirects => "it redirects elsewhere".to_owned(),
        _ => "the request failed".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the Standard Webhooks specification's reference libraries.
    #[test]
    fn a_signature_is_that_of_the_convention() {
        let secret = WebhookSecret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").expect("a secret");
        let signature = secret.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, "{\"test\": 2432232314}");
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn a_secret_is_long_enough_and_never_shown() {
        for wrong in ["", "whsec_", "whsec_c2hvcnQ=", "not base64 at all!"] {
            let problem = WebhookSecret::parse(wrong).expect_err(wrong);
            assert!(wrong.is_empty() || !problem.contains(wrong) || wrong == "whsec_", "{problem}");
        }
        let secret = WebhookSecret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").expect("a secret");
        assert_eq!(format!("{secret:?}"), "WebhookSecret");
        let webhook = Webhook::new("https://user:pass@hooks.example.org/T0/secret?key=1".to_owned(), secret);
        let name = webhook.name();
        assert!(name.starts_with("the webhook at hooks.example.org (") && !name.contains("secret"), "{name}");
    }
}
