//! The desk in a real browser: from the drop to the saved document, on a desktop and on a phone, with the mouse and with keys alone.

#[allow(dead_code, reason = "the tests of the service use all of it")]
#[path = "../../../rarely-server/tests/browser/browser.rs"]
mod browser;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rarely_policy::PolicyDocument;
use serde_json::{Value as Json, json};
use tempfile::TempDir;
use tokio::sync::oneshot;

use browser::Browser;

const ENTER: &str = "\u{e007}";
const TAB: &str = "\u{e004}";
const DOWN: &str = "\u{e015}";

/// Elements that are cut at the right end of the screen, except what scrolls by itself.
const CUT: &str = "
    const beyond = element => element.getBoundingClientRect().right > document.documentElement.clientWidth + 0.5;
    const scrolls = element => element.parentElement.closest('.wide, .skip') !== null || element.matches('.skip');
    const seen = element => element.getBoundingClientRect().width > 0;
    return [...document.body.querySelectorAll('*')].filter(element => seen(element) && beyond(element) && !scrolls(element))
        .map(element => element.outerHTML.slice(0, 200));";

/// Drops a file on the page, as a person does.
const DROP: &str = "
    const data = new DataTransfer();
    data.items.add(new File([arguments[1]], arguments[0], { type: 'text/csv' }));
    const form = document.querySelector('#upload');
    for (const kind of ['dragenter', 'dragover', 'drop']) {
        form.dispatchEvent(new DragEvent(kind, { bubbles: true, cancelable: true, dataTransfer: data }));
    }";

/// Chooses a value, as a person does.
const CHOOSE: &str = "
    const field = document.querySelector(arguments[0]);
    field.value = arguments[1];
    field.dispatchEvent(new Event('input', { bubbles: true }));";

fn log() -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/clinical/log.csv");
    path.canonicalize().expect("the example")
}

/// A running desk and a browser that has opened it.
struct Visit {
    browser: Browser,
    folder: TempDir,
    stop: oneshot::Sender<()>,
    served: tokio::task::JoinHandle<Result<(), rarely_desk::DeskError>>,
}

impl Visit {
    async fn begin() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let (opened, address) = oneshot::channel();
        let (stop, stopped) = oneshot::channel::<()>();
        let ready = |address: &str| drop(opened.send(address.to_owned()));
        let ended = async { drop(stopped.await) };
        let served = tokio::spawn(rarely_desk::serve(0, folder.path().to_owned(), ready, ended));
        let address = address.await.expect("an address");
        let at = address.find("/start").expect("the way in");
        let browser = Browser::start(&address[..at]).await;
        browser.open(&address[at..]).await;
        assert_eq!(browser.path().await, "/", "the token is not in the address any more");
        Self { browser, folder, stop, served }
    }

    async fn end(self) {
        let complaints = self.browser.complaints().await;
        assert!(complaints.is_empty(), "{complaints:?}");
        self.browser.close().await;
        drop(self.stop);
        self.served.await.expect("no panic").expect("a good end");
    }

    /// Waits for a page by its heading, and checks that it can be read and used on every screen.
    async fn arrived(&self, heading: &str, name: &str) {
        let deadline = Instant::now() + Duration::from_secs(120);
        while !self.browser.text("h1").await.starts_with(heading) {
            assert!(Instant::now() < deadline, "{heading} never comes: {}", self.browser.text("body").await);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        self.fits(name).await;
    }

    async fn fits(&self, name: &str) {
        for (width, mobile) in [(1200, false), (390, true)] {
            self.browser.resize(width, 900, mobile).await;
            let cut = self.browser.script(CUT, Vec::new()).await;
            assert_eq!(cut, json!([]), "{name} at {width} pixels");
            let wide = self.browser.script("return document.documentElement.scrollWidth", Vec::new()).await;
            assert!(wide.as_u64().is_some_and(|wide| wide <= width), "{name} is {wide} pixels wide");
            let faults = self.browser.serious_faults().await;
            assert!(faults.is_empty(), "{name} at {width} pixels: {faults:#?}");
        }
        self.browser.look(&format!("desk-{name}")).await;
    }

    async fn choose(&self, selector: &str, value: &str) {
        self.browser.script(CHOOSE, vec![json!(selector), json!(value)]).await;
    }

    /// Types into whatever has the focus.
    async fn keys(&self, keys: &str) {
        self.browser.type_into(":focus", keys).await;
    }

    /// Presses Tab until a field has the focus.
    async fn tab_to(&self, name: &str) {
        for _ in 0..200 {
            let script = "return document.activeElement.name || document.activeElement.textContent";
            let focused: Json = self.browser.script(script, Vec::new()).await;
            if focused.as_str() == Some(name) {
                return;
            }
            self.browser.press_tab().await;
        }
        panic!("no key leads to {name} on {}", self.browser.path().await);
    }
}

fn is_disabled() -> bool {
    let disabled = std::env::var_os("RARELY_NO_BROWSER").is_some_and(|value| value == "1");
    if disabled {
        eprintln!("skipped: RARELY_NO_BROWSER=1");
    }
    disabled
}

#[tokio::test(flavor = "multi_thread")]
async fn from_the_drop_to_the_saved_document() {
    if is_disabled() {
        return;
    }
    let visit = Visit::begin().await;
    visit.arrived("Which file", "file").await;
    let content = fs::read_to_string(log()).expect("a log");
    visit.browser.script(DROP, vec![json!("log.csv"), json!(content)]).await;
    visit.arrived("What is in each column", "columns").await;
    visit.browser.expect("log.csv has 8,000 rows and 5 columns").await;

    visit.choose("[name='role.0']", "ignored").await;
    visit.choose("[name=options]", "watch\ntreat").await;
    visit.browser.send("#columns").await;
    visit.arrived("Which rule is in force", "rule").await;
    visit.browser.expect("everyone gets watch").await;

    // The preview follows what is typed, without a button.
    visit.browser.click("input[value=threshold]").await;
    visit.choose("[name=feature]", "systolic").await;
    visit.browser.type_into("[name='threshold.cut.1']", "140").await;
    visit.browser.wait_for("treat from 140").await;
    visit.fits("threshold").await;
    visit.browser.click("button[value=review]").await;
    visit.arrived("Review of the policy log", "review").await;
    visit.browser.expect("rarely review --policy policy.toml --data log.csv --out review").await;

    visit.choose("[name=standard]", "once").await;
    visit.choose("[name='cost.1']", "0.05").await;
    visit.browser.send("#assumptions form").await;
    visit.arrived("Review of the policy log", "review-again").await;
    visit.browser.wait_for("What follows from your change").await;
    visit.browser.expect("cost treat 0.05, was none").await;
    visit.fits("what-followed").await;

    visit.choose("[name=folder]", "kept").await;
    visit.browser.send("#save form").await;
    visit.browser.expect("Saved:").await;
    let document = PolicyDocument::read(&visit.folder.path().join("kept/policy.toml")).expect("a document");
    assert_eq!(document.rule().words(&document), ["watch below 140", "treat from 140"]);
    assert!(visit.folder.path().join("kept/review/review.html").is_file());
    visit.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn with_keys_alone_and_after_a_mistake() {
    if is_disabled() {
        return;
    }
    let visit = Visit::begin().await;
    visit.tab_to("path").await;
    visit.keys("/nowhere/log.csv").await;
    visit.keys(ENTER).await;
    visit.browser.wait_for("No such file or directory").await;
    visit.arrived("Which file", "problem").await;
    visit.tab_to("path").await;
    visit.keys(&log().display().to_string()).await;
    visit.keys(ENTER).await;
    visit.browser.wait_for("What is in each column").await;
    visit.tab_to("Check every row, and go on to the rule").await;
    visit.keys(ENTER).await;
    visit.browser.wait_for("Which rule is in force").await;
    visit.tab_to("form").await;
    visit.keys(DOWN).await;
    visit.tab_to("feature").await;
    visit.keys("systolic").await;
    visit.tab_to("threshold.cut.1").await;
    visit.keys("140").await;
    visit.keys(ENTER).await;
    visit.browser.wait_for("Change an assumption").await;
    visit.tab_to("folder").await;
    visit.keys(TAB).await;
    visit.keys(ENTER).await;
    visit.browser.wait_for("Saved:").await;
    assert!(visit.folder.path().join("rarely-review/policy.toml").is_file());
    visit.end().await;
}
