//! Settings that start from learned statistics.

use rarely_core::Algorithm;

use crate::sample::{ThreeArmLog, three_arm_settings};

#[test]
fn statistics_of_another_make_are_refused() {
    let log = ThreeArmLog::draw(10, 3, 1);
    assert!(three_arm_settings(3).learned(log.statistics(0.01)).build().is_ok());
    assert!(three_arm_settings(3).learned(log.statistics(0.02)).build().is_err());
    assert!(three_arm_settings(4).learned(log.statistics(0.01)).build().is_err());
    assert!(three_arm_settings(3).algorithm(Algorithm::LinUcb).learned(log.statistics(0.01)).build().is_err());
}
