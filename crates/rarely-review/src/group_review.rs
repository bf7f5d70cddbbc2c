//! A review of one rule in many groups, which share the error probability (mathematics §18).

use std::collections::BTreeMap;

use rarely_core::Interval;
use rarely_policy::{EvidenceStandard, PolicyDocument};

use crate::candidate_gain::JudgedCandidate;
use crate::candidates::CandidateKind;
use crate::error::ReviewError;
use crate::evidence_base::EvidenceBase;
use crate::group_tallies::{GroupTallies, UnusedRows};
use crate::holm::holm;
use crate::judgement::{Judgement, examine};
use crate::pooling::{LEAST_POOLED, Pooled, pool};
use crate::review::{Review, complete};
use crate::second_reading::SecondReading;
use crate::tally::Tally;
use crate::tally_error::TallyError;
use crate::tally_row::TallyRow;
use crate::verdict::Verdict;

/// The evidence of all groups.
#[derive(Debug, Clone)]
pub struct GroupEvidence {
    document: PolicyDocument,
    groups: Vec<OneGroup>,
    unused: UnusedRows,
}

#[derive(Debug, Clone)]
struct OneGroup {
    name: String,
    /// With the group's rule.
    document: PolicyDocument,
    tally: Tally,
    /// A second reading before its first row; `None` if rows are not divided.
    unread: Option<SecondReading>,
    reading: Option<SecondReading>,
    /// Whether the rows that propose give it a rule to change to: otherwise there is nothing to test.
    is_tested: bool,
}

/// A second reading of the rows of all groups.
#[derive(Debug, Clone)]
pub struct GroupReading {
    readings: BTreeMap<String, SecondReading>,
}

/// What was found in every group.
#[derive(Debug, Clone)]
pub struct GroupReview {
    /// The document, with its groups.
    pub document: PolicyDocument,
    /// Every group, in the order of its name.
    pub groups: Vec<ReviewedGroup>,
    /// Groups that share the error probability: those with a rule to change to.
    pub tested: usize,
    /// Rows that are in no group's statistics.
    pub unused: UnusedRows,
    /// What gains of one kind of change have in common, for every kind that is judged in three groups or more.
    pub pooled: Vec<(CandidateKind, Pooled)>,
}

/// What was found in one group.
#[derive(Debug, Clone)]
pub struct ReviewedGroup {
    /// Its name.
    pub name: String,
    /// Its document: its rule, and the error probability at which it was judged.
    pub document: PolicyDocument,
    /// Its review.
    pub review: Review,
    /// The gain of its strongest candidate, drawn towards those of other groups with the same kind of change.
    pub pooled: Option<Interval>,
}

impl GroupEvidence {
    /// From the statistics of all groups.
    ///
    /// # Errors
    /// [`ReviewError`] if the statistics of a group do not fit, or a look at these rows is not planned.
    pub fn new(tallies: GroupTallies) -> Result<Self, ReviewError> {
        let (document, tallies, unused) = tallies.into_parts();
        let rows: u64 = tallies.values().map(Tally::rows).sum();
        if let EvidenceStandard::Sizes(plan) = document.standard() {
            plan.look(rows).map_err(TallyError::from)?;
        }
        let mut groups = Vec::with_capacity(tallies.len());
        for (name, tally) in tallies {
            let document = document.of_group(&name);
            let base = EvidenceBase::of(&document, &tally, None)?;
            // Of rows that are not divided, the same ones build the candidates and judge them: no group is left out by them.
            let is_tested = base.confirming().is_none() || !base.candidates().is_empty();
            let unread = base.second_reading();
            groups.push(OneGroup { name, document, tally, unread, reading: None, is_tested });
        }
        if groups.is_empty() {
            return Err(ReviewError::Empty);
        }
        Ok(Self { document, groups, unused })
    }

    /// A second reading of the log, which makes the errors of gains robust.
    ///
    /// # Errors
    /// [`ReviewError`] if the statistics of a group do not fit.
    pub fn second_reading(&self) -> Result<GroupReading, ReviewError> {
        // What is computed from propensities knows its level: the lowest of all steps, so that it holds at every other.
        let level = self.error_probability() / self.tested().max(1) as f64;
        let mut readings = BTreeMap::new();
        for group in &self.groups {
            let reading = if group.document.log_columns().has_propensities() {
                let document = group.document.with_error_probability(level)?;
                EvidenceBase::of(&document, &group.tally, None)?.second_reading()
            } else {
                group.unread.clone()
            };
            readings.extend(reading.map(|reading| (group.name.clone(), reading)));
        }
        Ok(GroupReading { readings })
    }

    /// Uses a second reading.
    #[must_use]
    pub fn with_second_reading(mut self, mut reading: GroupReading) -> Self {
        for group in &mut self.groups {
            group.reading = reading.readings.remove(&group.name);
        }
        self
    }

    fn error_probability(&self) -> f64 {
        self.document.evidence().error_probability
    }

    fn tested(&self) -> usize {
        self.groups.iter().filter(|group| group.is_tested).count()
    }

    /// Judges every group by Holm's steps, in the order of their names: its document with the error probability at which it was judged last, and the
    /// judgement.
    ///
    /// # Errors
    /// [`ReviewError`] if a group cannot be judged.
    pub fn judge(&self) -> Result<Vec<(PolicyDocument, Judgement)>, ReviewError> {
        let tested: Vec<usize> = (0..self.groups.len()).filter(|&at| self.groups[at].is_tested).collect();
        let mut judged: Vec<Option<(PolicyDocument, Judgement)>> = vec![None; self.groups.len()];
        let steps = holm(tested.len(), self.error_probability(), |at, level| {
            let found = self.groups[tested[at]].judge(level)?;
            let shown = found.1.verdict == Verdict::Change;
            judged[tested[at]] = Some(found);
            Ok::<bool, ReviewError>(shown)
        })?;
        // Groups without a test have no share; their intervals are at the level of those that are left.
        let last = steps.iter().find(|step| !step.shown).map_or(self.error_probability(), |step| step.level);
        let groups = self.groups.iter().zip(judged);
        groups.map(|(group, judged)| judged.map_or_else(|| group.judge(last), Ok)).collect()
    }

    /// Reviews every group at the level at which it was judged last.
    ///
    /// # Errors
    /// [`ReviewError`] if a group cannot be reviewed.
    pub fn review(&self) -> Result<GroupReview, ReviewError> {
        let mut groups = Vec::with_capacity(self.groups.len());
        for (group, (document, judgement)) in self.groups.iter().zip(self.judge()?) {
            let review = complete(&group.base(&document)?, &group.tally, judgement)?;
            groups.push(ReviewedGroup { name: group.name.clone(), document, review, pooled: None });
        }
        let pooled = pooled(&mut groups);
        let (document, tested) = (self.document.clone(), self.tested());
        Ok(GroupReview { document, groups, tested, unused: self.unused, pooled })
    }

    /// What one group's findings are drawn from, at the level at which it was judged.
    ///
    /// # Errors
    /// [`ReviewError`] if its statistics do not fit.
    pub fn base<'a>(&self, group: &'a ReviewedGroup) -> Result<Option<EvidenceBase<'a>>, ReviewError> {
        let found = self.groups.iter().find(|one| one.name == group.name);
        found.map(|one| one.base(&group.document)).transpose()
    }
}

impl OneGroup {
    fn judge(&self, level: f64) -> Result<(PolicyDocument, Judgement), ReviewError> {
        let document = self.document.with_error_probability(level)?;
        let found = examine(&self.base(&document)?, &self.tally)?;
        Ok((document, found))
    }

    fn base<'a>(&self, document: &'a PolicyDocument) -> Result<EvidenceBase<'a>, ReviewError> {
        let base = EvidenceBase::of(document, &self.tally, None)?.judging_the_strongest();
        Ok(match &self.reading {
            Some(reading) => base.with_second_reading(reading.clone()),
            None => base,
        })
    }
}

impl GroupReading {
    /// Adds one row of a group, as in the first reading.
    pub fn add_row(&mut self, group: &str, row: &TallyRow<'_>) {
        if let Some(reading) = self.readings.get_mut(group) {
            reading.add_row(row);
        }
    }
}

impl ReviewedGroup {
    /// The candidate that was judged: the strongest on the rows that propose.
    fn judged(&self) -> Option<&JudgedCandidate> {
        self.review.judgement.candidates.iter().find(|candidate| candidate.judged)
    }
}

/// Pools the gains of the judged candidates of each kind.
fn pooled(groups: &mut [ReviewedGroup]) -> Vec<(CandidateKind, Pooled)> {
    /// A group, as an index, with its estimate and standard error.
    type Estimated = (usize, (f64, f64));
    let mut kinds: BTreeMap<CandidateKind, Vec<Estimated>> = BTreeMap::new();
    for (at, group) in groups.iter().enumerate() {
        let Some(candidate) = group.judged() else { continue };
        let gain = candidate.decisive();
        if let Some(error) = gain.standard_error {
            kinds.entry(candidate.kind).or_default().push((at, (gain.interval.estimate, error)));
        }
    }
    let mut found = Vec::new();
    for (kind, members) in kinds.into_iter().filter(|(_, members)| members.len() >= LEAST_POOLED) {
        let estimates: Vec<(f64, f64)> = members.iter().map(|(_, estimate)| *estimate).collect();
        let Some(pooled) = pool(&estimates) else { continue };
        for ((at, _), shrunk) in members.iter().zip(&pooled.shrunk) {
            groups[*at].pooled = Some(*shrunk);
        }
        found.push((kind, pooled));
    }
    found
}

impl GroupReview {
    /// Change if any group is to change, keep if all keep their rules, cannot tell otherwise.
    pub fn verdict(&self) -> Verdict {
        let of = |verdict| self.groups.iter().filter(|group| group.review.judgement.verdict == verdict).count();
        if of(Verdict::Change) > 0 {
            Verdict::Change
        } else if of(Verdict::Keep) == self.groups.len() {
            Verdict::Keep
        } else {
            Verdict::CannotTell
        }
    }
}
