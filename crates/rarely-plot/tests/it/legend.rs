//! The legend below a figure.

use rarely_plot::Legend;
use rarely_plot::conformance::words;

use crate::gallery;

#[test]
fn each_name_is_once_in_the_legend_below() {
    let (_, grid) = gallery().into_iter().find(|(name, _)| *name == "grid").unwrap();
    assert_eq!(grid.legend, Legend::Below);
    let (words, _) = words(&grid.svg());
    assert_eq!(words.iter().filter(|words| words.text == "rs-conservative").count(), 1);
}
