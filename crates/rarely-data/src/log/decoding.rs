//! Text files that are not UTF-8, decoded as they are read.

use std::fs::File;
use std::io::{self, ErrorKind, Read};

use encoding_rs::{Decoder, DecoderResult, UTF_16BE, UTF_16LE, WINDOWS_1252};
use rarely_policy::TextEncoding;

/// Bytes read of the file at a time.
const BLOCK: usize = 1 << 16;
/// Bytes that Windows-1252 does not use.
const UNUSED: [u8; 5] = [0x81, 0x8d, 0x8f, 0x90, 0x9d];

/// Decodes a file into UTF-8.
pub(super) struct Decoding {
    decoder: Decoder,
    /// Bytes of the file that are not decoded yet.
    raw: Vec<u8>,
    at_end: bool,
    /// Whether everything is decoded.
    has_finished: bool,
}

/// Why no more text can be had.
pub(super) enum DecodingError {
    Io(io::Error),
    /// Bytes that are no text in this encoding.
    Malformed,
}

impl Decoding {
    /// Begins with bytes that were read already. `None` of UTF-8, which needs no decoding.
    pub(super) fn new(encoding: TextEncoding, start: &[u8]) -> Option<Self> {
        let decoder = match encoding {
            TextEncoding::Utf8 => return None,
            TextEncoding::Utf16Le => UTF_16LE.new_decoder_with_bom_removal(),
            TextEncoding::Utf16Be => UTF_16BE.new_decoder_with_bom_removal(),
            TextEncoding::Windows1252 => WINDOWS_1252.new_decoder_without_bom_handling(),
        };
        Some(Self { decoder, raw: start.to_vec(), at_end: false, has_finished: false })
    }

    /// Fills a part of the buffer with text; 0 at the end of the file.
    pub(super) fn read(&mut self, file: &mut File, into: &mut [u8]) -> Result<usize, DecodingError> {
        while !self.has_finished {
            if self.raw.is_empty() && !self.at_end {
                self.raw.resize(BLOCK, 0);
                let read = read(file, &mut self.raw).map_err(DecodingError::Io)?;
                self.raw.truncate(read);
                self.at_end = read == 0;
            }
            let (result, taken, written) =
                self.decoder.decode_to_utf8_without_replacement(&self.raw, into, self.at_end);
            self.raw.drain(..taken);
            match result {
                DecoderResult::Malformed(..) => return Err(DecodingError::Malformed),
                DecoderResult::InputEmpty => self.has_finished = self.at_end,
                DecoderResult::OutputFull => {}
            }
            if written > 0 {
                return Ok(written);
            }
        }
        Ok(0)
    }
}

/// Reads some bytes of a file.
pub(super) fn read(file: &mut File, into: &mut [u8]) -> io::Result<usize> {
    loop {
        match file.read(into) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

/// The encoding that the beginning of a file has.
///
/// A file that is not UTF-8 is Windows-1252, unless it has characters of several bytes as UTF-8 writes them: then it is UTF-8 with a damaged
/// place, which is an error where it is met.
pub(super) fn encoding_of(start: &[u8]) -> TextEncoding {
    match start {
        [0xff, 0xfe, ..] => return TextEncoding::Utf16Le,
        [0xfe, 0xff, ..] => return TextEncoding::Utf16Be,
        _ => {}
    }
    // Most characters of a table are ASCII, of which UTF-16 writes every second byte as 0.
    let zeros = |from: usize| start.iter().skip(from).step_by(2).filter(|&&byte| byte == 0).count();
    let (even, odd, half) = (zeros(0), zeros(1), start.len() / 2);
    if start.len() >= 4 && 2 * odd > half && even == 0 {
        return TextEncoding::Utf16Le;
    }
    if start.len() >= 4 && 2 * even > half && odd == 0 {
        return TextEncoding::Utf16Be;
    }
    let mut chunks = start.utf8_chunks().peekable();
    let (mut has_long, mut is_damaged) = (false, false);
    while let Some(chunk) = chunks.next() {
        has_long |= !chunk.valid().is_ascii();
        // The last character may be cut.
        let is_cut = chunks.peek().is_none() && chunk.invalid().len() < 4 && start.ends_with(chunk.invalid());
        let may_go_on = is_cut && is_beginning(chunk.invalid());
        is_damaged |= !chunk.invalid().is_empty() && !may_go_on;
    }
    let can_be_latin = !start.iter().any(|byte| UNUSED.contains(byte));
    if is_damaged && !has_long && can_be_latin { TextEncoding::Windows1252 } else { TextEncoding::Utf8 }
}

/// Whether bytes are the beginning of a character of UTF-8.
fn is_beginning(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}
