//! Pictures of a review: the rule in force, what the data allow, the proposal, and what it would gain; with the owner's names,
//! in the owner's units.

mod average;
mod gains;
mod lines;
mod owner;
mod plane;
mod scores;
mod shares;
mod stretch;

use rarely_review::{Ground, Review};

use crate::figure::Figure;
use crate::style::{Colour, Style};

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

/// The pictures that apply to a review, in reading order: where the rule divides people and where it may; what the proposal gains;
/// what each option is estimated to do.
pub fn pictures(ground: &Ground<'_>, review: &Review) -> Vec<Picture> {
    let mut pictures = vec![division(ground, review)];
    pictures.extend(review.proposal.as_ref().map(|proposal| gains::picture(ground.document, proposal)));
    pictures.push(average::picture(ground));
    pictures
}

/// How the rule divides people: along one feature, over the plane of two, or by its score.
fn division(ground: &Ground<'_>, review: &Review) -> Picture {
    if ground.document.has_intercept() {
        let features = ground.document.features();
        let levels = |at: usize| features[at].levels().is_some_and(|levels| levels.len() <= MOST_LEVELS);
        let numeric: Vec<bool> = features.iter().map(|feature| feature.range().is_some()).collect();
        match numeric[..] {
            [true] => return lines::picture(ground, review, 0, None),
            [true, true] => return plane::picture(ground, review),
            [true, false] if levels(1) => return lines::picture(ground, review, 0, Some(1)),
            [false, true] if levels(0) => return lines::picture(ground, review, 1, Some(0)),
            _ => {}
        }
    }
    scores::picture(ground, review).unwrap_or_else(|| shares::picture(ground))
}
