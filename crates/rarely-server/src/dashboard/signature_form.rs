//! Forms that ask for a signature: with the token again, or with a passkey.

use std::sync::Arc;

use axum::http::StatusCode;
use maud::{Markup, html};
use rarely_live::event::Signature;
use rarely_live::{KeySignature, LivePolicy, PasskeySignature, PersonKeys, RelyingParty, SignedAct, SignedStatement};
use rarely_store::Hash;
use serde::Deserialize;

use super::Dashboard;
use super::layout::csrf;
use super::page_error::PageError;
use super::visitor::Visitor;
use crate::limits::TEXT_CHARACTERS;
use crate::problem::ProblemDetails;

/// A form with a signature: by token, or with a passkey.
#[derive(Debug, Deserialize)]
pub(super) struct SignedForm {
    pub(super) csrf: String,
    pub(super) meaning: String,
    pub(super) reason: String,
    #[serde(default)]
    pub(super) token: String,
    /// The version to roll back to.
    pub(super) to: Option<u64>,
    /// The key to revoke.
    #[serde(default)]
    pub(super) id: String,
    #[serde(default)]
    credential: String,
    #[serde(default)]
    digest: String,
    #[serde(default)]
    client_data: String,
    #[serde(default)]
    authenticator_data: String,
    #[serde(default)]
    signature: String,
}

/// The fields that the script fills in.
const PASSKEY_FIELDS: [&str; 5] = ["credential", "digest", "client_data", "authenticator_data", "signature"];

/// The input of a form that was not accepted, to show it again. The token is never shown again.
#[derive(Debug)]
pub(super) struct RejectedForm {
    /// The form.
    pub(super) id: &'static str,
    pub(super) meaning: String,
    pub(super) reason: String,
    /// What was chosen from a list.
    pub(super) chosen: String,
    /// Why it was not accepted.
    pub(super) error: PageError,
}

/// A form that asks for a signature.
pub(super) struct SignatureForm<'a> {
    pub(super) id: &'static str,
    pub(super) title: &'a str,
    pub(super) about: &'a str,
    pub(super) action: String,
    /// What is signed, if a key can be required.
    pub(super) act: Option<(SignedAct, u64)>,
    /// The suggested meaning of the signature.
    pub(super) meaning: &'a str,
    pub(super) button: &'a str,
}

/// What a passkey signs, besides the texts in the form.
pub(super) struct PasskeyStatement<'a> {
    pub(super) act: SignedAct,
    pub(super) policy: &'a str,
    pub(super) number: u64,
    pub(super) subject: Hash,
    /// The name under which the person signs.
    pub(super) signer: &'a str,
}

/// The means by which a visitor can sign.
pub(super) struct SigningMeans<'a> {
    visitor: &'a Visitor,
    person: String,
    people: Arc<PersonKeys>,
    relying_party: Option<&'a RelyingParty>,
}

impl SignedForm {
    /// The signature of the visitor, with whatever key it was made. Browsers send the lines of a text with carriage returns.
    pub(super) fn signature(&self, visitor: &Visitor) -> Result<Signature, PageError> {
        let text = |text: &str| text.trim().replace("\r\n", "\n");
        let by_key = if self.credential.is_empty() { None } else { Some(self.passkey_signature()?) };
        let person = Some(visitor.person());
        Ok(Signature { meaning: text(&self.meaning), reason: text(&self.reason), person, by_key })
    }

    fn passkey_signature(&self) -> Result<KeySignature, PageError> {
        let digest = self.digest.parse().map_err(|_| {
            ProblemDetails::new(StatusCode::UNPROCESSABLE_ENTITY, "the signature of the passkey cannot be read")
                .with_remedy("load the page again, and sign again")
        })?;
        Ok(KeySignature::Passkey(PasskeySignature {
            credential: self.credential.clone(),
            digest,
            client_data: self.client_data.clone(),
            authenticator_data: self.authenticator_data.clone(),
            signature: self.signature.clone(),
        }))
    }
}

impl<'a> SigningMeans<'a> {
    pub(super) fn of(dashboard: &'a Dashboard, visitor: &'a Visitor) -> Self {
        let relying_party = dashboard.app.settings.relying_party.as_ref();
        Self { visitor, person: visitor.person(), people: dashboard.app.engine.people(), relying_party }
    }

    /// The ids of the visitor's passkeys that work at this address, separated by spaces.
    fn credentials(&self) -> String {
        let passkeys = self.people.of(&self.person).filter_map(|known| known.key.passkey());
        let here = passkeys.filter(|passkey| self.relying_party.is_some_and(|here| here.id == passkey.rp_id));
        here.map(|passkey| passkey.credential.as_str()).collect::<Vec<_>>().join(" ")
    }

    /// A form that asks for a signature, with the input of a rejected one.
    pub(super) fn form(
        &self,
        live: &LivePolicy,
        form: &SignatureForm<'_>,
        choice: &Markup,
        rejected: Option<&RejectedForm>,
    ) -> Markup {
        let rejected = rejected.filter(|rejected| rejected.id == form.id);
        let fields = html! { (choice) (texts(form, rejected)) };
        let with_key = form.act.filter(|(act, _)| live.requires_key(&self.people, &self.person, *act));
        html! {
            details.act id=(form.id) open[rejected.is_some()] {
                summary { (form.title) }
                div.inside {
                    p { (form.about) }
                    @if let Some(rejected) = rejected { div.notice.bad role="alert" { p { (rejected.error.sentences()) } } }
                    @match with_key {
                        None => (self.token_form(form, &fields)),
                        Some((act, number)) => (self.key_form(live, form, act, number, &fields)),
                    }
                }
            }
        }
    }

    fn token_form(&self, form: &SignatureForm<'_>, fields: &Markup) -> Markup {
        let id = |part: &str| format!("{}-{part}", form.id);
        html! {
            form.sheet method="post" action=(form.action) autocomplete="off" {
                (csrf(self.visitor))
                (fields)
                div.field {
                    label for=(id("token")) { "Your token, again" }
                    input type="password" id=(id("token")) name="token" required autocomplete="off" aria-describedby=(id("about"));
                    p.hint id=(id("about")) { "You sign as " strong { (self.visitor.grant.name) } ". A signature cannot be withdrawn." }
                }
                button type="submit" { (form.button) }
            }
        }
    }

    fn key_form(
        &self,
        live: &LivePolicy,
        form: &SignatureForm<'_>,
        act: SignedAct,
        number: u64,
        fields: &Markup,
    ) -> Markup {
        let policy = live.document().policy();
        let subject = live.signing_subject(act, number).ok();
        match subject.filter(|_| !self.credentials().is_empty()) {
            Some(subject) => {
                let statement = PasskeyStatement { act, policy, number, subject, signer: &self.visitor.grant.name };
                let hint = html! {
                    div.field {
                        p.hint { "You sign as " strong { (self.visitor.grant.name) } " with your passkey. A signature cannot be withdrawn." }
                    }
                };
                self.passkey_form(&form.action, &statement, &html! { (fields) (hint) }, form.button)
            }
            None => self.without_passkey(act, policy, number),
        }
    }

    /// A form that a passkey signs: the script reads what is signed from its attributes and its fields.
    pub(super) fn passkey_form(
        &self,
        action: &str,
        statement: &PasskeyStatement<'_>,
        fields: &Markup,
        button: &str,
    ) -> Markup {
        let PasskeyStatement { act, policy, number, subject, signer } = statement;
        let Some(RelyingParty { id, origin }) = self.relying_party else { return html! {} };
        html! {
            form.sheet method="post" action=(action) autocomplete="off" data-passkey="sign" data-origin=(origin) data-rp-id=(id)
                data-credentials=(self.credentials()) data-format=(SignedStatement::FORMAT) data-act=(act) data-policy=(policy)
                data-number=(number) data-subject=(subject) data-signer=(signer) {
                (csrf(self.visitor))
                @for name in PASSKEY_FIELDS { input type="hidden" name=(name); }
                (fields)
                noscript { p { "A passkey signs only with scripts. Without them, sign at a shell with " code { "rarely sign" } "." } }
                div.notice.bad role="alert" data-message hidden {}
                button type="submit" { (button) }
            }
        }
    }

    /// What to do without a passkey.
    fn without_passkey(&self, act: SignedAct, policy: &str, number: u64) -> Markup {
        let command = act.name().replace(' ', "");
        let number = match act {
            SignedAct::Approve | SignedAct::Reject => format!(" --proposal {number}"),
            SignedAct::RollBack => " --to VERSION".to_owned(),
            _ => String::new(),
        };
        html! {
            p { "This requires a signature with a key of your own, not only a token." }
            @if self.people.of(&self.person).next().is_none() {
                p { a href="/keys" { "Register a passkey" } ", and sign here with it; or let the administrator register a key file, and sign at a shell:" }
            } @else {
                p { "None of " a href="/keys" { "your keys" } " is a passkey of this address. Sign at a shell with your key file:" }
            }
            pre tabindex="0" { code {
                "rarely sign " (command) " --url … \\\n  --token-file … --key … \\\n  --policy '" (policy) "'" (number) " \\\n  --meaning … --reason …"
            } }
        }
    }
}

/// The texts of a signature.
fn texts(form: &SignatureForm<'_>, rejected: Option<&RejectedForm>) -> Markup {
    let id = |part: &str| format!("{}-{part}", form.id);
    html! {
        div.field {
            label for=(id("meaning")) { "What your signature means" }
            input type="text" id=(id("meaning")) name="meaning" required maxlength=(TEXT_CHARACTERS)
                value=(rejected.map_or(form.meaning, |rejected| &rejected.meaning));
        }
        div.field {
            label for=(id("reason")) { "Reason" }
            textarea id=(id("reason")) name="reason" required maxlength=(TEXT_CHARACTERS) {
                "\n" (rejected.map_or("", |rejected| &rejected.reason))
            }
        }
    }
}
