//! The pictures of the tutorial of the service, docs/tutorials/service.md.
//!
//! The pages are opened in every run of the tests, and what is seen there is compared with the text that is kept beside each picture, in which every number
//! is `…`. `RARELY_PICTURES=1 cargo test -p rarely-server --test browser tutorial` makes pictures and texts again.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::browser::Browser;
use super::run;
use super::service::Service;

const POLICY: &str = "/policies/hypertension-treatment";

#[test]
fn the_tutorial_shows_the_pages_as_they_are() {
    run(async |browser, service| {
        let document = std::fs::read_to_string(root().join("examples/service/policy.toml")).expect("the example");
        tokio::task::block_in_place(|| service.engine.register("Ann", &document, 3)).expect("a policy");
        until_proposed(service).await;
        browser.add_authenticator().await;

        sign_in(browser, service).await;
        browser.open("/keys").await;
        browser.type_into("#token", &service.ann).await;
        browser.send("form[data-passkey=register]").await;
        browser.expect("Your passkey is registered").await;

        browser.open(POLICY).await;
        browser.expect("Proposal 1 waits for a signature").await;
        shows(browser, "policy", 640).await;
        browser.open(&format!("{POLICY}/proposals/1")).await;
        browser.click("#approve summary").await;
        shows(browser, "proposal", 900).await;
        browser.type_into("#approve-reason", "The evidence is sound.").await;
        browser.send("#approve").await;
        browser.expect("Version 2 in force").await;
        browser.open(POLICY).await;
        shows(browser, "signed", 640).await;
    });
}

async fn sign_in(browser: &Browser, service: &Service) {
    browser.open("/").await;
    browser.type_into("#token", &service.ann).await;
    browser.send("main form").await;
}

/// The clinic of the tutorial: treatment helps from 130 mmHg. A review comes after every 500 outcomes.
async fn until_proposed(service: &Service) {
    let expected = |systolic: f64, option: &str| {
        let treated = if option == "treat" { 0.004 * (systolic - 130.0) } else { 0.0 };
        0.95 - 0.003 * (systolic - 90.0) + treated
    };
    let handle = service.policy("hypertension-treatment");
    for reviews in 1..=20_u64 {
        service.people("hypertension-treatment", 500, expected).await;
        for _ in 0..200 {
            tokio::time::sleep(Duration::from_millis(50)).await;
            if handle.live.lock().state().reviews.count >= reviews {
                break;
            }
        }
        if !handle.live.lock().state().proposals.is_empty() {
            return;
        }
    }
    panic!("no proposal after 10,000 people");
}

/// Compares the page with the text beside its picture, or makes both again.
async fn shows(browser: &Browser, name: &str, height: u64) {
    let folder = root().join("docs/tutorials/pictures");
    let (picture, text) = (folder.join(format!("{name}.png")), folder.join(format!("{name}.txt")));
    // The service of the reader waits for its disk, and has no warning at the top that it does not.
    browser.script("document.querySelector('div.banner')?.remove()", Vec::new()).await;
    let (shot, said) = browser.picture(960, height).await;
    let said = without_numbers(&said);
    if std::env::var_os("RARELY_PICTURES").is_some_and(|value| value == "1") {
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(&picture, shot).expect("written");
        std::fs::write(&text, said).expect("written");
        return;
    }
    let kept = std::fs::read_to_string(&text).unwrap_or_else(|error| panic!("{}: {error}", text.display()));
    assert!(picture.is_file(), "{} is missing", picture.display());
    assert_eq!(
        said,
        kept,
        "the page is not the one in {}; look at it, and make the pictures again with RARELY_PICTURES=1 (tutorial.rs)",
        picture.display()
    );
}

/// A text with `…` for every number: what does not depend on chance.
fn without_numbers(text: &str) -> String {
    let mut masked = String::new();
    for letter in text.chars() {
        let in_number = letter.is_ascii_digit() || (masked.ends_with('…') && ".,".contains(letter));
        if !in_number {
            masked.push(letter);
        } else if !masked.ends_with('…') {
            masked.push('…');
        }
    }
    masked + "\n"
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
