//! The documents of the repository: what they link to and cite is there, and they stay readable as text.

use std::fs;
use std::path::{Path, PathBuf};

use rarely_error::Topic;

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The files below a folder of the repository whose name ends like this.
pub(crate) fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if path.is_dir() && name != "target" && (name == ".github" || !name.starts_with('.')) {
            found.extend(files(&path, ending));
        } else if name.ends_with(ending) {
            found.push(path);
        }
    }
    found
}

fn documents() -> Vec<(PathBuf, String)> {
    let found: Vec<_> = files(&root(), ".md").into_iter().map(|path| (path.clone(), read(&path))).collect();
    assert!(found.len() >= 10, "{} documents", found.len());
    found
}

pub(crate) fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All Rust and Python code.
fn code() -> String {
    let crates = root().join("crates");
    files(&crates, ".rs").iter().chain(&files(&crates, ".py")).map(|path| read(path)).collect()
}

/// The names by which one links to the headings of a page, as repository browsers and mdBook make them.
fn anchors(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut quoted = false;
    for line in text.lines() {
        quoted ^= line.starts_with("```");
        let heading = line.trim_start_matches('#');
        if !quoted && heading.len() < line.len() && heading.starts_with(' ') {
            let words = heading.trim().to_lowercase().replace(' ', "-");
            let name: String = words.chars().filter(|mark| mark.is_alphanumeric() || "-_".contains(*mark)).collect();
            let same = found.iter().filter(|known| **known == name).count();
            found.push(if same == 0 { name } else { format!("{name}-{same}") });
        }
    }
    found
}

#[test]
fn links_lead_to_files_and_their_sections() {
    let mut sections = 0;
    for (path, text) in documents() {
        // Links of both kinds: [words](target) and [name]: target.
        let named = text.lines().filter(|line| line.starts_with('[')).filter_map(|line| line.split_once("]: "));
        let plain = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for link in plain.chain(named.map(|(_, target)| target)) {
            let (target, section) = link.split_once('#').unwrap_or((link, ""));
            // Formulas have brackets too; a file's name has no blank and a dot or a slash.
            let is_file = target.is_ascii() && !target.contains(' ') && target.contains(['.', '/']);
            if target.contains("://") || !(is_file || target.is_empty() && !section.is_empty()) {
                continue;
            }
            let file = if target.is_empty() { path.clone() } else { path.parent().expect("a folder").join(target) };
            assert!(file.exists(), "{}: {link} does not exist", path.display());
            if !section.is_empty() && file.extension().is_some_and(|ending| ending == "md") {
                assert!(anchors(&read(&file)).contains(&section.to_owned()), "{}: no section {link}", path.display());
                sections += 1;
            }
        }
    }
    assert!(sections > 0, "no link leads to a section");
}

/// Errors name pages of the book; each is there, and some error names it.
#[test]
fn pages_that_errors_name_are_in_the_book() {
    let summary = read(&root().join("docs/SUMMARY.md"));
    let sources: String = files(&root().join("crates"), ".rs")
        .iter()
        .filter(|path| path.components().any(|part| part.as_os_str() == "src") && !path.ends_with("topic.rs"))
        .map(|path| read(path))
        .collect();
    for topic in Topic::ALL {
        let (file, section) = topic.page().split_once('#').unwrap_or((topic.page(), ""));
        let page = read(&root().join(file));
        assert!(section.is_empty() || anchors(&page).contains(&section.to_owned()), "no section {}", topic.page());
        let in_the_book = file.strip_prefix("docs/").expect("a page of the book");
        assert!(summary.contains(&format!("]({in_the_book})")), "{file} is not in the book");
        assert!(sources.contains(&format!("Topic::{topic:?}")), "no error names {topic:?}");
        assert!("see: ".len() + topic.page().len() <= 80, "{} is long", topic.page());
    }
    let names: std::collections::BTreeSet<_> = Topic::ALL.map(Topic::name).into();
    assert_eq!(names.len(), Topic::ALL.len(), "a name stands for one topic");
}

#[test]
fn a_heading_has_the_name_that_browsers_give_it() {
    let text = "# One & two\n## 5. Is a `boundary` plausible?\n```sh\n# no heading\n```\n## One & two\n";
    assert_eq!(anchors(text), ["one--two", "5-is-a-boundary-plausible", "one--two-1"]);
}

#[test]
fn tables_are_whole() {
    for (path, text) in documents() {
        let lines: Vec<&str> = text.lines().collect();
        for (at, window) in lines.windows(4).enumerate() {
            if let [before, "", row, after] = window {
                let continues = before.starts_with('|') && row.starts_with('|') && !after.starts_with("|-");
                assert!(!continues, "{}:{}: an empty line breaks a table", path.display(), at + 2);
            }
        }
    }
}

/// Tables and quoted output may be wider.
#[test]
fn lines_of_the_readme_fit_120_columns() {
    let readme = read(&root().join("README.md"));
    let mut quoted = false;
    for (at, line) in readme.lines().enumerate() {
        if line.starts_with("```") {
            quoted = line == "```text";
        }
        let columns = line.chars().count();
        assert!(quoted || line.starts_with('|') || columns <= 120, "README.md:{}: {columns} columns", at + 1);
    }
}

#[test]
fn sections_that_the_code_cites_exist() {
    let specification = read(&root().join("docs/mathematics.md"));
    let code = code();
    let mut cited = 0;
    // "docs/mathematics.md §8", and in the core "mathematics §8".
    for rest in code.split("mathematics.md §").skip(1).chain(code.split("mathematics §").skip(1)) {
        let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
        if !number.is_empty() {
            assert!(specification.contains(&format!("\n## {number}. ")), "there is no section {number}");
            cited += 1;
        }
    }
    assert!(cited > 0, "no comment cites a section");
}

#[test]
fn tests_that_the_specification_names_exist() {
    let specification = read(&root().join("docs/mathematics.md"));
    let code = code();
    let words = specification.split('`').skip(1).step_by(2);
    let names: Vec<&str> = words.filter(|word| word.matches('_').count() >= 3 && is_name(word)).collect();
    assert!(names.len() >= 5, "{names:?}");
    for name in names {
        assert!(code.contains(&format!("fn {name}()")), "no test is called {name}");
    }
}

fn is_name(word: &str) -> bool {
    word.chars().all(|letter| letter == '_' || letter.is_ascii_lowercase())
}

/// A file that names a folder of somebody's machine works on that machine only.
#[test]
fn no_file_names_a_folder_of_one_machine() {
    let crates = root().join("crates");
    let sources = [".rs", ".py", ".toml", ".snap"].into_iter().flat_map(|ending| files(&crates, ending));
    for path in sources.chain(documents().into_iter().map(|(path, _)| path)) {
        let text = read(&path);
        for folder in [concat!("/ro", "ot/"), concat!("/ho", "me/"), concat!("/wo", "rk/")] {
            assert!(!text.contains(folder), "{} names {folder}", path.display());
        }
    }
}
