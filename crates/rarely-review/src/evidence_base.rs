//! What a judgement of a rule rests on: the document's assumptions, the statistics, and the people whom the rule is for.

use rarely_core::{
    Algorithm, Certificate, Certificates, Change, Confidence, ConfidenceSet, Contexts, Gain, Interval, Parameters,
    Settings, Statistics,
};
use rarely_policy::{PolicyDocument, WrittenRule};

use crate::error::ReviewError;
use crate::most_plausible::most_plausible;
use crate::tally::Tally;

/// What a judgement of a rule rests on.
#[derive(Debug, Clone)]
pub struct EvidenceBase<'a> {
    /// Options, features, assumptions.
    pub document: &'a PolicyDocument,
    /// The regression of every option.
    pub statistics: Statistics,
    /// Contexts of the people whom the rule is for, row by row; at least one.
    pub people: Vec<f64>,
    settings: Settings,
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
        let people = people.unwrap_or_else(|| tally.sample().contexts());
        Self::new(document, tally.statistics(document)?, people)
    }

    /// Checks that the parts fit.
    ///
    /// # Errors
    /// [`ReviewError`] if they do not.
    pub fn new(document: &'a PolicyDocument, statistics: Statistics, people: Vec<f64>) -> Result<Self, ReviewError> {
        let seen = Contexts::new(&people, document.shape().dimension())?;
        let mut settings = document.settings()?.certificates(Certificates::Brief).population(seen)?;
        if document.change().algorithm == Algorithm::Greedy {
            // It holds no rule of the owner, only its own estimate; at a review it acts like a schedule.
            settings = settings.algorithm(Algorithm::Scheduled);
        }
        Ok(Self { document, statistics, people, settings })
    }

    /// The assumptions.
    pub fn confidence(&self) -> Confidence {
        self.settings.confidence()
    }

    /// The parameters that the log has not ruled out.
    pub fn set(&self) -> ConfidenceSet<'_> {
        self.confidence().set(&self.statistics)
    }

    /// The people.
    ///
    /// # Panics
    /// If `people` was replaced by contexts that do not fit the document.
    pub fn contexts(&self) -> Contexts<'_> {
        Contexts::new(&self.people, self.document.shape().dimension()).expect("checked when this was built")
    }

    /// The parameters under which a rule is most plausible.
    pub fn most_plausible(&self, rule: &WrittenRule) -> Parameters {
        most_plausible(self.document, rule, &self.statistics, &self.people)
    }

    /// Whether the document's algorithm keeps a rule or switches, with the evidence.
    ///
    /// # Errors
    /// [`ReviewError::Settings`] if the document's settings exclude each other.
    pub fn reconsider(&self, rule: &WrittenRule) -> Result<Change, ReviewError> {
        self.reconsider_as(&self.most_plausible(rule))
    }

    fn reconsider_as(&self, most_plausible: &Parameters) -> Result<Change, ReviewError> {
        let settings = self.settings.clone().deployed(most_plausible.values().to_vec())?;
        Ok(settings.learned(self.statistics.clone()).build()?.reconsider())
    }

    /// The certificate of a change between two rules.
    ///
    /// # Errors
    /// [`ReviewError::Context`] if the people do not fit.
    pub fn certify(&self, from: &WrittenRule, to: &WrittenRule) -> Result<Certificate, ReviewError> {
        let rule = |rule| rarely_core::Rule::new(self.most_plausible(rule));
        Ok(self.set().certify(&rule(from), &rule(to), self.contexts())?)
    }

    /// The gain of a change between two rules on the people.
    ///
    /// # Errors
    /// [`ReviewError::Context`] if the people do not fit.
    pub fn gain(&self, from: &WrittenRule, to: &WrittenRule) -> Result<Gain, ReviewError> {
        let decide = |rule| rarely_core::Rule::new(self.most_plausible(rule)).choose_many(self.contexts());
        Ok(self.set().gain(self.contexts(), &decide(from)?, &decide(to)?)?)
    }

    /// Whether a change to a rule passes the tests that the algorithm's own proposal passes: the rule is plausible, it would be kept
    /// if it were in force, and the change gains what the document requires; with certainty, if `certainly` is set.
    ///
    /// # Errors
    /// As [`EvidenceBase::reconsider`].
    pub fn accepts(&self, from: &WrittenRule, to: &WrittenRule, certainly: bool) -> Result<bool, ReviewError> {
        if !self.would_stay(to)? {
            return Ok(false);
        }
        let gain = self.gain(from, to)?.interval;
        Ok(self.gains_enough(gain) && (!certainly || gain.lower > 0.0))
    }

    /// Whether a rule is plausible by the document's algorithm, and would be kept.
    ///
    /// # Errors
    /// As [`EvidenceBase::reconsider`].
    pub fn would_stay(&self, rule: &WrittenRule) -> Result<bool, ReviewError> {
        let most_plausible = self.most_plausible(rule);
        let plausible = || self.set().boundaries(&most_plausible).iter().all(|boundary| boundary.plausible);
        Ok(match self.document.change().algorithm {
            // These follow the estimate at every review: any plausible rule is acceptable.
            Algorithm::Greedy | Algorithm::Scheduled => plausible(),
            // These are judged by the gain, or by the share of people who get a ruled-out option.
            Algorithm::Certified => true,
            Algorithm::Rarely
            | Algorithm::RarelyQuick
            | Algorithm::PopulationGreedy
            | Algorithm::PopulationConservative => self.reconsider_as(&most_plausible)?.evidence().is_none(),
            _ => plausible() && self.reconsider_as(&most_plausible)?.evidence().is_none(),
        })
    }

    /// Whether a change gains what the document requires: `rarely` and `certified` with certainty, the others by their estimate.
    pub fn gains_enough(&self, gain: Interval) -> bool {
        let minimum = self.document.change().minimum_gain;
        match self.document.change().algorithm {
            Algorithm::Rarely | Algorithm::Certified => gain.lower > minimum,
            _ => gain.estimate > 0.0 && gain.estimate >= minimum,
        }
    }
}
