//! Counts in bins, stacked by series.

/// Bins, with the heights of several series on top of each other.
pub(crate) struct StackedBins {
    /// Where each bin starts, and where the last ends.
    pub(crate) edges: Vec<f64>,
    /// Bin by bin, and in it series by series.
    pub(crate) heights: Vec<Vec<f64>>,
}

impl StackedBins {
    /// Bins of equal width between two ends.
    pub(crate) fn within((low, high): (f64, f64), heights: Vec<Vec<f64>>) -> Self {
        let bins = heights.len();
        let edge = |bin: usize| low + (high - low) * bin as f64 / bins as f64;
        Self { edges: (0..=bins).map(edge).collect(), heights }
    }

    /// The height of the highest stack.
    pub(crate) fn highest(&self) -> f64 {
        self.heights.iter().map(|bin| bin.iter().sum::<f64>()).fold(0.0, f64::max)
    }

    /// The part of the stack that belongs to a series: one outline for each stretch of bins that have some.
    pub(crate) fn outlines(&self, series: usize) -> Vec<Vec<(f64, f64)>> {
        let bins = self.heights.len();
        let edge = |bin: usize| self.edges[bin];
        let mut outlines = Vec::new();
        let mut bin = 0;
        while bin < bins {
            let end = (bin..bins).find(|&at| self.heights[at][series] == 0.0).unwrap_or(bins);
            let (mut foot, mut top) = (Vec::new(), Vec::new());
            for at in bin..end {
                let below: f64 = self.heights[at][..series].iter().sum();
                foot.extend([(edge(at), below), (edge(at + 1), below)]);
                let above = below + self.heights[at][series];
                top.extend([(edge(at), above), (edge(at + 1), above)]);
            }
            if end > bin {
                outlines.push(foot.into_iter().chain(top.into_iter().rev()).collect());
            }
            bin = end + 1;
        }
        outlines
    }
}
