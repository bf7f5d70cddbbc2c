//! The look of each algorithm.

use rarely_core::Algorithm;
use rarely_lab::report::style_of;
use rarely_plot::Style;

#[test]
fn no_two_algorithms_look_the_same() {
    let styles: Vec<Style> = Algorithm::TABLE.iter().map(|row| style_of(row.name)).collect();
    for (at, one) in styles.iter().enumerate() {
        for other in &styles[at + 1..] {
            assert!((one.colour, one.dash) != (other.colour, other.dash), "{one:?}");
        }
    }
    let widest = styles.iter().fold(0.0_f64, |most, style| most.max(style.width));
    assert_eq!(style_of("rarely").width, widest);
}
