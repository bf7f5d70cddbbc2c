//! Erasing people over HTTP.

use rarely_live::Role;
use serde_json::json;

use crate::support::{BY_HAND, DAY_MS, START_MS, Service, document, observations};

const PATH: &str = "/v1/erasures";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_erased_person_is_nowhere_and_the_log_still_verifies() {
    let service = Service::new();
    service.register(&document("clinic", BY_HAND)).await;
    service.batch(&service.admin, "/v1/policies/clinic/observations", &observations(0..40)).await;
    let decisions = "/v1/policies/clinic/decisions";
    let ask = json!({ "record": { "age": 61.625, "smoker": "yes" }, "subject": "patient 4711", "key": "visit 1" });
    let made = service.post(&service.admin, decisions, &ask).await.is(200);
    assert_eq!(service.post(&service.admin, decisions, &ask).await.is(200), made, "a repeated request");
    let outcome = json!({ "decision": made["decision"], "outcome": 0.40625 });
    service.post(&service.admin, "/v1/policies/clinic/outcomes", &outcome).await.is(200);
    let one = format!("{decisions}/{}", made["decision"]);
    let known = service.get(&service.admin, &one).await.is(200);
    assert_eq!((&known["record"]["age"], &known["outcome"]), (&json!(61.625), &json!(0.40625)), "{known}");
    let listed = service.get(&service.admin, "/v1/policies/clinic/events").await;
    let opened = listed.lines().into_iter().find(|line| line["number"] == made["decision"]).unwrap();
    assert_eq!(opened["opened"]["key"], "visit 1", "{opened}");
    assert!(opened["body"]["record"].is_null() && opened["body"]["sealed"].is_string(), "{opened}");
    let export = service.get(&service.admin, "/v1/policies/clinic/export").await.body.len();

    let reader = service.token("reader", &[Role::Read, Role::Review], None);
    let erase = json!({ "subjects": ["patient 4711"], "reason": "asked for it" });
    service.post(&reader, PATH, &erase).await.is(403);
    service.post(&service.admin, PATH, &json!({ "subjects": ["nobody"], "reason": "why" })).await.is(404);
    service.post(&service.admin, PATH, &json!({ "subjects": ["patient 4711"], "reason": " " })).await.is(422);
    service.post(&service.admin, PATH, &json!({ "subjects": [""], "reason": "why" })).await.is(422);
    let erased = service.post(&service.admin, PATH, &erase).await.is(200);
    assert_eq!((&erased["decisions"], &erased["outcomes"]), (&json!(1), &json!(1)), "{erased}");

    let gone = service.get(&service.admin, &one).await.is(200);
    assert!(gone["erased"].is_string() && gone["outcome"].is_null() && gone["explanation"].is_null(), "{gone}");
    assert_eq!(gone["record"], json!({}));
    let text = service.get(&service.admin, "/v1/policies/clinic/events").await.text();
    for word in ["61.625", "0.40625", "visit 1", "patient 4711"] {
        assert!(!text.contains(word), "{word} is among the events");
    }
    assert!(text.contains("\"erased\":\"") && text.contains("person erased"), "{text}");
    let after = service.get(&service.admin, "/v1/policies/clinic/export").await.body.len();
    assert!(after < export, "the export has {after} bytes, and had {export}");
    service.post(&service.admin, "/v1/policies/clinic/outcomes", &outcome).await.is(410);
    let instead = json!({ "option": "wait", "reason": "why" });
    service.post(&service.admin, &format!("{one}/override"), &instead).await.is(410);
    service.post(&service.admin, PATH, &erase).await.is(404);
    service.post(&service.admin, decisions, &ask).await.is(200);
    let service = service.restart();
    service.get(&service.admin, &one).await.is(200);
    let summary = service.finish();
    assert_eq!((summary.erased.people, summary.erased.decisions, summary.decisions), (1, 1, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn flags_and_observations_name_people_too() {
    let service = Service::new();
    service.register(&document("clinic", BY_HAND)).await;
    let flag = json!({ "context": { "targetingKey": "p1", "age": 50, "smoker": "no" } });
    service.post(&service.admin, "/ofrep/v1/evaluate/flags/clinic", &flag).await.is(200);
    let case = json!({ "record": { "age": 44.5, "smoker": "no" }, "option": "wait", "outcome": 0.5, "key": "case 9", "subject": "p1" });
    let observed = service.post(&service.admin, "/v1/policies/clinic/observations", &case).await.is(200);
    let again = service.post(&service.admin, "/v1/policies/clinic/observations", &case).await.is(200);
    assert_eq!((&again["event"], &again["repeated"]), (&observed["event"], &json!(true)));
    let erase = json!({ "subjects": ["p1"], "reason": "asked for it", "statistics": "forget" });
    let erased = service.post(&service.admin, PATH, &erase).await.is(200);
    assert_eq!((&erased["decisions"], &erased["outcomes"]), (&json!(1), &json!(1)), "{erased}");
    assert_eq!(service.finish().erased.people, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn guardrails_history_and_named_versions_are_erased_too() {
    // Sums have the lowest and the highest outcome, which are those of others if the sums stay.
    for (statistics, others) in [("keep", [0.125, 0.875]), ("forget", [0.25, 0.25])] {
        let service = Service::new();
        let guarded =
            "[[guardrails]]\noutcome = { column = \"falls\", range = [0, 1] }\nworse = \"higher\"\nmargin = 0.5\n";
        service.register(&format!("{}{guarded}", document("clinic", BY_HAND))).await;
        let mut past = observations(0..40);
        for (n, one) in (1_u64..).zip(&mut past) {
            one["time"] = rarely_output::utc(START_MS - DAY_MS + 1000 * n).into();
            one["guardrails"] = json!({ "falls": others[usize::from(n / 2 % 2 == 0)] });
        }
        past[20]["record"] = json!({ "age": 61.625, "smoker": "yes" });
        past[20]["guardrails"] = json!({ "falls": 0.328_125 });
        past[20]["key"] = "case 9".into();
        past[20]["subject"] = "patient 4711".into();
        let lines = service.batch(&service.admin, "/v1/policies/clinic/history", &past).await;
        assert!(lines.iter().all(|line| line["repeated"] == false), "{lines:?}");
        let again = service.post(&service.admin, "/v1/policies/clinic/history", &past[20]).await.is(200);
        assert_eq!(again["repeated"], true, "{again}");
        let ask = json!({ "record": { "age": 62.625, "smoker": "yes" }, "subject": "patient 4711", "key": "visit 1", "version": 1 });
        let decisions = "/v1/policies/clinic/decisions";
        let made = service.post(&service.admin, decisions, &ask).await.is(200);
        assert_eq!(service.post(&service.admin, decisions, &ask).await.is(200), made, "a repeated request");
        for (falls, correction) in [(0.453_125, false), (0.578_125, true)] {
            let mut report = json!({ "decision": made["decision"], "outcome": 0.5, "guardrails": { "falls": falls } });
            if correction {
                report["correction"] = true.into();
                report["reason"] = "misread by a nurse".into();
            }
            service.post(&service.admin, "/v1/policies/clinic/outcomes", &report).await.is(200);
        }
        let erase = json!({ "subjects": ["patient 4711"], "reason": "asked for it", "statistics": statistics });
        let erased = service.post(&service.admin, PATH, &erase).await.is(200);
        assert_eq!((&erased["decisions"], &erased["outcomes"]), (&json!(1), &json!(3)), "{erased}");
        let text = service.get(&service.admin, "/v1/policies/clinic/events").await.text();
        for word in
            ["61.625", "62.625", "0.328125", "0.453125", "0.578125", "case 9", "visit 1", "patient 4711", "nurse"]
        {
            assert!(!text.contains(word), "{word} is among the events");
        }
        let view = service.get(&service.admin, "/v1/policies/clinic").await.is(200);
        assert_eq!(view["history"]["decisions"], 40, "{view}");
        let evidence = service.get(&service.admin, "/v1/policies/clinic/evidence").await.is(200);
        let service = service.restart();
        assert_eq!(service.get(&service.admin, "/v1/policies/clinic").await.is(200), view);
        assert_eq!(service.get(&service.admin, "/v1/policies/clinic/evidence").await.is(200), evidence);
        let summary = service.finish();
        assert_eq!((summary.erased.people, summary.erased.decisions), (1, 1));
    }
}
