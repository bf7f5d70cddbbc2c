//! The page of a review in a real browser: what is seen first, on a phone, and by a screen reader.

#[path = "../../../rarely-report/examples/drawn_reviews/cases.rs"]
mod cases;

use rarely_output::OutputDirectory;
use rarely_report::{ReviewSources, write};

use crate::browser::Browser;
use crate::is_disabled;

/// Reviews whose pages differ: two options, a score, linear, each verdict, levels, a plane, many options, propensities.
const PAGES: [&str; 11] = [
    "change",
    "keep",
    "cannot-tell",
    "stuck",
    "shop",
    "shop-linear",
    "levels",
    "plane",
    "five",
    "yes-or-no",
    "propensities",
];

/// Elements whose right end is beyond the screen, except what scrolls by itself.
pub(crate) const TOO_WIDE: &str = "
    const beyond = element => element.getBoundingClientRect().right > document.documentElement.clientWidth + 0.5;
    const scrolls = element => element.parentElement.closest('.wide, pre') !== null;
    const seen = element => element.getBoundingClientRect().width > 0;
    return [...document.body.querySelectorAll('*')].filter(element => seen(element) && beyond(element) && !scrolls(element))
        .map(element => element.outerHTML.slice(0, 200));";

/// Whether each table that scrolls says so, and no other does.
const WRONG_HINTS: &str = "
    const hinted = element => getComputedStyle(element, '::before').display !== 'none';
    const shown = [...document.querySelectorAll('.wide')].filter(element => element.getBoundingClientRect().width > 0);
    return shown.filter(element => hinted(element) !== element.scrollWidth > element.clientWidth)
        .map(element => element.textContent.slice(0, 200));";

/// Where the lead ends.
const LEAD_END: &str = "return document.querySelector('.lead').getBoundingClientRect().bottom";

/// What a script finds wrong, once the page is laid out again after a change of the screen.
pub(crate) async fn found(browser: &Browser, script: &str) -> Vec<String> {
    let mut left = 50;
    loop {
        let found = browser.script(script, Vec::new()).await;
        let found: Vec<String> = found.as_array().expect("a list").iter().map(ToString::to_string).collect();
        left -= 1;
        if found.is_empty() || left == 0 {
            return found;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
}

#[test]
fn pages_of_reviews_fit_every_screen_and_have_no_serious_fault() {
    if is_disabled() {
        eprintln!("skipped: RARELY_NO_BROWSER=1");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    for case in cases::cases().iter().filter(|case| PAGES.contains(&case.name)) {
        let (base, found) = case.reviewed();
        let output = OutputDirectory::create(&folder.path().join(case.name)).expect("a folder");
        let sources = ReviewSources { command: "rarely review policy.toml log.csv".into(), ..ReviewSources::default() };
        write(&output, &base, &found, &sources).expect("written");
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let browser = Browser::start(&format!("file://{}", folder.path().display())).await;
        for name in PAGES {
            browser.open(&format!("/{name}/review.html")).await;
            for (width, height) in [(1200, 800), (390, 844)] {
                browser.resize(width, height, width < 600).await;
                let end = browser.script(LEAD_END, Vec::new()).await.as_f64().expect("a number");
                assert!(
                    end <= height as f64,
                    "{name}: the answer ends {end} pixels down a screen of {width} × {height}"
                );
                let wide = found(&browser, TOO_WIDE).await;
                assert!(wide.is_empty(), "{name}, {width} pixels: {wide:#?}");
                let wrong = found(&browser, WRONG_HINTS).await;
                assert!(wrong.is_empty(), "{name}, {width} pixels, hints to scroll: {wrong:#?}");
                let faults = browser.serious_faults().await;
                assert!(faults.is_empty(), "{name}, {width} pixels: {faults:#?}");
            }
            browser.look(&format!("review-{name}")).await;
        }
        browser.close().await;
    });
}
