//! The dashboard, and the page of a review, in a real browser: headless Chromium, driven by chromedriver.
//!
//! Screenshots of every page, 1280 and 360 pixels wide, are in `tmp/screenshots` of the target directory. Those of the tutorial are in docs/tutorials/pictures
//! (`tutorial.rs`).

mod browser;
mod clients;
mod life;
mod openid;
mod passkeys;
mod person;
mod review_page;
mod service;
mod tutorial;

use browser::Browser;
use service::Service;

/// Whether the browser tests are disabled.
fn is_disabled() -> bool {
    std::env::var_os("RARELY_NO_BROWSER").is_some_and(|value| value == "1")
}

fn run(test: impl AsyncFnOnce(&Browser, &Service)) {
    if is_disabled() {
        eprintln!("skipped: RARELY_NO_BROWSER=1");
        return;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let service = Service::start().await;
        let browser = Browser::start(&service.address).await;
        test(&browser, &service).await;
        browser.close().await;
        tokio::task::block_in_place(|| service.engine.stop());
    });
}
