//! The statistics of the groups of a log, read at once.

use std::collections::BTreeMap;

use rarely_policy::PolicyDocument;

use crate::tally::Tally;
use crate::tally_error::TallyError;
use crate::tally_row::TallyRow;

/// The most groups of one review: each has statistics of its own, which stay in memory.
pub const MOST_GROUPS: usize = 200;

/// Rows of a log that are in no group's statistics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UnusedRows {
    /// Rows that could not be used.
    pub rejected: u64,
    /// Rows that were dropped because they lack a value.
    pub dropped: u64,
}

/// The statistics of every group.
#[derive(Debug, Clone)]
pub struct GroupTallies {
    document: PolicyDocument,
    all: BTreeMap<String, Tally>,
    too_many: bool,
    unused: UnusedRows,
}

impl GroupTallies {
    /// Empty statistics, one for each processor, so that several share a reading, as [`Tally::shared`]. The document has
    /// [groups](PolicyDocument::groups).
    pub fn shared(document: &PolicyDocument) -> Vec<Self> {
        let empty =
            Self { document: document.clone(), all: BTreeMap::new(), too_many: false, unused: UnusedRows::default() };
        vec![empty; Tally::shared(document).len()]
    }

    /// Adds one row of a group.
    pub fn add_row(&mut self, group: &str, row: &TallyRow<'_>) {
        if let Some(tally) = self.group(group) {
            tally.add_row(row);
        }
    }

    fn group(&mut self, name: &str) -> Option<&mut Tally> {
        if !self.all.contains_key(name) {
            if self.all.len() == MOST_GROUPS {
                self.too_many = true;
                return None;
            }
            // The cuts at which rows are counted are the group's own.
            self.all.insert(name.to_owned(), Tally::keeping_rows(&self.document.of_group(name)));
        }
        self.all.get_mut(name)
    }

    /// The statistics of a [shared](GroupTallies::shared) reading. Checks that no log was given twice.
    ///
    /// # Errors
    /// [`TallyError::Twice`] if one was, [`TallyError::TooManyGroups`] if there are too many groups.
    pub fn joined(shares: Vec<Self>, unused: UnusedRows) -> Result<Self, TallyError> {
        let mut shares = shares.into_iter();
        let mut joined = shares.next().ok_or(TallyError::Damaged("there is no share"))?;
        for share in shares {
            joined.too_many |= share.too_many;
            for (name, theirs) in share.all {
                match joined.group(&name) {
                    Some(mine) => mine.join(theirs)?,
                    None => break,
                }
            }
        }
        joined.unused = unused;
        if joined.too_many {
            let column = joined.document.groups().map_or_else(String::new, |groups| groups.column.clone());
            return Err(TallyError::TooManyGroups { column });
        }
        joined.all.values().try_for_each(Tally::check_sources)?;
        Ok(joined)
    }

    /// The document, the groups with their statistics in the order of their names, and the rows that are in none of them.
    pub(crate) fn into_parts(self) -> (PolicyDocument, BTreeMap<String, Tally>, UnusedRows) {
        (self.document, self.all, self.unused)
    }
}
