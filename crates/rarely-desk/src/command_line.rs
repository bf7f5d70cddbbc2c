//! The command lines that do what the page does.

use std::fmt::Write as _;

/// A command in the making.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommandLine(String);

impl CommandLine {
    /// A command of the program.
    pub(crate) fn new(words: &str) -> Self {
        Self(format!("rarely {words}"))
    }

    /// Adds a word.
    pub(crate) fn word(mut self, value: &str) -> Self {
        // Writing to a string cannot fail.
        let _ = write!(self.0, " {}", quoted(value));
        self
    }

    /// Adds an option with a value.
    pub(crate) fn option(mut self, name: &str, value: &str) -> Self {
        let _ = write!(self.0, " {name} {}", quoted(value));
        self
    }

    /// Adds an option, if there is a value.
    pub(crate) fn maybe(self, name: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.option(name, value),
            None => self,
        }
    }

    pub(crate) fn text(self) -> String {
        self.0
    }
}

/// A word as a shell takes it literally.
fn quoted(word: &str) -> String {
    let word = if word.starts_with('-') { format!("./{word}") } else { word.to_owned() };
    let is_plain = |letter: char| letter.is_alphanumeric() || "_./:=,+@%-".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) { word } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A shell is the judge.
    #[test]
    fn a_shell_reads_every_word_as_it_is() {
        for word in
            ["log.csv", "my log.csv", "it's", "$HOME", "a\"b", "`x`", "naïve;rm", "\\", "*", "~", "", "#x", "{a,b}"]
        {
            let line = CommandLine::new("review").option("--data", word).text();
            let line = line.replacen("rarely review --data", "printf '%s'", 1);
            let said = std::process::Command::new("sh").args(["-c", &line]).output().expect("a shell");
            assert_eq!(String::from_utf8_lossy(&said.stdout), word, "{line}");
        }
        assert_eq!(CommandLine::new("review").option("--data", "-x.csv").text(), "rarely review --data ./-x.csv");
    }
}
