//! Past reviews of a rule, and when the next change may be proposed.

use rarely_review::Verdict;
use serde::{Deserialize, Serialize};

use crate::event::ReviewPoint;

/// The most points kept. When there are more, every second one is dropped.
const MOST_POINTS: usize = 512;
/// After a rejection a change is proposed again when the number of outcomes has grown by this factor, or on request.
const GROWTH_AFTER_REJECTION: f64 = 1.25;

/// Reviews so far.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ReviewHistory {
    /// The number of reviews.
    pub count: u64,
    /// The outcomes at the last review.
    pub outcomes: u64,
    /// The time of the last review.
    pub time_ms: u64,
    /// The last verdict. Stored as text, empty before the first review.
    #[serde(with = "verdict")]
    pub verdict: Option<Verdict>,
    /// The reasons for it.
    pub reasons: Vec<String>,
    /// Why the plan does not allow the change that the evidence supports, if it does not.
    pub refused: Option<Vec<String>>,
    /// The outcomes on which a rejected proposal was based.
    pub rejected_at: Option<u64>,
    points: Vec<TimedReviewPoint>,
    /// Every `stride`-th review is kept.
    stride: u64,
}

/// The position of a rule, with its time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TimedReviewPoint {
    /// The time of the review.
    pub time_ms: u64,
    /// The version that was reviewed.
    pub version: u64,
    /// The position.
    #[serde(flatten)]
    pub point: ReviewPoint,
}

impl ReviewHistory {
    /// The empty history of a policy registered at this time.
    pub(crate) fn since(time_ms: u64) -> Self {
        Self { time_ms, ..Self::default() }
    }

    /// The positions of the rule over time, thinned out.
    pub fn points(&self) -> &[TimedReviewPoint] {
        &self.points
    }

    pub(crate) fn push(&mut self, point: TimedReviewPoint) {
        self.stride = self.stride.max(1);
        if self.count.is_multiple_of(self.stride) {
            self.points.push(point);
        } else if let Some(last) = self.points.last_mut() {
            // The newest is always kept.
            *last = point;
        }
        self.count += 1;
        if self.points.len() > MOST_POINTS {
            let mut at = 0;
            self.points.retain(|_| {
                at += 1;
                at % 2 == 1
            });
            self.stride *= 2;
        }
    }

    /// Whether a change may be proposed again with this many outcomes, without a request.
    pub(crate) fn may_repeat(&self, outcomes: u64) -> bool {
        self.rejected_at.is_none_or(|before| outcomes as f64 >= GROWTH_AFTER_REJECTION * before as f64)
    }
}

/// A verdict as its name, or an empty text before the first review.
mod verdict {
    use rarely_review::Verdict;
    use serde::{Deserialize as _, Deserializer, Serializer, de::IntoDeserializer as _};

    #[expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference to the field")]
    pub(super) fn serialize<S: Serializer>(verdict: &Option<Verdict>, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(verdict.map_or("", Verdict::name))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Verdict>, D::Error> {
        let name = String::deserialize(deserializer)?;
        if name.is_empty() {
            return Ok(None);
        }
        Verdict::deserialize(name.into_deserializer()).map(Some)
    }
}
