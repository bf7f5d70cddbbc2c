//! The documents of the repository: what they link to and cite is there, and they stay readable as text.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The files below a folder of the repository whose name ends like this.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
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

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All Rust and Python code.
fn code() -> String {
    let crates = root().join("crates");
    files(&crates, ".rs").iter().chain(&files(&crates, ".py")).map(|path| read(path)).collect()
}

#[test]
fn links_lead_to_files() {
    for (path, text) in documents() {
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let target = link.split('#').next().unwrap_or_default();
            // Formulas have brackets too; a file's name has no blank and a dot or a slash.
            let is_file = target.is_ascii() && !target.contains(' ') && target.contains(['.', '/']);
            if is_file && !target.contains("://") {
                let file = path.parent().expect("a folder").join(target);
                assert!(file.exists(), "{}: {link} does not exist", path.display());
            }
        }
    }
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
