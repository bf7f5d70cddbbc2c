//! A file from the browser, written to a temporary file as it comes; memory does not grow with it.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use axum::body::Body;
use futures_util::StreamExt as _;

use crate::multipart::FilePart;
use crate::problem::Problem;

/// The longest name of a file, in bytes.
const LONGEST_NAME: usize = 200;
const NO_ROOM: &str =
    "free some space in the folder of temporary files, or type the path of the file instead of uploading it";
const AGAIN: &str = "send the file again, or type its path";

/// Where a body goes.
struct Target {
    path: PathBuf,
    file: File,
    /// Whether it came whole.
    is_whole: bool,
}

impl Target {
    fn create(folder: &Path, name: &str) -> Result<Self, Problem> {
        let path = folder.join(safe_name(name));
        // The last file is not needed any more.
        drop(fs::remove_dir_all(folder));
        let file = fs::create_dir_all(folder).and_then(|()| File::create_new(&path));
        let file = file.map_err(|error| Problem::system("the temporary file cannot be created", &error, NO_ROOM))?;
        Ok(Self { path, file, is_whole: false })
    }

    // The desk has one person: a write that blocks keeps nobody waiting.
    fn write(&mut self, bytes: &[u8]) -> Result<(), Problem> {
        self.file.write_all(bytes).map_err(|error| unwritable(&error))
    }

    fn finish(mut self) -> Result<PathBuf, Problem> {
        self.file.flush().map_err(|error| unwritable(&error))?;
        self.is_whole = true;
        Ok(self.path.clone())
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        if !self.is_whole {
            drop(fs::remove_file(&self.path));
        }
    }
}

fn unwritable(error: &io::Error) -> Problem {
    Problem::system("the temporary file cannot be written", error, NO_ROOM)
}

/// Receives a body that is the file.
pub(crate) async fn receive(folder: &Path, name: &str, body: Body) -> Result<PathBuf, Problem> {
    let mut target = Target::create(folder, name)?;
    let mut stream = body.into_data_stream();
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(|error| Problem::system("the file did not arrive whole", &error, AGAIN))?;
        target.write(&chunk)?;
    }
    target.finish()
}

/// Receives the form of a browser without JavaScript: the file, as a part of the body. Returns its name, too.
pub(crate) async fn receive_form(folder: &Path, kind: &str, body: Body) -> Result<(PathBuf, String), Problem> {
    let incomplete = || Problem::new("no file arrived", "choose a file and send it again, or type its path");
    let mut part = FilePart::of(kind).ok_or_else(incomplete)?;
    let mut stream = body.into_data_stream();
    let mut target: Option<(Target, String)> = None;
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(|error| Problem::system("the file did not arrive whole", &error, AGAIN))?;
        let content = part.push(&chunk);
        if target.is_none()
            && let Some(name) = part.file_name()
        {
            target = Some((Target::create(folder, name)?, name.to_owned()));
        }
        if let Some((target, _)) = &mut target {
            target.write(&content)?;
        }
    }
    match target {
        Some((target, name)) if part.is_complete() => Ok((target.finish()?, safe_name(&name))),
        _ => Err(incomplete()),
    }
}

/// The name of a file without folders, control characters and what is too long; its ending stays, for it tells the format.
pub(crate) fn safe_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let shown: String = last.chars().filter(|letter| !letter.is_control()).collect();
    let mut safe = shown.trim().trim_start_matches('.').to_owned();
    while safe.len() > LONGEST_NAME {
        safe.remove(0);
    }
    if safe.is_empty() { "log.csv".to_owned() } else { safe }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_the_name_of_a_file_in_the_folder() {
        for (name, safe) in [
            ("log.csv", "log.csv"),
            ("../../etc/passwd", "passwd"),
            ("C:\\Users\\me\\Größe 1.xlsx", "Größe 1.xlsx"),
            ("..", "log.csv"),
            ("", "log.csv"),
            ("a\0b\n.csv", "ab.csv"),
        ] {
            assert_eq!(safe_name(name), safe);
        }
        let long = safe_name(&format!("{}.csv", "ä".repeat(400)));
        assert!(long.len() <= LONGEST_NAME && long.rsplit('.').next() == Some("csv"), "{long}");
    }
}
