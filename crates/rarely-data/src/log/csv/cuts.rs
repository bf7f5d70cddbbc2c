//! Where a line is cut into fields.

use wide::u8x16;

/// Bytes that are looked at together.
const BLOCK: usize = 64;

/// Where the fields of a line start and end.
#[derive(Default)]
pub(super) struct Cuts {
    /// The start of each field, and one past the end of the last. Entries after that are left over from longer lines.
    starts: Vec<u32>,
    fields: usize,
}

impl Cuts {
    /// Cuts the first line of a text, which has `length` bytes, at its separators. Returns whether it is known to be ASCII, or `None`
    /// if the text ends too soon after the line.
    #[inline(never)]
    pub(super) fn cut(&mut self, text: &[u8], length: usize, separator: u8) -> Option<bool> {
        let blocks = text.get(..length.next_multiple_of(BLOCK))?.as_chunks().0;
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        loop {
            let (separators, is_ascii) = mark(blocks, length, separator, &mut self.starts[1..]);
            if let Some(last) = self.starts.get_mut(separators + 1) {
                *last = start_after(length);
                self.fields = separators + 1;
                return Some(is_ascii);
            }
            // More fields than in any line before.
            self.starts.resize(separators + 2, 0);
        }
    }

    /// How many fields there are.
    #[inline]
    pub(super) fn fields(&self) -> usize {
        self.fields
    }

    /// Where a field starts and ends.
    #[inline]
    pub(super) fn bounds(&self, field: usize) -> (usize, usize) {
        let pair = &self.starts[field..field + 2];
        (pair[0] as usize, pair[1] as usize - 1)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the longest row has 2^24 bytes")]
#[inline]
fn start_after(at: usize) -> u32 {
    at as u32 + 1
}

/// Stores the position after each separator in the first `length` bytes, as far as there is room. Returns the number of separators,
/// and whether all bytes of the blocks are ASCII.
#[inline]
fn mark(blocks: &[[u8; BLOCK]], length: usize, separator: u8, starts: &mut [u32]) -> (usize, bool) {
    let wanted = u8x16::splat(separator);
    let mut seen = u8x16::ZERO;
    let (mut found, mut at) = (0, 0);
    for block in blocks {
        let mut separators = 0;
        for (part, bytes) in block.as_chunks().0.iter().enumerate() {
            let bytes = u8x16::new(*bytes);
            seen |= bytes;
            separators |= u64::from(bytes.simd_eq(wanted).to_bitmask()) << (16 * part);
        }
        if length - at < BLOCK {
            separators &= (1 << (length - at)) - 1;
        }
        while separators != 0 {
            if let Some(start) = starts.get_mut(found) {
                *start = start_after(at + separators.trailing_zeros() as usize);
            }
            found += 1;
            separators &= separators - 1;
        }
        at += BLOCK;
    }
    (found, seen.to_bitmask() == 0)
}
