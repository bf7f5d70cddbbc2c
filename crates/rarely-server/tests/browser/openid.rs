//! Sign-in with an identity provider: a real one, oidc-provider, on a port of its own.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use rarely_server::{OpenIdError, OpenIdOptions, OpenIdProvider};

use crate::browser::Browser;
use crate::is_disabled;
use crate::service::{BLOOD_PRESSURE, Service};

/// A provider, which is killed when the test ends, even by a panic.
struct Provider {
    child: Child,
    issuer: String,
}

impl Provider {
    fn start(redirect: &str) -> Self {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/browser/provider.mjs");
        let modules = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/tools/node_modules");
        let started =
            Command::new("node").args([script, modules, redirect]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut child = started.unwrap_or_else(|error| {
            panic!("node cannot be started ({error}): run scripts/test, which installs it, or set RARELY_NO_BROWSER=1")
        });
        let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let mut addresses = lines.map_while(Result::ok).filter(|line| line.starts_with("http://"));
        let issuer = addresses.next().unwrap_or_else(|| {
            panic!("oidc-provider did not start: run scripts/test, which installs it into target/tools")
        });
        // What it says later is thrown away, but taken: a closed pipe would end it.
        std::thread::spawn(move || addresses.for_each(drop));
        Self { child, issuer }
    }

    fn options(&self, redirect: &str) -> OpenIdOptions {
        OpenIdOptions {
            issuer: self.issuer.clone(),
            client_id: "rarely".to_owned(),
            client_secret: Some("a secret of the tests".to_owned()),
            redirect: redirect.to_owned(),
            role_claim: "roles".to_owned(),
        }
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Signs in at the provider as a new visitor, up to what the service says.
async fn sign_in(browser: &Browser, provider: &Provider, login: &str) {
    start_anew(browser, provider).await;
    browser.open("/sign-in?next=%2F").await;
    browser.click("a.provider").await;
    log_in(browser, login).await;
}

/// Neither the provider nor the service knows the browser any more.
async fn start_anew(browser: &Browser, provider: &Provider) {
    browser.forget_cookies_of(&format!("{}/jwks", provider.issuer)).await;
    browser.open("/sign-in").await;
    browser.forget_cookies().await;
}

/// The provider's own pages: who, and whether the service may know it.
async fn log_in(browser: &Browser, login: &str) {
    browser.type_into("input[name=login]", login).await;
    browser.type_into("input[name=password]", "any").await;
    browser.click("button.login-submit").await;
    browser.click("input[name=prompt][value=consent] ~ button").await;
}

#[test]
fn people_of_an_identity_provider_sign_in_with_its_roles() {
    if is_disabled() {
        eprintln!("skipped: RARELY_NO_BROWSER=1");
        return;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let mut started = None;
        let service = Service::start_with(|address| {
            let redirect = format!("{address}/sign-in/openid/return");
            let provider = Provider::start(&redirect);
            let options = provider.options(&redirect);
            started = Some(provider);
            tokio::task::block_in_place(|| Some(OpenIdProvider::discover(options).expect("a provider")))
        })
        .await;
        let provider = started.expect("it was started");
        let browser = Browser::start(&service.address).await;
        tokio::task::block_in_place(|| service.engine.register("Ann", BLOOD_PRESSURE, 1)).expect("a policy");
        several_people(&browser, &service, &provider).await;
        browser.close().await;
        tokio::task::block_in_place(|| service.engine.stop());
    });
}

/// A sign-in a moment ago stands for the token that people of the provider do not have.
async fn registers_a_passkey(browser: &Browser, service: &Service, provider: &Provider) {
    browser.add_authenticator().await;
    browser.open("/keys").await;
    service.pass(700_000);
    browser.send("form[data-passkey=register]").await;
    browser.expect("You signed in more than ten minutes ago").await;
    sign_in(browser, provider, "ann").await;
    browser.wait_for("Signed in as Ann (ann)").await;
    browser.open("/keys").await;
    browser.look("keys-of-a-provider's-person").await;
    browser.send("form[data-passkey=register]").await;
    browser.expect("Your passkey is registered").await;
}

async fn several_people(browser: &Browser, service: &Service, provider: &Provider) {
    // A token belongs to another Ann, so this one is shown with the provider's id.
    sign_in(browser, provider, "ann").await;
    browser.wait_for("Signed in as Ann (ann)").await;
    browser.look("signed-in-with-a-provider").await;
    browser.open("/policies/blood%20pressure").await;
    browser.expect("Stop").await;
    browser.open("/audit").await;
    browser.expect("requires the role `auditor`").await;
    registers_a_passkey(browser, service, provider).await;

    sign_in(browser, provider, "ben").await;
    browser.wait_for("Signed in as Ben Ito").await;
    browser.open("/audit").await;
    let who = format!("The person {}#ben signed in to the dashboard", provider.issuer);
    browser.expect(&who).await;
    browser.open("/policies/blood%20pressure").await;
    assert!(!browser.text("main").await.contains("Your token, again"), "an auditor changes nothing");

    sign_in(browser, provider, "eve").await;
    browser.wait_for("You have no role in this service").await;
    browser.look("no-role").await;
    sign_in(browser, provider, "mia").await;
    browser.wait_for("The identity provider does not confirm who you are").await;
    browser.expect("audience").await;

    browser.open("/sign-in/openid/return?code=x&state=y").await;
    browser.expect("was not started in this browser").await;
    start_anew(browser, provider).await;
    browser.open("/sign-in/openid").await;
    service.pass(600_000);
    log_in(browser, "ann").await;
    browser.wait_for("took too long").await;

    let events = service.engine.log().entries(0, None, 1000).expect("a log");
    let signed_in: Vec<&str> =
        events.iter().filter(|event| event.kind == "signed in").map(|event| event.actor.as_str()).collect();
    assert_eq!(signed_in, ["Ann (ann)", "Ann (ann)", "Ben Ito"]);
}

#[test]
fn a_provider_that_is_not_the_issuer_is_refused_at_the_start() {
    if is_disabled() {
        eprintln!("skipped: RARELY_NO_BROWSER=1");
        return;
    }
    let redirect = "http://127.0.0.1:1/sign-in/openid/return";
    let provider = Provider::start(redirect);
    let refused = |change: fn(&mut OpenIdOptions)| {
        let mut options = provider.options(redirect);
        change(&mut options);
        OpenIdProvider::discover(options).map(|_| ()).expect_err("it is wrong")
    };
    let elsewhere = refused(|options| options.issuer = options.issuer.replace("127.0.0.1", "localhost"));
    assert!(matches!(elsewhere, OpenIdError::Discovery { .. }), "{elsewhere}");
    let nobody = refused(|options| options.issuer = "http://127.0.0.1:1".to_owned());
    assert!(nobody.to_string().contains("http://127.0.0.1:1 cannot be used"), "{nobody}");
    let open = refused(|options| options.issuer = "http://example.org".to_owned());
    assert!(open.to_string().contains("not encrypted"), "{open}");
    let astray = refused(|options| options.redirect = "https://example.org/elsewhere".to_owned());
    assert!(astray.to_string().contains("its path is \"/elsewhere\""), "{astray}");
}
