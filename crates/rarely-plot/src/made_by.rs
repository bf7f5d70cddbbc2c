//! What made a figure, in the metadata of its files: an SVG's `<metadata>`, a PNG's comment, a PDF's keywords.

use crate::figure::Figure;
use crate::png::FigureError;
use crate::text::xml_text;

/// Bytes of a PNG's signature and of its first chunk, the header.
const PNG_HEADER: usize = 8 + 25;

impl Figure {
    /// The figure as an SVG document that says what made it.
    pub fn svg_made_by(&self, made_by: &str) -> String {
        let svg = self.svg();
        let inside = svg.find("<svg").and_then(|start| Some(start + svg[start..].find('>')? + 1)).unwrap_or(0);
        format!("{}\n<metadata>{}</metadata>{}", &svg[..inside], xml_text(made_by), &svg[inside..])
    }

    /// The figure as a PNG that says what made it.
    ///
    /// # Errors
    /// As [`Figure::png`].
    pub fn png_made_by(&self, scale: f32, made_by: &str) -> Result<Vec<u8>, FigureError> {
        let mut png = self.png(scale)?;
        // A keyword; not compressed; no language; no translated keyword; the text.
        let data = [b"iTXtComment\0\0\0\0\0".as_slice(), made_by.as_bytes()].concat();
        let length = u32::try_from(data.len() - 4).unwrap_or(u32::MAX).to_be_bytes();
        let chunk = [length.as_slice(), &data, &crc32(&data).to_be_bytes()].concat();
        png.splice(PNG_HEADER..PNG_HEADER, chunk);
        Ok(png)
    }

    /// Its files for a paper, SVG, PNG and PDF, with their names, each with what made it in its metadata; `name` has no extension.
    ///
    /// # Errors
    /// [`FigureError`] if it cannot be drawn as a bitmap.
    pub fn paper_files(&self, name: &str, made_by: &str) -> Result<[(String, Vec<u8>); 3], FigureError> {
        Ok([
            (format!("{name}.svg"), self.svg_made_by(made_by).into_bytes()),
            (format!("{name}.png"), self.png_made_by(crate::png::FILE_SCALE, made_by)?),
            (format!("{name}.pdf"), self.pdf_made_by(made_by)?),
        ])
    }
}

/// The checksum of a PNG's chunk.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |sum: u32, byte: &u8| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0xEDB8_8320 } else { sum >> 1 })
    };
    !bytes.iter().fold(!0, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check value of this polynomial, as every table of checksums has it.
    #[test]
    fn the_checksum_is_the_usual_one() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
    }
}
