//! The folders are the architecture: which crate may use which is a table, and every manifest is read against it.

use std::fs;
use std::path::{Path, PathBuf};

/// Crate, and the crates of ours that it may use. ARCHITECTURE.md explains each arrow.
const ARROWS: [(&str, &[&str]); 12] = [
    ("rarely-core", &[]),
    ("rarely-policy", &["rarely-core"]),
    ("rarely-data", &["rarely-core", "rarely-policy"]),
    ("rarely-lab", &["rarely-core", "rarely-data"]),
    ("rarely-review", &["rarely-core", "rarely-policy", "rarely-lab"]),
    ("rarely-figures", &["rarely-core", "rarely-lab", "rarely-policy", "rarely-review"]),
    ("rarely-store", &[]),
    ("rarely-live", &["rarely-core", "rarely-policy", "rarely-review", "rarely-store"]),
    (
        "rarely-server",
        &[
            "rarely-core",
            "rarely-policy",
            "rarely-review",
            "rarely-store",
            "rarely-live",
            "rarely-figures",
            "rarely-data",
        ],
    ),
    (
        "rarely",
        &[
            "rarely-core",
            "rarely-policy",
            "rarely-data",
            "rarely-lab",
            "rarely-review",
            "rarely-figures",
            "rarely-store",
            "rarely-live",
            "rarely-server",
        ],
    ),
    (
        "rarely-python",
        &["rarely-core", "rarely-policy", "rarely-data", "rarely-lab", "rarely-review", "rarely-figures"],
    ),
    ("rarely-bench", &["rarely-core", "rarely-policy", "rarely-data", "rarely-review"]),
];

fn crates() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut crates: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the crates folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.join("Cargo.toml").is_file())
        .collect();
    crates.sort();
    crates
}

#[test]
fn every_arrow_is_in_the_table() {
    assert!(crates().len() >= 3);
    for path in crates() {
        let text = fs::read_to_string(path.join("Cargo.toml")).expect("a manifest");
        let manifest: toml::Table = text.parse().expect("TOML");
        let name = manifest["package"]["name"].as_str().expect("a name");
        assert_eq!(path.file_name().and_then(|folder| folder.to_str()), Some(name), "folder name = crate name");
        let (_, allowed) =
            ARROWS.iter().find(|(known, _)| *known == name).unwrap_or_else(|| panic!("{name} is not in the table"));
        let used = manifest.get("dependencies").and_then(toml::Value::as_table).into_iter().flatten();
        for (dependency, _) in used.filter(|(dependency, _)| dependency.starts_with("rarely")) {
            assert!(allowed.contains(&dependency.as_str()), "{name} may not use {dependency}: see ARCHITECTURE.md");
        }
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

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries
        .flat_map(|path| if path.is_dir() { rust_files(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}
