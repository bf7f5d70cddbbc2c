//! Files that only their owner may read and write.

use std::fs::OpenOptions;
use std::path::Path;

/// Options whose new files have mode 600. Files that exist keep theirs.
pub(crate) fn options() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "as on Unix"))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Creates an empty file for a program that would choose another mode. Whoever opens the file reports what is wrong with its path.
pub(crate) fn prepare(path: &Path) {
    drop(options().write(true).create_new(true).open(path));
}
