//! Several outcomes of a decision: those that a change must not make worse.

use rarely_data::{Cases, Columns, LoggedCase};
use rarely_policy::PolicyDocument;
use serde_json::{Value as Json, json};

use crate::support::{BY_HAND, Service, document, observations, record};

const OBSERVE: &str = "/v1/policies/clinic/observations";
const REPORT: &str = "/v1/policies/clinic/outcomes";

/// The clinic, whose patients must not fall more often by more than a margin.
fn guarded(control: &str, margin: f64) -> String {
    let plain = document("clinic", control);
    format!(
        "{plain}[[guardrails]]\noutcome = {{ column = \"falls\", range = [0, 1] }}\nworse = \"higher\"\nmargin = {margin}\n"
    )
}

/// Observations with the falls of those who wait and of those who are treated.
fn with_falls(range: std::ops::Range<u64>, (wait, treat): (f64, f64)) -> Vec<Json> {
    let mut all = observations(range);
    for one in &mut all {
        let falls = if one["option"] == "wait" { wait } else { treat };
        one["guardrails"] = json!({ "falls": falls });
    }
    all
}

async fn reviewed(service: &Service) -> Json {
    service.call(&service.admin, "POST", "/v1/policies/clinic/review", "", "").await.is(200)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_guardrail_that_gets_worse_stops_a_change() {
    let service = Service::new();
    service.register(&guarded(BY_HAND, 0.05)).await;
    let lines = service.batch(&service.admin, OBSERVE, &with_falls(0..1500, (0.9, 0.1))).await;
    assert!(lines.iter().all(|line| line["repeated"] == false), "{:?}", lines.first());
    let review = reviewed(&service).await;
    assert_eq!(review["proposal"], Json::Null, "people of 30 to 60 years would wait, and fall: {review}");
    assert!(review["reasons"].to_string().contains("falls"), "{review}");
    let evidence = service.get(&service.admin, "/v1/policies/clinic/evidence").await.is(200);
    assert!(evidence.to_string().contains("guard-rail"), "{evidence}");
    service.finish();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_guardrail_that_holds_is_part_of_the_proposal() {
    let service = Service::new();
    let view = service.register(&guarded(BY_HAND, 0.5)).await;
    let words = "falls must not rise by more than 0.5 per case";
    assert_eq!((&view["guardrails"][0]["column"], &view["guardrails"][0]["words"]), (&"falls".into(), &words.into()));
    service.batch(&service.admin, OBSERVE, &with_falls(0..1500, (0.1, 0.1))).await;
    let review = reviewed(&service).await;
    assert_eq!(review["proposal"], 1, "{review}");
    let proposal = service.get(&service.admin, "/v1/policies/clinic/proposals/1").await.is(200);
    let said = proposal["evidence"]["case"]["guardrails"][0].as_str().expect("a sentence").to_owned();
    assert!(said.starts_with("The guard-rail holds: falls moves by "), "{said}");
    let service = service.restart();
    assert_eq!(service.finish().proposals, 1, "computed again, it is the same proposal");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_report_has_every_guardrail() {
    for control in [BY_HAND.to_owned(), format!("{BY_HAND}\ndelay = \"independent\"")] {
        let service = Service::new();
        let text = guarded(&control, 0.5);
        service.register(&text).await;
        let ask = |n: u64| json!({ "record": record(n) });
        let mut decisions = Vec::new();
        for n in 0..2 {
            let made = service.post(&service.admin, "/v1/policies/clinic/decisions", &ask(n)).await.is(200);
            decisions.push(made["decision"].clone());
        }
        let report = |guardrails: Json| json!({ "decision": decisions[0], "outcome": 0.5, "guardrails": guardrails });
        for (wrong, part) in [
            (json!({}), "the report has no falls"),
            (json!({ "falls": 2 }), "falls"),
            (json!({ "falls": 0, "burns": 1 }), "no guard-rail \"burns\""),
        ] {
            let refused = service.post(&service.admin, REPORT, &report(wrong)).await.is(422);
            assert_eq!(refused["field"], "guardrails", "{refused}");
            assert!(refused["detail"].as_str().unwrap().contains(part), "{refused}");
        }
        service.post(&service.admin, REPORT, &report(json!({ "falls": 1 }))).await.is(200);
        let again = service.post(&service.admin, REPORT, &report(json!({ "falls": 1 }))).await.is(200);
        assert_eq!(again["repeated"], true);
        service.post(&service.admin, REPORT, &report(json!({ "falls": 0 }))).await.is(409);
        let mut correction = report(json!({ "falls": 0.25 }));
        correction["correction"] = true.into();
        correction["reason"] = "A typing error.".into();
        service.post(&service.admin, REPORT, &correction).await.is(200);
        let second = json!({ "decision": decisions[1], "outcome": 0.25, "guardrails": { "falls": 0 } });
        service.post(&service.admin, REPORT, &second).await.is(200);
        service.batch(&service.admin, OBSERVE, &with_falls(5..6, (0.5, 0.5))).await;
        service.wait_until("clinic", |state| state.learned.outcomes() == 3).await;

        // The export has the corrected numbers, for a review of files.
        let file = service.get(&service.admin, "/v1/policies/clinic/export").await;
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("export.parquet");
        std::fs::write(&path, &file.body).expect("a file");
        let parsed = PolicyDocument::parse(&text, "clinic").expect("a document");
        let columns = Columns { option: parsed.option_column().to_owned(), ..Columns::of(&parsed) };
        let mut cases = Cases::open(&parsed, &columns, &[path], 0).expect("it opens");
        let (mut case, mut falls) = (LoggedCase::new(&parsed), Vec::new());
        while cases.next(&mut case).expect("a case") {
            falls.push(-case.guardrails[0]);
        }
        assert_eq!(falls, [0.25, 0.0, 0.5]);
        let service = service.restart();
        assert_eq!(service.finish().outcomes, 4);
    }
}
