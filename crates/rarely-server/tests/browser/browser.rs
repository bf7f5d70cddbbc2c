//! Headless Chromium, driven by chromedriver.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use axum::http::Method;
use fantoccini::elements::Element;
use fantoccini::wd::WebDriverCompatibleCommand;
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value as Json, json};
use tempfile::TempDir;
use url::Url;

/// How long to wait for a text to appear.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct Browser {
    client: Client,
    base: String,
    driver: Driver,
    _profile: TempDir,
}

/// Kills chromedriver when the test ends, even by a panic.
struct Driver(Child);

impl Drop for Driver {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// A WebDriver command that only Chromium has.
#[derive(Debug)]
struct Extra {
    path: &'static str,
    body: Json,
}

impl WebDriverCompatibleCommand for Extra {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, url::ParseError> {
        base.join(&format!("session/{}/{}", session.unwrap_or_default(), self.path))
    }

    fn method_and_body(&self, _: &Url) -> (Method, Option<String>) {
        (Method::POST, Some(self.body.to_string()))
    }
}

impl Browser {
    pub(crate) async fn start(base: &str) -> Self {
        let port = {
            let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
            free.local_addr().expect("an address").port()
        };
        let started = Command::new("chromedriver")
            .arg(format!("--port={port}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let driver = Driver(started.unwrap_or_else(|error| {
            panic!("chromedriver cannot be started ({error}): run scripts/test, which installs it, or set RARELY_NO_BROWSER=1 to leave these tests out")
        }));
        let profile = tempfile::tempdir().expect("a folder");
        let arguments = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-dev-shm-usage",
            &format!("--user-data-dir={}", profile.path().display()),
        ];
        let wishes = json!({
            "browserName": "chrome",
            "goog:chromeOptions": { "args": arguments },
            "goog:loggingPrefs": { "browser": "ALL" },
        });
        let Json::Object(wishes) = wishes else { unreachable!("an object") };
        let address = format!("http://127.0.0.1:{port}");
        let mut tries = 0;
        let client = loop {
            match ClientBuilder::new(HttpConnector::new()).capabilities(wishes.clone()).connect(&address).await {
                Ok(client) => break client,
                Err(error) if tries > 100 => panic!("Chromium did not start: {error}"),
                Err(_) => tries += 1,
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        };
        let browser = Self { client, base: base.to_owned(), driver, _profile: profile };
        browser.resize(1280, 900, false).await;
        browser
    }

    pub(crate) async fn close(self) {
        let Self { client, mut driver, .. } = self;
        client.close().await.expect("Chromium ends");
        drop(driver.0.kill());
    }

    /// Forgets all cookies of the host of another page.
    pub(crate) async fn forget_cookies_of(&self, page: &str) {
        self.client.goto(page).await.expect("a page");
        self.forget_cookies().await;
    }

    /// Forgets all cookies of the current page's host.
    pub(crate) async fn forget_cookies(&self) {
        self.client.delete_all_cookies().await.expect("no cookies");
    }

    pub(crate) async fn open(&self, path: &str) {
        self.client.goto(&format!("{}{path}", self.base)).await.expect("a page");
    }

    /// The path and query of the current page.
    pub(crate) async fn path(&self) -> String {
        let address = self.client.current_url().await.expect("an address");
        address.as_str().strip_prefix(&self.base).expect("a page of the service").to_owned()
    }

    async fn element(&self, selector: &str) -> Element {
        let found = self.client.wait().at_most(PATIENCE).for_element(Locator::Css(selector)).await;
        found.unwrap_or_else(|error| panic!("no {selector}: {error}"))
    }

    /// Clicks, and waits for a new page if there is one.
    pub(crate) async fn click(&self, selector: &str) {
        self.element(selector)
            .await
            .click()
            .await
            .unwrap_or_else(|error| panic!("{selector} cannot be clicked: {error}"));
    }

    /// Submits a form with its button, and waits for the response.
    pub(crate) async fn send(&self, form: &str) {
        let old = self.element("main").await;
        self.click(&format!("{form} button[type=submit]")).await;
        let deadline = std::time::Instant::now() + PATIENCE;
        while old.tag_name().await.is_ok() {
            assert!(std::time::Instant::now() < deadline, "no page answers the form {form}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        self.element("main").await;
    }

    /// Types into an empty field.
    pub(crate) async fn type_into(&self, selector: &str, text: &str) {
        self.element(selector).await.send_keys(text).await.unwrap_or_else(|error| panic!("{selector}: {error}"));
    }

    pub(crate) async fn press_tab(&self) {
        let body = self.element("body").await;
        body.send_keys("\u{e004}").await.expect("a key");
    }

    /// The text of the focused element.
    pub(crate) async fn focused(&self) -> String {
        let text = self.script("return document.activeElement.textContent", Vec::new()).await;
        text.as_str().expect("a text").to_owned()
    }

    /// Sets a long text as the value of a field.
    pub(crate) async fn fill(&self, selector: &str, text: &str) {
        self.script("document.querySelector(arguments[0]).value = arguments[1]", vec![json!(selector), json!(text)])
            .await;
    }

    pub(crate) async fn value(&self, selector: &str) -> String {
        let value = self.script("return document.querySelector(arguments[0]).value", vec![json!(selector)]).await;
        value.as_str().expect("a field").to_owned()
    }

    /// The text of an element, including what is collapsed.
    pub(crate) async fn text(&self, selector: &str) -> String {
        let text =
            self.script("return document.querySelector(arguments[0])?.textContent ?? ''", vec![json!(selector)]).await;
        text.as_str().expect("a text").split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Checks that the page contains a text.
    pub(crate) async fn expect(&self, words: &str) {
        let text = self.text("body").await;
        assert!(text.contains(words), "{} does not say {words:?}:\n{text}", self.path().await);
    }

    /// Waits until the page contains a text, without reloading it.
    pub(crate) async fn wait_for(&self, words: &str) {
        let deadline = std::time::Instant::now() + PATIENCE;
        while !self.text("body").await.contains(words) {
            assert!(
                std::time::Instant::now() < deadline,
                "{} never says {words:?}:\n{}",
                self.path().await,
                self.text("body").await
            );
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Loads the page again until it contains a text.
    pub(crate) async fn wait_for_page(&self, words: &str) {
        let deadline = std::time::Instant::now() + 2 * PATIENCE;
        while !self.text("body").await.contains(words) {
            assert!(std::time::Instant::now() < deadline, "{} never says {words:?}", self.path().await);
            tokio::time::sleep(Duration::from_millis(500)).await;
            self.client.refresh().await.expect("the page again");
        }
    }

    pub(crate) async fn script(&self, script: &str, arguments: Vec<Json>) -> Json {
        self.client.execute(script, arguments).await.unwrap_or_else(|error| panic!("{script}: {error}"))
    }

    /// Runs a script that calls back with its result.
    pub(crate) async fn script_async(&self, script: &str) -> Json {
        self.client.execute_async(script, Vec::new()).await.unwrap_or_else(|error| panic!("{script}: {error}"))
    }

    /// Takes screenshots on a desktop and on a phone, and checks that the page is not wider than the screen.
    pub(crate) async fn look(&self, name: &str) {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("screenshots");
        std::fs::create_dir_all(&folder).expect("a folder");
        for (width, mobile) in [(1280, false), (360, true)] {
            self.resize(width, 900, mobile).await;
            let wide = self.script("return document.documentElement.scrollWidth", Vec::new()).await;
            assert!(
                wide.as_u64().is_some_and(|wide| wide <= width),
                "{name} is {wide} pixels wide, on a screen of {width}"
            );
            let height = self.script("return document.documentElement.scrollHeight", Vec::new()).await;
            let height = height.as_u64().expect("a number").clamp(300, 12_000);
            self.resize(width, height, mobile).await;
            let picture = self.client.screenshot().await.expect("a picture");
            std::fs::write(folder.join(format!("{name}-{width}.png")), picture).expect("written");
        }
        self.resize(1280, 900, false).await;
    }

    /// The top of the page on a screen of this size, and what it says, one piece of text on each line.
    pub(crate) async fn picture(&self, width: u64, height: u64) -> (Vec<u8>, String) {
        const SAID: &str = "window.scrollTo(0, 0);
            const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), said = [], range = document.createRange();
            for (let node = walker.nextNode(); node; node = walker.nextNode()) {
                range.selectNode(node);
                const { height, bottom } = range.getBoundingClientRect();
                const text = node.textContent.trim().replace(/\\s+/g, ' ');
                if (text && height > 0 && bottom <= arguments[0]) said.push(text);
            }
            return said.join('\\n');";
        let body = json!({ "cmd": "Emulation.setScrollbarsHidden", "params": { "hidden": true } });
        self.client.issue_cmd(Extra { path: "goog/cdp/execute", body }).await.expect("no scroll bars");
        self.resize(width, height, false).await;
        let said = self.script(SAID, vec![json!(height)]).await;
        let picture = self.client.screenshot().await.expect("a picture");
        self.resize(1280, 900, false).await;
        (picture, said.as_str().expect("a text").to_owned())
    }

    pub(crate) async fn resize(&self, width: u64, height: u64, mobile: bool) {
        let parameters = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile });
        let body = json!({ "cmd": "Emulation.setDeviceMetricsOverride", "params": parameters });
        self.client.issue_cmd(Extra { path: "goog/cdp/execute", body }).await.expect("another size");
    }

    /// Gives the browser an authenticator that verifies its user and agrees to everything.
    pub(crate) async fn add_authenticator(&self) {
        let body = json!({
            "protocol": "ctap2",
            "transport": "internal",
            "hasResidentKey": true,
            "hasUserVerification": true,
            "isUserVerified": true,
            "isUserConsenting": true,
        });
        self.client.issue_cmd(Extra { path: "webauthn/authenticator", body }).await.expect("an authenticator");
    }

    /// What axe-core calls serious or critical on the current page.
    pub(crate) async fn serious_faults(&self) -> Vec<String> {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/tools/node_modules/axe-core/axe.min.js");
        let axe = std::fs::read_to_string(file).unwrap_or_else(|error| {
            panic!("axe-core is missing ({error}): run scripts/test, which installs it into target/tools")
        });
        let run = "const done = arguments[arguments.length - 1];
            const bad = found => found.violations.filter(one => ['serious', 'critical'].includes(one.impact))
                .map(one => one.id + ': ' + one.nodes.map(node => node.html.slice(0, 200)).join(' | '));
            axe.run().then(found => done(found.passes.length > 9 ? bad(found) : ['axe-core has checked next to nothing']));";
        self.script(&axe, Vec::new()).await;
        let found = self.client.execute_async(run, Vec::new()).await.expect("axe runs");
        found.as_array().expect("a list").iter().map(ToString::to_string).collect()
    }

    /// New messages in the console: errors of scripts, and violations of the content security policy.
    pub(crate) async fn complaints(&self) -> Vec<String> {
        let log =
            self.client.issue_cmd(Extra { path: "se/log", body: json!({ "type": "browser" }) }).await.expect("a log");
        let lines = log.as_array().expect("a list").iter();
        lines.filter_map(|line| line["message"].as_str()).map(ToOwned::to_owned).collect()
    }
}
