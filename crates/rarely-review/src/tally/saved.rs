//! Statistics in a file.

use rarely_core::Digest;
use rarely_policy::PolicyDocument;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::Tally;
use crate::jump::Jumps;
use crate::moments::Moments;
use crate::tally_error::TallyError;

/// The format of saved statistics. The first had sums of real numbers, which cannot be added to those of whole numbers without a trace.
pub const TALLY_FORMAT: u32 = 2;

/// The form in a file.
#[derive(Serialize, Deserialize)]
struct Saved<T> {
    format: u32,
    checksum: String,
    tally: T,
}

impl Tally {
    /// The text of a file, with a checksum. It does not hold the rows next to the cuts, so that its size does not grow with the log.
    ///
    /// # Errors
    /// [`TallyError::NotATally`] if it cannot be written as JSON, which finite sums can.
    pub fn to_text(&self) -> Result<String, TallyError> {
        if self.rows.is_some() {
            return Self { rows: None, ..self.clone() }.to_text();
        }
        self.to_text_with_rows()
    }

    /// As [`Tally::to_text`], with the rows next to the cuts: for parts of one reading that are put together.
    ///
    /// # Errors
    /// As [`Tally::to_text`].
    pub fn to_text_with_rows(&self) -> Result<String, TallyError> {
        let unreadable = |error: serde_json::Error| TallyError::NotATally(error.to_string());
        let text = serde_json::to_string(self).map_err(unreadable)?;
        let saved = Saved { format: TALLY_FORMAT, checksum: checksum(&text), tally: self };
        serde_json::to_string(&saved).map_err(unreadable)
    }

    /// Reads the text of a file, and checks that it is whole and unaltered. The result can be merged with others; a review needs it
    /// [revived](Tally::revive).
    ///
    /// # Errors
    /// [`TallyError`] if it has another format, is damaged, or is something else.
    pub fn from_text(text: &str) -> Result<Self, TallyError> {
        let unreadable = |error: serde_json::Error| TallyError::NotATally(error.to_string());
        let outer: Saved<serde::de::IgnoredAny> = serde_json::from_str(text).map_err(unreadable)?;
        if outer.format != TALLY_FORMAT {
            return Err(TallyError::Format { found: outer.format });
        }
        let damaged = |_| TallyError::Damaged("a part cannot be read");
        let saved: Saved<Self> = serde_json::from_str(text).map_err(damaged)?;
        let again = serde_json::to_string(&saved.tally).map_err(unreadable)?;
        if checksum(&again) != saved.checksum {
            return Err(TallyError::Damaged("the checksum does not match"));
        }
        saved.tally.check()
    }

    fn check(self) -> Result<Self, TallyError> {
        let dimension = self.sample.dimension();
        let squares = self.options.first().map(Moments::squares);
        let whole = !self.options.is_empty()
            && self.options.iter().all(|option| {
                option.is_sound() && option.dimension() == dimension && Some(option.squares()) == squares
            })
            && self.tried.len() == self.options.len()
            && self.tried.iter().all(|bands| bands.len() == self.tried[0].len())
            && self.outcomes.as_ref().is_none_or(|sums| sums.is_sound(self.options.len(), self.tried[0].len()))
            && self.missing.fits(self.options.len())
            && self.time_marks.is_sound(&self.options)
            && self.stretches.is_sound(self.options.len(), &self.options[0])
            && self.guardrails.iter().all(|sums| sums.is_sound(self.options.len(), dimension))
            && self.levels.iter().all(|levels| levels.is_sound(self.options.len(), dimension))
            && self.propensities.as_ref().is_none_or(|sums| sums.is_sound(self.options.len()))
            && self.jumps.as_ref().is_none_or(Jumps::is_sound);
        if whole { Ok(self) } else { Err(TallyError::Damaged("the parts do not fit together")) }
    }

    /// Prepares sums that were read from a file for a review. Rows that are added to it are not divided: merge it into [`Tally::new`] for that.
    ///
    /// # Errors
    /// [`TallyError`] if they are of another document.
    pub fn revive(mut self, document: &PolicyDocument) -> Result<Self, TallyError> {
        if self.fingerprint != document.fingerprint() {
            return Err(TallyError::Document);
        }
        let fresh = Self::new(document);
        if self.options.len() != fresh.options.len()
            || self.options[0].dimension() != fresh.options[0].dimension()
            || self.options[0].squares() != fresh.options[0].squares()
            || self.tried[0].len() != fresh.tried[0].len()
            || (self.guardrails.len(), self.levels.len()) != (fresh.guardrails.len(), fresh.levels.len())
        {
            return Err(TallyError::Damaged("they do not fit their own document"));
        }
        // The jumps are about the cuts of one rule; for another rule they start again.
        let same = |mine: &Jumps| fresh.jumps.as_ref().is_some_and(|fresh| fresh.clone().merge(mine).is_ok());
        self.rows = self.rows.filter(|_| self.jumps.as_ref().is_some_and(same));
        self.jumps = self.jumps.filter(same).or(fresh.jumps);
        (self.bands, self.running, self.flags) = (fresh.bands, fresh.running, fresh.flags);
        Ok(self)
    }
}

fn checksum(text: &str) -> String {
    Digest(Sha256::digest(text).into()).to_string()
}
