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
