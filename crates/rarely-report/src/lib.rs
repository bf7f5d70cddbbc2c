//! A review as pictures (the rule in force, what the data allow, the proposal, and what it would gain), as one page, as text, and
//! as a directory of files; with the owner's names, in the owner's units.
#![deny(missing_docs)]

mod average;
mod cut_picture;
mod foot;
mod gains;
mod groups;
mod lines;
mod observed;
mod overlap;
mod owner;
mod page;
mod plane;
mod scores;
mod shares;
mod stacked_bins;
mod stretch;
mod text;

use rarely_output::{OutputDirectory, OutputError};
use rarely_plot::{Colour, Figure, Style};
use rarely_review::{EvidenceBase, Findings, Review, ReviewJson};

pub use groups::{groups_page, groups_text, write_groups};
pub use page::{ReviewSources, page, review_page};
pub use text::text;

/// One picture of a review.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// What its file is called, without the ending.
    pub name: &'static str,
    /// What it is of.
    pub title: String,
    /// How to read it.
    pub caption: String,
    /// The picture.
    pub figure: Figure,
}

/// Lines of the rule in force.
const IN_FORCE: Style = Style::dashed(Colour::BLACK).wide(2.2);
/// Lines of the proposed rule.
const PROPOSED: Style = Style::solid(Colour::INDIGO).wide(2.8);
/// What the data leave open.
const OPEN: Style = Style::solid(Colour::GREY).faint(0.3);
/// More levels than this do not fit side by side.
const MOST_LEVELS: usize = 4;

/// The pictures that apply to a review, in reading order: where the rule divides people and where it may; what was observed; what the
/// proposal gains; how probable each option was; what each option is estimated to do.
pub fn pictures(base: &EvidenceBase<'_>, review: &Review) -> Vec<Picture> {
    let division = division(base, review);
    let has_data = division.name == "decision-boundary" && base.document.features().len() == 1;
    let mut pictures = vec![division];
    if !has_data {
        pictures.extend(observed::picture(base));
    }
    pictures.extend(review.judgement.proposal.as_ref().map(|proposal| gains::picture(base.document, proposal)));
    pictures.extend(overlap::picture(base.document, review));
    pictures.push(average::picture(base));
    pictures
}

/// Writes everything: the page (`review.html`), its pictures as SVG and PNG, and the answer for programs (`review.json`).
///
/// # Errors
/// [`OutputError`] of the first file that cannot be written.
pub fn write(
    directory: &OutputDirectory,
    base: &EvidenceBase<'_>,
    review: &Review,
    sources: &ReviewSources,
) -> Result<(), OutputError> {
    let pictures = pictures(base, review);
    for picture in &pictures {
        let name = format!("figures/{}", picture.name);
        directory.write_all(&name, picture.figure.files(&name))?;
    }
    let findings = Findings::new(base.document, review);
    directory.write_json("review.json", &ReviewJson::new(&findings))?;
    directory.write("review.html", page(&findings, &pictures, sources))
}

/// How the rule divides people: along one feature, over the plane of two, or by its score.
fn division(base: &EvidenceBase<'_>, review: &Review) -> Picture {
    // A figure along one feature holds the others, which it cannot do with those that are derived from it.
    if base.document.has_intercept() && !base.document.has_derived() {
        let features = base.document.features();
        let levels = |at: usize| features[at].levels().is_some_and(|levels| levels.len() <= MOST_LEVELS);
        let numeric: Vec<bool> = features.iter().map(|feature| feature.range().is_some()).collect();
        match numeric[..] {
            [true] => return lines::picture(base, review, 0, None),
            [true, true] => return plane::picture(base, review),
            [true, false] if levels(1) => return lines::picture(base, review, 0, Some(1)),
            [false, true] if levels(0) => return lines::picture(base, review, 1, Some(0)),
            _ => {}
        }
    }
    scores::picture(base, review).unwrap_or_else(|| shares::picture(base))
}
