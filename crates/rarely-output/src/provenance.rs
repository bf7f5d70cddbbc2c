//! What made a file, written into every file of results: one file alone says how to make it again.

use std::fmt;

use serde::Serialize;

/// The program's version, its command and the seed of every random number.
///
/// ```
/// use rarely_output::Provenance;
/// let made = Provenance { version: "0.1.0".into(), command: "rarely simulate --runs=3".into(), seed: 1 };
/// assert_eq!(made.to_string(), "rarely 0.1.0, seed 1: rarely simulate --runs=3");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Provenance {
    /// What its user wrote, without where to write and how many threads to use.
    pub command: String,
    /// Seed.
    pub seed: u64,
    /// Of this program.
    pub version: String,
}

impl Provenance {
    /// Name and value of each part.
    pub fn parts(&self) -> [(&'static str, String); 3] {
        [("version", self.version.clone()), ("seed", self.seed.to_string()), ("command", self.command.clone())]
    }
}

impl fmt::Display for Provenance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rarely {}, seed {}: {}", self.version, self.seed, self.command)
    }
}
