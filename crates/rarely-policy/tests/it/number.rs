//! Numbers as text: read as the standard library reads them, and back.

use proptest::prelude::*;
use rarely_policy::number;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn any_text_is_a_number_just_if_the_standard_library_says_so(text in "[-+0-9.eE_ infNa]{0,8}") {
        let long = text.trim().parse::<f64>().ok().filter(|value| value.is_finite());
        prop_assert_eq!(number::read(&text).map(f64::to_bits), long.map(f64::to_bits));
    }

    #[test]
    fn numbers_survive_being_written(value in any::<f64>().prop_filter("finite", |value| value.is_finite())) {
        let text = format!("{value} ");
        prop_assert_eq!(number::read(&text).map(f64::to_bits), Some(value.to_bits()));
        prop_assert_eq!(number::read(&format!("{value:e}")).map(f64::to_bits), Some(value.to_bits()));
    }
}
