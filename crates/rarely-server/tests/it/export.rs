//! The Parquet export.

use rarely_data::{Cases, Columns, LoggedCase};
use rarely_policy::PolicyDocument;
use serde_json::{Value as Json, json};

use crate::support::{BY_HAND, Service, document, observations, outcome, person, record};

/// `rarely-data` reads the export back, with the same numbers and with corrections applied.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_export_can_be_read_back() {
    let service = Service::new();
    let text = document("clinic", BY_HAND);
    service.register(&text).await;
    service.batch(&service.admin, "/v1/policies/clinic/observations", &observations(0..50)).await;
    let mut expected: Vec<(u64, String, f64)> = (0..50)
        .map(|n| {
            let option = if n % 2 == 0 { "wait" } else { "treat" };
            (n, option.to_owned(), outcome(n, person(n).0, option))
        })
        .collect();
    let asks: Vec<Json> = (100..150).map(|n| json!({ "record": record(n) })).collect();
    let given = service.batch(&service.admin, "/v1/policies/clinic/decisions", &asks).await;
    let mut reports = Vec::new();
    for (n, decision) in (100..150).zip(&given) {
        let option = decision["option"].as_str().unwrap();
        let outcome = outcome(n, person(n).0, option);
        reports.push(json!({ "decision": decision["decision"], "outcome": outcome }));
        expected.push((n, option.to_owned(), outcome));
    }
    service.batch(&service.admin, "/v1/policies/clinic/outcomes", &reports).await;
    let correction =
        json!({ "decision": given[3]["decision"], "outcome": -1.25, "correction": true, "reason": "typing error" });
    service.post(&service.admin, "/v1/policies/clinic/outcomes", &correction).await.is(200);
    expected[53].2 = -1.25;

    let file = service.get(&service.admin, "/v1/policies/clinic/export").await;
    assert_eq!((file.status.as_u16(), file.kind()), (200, "application/vnd.apache.parquet"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("export.parquet");
    std::fs::write(&path, &file.body).unwrap();
    let document = PolicyDocument::parse(&text, "clinic").unwrap();
    let columns = Columns {
        option: document.option_column().to_owned(),
        propensity: Some("propensity".to_owned()),
        time: Some("time".to_owned()),
        ..Columns::default()
    };
    let mut cases = Cases::open(&document, &columns, &[path], 0).expect("it opens");
    let mut case = LoggedCase::new(&document);
    for (n, option, outcome) in &expected {
        assert!(cases.next(&mut case).expect("a case"));
        let (age, smoker) = person(*n);
        assert_eq!(case.context, [1.0, age / 100.0, f64::from(smoker == "yes")]);
        assert_eq!((&document.options()[case.arm.index()], case.reward.to_bits()), (option, outcome.to_bits()));
        assert_eq!(case.propensity, Some(if *n < 50 { 0.5 } else { 1.0 }));
    }
    assert!(!cases.next(&mut case).unwrap());
    service.finish();
}
