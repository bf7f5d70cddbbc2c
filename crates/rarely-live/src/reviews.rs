//! When a rule is due for review, and how it stood at those before.

use serde::{Deserialize, Serialize};

use crate::event::Point;

/// Points kept; when there are more, every second one goes.
const MOST_POINTS: usize = 512;
/// After a refusal a change is proposed again once there are so many times the outcomes, or when somebody asks.
const GROWTH_AFTER_REJECTION: f64 = 1.25;

/// Reviews so far.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Reviews {
    /// How many.
    pub count: u64,
    /// Outcomes that the last one had.
    pub outcomes: u64,
    /// When that was.
    pub time_ms: u64,
    /// Its verdict.
    pub verdict: String,
    /// Why not otherwise.
    pub reasons: Vec<String>,
    /// Why the plan did not allow the last change that was asked for, while that is so.
    pub refused: Option<Vec<String>>,
    /// Outcomes on which a rejected proposal rested.
    pub rejected_at: Option<u64>,
    points: Vec<Timed>,
    /// Every so-manieth review is kept.
    stride: u64,
}

/// Where a rule stood, and when.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Timed {
    /// When.
    pub time_ms: u64,
    /// The version that stood there.
    pub version: u64,
    /// Where.
    #[serde(flatten)]
    pub point: Point,
}

impl Reviews {
    /// None yet, of a policy that began at this time.
    pub(crate) fn since(time_ms: u64) -> Self {
        Self { time_ms, ..Self::default() }
    }

    /// How the rule stood over time, thinned.
    pub fn points(&self) -> &[Timed] {
        &self.points
    }

    pub(crate) fn push(&mut self, point: Timed) {
        self.stride = self.stride.max(1);
        if self.count.is_multiple_of(self.stride) {
            self.points.push(point);
        } else if let Some(last) = self.points.last_mut() {
            // The newest is always there.
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

    /// Whether a change may be proposed again on so many outcomes, unasked.
    pub(crate) fn may_repeat(&self, outcomes: u64) -> bool {
        self.rejected_at.is_none_or(|before| outcomes as f64 >= GROWTH_AFTER_REJECTION * before as f64)
    }
}
