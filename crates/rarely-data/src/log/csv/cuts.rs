//! Where a line is cut into fields.

/// Where the fields of a line start and end.
#[derive(Default)]
pub(super) struct Cuts {
    /// Where each field starts and, after the last, where another one would. What stands behind that is left from other lines.
    starts: Vec<u32>,
    fields: usize,
}

const LOW: u64 = u64::from_ne_bytes([0x7f; 8]);
const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);

impl Cuts {
    /// Cuts a line at its separators. True if it is nothing but ASCII.
    #[inline]
    pub(super) fn cut(&mut self, line: &[u8], separator: u8) -> bool {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        loop {
            let (mut separators, is_ascii) = mark(line, separator, &mut self.starts[1..]);
            if !is_ascii {
                separators = mark_anything(line, separator, &mut self.starts[1..]);
            }
            if let Some(last) = self.starts.get_mut(separators + 1) {
                *last = start_after(line.len());
                self.fields = separators + 1;
                return is_ascii;
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

/// Marks what follows the separators of a line, as far as there is room, eight bytes at a time. Gives their number and whether
/// the line is ASCII; if it is not, the number means nothing.
#[inline]
fn mark(line: &[u8], separator: u8, starts: &mut [u32]) -> (usize, bool) {
    let wanted = u64::from_ne_bytes([separator; 8]);
    let (words, tail) = line.as_chunks::<8>();
    let (mut found, mut at, mut seen) = (0, 0, 0);
    for bytes in words {
        let word = u64::from_le_bytes(*bytes);
        seen |= word;
        // A byte of the difference is zero where a separator is; adding sets the high bit of every other byte.
        let mut separators = !((word ^ wanted).wrapping_add(LOW)) & HIGH;
        while separators != 0 {
            if let Some(start) = starts.get_mut(found) {
                *start = start_after(at + separators.trailing_zeros() as usize / 8);
            }
            found += 1;
            separators &= separators - 1;
        }
        at += 8;
    }
    for &byte in tail {
        seen |= u64::from(byte);
        if byte == separator {
            if let Some(start) = starts.get_mut(found) {
                *start = start_after(at);
            }
            found += 1;
        }
        at += 1;
    }
    (found, seen & HIGH == 0)
}

/// The same for a line of any bytes, one at a time.
fn mark_anything(line: &[u8], separator: u8, starts: &mut [u32]) -> usize {
    let mut found = 0;
    for (at, _) in line.iter().enumerate().filter(|&(_, &byte)| byte == separator) {
        if let Some(start) = starts.get_mut(found) {
            *start = start_after(at);
        }
        found += 1;
    }
    found
}
