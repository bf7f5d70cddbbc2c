//! Sums in which observations count less over time, or no longer.

use super::{Ridge, add_sized};
use crate::symmetric::{self, ANY};

impl Ridge {
    /// Makes every observation count less. What is derived has to be [refreshed](Ridge::refresh).
    pub(crate) fn scale(&mut self, factor: f64) {
        self.settle();
        self.sums.information.iter_mut().chain(&mut self.sums.moment).for_each(|value| *value *= factor);
        self.squares *= factor;
    }

    /// Adds an observation to the sums only.
    pub(crate) fn add_weighted(&mut self, row: (&[f64], f64, f64)) {
        add_sized::<ANY>(self, row);
    }

    /// Takes an observation out of the sums. It stays counted.
    pub(crate) fn subtract(&mut self, (context, reward, weight): (&[f64], f64, f64)) {
        self.settle();
        symmetric::add_outer_sized::<ANY>(&mut self.sums.information, -weight, context);
        symmetric::add_scaled(&mut self.sums.moment, -weight * reward, context);
        self.squares = (self.squares - weight * symmetric::dot(context, context)).max(0.0);
    }

    /// Adds the sums up afresh from the observations that they contain. They stay counted as before.
    pub(crate) fn add_up<'a>(&mut self, rows: impl Iterator<Item = (&'a [f64], f64, f64)>) {
        let count = self.count;
        self.sums.clear();
        self.recent.clear();
        self.squares = 0.0;
        for row in rows {
            self.add_weighted(row);
        }
        self.count = count;
    }
}
