//! `rarely grid`.

use crate::program::{Place, data, without_command};

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

/// Some cells of the grid have the numbers that they have in the whole grid.
#[test]
fn cells_can_be_chosen() {
    let place = Place::new();
    let whole = data(&place.done("grid --runs 1 --rounds 60 --realisations 0 --seed 3 --format csv"));
    let chosen = "grid --runs 1 --rounds 60 --realisations 0 --seed 3 --arms 2,6 --dim 5 --noise 0.5,3";
    let some = without_command(&data(&place.done(&format!("{chosen} --format csv"))));
    let whole = without_command(&whole);
    assert_eq!(some.lines().count(), 1 + 4 * 2 * 5);
    for row in some.lines() {
        assert!(whole.lines().any(|other| other == row), "{row}");
    }
    place.done(&format!("{chosen} --out out"));
    assert!(place.text("out/report.html").contains("--arms 2,6 --dim 5 --noise 0.5,3"));
}
