//! Means, standard errors and intervals.

use rarely_lab::{Estimate, Interval95};

#[test]
fn a_mean_and_its_standard_error() {
    let estimate = Estimate::of(&[1.0, 2.0, 3.0, 4.0]);
    assert_eq!(estimate.mean, 2.5);
    assert!((estimate.standard_error - (5.0_f64 / 3.0 / 4.0).sqrt()).abs() < 1e-15);
    assert_eq!(Estimate::of(&[7.0]).standard_error, 0.0);
    // Student's t with 3 degrees of freedom: 3.18245 (any table).
    let interval = estimate.interval(4);
    assert!((interval.high - 2.5 - 3.182_446 * estimate.standard_error).abs() < 1e-5);
}

/// Wilson's interval of 8 of 10 is 49.0 to 94.3 % (Wilson 1927; any table); clusters that agree widen it.
#[test]
fn a_share_and_its_interval() {
    let share = Interval95::share(&[(8, 10)]).expect("trials");
    assert!((share.low - 49.02).abs() < 0.01 && (share.high - 94.33).abs() < 0.01, "{share:?}");
    let clustered = Interval95::share(&[(10, 10), (10, 10), (10, 10), (0, 10), (10, 10)]).expect("trials");
    assert!(clustered.low < 45.0 && clustered.high > 93.0, "{clustered:?}");
    assert_eq!(Interval95::share(&[(0, 0)]), None);
    let certain = Interval95::share(&[(5, 5), (5, 5)]).expect("trials");
    assert!(certain.high == 100.0 && certain.low > 70.0, "{certain:?}");
}
