//! The cache of the evidence.

use std::sync::Arc;

use rarely_live::RecordField;
use rarely_live::event::Signature;

use super::{TestService, blocking, policy_with_an_outcome};
use crate::dashboard::policy::evidence::EvidenceCache;

#[tokio::test(flavor = "multi_thread")]
async fn evidence_is_computed_once() {
    let service = TestService::new(false);
    let handle = policy_with_an_outcome(&service).await;
    let evidence = EvidenceCache::default();
    let (one, other) = tokio::join!(evidence.of(&service.engine, &handle), evidence.of(&service.engine, &handle));
    let (one, other) = (one.expect("evidence").expect("an outcome"), other.expect("evidence").expect("an outcome"));
    assert!(Arc::ptr_eq(&one, &other), "two readers at once");
    let record = vec![RecordField::Number(10.0)];
    let request = handle.edition().request_of(None, record).expect("in range");
    service.engine.decide(&handle, "ward", vec![request]).await.remove(0).expect("an answer");
    let again = evidence.of(&service.engine, &handle).await.expect("evidence").expect("an outcome");
    assert!(Arc::ptr_eq(&one, &again), "a decision says nothing of outcomes");
    let signature = Signature::by_token("m", "r");
    blocking(|| service.engine.stop_policy(&handle, "Ann", signature)).expect("stopped");
    let again = evidence.of(&service.engine, &handle).await.expect("evidence").expect("an outcome");
    assert!(Arc::ptr_eq(&one, &again), "the same rule is in force");
}
