//! Sums by the values of a column that is no feature: what a change does for whom (mathematics §18).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::moments::Moments;
use crate::people_sample::PeopleSample;
use crate::stretch_sums::Stretch;
use crate::tally_row::TallyRow;

/// The most values that a fairness column may have.
pub(crate) const MOST_LEVELS: usize = 20;

/// The sums of the values of one column.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct ColumnLevels {
    /// By name.
    all: BTreeMap<String, LevelSums>,
    /// Whether there are more than are kept.
    too_many: bool,
}

/// The rows of one value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct LevelSums {
    /// Each option's sums, divided.
    pub(crate) sums: Stretch,
    /// A sample of its people.
    pub(crate) sample: PeopleSample,
}

impl ColumnLevels {
    /// Adds a row with this value. `like` are sums of every option.
    pub(crate) fn add(&mut self, name: &str, row: &TallyRow<'_>, like: &[Moments]) {
        let Some(level) = self.level(name, like) else { return };
        level.sums.add(row, row.reward);
        level.sample.offer_row(row.priority(), row, like[0].has_weights());
    }

    fn level(&mut self, name: &str, like: &[Moments]) -> Option<&mut LevelSums> {
        if !self.all.contains_key(name) {
            if self.all.len() == MOST_LEVELS {
                self.too_many = true;
                return None;
            }
            let sample = PeopleSample::new(like[0].dimension());
            self.all.insert(name.to_owned(), LevelSums { sums: Stretch::without_squares(like), sample });
        }
        self.all.get_mut(name)
    }

    pub(crate) fn merge(&mut self, other: &Self, like: &[Moments]) {
        self.too_many |= other.too_many;
        for (name, theirs) in &other.all {
            let Some(mine) = self.level(name, like) else { continue };
            mine.sums.merge(&theirs.sums);
            mine.sample.merge(&theirs.sample);
        }
    }

    /// In the order of their names; `None` if there are too many.
    pub(crate) fn all(&self) -> Option<&BTreeMap<String, LevelSums>> {
        (!self.too_many).then_some(&self.all)
    }

    /// Check this first on one that was read from a file.
    pub(crate) fn is_sound(&self, options: usize, dimension: usize) -> bool {
        let sound =
            |level: &LevelSums| level.sample.dimension() == dimension && level.sums.is_sound(options, dimension);
        self.all.len() <= MOST_LEVELS && self.all.values().all(sound)
    }
}
