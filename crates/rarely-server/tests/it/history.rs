//! Decisions from before the policy was run here.

use rarely_output::utc;
use serde_json::{Value as Json, json};

use crate::support::{BY_HAND, DAY_MS, START_MS, Service, document, observations};

const IMPORT: &str = "/v1/policies/clinic/history";

/// Past decisions, one a minute, with keys.
fn history(range: std::ops::Range<u64>) -> Vec<Json> {
    let first = START_MS - 100 * DAY_MS;
    let past = observations(range.clone()).into_iter().zip(range).map(|(mut past, n)| {
        past["time"] = utc(first + 60_000 * n).into();
        past["key"] = format!("case {n}").into();
        past
    });
    past.collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn history_is_evidence_in_the_order_of_its_times() {
    let service = Service::new();
    service.register(&document("clinic", BY_HAND)).await;
    let lines = service.batch(&service.admin, IMPORT, &history(0..350)).await;
    assert!(lines.iter().all(|line| line["repeated"] == false), "{lines:?}");
    // The rest of a file whose import was interrupted.
    let again = service.batch(&service.admin, IMPORT, &history(300..600)).await;
    assert_eq!(again.iter().filter(|line| line["repeated"] == true).count(), 50, "{again:?}");
    let view = service.get(&service.admin, "/v1/policies/clinic").await.is(200);
    let expected = json!({
        "decisions": 600, "not_learned": 0, "first": history(0..1)[0]["time"], "last": history(599..600)[0]["time"],
    });
    assert_eq!((&view["history"], &view["outcomes"], &view["decisions"]), (&expected, &600.into(), &0.into()));
    let reviewed = service.call(&service.admin, "POST", "/v1/policies/clinic/review", "", "").await.is(200);
    assert_eq!((&reviewed["verdict"], &reviewed["proposal"]), (&"change".into(), &1.into()), "{reviewed}");
    let events = service.get(&service.admin, "/v1/policies/clinic/events").await.lines();
    let first = events.iter().find(|event| event["kind"] == "observed").expect("an import");
    assert_eq!(first["body"]["elsewhere"]["time_ms"], START_MS - 100 * DAY_MS, "{first}");
    assert!(first["time_ms"].as_u64() >= Some(START_MS), "the log's own times go on");
    let service = service.restart();
    assert_eq!(service.get(&service.admin, "/v1/policies/clinic").await.is(200)["history"], expected);
    let summary = service.finish();
    assert_eq!((summary.outcomes, summary.proposals), (600, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn history_that_would_be_out_of_order_is_refused() {
    let service = Service::new();
    service.register(&document("clinic", BY_HAND)).await;
    let past = |n: u64| history(n..n + 1).remove(0);
    service.post(&service.admin, IMPORT, &past(10)).await.is(200);
    let earlier = service.post(&service.admin, IMPORT, &past(9)).await.is(409);
    assert_eq!(earlier["remedy"], "send the oldest decision first", "{earlier}");
    let lines = service.batch(&service.admin, IMPORT, &[past(12), past(11), past(13)]).await;
    assert_eq!((&lines[0]["repeated"], &lines[2]["repeated"]), (&false.into(), &false.into()), "{lines:?}");
    assert_eq!((&lines[1]["status"], &lines[1]["field"]), (&422.into(), &"time".into()), "{lines:?}");
    let mut other = past(13);
    other["outcome"] = 0.0.into();
    assert_eq!(service.post(&service.admin, IMPORT, &other).await.is(409)["field"], "key");
    for (field, value, status) in [
        ("time", json!(utc(START_MS + DAY_MS)), 422),
        ("time", json!("yesterday"), 422),
        ("time", json!("1969-12-31"), 422),
        ("time", json!(17), 422),
        ("option", json!("operate"), 422),
        ("outcome", json!(50), 422),
        ("propensity", json!(0), 422),
    ] {
        let mut wrong = past(20);
        wrong[field] = value;
        let refused = service.post(&service.admin, IMPORT, &wrong).await.is(status);
        assert_eq!(refused["field"], field, "{refused}");
    }
    let mut without = past(20);
    without.as_object_mut().expect("an object").remove("time");
    assert!(service.post(&service.admin, IMPORT, &without).await.is(422)["detail"].as_str().unwrap().contains("time"));

    let ask = json!({ "record": { "age": 50, "smoker": "no" } });
    service.post(&service.admin, "/v1/policies/clinic/decisions", &ask).await.is(200);
    service.caught_up().await;
    let late = service.post(&service.admin, IMPORT, &past(20)).await.is(409);
    assert_eq!(late["field"], "time", "{late}");
    let known = service.post(&service.admin, IMPORT, &past(13)).await.is(200);
    assert_eq!(known["repeated"], true, "what was imported before is known");
    service.finish();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_observation_of_today_ends_the_import() {
    let service = Service::new();
    service.register(&document("clinic", &format!("{BY_HAND}\ndelay = \"independent\""))).await;
    service.batch(&service.admin, IMPORT, &history(0..3)).await;
    service.batch(&service.admin, "/v1/policies/clinic/observations", &observations(3..4)).await;
    service.post(&service.admin, IMPORT, &history(5..6)[0]).await.is(409);
    let learned = service.app.engine.policy("clinic").expect("a policy").live.lock().state().learned.outcomes();
    assert_eq!(learned, 4);
    service.finish();
}
