//! The options of an identity provider.

use std::path::PathBuf;

use clap::Args;
use rarely_server::OpenIdOptions;

use crate::failure::{Failure, OrFail as _};

/// An identity provider, by OpenID Connect.
#[derive(Debug, Args)]
#[command(next_help_heading = "Sign-in with an identity provider")]
pub(super) struct ProviderArguments {
    /// Address of an OpenID Connect provider: people may sign in to the dashboard with it
    #[arg(long = "oidc-issuer", value_name = "URL", requires = "client_id", requires = "redirect")]
    issuer: Option<String>,
    /// Id under which the provider knows this service
    #[arg(long = "oidc-client-id", value_name = "ID", requires = "issuer")]
    client_id: Option<String>,
    /// File with the secret that belongs to the id [default: none, for a public client]
    #[arg(long = "oidc-client-secret-file", value_name = "FILE", requires = "issuer")]
    client_secret_file: Option<PathBuf>,
    /// Address of this service's page /sign-in/openid/return, as browsers reach it and the provider knows it
    #[arg(long = "oidc-redirect", value_name = "URL", requires = "issuer")]
    redirect: Option<String>,
    /// Claim of the ID token that has the roles
    #[arg(long = "oidc-role-claim", value_name = "CLAIM", default_value = "roles")]
    role_claim: String,
}

impl ProviderArguments {
    /// The provider, if one is named.
    pub(super) fn options(&self) -> Result<Option<OpenIdOptions>, Failure> {
        let named = (self.issuer.clone(), self.client_id.clone(), self.redirect.clone());
        let (Some(issuer), Some(client_id), Some(redirect)) = named else { return Ok(None) };
        let read = |path: &PathBuf| {
            std::fs::read_to_string(path).or_fail_with(|| format!("{}: cannot be read", path.display()))
        };
        let secret = self.client_secret_file.as_ref().map(read).transpose()?;
        let client_secret = secret.map(|secret| secret.trim().to_owned());
        let role_claim = self.role_claim.clone();
        Ok(Some(OpenIdOptions { issuer, client_id, client_secret, redirect, role_claim }))
    }
}
