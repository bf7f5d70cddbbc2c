//! Who may use the desk: the browser that was opened with the one-time token, at this machine's own address.

use std::sync::{Mutex, PoisonError};

use axum::http::{HeaderMap, Method, header};
use subtle::ConstantTimeEq as _;

use crate::DeskError;

/// Random bytes of a token, and of the cookie that replaces it.
const RANDOM: usize = 32;

/// The token in the address, which is good once, and the cookie that the browser gets for it.
pub(crate) struct Access {
    token: Mutex<Option<String>>,
    cookie: String,
    port: u16,
}

/// Why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Another name leads to this machine: a page of another site asks under its own name (DNS rebinding).
    Host,
    /// A page of another site sent a form.
    Origin,
    /// No cookie, or not ours.
    Stranger,
}

impl Refusal {
    /// What it says to a person.
    pub(crate) fn sentence(self) -> &'static str {
        match self {
            Self::Host => "The desk answers only at the address of this machine: 127.0.0.1, or localhost.",
            Self::Origin => "The request comes from a page of another site, or from another program.",
            Self::Stranger => "The address that the terminal shows opens the desk once, in one browser.",
        }
    }

    /// What to do about it.
    pub(crate) fn help(self) -> &'static str {
        match self {
            Self::Host => "Open the address that `rarely desk` printed.",
            Self::Origin => "Go back to the desk, and send the form there.",
            Self::Stranger => "Continue in the browser in which it was opened first, or start `rarely desk` again.",
        }
    }
}

impl Access {
    /// A new token and a new cookie.
    pub(crate) fn new(port: u16) -> Result<Self, DeskError> {
        Ok(Self { token: Mutex::new(Some(random()?)), cookie: random()?, port })
    }

    /// The address that opens the desk once; `None` after that.
    pub(crate) fn address(&self) -> Option<String> {
        let token = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        token.as_ref().map(|token| format!("http://127.0.0.1:{}/start?token={token}", self.port))
    }

    /// Takes the token. Returns the cookie to set if it is the right one, and unused.
    pub(crate) fn redeem(&self, given: &str) -> Option<String> {
        let mut token = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        if !token.as_ref().is_some_and(|token| same(token, given)) {
            return None;
        }
        *token = None;
        Some(format!("{}={}; HttpOnly; SameSite=Strict; Path=/", self.name(), self.cookie))
    }

    /// Checks what a request says about where it comes from.
    pub(crate) fn check_site(&self, method: &Method, headers: &HeaderMap) -> Result<(), Refusal> {
        let names = ["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{name}:{}", self.port));
        let text = |name| headers.get(name).and_then(|value: &header::HeaderValue| value.to_str().ok());
        let host = text(header::HOST).ok_or(Refusal::Host)?;
        if !names.iter().any(|name| name == host) {
            return Err(Refusal::Host);
        }
        // Another port of this machine is the same site to a browser, so that the cookie alone does not keep its pages out.
        let own = text(header::ORIGIN).is_some_and(|origin| origin.strip_prefix("http://") == Some(host));
        if *method == Method::GET || own { Ok(()) } else { Err(Refusal::Origin) }
    }

    /// Checks the cookie.
    pub(crate) fn check_cookie(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs = cookies.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        let known = pairs.any(|(name, value)| name == self.name() && same(value, &self.cookie));
        if known { Ok(()) } else { Err(Refusal::Stranger) }
    }

    /// Cookies do not know ports: two desks need two names.
    fn name(&self) -> String {
        format!("rarely_desk_{}", self.port)
    }
}

fn same(one: &str, other: &str) -> bool {
    one.as_bytes().ct_eq(other.as_bytes()).into()
}

fn random() -> Result<String, DeskError> {
    let mut bytes = [0_u8; RANDOM];
    getrandom::fill(&mut bytes).map_err(|error| DeskError::Random { reason: error.to_string() })?;
    Ok(bytes.map(|byte| format!("{byte:02x}")).concat())
}
