//! Passkeys (W3C Web Authentication): registering one, and checking what it has signed.
//!
//! The challenge that an authenticator signs is the digest of the [statement](crate::SignedStatement), not a random number: the
//! signature is about the statement itself, and anyone can check it from the log. The library checks it like any other assertion,
//! since the state of an authentication is plain data.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;
use rarely_error::{Explain, Remedy, Topic};
use rarely_store::{Hash, Hex};
use serde::{Deserialize, Serialize};
use serde_json::json;
use url::{Host, Url};
use webauthn_rs_core::WebauthnCore;
use webauthn_rs_core::error::WebauthnError;
use webauthn_rs_core::proto::{
    AuthenticationExtensionsClientOutputs, AuthenticationState, AuthenticatorAssertionResponseRaw, COSEAlgorithm,
    COSEEC2Key, COSEKey, COSEKeyType, COSERSAKey, Credential, CredentialV3, ECDSACurve, PublicKeyCredential,
    RegisterPublicKeyCredential, RegistrationState, UserVerificationPolicy,
};

/// The time to touch the authenticator.
const PATIENCE: Duration = Duration::from_secs(300);

/// A registered passkey.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passkey {
    /// The id of the credential, in base64url.
    pub credential: String,
    /// Its public key.
    pub public_key: PasskeyPublicKey,
    /// The domain that it belongs to.
    pub rp_id: String,
    /// The origin of the pages on which it signs.
    pub origin: String,
    /// Whether it may be copied to other devices of its owner.
    pub backup_eligible: bool,
    /// Its counter when it was registered; 0 if it does not count.
    pub counter: u32,
}

/// The public key of a passkey, as a JSON Web Key (RFC 7517).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kty")]
pub enum PasskeyPublicKey {
    /// On the curve P-256; signatures are ECDSA with SHA-256.
    #[serde(rename = "EC")]
    P256 {
        /// `P-256`.
        crv: String,
        /// The first coordinate, in base64url.
        x: String,
        /// The second coordinate, in base64url.
        y: String,
    },
    /// RSA; signatures are PKCS #1 1.5 with SHA-256.
    #[serde(rename = "RSA")]
    Rsa {
        /// The modulus, in base64url.
        n: String,
        /// The exponent, in base64url.
        e: String,
    },
}

/// A signature made with a passkey. The authenticator signs `authenticator_data` and the SHA-256 of `client_data`, whose challenge is
/// the digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PasskeySignature {
    /// The id of the credential, in base64url.
    pub credential: String,
    /// SHA-256 of what was signed.
    pub digest: Hash,
    /// What the browser said, as JSON in base64url.
    pub client_data: String,
    /// What the authenticator said, in base64url.
    pub authenticator_data: String,
    /// The signature, in base64url.
    pub signature: String,
}

/// The service as browsers know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelyingParty {
    /// Its domain.
    pub id: String,
    /// The origin of its pages.
    pub origin: String,
}

/// A passkey that is being registered.
#[derive(Debug)]
pub struct PasskeyEnrolment(RegistrationState);

/// What is wrong with a passkey or its signature.
#[derive(Debug, thiserror::Error)]
pub enum PasskeyError {
    /// It has signed with a counter that is not above the last one.
    #[error("the counter of the passkey has not gone up, so there may be a copy of it")]
    Copied,
    /// A part cannot be read.
    #[error("{0} of the passkey cannot be read")]
    Unreadable(&'static str),
    /// The library refuses it.
    #[error("the passkey is refused: {0}")]
    Refused(WebauthnError),
}

/// Why pages at an address cannot use passkeys.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("passkeys cannot be used at {url:?}: {problem}")]
pub struct PublicUrlError {
    /// The address.
    pub url: String,
    /// What is wrong with it.
    pub problem: &'static str,
}

impl Explain for PublicUrlError {
    fn remedy(&self) -> Option<Remedy> {
        Some(Remedy::new("give the address that people type into the browser, like https://rules.example.org"))
    }
}

impl Explain for PasskeyError {
    fn remedy(&self) -> Option<Remedy> {
        Some(match self {
            Self::Copied => Remedy::new("revoke the passkey, and register another one").see(Topic::PersonKeys),
            Self::Unreadable(_) => Remedy::new("load the page again, and start again"),
            Self::Refused(_) => {
                Remedy::new("start again, with a passkey that verifies who you are").see(Topic::PersonKeys)
            }
        })
    }
}

impl From<WebauthnError> for PasskeyError {
    fn from(error: WebauthnError) -> Self {
        match error {
            WebauthnError::CredentialPossibleCompromise => Self::Copied,
            other => Self::Refused(other),
        }
    }
}

impl RelyingParty {
    /// The service at a public address: https with a domain, or http on localhost.
    ///
    /// # Errors
    /// [`PublicUrlError`] if browsers do not offer passkeys there.
    pub fn at(url: &str) -> Result<Self, PublicUrlError> {
        let wrong = |problem| PublicUrlError { url: url.to_owned(), problem };
        let parsed = Url::parse(url).map_err(|_| wrong("this is not a web address"))?;
        let Some(Host::Domain(domain)) = parsed.host() else {
            return Err(wrong("passkeys belong to a domain, not to an IP address"));
        };
        let is_local = domain == "localhost" || domain.ends_with(".localhost");
        if parsed.scheme() != "https" && !(parsed.scheme() == "http" && is_local) {
            return Err(wrong("browsers offer passkeys only by https, or by http on localhost"));
        }
        if parsed.path() != "/" || parsed.query().is_some() || parsed.fragment().is_some() {
            return Err(wrong("it has a path, and only the scheme, the domain and the port count"));
        }
        Ok(Self { id: domain.to_owned(), origin: parsed.origin().ascii_serialization() })
    }

    /// Starts to register a passkey of the person with this id and name. Returns the options for `navigator.credentials.create`, as JSON.
    ///
    /// # Errors
    /// [`PasskeyError`] if the name is empty.
    pub fn enrol(&self, person: &str, name: &str) -> Result<(String, PasskeyEnrolment), PasskeyError> {
        let core = core(&self.id, &self.origin)?;
        // Authenticators keep the id of the user; a hash says nothing about the person.
        let builder = core.new_challenge_register_builder(&Hash::of(person.as_bytes()).0, name, name)?;
        let builder = builder
            .user_verification_policy(UserVerificationPolicy::Required)
            .credential_algorithms(vec![COSEAlgorithm::ES256, COSEAlgorithm::RS256]);
        let (options, state) = core.generate_challenge_register(builder)?;
        let options = serde_json::to_string(&options).map_err(|_| PasskeyError::Unreadable("the options"))?;
        Ok((options, PasskeyEnrolment(state)))
    }

    /// Finishes it, with what `navigator.credentials.create` returned, as JSON.
    ///
    /// # Errors
    /// [`PasskeyError`] if it does not answer what was asked.
    pub fn enrolled(&self, enrolment: &PasskeyEnrolment, response: &str) -> Result<Passkey, PasskeyError> {
        let response: RegisterPublicKeyCredential =
            serde_json::from_str(response).map_err(|_| PasskeyError::Unreadable("the registration"))?;
        let made = core(&self.id, &self.origin)?.register_credential(&response, &enrolment.0, None)?;
        Ok(Passkey {
            credential: BASE64.encode(&made.cred_id),
            public_key: PasskeyPublicKey::of(&made.cred)?,
            rp_id: self.id.clone(),
            origin: self.origin.clone(),
            backup_eligible: made.backup_eligible,
            counter: made.counter,
        })
    }
}

impl Passkey {
    /// The id of the key: eight hexadecimal digits.
    pub fn id(&self) -> String {
        key_id(&self.credential)
    }

    /// Checks that this passkey has signed the digest, with the person verified, on a page of its origin. Returns its counter, which
    /// must be above the last one unless it does not count.
    ///
    /// # Errors
    /// [`PasskeyError`] says what is wrong.
    pub fn check(&self, made: &PasskeySignature, last_counter: u32) -> Result<u32, PasskeyError> {
        let bytes = |what, text: &String| BASE64.decode(text).map_err(|_| PasskeyError::Unreadable(what));
        let raw_id = bytes("the id", &made.credential)?;
        let mut credential = Credential::from(CredentialV3 {
            cred_id: bytes("the id", &self.credential)?,
            cred: self.public_key.cose()?,
            counter: last_counter,
            verified: true,
            registration_policy: UserVerificationPolicy::Required,
        });
        credential.backup_eligible = self.backup_eligible;
        let state: AuthenticationState = serde_json::from_value(json!({
            "credentials": [],
            "policy": UserVerificationPolicy::Required,
            "challenge": BASE64.encode(made.digest.0),
            "appid": null,
            "allow_backup_eligible_upgrade": false,
        }))
        .map_err(|_| PasskeyError::Unreadable("the challenge"))?;
        let assertion = PublicKeyCredential {
            id: made.credential.clone(),
            raw_id,
            response: AuthenticatorAssertionResponseRaw {
                authenticator_data: bytes("the authenticator data", &made.authenticator_data)?,
                client_data_json: bytes("the client data", &made.client_data)?,
                signature: bytes("the signature", &made.signature)?,
                user_handle: None,
            },
            extensions: AuthenticationExtensionsClientOutputs::default(),
            type_: "public-key".to_owned(),
        };
        let core = core(&self.rp_id, &self.origin)?;
        Ok(core.authenticate_single_credential(&assertion, &state, &credential)?.counter())
    }
}

impl PasskeySignature {
    /// The id of the key: eight hexadecimal digits.
    pub fn key_id(&self) -> String {
        key_id(&self.credential)
    }
}

impl PasskeyPublicKey {
    fn of(key: &COSEKey) -> Result<Self, PasskeyError> {
        let text = |bytes: &[u8]| BASE64.encode(bytes);
        match (key.type_, &key.key) {
            (COSEAlgorithm::ES256, COSEKeyType::EC_EC2(COSEEC2Key { curve: ECDSACurve::SECP256R1, x, y })) => {
                Ok(Self::P256 { crv: "P-256".to_owned(), x: text(x), y: text(y) })
            }
            (COSEAlgorithm::RS256, COSEKeyType::RSA(COSERSAKey { n, e })) => Ok(Self::Rsa { n: text(n), e: text(e) }),
            _ => Err(PasskeyError::Unreadable("the public key")),
        }
    }

    fn cose(&self) -> Result<COSEKey, PasskeyError> {
        let bytes = |text: &String| BASE64.decode(text).map_err(|_| PasskeyError::Unreadable("the public key"));
        Ok(match self {
            Self::P256 { x, y, .. } => COSEKey {
                type_: COSEAlgorithm::ES256,
                key: COSEKeyType::EC_EC2(COSEEC2Key { curve: ECDSACurve::SECP256R1, x: bytes(x)?, y: bytes(y)? }),
            },
            Self::Rsa { n, e } => {
                let e = bytes(e)?.try_into().map_err(|_| PasskeyError::Unreadable("the public key"))?;
                COSEKey { type_: COSEAlgorithm::RS256, key: COSEKeyType::RSA(COSERSAKey { n: bytes(n)?, e }) }
            }
        })
    }
}

fn core(rp_id: &str, origin: &str) -> Result<WebauthnCore, PasskeyError> {
    let origin = Url::parse(origin).map_err(|_| PasskeyError::Unreadable("the origin"))?;
    Ok(WebauthnCore::new_unsafe_experts_only("rarely", rp_id, vec![origin], PATIENCE, None, None))
}

fn key_id(credential: &str) -> String {
    Hex(&Hash::of(credential.as_bytes()).0[..4]).to_string()
}
