//! Where the published IHDP files are. They are not part of the repository, and the tests of several crates use them if they
//! are there: each includes this file as a module.

use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The folder of the published files: `$RARELY_DATA/ihdp`, or `../shared/data/ihdp` beside the workspace.
///
/// If there is none, the test that asks is recorded as skipped: `scripts/test` prints the records at the end.
pub(crate) fn ihdp_files() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folders = std::env::var_os("RARELY_DATA").map(PathBuf::from).into_iter().chain([beside]);
    let found = folders.map(|folder| folder.join("ihdp")).find(|folder| folder.is_dir());
    if found.is_none() {
        record_skip("needs the published IHDP files; set RARELY_DATA to the folder that holds ihdp/");
    }
    found
}

/// Records that the test that asks is skipped, and why.
pub(crate) fn record_skip(reason: &str) {
    let thread = std::thread::current();
    let line = format!("{}, {}: {reason}\n", env!("CARGO_PKG_NAME"), thread.name().unwrap_or("a test"));
    eprint!("skipped: {line}");
    if let Some(path) = std::env::var_os("RARELY_SKIPPED") {
        let mut file =
            std::fs::OpenOptions::new().append(true).create(true).open(path).expect("the record of skipped tests");
        file.write_all(line.as_bytes()).expect("the record of skipped tests");
    }
}
