//! What a log holds of each option in each band.

use std::ops::Range;

use super::Tally;
use crate::evidence_base::ObservedBand;

impl Tally {
    /// What was observed of each option in each band, and then in all bands of the first feature: in all rows.
    pub(crate) fn observed(&self) -> Vec<Vec<ObservedBand>> {
        let first = self.bands.as_ref().map_or(0, |bands| bands.all().partition_point(|band| band.feature == 0));
        let of = |(option, tried): (usize, &Vec<u64>)| {
            let within = |bands: Range<usize>| {
                let rows = tried[bands.clone()].iter().sum();
                ObservedBand { rows, mean: self.outcomes.as_ref().and_then(|sums| sums.mean(option, bands, rows)) }
            };
            (0..tried.len()).map(|band| within(band..band + 1)).chain([within(0..first)]).collect()
        };
        self.tried.iter().enumerate().map(of).collect()
    }
}
