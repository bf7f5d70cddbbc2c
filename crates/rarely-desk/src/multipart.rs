//! The first part of a `multipart/form-data` body that is a file, chunk by chunk (RFC 7578).

/// The longest header of a part.
const LONGEST_HEADER: usize = 16 * 1024;

/// The first part that has a file name; what comes before and after it is skipped.
pub(crate) struct FilePart {
    /// `\r\n--` and the boundary.
    delimiter: Vec<u8>,
    pending: Vec<u8>,
    state: PartState,
}

#[derive(PartialEq, Eq)]
enum PartState {
    /// Between parts, or in one that is no file.
    Searching,
    /// In the file of this name.
    Inside(String),
    /// Behind it.
    Behind(String),
    /// This is no such body.
    Broken,
}

impl FilePart {
    /// For a body of this content type; `None` if it has no parts.
    pub(crate) fn of(content_type: &str) -> Option<Self> {
        let (kind, parameters) = content_type.split_once(';')?;
        if !kind.trim().eq_ignore_ascii_case("multipart/form-data") {
            return None;
        }
        let boundary = parameters.split(';').find_map(|parameter| {
            let (name, value) = parameter.split_once('=')?;
            name.trim().eq_ignore_ascii_case("boundary").then(|| value.trim().trim_matches('"').to_owned())
        })?;
        let delimiter = format!("\r\n--{boundary}").into_bytes();
        // The first boundary has no line before it.
        (!boundary.is_empty()).then(|| Self { delimiter, pending: b"\r\n".to_vec(), state: PartState::Searching })
    }

    /// The file's name, once it is known.
    pub(crate) fn file_name(&self) -> Option<&str> {
        match &self.state {
            PartState::Inside(name) | PartState::Behind(name) => Some(name),
            PartState::Searching | PartState::Broken => None,
        }
    }

    /// Whether the end of the file was seen.
    pub(crate) fn is_complete(&self) -> bool {
        matches!(self.state, PartState::Behind(_))
    }

    /// Takes a chunk of the body and returns what it has of the file.
    pub(crate) fn push(&mut self, chunk: &[u8]) -> Vec<u8> {
        self.pending.extend_from_slice(chunk);
        while self.state == PartState::Searching && self.enter_part() {}
        match &self.state {
            PartState::Inside(name) => match find(&self.pending, &self.delimiter) {
                Some(end) => {
                    let content = self.pending[..end].to_vec();
                    self.state = PartState::Behind(name.clone());
                    self.pending.clear();
                    content
                }
                // The delimiter may have begun.
                None => self.pending.drain(..self.pending.len().saturating_sub(self.delimiter.len())).collect(),
            },
            PartState::Searching => Vec::new(),
            PartState::Behind(_) | PartState::Broken => {
                self.pending.clear();
                Vec::new()
            }
        }
    }

    /// Looks for the header of the next part; whether there may be another behind it.
    fn enter_part(&mut self) -> bool {
        let Some(start) = find(&self.pending, &self.delimiter) else {
            let keep = self.delimiter.len();
            self.pending.drain(..self.pending.len().saturating_sub(keep));
            return false;
        };
        let header_start = start + self.delimiter.len();
        let Some(length) = find(&self.pending[header_start..], b"\r\n\r\n") else {
            if self.pending.len() - header_start > LONGEST_HEADER {
                self.state = PartState::Broken;
            }
            return false;
        };
        let header = String::from_utf8_lossy(&self.pending[header_start..header_start + length]).into_owned();
        // The delimiter of the next part begins with the line end before it.
        self.pending.drain(..header_start + length + 4);
        if let Some(name) = file_name(&header) {
            self.state = PartState::Inside(name);
        }
        true
    }
}

/// The file name in the header of a part, if it has one that is not empty.
fn file_name(header: &str) -> Option<String> {
    let disposition = header.lines().find(|line| line.to_ascii_lowercase().starts_with("content-disposition:"))?;
    let (_, rest) = disposition.split_once("filename=\"")?;
    // Browsers write a quotation mark in a name as %22.
    let name = rest.split('"').next()?.replace("%22", "\"");
    (!name.is_empty()).then_some(name)
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = "--xyz\r\nContent-Disposition: form-data; name=\"sheet\"\r\n\r\nfirst\r\n--xyz\r\n\
        Content-Disposition: form-data; name=\"file\"; filename=\"my log.csv\"\r\nContent-Type: text/csv\r\n\r\n\
        a,b\r\n1,2\r\n--xy\r\n\r\n--xyz--\r\n";

    #[test]
    fn the_file_is_found_wherever_the_body_is_cut() {
        for size in 1..BODY.len() {
            let mut part = FilePart::of("multipart/form-data; boundary=xyz").expect("a boundary");
            let content: Vec<u8> = BODY.as_bytes().chunks(size).flat_map(|chunk| part.push(chunk)).collect();
            assert_eq!(String::from_utf8_lossy(&content), "a,b\r\n1,2\r\n--xy\r\n", "chunks of {size}");
            assert_eq!((part.file_name(), part.is_complete()), (Some("my log.csv"), true));
        }
    }

    #[test]
    fn a_body_that_ends_early_is_not_complete() {
        let mut part = FilePart::of("multipart/form-data; boundary=\"xyz\"").expect("a boundary");
        part.push(&BODY.as_bytes()[..BODY.len() - 12]);
        assert!(!part.is_complete());
        assert!(FilePart::of("application/x-www-form-urlencoded").is_none());
        assert!(FilePart::of("multipart/form-data; boundary=").is_none());
    }
}
