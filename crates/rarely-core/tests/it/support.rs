//! What several test modules need.

use std::path::Path;

/// A file of the shared folder beside the project, or beside `$RARELY_DATA`; `None` where neither is there.
pub(crate) fn shared_file(name: &str) -> Option<String> {
    let beside_project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(name);
    let beside_data = std::env::var_os("RARELY_DATA").map(|data| Path::new(&data).join("..").join(name));
    std::iter::once(beside_project).chain(beside_data).find_map(|path| std::fs::read_to_string(path).ok())
}
