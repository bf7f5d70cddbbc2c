//! `rarely grid`.

use crate::program::{Place, data};

/// A small grid runs to its end, is judged, resumes, and writes the same bytes for any number of threads.
#[test]
fn every_cell_is_run_and_judged() {
    let place = Place::new();
    let command = |threads: u32, out: &str| {
        format!("grid --runs 1 --rounds 60 --realisations 1 --seed 3 --threads {threads} --out {out}")
    };
    let first = data(&place.done(&command(2, "one")));
    for words in ["Certified", "thompson", "linucb per arm", "the best constant", "treat everyone"] {
        assert!(first.contains(words), "{words}: {first}");
    }
    place.done(&command(1, "two"));
    for file in ["grid.csv", "grid.json"] {
        assert_eq!(place.text(&format!("one/{file}")), place.text(&format!("two/{file}")), "{file}");
    }
    let rows = place.text("one/grid.csv").lines().count() - 1;
    // 64 places: two rules that are held, from two starts, and three that hold none; and six on the children.
    assert_eq!(rows, 64 * 2 * 5 + 6);
}
