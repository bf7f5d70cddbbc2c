//! Errors as pages.

/// Errors that no request can provoke: the store fails, or the state in memory diverges from the log.
#[test]
fn an_error_has_one_status() {
    use std::sync::Arc;

    use rarely_live::Objection;
    use rarely_live::engine::ChangeError;
    use rarely_store::StoreError;

    use crate::dashboard::page_error::PageError;
    use crate::problem::ProblemDetails;

    let errors: [fn() -> ChangeError; 6] = [
        || Objection::NoProposal(9).into(),
        || Objection::NoVersion(9).into(),
        || ChangeError::NoToken("0123".to_owned()),
        || rarely_live::engine::EngineFault::ApplierEnded.into(),
        || ChangeError::Store(Arc::new(StoreError::Closed)),
        || rarely_review::ReviewError::Empty.into(),
    ];
    for error in errors {
        assert_eq!(ProblemDetails::from(error()).status(), PageError::from(error()).status(), "{}", error());
    }
    let problem = ProblemDetails::from(StoreError::Closed);
    assert_eq!(problem.status(), PageError::from(StoreError::Closed).status());
}
