//! What a judgement of a rule rests on: the document's assumptions, the statistics, the candidates for a change, and the people whom the
//! rule is for.

use std::borrow::Cow;

use rarely_core::{
    Arm, Certificate, Confidence, Contexts, Digest, ErrorProbability, Interval, LeastSquares, Noise, NormBound,
    Parameters, Population, Region, Rule, SharpSet, Statistics, Stuck, gain_functional,
};
use rarely_policy::{EvidenceStandard, PolicyDocument, WrittenRule};

use crate::candidates::{Candidate, candidates, rows_needed};
use crate::curvature::{Curvature, NoCurvature};
use crate::design_effect::DesignEffect;
use crate::error::ReviewError;
use crate::log_rate::LogRate;
use crate::model_free::ModelFreeGain;
use crate::moments::Moments;
use crate::most_plausible::most_plausible;
use crate::planned_radius::{arm_sums, estimated_noise, planned_radius};
use crate::propensity_reading::{PropensityReading, RuleValue};
use crate::second_reading::{GainErrors, SecondReading};
use crate::side_regression::{SideRegression, side_regressions};
use crate::tally::{Tally, regression};
use crate::time_marks::marked_regression;

/// Stands for noise that nothing is known of.
const UNKNOWN_NOISE: f64 = 1e9;

/// What a judgement of a rule rests on.
#[derive(Debug, Clone)]
pub struct EvidenceBase<'a> {
    /// Options, features, assumptions.
    pub document: &'a PolicyDocument,
    /// The regression of every option.
    pub statistics: Statistics,
    /// Contexts of the people whom the rule is for, row by row; at least one.
    pub people: Vec<f64>,
    confidence: Confidence,
    /// What holds at any time.
    sharp: SharpSet,
    /// The radius of planned looks, where the design allows them.
    radius: Option<f64>,
    /// `None` where rows are in clusters or have weights, and were not read again.
    design_effect: Option<DesignEffect>,
    candidates: Vec<Candidate>,
    /// What the rule in force decides for the people, …
    before: Vec<Arm>,
    /// … and each candidate.
    after: Vec<Vec<Arm>>,
    confirming: Option<ConfirmingPart>,
    /// Of guard-rails and of the values of fairness columns.
    sides: Vec<SideRegression>,
    /// The candidates in the order in which they are judged.
    order: Vec<usize>,
    scarce: Vec<usize>,
    digest: Digest,
    rate: Option<LogRate>,
    /// What was observed of each option in each band, and then in all; nothing for statistics without a log.
    observed: Vec<Vec<ObservedBand>>,
}

/// What a log holds of an option in a band.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ObservedBand {
    /// Rows of the option in the band.
    pub rows: u64,
    /// Their mean reward, with the ends of its interval; `None` if there are no rows, or their outcomes were not kept.
    pub mean: Option<Interval>,
}

/// The part of a log that confirms.
#[derive(Debug, Clone)]
pub(crate) struct ConfirmingPart {
    pub(crate) fit: LeastSquares,
    /// The gain of each candidate, `⟨g,θ⟩`.
    pub(crate) functionals: Vec<Parameters>,
    /// What weights were multiplied by.
    pub(crate) weight_scale: f64,
    /// What a second reading starts from; `None` if the document declares no propensities.
    pub(crate) propensities: Option<PropensityReading>,
    /// The errors of those gains from a second reading, if there was one.
    pub(crate) errors: Option<GainErrors>,
    /// The model-free gains of a second reading, …
    pub(crate) model_free_gains: Vec<Result<ModelFreeGain, String>>,
    /// … and the values of the rule in force and of every candidate.
    pub(crate) values: Vec<RuleValue>,
}

impl<'a> EvidenceBase<'a> {
    /// From the sums of a log and the people whom the rule is for: those given (contexts, row by row), or a sample of the log's.
    ///
    /// # Errors
    /// [`ReviewError`] if the parts do not fit, or there is no row.
    pub fn of(document: &'a PolicyDocument, tally: &Tally, people: Option<Vec<f64>>) -> Result<Self, ReviewError> {
        if tally.rows() == 0 {
            return Err(ReviewError::Empty);
        }
        tally.check_keys(document)?;
        let sampled = people.is_none();
        let people = people.unwrap_or_else(|| tally.sample().contexts());
        let totals = tally.totals();
        let statistics = marked_regression(document, tally, &totals)?;
        let Some(confirming) = tally.confirming() else {
            let base = Self::undivided(document, statistics, people, estimated_noise(&totals))?;
            let sides = side_regressions(&base, tally)?;
            return Ok(Self { rate: tally.rate(), observed: tally.observed(), sides, ..base });
        };
        let proposing = tally.proposing();
        let rows: Vec<u64> = proposing.iter().map(Moments::rows).collect();
        let estimates = regression(document, &proposing)?.estimates();
        let mut base =
            Self::with_candidates(document, statistics, people, &estimates, &rows, estimated_noise(&totals))?;
        if let Some(looks) = document.standard().looks() {
            base.radius = planned_radius(document, &totals, looks);
        }
        let fit = LeastSquares::from_sums(document.shape(), &confirming)?;
        let functionals =
            base.after.iter().map(|after| gain_functional(document.shape(), base.contexts(), &base.before, after));
        let functionals = functionals.collect::<Result<Vec<_>, _>>()?;
        base.order = base.by_evidence(&proposing, &functionals)?;
        let propensities = PropensityReading::new(&base, tally, estimates, fit.cases(), sampled);
        base.confirming = Some(ConfirmingPart {
            fit,
            functionals,
            weight_scale: tally.weight_scale(),
            propensities,
            errors: None,
            model_free_gains: Vec::new(),
            values: Vec::new(),
        });
        base.sides = side_regressions(&base, tally)?;
        base.digest = tally.digest().unwrap_or(base.digest);
        base.rate = tally.rate();
        base.observed = tally.observed();
        Ok(base)
    }

    /// From statistics whose rows are not divided: the same rows propose and judge, by sets that hold for every change at once.
    fn undivided(
        document: &'a PolicyDocument,
        statistics: Statistics,
        people: Vec<f64>,
        noise: Option<f64>,
    ) -> Result<Self, ReviewError> {
        let rows: Vec<u64> = statistics.arms().iter().map(rarely_core::Ridge::count).collect();
        let estimates = statistics.estimates();
        Self::with_candidates(document, statistics, people, &estimates, &rows, noise)
    }

    fn with_candidates(
        document: &'a PolicyDocument,
        statistics: Statistics,
        people: Vec<f64>,
        estimates: &Parameters,
        rows: &[u64],
        estimated_noise: Option<f64>,
    ) -> Result<Self, ReviewError> {
        let seen = Contexts::new(&people, document.shape().dimension())?;
        let confidence = confidence(document, estimated_noise)?;
        let before = Rule::new(document.rule().parameters(document)).choose_many(seen)?;
        let (candidates, after): (Vec<Candidate>, Vec<Vec<Arm>>) =
            candidates(document, estimates, rows, &people, &before).into_iter().unzip();
        let (digest, after_count) = (statistics.digest(), after.len());
        Ok(Self {
            document,
            sharp: confidence.sharp(&statistics),
            statistics,
            confidence,
            radius: None,
            design_effect: document.log_columns().rows_are_alike().then_some(DesignEffect::NONE),
            candidates,
            before,
            after,
            confirming: None,
            sides: Vec::new(),
            order: (0..after_count).collect(),
            scarce: (0..rows.len()).filter(|&option| rows[option] < rows_needed(document)).collect(),
            digest,
            rate: None,
            observed: Vec::new(),
            people,
        })
    }

    /// Only the strongest candidate of the proposing part is judged, where rows are divided: one of many groups has one test (mathematics §18).
    pub(crate) fn judging_the_strongest(mut self) -> Self {
        if self.confirming.is_some() {
            self.order.truncate(1);
        }
        self
    }

    /// A second reading of the log, which makes the errors of gains robust; `None` if the rows are not divided.
    pub fn second_reading(&self) -> Option<SecondReading> {
        self.confirming.as_ref().map(|part| SecondReading::new(self.document, part, &self.sides))
    }

    /// Uses the errors, the model-free gains and the values of a second reading.
    #[must_use]
    pub fn with_second_reading(mut self, reading: SecondReading) -> Self {
        let minimum = self.document.change().minimum_gain;
        let anytime = self.is_anytime();
        self.widen(reading.design_effect());
        if let Some(part) = &mut self.confirming {
            let (errors, propensities) = reading.finish(&part.fit, &part.functionals, &mut self.sides);
            part.errors = Some(errors);
            if let Some(found) = propensities {
                part.values = found.values(self.document.outcome_sign());
                part.model_free_gains = found.gains(anytime, minimum);
            }
        }
        self
    }

    /// Takes a design effect into the sets: rows vary as if the noise were larger.
    fn widen(&mut self, effect: DesignEffect) {
        let root = effect.factor.sqrt();
        if let Ok(noise) = Noise::new(root * self.confidence.noise.get()) {
            self.confidence.noise = noise;
            self.sharp = self.confidence.sharp(&self.statistics);
        }
        self.radius = self.radius.map(|radius| root * radius);
        self.design_effect = Some(effect);
    }

    /// What clusters and weights do to variances; `None` if that is not known, because the rows were not read again.
    pub fn design_effect(&self) -> Option<DesignEffect> {
        self.design_effect
    }

    /// The same, where what is not known has to be left out.
    pub(crate) fn known_design_effect(&self) -> DesignEffect {
        self.design_effect.unwrap_or(DesignEffect::NONE)
    }

    /// The test of an option's straight line, which allows for clusters and weights.
    pub(crate) fn curvature(&self, sums: &Moments) -> Result<Curvature, NoCurvature> {
        sums.curvature().map(|found| self.known_design_effect().of_curvature(found))
    }

    /// What was observed of an option in a band of [`Bands::of`](crate::Bands::of), with intervals that allow for clusters and weights. Every
    /// row counts once, whatever its weight.
    pub fn observed(&self, option: usize, band: usize) -> ObservedBand {
        self.widened(self.observed.get(option).and_then(|bands| bands.get(band)))
    }

    /// The same of all rows of an option.
    pub fn observed_overall(&self, option: usize) -> ObservedBand {
        self.widened(self.observed.get(option).and_then(|bands| bands.last()))
    }

    fn widened(&self, found: Option<&ObservedBand>) -> ObservedBand {
        let found = found.copied().unwrap_or(ObservedBand { rows: 0, mean: None });
        let root = self.known_design_effect().factor.sqrt();
        let wider = |Interval { estimate, lower, upper }: Interval| Interval {
            estimate,
            lower: estimate - root * (estimate - lower),
            upper: estimate + root * (upper - estimate),
        };
        ObservedBand { mean: found.mean.map(wider), ..found }
    }

    /// The days that so many further cases take.
    pub(crate) fn days_for(&self, cases: Option<u64>) -> Option<f64> {
        Some(cases? as f64 / self.rate?.cases_per_day())
    }

    /// The assumptions.
    pub fn confidence(&self) -> Confidence {
        self.confidence
    }

    /// The parameters that the log has not ruled out: one ellipsoid at planned looks, otherwise sharp sets.
    pub fn region(&self) -> Region<'_> {
        match self.radius {
            Some(radius) => Region::Ellipsoid(self.confidence.set_of_radius(&self.statistics, radius)),
            None => Region::Pairs(Cow::Borrowed(&self.sharp)),
        }
    }

    /// The sets that hold at any time.
    pub(crate) fn sharp(&self) -> &SharpSet {
        &self.sharp
    }

    /// The radius of planned looks, if these decide about boundaries.
    pub fn radius(&self) -> Option<f64> {
        self.radius
    }

    /// The options that may be best for many people but are hardly ever given.
    pub fn stuck(&self) -> Vec<Stuck> {
        let people = Population::supplied(self.contexts());
        people.map_or_else(|_| Vec::new(), |people| self.region().stuck(&people, &self.statistics))
    }

    /// The people.
    ///
    /// # Panics
    /// If `people` was replaced by contexts that do not fit the document.
    pub fn contexts(&self) -> Contexts<'_> {
        Contexts::new(&self.people, self.document.shape().dimension()).expect("checked when this was built")
    }

    /// The candidates for a change, the simplest first.
    pub fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    /// What the rule in force decides for the people, and what a candidate does.
    pub(crate) fn decisions(&self, candidate: usize) -> (&[Arm], &[Arm]) {
        (&self.before, &self.after[candidate])
    }

    /// The candidates in the order in which they are judged.
    pub(crate) fn order(&self) -> &[usize] {
        &self.order
    }

    /// The candidates in the order of their evidence in the proposing part, the strongest first: the square of the estimate in standard
    /// errors, less two for each number that was fitted, as what a rule seems to gain on the rows that it was fitted to flatters it.
    fn by_evidence(&self, proposing: &[Moments], functionals: &[Parameters]) -> Result<Vec<usize>, ReviewError> {
        let sums: Vec<rarely_core::ArmSums> = proposing.iter().map(arm_sums).collect();
        let fit = LeastSquares::from_sums(self.document.shape(), &sums)?;
        let strength = |(candidate, functional): (&Candidate, &Parameters)| {
            let fitted = 2.0 * candidate.kind.fitted_numbers(self.document) as f64;
            match (fit.estimate(functional), fit.sums_error(functional)) {
                (Ok(estimate), Ok(error)) if error > 0.0 => estimate * estimate.abs() / (error * error) - fitted,
                _ => f64::NEG_INFINITY,
            }
        };
        let strengths: Vec<f64> = self.candidates.iter().zip(functionals).map(strength).collect();
        let mut order: Vec<usize> = (0..functionals.len()).collect();
        order.sort_by(|&one, &other| strengths[other].total_cmp(&strengths[one]));
        Ok(order)
    }

    /// The options with too few rows in the proposing part for a candidate to give them.
    pub(crate) fn scarce_options(&self) -> &[usize] {
        &self.scarce
    }

    /// The part that confirms.
    pub(crate) fn confirming(&self) -> Option<&ConfirmingPart> {
        self.confirming.as_ref()
    }

    /// The regressions of guard-rails and of the values of fairness columns.
    pub(crate) fn sides(&self) -> &[SideRegression] {
        &self.sides
    }

    /// The digest of the statistics.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// The error probability of one look.
    pub(crate) fn error_probability(&self) -> Result<ErrorProbability, ReviewError> {
        if self.confirming.is_none() { Ok(self.confidence.error_probability) } else { self.look_error_probability() }
    }

    /// The error probability of one look at rows that confirm.
    pub(crate) fn look_error_probability(&self) -> Result<ErrorProbability, ReviewError> {
        let looks = self.document.standard().looks().unwrap_or(1);
        Ok(ErrorProbability::new(self.confidence.error_probability.get() / looks as f64)?)
    }

    /// Whether intervals hold at any time, rather than at planned looks.
    pub(crate) fn is_anytime(&self) -> bool {
        self.confirming.is_none() || *self.document.standard() == EvidenceStandard::Anytime
    }

    /// The parameters under which a rule is most plausible.
    pub fn most_plausible(&self, rule: &WrittenRule) -> Parameters {
        most_plausible(self.document, rule, &self.statistics, &self.people)
    }

    /// The certificate of a change between two rules, with the interval of its gain.
    ///
    /// # Errors
    /// [`ReviewError::Context`] if the people do not fit.
    pub(crate) fn certify(
        &self,
        from: &WrittenRule,
        to: &WrittenRule,
        gain: Interval,
    ) -> Result<Certificate, ReviewError> {
        let rule = |rule| Rule::new(self.most_plausible(rule));
        let mut certificate = self.region().certify(&rule(from), &rule(to), self.contexts(), &self.statistics)?;
        certificate.gain.interval = gain;
        certificate.digest = self.digest;
        Ok(certificate)
    }
}

/// A document's assumptions. Noise that is neither declared nor bounded by the outcome's range is the estimated one; where that is missing
/// too, nothing is ruled out.
///
/// # Errors
/// [`ReviewError::Settings`] if a number is out of its range.
pub(crate) fn confidence(document: &PolicyDocument, estimated_noise: Option<f64>) -> Result<Confidence, ReviewError> {
    Ok(Confidence {
        noise: Noise::new(document.noise().or(estimated_noise).unwrap_or(UNKNOWN_NOISE))?,
        norm_bound: document.norm_bound().map(NormBound::new).transpose()?,
        ..document.settings()?.confidence()
    })
}
