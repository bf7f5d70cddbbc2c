//! The rows on one side of a cut, nearest first.

use crate::jump::Side;

/// Rows on one side of a cut, by their distance from it.
#[derive(Debug, Clone)]
pub(super) struct Half {
    pub(super) side: Side,
    /// Distances from the cut, rising.
    pub(super) distance: Vec<f64>,
    /// The outcome of each row.
    pub(super) outcome: Vec<f64>,
    /// The number of different distances.
    pub(super) distinct: usize,
}

impl Half {
    /// Both sides of a cut; a row at the cut is above it. Rows with a number that is not finite are left out.
    pub(super) fn both(x: &[f64], y: &[f64], cut: f64) -> [Self; 2] {
        let mut sides: [Vec<(f64, f64)>; 2] = [Vec::new(), Vec::new()];
        for (x, y) in x.iter().zip(y).filter(|(x, y)| x.is_finite() && y.is_finite()) {
            sides[usize::from(*x >= cut)].push(((x - cut).abs(), *y));
        }
        let [below, above] = sides;
        [Self::new(Side::Below, below), Self::new(Side::Above, above)]
    }

    fn new(side: Side, mut rows: Vec<(f64, f64)>) -> Self {
        // Outcomes break ties, so that sums do not depend on the order of the log.
        rows.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let (distance, outcome): (Vec<f64>, Vec<f64>) = rows.into_iter().unzip();
        let distinct = distance.chunk_by(|a, b| a == b).count();
        Self { side, distance, outcome, distinct }
    }

    /// Rows at less than this distance.
    pub(super) fn within(&self, bandwidth: f64) -> usize {
        self.distance.partition_point(|&distance| distance < bandwidth)
    }

    /// The largest distance; 0 without rows.
    pub(super) fn reach(&self) -> f64 {
        self.distance.last().copied().unwrap_or(0.0)
    }

    /// The distance of the `count`-th different value, or the largest one if there are fewer.
    pub(super) fn distinct_distance(&self, count: usize) -> f64 {
        let mut values = self.distance.chunk_by(|a, b| a == b).map(|values| values[0]);
        values.nth(count.saturating_sub(1)).unwrap_or_else(|| self.reach())
    }
}
