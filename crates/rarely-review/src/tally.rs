//! The statistics of a log, as sums that add: read once in a stream, saved, merged with next month's.

mod from_sums;
mod merging;
mod observed;
mod of_document;
mod saved;
mod sharing;

use rarely_core::{Arm, ArmSums, Digest, LookPlan, Statistics};
use rarely_policy::{Design, EvidenceStandard, MissingCounts, PolicyDocument};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::band_outcomes::BandOutcomes;
use crate::bands::Bands;
use crate::column_levels::ColumnLevels;
use crate::fixed_point::RewardGrid;
use crate::jump::Jumps;
use crate::log_rate::{LogRate, LogTimes};
use crate::moments::Moments;
use crate::next_to_cut::CutRows;
use crate::people_sample::PeopleSample;
use crate::propensities::PropensitySums;
use crate::row_set::{RowSet, Source};
use crate::running_variable::RunningVariable;
use crate::stretch_sums::{PartSums, Stretch, Stretches, confirming_sums};
use crate::tally_error::TallyError;
use crate::tally_row::TallyRow;
use crate::time_marks::TimeMarks;

use self::of_document::{at_the_cuts, guardrail_sums, missing_flags};

pub(crate) use of_document::{bent_features, numeric_coordinates, regression, reward_grids};
pub use saved::TALLY_FORMAT;

/// Everything that a review needs from a log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// What the sums depend on.
    fingerprint: String,
    rejected: u64,
    /// What rows lack.
    #[serde(default, skip_serializing_if = "MissingCounts::is_empty")]
    missing: MissingCounts,
    /// The logs that were read, so that none counts twice.
    sources: Vec<Source>,
    /// The sums of rows that are not divided: those of a live policy, and of states from before rows were divided.
    options: Vec<Moments>,
    /// The same at planned rounds.
    #[serde(default, skip_serializing_if = "TimeMarks::is_empty")]
    time_marks: TimeMarks,
    /// The sums of the other rows.
    #[serde(default, skip_serializing_if = "Stretches::is_empty")]
    stretches: Stretches,
    /// Whether the stretches are of time, rather than of rows in their order.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_timed: bool,
    /// The times of the rows, as far as they are known.
    #[serde(default, skip_serializing_if = "LogTimes::is_empty")]
    times: LogTimes,
    /// What identifies the rows, in whatever order they were read.
    #[serde(default, skip_serializing_if = "RowSet::is_empty")]
    row_set: RowSet,
    /// The looks that were planned when the first was taken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    looks: Vec<u64>,
    /// Rows by option and band.
    tried: Vec<Vec<u64>>,
    /// Their outcomes; `None` if those of some rows are not known, because a state from before they were kept is among them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    outcomes: Option<BandOutcomes>,
    /// The propensities, where the document declares some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    propensities: Option<PropensitySums>,
    sample: PeopleSample,
    jumps: Option<Jumps>,
    /// The sums of each guard-rail's outcome.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    guardrails: Vec<Stretch>,
    /// The sums by the values of each fairness column.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    levels: Vec<ColumnLevels>,
    /// Whether new rows are divided.
    #[serde(skip)]
    divides: bool,
    #[serde(skip)]
    bands: Option<Bands>,
    #[serde(skip)]
    running: Option<RunningVariable>,
    /// The coordinates that say that a number is missing.
    #[serde(skip)]
    flags: Vec<usize>,
    /// The rows along the running variable, in one pass over a log that keeps them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rows: Option<CutRows>,
}

impl Tally {
    /// Empty statistics for a log. Where the document's design is fixed, a third of the rows proposes and the others confirm.
    pub fn new(document: &PolicyDocument) -> Self {
        Self { divides: document.evidence().design == Design::Fixed, ..Self::undivided(document) }
    }

    /// Empty statistics for rows that are not divided: a live policy's.
    pub fn undivided(document: &PolicyDocument) -> Self {
        let (shape, bands) = (document.shape(), Bands::of(document));
        let squares: Vec<usize> = numeric_coordinates(document).collect();
        let (running, jumps) = at_the_cuts(document);
        let weighted = document.log_columns().weight.is_some();
        let empty = |rewards: RewardGrid| {
            let sums = Moments::new(shape.dimension(), &squares, rewards);
            if weighted { sums.weighted() } else { sums }
        };
        Self {
            fingerprint: document.fingerprint(),
            rejected: 0,
            missing: MissingCounts::default(),
            sources: Vec::new(),
            options: reward_grids(document).into_iter().map(empty).collect(),
            time_marks: TimeMarks::default(),
            stretches: Stretches::default(),
            is_timed: document.log_columns().time.is_some(),
            times: LogTimes::default(),
            row_set: RowSet::default(),
            looks: Vec::new(),
            divides: false,
            tried: vec![vec![0; bands.all().len()]; shape.arms()],
            outcomes: Some(BandOutcomes::new(&reward_grids(document), bands.all().len())),
            propensities: PropensitySums::new(document),
            sample: PeopleSample::new(shape.dimension()),
            jumps,
            guardrails: guardrail_sums(document, weighted),
            levels: document.log_columns().fairness.iter().map(|_| ColumnLevels::default()).collect(),
            bands: Some(bands),
            running,
            flags: missing_flags(document),
            rows: None,
        }
    }

    /// Empty statistics that keep the rows next to the rule's cuts as well, for a single pass over a log. A saved state does not hold the
    /// rows, and statistics without them make the sum have none.
    pub fn keeping_rows(document: &PolicyDocument) -> Self {
        let tally = Self::new(document);
        Self { rows: tally.jumps.as_ref().map(|_| CutRows::new()), ..tally }
    }

    /// Adds one row of a log: its number in its file, its context, option and reward.
    #[inline]
    pub fn add(&mut self, row: u64, context: &[f64], arm: Arm, reward: f64) {
        self.add_row(&TallyRow::new(row, context, arm, reward));
    }

    /// Adds one row of a log. Its weight counts in the regressions and in the sample of people; the checks at the cuts count every row alike.
    #[inline]
    pub fn add_row(&mut self, row: &TallyRow<'_>) {
        let TallyRow { number, context, arm, reward, .. } = *row;
        self.add_to_sums(row);
        self.times.add_if_known(row.seconds);
        if let Some(bands) = &self.bands {
            let tried = &mut self.tried[arm.index()];
            match &mut self.outcomes {
                Some(outcomes) => outcomes.add(bands, context, arm.index(), reward, tried),
                None => bands.of_person(context).for_each(|band| tried[band] += 1),
            }
        }
        let z = self.along(context);
        if let (Some(jumps), Some(z)) = (&mut self.jumps, z) {
            jumps.add(z, arm.index(), reward);
        }
        if let Some(sums) = &mut self.propensities {
            sums.add(row);
        }
        for (sums, &outcome) in self.guardrails.iter_mut().zip(row.guardrails) {
            // Rows that are not divided judge together. In one part, they can be corrected.
            sums.add_to_part(row, outcome, self.divides && row.proposes());
        }
        for (levels, name) in self.levels.iter_mut().zip(row.levels) {
            levels.add(name, row, &self.options);
        }
        let priority = row.priority();
        self.sample.offer_row(priority, row, self.options[0].has_weights());
        if let (Some(rows), Some(z)) = (&mut self.rows, z) {
            rows.offer(priority, z, arm.index(), reward);
        }
        let file = row.place.map_or_else(|| self.file_of(number), |place| place.file);
        if self.sources.len() <= file {
            self.sources.resize(file + 1, Source::default());
        }
        let source = &mut self.sources[file];
        source.rows += 1;
        source.digest = source.digest.wrapping_add(priority);
        source.last = source.last.max(number);
    }

    /// Where a row is along the running variable: nowhere if a number is missing, which then only counts as the middle of its range.
    #[inline]
    fn along(&self, context: &[f64]) -> Option<f64> {
        let running = self.running.as_ref()?;
        (!self.flags.iter().any(|&flag| context[flag] > 0.5)).then(|| running.at(context))
    }

    /// The file of the next row, where rows come one after the other: their numbers start again in each file.
    #[inline]
    fn file_of(&self, number: u64) -> usize {
        match self.sources.last() {
            Some(source) if number > source.last => self.sources.len() - 1,
            _ => self.sources.len(),
        }
    }

    #[inline]
    fn add_to_sums(&mut self, row: &TallyRow<'_>) {
        let at = row.arm.index();
        if !self.divides {
            self.time_marks.follow(row.place.map(|place| place.position), &self.options);
            self.options[at].add_weighted(row.context, row.reward, row.weight);
            return;
        }
        let like = &self.options;
        let empty = || like.iter().map(PartSums::like).collect();
        let position = row.place.and_then(|place| i64::try_from(place.position).ok());
        let moment = if self.is_timed { row.seconds.or(Some(0)) } else { position };
        let part = &mut self.stretches.of_row(moment, row.proposes(), empty)[at];
        part.moments.add_weighted(row.context, row.reward, row.weight);
        part.outcomes.add(row.reward);
        if self.options[at].is_open() {
            self.row_set.add(row);
        }
    }

    /// Corrects the reward of a row that was added when so many [marks](Tally::marks) had been taken: up to rounding, the sums are those
    /// with the new reward from the start. The sample of people and the identity of the log do not change.
    ///
    /// A row from before the tally last [followed](Tally::follow) another rule is for [`Tally::correct_earlier`].
    pub fn correct(&mut self, context: &[f64], arm: Arm, old_reward: f64, new_reward: f64, marks: usize) {
        self.correct_earlier(context, arm, old_reward, new_reward, marks);
        if let (Some(z), Some(jumps)) = (self.along(context), &mut self.jumps) {
            jumps.correct(z, arm.index(), old_reward, new_reward);
        }
    }

    /// As [`Tally::correct`], for a row from before the tally last [followed](Tally::follow) another rule: it is not in the sums at the
    /// cuts, so that these do not change.
    pub fn correct_earlier(&mut self, context: &[f64], arm: Arm, old_reward: f64, new_reward: f64, marks: usize) {
        self.time_marks.correct(marks, arm, context, (old_reward, new_reward));
        self.options[arm.index()].correct(context, old_reward, new_reward);
        if let (Some(outcomes), Some(bands)) = (&mut self.outcomes, &self.bands) {
            outcomes.correct(bands, context, arm.index(), old_reward, new_reward);
        }
        self.rows = None;
    }

    /// Corrects the guard-rails of a row of a live policy, in the good direction.
    pub fn correct_guardrails(&mut self, context: &[f64], arm: Arm, old: &[f64], new: &[f64]) {
        for (sums, (&old, &new)) in self.guardrails.iter_mut().zip(old.iter().zip(new)) {
            sums.correct(context, arm, (old, new));
        }
    }

    /// Continues with a document that differs in its rule, after a live policy has changed its rule. The sums at the cuts start again
    /// unless the cuts are the same: earlier rows cannot be put into bins around another cut. Everything else is kept.
    ///
    /// # Panics
    /// If the document has other options, outcome, features, intercept or penalty than the one that the tally was made for.
    pub fn follow(&mut self, document: &PolicyDocument) {
        assert_eq!(self.fingerprint, document.fingerprint(), "the sums are of this document but for its rule");
        let (running, jumps) = at_the_cuts(document);
        if self.running != running {
            self.jumps = jumps;
            self.rows = None;
        }
        self.running = running;
    }

    /// Checks that keys tell rows apart, as far as the sample shows: rows with the same key have the same priority.
    ///
    /// # Errors
    /// [`TallyError::RepeatedKeys`] if they do not.
    pub(crate) fn check_keys(&self, document: &PolicyDocument) -> Result<(), TallyError> {
        let share = self.sample.repeated_share();
        match &document.log_columns().key {
            Some(column) if share > 0.0 => Err(TallyError::RepeatedKeys { column: column.clone(), share }),
            _ => Ok(()),
        }
    }

    /// Counts rows that could not be used.
    pub fn reject(&mut self, rows: u64) {
        self.rejected += rows;
    }

    /// Counts what rows of the log lack, those that were dropped for it included.
    pub fn add_missing(&mut self, missing: &MissingCounts) {
        self.missing.merge(missing);
    }

    /// What rows lack.
    pub fn missing(&self) -> &MissingCounts {
        &self.missing
    }

    /// Rows that were used.
    pub fn rows(&self) -> u64 {
        let undivided: u64 = self.options.iter().map(Moments::rows).sum();
        undivided + self.stretches.rows()
    }

    /// What weights are multiplied by, so that their mean is 1 whatever their unit.
    pub(crate) fn weight_scale(&self) -> f64 {
        if !self.options[0].has_weights() {
            return 1.0;
        }
        let parts = self.stretches.all().iter().flat_map(Stretch::parts).map(|part| &part.moments);
        let sum: f64 = self.options.iter().chain(parts).map(Moments::weight).sum();
        if sum > 0.0 { self.rows() as f64 / sum } else { 1.0 }
    }

    /// The propensities, where the document declares some.
    pub(crate) fn propensities(&self) -> Option<&PropensitySums> {
        self.propensities.as_ref()
    }

    /// The sums of each guard-rail's outcome.
    pub(crate) fn guardrails(&self) -> &[Stretch] {
        &self.guardrails
    }

    /// The sums by the values of each fairness column.
    pub(crate) fn levels(&self) -> &[ColumnLevels] {
        &self.levels
    }

    /// How fast the log grows, if the times of its rows are known.
    pub fn rate(&self) -> Option<LogRate> {
        self.times.rate()
    }

    /// Rows that could not be used.
    pub fn rejected(&self) -> u64 {
        self.rejected
    }

    /// Each option's sums of all rows, with weights whose mean is 1.
    pub fn totals(&self) -> Vec<Moments> {
        let mut totals = self.options.clone();
        for part in [self.stretches.proposing(), self.stretches.confirming()].into_iter().flatten() {
            for (total, part) in totals.iter_mut().zip(&part) {
                // Of one document: the same features.
                let _ = total.merge(&part.moments);
            }
        }
        let scale = self.weight_scale();
        for total in &mut totals {
            total.scale(scale);
        }
        totals
    }

    /// Each option's sums of the rows that propose a change; those that were never divided are among them.
    pub(crate) fn proposing(&self) -> Vec<Moments> {
        let mut sums = self.options.clone();
        for (sum, part) in sums.iter_mut().zip(self.stretches.proposing().unwrap_or_default()) {
            let _ = sum.merge(&part.moments);
        }
        let scale = self.weight_scale();
        for sum in &mut sums {
            sum.scale(scale);
        }
        sums
    }

    /// What least squares needs of the rows that confirm; `None` if rows are not divided.
    pub(crate) fn confirming(&self) -> Option<Vec<ArmSums>> {
        Some(confirming_sums(self.stretches.confirming()?, &self.stretches.proposing()?, self.weight_scale()))
    }

    /// How often the sums of rows that are not divided were remembered for sharp sets.
    pub fn marks(&self) -> usize {
        self.time_marks.count()
    }

    pub(crate) fn time_marks(&self) -> &TimeMarks {
        &self.time_marks
    }

    /// The sums of all rows in stretches of time.
    pub(crate) fn stretches(&self) -> &Stretches {
        &self.stretches
    }

    /// Takes a look under the document's standard: checks that it is planned, and remembers the plan. Returns `K`, the number of looks that
    /// share the error probability; `None` for any number.
    ///
    /// # Errors
    /// [`TallyError::Look`] if a look at these rows is not planned.
    pub fn look(&mut self, document: &PolicyDocument) -> Result<Option<u64>, TallyError> {
        let rows = self.rows();
        match document.standard() {
            EvidenceStandard::Sizes(plan) => _ = plan.look(rows)?,
            EvidenceStandard::Looks(looks) => {
                if self.looks.is_empty() {
                    self.looks = (1..=*looks).map(|look| look * rows).collect();
                }
                LookPlan::new(self.looks.clone())?.look(rows)?;
            }
            EvidenceStandard::Anytime | EvidenceStandard::Once => {}
        }
        Ok(document.standard().looks())
    }

    /// A digest of the rows and of what the sums depend on: the same for the same rows, in whatever order they were read and merged.
    /// `None` for rows that are not divided: their digest is that of the sums.
    pub(crate) fn digest(&self) -> Option<Digest> {
        if self.stretches.is_empty() || self.options.iter().any(|option| option.rows() > 0) {
            return None;
        }
        let mut hash = Sha256::new();
        hash.update(&self.fingerprint);
        for option in self.totals() {
            // Sums on an open grid depend on the order by a rounding, the hash of their rows does not.
            let text = if option.is_open() { format!("{} {:?}", option.rows(), self.row_set) } else { option.exact() };
            hash.update(text);
        }
        Some(Digest(hash.finalize().into()))
    }

    /// Rows of an option in a band.
    pub fn tried(&self, option: usize, band: usize) -> u64 {
        self.tried[option][band]
    }

    /// The sums at the rule's cuts, if it has cuts.
    pub fn jumps(&self) -> Option<&Jumps> {
        self.jumps.as_ref()
    }

    /// The rows next to the rule's cuts, if they were [kept](Tally::keeping_rows) of every log.
    pub fn cut_rows(&self) -> Option<&CutRows> {
        self.rows.as_ref()
    }

    /// The sums without the sample of people.
    #[must_use]
    pub fn without_people(&self) -> Self {
        Self { sample: PeopleSample::new(self.sample.dimension()), rows: None, ..self.clone() }
    }

    /// These sums with the sample of people of another tally.
    #[must_use]
    pub fn with_people_of(self, other: &Self) -> Self {
        Self { sample: other.sample.clone(), ..self }
    }

    /// A sample of the people.
    pub fn sample(&self) -> &PeopleSample {
        &self.sample
    }

    /// The regression of every option.
    ///
    /// # Errors
    /// [`TallyError::Sums`] if the sums are too large for the penalty.
    pub fn statistics(&self, document: &PolicyDocument) -> Result<Statistics, TallyError> {
        regression(document, &self.totals())
    }
}
