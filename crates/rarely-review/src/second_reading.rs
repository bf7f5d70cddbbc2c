//! A second reading of a log's rows: robust errors of the candidates' gains need the residuals of the regressions that the first reading
//! gave, and what is computed from propensities needs the candidates.

use rarely_core::{
    Arm, CaseLog, ClusterError, ConfirmError, Contexts, ErrorSums, LeastSquares, Parameters, StreamedErrors,
};
use rarely_policy::PolicyDocument;

use crate::design_effect::{DesignEffect, DesignReading};
use crate::evidence_base::ConfirmingPart;
use crate::propensity_reading::PropensityReading;
use crate::side_regression::{SideRegression, SideRows};
use crate::tally_row::TallyRow;

/// A second reading of a log's rows.
#[derive(Debug, Clone)]
pub struct SecondReading {
    errors: ReadRows,
    weight_scale: f64,
    /// A row times the root of its weight.
    scaled: Vec<f64>,
    propensities: Option<PropensityReading>,
    /// Where rows are in clusters or have weights.
    design: Option<DesignReading>,
    /// Of the regressions beside the main one.
    sides: Vec<(SideRows, ReadRows)>,
}

#[derive(Debug, Clone)]
enum ReadRows {
    /// Independent rows need not be kept.
    Independent(StreamedErrors),
    /// Rows of clusters are.
    Clustered(ClusterRows),
}

/// The rows that confirm, times the roots of their weights.
#[derive(Debug, Clone, Default)]
struct ClusterRows {
    contexts: Vec<f64>,
    arms: Vec<Arm>,
    rewards: Vec<f64>,
    clusters: Vec<u64>,
}

/// The errors of the candidates' gains.
#[derive(Debug, Clone)]
pub(crate) enum GainErrors {
    /// HC3, of independent rows, and how many these should be.
    Rows { errors: StreamedErrors, expected: u64 },
    /// CR2, of each candidate.
    Clusters(Vec<Result<ClusterError, ConfirmError>>),
}

impl SecondReading {
    pub(crate) fn new(document: &PolicyDocument, part: &ConfirmingPart, sides: &[SideRegression]) -> Self {
        let clustered = document.log_columns().cluster.is_some();
        let sides = sides.iter().map(|side| (side.of.clone(), ReadRows::new(clustered, &side.fit, &side.functionals)));
        let design = (!document.log_columns().rows_are_alike()).then(|| DesignReading::new(&part.fit, clustered));
        Self {
            errors: ReadRows::new(clustered, &part.fit, &part.functionals),
            weight_scale: part.weight_scale,
            scaled: Vec::new(),
            propensities: part.propensities.clone(),
            design,
            sides: sides.collect(),
        }
    }

    /// Adds one row: its number in its file, its context, option and reward, as in the first reading.
    pub fn add(&mut self, row: u64, context: &[f64], arm: Arm, reward: f64) {
        self.add_row(&TallyRow::new(row, context, arm, reward));
    }

    /// Adds one row, as in the first reading.
    pub fn add_row(&mut self, row: &TallyRow<'_>) {
        if let Some(design) = &mut self.design {
            design.add(row, row.weight * self.weight_scale);
        }
        if row.proposes() {
            return;
        }
        // Weighted least squares are those of rows times the roots of their weights.
        let root = (row.weight * self.weight_scale).sqrt();
        self.scaled.clear();
        self.scaled.extend(row.context.iter().map(|value| root * value));
        self.errors.add(row, &self.scaled, root * row.reward);
        for (of, errors) in &mut self.sides {
            if let Some(outcome) = of.outcome(row) {
                errors.add(row, &self.scaled, root * outcome);
            }
        }
        if let Some(propensities) = &mut self.propensities {
            propensities.add(row);
        }
    }

    /// How rows enter the errors, if that is all there is to read: not with clusters, weights or propensities.
    pub fn errors(&self) -> Option<&StreamedErrors> {
        match &self.errors {
            ReadRows::Independent(errors)
                if self.propensities.is_none() && self.design.is_none() && self.sides.is_empty() =>
            {
                Some(errors)
            }
            _ => None,
        }
    }

    /// Adds sums over rows that were read elsewhere. Only the rows that confirm count.
    ///
    /// # Errors
    /// [`ConfirmError::Length`] if they are of other candidates.
    pub fn add_sums(&mut self, sums: &ErrorSums) -> Result<(), ConfirmError> {
        match &mut self.errors {
            ReadRows::Independent(errors) => errors.add_sums(sums),
            ReadRows::Clustered(_) => Ok(()),
        }
    }

    /// What clusters and weights do to variances.
    pub(crate) fn design_effect(&self) -> DesignEffect {
        self.design.as_ref().map_or(DesignEffect::NONE, DesignReading::finish)
    }

    /// The errors of the candidates' gains, which go to the regressions, and what was read of propensities.
    pub(crate) fn finish(
        self,
        fit: &LeastSquares,
        functionals: &[Parameters],
        sides: &mut [SideRegression],
    ) -> (GainErrors, Option<PropensityReading>) {
        for (side, (_, errors)) in sides.iter_mut().zip(self.sides) {
            side.errors = Some(errors.finish(&side.fit, &side.functionals));
        }
        (self.errors.finish(fit, functionals), self.propensities)
    }
}

impl ReadRows {
    fn new(clustered: bool, fit: &LeastSquares, functionals: &[Parameters]) -> Self {
        if clustered {
            Self::Clustered(ClusterRows::default())
        } else {
            Self::Independent(StreamedErrors::new(fit, functionals))
        }
    }

    /// Adds a row that confirms, with its context and outcome times the root of its weight.
    fn add(&mut self, row: &TallyRow<'_>, scaled: &[f64], outcome: f64) {
        match self {
            Self::Independent(errors) => errors.add(scaled, row.arm, outcome),
            Self::Clustered(rows) => {
                rows.contexts.extend_from_slice(scaled);
                rows.arms.push(row.arm);
                rows.rewards.push(outcome);
                rows.clusters.push(row.cluster.unwrap_or(row.number));
            }
        }
    }

    fn finish(self, fit: &LeastSquares, functionals: &[Parameters]) -> GainErrors {
        match self {
            Self::Independent(errors) => GainErrors::Rows { errors, expected: fit.cases() },
            Self::Clustered(rows) => {
                GainErrors::Clusters(functionals.iter().map(|functional| rows.error(fit, functional)).collect())
            }
        }
    }
}

impl ClusterRows {
    fn error(&self, fit: &LeastSquares, functional: &Parameters) -> Result<ClusterError, ConfirmError> {
        if self.arms.len() as u64 != fit.cases() {
            return Err(other_rows(fit.cases(), self.arms.len() as u64));
        }
        let contexts = Contexts::new(&self.contexts, fit.shape().dimension())?;
        let log = CaseLog::new(fit.shape(), contexts, &self.arms, &self.rewards)?;
        fit.cr2_error(&log, &self.clusters, functional)
    }
}

impl GainErrors {
    /// The standard error of a candidate's gain, and its degrees of freedom where clusters limit them.
    pub(crate) fn error(&self, candidate: usize) -> Result<(f64, Option<f64>), ConfirmError> {
        match self {
            Self::Rows { errors, expected } => {
                let found = errors.sums().rows;
                if found != *expected {
                    return Err(other_rows(*expected, found));
                }
                Ok((errors.error(candidate)?, None))
            }
            Self::Clusters(errors) => {
                let error = errors[candidate].clone()?;
                Ok((error.standard_error, Some(error.degrees)))
            }
        }
    }
}

/// The log changed between the readings.
fn other_rows(expected: u64, found: u64) -> ConfirmError {
    let count = |rows: u64| usize::try_from(rows).unwrap_or(usize::MAX);
    ConfirmError::Length { name: "rows in the second reading", expected: count(expected), found: count(found) }
}
