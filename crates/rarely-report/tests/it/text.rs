//! The text of a review on a terminal.

use rarely_core::{Arm, Rng};
use rarely_policy::PolicyDocument;
use rarely_report::{ReviewSources, page, text};
use rarely_review::{EvidenceBase, Findings, Tally, review};

/// The findings about a policy with so many options, of which the last is the best.
fn findings(options: usize) -> Findings {
    let names: Vec<String> = (0..options).map(|at| format!("\"plan {at}\"")).collect();
    let scores = names.iter().enumerate().map(|(at, name)| format!("{name} = {{ intercept = {} }}", u8::from(at == 0)));
    let scores: Vec<String> = scores.collect();
    let document = format!(
        "policy = \"plans\"\noptions = [{}]\noutcome = {{ column = \"margin\", range = [0, 2] }}\n\
         [[features]]\ncolumn = \"usage\"\nrange = [0, 100]\n[rule]\nlinear = {{ {} }}\n",
        names.join(", "),
        scores.join(", ")
    );
    let document = PolicyDocument::parse(&document, "plans.toml").expect("a document");
    let (mut tally, mut rng) = (Tally::new(&document), Rng::new(2, 0));
    for row in 0..4000 {
        let (x, arm) = (rng.uniform(), rng.below(options));
        let mean = 0.5 + arm as f64 / options as f64 * x;
        tally.add(row, &[1.0, x], Arm::new(arm), mean + 0.1 * rng.normal());
    }
    let base = EvidenceBase::of(&document, &tally, None).expect("it fits");
    Findings::new(&document, &review(&base, &tally).expect("it runs"))
}

#[test]
fn with_many_options_the_text_is_a_summary_and_the_page_has_everything() {
    let many = findings(8);
    let said = text(&many, None);
    assert!(said.contains("This is a summary, because there are many options."), "{said}");
    // 28 pairs of options and the sentence about all of them.
    assert!(said.contains("  … and 24 more"), "{said}");
    let longest = said.split("\n\n").map(|section| section.lines().count()).max();
    assert!(longest <= Some(21), "five rules of four lines each are the most: {said}");
    let page = page(&many, &[], &ReviewSources::default());
    for boundary in &many.standing.boundaries {
        assert!(!said.contains("plan 6 and plan 7") && page.contains(&boundary.sentence), "{}", boundary.sentence);
    }
    let few = text(&findings(3), None);
    assert!(!few.contains("summary") && !few.contains(" more\n"), "{few}");
}

/// A rule with a cut at 140, of which the data say that it belongs further left.
fn threshold(in_force: f64) -> Findings {
    let document = format!(
        "policy = \"dose\"\noptions = [\"watch\", \"treat\"]\noutcome = {{ column = \"health\", range = [0, 2] }}\n\
         [[features]]\ncolumn = \"pressure\"\nrange = [100, 200]\n[rule]\n\
         threshold = {{ feature = \"pressure\", cuts = [{in_force}], options = [\"watch\", \"treat\"] }}\n"
    );
    let document = PolicyDocument::parse(&document, "dose.toml").expect("a document");
    let (mut tally, mut rng) = (Tally::new(&document), Rng::new(3, 0));
    for row in 0..6000 {
        let (x, arm) = (rng.uniform(), rng.below(2));
        let mean = if arm == 1 { 0.5 + x } else { 0.7 };
        tally.add(row, &[1.0, x], Arm::new(arm), mean + 0.1 * rng.normal());
    }
    let base = EvidenceBase::of(&document, &tally, None).expect("it fits");
    Findings::new(&document, &review(&base, &tally).expect("it runs"))
}

#[test]
fn a_terminal_shows_the_cut_beside_those_that_the_data_allow() {
    let findings = threshold(140.0);
    let said = text(&findings, Some(80));
    let line = said.lines().find(|line| line.starts_with("  watch / treat  -")).expect("a line of the picture");
    // The lines cross at 120.
    let (allowed, in_force) = (line.rfind('=').expect("allowed cuts"), line.find('|').expect("the cut in force"));
    assert!(allowed < in_force, "{said}");
    assert!(said.lines().all(|line| !line.contains("----") || line.chars().count() <= 80), "{said}");
    assert!(said.contains("| the cut in force   = cuts that the data allow"), "{said}");
    // In a pipe, and where there is no room, there is no picture.
    for width in [None, Some(24)] {
        assert!(!text(&findings, width).contains("the cut in force   ="), "{width:?}");
    }
}

#[test]
fn a_cut_that_the_data_allow_lies_among_the_allowed_ones() {
    let said = text(&threshold(120.0), Some(100));
    let line = said.lines().find(|line| line.starts_with("  watch / treat  -")).expect("a line of the picture");
    let signs: String = line.chars().filter(|sign| "=|".contains(*sign)).collect();
    assert!(signs.trim_matches('=') == "|" || signs == "|", "{said}");
}
