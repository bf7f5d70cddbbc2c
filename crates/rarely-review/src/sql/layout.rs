//! Which sums a row of kind `sums` holds, and in which order: for the statement that computes them and for the reader.
//!
//! A row of a log is `v = (z, 1, y)` in whole numbers ([`crate::Moments`]). Of `Σvvᵀ` an engine computes only what differs: products with
//! a 1 are sums, and products with the indicator of a level are sums over its rows.

use rarely_policy::{FeatureKind, PolicyDocument};

use crate::bands::Bands;
use crate::fixed_point::ONE;
use crate::tally::bent_features;

/// A number of `v`, by the feature that it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Factor {
    One,
    Level(LevelOf),
    Whole(Variable),
}

/// A level of a feature, both as indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LevelOf {
    pub(super) feature: usize,
    pub(super) level: usize,
}

/// A whole number that differs from row to row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Variable {
    /// A numeric feature, by its index.
    Feature(usize),
    /// Its square about the middle of its range.
    Square(usize),
    /// The outcome.
    Outcome,
}

/// A sum that an engine computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SumTerm {
    Rows,
    Sum(Variable),
    Product(Variable, Variable),
    Count(LevelOf),
    SumWithin(Variable, LevelOf),
    CountBoth(LevelOf, LevelOf),
    /// Squares of outcomes.
    SquareWithin(LevelOf),
    /// Rows in a band of a numeric feature …
    InBand(BandOf),
    /// … their outcomes …
    OutcomeInBand(BandOf),
    /// … and the squares of these.
    SquareInBand(BandOf),
}

/// The rows of every band, and the sums of their outcomes and of the squares.
type SumsOfBands = (Vec<u64>, Vec<(i128, i128)>);

/// A band of a numeric feature, counted from the feature's first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BandOf {
    pub(super) feature: usize,
    pub(super) band: usize,
}

/// The sums of one option, part and period.
#[derive(Debug, Clone)]
pub(super) struct SumsLayout {
    /// In the order in which they are written.
    pub(super) terms: Vec<SumTerm>,
    /// For each number of the lower triangle of `Σvvᵀ`, by rows: the term that it is, and what the term is multiplied by.
    triangle: Vec<Option<(usize, i128)>>,
    /// How each band's rows, the sum of their outcomes and that of the squares follow from the terms.
    bands: Vec<[OfBand; 3]>,
}

/// A sum over the rows of a band.
#[derive(Debug, Clone)]
enum OfBand {
    Summed(usize),
    /// That of all rows, less that of the other bands.
    Rest {
        all: usize,
        others: Vec<usize>,
    },
}

impl SumsLayout {
    pub(super) fn new(document: &PolicyDocument, bands: &Bands) -> Self {
        let mut layout = Self { terms: vec![SumTerm::Rows], triangle: Vec::new(), bands: Vec::new() };
        let factors = factors(document);
        for (at, &one) in factors.iter().enumerate() {
            for &other in &factors[..=at] {
                let entry = layout.entry(other, one);
                layout.triangle.push(entry);
            }
        }
        for (feature, described) in document.features().iter().enumerate() {
            layout.add_bands(feature, &described.kind, bands);
        }
        layout
    }

    /// The term of a product, and what it is multiplied by.
    fn entry(&mut self, first: Factor, second: Factor) -> Option<(usize, i128)> {
        let one = i128::from(ONE);
        let (term, scale) = match (first, second) {
            (Factor::One, Factor::One) => (SumTerm::Rows, one * one),
            (Factor::One, Factor::Whole(variable)) | (Factor::Whole(variable), Factor::One) => {
                (SumTerm::Sum(variable), one)
            }
            (Factor::One, Factor::Level(level)) | (Factor::Level(level), Factor::One) => {
                (SumTerm::Count(level), one * one)
            }
            (Factor::Whole(first), Factor::Whole(second)) => (SumTerm::Product(first, second), 1),
            (Factor::Whole(variable), Factor::Level(level)) | (Factor::Level(level), Factor::Whole(variable)) => {
                (SumTerm::SumWithin(variable, level), one)
            }
            (Factor::Level(first), Factor::Level(second)) if first == second => (SumTerm::Count(first), one * one),
            // Nobody is in two levels of a feature.
            (Factor::Level(first), Factor::Level(second)) if first.feature == second.feature => return None,
            (Factor::Level(first), Factor::Level(second)) => (SumTerm::CountBoth(first, second), one * one),
        };
        Some((self.place(term), scale))
    }

    fn add_bands(&mut self, feature: usize, kind: &FeatureKind, bands: &Bands) {
        let outcome = Variable::Outcome;
        let all = [SumTerm::Rows, SumTerm::Sum(outcome), SumTerm::Product(outcome, outcome)].map(|all| self.place(all));
        let count = bands.all().iter().filter(|band| band.feature == feature).count();
        // What is derived has none.
        if count == 0 {
            return;
        }
        // The rest is the last of bands, and the first of levels.
        let (rest, summed): (usize, Vec<[SumTerm; 3]>) = match kind {
            FeatureKind::Numeric { .. } => {
                let terms = |band: usize| {
                    let band = BandOf { feature, band };
                    [SumTerm::InBand(band), SumTerm::OutcomeInBand(band), SumTerm::SquareInBand(band)]
                };
                (count - 1, (0..count - 1).map(terms).collect())
            }
            FeatureKind::Levels(_) => {
                let terms = |level: usize| {
                    let level = LevelOf { feature, level };
                    [SumTerm::Count(level), SumTerm::SumWithin(outcome, level), SumTerm::SquareWithin(level)]
                };
                (0, (1..count).map(terms).collect())
            }
        };
        let summed: Vec<[usize; 3]> = summed.into_iter().map(|terms| terms.map(|term| self.place(term))).collect();
        let others = |at: usize| OfBand::Rest { all: all[at], others: summed.iter().map(|terms| terms[at]).collect() };
        let mut found: Vec<[OfBand; 3]> = summed.iter().map(|terms| terms.map(OfBand::Summed)).collect();
        found.insert(rest, [others(0), others(1), others(2)]);
        self.bands.extend(found);
    }

    /// The place of a term, which is added if it is new.
    fn place(&mut self, term: SumTerm) -> usize {
        self.terms.iter().position(|known| *known == term).unwrap_or_else(|| {
            self.terms.push(term);
            self.terms.len() - 1
        })
    }

    /// The lower triangle of `Σvvᵀ`, by rows, from the terms' sums.
    pub(super) fn triangle(&self, sums: &[i128]) -> Option<Vec<i128>> {
        let number = |entry: &Option<(usize, i128)>| match entry {
            Some((term, scale)) => sums[*term].checked_mul(*scale),
            None => Some(0),
        };
        self.triangle.iter().map(number).collect()
    }

    /// The rows of every band, from the terms' sums, and the sums of their outcomes and of the squares; `None` if they do not fit.
    pub(super) fn bands(&self, sums: &[i128]) -> Option<SumsOfBands> {
        let of_band = |found: &OfBand| match found {
            OfBand::Summed(term) => sums[*term],
            OfBand::Rest { all, others } => {
                others.iter().fold(sums[*all], |left, &term| left.saturating_sub(sums[term]))
            }
        };
        let band = |[rows, outcomes, squares]: &[OfBand; 3]| {
            let (rows, squares) = (u64::try_from(of_band(rows)).ok()?, of_band(squares));
            (squares >= 0).then(|| (rows, (of_band(outcomes), squares)))
        };
        self.bands.iter().map(band).collect::<Option<Vec<_>>>().map(|bands| bands.into_iter().unzip())
    }
}

/// The numbers of `v`, in order.
fn factors(document: &PolicyDocument) -> Vec<Factor> {
    let mut factors: Vec<Factor> = document.has_intercept().then_some(Factor::One).into_iter().collect();
    for (feature, described) in document.features().iter().enumerate() {
        match &described.kind {
            FeatureKind::Numeric { .. } => factors.push(Factor::Whole(Variable::Feature(feature))),
            FeatureKind::Levels(levels) => {
                factors.extend((1..levels.len()).map(|level| Factor::Level(LevelOf { feature, level })));
            }
        }
    }
    factors.extend(bent_features(document).map(|feature| Factor::Whole(Variable::Square(feature))));
    factors.extend([Factor::One, Factor::Whole(Variable::Outcome)]);
    factors
}
