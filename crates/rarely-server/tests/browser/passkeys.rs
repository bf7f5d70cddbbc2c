//! Passkeys on the pages, with Chromium's virtual authenticator.

use rarely_live::audit;
use rarely_store::SqliteLog;
use serde_json::{Value as Json, json};

use super::browser::Browser;
use super::run;
use super::service::{Service, TRIAGE};

const PROPOSAL: &str = "/policies/triage/proposals/1";

#[test]
fn two_people_sign_with_passkeys() {
    run(async |browser, service| {
        let text = TRIAGE.replace("signatures = \"token\"\n", "");
        tokio::task::block_in_place(|| service.engine.register("Ann", &text, 3)).expect("a policy");
        service.triage_until_proposed().await;
        browser.add_authenticator().await;

        sign_in(browser, &service.ann).await;
        browser.open(PROPOSAL).await;
        browser.expect("Everyone signs with a key").await;
        browser.click("#approve summary").await;
        browser.expect("This requires a signature with a key of your own").await;
        browser.look("proposal-without-a-key").await;
        register(browser, &service.ann).await;

        a_changed_reason_is_refused(browser).await;
        sign(browser, PROPOSAL, "approve", "I looked\nat both pages").await;
        browser.expect("Your signature is recorded. One more is required").await;
        sign(browser, PROPOSAL, "approve", "once more").await;
        browser.expect("Ann has already signed").await;
        sign_out(browser).await;

        sign_in(browser, &service.ben).await;
        register(browser, &service.ben).await;
        sign(browser, PROPOSAL, "approve", "so did I").await;
        browser.expect("Version 2 in force").await;
        browser.expect("Signed by Ann with the passkey").await;
        browser.expect("Signed by Ben with the passkey").await;
        browser.look("policy-signed-with-passkeys").await;

        a_replayed_assertion_is_refused(browser, service).await;
        revoke(browser).await;
        let refused = ["409", "422"].map(|status| format!("a status of {status}"));
        let complaints = browser.complaints().await;
        let serious: Vec<_> =
            complaints.iter().filter(|line| !refused.iter().any(|status| line.contains(status))).collect();
        assert!(serious.is_empty(), "{serious:#?}");
        audited(service);
    });
}

async fn sign_in(browser: &Browser, token: &str) {
    browser.open("/").await;
    browser.type_into("#token", token).await;
    browser.send("main form").await;
}

async fn sign_out(browser: &Browser) {
    browser.send("header form").await;
}

async fn register(browser: &Browser, token: &str) {
    browser.open("/keys").await;
    browser.expect("You have no key yet").await;
    browser.look("keys-none").await;
    assert_eq!(browser.serious_faults().await, Vec::<String>::new());
    browser.type_into("#token", token).await;
    browser.script("window.kept = window.PublicKeyCredential; delete window.PublicKeyCredential", Vec::new()).await;
    browser.click("form[data-passkey=register] button").await;
    browser.wait_for("This browser does not support passkeys. Use another one, or sign at a shell").await;
    browser.script("window.PublicKeyCredential = window.kept", Vec::new()).await;
    browser.send("form[data-passkey=register]").await;
    browser.expect("Your passkey is registered").await;
    browser.expect("in use").await;
    browser.look("keys-one").await;
    assert_eq!(browser.serious_faults().await, Vec::<String>::new());
}

/// Fills in a form, and lets the passkey sign it.
async fn sign(browser: &Browser, page: &str, form: &str, reason: &str) {
    browser.open(page).await;
    browser.click(&format!("#{form} summary")).await;
    browser.type_into(&format!("#{form}-reason"), reason).await;
    browser.send(&format!("#{form}")).await;
}

/// What is sent is not what was signed.
async fn a_changed_reason_is_refused(browser: &Browser) {
    browser.open(PROPOSAL).await;
    let change = "const submit = HTMLFormElement.prototype.submit;
        HTMLFormElement.prototype.submit = function () {
            this.elements.namedItem('reason').value = 'another reason';
            submit.call(this);
        };";
    browser.script(change, Vec::new()).await;
    browser.click("#approve summary").await;
    browser.type_into("#approve-reason", "the reason that is signed").await;
    browser.look("proposal-to-sign").await;
    browser.send("#approve").await;
    browser.expect("The signature of Ann was made for something else").await;
    assert_eq!(browser.value("#approve-reason").await, "another reason");
}

/// An old assertion is sent again, after the policy was stopped once more.
async fn a_replayed_assertion_is_refused(browser: &Browser, service: &Service) {
    stop(browser, service).await;
    browser.open("/policies/triage").await;
    let keep = "const submit = HTMLFormElement.prototype.submit;
        HTMLFormElement.prototype.submit = function () {
            sessionStorage.setItem('sent', new URLSearchParams(new FormData(this)).toString());
            submit.call(this);
        };";
    browser.script(keep, Vec::new()).await;
    browser.click("#resume summary").await;
    browser.type_into("#resume-reason", "all is well").await;
    browser.send("#resume").await;
    browser.expect("The policy is resumed").await;
    stop(browser, service).await;
    let again = "const done = arguments[arguments.length - 1];
        const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
        fetch('/policies/triage/resume', { method: 'POST', headers, body: sessionStorage.getItem('sent') })
            .then(async (answer) => done([answer.status, await answer.text()]));";
    let answer = browser.script_async(again).await;
    assert_eq!(answer[0], json!(409), "{answer}");
    assert!(answer[1].as_str().is_some_and(|page| page.contains("made for something else")), "{answer}");
    assert!(service.policy("triage").live.lock().state().stopped);
}

/// A stop needs no key.
async fn stop(browser: &Browser, service: &Service) {
    browser.open("/policies/triage").await;
    browser.click("#stop summary").await;
    browser.type_into("#stop-reason", "a complaint").await;
    browser.type_into("#stop-token", &service.ben).await;
    browser.send("#stop").await;
    browser.expect("The policy is stopped").await;
}

async fn revoke(browser: &Browser) {
    browser.open("/keys").await;
    browser.type_into("form[action='/keys/revoke'] input[name=reason]", "a new device").await;
    browser.send("form[action='/keys/revoke']").await;
    browser.expect("The key is revoked").await;
    browser.expect("Register a passkey").await;
}

/// The audit checks every signature again, from the log alone.
fn audited(service: &Service) {
    let signed = |log: &SqliteLog| {
        let entries = rarely_store::EventLog::entries(log, 0, None, 1_000_000).expect("events");
        let bodies: Vec<Json> = entries.iter().map(|entry| serde_json::from_str(&entry.body).expect("JSON")).collect();
        bodies.iter().filter(|body| body["by_key"]["client_data"].is_string()).count()
    };
    tokio::task::block_in_place(|| service.engine.stop());
    let log = SqliteLog::open_read_only(&service.store()).expect("a log");
    audit::verify(&log, None, |_| {}).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(signed(&log), 3, "two approvals and a resume");
}
