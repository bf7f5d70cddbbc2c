//! The worked examples: their logs are what the generator draws, and what the README shows of them is what they give.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use insta_cmd::get_cargo_bin;
use rarely_data::ExampleLog;

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
        assert_eq!(output.status.code(), Some(1), "both examples ask for a change");
        shown += 1;
    }
    assert_eq!(shown, 2);
}

/// The pictures that the README shows are those that the review draws.
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
