//! The dashboard in a real browser: headless Chromium, driven through chromedriver, on a service of its own.
//!
//! Screenshots of every page, 1280 and 360 pixels wide, are left in the target folder's `tmp/screenshots`.

mod browser;
mod life;
mod service;

use browser::Browser;
use service::Service;

/// Whether the person who runs the tests has no browser and says so.
fn left_out() -> bool {
    std::env::var_os("RARELY_NO_BROWSER").is_some_and(|value| value == "1")
}

fn run(test: impl AsyncFnOnce(&Browser, &Service)) {
    if left_out() {
        eprintln!("left out: RARELY_NO_BROWSER=1");
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
