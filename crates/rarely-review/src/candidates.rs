//! The candidates for a change, the simplest first (mathematics §14): built from the part of the log that proposes, within the document's
//! limits, and with as few digits as its people allow.
//!
//! A candidate is the rule of its kind with the highest mean outcome that the proposing part predicts for the people. Nothing else of that
//! part goes over to the one that confirms.

mod ladders;
mod rounding;

use rarely_core::{Arm, Parameters, Rule};
use rarely_policy::{
    Coefficient, Digits, FeatureKind, Ladder, LinearRule, Monotone, PolicyDocument, ScoreRule, WrittenRule,
};
use serde::{Deserialize, Serialize};

use self::ladders::{LadderSearch, orders};
use crate::least_squares::dot;
use crate::moments::packed_length;
use crate::normal_equations::NormalEquations;
use crate::running_variable::RunningVariable;

/// Rows that an option needs, besides one for each coefficient, before a candidate may give it.
const LEAST_ROWS: u64 = 10;
/// Steps of the search for the price at which a capacity holds.
const BISECTIONS: usize = 50;

/// What kind of rule a candidate is. The simplest kind comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CandidateKind {
    /// Everyone gets the same option.
    Constant,
    /// The rule in force with its cuts moved.
    MovedCuts,
    /// A rule of the same form, refitted.
    SameForm,
    /// One threshold on one feature.
    OneThreshold,
    /// The option with the highest estimate for every person.
    LinearEstimate,
}

impl CandidateKind {
    /// How many numbers a rule of this kind is fitted with: what it seems to gain on the rows that it was fitted to grows with them.
    pub(crate) fn fitted_numbers(self, document: &PolicyDocument) -> usize {
        let (arms, d) = (document.shape().arms(), document.shape().dimension());
        let cuts = RunningVariable::of(document, document.rule()).map_or(0, |running| running.cuts.len());
        match self {
            Self::Constant => 1,
            Self::MovedCuts => cuts,
            Self::SameForm => match document.rule() {
                WrittenRule::Score(score) => cuts + score.coefficients.len(),
                _ => cuts + 1,
            },
            Self::OneThreshold => 2 + document.features().len().ilog2() as usize,
            Self::LinearEstimate => (arms - 1) * d,
        }
    }
}

/// Rows that an option needs in the proposing part before a candidate may give it.
pub(crate) fn rows_needed(document: &PolicyDocument) -> u64 {
    document.shape().dimension() as u64 + LEAST_ROWS
}

/// A candidate for a change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// Its kind.
    pub kind: CandidateKind,
    /// The rule, with as few digits as the people allow.
    pub rule: WrittenRule,
    /// The same with all digits.
    pub exact: WrittenRule,
}

/// The candidates for a change from the document's rule, each with its decisions on the people, which differ from those of the rule
/// (`before`) and from each other.
pub(crate) fn candidates(
    document: &PolicyDocument,
    estimates: &Parameters,
    rows: &[u64],
    people: &[f64],
    before: &[Arm],
) -> Vec<(Candidate, Vec<Arm>)> {
    let search = Search::new(document, estimates, rows, people, before);
    let kinds = [
        CandidateKind::Constant,
        CandidateKind::MovedCuts,
        CandidateKind::SameForm,
        CandidateKind::OneThreshold,
        CandidateKind::LinearEstimate,
    ];
    let mut found: Vec<(Candidate, Vec<Arm>)> = Vec::new();
    for kind in kinds {
        let Some(exact) = search.best(kind) else { continue };
        let rule = if document.change().digits == Digits::Fewest { search.rounded(&exact) } else { exact.clone() };
        let decisions = search.decisions(&rule);
        if decisions != before && found.iter().all(|(_, other)| *other != decisions) {
            found.push((Candidate { kind, rule, exact }, decisions));
        }
    }
    found
}

/// The search for candidates.
struct Search<'a> {
    document: &'a PolicyDocument,
    estimates: &'a Parameters,
    people: &'a [f64],
    /// The predicted reward of every person under every option.
    values: Vec<f64>,
    /// The rule in force on the people.
    before: &'a [Arm],
    /// Whether an option has rows enough to be given.
    usable: Vec<bool>,
}

impl<'a> Search<'a> {
    fn new(
        document: &'a PolicyDocument,
        estimates: &'a Parameters,
        rows: &[u64],
        people: &'a [f64],
        before: &'a [Arm],
    ) -> Self {
        let d = document.shape().dimension();
        let values = people.chunks_exact(d).flat_map(|person| estimates.iter().map(move |arm| dot(arm, person)));
        Self {
            document,
            estimates,
            people,
            values: values.collect(),
            before,
            usable: rows.iter().map(|&rows| rows >= rows_needed(document)).collect(),
        }
    }

    fn best(&self, kind: CandidateKind) -> Option<WrittenRule> {
        let build = |prices: &[f64]| match kind {
            CandidateKind::Constant => self.constant(),
            CandidateKind::MovedCuts => self.moved_cuts(prices),
            CandidateKind::SameForm => self.same_form(prices),
            CandidateKind::OneThreshold => self.one_threshold(prices),
            CandidateKind::LinearEstimate => self.linear_estimate(prices),
        };
        self.within_capacity(build)
    }

    /// The rule with the highest value at the lowest prices of the limited options at which their capacities hold.
    fn within_capacity(&self, build: impl Fn(&[f64]) -> Option<WrittenRule>) -> Option<WrittenRule> {
        let mut prices = vec![0.0; self.usable.len()];
        let rule = build(&prices)?;
        if self.fits_capacity(&rule) {
            return Some(rule);
        }
        let (low, high) =
            self.values.iter().fold((0.0_f64, 0.0_f64), |(low, high), &value| (low.min(value), high.max(value)));
        let capacities = self.document.limits().capacities();
        let limited: Vec<usize> = (0..prices.len()).filter(|&arm| capacities[arm] < 1.0).collect();
        for _ in 0..limited.len() {
            for &arm in &limited {
                let (mut cheap, mut dear) = (0.0, 2.0 * (high - low) + 1e-9);
                for _ in 0..BISECTIONS {
                    prices[arm] = 0.5 * (cheap + dear);
                    let fits = build(&prices).is_some_and(|rule| self.shares(&rule)[arm] <= capacities[arm]);
                    *(if fits { &mut dear } else { &mut cheap }) = prices[arm];
                }
                prices[arm] = dear;
            }
        }
        build(&prices).filter(|rule| self.fits_capacity(rule))
    }

    fn fits_capacity(&self, rule: &WrittenRule) -> bool {
        let capacities = self.document.limits().capacities();
        capacities.iter().all(|&capacity| capacity >= 1.0)
            || self.shares(rule).iter().zip(capacities).all(|(share, capacity)| share <= capacity)
    }

    /// The share of the people who get each option.
    fn shares(&self, rule: &WrittenRule) -> Vec<f64> {
        let decisions = self.decisions(rule);
        let mut shares = vec![0.0; self.usable.len()];
        for arm in &decisions {
            shares[arm.index()] += 1.0 / decisions.len() as f64;
        }
        // The sum of many parts: a share of exactly the capacity fits.
        shares.iter().map(|share| share - 1e-9).collect()
    }

    fn decisions(&self, rule: &WrittenRule) -> Vec<Arm> {
        let contexts = rarely_core::Contexts::new(self.people, self.document.shape().dimension());
        let decide = |contexts| Rule::new(rule.parameters(self.document)).choose_many(contexts).ok();
        contexts.ok().and_then(decide).unwrap_or_default()
    }

    /// The predicted gain of a rule over the one in force.
    fn gain(&self, decisions: &[Arm]) -> f64 {
        let values = self.values.chunks_exact(self.usable.len()).zip(self.before.iter().zip(decisions));
        let total: f64 = values.map(|(values, (old, new))| values[new.index()] - values[old.index()]).sum();
        total / decisions.len().max(1) as f64
    }

    /// The predicted values less the prices; those of options that cannot be given are beyond reach.
    fn priced(&self, prices: &[f64]) -> Vec<f64> {
        let arms = self.usable.len();
        let priced = self.values.iter().enumerate().map(|(at, value)| {
            let arm = at % arms;
            if self.usable[arm] { value - prices[arm] } else { f64::NEG_INFINITY }
        });
        priced.collect()
    }

    /// The best option for everyone, other than the rule in force.
    fn constant(&self) -> Option<WrittenRule> {
        let arms = self.usable.len();
        let capacities = self.document.limits().capacities();
        let alone = |arm: &usize| self.before.iter().all(|before| before.index() == *arm);
        let mean = |arm: usize| self.values.iter().skip(arm).step_by(arms).sum::<f64>();
        let free = (0..arms).filter(|&arm| self.usable[arm] && capacities[arm] >= 1.0).filter(|arm| !alone(arm));
        let best = free.max_by(|&one, &other| mean(one).total_cmp(&mean(other)))?;
        let ladder =
            Ladder { direction: vec![0.0; self.document.shape().dimension()], cuts: Vec::new(), options: vec![best] };
        self.written(&ladder, self.document.rule())
    }

    /// The rule in force with its cuts moved.
    fn moved_cuts(&self, prices: &[f64]) -> Option<WrittenRule> {
        let running = RunningVariable::of(self.document, self.document.rule())?;
        let options = running.ladder.options.clone();
        self.best_ladder(running.ladder.direction, &[options], prices)
    }

    /// A rule of the form in force: the same feature or the same features, any options in any order, as many cuts at most.
    fn same_form(&self, prices: &[f64]) -> Option<WrittenRule> {
        let running = RunningVariable::of(self.document, self.document.rule())?;
        let direction = match self.document.rule() {
            WrittenRule::Threshold(_) => running.ladder.direction.clone(),
            WrittenRule::Score(score) => {
                let named = |feature: usize| score.coefficients.contains_key(&self.document.features()[feature].column);
                self.score_direction(&running.ladder.options, &named)?
            }
            // Its form is that of the linear estimate.
            WrittenRule::Linear(_) => return None,
        };
        let orders = orders(&self.usable, running.ladder.cuts.len() + 1);
        self.best_ladder(direction, &orders, prices)
    }

    /// The direction in which the last of some options gains most on the first, along some features.
    fn score_direction(&self, options: &[usize], named: &dyn Fn(usize) -> bool) -> Option<Vec<f64>> {
        let (&first, &last) = (options.first()?, options.last()?);
        let target: Vec<f64> =
            self.estimates.arm(last).iter().zip(self.estimates.arm(first)).map(|(last, first)| last - first).collect();
        let mut direction = self.along_features(&target, &|feature| named(feature) && self.may_use(feature));
        direction[0] = 0.0;
        direction.iter().any(|&value| value != 0.0).then_some(direction)
    }

    /// One threshold on one feature.
    fn one_threshold(&self, prices: &[f64]) -> Option<WrittenRule> {
        let orders = orders(&self.usable, 2);
        let features = (0..self.document.features().len()).filter(|&feature| self.may_use(feature));
        let numeric = features.filter(|&feature| {
            let described = &self.document.features()[feature];
            described.range().is_some() && described.source.is_column()
        });
        let rules = numeric.filter_map(|feature| {
            let mut direction = vec![0.0; self.document.shape().dimension()];
            direction[self.document.offset(feature)] = 1.0;
            self.best_ladder(direction, &orders, prices)
        });
        let rated = rules.map(|rule| (self.gain(&self.decisions(&rule)), rule));
        rated.max_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, rule)| rule)
    }

    /// The ladder along a direction with the highest predicted value, among the allowed orders of options.
    fn best_ladder(&self, direction: Vec<f64>, orders: &[Vec<usize>], prices: &[f64]) -> Option<WrittenRule> {
        let mut used = (0..self.document.features().len()).filter(|&feature| self.uses(&direction, feature));
        if used.any(|feature| !self.may_use(feature)) {
            return None;
        }
        let values = self.priced(prices);
        let search = LadderSearch::new(&direction, self.people, &values, self.usable.len());
        let allowed = orders.iter().filter(|order| self.is_allowed(&direction, order));
        let best =
            allowed.filter_map(|order| search.best(order)).max_by(|one, other| one.value.total_cmp(&other.value))?;
        let ladder = Ladder { direction, cuts: best.cuts, options: best.options };
        self.written(&ladder, self.document.rule())
    }

    /// Whether every option may be given, and the order respects the document's monotone features.
    fn is_allowed(&self, direction: &[f64], order: &[usize]) -> bool {
        let rises = order.windows(2).all(|pair| pair[0] < pair[1]);
        let falls = order.windows(2).all(|pair| pair[0] > pair[1]);
        order.iter().all(|&arm| self.usable[arm])
            && (0..self.document.features().len()).all(|feature| {
                let along = direction[self.document.offset(feature)];
                match self.document.limits().slope(feature) {
                    None => true,
                    Some(_) if along == 0.0 => true,
                    Some(Monotone::Up) => {
                        if along > 0.0 {
                            rises
                        } else {
                            falls
                        }
                    }
                    Some(Monotone::Down) => {
                        if along > 0.0 {
                            falls
                        } else {
                            rises
                        }
                    }
                }
            })
    }

    /// The option with the highest estimate, by the features that may be used.
    fn linear_estimate(&self, prices: &[f64]) -> Option<WrittenRule> {
        let usable = self.usable.iter().filter(|&&usable| usable).count();
        if usable == 0 || usable < self.usable.len() && !self.document.has_intercept() {
            return None;
        }
        let mut left_out: Vec<usize> = Vec::new();
        let mut lines = self.lines(&left_out);
        // A feature along which an option would go the wrong way is left out.
        while let Some(feature) = self.wrong_way(&lines) {
            left_out.push(feature);
            lines = self.lines(&left_out);
        }
        if self.document.has_intercept() {
            let size = lines.iter().flatten().fold(1.0_f64, |size, value| size.max(value.abs()));
            for (arm, line) in lines.iter_mut().enumerate() {
                line[0] -= prices[arm];
                if !self.usable[arm] {
                    line.fill(0.0);
                    line[0] = -(4.0 * size * line.len() as f64);
                }
            }
        }
        let parameters = Parameters::new(self.document.shape(), lines.concat()).ok()?;
        let fits = |rule: &WrittenRule| self.document.check_rule(rule).is_ok();
        let score = WrittenRule::from_parameters(self.document, &parameters, &every_feature(self.document));
        score.filter(fits).or_else(|| {
            let linear = WrittenRule::Linear(LinearRule { scores: [].into_iter().collect() });
            WrittenRule::from_parameters(self.document, &parameters, &linear).filter(fits)
        })
    }

    fn lines(&self, left_out: &[usize]) -> Vec<Vec<f64>> {
        let uses = |feature: usize| self.may_use(feature) && !left_out.contains(&feature);
        self.estimates.iter().map(|line| self.along_features(line, &uses)).collect()
    }

    /// A monotone feature along which one usable option gains on a later one.
    fn wrong_way(&self, lines: &[Vec<f64>]) -> Option<usize> {
        (0..self.document.features().len()).find(|&feature| {
            let slopes: Vec<f64> = (lines.iter().zip(&self.usable))
                .filter(|(_, usable)| **usable)
                .map(|(line, _)| line[self.document.offset(feature)])
                .collect();
            match self.document.limits().slope(feature) {
                None => false,
                Some(Monotone::Up) => slopes.windows(2).any(|pair| pair[0] > pair[1]),
                Some(Monotone::Down) => slopes.windows(2).any(|pair| pair[0] < pair[1]),
            }
        })
    }

    /// A linear function of the context that uses some features only: the nearest to another one on the people.
    fn along_features(&self, target: &[f64], uses: &dyn Fn(usize) -> bool) -> Vec<f64> {
        let d = target.len();
        let mut used: Vec<usize> = (0..usize::from(self.document.has_intercept())).collect();
        for feature in (0..self.document.features().len()).filter(|&feature| uses(feature)) {
            let start = self.document.offset(feature);
            used.extend(start..start + self.document.features()[feature].coordinates());
        }
        if used.len() == d {
            return target.to_vec();
        }
        let (mut information, mut moment) = (vec![0.0; packed_length(used.len())], vec![0.0; used.len()]);
        for person in self.people.chunks_exact(d) {
            let value = dot(person, target);
            for (i, &row) in used.iter().enumerate() {
                moment[i] += value * person[row];
                for (j, &column) in used[..=i].iter().enumerate() {
                    information[packed_length(i) + j] += person[row] * person[column];
                }
            }
        }
        let mut line = vec![0.0; d];
        for (&at, value) in used.iter().zip(NormalEquations::new(&information, &moment).coefficients()) {
            line[at] = value;
        }
        line
    }

    fn may_use(&self, feature: usize) -> bool {
        !self.document.limits().is_forbidden(feature)
    }

    fn uses(&self, direction: &[f64], feature: usize) -> bool {
        let start = self.document.offset(feature);
        let coordinates = self.document.features()[feature].coordinates();
        direction[start..start + coordinates].iter().any(|&value| value != 0.0)
    }

    /// A ladder in the form of a rule, if that form can express it.
    fn written(&self, ladder: &Ladder, like: &WrittenRule) -> Option<WrittenRule> {
        let parameters = ladder.parameters(self.document.shape(), &vec![1.0; ladder.cuts.len()]);
        let fits = |rule: &WrittenRule| self.document.check_rule(rule).is_ok();
        WrittenRule::from_parameters(self.document, &parameters, like).filter(fits).or_else(|| {
            let threshold = self.document.feature_columns().iter().find(|feature| feature.range().is_some())?;
            let like = WrittenRule::Threshold(rarely_policy::ThresholdRule {
                feature: threshold.column.clone(),
                cuts: Vec::new(),
                options: vec![self.document.options()[0].clone()],
            });
            WrittenRule::from_parameters(self.document, &parameters, &like).filter(fits)
        })
    }
}

/// A score in which every feature may count.
fn every_feature(document: &PolicyDocument) -> WrittenRule {
    let coefficients = document.features().iter().map(|feature| {
        let coefficient = match &feature.kind {
            FeatureKind::Numeric { .. } => Coefficient::Slope(1.0),
            FeatureKind::Levels(levels) => {
                Coefficient::Levels(levels[1..].iter().map(|level| (level.clone(), 0.0)).collect())
            }
        };
        (feature.column.clone(), coefficient)
    });
    let options = document.options().to_vec();
    let cuts = (0..options.len() - 1).map(|at| at as f64).collect();
    WrittenRule::Score(ScoreRule { coefficients: coefficients.collect(), cuts, options })
}
