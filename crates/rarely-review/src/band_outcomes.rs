//! The outcomes of every option in every band: what was observed, for pictures that show data beside a model.

use std::ops::Range;

use rarely_core::{Interval, f_upper};
use serde::{Deserialize, Serialize};

use crate::bands::Bands;
use crate::fixed_point::{ONE, RewardGrid, add_all, have_room, shift_all};

/// The probability that an interval of an observed mean misses the mean of the option in the band.
const MISSES: f64 = 0.05;
/// Rows whose sums fit into machine words: their squares are at most 2⁵².
const RECENT: u32 = 1 << 11;

/// Sums of rewards by option and band, in whole numbers, so that they do not depend on the order of the rows. The numbers of rows are
/// counted beside them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct BandOutcomes {
    options: Vec<OptionOutcomes>,
    /// Scratch space for the bands of a row.
    #[serde(skip)]
    found: Vec<usize>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(into = "Stored", from = "Stored")]
struct OptionOutcomes {
    stored: Stored,
    /// `ΣY` and `ΣY²` of each band, of rows that are not yet in the other sums: machine words are added at half the cost.
    recent: Vec<[u64; 2]>,
    recent_rows: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Stored {
    rewards: RewardGrid,
    /// `ΣY` of each band.
    sums: Vec<i128>,
    /// `ΣY²` of each band.
    squares: Vec<i128>,
}

impl BandOutcomes {
    pub(crate) fn new(grids: &[RewardGrid], bands: usize) -> Self {
        let empty = |&rewards: &RewardGrid| Stored { rewards, sums: vec![0; bands], squares: vec![0; bands] };
        Self { options: grids.iter().map(empty).map(OptionOutcomes::from).collect(), found: Vec::new() }
    }

    /// Adds a row, and counts it among the option's rows of each band.
    #[inline]
    pub(crate) fn add(&mut self, bands: &Bands, context: &[f64], option: usize, reward: f64, rows: &mut [u64]) {
        bands.find(context, &mut self.found);
        let outcomes = &mut self.options[option];
        let steps = outcomes.steps(reward);
        let recent = outcomes.recent.as_mut_slice();
        let rows = &mut rows[..recent.len()];
        match u64::try_from(steps) {
            Ok(steps) if steps <= ONE.cast_unsigned() => {
                let more = [steps, steps * steps];
                for &band in &self.found {
                    rows[band] += 1;
                    recent[band].iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
                }
                outcomes.recent_rows += 1;
                if outcomes.recent_rows == RECENT {
                    outcomes.settle();
                }
            }
            _ => {
                for &band in &self.found {
                    rows[band] += 1;
                    outcomes.stored.add(band, steps, steps * steps);
                }
            }
        }
    }

    /// Corrects the reward of a row that was added.
    pub(crate) fn correct(&mut self, bands: &Bands, context: &[f64], option: usize, old: f64, new: f64) {
        let outcomes = &mut self.options[option];
        // The larger of the two may be one for which the steps grow.
        let (_, new) = (outcomes.steps(old), outcomes.steps(new));
        let old = outcomes.steps(old);
        for band in bands.of_person(context) {
            outcomes.stored.add(band, new - old, new * new - old * old);
        }
    }

    /// Adds the sums of one option that another engine has computed: `ΣY` and `ΣY²` of each band.
    pub(crate) fn add_sums(&mut self, option: usize, outcomes: &[(i128, i128)]) {
        let Stored { sums, squares, .. } = &mut self.options[option].stored;
        for ((sum, square), (more, more_squares)) in sums.iter_mut().zip(squares).zip(outcomes) {
            *sum = sum.saturating_add(*more);
            *square = square.saturating_add(*more_squares);
        }
    }

    /// Adds other rows of the same document. False if the sums are of other rewards.
    pub(crate) fn merge(&mut self, other: &Self) -> bool {
        let alike =
            |(mine, theirs): (&OptionOutcomes, &OptionOutcomes)| mine.stored.rewards.is_like(&theirs.stored.rewards);
        if !self.options.iter().zip(&other.options).all(alike) {
            return false;
        }
        for (mine, theirs) in self.options.iter_mut().zip(&other.options) {
            let mut theirs = Stored::from(theirs.clone());
            mine.settle();
            let mine = &mut mine.stored;
            if mine.rewards.is_open() {
                mine.grow(mine.rewards.bits_below(&theirs.rewards));
                theirs.grow(theirs.rewards.bits_below(&mine.rewards));
            }
            add_all(&mut mine.sums, &theirs.sums);
            add_all(&mut mine.squares, &theirs.squares);
        }
        true
    }

    /// Whether there are sums of so many options and bands, and every number is possible. Check this first on a state that was read from a
    /// file.
    pub(crate) fn is_sound(&self, options: usize, bands: usize) -> bool {
        self.options.len() == options
            && self.options.iter().cloned().map(Stored::from).all(|option| {
                option.rewards.is_sound()
                    && [option.sums.len(), option.squares.len()] == [bands; 2]
                    && have_room(&option.sums)
                    && have_room(&option.squares)
                    && option.squares.iter().all(|square| *square >= 0)
            })
    }

    /// The mean reward of an option in bands of so many rows, between the ends of its 95 % interval: Wilson's for yes and no
    /// [brown-2001, §3.1.1], otherwise Student's. One row alone has no ends; `None` if there are none.
    pub(crate) fn mean(&self, option: usize, bands: Range<usize>, rows: u64) -> Option<Interval> {
        if rows == 0 {
            return None;
        }
        let Stored { rewards, sums, squares } = Stored::from(self.options[option].clone());
        let (sum, square): (i128, i128) = (sums[bands.clone()].iter().sum(), squares[bands].iter().sum());
        let n = rows as f64;
        let mean = rewards.start() + rewards.step() * (sum as f64 / n);
        // n·ΣY² − (ΣY)² in whole numbers: nothing cancels.
        let count = i128::from(rows);
        let scatter = count.checked_mul(square).zip(sum.checked_mul(sum));
        let scatter = scatter.map_or(0.0, |(squares, square)| squares.saturating_sub(square).max(0) as f64);
        let ends = |half: f64| Interval { estimate: mean, lower: mean - half, upper: mean + half };
        let interval = if rows == 1 {
            ends(f64::INFINITY)
        } else if !rewards.is_open() && square == i128::from(ONE) * sum {
            // Only the two ends of the range square to themselves: yes and no.
            let (lower, upper) = wilson(sum as f64 / (n * ONE as f64), n);
            let ends = [lower, upper].map(|share| rewards.start() + rewards.step() * ONE as f64 * share);
            Interval { estimate: mean, lower: ends[0].min(ends[1]), upper: ends[0].max(ends[1]) }
        } else {
            let variance = scatter / (n * (n - 1.0));
            let t = f_upper(1.0, n - 1.0, MISSES).sqrt();
            ends(t * rewards.step().abs() * (variance / n).sqrt())
        };
        Some(interval)
    }
}

impl PartialEq for BandOutcomes {
    fn eq(&self, other: &Self) -> bool {
        self.options == other.options
    }
}

impl OptionOutcomes {
    /// The whole number of a reward; the steps grow for it where they must.
    #[inline]
    fn steps(&mut self, reward: f64) -> i128 {
        let bits = self.stored.rewards.bits_lacking(reward);
        if bits > 0 {
            self.settle();
            self.stored.grow(bits);
        }
        i128::from(self.stored.rewards.whole(reward))
    }

    /// Adds the recent sums to the others.
    #[inline(never)]
    fn settle(&mut self) {
        let Stored { sums, squares, .. } = &mut self.stored;
        for ((recent, sum), square) in self.recent.iter_mut().zip(sums).zip(squares) {
            let [more, more_squares] = std::mem::take(recent).map(i128::from);
            *sum += more;
            *square += more_squares;
        }
        self.recent_rows = 0;
    }
}

impl From<Stored> for OptionOutcomes {
    fn from(stored: Stored) -> Self {
        Self { recent: vec![[0; 2]; stored.sums.len()], recent_rows: 0, stored }
    }
}

impl From<OptionOutcomes> for Stored {
    fn from(mut outcomes: OptionOutcomes) -> Self {
        outcomes.settle();
        outcomes.stored
    }
}

impl PartialEq for OptionOutcomes {
    fn eq(&self, other: &Self) -> bool {
        Stored::from(self.clone()) == Stored::from(other.clone())
    }
}

impl Stored {
    #[inline]
    fn add(&mut self, band: usize, steps: i128, squares: i128) {
        self.sums[band] += steps;
        self.squares[band] += squares;
    }

    #[cold]
    fn grow(&mut self, bits: u32) {
        self.rewards.grow(bits);
        shift_all(&mut self.sums, bits);
        shift_all(&mut self.squares, bits.saturating_mul(2));
    }
}

/// Wilson's interval of a share of n cases.
fn wilson(share: f64, n: f64) -> (f64, f64) {
    // The square of the normal quantile is that of χ² with one degree of freedom: of F with many below.
    let z_squared = f_upper(1.0, 1e9, MISSES);
    let middle = (share + 0.5 * z_squared / n) / (1.0 + z_squared / n);
    let half = (z_squared / n * (share * (1.0 - share) + 0.25 * z_squared / n)).sqrt() / (1.0 + z_squared / n);
    ((middle - half).max(0.0), (middle + half).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_of_yes_and_no_has_wilsons_interval() {
        // Newcombe 1998, table I: 81 of 263 and 0 of 20.
        let (lower, upper) = wilson(81.0 / 263.0, 263.0);
        assert!((lower - 0.2553).abs() < 5e-5 && (upper - 0.3662).abs() < 5e-5, "{lower} {upper}");
        let (lower, upper) = wilson(0.0, 20.0);
        assert!(lower == 0.0 && (upper - 0.1611).abs() < 5e-5, "{lower} {upper}");
    }

    #[test]
    fn other_means_have_students_interval() {
        let document = rarely_policy::PolicyDocument::parse(
            "policy = \"p\"\noptions = [\"a\", \"b\"]\noutcome = { column = \"y\", range = [0, 10] }\n\
             [[features]]\ncolumn = \"x\"\nrange = [0, 7]\n\
             [rule]\nthreshold = { feature = \"x\", cuts = [3], options = [\"a\", \"b\"] }",
            "p.toml",
        )
        .expect("a document");
        let bands = Bands::of(&document);
        for grid in [RewardGrid::of_range(0.0, 10.0), RewardGrid::open()] {
            let mut outcomes = BandOutcomes::new(&[grid; 2], bands.all().len());
            let mut rows = vec![0; bands.all().len()];
            // The third number is first another one.
            for reward in [1.0, 2.0, 9.0, 6.0] {
                outcomes.add(&bands, &[1.0, 0.5], 1, reward, &mut rows);
            }
            outcomes.correct(&bands, &[1.0, 0.5], 1, 9.0, 3.0);
            let band = bands.of_person(&[1.0, 0.5]).next().expect("a band");
            assert_eq!(rows[band], 4);
            let found = outcomes.mean(1, band..band + 1, 4).expect("rows");
            // scipy.stats.t.interval(0.95, 3, 3.0, scipy.stats.sem([1, 2, 3, 6])) = (−0.43743, 6.43743).
            let Interval { estimate, lower, upper } = found;
            assert!((estimate - 3.0).abs() < 1e-6, "{estimate}");
            assert!((lower + 0.43743).abs() < 1e-5 && (upper - 6.43743).abs() < 1e-5, "{lower} {upper}");
            assert_eq!(outcomes.mean(0, band..band + 1, 0), None);
        }
    }
}
