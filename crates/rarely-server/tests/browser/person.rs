//! What happens to one person, on the pages: another option was given, then the person is erased.

use std::collections::BTreeMap;
use std::path::Path;

use rarely_data::{Cases, Columns, LoggedCase};
use rarely_live::engine::NewOutcome;
use rarely_live::{RecordField, audit};
use rarely_policy::PolicyDocument;
use rarely_store::{EventLog, SqliteLog};

use super::browser::Browser;
use super::review_page::{TOO_WIDE, found};
use super::run;
use super::service::{BLOOD_PRESSURE, Service};

const POLICY: &str = "/policies/blood%20pressure";
/// Nobody else has these readings.
const SYSTOLIC: f64 = 173.456_789;
const WELLBEING: f64 = 0.424_242_4;

#[test]
fn a_decision_is_overridden_and_a_person_is_erased() {
    run(async |browser, service| {
        browser.open("/").await;
        browser.type_into("#token", &service.ann).await;
        browser.send("main form").await;
        tokio::task::block_in_place(|| service.engine.register("Ann", BLOOD_PRESSURE, 3)).expect("a policy");
        service.patients(30).await;
        override_one(browser, service).await;
        erase_one(browser, service).await;
    });
}

/// Decides for a person with a name: the number of the decision, and the option.
async fn decide(service: &Service, subject: &str, systolic: f64) -> (u64, String) {
    let handle = service.policy("blood pressure");
    let mut ask = handle.edition().request_of(None, vec![RecordField::Number(systolic)]).expect("in range");
    ask.subject = Some(subject.to_owned());
    let answer = service.engine.decide(&handle, "ward 3", vec![ask]).await.remove(0).expect("an answer");
    (answer.decision, answer.option)
}

async fn report(service: &Service, decision: u64, outcome: f64) {
    let handle = service.policy("blood pressure");
    let report = NewOutcome::OfDecision { decision, outcome, guardrails: BTreeMap::new(), correction: None };
    service.engine.observe(&handle, "ward 3", vec![report]).await.remove(0).expect("taken in");
}

/// Waits until all events on disk are applied.
async fn caught_up(service: &Service) {
    let committed = service.engine.committed();
    drop(service.engine.subscribe().wait_for(|applied| *applied >= committed).await);
}

/// The page fits a phone and a screen, and has no serious fault for whoever cannot see it.
async fn fits(browser: &Browser, name: &str) {
    for (width, height) in [(1200, 800), (390, 844)] {
        browser.resize(width, height, width < 600).await;
        let wide = found(browser, TOO_WIDE).await;
        assert!(wide.is_empty(), "{name}, {width} pixels: {wide:#?}");
        let faults = browser.serious_faults().await;
        assert!(faults.is_empty(), "{name}, {width} pixels: {faults:#?}");
    }
    browser.look(name).await;
}

async fn override_one(browser: &Browser, service: &Service) {
    let (decision, option) = decide(service, "patient 1", 171.0).await;
    let other = if option == "treat" { "watch" } else { "treat" };
    let learned = || service.policy("blood pressure").live.lock().state().learned.outcomes();
    let page = format!("{POLICY}/decisions/{decision}");
    browser.open(&page).await;
    browser.expect(&format!("Why did this person get {option}?")).await;
    browser.click("#override summary").await;
    browser.type_into("#override-reason", "the patient declined").await;
    fits(browser, "override").await;
    browser.send("#override form").await;
    assert_eq!(browser.path().await, page);
    browser.expect(&format!("Why did this person get {other}?")).await;
    browser.expect(&format!("Ann gave {other} instead of {option}")).await;
    browser.expect("Reason: the patient declined").await;
    fits(browser, "overridden").await;
    let before = learned();
    report(service, decision, 0.9).await;
    service.patients(1).await;
    caught_up(service).await;
    assert_eq!(learned(), before + 1, "the outcome of an overridden decision is no evidence");
    browser.open(&page).await;
    let form = browser.script("return document.querySelector('#override') === null", Vec::new()).await;
    assert_eq!(form, true, "there is nothing left to override");
}

async fn erase_one(browser: &Browser, service: &Service) {
    let (decision, _) = decide(service, "patient 4711", SYSTOLIC).await;
    report(service, decision, WELLBEING).await;
    service.patients(3).await;
    caught_up(service).await;
    let page = format!("{POLICY}/decisions/{decision}");
    browser.open(&page).await;
    browser.expect("173.45").await;
    let exported = rows(browser, service).await;
    assert!(sampled(service), "the sample has the person");

    browser.open("/service/erasure").await;
    browser.type_into("#subject", "patient 4712").await;
    browser.type_into("#reason", "asked for it").await;
    browser.send("main form").await;
    browser.expect("There is no record of this person").await;
    assert_eq!(browser.value("#reason").await, "asked for it", "what was typed is kept");
    browser.fill("#subject", "patient 4711").await;
    browser.script("document.getElementById('statistics').value = 'forget'", Vec::new()).await;
    fits(browser, "erasure").await;
    browser.send("main form").await;
    browser.expect("The person is erased: the records of 1 decision and of 1 outcome cannot be read any more").await;
    fits(browser, "erased").await;

    browser.open(&page).await;
    browser.expect("Erased on").await;
    let shown = browser.text("main").await;
    assert!(!shown.contains("173.45") && !shown.contains("0.424"), "{shown}");
    fits(browser, "erased-decision").await;
    assert_eq!(rows(browser, service).await, exported - 1, "the export has one case less");
    assert!(!sampled(service), "the sample forgets the person");

    let backup = service.store().with_file_name("backup.db");
    tokio::task::block_in_place(|| rarely_store::backup(&service.store(), &backup)).expect("a backup");
    for file in [&service.store(), &backup] {
        check_log(file);
    }
}

/// The log verifies, and nothing that it has can be read as the person's data.
fn check_log(file: &Path) {
    let log = SqliteLog::open_read_only(file).expect("a log");
    let summary = audit::verify(&log, None, |_| {}).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(summary.erased.people, 1);
    // The policy explores: of three later decisions those that rest on the outcome cannot be drawn again either.
    assert!((1..=4).contains(&summary.erased.decisions), "{:?}", summary.erased);
    for entry in log.entries(0, None, 100_000).expect("entries") {
        let opened = rarely_live::replay::event(&log, &entry).expect("an event");
        let words = format!("{opened:?} {}", entry.body);
        assert!(!words.contains("173.456") && !words.contains("0.42424") && !words.contains("patient 4711"), "{words}");
    }
    let bytes = std::fs::read(file).expect("a file");
    for word in ["173.456", "0.42424", "patient 4711"] {
        assert!(!bytes.windows(word.len()).any(|window| window == word.as_bytes()), "{word} is in {}", file.display());
    }
}

/// Whether the state of the policy, with its sample of people, has this person's context.
fn sampled(service: &Service) -> bool {
    let handle = service.policy("blood pressure");
    let context = handle.edition().reader.context(&[RecordField::Number(SYSTOLIC)]).expect("in range");
    let encoded = serde_json::to_string(&context[context.len() - 1]).expect("JSON");
    let state = serde_json::to_string(handle.live.lock().state()).expect("JSON");
    state.contains(&encoded)
}

/// The number of cases in the export, as a visitor with a token gets it.
async fn rows(browser: &Browser, service: &Service) -> u64 {
    let script = format!(
        "const done = arguments[arguments.length - 1];
         fetch('/v1{POLICY}/export', {{ headers: {{ authorization: 'Bearer {}' }} }})
             .then(answer => answer.arrayBuffer()).then(bytes => done(Array.from(new Uint8Array(bytes))));",
        service.ann
    );
    let bytes = browser.script_async(&script).await;
    let bytes: Vec<u8> = serde_json::from_value(bytes).expect("bytes");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("export.parquet");
    std::fs::write(&path, bytes).expect("written");
    let document = PolicyDocument::parse(BLOOD_PRESSURE, "the policy").expect("a document");
    let columns = Columns { option: document.option_column().to_owned(), ..Columns::default() };
    let mut cases = Cases::open(&document, &columns, &[path], 0).expect("an export");
    let mut case = LoggedCase::new(&document);
    let mut count = 0;
    while cases.next(&mut case).expect("a case") {
        count += 1;
    }
    count
}
