//! Identity providers: who somebody is, and which roles the person has, by OpenID Connect. The flow is that of an authorization code, with
//! PKCE, a state and a nonce.

use std::time::Duration;

use openidconnect::core::{
    CoreAuthDisplay, CoreAuthPrompt, CoreAuthenticationFlow, CoreErrorResponseType, CoreGenderClaim, CoreJsonWebKey,
    CoreJweContentEncryptionAlgorithm, CoreJwsSigningAlgorithm, CoreProviderMetadata, CoreRevocableToken,
    CoreRevocationErrorResponse, CoreTokenIntrospectionResponse, CoreTokenType,
};
use openidconnect::{
    AdditionalClaims, AuthorizationCode, Client, ClientId, ClientSecret, CsrfToken, EmptyExtraTokenFields,
    EndpointMaybeSet, EndpointNotSet, EndpointSet, HttpRequest, HttpResponse, IdTokenFields, IssuerUrl, Nonce,
    PkceCodeChallenge, PkceCodeVerifier, RedirectUrl, Scope, StandardErrorResponse, StandardTokenResponse,
    TokenResponse as _,
};
use rarely_error::{Explain, Remedy, Topic};
use rarely_live::Role;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

/// The page of the dashboard that the provider sends people back to.
pub(crate) const RETURN_PATH: &str = "/sign-in/openid/return";
/// How long the provider may take for an answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// An identity provider, and how it knows this service.
#[derive(Debug, Clone)]
pub struct OpenIdOptions {
    /// The provider's address, as it names itself.
    pub issuer: String,
    /// The id under which the provider knows this service.
    pub client_id: String,
    /// The secret that belongs to it; `None` for a public client.
    pub client_secret: Option<String>,
    /// The address of this service's page `/sign-in/openid/return`, as browsers reach it.
    pub redirect: String,
    /// The claim of the ID token that has the roles.
    pub role_claim: String,
}

/// Why people cannot sign in with an identity provider, or one of them cannot.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenIdError {
    /// An address is not one.
    #[error("{what} {found:?} is not a usable address: {problem}")]
    Address {
        /// What it is for.
        what: &'static str,
        /// The text.
        found: String,
        /// What is wrong.
        problem: String,
    },
    /// The provider does not describe itself.
    #[error("the identity provider {issuer} cannot be used: {problem}")]
    Discovery {
        /// Its address.
        issuer: String,
        /// What went wrong.
        problem: String,
    },
    /// The provider does not confirm who the person is.
    #[error("the identity provider does not confirm who you are: {0}")]
    Refused(String),
    /// The person may do nothing here.
    #[error("you have no role in this service: the claim {claim:?} of your identity provider has {found}")]
    NoRole {
        /// The claim.
        claim: String,
        /// What it has.
        found: String,
    },
}

impl Explain for OpenIdError {
    fn remedy(&self) -> Option<Remedy> {
        Some(match self {
            Self::Address { .. } => Remedy::new(format!(
                "use https, or http on this machine; the address to return to ends with {RETURN_PATH}"
            )),
            Self::Discovery { .. } => Remedy::new(
                "check that this machine reaches it, and that the address is exactly the `issuer` of its \
                 .well-known/openid-configuration",
            )
            .see(Topic::IdentityProvider),
            Self::Refused(_) => Remedy::new("sign in again"),
            Self::NoRole { .. } => Remedy::new(format!(
                "ask the administrator of the identity provider for one or more of {}",
                Role::ALL.map(Role::name).join(", ")
            ))
            .see(Topic::IdentityProvider),
        })
    }
}

/// A person, as the provider says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProvidedIdentity {
    /// The id: issuer and subject, which together name one person for ever.
    pub(crate) person: String,
    /// The name to show.
    pub(crate) name: String,
    /// The provider's own id of the person.
    pub(crate) subject: String,
    pub(crate) roles: Vec<Role>,
}

/// A sign-in that waits for the person to come back from the provider.
pub(crate) struct PendingSignIn {
    nonce: Nonce,
    verifier: PkceCodeVerifier,
}

/// Where to send somebody who signs in, and what must come back.
pub(crate) struct StartedSignIn {
    pub(crate) address: String,
    pub(crate) state: String,
    pub(crate) pending: PendingSignIn,
}

/// An identity provider that answers.
pub struct OpenIdProvider {
    options: OpenIdOptions,
    redirect: RedirectUrl,
    metadata: CoreProviderMetadata,
}

/// The claims that the standard does not name.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct OtherClaims {
    #[serde(flatten)]
    claims: Map<String, Json>,
}

impl AdditionalClaims for OtherClaims {}

type ProviderTokens = StandardTokenResponse<
    IdTokenFields<
        OtherClaims,
        EmptyExtraTokenFields,
        CoreGenderClaim,
        CoreJweContentEncryptionAlgorithm,
        CoreJwsSigningAlgorithm,
    >,
    CoreTokenType,
>;
type ProviderClient = Client<
    OtherClaims,
    CoreAuthDisplay,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJsonWebKey,
    CoreAuthPrompt,
    StandardErrorResponse<CoreErrorResponseType>,
    ProviderTokens,
    CoreTokenIntrospectionResponse,
    CoreRevocableToken,
    CoreRevocationErrorResponse,
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointMaybeSet,
    EndpointMaybeSet,
>;

impl OpenIdProvider {
    /// Asks a provider for its description. Waits for the network.
    ///
    /// # Errors
    /// [`OpenIdError`] if an address is not usable, or the provider does not answer as it should.
    pub fn discover(options: OpenIdOptions) -> Result<Self, OpenIdError> {
        check_address("the issuer", &options.issuer)?;
        let path = check_address("the address to return to", &options.redirect)?;
        let unusable = |problem: String| OpenIdError::Address {
            what: "the address to return to",
            found: options.redirect.clone(),
            problem,
        };
        if path != RETURN_PATH {
            return Err(unusable(format!("its path is {path:?}")));
        }
        let redirect = RedirectUrl::new(options.redirect.clone()).map_err(|error| unusable(error.to_string()))?;
        let metadata = description(&options.issuer)?;
        Ok(Self { options, redirect, metadata })
    }

    /// The provider's address, as it names itself.
    pub(crate) fn issuer(&self) -> &str {
        &self.options.issuer
    }

    /// Whether an id is one that this provider gives.
    pub(crate) fn knows(&self, person: &str) -> bool {
        person.strip_prefix(self.issuer()).is_some_and(|rest| rest.starts_with('#'))
    }

    /// Starts a sign-in.
    pub(crate) fn start(&self) -> StartedSignIn {
        let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
        let client = self.client(self.metadata.clone());
        let request =
            client.authorize_url(CoreAuthenticationFlow::AuthorizationCode, CsrfToken::new_random, Nonce::new_random);
        let request = request.add_scope(Scope::new("profile".to_owned())).set_pkce_challenge(challenge);
        let (address, state, nonce) = request.url();
        let pending = PendingSignIn { nonce, verifier };
        StartedSignIn { address: address.to_string(), state: state.secret().clone(), pending }
    }

    /// Exchanges the code that came back for the person's identity. Waits for the network.
    ///
    /// # Errors
    /// [`OpenIdError`] if the provider or its answer does not confirm the person, or the person has no role.
    pub(crate) fn finish(&self, code: String, pending: PendingSignIn) -> Result<ProvidedIdentity, OpenIdError> {
        // Providers replace their keys, so they are read again.
        let client = self.client(description(&self.options.issuer)?);
        let refused = |problem: String| OpenIdError::Refused(problem);
        let exchange =
            client.exchange_code(AuthorizationCode::new(code)).map_err(|error| refused(error.to_string()))?;
        let tokens = exchange.set_pkce_verifier(pending.verifier).request(&send);
        let tokens = tokens.map_err(|error| refused(chain(&error)))?;
        let id_token = tokens.id_token().ok_or_else(|| refused("it sent no ID token".to_owned()))?;
        let claims = id_token.claims(&client.id_token_verifier(), &pending.nonce);
        let claims = claims.map_err(|error| refused(chain(&error)))?;
        let subject = claims.subject().to_string();
        let name = claims.name().and_then(|name| name.get(None)).map(|name| name.as_str().to_owned());
        let name = name.or_else(|| claims.preferred_username().map(|name| name.as_str().to_owned()));
        Ok(ProvidedIdentity {
            person: format!("{}#{subject}", self.options.issuer),
            name: name.unwrap_or_else(|| subject.clone()),
            roles: self.roles(&claims.additional_claims().claims)?,
            subject,
        })
    }

    fn roles(&self, claims: &Map<String, Json>) -> Result<Vec<Role>, OpenIdError> {
        let claim = &self.options.role_claim;
        let found: Vec<&str> = match claims.get(claim) {
            Some(Json::String(one)) => vec![one],
            Some(Json::Array(several)) => several.iter().filter_map(Json::as_str).collect(),
            _ => Vec::new(),
        };
        let roles: Vec<Role> = found.iter().filter_map(|name| name.parse().ok()).collect();
        if roles.is_empty() {
            let found = if found.is_empty() { "nothing".to_owned() } else { format!("{found:?}") };
            return Err(OpenIdError::NoRole { claim: claim.clone(), found });
        }
        Ok(roles)
    }

    fn client(&self, metadata: CoreProviderMetadata) -> ProviderClient {
        let OpenIdOptions { client_id, client_secret, .. } = &self.options;
        let secret = client_secret.clone().map(ClientSecret::new);
        let client = Client::from_provider_metadata(metadata, ClientId::new(client_id.clone()), secret);
        client.set_redirect_uri(self.redirect.clone())
    }
}

/// The provider's own description, with its keys.
fn description(issuer: &str) -> Result<CoreProviderMetadata, OpenIdError> {
    let unusable = |problem: String| OpenIdError::Discovery { issuer: issuer.to_owned(), problem };
    let address = IssuerUrl::new(issuer.to_owned()).map_err(|error| unusable(error.to_string()))?;
    CoreProviderMetadata::discover(&address, &send).map_err(|error| unusable(chain(&error)))
}

/// Checks that an address is encrypted or on this machine. Returns its path.
fn check_address(what: &'static str, text: &str) -> Result<String, OpenIdError> {
    let wrong = |problem: &str| OpenIdError::Address { what, found: text.to_owned(), problem: problem.to_owned() };
    let parsed: axum::http::Uri = text.parse().map_err(|_| wrong("it is not a URL"))?;
    let host = parsed.host().ok_or_else(|| wrong("it names no host"))?;
    let is_local = matches!(host, "localhost" | "127.0.0.1" | "[::1]");
    match parsed.scheme_str() {
        Some("https") => {}
        Some("http") if is_local => {}
        _ => return Err(wrong("it is not encrypted")),
    }
    Ok(parsed.path().to_owned())
}

/// Sends a request to the provider. Redirects are not followed: a provider must not send us elsewhere.
fn send(request: HttpRequest) -> Result<HttpResponse, ureq::Error> {
    let config = ureq::Agent::config_builder().http_status_as_error(false).max_redirects(0);
    let agent: ureq::Agent = config.timeout_global(Some(PATIENCE)).build().into();
    let (parts, mut body) = agent.run(request)?.into_parts();
    Ok(HttpResponse::from_parts(parts, body.read_to_vec()?))
}

/// An error with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        next = cause.source();
    }
    text
}
