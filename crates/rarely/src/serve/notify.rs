//! The options about who is told what happens.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use rarely_server::{MailServer, NotificationOptions, Webhook, WebhookSecret};

use super::witnesses::is_https_or_local;
use crate::failure::{Failure, OrFail as _};

/// Who is told when a proposal waits or expires, a policy is stopped, the disk fills, or events cannot be written.
#[derive(Debug, Args)]
#[command(next_help_heading = "Notifications")]
pub(super) struct NotifyArguments {
    /// Address that gets every notice by POST, signed as Standard Webhooks say; may be given several times
    #[arg(long, value_name = "URL", value_parser = webhook, requires = "webhook_secret_file")]
    webhook: Vec<String>,
    /// File with the secret that signs: whsec_ and 24 to 64 bytes as base64
    #[arg(long, value_name = "FILE", requires = "webhook")]
    webhook_secret_file: Option<PathBuf>,
    /// Mail address that gets every notice; may be given several times
    #[arg(long, value_name = "ADDRESS", value_parser = MailServer::check_address, requires = "smtp", requires = "mail_from")]
    mail_to: Vec<String>,
    /// Mail address that notices come from
    #[arg(long, value_name = "ADDRESS", value_parser = MailServer::check_address, requires = "mail_to")]
    mail_from: Option<String>,
    /// Mail server: smtp://USER@HOST:587 (STARTTLS) or smtps://USER@HOST:465; smtp on this machine is not encrypted
    #[arg(long, value_name = "URL", requires = "mail_to")]
    smtp: Option<String>,
    /// File with the password of the mail server's user
    #[arg(long, value_name = "FILE", requires = "smtp")]
    smtp_password_file: Option<PathBuf>,
    /// Free bytes on the disk of the store below which a notice is sent
    #[arg(long, value_name = "BYTES", default_value_t = NotificationOptions::default().low_disk_bytes)]
    low_disk_bytes: u64,
}

impl NotifyArguments {
    /// Who is told, if somebody is.
    pub(super) fn options(&self) -> Result<Option<NotificationOptions>, Failure> {
        let webhooks = match &self.webhook_secret_file {
            Some(file) => {
                let secret =
                    WebhookSecret::parse(&read(file)?).map_err(|problem| Failure::new(problem).at(file.display()))?;
                self.webhook.iter().map(|url| Webhook::new(url.clone(), secret.clone())).collect()
            }
            None => Vec::new(),
        };
        let mail = match (&self.smtp, &self.mail_from) {
            (Some(url), Some(from)) => {
                let password = self.smtp_password_file.as_deref().map(read).transpose()?;
                let server = MailServer::parse(url, password.map(|text| text.trim().to_owned()), from);
                Some((server.map_err(|problem| Failure::new(problem).at("--smtp"))?, self.mail_to.clone()))
            }
            _ => None,
        };
        if webhooks.is_empty() && mail.is_none() {
            return Ok(None);
        }
        let low_disk_bytes = self.low_disk_bytes;
        Ok(Some(NotificationOptions { webhooks, mail, low_disk_bytes, ..NotificationOptions::default() }))
    }
}

fn read(file: &Path) -> Result<String, Failure> {
    fs::read_to_string(file).or_fail_with(|| format!("{}: cannot be read", file.display()))
}

/// Plain HTTP is for this machine only.
fn webhook(text: &str) -> Result<String, String> {
    if is_https_or_local(text) {
        Ok(text.to_owned())
    } else {
        Err("write https://HOST/PATH or http://127.0.0.1:PORT/PATH".to_owned())
    }
}
