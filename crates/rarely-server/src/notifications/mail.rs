//! Notices by mail.

use std::fmt;
use std::time::Duration;

use lettre::message::Mailbox as Address;
use lettre::message::header::ContentType;
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Tls, TlsParameters};
use lettre::{Message, SmtpTransport, Transport as _};
use rarely_output::utc;

use super::channel::Channel;
use super::notice::Notice;

/// How long the mail server may take for each of its answers.
const TIMEOUT: Duration = Duration::from_secs(10);

/// How the connection to a mail server is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MailTls {
    /// Not at all; on this machine only.
    None,
    /// After STARTTLS, which is required.
    StartTls,
    /// From the first byte.
    Implicit,
}

/// A mail server.
#[derive(Clone)]
pub struct MailServer {
    host: String,
    port: u16,
    tls: MailTls,
    credentials: Option<(String, String)>,
    from: String,
}

impl fmt::Debug for MailServer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "MailServer({}:{})", self.host, self.port)
    }
}

impl MailServer {
    /// Reads `smtp://USER@HOST:PORT` (STARTTLS) or `smtps://USER@HOST:PORT`; without a user nobody signs in. On this machine `smtp`
    /// is not encrypted.
    ///
    /// # Errors
    /// What an address looks like.
    pub fn parse(url: &str, password: Option<String>, from: &str) -> Result<Self, String> {
        let wrong =
            || format!("{url:?} is not a mail server\nhelp: write smtp://USER@HOST:587 or smtps://USER@HOST:465");
        let (scheme, rest) = url.split_once("://").ok_or_else(wrong)?;
        let (user, place) = rest.rsplit_once('@').map_or((None, rest), |(user, place)| (Some(user), place));
        let place = place.trim_end_matches('/');
        let (host, port) = match place.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => (host, Some(port.parse::<u16>().map_err(|_| wrong())?)),
            _ => (place, None),
        };
        let host = host.trim_matches(['[', ']']).to_owned();
        let local = host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
        let (tls, usual) = match scheme {
            "smtps" => (MailTls::Implicit, 465),
            "smtp" if local => (MailTls::None, 25),
            "smtp" => (MailTls::StartTls, 587),
            _ => return Err(wrong()),
        };
        if host.is_empty() || host.contains(['/', '?', ' ']) {
            return Err(wrong());
        }
        Self::check_address(from)?;
        let credentials = match (user, password) {
            (Some(user), Some(password)) => Some((user.to_owned(), password)),
            (None, None) => None,
            (Some(_), None) => return Err("the mail server's user has no password".to_owned()),
            (None, Some(_)) => return Err("the mail server's password has no user".to_owned()),
        };
        Ok(Self { host, port: port.unwrap_or(usual), tls, credentials, from: from.to_owned() })
    }

    /// Checks that a text is a mail address, perhaps with a name.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check_address(text: &str) -> Result<String, String> {
        text.parse::<Address>().map(|_| text.to_owned()).map_err(|_| format!("{text:?} is not a mail address"))
    }

    fn transport(&self) -> Result<SmtpTransport, lettre::transport::smtp::Error> {
        let tls = match self.tls {
            MailTls::None => Tls::None,
            MailTls::StartTls => Tls::Required(TlsParameters::new(self.host.clone())?),
            MailTls::Implicit => Tls::Wrapper(TlsParameters::new(self.host.clone())?),
        };
        let builder = SmtpTransport::builder_dangerous(&self.host).port(self.port).tls(tls).timeout(Some(TIMEOUT));
        let credentials = self.credentials.clone().map(|(user, password)| Credentials::new(user, password));
        Ok(match credentials {
            Some(credentials) => builder.credentials(credentials).build(),
            None => builder.build(),
        })
    }
}

/// Somebody who gets mail.
pub(super) struct Mailbox {
    server: MailServer,
    to: String,
}

impl Mailbox {
    pub(super) fn new(server: MailServer, to: String) -> Self {
        Self { server, to }
    }

    fn message(&self, notice: &Notice) -> Result<Message, String> {
        let address = |text: &str| text.parse::<Address>().map_err(|error| error.to_string());
        let link = notice.link.as_ref().map_or_else(String::new, |link| format!("\n\n{link}"));
        // The same id for each attempt, so that mail that came twice is known to be one.
        let message = Message::builder()
            .message_id(Some(format!("<{}@rarely.invalid>", notice.id)))
            .from(address(&self.server.from)?)
            .to(address(&self.to)?)
            .subject(format!("rarely: {}", notice.subject))
            .header(ContentType::TEXT_PLAIN)
            .body(format!("{}{link}\n\n{} UTC\n", notice.text, utc(notice.time_ms)));
        message.map_err(|error| error.to_string())
    }
}

impl Channel for Mailbox {
    fn name(&self) -> String {
        format!("the mailbox {}", self.to)
    }

    fn deliver(&self, notice: &Notice) -> Result<(), String> {
        let message = self.message(notice)?;
        let sent = self.server.transport().and_then(|transport| transport.send(&message));
        let answer = sent.map_err(|error| error.to_string())?;
        if answer.is_positive() { Ok(()) } else { Err(format!("the mail server answered {}", answer.code())) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mail_server_is_encrypted_unless_it_is_here() {
        let parse =
            |url: &str| MailServer::parse(url, None, "rarely@example.org").map(|server| (server.tls, server.port));
        assert_eq!(parse("smtp://mail.example.org"), Ok((MailTls::StartTls, 587)));
        assert_eq!(parse("smtps://mail.example.org/"), Ok((MailTls::Implicit, 465)));
        assert_eq!(parse("smtp://127.0.0.1:2525"), Ok((MailTls::None, 2525)));
        assert_eq!(parse("smtp://[::1]"), Ok((MailTls::None, 25)));
        for wrong in
            ["mail.example.org", "http://mail.example.org", "smtp://", "smtp://a:b", "smtp://a b", "smtp://user@host"]
        {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
        assert!(MailServer::parse("smtp://mail.example.org", None, "nobody").is_err());
    }
}
