//! The book is true: its shell blocks run, one after another on each page, and print what the page shows.
//!
//! A page's `sh` blocks run in one shell, in a folder that has a copy of `examples/`, with this build of the program. If the next
//! block of the page is a `text` block, it is what the commands print, on both streams; `…` stands for anything, and on a line by itself
//! for any number of lines. A block that cannot run in a test has `<!-- not run: the reason -->` on the line before it. The service
//! listens on a free port, whatever the page says, and ends with the page. `<!-- needs: Python with duckdb -->` names what a page needs.

use std::fmt::Write as _;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use insta_cmd::get_cargo_bin;

use crate::documents::{files, read, root};
use crate::shard_examples::python_with;

/// Whoever adds a block that does not run raises this number, and says so.
const NOT_RUN: usize = 10;

/// A fenced block of a page.
#[derive(Debug)]
struct Block {
    line: usize,
    language: String,
    text: String,
    not_run: Option<String>,
}

fn blocks(page: &str) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let (mut open, mut before) = (false, "");
    for (at, line) in page.lines().enumerate() {
        if let Some(language) = line.strip_prefix("```") {
            if !open {
                let not_run = before.strip_prefix("<!-- not run: ").and_then(|rest| rest.strip_suffix(" -->"));
                let not_run = not_run.map(ToOwned::to_owned);
                found.push(Block { line: at + 1, language: language.to_owned(), text: String::new(), not_run });
            }
            open = !open;
        } else if open {
            let block = found.last_mut().expect("an open block");
            block.text += line;
            block.text += "\n";
        }
        before = line;
    }
    assert!(!open, "a block is not closed");
    found
}

/// The pages of a part of the book that have shell blocks.
fn pages(part: &str) -> Vec<PathBuf> {
    let mut found = files(&root().join("docs").join(part), ".md");
    found.retain(|path| blocks(&read(path)).iter().any(|block| block.language == "sh"));
    found.sort();
    found
}

/// A line with `…` for anything.
fn line_agrees(shown: &str, printed: &str) -> bool {
    let Some((start, rest)) = shown.split_once('…') else { return shown == printed };
    let Some(printed) = printed.strip_prefix(start) else { return false };
    let ends = printed.char_indices().map(|(at, _)| at).chain([printed.len()]);
    ends.into_iter().any(|at| line_agrees(rest, &printed[at..]))
}

fn agrees(shown: &[&str], printed: &[&str]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((&"…", rest)) => (0..=printed.len()).any(|skipped| agrees(rest, &printed[skipped..])),
        Some((line, rest)) => {
            printed.split_first().is_some_and(|(first, others)| line_agrees(line, first) && agrees(rest, others))
        }
    }
}

fn lines(text: &str) -> Vec<&str> {
    let mut found: Vec<&str> = text.lines().map(str::trim_end).collect();
    while found.last().is_some_and(|line| line.is_empty()) {
        found.pop();
    }
    found
}

/// What each block printed. A command that could not run (exit code 2 or more; 1 is the answer "no") leaves a line `@failed`.
fn printed(script: &str, place: &Path, python: Option<&Path>) -> Vec<String> {
    fs::write(place.join("page.sh"), script).expect("a file");
    let programs = place.join("programs");
    fs::create_dir(&programs).expect("a folder");
    std::os::unix::fs::symlink(get_cargo_bin("rarely"), programs.join("rarely")).expect("a link");
    if let Some(python) = python {
        // Not a link: a virtual environment is found by the place of its interpreter.
        let text = format!("#!/bin/sh\nexec '{}' \"$@\"\n", python.display());
        fs::write(programs.join("python3"), text).expect("a file");
        succeeds(Command::new("chmod").arg("+x").arg(programs.join("python3")));
    }
    let port = TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a port").port();
    let address = format!("127.0.0.1:{port}");
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap_or_default());
    let output = Command::new("timeout")
        .args(["600", "bash", "../page.sh"])
        .current_dir(place.join("try"))
        .env("PATH", path)
        .env("SERVICE", &address)
        .env("RARELY_LISTEN", &address)
        .env("RARELY_HEALTH_URL", format!("http://{address}"))
        .env("NO_COLOR", "1")
        .env("COLUMNS", "100")
        .env_remove("RARELY_TOKEN")
        .stdin(Stdio::null())
        .output()
        .expect("bash");
    let text = String::from_utf8(output.stdout).expect("text").replace(&address, "127.0.0.1:8080");
    text.split("@end\n").map(ToOwned::to_owned).collect()
}

fn succeeds(command: &mut Command) {
    assert!(command.status().expect("it starts").success(), "{command:?}");
}

/// Runs a page; says what it shows wrongly.
fn run(path: &Path) -> Result<(), String> {
    let page = read(path);
    let blocks = blocks(&page);
    let needed = page.split("<!-- needs: Python with ").nth(1).and_then(|rest| rest.split(" -->").next());
    let python = match needed.map(python_with) {
        Some(None) => return Ok(()),
        Some(found) => found,
        None => None,
    };
    let place = tempfile::tempdir().expect("a folder");
    fs::create_dir(place.path().join("try")).expect("a folder");
    succeeds(Command::new("cp").arg("-r").arg(root().join("examples")).arg(place.path().join("try")));

    let mut script = String::from(
        "exec 2>&1\n\
         trap 'status=$?; [ $status -lt 2 ] || echo \"@failed $status: $BASH_COMMAND\"' ERR\n\
         trap 'for job in $(jobs -p); do kill $job; done; wait' EXIT\n",
    );
    let run: Vec<usize> =
        (0..blocks.len()).filter(|at| blocks[*at].language == "sh" && blocks[*at].not_run.is_none()).collect();
    for at in &run {
        let commands = blocks[*at].text.replace("127.0.0.1:8080", "$SERVICE");
        let _ = writeln!(script, "{commands}\necho @end");
    }
    let printed = printed(&script, place.path(), python.as_deref());
    let mut wrong = String::new();
    for (number, at) in run.iter().enumerate() {
        let Some(given) = printed.get(number).filter(|_| printed.len() > number + 1) else {
            let _ = writeln!(wrong, "{}:{}: the shell ended here: {printed:?}", path.display(), blocks[*at].line);
            break;
        };
        let shown = blocks.get(at + 1).filter(|next| next.language == "text").map(|next| next.text.as_str());
        let is_an_error = shown.is_some_and(|text| text.contains("error:"));
        let given: Vec<&str> = lines(given);
        let failed = given.iter().any(|line| line.starts_with("@failed"));
        let given: Vec<&str> = given.into_iter().filter(|line| !is_an_error || !line.starts_with("@failed")).collect();
        if failed != is_an_error || shown.is_some_and(|shown| !agrees(&lines(shown), &given)) {
            let _ =
                writeln!(wrong, "{}:{}: the block prints\n{}\n", path.display(), blocks[*at].line, given.join("\n"));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

/// Runs the pages of a part, side by side.
fn run_part(part: &str) {
    let pages = pages(part);
    assert!(!pages.is_empty(), "docs/{part} has no page with commands");
    let results: Vec<Result<(), String>> = std::thread::scope(|scope| {
        let running: Vec<_> = pages.iter().map(|page| scope.spawn(|| run(page))).collect();
        running.into_iter().map(|page| page.join().expect("no panic")).collect()
    });
    let wrong: Vec<String> = results.into_iter().filter_map(Result::err).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_first_five_minutes() {
    run_part("start");
}

#[test]
fn the_tutorials() {
    run_part("tutorials");
}

#[test]
fn the_explanations() {
    run_part("understand");
}

#[test]
fn the_operation() {
    run_part("operate");
}

#[test]
fn few_blocks_are_not_run() {
    let mut reasons = Vec::new();
    for part in ["start", "tutorials", "understand", "operate"] {
        for path in files(&root().join("docs").join(part), ".md") {
            for block in blocks(&read(&path)) {
                let is_known =
                    ["sh", "text", "toml", "python", "r", "rust", "json", "sql", "yaml"].contains(&&*block.language);
                assert!(is_known, "{}:{}: a block of {:?}", path.display(), block.line, block.language);
                reasons.extend(block.not_run.map(|reason| format!("{}:{}: {reason}", path.display(), block.line)));
            }
        }
    }
    assert_eq!(reasons.len(), NOT_RUN, "{reasons:#?}");
}

#[test]
fn a_block_agrees_with_what_it_shows() {
    assert!(agrees(&["a", "…", "d"], &["a", "b", "c", "d"]) && agrees(&["a", "…"], &["a"]));
    assert!(agrees(&["it took … s, 3 rows"], &["it took 0.2 s, 3 rows"]));
    assert!(!agrees(&["a", "…", "d"], &["a", "b"]) && !agrees(&["a"], &["a", "b"]) && !agrees(&["…x"], &["y"]));
    let found = blocks("<!-- not run: no network -->\n```sh\nls\n```\n\n```text\nx\n```\n");
    assert_eq!((found[0].not_run.as_deref(), found[0].text.as_str()), (Some("no network"), "ls\n"));
    assert_eq!((found[1].language.as_str(), found[1].not_run.is_none(), found[1].line), ("text", true, 6));
}
