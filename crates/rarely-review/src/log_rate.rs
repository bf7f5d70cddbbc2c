//! How fast a log grows.

use std::iter::Sum;

use serde::{Deserialize, Serialize};

/// Seconds in a day.
const A_DAY: f64 = 86_400.0;

/// How fast a log grows: its rows over the time between the first and the last.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogRate(f64);

/// The times of a log's rows, as they are read.
///
/// ```
/// use rarely_review::LogTimes;
/// let mut times = LogTimes::default();
/// // Four rows in three days.
/// (0..4).for_each(|day| times.add_if_known(Some(86_400 * day)));
/// assert_eq!(times.rate().unwrap().cases_per_day(), 4.0 / 3.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LogTimes {
    rows: u64,
    /// The first and the last time, in seconds.
    ends: Option<(i64, i64)>,
}

impl LogTimes {
    /// The times of so many rows, from the first to the last in seconds since any moment.
    pub(crate) fn between(rows: u64, first: i64, last: i64) -> Self {
        Self { rows, ends: Some((first, last)) }
    }

    /// Adds the time of a row in seconds since any moment, if it has one.
    #[inline]
    pub fn add_if_known(&mut self, seconds: Option<i64>) {
        if let Some(seconds) = seconds {
            self.rows += 1;
            let (first, last) = self.ends.unwrap_or((seconds, seconds));
            self.ends = Some((first.min(seconds), last.max(seconds)));
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The rate; `None` if all rows have the same time, or there is none.
    pub fn rate(&self) -> Option<LogRate> {
        let (first, last) = self.ends?;
        (last > first).then(|| LogRate(self.rows as f64 / ((last - first) as f64 / A_DAY)))
    }
}

/// The times of all rows, however they were shared out.
impl Sum for LogTimes {
    fn sum<I: Iterator<Item = Self>>(shares: I) -> Self {
        shares.fold(Self::default(), |all, share| {
            let ends = match (all.ends, share.ends) {
                (Some(one), Some(other)) => Some((one.0.min(other.0), one.1.max(other.1))),
                (one, other) => one.or(other),
            };
            Self { rows: all.rows + share.rows, ends }
        })
    }
}

impl LogRate {
    /// Cases per day.
    pub fn cases_per_day(self) -> f64 {
        self.0
    }
}
