//! The directories are the architecture: which crate may use which is the table in ARCHITECTURE.md, and every manifest is checked
//! against it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The crates of ours that a crate uses: in its library or program, and besides only in its tests, examples and benchmarks.
#[derive(Debug, Default, PartialEq, Eq)]
struct Arrows {
    uses: BTreeSet<String>,
    in_tests: BTreeSet<String>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The table whose header begins with `| crate |`.
fn table() -> BTreeMap<String, Arrows> {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let rows = text.lines().skip_while(|line| !line.starts_with("| crate |")).skip(2);
    let listed = |cell: &str| match cell {
        "–" => BTreeSet::new(),
        list => list.split(", ").map(|short| format!("rarely-{short}")).collect(),
    };
    rows.take_while(|line| line.starts_with('|'))
        .map(|row| {
            let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
            assert_eq!(cells.len(), 4, "crate, job, uses, in tests: {row}");
            (cells[0].trim_matches('`').to_owned(), Arrows { uses: listed(cells[2]), in_tests: listed(cells[3]) })
        })
        .collect()
}

/// What the manifests say.
fn manifests() -> BTreeMap<String, Arrows> {
    let crates = fs::read_dir(root().join("crates")).expect("the crates directory");
    let crates = crates.map(|entry| entry.expect("an entry").path()).filter(|path| path.join("Cargo.toml").is_file());
    crates
        .map(|path| {
            let text = fs::read_to_string(path.join("Cargo.toml")).expect("a manifest");
            let manifest: toml::Table = text.parse().expect("TOML");
            let name = manifest["package"]["name"].as_str().expect("a name");
            assert_eq!(path.file_name().and_then(|file| file.to_str()), Some(name), "directory name = crate name");
            let ours = |section: &str| -> BTreeSet<String> {
                let names = manifest.get(section).and_then(toml::Value::as_table).into_iter().flatten();
                names.map(|(name, _)| name.clone()).filter(|name| name.starts_with("rarely")).collect()
            };
            let uses = &ours("dependencies") | &ours("build-dependencies");
            let in_tests = &ours("dev-dependencies") - &uses;
            (name.to_owned(), Arrows { uses, in_tests })
        })
        .collect()
}

#[test]
fn the_table_is_what_the_manifests_say() {
    let (table, manifests) = (table(), manifests());
    assert!(table.len() >= 12, "the table was found");
    let names = |crates: &BTreeMap<String, Arrows>| crates.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&table), names(&manifests), "each crate has a row in ARCHITECTURE.md, and each row a crate");
    for (name, found) in &manifests {
        assert_eq!(found, &table[name], "left: the manifest of {name}; right: its row in ARCHITECTURE.md");
    }
}

/// A dependency that no source file names is an arrow nobody uses.
#[test]
fn every_arrow_is_used() {
    for (name, arrows) in manifests() {
        let directory = root().join("crates").join(&name);
        let text = |parts: &[&str]| -> String {
            let directories = parts.iter().map(|part| directory.join(part)).filter(|path| path.is_dir());
            let files = directories.flat_map(|path| rust_files(&path));
            files.map(|file| fs::read_to_string(file).expect("a source file")).collect()
        };
        let (sources, tests) = (text(&["src"]), text(&["src", "tests", "examples", "benches"]));
        for (used, texts) in [(&arrows.uses, &sources), (&arrows.in_tests, &tests)] {
            for dependency in used {
                let module = format!("{}::", dependency.replace('-', "_"));
                assert!(texts.contains(&module), "{name} depends on {dependency} and never uses it");
            }
        }
    }
}

/// Whoever embeds the live engine compiles no simulator and no file format.
#[test]
fn the_live_engine_needs_no_laboratory() {
    let manifests = manifests();
    let mut reached = BTreeSet::from(["rarely-live".to_owned()]);
    loop {
        let next: BTreeSet<String> = reached.iter().flat_map(|name| manifests[name].uses.iter().cloned()).collect();
        let all = &reached | &next;
        if all == reached {
            break;
        }
        reached = all;
    }
    for absent in ["rarely-lab", "rarely-data", "rarely-output", "rarely-plot", "rarely-server"] {
        assert!(!reached.contains(absent), "rarely-live reaches {absent}");
    }
}

/// The core's public signatures name no type of a foreign library: nothing of them is re-exported, and the only places that
/// mention one are private fields, imports and error derives.
#[test]
fn the_core_exposes_no_foreign_type() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../rarely-core/src");
    let foreign = ["rand_chacha", "rand_distr", "sha2", "libm"];
    for path in rust_files(&source) {
        let text = fs::read_to_string(&path).expect("a source file");
        for line in text.lines().filter(|line| line.trim_start().starts_with("pub ")) {
            let named = foreign.iter().find(|name| line.contains(&format!("{name}::")));
            assert!(named.is_none(), "{}: {line}", path.display());
            assert!(
                !line.contains("ChaCha8Rng") || line.contains("pub struct Rng(ChaCha8Rng)"),
                "{}: {line}",
                path.display()
            );
        }
    }
}

/// The core reads no clock, prints nothing and starts no thread.
#[test]
fn the_core_has_no_side_effects() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../rarely-core/src");
    for path in rust_files(&source) {
        let text = fs::read_to_string(&path).expect("a source file");
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        for line in code {
            for absent in ["std::time", "std::thread", "std::fs", "std::net", "println!", "eprintln!", "SystemTime"] {
                assert!(!line.contains(absent), "{}: {line}", path.display());
            }
        }
    }
}

/// Private types that may have the name of a public one.
const PRIVATE: [&str; 1] = ["Tally"];

/// A public name means one thing in the workspace, and no private type repeats it.
#[test]
fn a_public_name_means_one_thing() {
    let mut places: BTreeMap<String, Vec<(bool, PathBuf)>> = BTreeMap::new();
    for path in library_files() {
        for line in read(&path).lines() {
            if let Some((public, name)) = defined(line) {
                places.entry(name.to_owned()).or_default().push((public, path.clone()));
            }
        }
    }
    for (name, places) in places {
        let public = places.iter().filter(|(public, _)| *public).count();
        assert!(public <= 1, "{name} is public more than once: {places:?}");
        let others = if PRIVATE.contains(&name.as_str()) { 0 } else { places.len() - public };
        assert!(public == 0 || others == 0, "{name} is public in one place and private in another: {places:?}");
    }
}

/// Whether a line defines a public type or trait, and its name.
fn defined(line: &str) -> Option<(bool, &str)> {
    let mut words = line.split_whitespace();
    let mut word = words.next()?;
    let public = word == "pub";
    if word.starts_with("pub") {
        word = words.next()?;
    }
    let name = words.next().filter(|_| ["struct", "enum", "trait"].contains(&word))?;
    name.split(|letter: char| !letter.is_alphanumeric()).next().map(|name| (public, name))
}

/// Every error says what its reader can do about it, or that nothing can be done.
#[test]
fn every_error_explains_itself() {
    let sources: Vec<String> = library_files().iter().map(|path| read(path)).collect();
    let mut found = 0;
    for source in &sources {
        let derives = source.split("#[derive(").skip(1).filter_map(|rest| rest.split_once(")]"));
        for (derived, rest) in derives {
            if !derived.split(", ").any(|name| name == "Error" || name == "thiserror::Error") {
                continue;
            }
            let words = rest.split_whitespace().skip_while(|word| !["enum", "struct"].contains(word));
            let name: String = words.skip(1).take(1).flat_map(str::chars).take_while(|c| c.is_alphanumeric()).collect();
            let explained = format!("impl Explain for {name} ");
            assert!(sources.iter().any(|source| source.contains(&explained)), "{name} has no remedy");
            found += 1;
        }
    }
    assert!(found >= 30, "{found} errors");
}

/// The source files of all crates, without their tests and examples.
fn library_files() -> Vec<PathBuf> {
    manifests().keys().flat_map(|name| rust_files(&root().join("crates").join(name).join("src"))).collect()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn rust_files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry").path());
    entries
        .flat_map(|path| if path.is_dir() { rust_files(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}
