//! Writes the page and the pictures of every drawn review into a directory: `cargo run -p rarely-report --example drawn_reviews DIRECTORY`.

mod cases;

use rarely_output::OutputDirectory;
use rarely_report::{ReviewSources, write};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::args().nth(1).ok_or("the directory is missing")?;
    for case in cases::cases() {
        let (base, found) = case.reviewed();
        let output = OutputDirectory::create(&std::path::Path::new(&directory).join(case.name))?;
        let sources = ReviewSources { command: "rarely review policy.toml log.csv".into(), ..ReviewSources::default() };
        write(&output, &base, &found, &sources)?;
    }
    Ok(())
}
