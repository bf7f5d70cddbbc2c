//! The worked examples: their logs are what the generator draws, and what the README and the book show of them is what they give.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use insta_cmd::get_cargo_bin;
use rarely_core::{Context, Rng, Settings};
use rarely_data::ExampleLog;

use crate::program::{Place, talk};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn logs_are_what_the_generator_draws() {
    for (name, example) in [("clinical", ExampleLog::Clinical), ("pricing", ExampleLog::Pricing)] {
        assert!(read(&format!("examples/{name}/log.csv")) == example.csv(), "{name}: draw it again");
    }
}

/// Every command that the README shows with its output gives this output, as far as it is shown.
#[test]
fn the_readme_shows_what_the_examples_give() {
    let readme = read("README.md");
    let mut shown = 0;
    for block in readme.split("```text\n$ rarely ").skip(1) {
        let (arguments, rest) = block.split_once('\n').expect("a command and its output");
        let expected = rest.split("```").next().expect("an end").trim_end().trim_end_matches('…').trim_end();
        let output = Command::new(get_cargo_bin("rarely"))
            .args(arguments.split_whitespace())
            .current_dir(root())
            .env("NO_COLOR", "1")
            .output()
            .expect("it starts");
        let given = String::from_utf8(output.stdout).expect("text");
        assert!(given.starts_with(expected), "{arguments}\nshown:\n{expected}\ngiven:\n{given}");
        assert_eq!(output.status.code(), Some(1), "the example asks for a change");
        shown += 1;
    }
    assert_eq!(shown, 1);
}

/// The table of algorithms in the book has the first columns of what `rarely simulate` prints.
#[test]
fn the_book_shows_what_a_simulation_gives() {
    let page = read("docs/reference/lab.md");
    let shown: Vec<Vec<&str>> = block_with(&page, "regret per step").lines().map(cells).collect();
    let names: Vec<&str> = shown[1..].iter().map(|row| row[0]).collect();
    let output = Command::new(get_cargo_bin("rarely"))
        .args(["simulate", "--algorithms", &names.join(",")])
        .env("COLUMNS", "300")
        .output()
        .expect("it starts");
    let given = String::from_utf8(output.stdout).expect("text");
    let table = given.lines().skip_while(|line| !line.trim_start().starts_with("algorithm"));
    let given: Vec<Vec<&str>> = table.take_while(|line| !line.is_empty()).map(cells).collect();
    assert_eq!(shown.len(), given.len());
    for (shown, given) in shown.iter().zip(&given) {
        assert_eq!(shown[..], given[..shown.len()]);
    }
}

/// The program in the book is the first example of the core's documentation, which the documentation tests run; this is what it
/// prints.
#[test]
fn the_book_shows_what_its_program_prints() -> Result<(), Box<dyn std::error::Error>> {
    let (page, library) = (read("docs/start/engineer.md"), read("crates/rarely-core/src/lib.rs"));
    let (_, program) = page.split_once("```rust\n").expect("a program");
    for line in program.split("```").next().expect("an end").lines() {
        let code = line.split("   //").next().unwrap_or_default().trim();
        assert!(library.lines().any(|line| line.trim_start_matches("//!").trim() == code), "{code}");
    }

    let mut printed = String::new();
    let mut policy = Settings::new(2, 2)?.noise(0.1)?.build()?;
    let mut rng = Rng::new(1, 0);
    for _ in 0..1000 {
        let patient = [1.0, rng.uniform()];
        let context = Context::new(&patient)?;
        let decision = policy.decide(context, &mut rng)?;
        let treated = decision.arm.index() == 1;
        let outcome = if treated { patient[1] } else { 0.4 } + 0.1 * rng.normal();
        if let Some(evidence) = policy.observe(context, &decision, outcome)?.evidence() {
            printed += &evidence.to_string();
        }
    }
    let shown = block_with(&page, "change 1 after").lines().collect::<Vec<_>>().join(" ");
    assert_eq!(shown, printed.replace("between -", "between −"));
    Ok(())
}

/// The quoted output that has these words.
fn block_with<'a>(text: &'a str, words: &str) -> &'a str {
    let blocks = text.split("```text\n").skip(1).filter_map(|rest| rest.split("```").next());
    blocks.into_iter().find(|block| block.contains(words)).unwrap_or_else(|| panic!("no output with {words:?}"))
}

/// Cells of a table are at least two blanks apart.
fn cells(row: &str) -> Vec<&str> {
    row.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect()
}

/// The pictures that the README and the book show are those that the review draws.
#[test]
fn the_pictures_are_what_the_examples_give() {
    for (name, picture) in [("clinical", "decision-boundary"), ("pricing", "score-distribution")] {
        let out = tempfile::tempdir().expect("a folder");
        let status = Command::new(get_cargo_bin("rarely"))
            .args([
                "review",
                "--policy",
                &format!("examples/{name}/policy.toml"),
                "--data",
                &format!("examples/{name}/log.csv"),
            ])
            .arg("--out")
            .arg(out.path())
            .current_dir(root())
            .output()
            .expect("it starts")
            .status;
        assert_eq!(status.code(), Some(1));
        let drawn = fs::read_to_string(out.path().join(format!("figures/{picture}.svg"))).expect("a picture");
        assert!(drawn == read(&format!("examples/{name}/{picture}.svg")), "{name}: copy the picture again");
        let page = fs::read_to_string(out.path().join("review.html")).expect("a page");
        assert!(
            !page.contains("http://") || page.matches("http://").count() == page.matches("http://www.w3.org/").count()
        );
        assert!(!page.contains("https://") && !page.contains("src="), "the page needs nothing from elsewhere");
    }
}

/// The pictures of the page "What plausible means".
#[test]
fn the_book_shows_what_few_cases_give() {
    let log = read("examples/clinical/log.csv");
    for rows in [200, 1000] {
        let place = Place::new();
        place.write("log.csv", log.lines().take(rows + 1).collect::<Vec<_>>().join("\n"));
        fs::copy(root().join("examples/clinical/policy.toml"), place.path("policy.toml")).expect("a copy");
        let output = place.rarely("review --policy policy.toml --data log.csv --out out").output().expect("it starts");
        assert_eq!(output.status.code(), Some(1), "{}", talk(&output));
        let drawn = place.text("out/figures/decision-boundary.svg");
        let name = format!("docs/understand/pictures/plausible-{rows}.svg");
        assert!(drawn == read(&name), "{name}: copy the picture again");
    }
}

/// The picture of the page "Why Theorem 1 fails".
#[test]
fn the_book_shows_what_stuck_algorithms_give() {
    let place = Place::new();
    let _ = place.done("simulate --algorithms rarely,linucb,greedy,rs-greedy --rounds 2000 --runs 20 --out out");
    let name = "docs/understand/pictures/theorem-1.svg";
    // What made it, and with which version, is not a part of the picture.
    let drawn = place.text("out/figure.svg");
    let (before, rest) = drawn.split_once("\n<metadata>").expect("what made it");
    let (_, after) = rest.split_once("</metadata>").expect("its end");
    assert!(format!("{before}{after}") == read(name), "{name}: copy the picture again, without its metadata");
}
