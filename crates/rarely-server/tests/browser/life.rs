//! The life of a policy on the pages: registration, proposals, signatures, rollback, stop, audit.

use super::browser::Browser;
use super::review_page::{TOO_WIDE, found};
use super::run;
use super::service::{BLOOD_PRESSURE, Service, TRIAGE};

const POLICY: &str = "/policies/blood%20pressure";

#[test]
fn the_life_of_a_policy() {
    run(async |browser, service| {
        sign_in(browser, service).await;
        register(browser).await;
        follow(browser, service).await;
        refuse(browser, service).await;
        approve(browser, service).await;
        roll_back(browser, service).await;
        amend(browser, service).await;
        stop_and_resume(browser, service).await;
        audit(browser).await;
        two_signatures(browser, service).await;
        keyboard(browser).await;
        desk(browser, service).await;
        sign_out(browser, service).await;
    });
}

/// Checks that the console of the browser is empty, except for forms that this test expects to fail.
async fn no_complaints(browser: &Browser) {
    let complaints = browser.complaints().await;
    let refused = |line: &&String| {
        ["401", "403", "409", "422"].iter().any(|status| line.contains(&format!("a status of {status}")))
    };
    let serious: Vec<&String> = complaints.iter().filter(|line| !refused(line)).collect();
    assert!(serious.is_empty(), "{serious:#?}");
}

async fn sign_in(browser: &Browser, service: &Service) {
    browser.open(POLICY).await;
    assert_eq!(
        browser.path().await,
        "/sign-in?next=%2Fpolicies%2Fblood%2520pressure",
        "nothing is visible before signing in"
    );
    browser.look("sign-in").await;
    browser.type_into("#token", "rarely_0000000000000000_wrong").await;
    browser.send("main form").await;
    browser.expect("This is not a rarely token").await;
    browser.open("/").await;
    browser.type_into("#token", &service.ann).await;
    browser.send("main form").await;
    assert_eq!(browser.path().await, "/");
    browser.expect("Signed in as Ann").await;
    browser.expect("There is no policy that you can see").await;
    no_complaints(browser).await;
}

async fn register(browser: &Browser) {
    browser.click("#register summary").await;
    browser.fill("#document", &BLOOD_PRESSURE.replace("cuts = [160]", "cut = [160]")).await;
    browser.send("#register form").await;
    browser.expect("line ").await;
    assert!(browser.value("#document").await.contains("cut = [160]"), "the input is kept");
    browser.look("register").await;
    browser.fill("#document", BLOOD_PRESSURE).await;
    browser.send("#register form").await;
    assert_eq!(browser.path().await, format!("{POLICY}?done=registered"));
    browser.expect("treat from 160 mmHg").await;
    browser.expect("There is no outcome yet").await;
    browser.look("policy-new").await;
    no_complaints(browser).await;
}

/// Every page of the desk fits a phone and a screen, and has no serious fault for whoever cannot see it.
async fn desk(browser: &Browser, service: &Service) {
    visit(browser, service, "/").await;
    browser.expect("What waits for you").await;
    watch_a_candidate(browser, service).await;
    let policy = |rest: &str| format!("{POLICY}{rest}");
    let pages = [
        ("home", "/".to_owned()),
        ("policy", policy("")),
        ("events", policy("/audit")),
        ("document", policy("/document")),
        ("proposal", policy("/proposals/1")),
        ("keys", "/keys".to_owned()),
        ("service", "/audit".to_owned()),
        ("people", "/service/people".to_owned()),
        ("sign-ins", "/service/sign-ins".to_owned()),
        ("checkpoints", "/service/checkpoints".to_owned()),
    ];
    for (name, page) in pages {
        browser.open(&page).await;
        for (width, height) in [(1200, 800), (390, 844)] {
            browser.resize(width, height, width < 600).await;
            let wide = found(browser, TOO_WIDE).await;
            assert!(wide.is_empty(), "{name}, {width} pixels: {wide:#?}");
            let faults = browser.serious_faults().await;
            assert!(faults.is_empty(), "{name}, {width} pixels: {faults:#?}");
        }
        browser.look(&format!("desk-{name}")).await;
    }
    browser.resize(1280, 900, false).await;
    end_the_candidate(browser).await;
}

/// The rule of a proposal decides beside the one in force, and the page says how often it differs.
async fn watch_a_candidate(browser: &Browser, service: &Service) {
    let reason = "To see whom it would concern.";
    browser.open(POLICY).await;
    browser.click("#watch summary").await;
    browser.look("watch").await;
    browser.script("document.querySelector('#watch-candidate option').value = 'version 99'", Vec::new()).await;
    browser.type_into("#watch-reason", reason).await;
    browser.send("#watch form").await;
    browser.expect("99").await;
    assert_eq!(browser.value("#watch-reason").await, reason, "what was typed is kept");
    browser.send("#watch form").await;
    browser.expect("The candidate decides beside the rule from now on").await;
    service.patients(5).await;
    browser.open(POLICY).await;
    let shown = browser.text("main").await;
    assert!(shown.contains("A candidate beside the rule") && shown.contains(reason), "{shown}");
    assert!(shown.contains(" of 5 decisions ("), "{shown}");
}

/// The candidate is ended, and another one can be chosen.
async fn end_the_candidate(browser: &Browser) {
    browser.open(POLICY).await;
    browser.click("#watch summary").await;
    browser.type_into("#watch-reason", "I have seen enough.").await;
    browser.send("#watch form").await;
    browser.expect("The candidate decides no more").await;
    let choice = "return document.querySelectorAll('#watch-candidate option').length";
    assert!(browser.script(choice, Vec::new()).await.as_u64().is_some_and(|found| found > 0));
    no_complaints(browser).await;
}

/// The page shows new events, except while a form is being filled in.
async fn follow(browser: &Browser, service: &Service) {
    browser.open(POLICY).await;
    browser.script("window.same = true", Vec::new()).await;
    service.patients(3).await;
    browser.wait_for("This rests on 3 outcomes").await;
    browser.click("#stop summary").await;
    browser.type_into("#stop-reason", "half a reas").await;
    service.patients(2).await;
    browser.wait_for("paused while you fill in a form").await;
    assert_eq!(browser.value("#stop-reason").await, "half a reas");
    let same = browser.script("return window.same === true", Vec::new()).await;
    assert_eq!(same, true, "the page was not loaded again");
    service.patients(15).await;
    visit(browser, service, POLICY).await;
    // Evidence that took long to compute is shown for a while.
    browser.wait_for_page("This rests on 20 outcomes").await;
    browser.look("policy-young").await;
    no_complaints(browser).await;
}

async fn refuse(browser: &Browser, service: &Service) {
    patients_until_proposed(service, 1).await;
    visit(browser, service, POLICY).await;
    browser.expect("Proposal 1 waits for a signature").await;
    browser.look("policy-waiting").await;
    browser.open("/").await;
    browser.expect("One policy has a proposal that waits for a signature").await;
    browser.look("policies").await;
    browser.open(&format!("{POLICY}/proposals/1")).await;
    browser.look("proposal").await;
    let places = browser
        .script(
            "return ['change', 'sign', 'evidence', 'against'].map((id) => document.getElementById(id).offsetTop)",
            Vec::new(),
        )
        .await;
    let places: Vec<u64> = places.as_array().expect("a list").iter().filter_map(serde_json::Value::as_u64).collect();
    assert!(places.is_sorted() && places.len() == 4, "what changes, where to sign, then the evidence: {places:?}");
    // A screen has 800 pixels.
    assert!(places[1] < 760, "the forms are on the first screen: {places:?}");
    for words in ["gain per case", "people who change", "what speaks most against it"] {
        browser.expect(words).await;
    }
    browser.click("#reject summary").await;
    browser.type_into("#reject-reason", "the season was unusual").await;
    browser.type_into("#reject-token", &service.ben).await;
    browser.send("#reject").await;
    browser.expect("This token belongs to Ben, but you are signed in as Ann").await;
    assert_eq!(browser.value("#reject-reason").await, "the season was unusual");
    assert_eq!(browser.value("#reject-token").await, "", "a token is never sent back");
    browser.look("proposal-wrong-token").await;
    browser.type_into("#reject-token", &service.ann).await;
    browser.send("#reject").await;
    browser.expect("Your rejection is recorded").await;
    browser.expect("the season was unusual").await;
    browser.open(&format!("{POLICY}/proposals/1")).await;
    browser.expect("rejected by Ann").await;
    no_complaints(browser).await;
}

async fn approve(browser: &Browser, service: &Service) {
    patients_until_proposed(service, 2).await;
    visit(browser, service, &format!("{POLICY}/proposals/2")).await;
    browser.click("#approve summary").await;
    browser.type_into("#approve-reason", "a second season says the same").await;
    browser.type_into("#approve-token", &service.ann).await;
    browser.send("#approve").await;
    browser.expect("the new version is in force").await;
    browser.expect("Version 2 in force").await;
    browser.expect("a second season says the same").await;
    service.patients(260).await;
    visit(browser, service, POLICY).await;
    browser.look("policy-version-2").await;
    no_complaints(browser).await;
}

async fn roll_back(browser: &Browser, service: &Service) {
    browser.open(POLICY).await;
    browser.click("#rollback summary").await;
    browser.type_into("#rollback-reason", "a complaint is being looked into").await;
    browser.type_into("#rollback-token", &service.ann).await;
    browser.look("rollback").await;
    browser.send("#rollback").await;
    browser.expect("The older rule is in force again").await;
    browser.expect("Version 3 in force").await;
    browser.expect("the rule of version 1 again").await;
    no_complaints(browser).await;
}

async fn amend(browser: &Browser, service: &Service) {
    browser.open(&format!("{POLICY}/document")).await;
    browser.look("document").await;
    let wrong = "document.getElementById('document').value = document.getElementById('document').value.replace('[100, 200]', '[100')";
    browser.script(wrong, Vec::new()).await;
    browser.type_into("#reason", "readings above 200 occur").await;
    browser.send("main form").await;
    assert_eq!(browser.value("#reason").await, "readings above 200 occur", "what was typed is kept");
    let wider = "document.getElementById('document').value = document.getElementById('document').value.replace('[100', '[100, 240]')";
    browser.script(wider, Vec::new()).await;
    browser.send("main form").await;
    browser.expect("range of systolic 100–240, was 100–200").await;
    browser.expect("The statistics start again from nothing").await;
    browser.look("amendment").await;
    browser.click("#approve summary").await;
    browser.type_into("#approve-reason", "they do").await;
    browser.type_into("#approve-token", &service.ann).await;
    browser.send("#approve").await;
    browser.expect("the new version is in force").await;
    browser.expect("Version 4 in force").await;
    browser.expect("the same rule under another document").await;
    browser.look("policy-amended").await;
    no_complaints(browser).await;
}

async fn stop_and_resume(browser: &Browser, service: &Service) {
    for (form, words) in [("stop", "The policy is stopped"), ("resume", "The policy is resumed")] {
        sign(browser, form, &service.ann).await;
        browser.expect(words).await;
    }
    no_complaints(browser).await;
}

async fn audit(browser: &Browser) {
    browser.open(&format!("{POLICY}/audit")).await;
    browser.expect("The policy was resumed").await;
    browser.expect("The rule of version 1 came into force again").await;
    browser.look("audit").await;
    browser.script("document.getElementById('kind').value = 'approved'", Vec::new()).await;
    browser.send("main form").await;
    browser.expect("Approved proposal 2").await;
    assert!(!browser.text("main table").await.contains("gave"), "only what was asked for");
    browser.open(&format!("{POLICY}/audit?kind=decided")).await;
    browser.click("tbody th a").await;
    browser.wait_for("Why did this person get").await;
    browser.expect("So the rule gives").await;
    browser.expect("ward 3 reported wellbeing").await;
    browser.look("decision").await;
    no_complaints(browser).await;
}

/// A score policy with more features than a figure can show. Its changes need two signatures.
async fn two_signatures(browser: &Browser, service: &Service) {
    tokio::task::block_in_place(|| service.engine.register("Ann", TRIAGE, 3)).expect("a policy");
    service.triage_until_proposed().await;
    visit(browser, service, "/policies/triage").await;
    browser.look("policy-score").await;
    visit(browser, service, "/policies/triage/proposals/1").await;
    browser.look("proposal-score").await;
    sign(browser, "approve", &service.ann).await;
    browser.expect("Your signature is recorded. One more is required").await;
    browser.expect("1 of 2 signed").await;
    browser.open("/policies/triage/proposals/1").await;
    sign(browser, "approve", &service.ann).await;
    browser.expect("Ann has already signed").await;
    browser.send("header form").await;
    browser.type_into("#token", &service.ben).await;
    browser.send("main form").await;
    browser.open("/policies/triage/proposals/1").await;
    sign(browser, "approve", &service.ben).await;
    browser.expect("Version 2 in force").await;
    browser.look("policy-score-version-2").await;
    no_complaints(browser).await;
}

/// Without a mouse: the first Tab leads to the content, and everything that scrolls can be focused.
async fn keyboard(browser: &Browser) {
    browser.open("/").await;
    browser.press_tab().await;
    assert_eq!(browser.focused().await, "Skip to the content");
    let hidden = "return Array.from(document.querySelectorAll('.wide')).filter((box) => box.tabIndex < 0).length";
    assert_eq!(browser.script(hidden, Vec::new()).await, 0);
    let unnamed = "return Array.from(document.querySelectorAll('input:not([type=hidden]), textarea, select')).filter((field) => !field.labels.length).length";
    assert_eq!(browser.script(unnamed, Vec::new()).await, 0, "every field has a label");
}

async fn sign_out(browser: &Browser, service: &Service) {
    browser.open("/").await;
    browser.send("header form").await;
    assert_eq!(browser.path().await, "/sign-in");
    browser.open(POLICY).await;
    browser.expect("Sign in").await;
    browser.type_into("#token", &service.eve).await;
    browser.send("main form").await;
    assert_eq!(browser.path().await, POLICY, "signing in leads to the requested page");
    browser.expect("require the role review").await;
    browser.expect("treat from 160 mmHg").await;
    no_complaints(browser).await;
}

/// Opens a page, signing in again if the session has ended.
async fn visit(browser: &Browser, service: &Service, path: &str) {
    browser.open(path).await;
    if browser.path().await.starts_with("/sign-in") {
        browser.type_into("#token", &service.ann).await;
        browser.send("main form").await;
    }
    assert_eq!(browser.path().await, path);
}

async fn patients_until_proposed(service: &Service, number: usize) {
    let handle = service.policy("blood pressure");
    for _ in 0..40 {
        service.patients(125).await;
        // The review starts a moment after the outcome that makes it due.
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        if handle.live.lock().state().proposals.len() >= number {
            return;
        }
    }
    panic!("no proposal {number} after 5,000 patients");
}

/// Fills in a form that asks for a signature, and submits it.
async fn sign(browser: &Browser, form: &str, token: &str) {
    browser.click(&format!("#{form} summary")).await;
    browser.type_into(&format!("#{form}-reason"), "both of us looked").await;
    browser.type_into(&format!("#{form}-token"), token).await;
    browser.send(&format!("#{form}")).await;
}
