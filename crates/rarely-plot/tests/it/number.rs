//! Values as text.

use rarely_plot::value_text;

#[test]
fn values_have_three_digits() {
    let check = |value: f64, expected: &str| assert_eq!(value_text(value), expected);
    check(0.0, "0");
    check(2.3, "2.3");
    check(9.999, "10");
    check(0.099_96, "0.1");
    check(-0.5, "−0.5");
    check(1234.0, "1,234");
    check(1e-9, "10⁻⁹");
    check(2.5e7, "2.5×10⁷");
    check(f64::NAN, "–");
}
