//! People for whom the outcome under every arm is known. They arrive once, in random order.

use std::sync::Arc;

use rarely_core::{Digest, Rng, Round, SettingsError, Shape, World};
use rarely_data::Counterfactuals;
use rarely_error::{Action, Explain, Remedy, Topic};
use sha2::{Digest as _, Sha256};

use super::synthetic::linear_means;
use super::{Environment, EnvironmentDescription, JudgedSample, SimulatedWorld, Stream, linear_fit, stream};

/// One or more tables of the same shape; run `r` plays table `r mod n` in its own order.
#[derive(Debug, Clone)]
pub struct CounterfactualTable {
    shape: Shape,
    realisations: Vec<Arc<Counterfactuals>>,
    digest: String,
}

/// The noise of tables, and where the number comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EstimatedNoise {
    /// The standard deviation.
    pub deviation: f64,
    /// How it was estimated.
    pub source: NoiseSource,
}

/// How the noise of tables was estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoiseSource {
    /// From the outcomes and the expected outcomes in the tables.
    ExpectedOutcomes,
    /// From the residuals of least squares.
    Residuals,
}

impl NoiseSource {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::ExpectedOutcomes => "estimated from the outcomes minus the expected outcomes",
            Self::Residuals => "estimated from the residuals of least squares for each arm",
        }
    }
}

/// Why tables do not make an environment.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// No table.
    #[error("no table was given")]
    Empty,
    /// Tables of different shapes.
    #[error(
        "{label} has {arms} arms and {dimension} context variables, but the first table has {expected_arms} and {expected_dimension}"
    )]
    Shape {
        /// The table.
        label: String,
        /// Its arms.
        arms: usize,
        /// Its context variables.
        dimension: usize,
        /// The arms of the first table.
        expected_arms: usize,
        /// The context variables of the first table.
        expected_dimension: usize,
    },
    /// The noise cannot be estimated.
    #[error("the noise of the outcomes cannot be estimated from the table: too few people, or no noise")]
    UnknownNoise,
    /// Too many or too few arms or variables.
    #[error(transparent)]
    Size(#[from] SettingsError),
}

impl Explain for TableError {
    fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Empty => Some(Remedy::new("name at least one table")),
            Self::Shape { .. } => Some(Remedy::new("use tables of one shape")),
            Self::UnknownNoise => Some(Remedy::with("{action}", Action::DeclareNoise).see(Topic::Assumptions)),
            Self::Size(error) => error.remedy(),
        }
    }
}

impl CounterfactualTable {
    /// An environment of these tables.
    ///
    /// # Errors
    /// [`TableError`] if there is none, or their shapes differ.
    pub fn new(realisations: Vec<Counterfactuals>) -> Result<Self, TableError> {
        let first = realisations.first().ok_or(TableError::Empty)?;
        let shape = Shape::new(first.arms, first.dimension())?;
        let mut hash = Sha256::new();
        for table in &realisations {
            if (table.arms, table.dimension()) != (shape.arms(), shape.dimension()) {
                return Err(TableError::Shape {
                    label: table.label.clone(),
                    arms: table.arms,
                    dimension: table.dimension(),
                    expected_arms: shape.arms(),
                    expected_dimension: shape.dimension(),
                });
            }
            for value in table.contexts.iter().chain(&table.outcomes).chain(&table.means) {
                hash.update(value.to_le_bytes());
            }
        }
        let digest = format!("{:.16}", Digest(hash.finalize().into()));
        Ok(Self { shape, realisations: realisations.into_iter().map(Arc::new).collect(), digest })
    }

    /// The standard deviation of the noise, estimated from the tables: of the outcomes around the expected ones, where the tables have
    /// them; otherwise of the residuals of least squares, for each arm, on the context variables as they are. `None` if there are too few
    /// people for that, or no noise at all.
    pub fn estimated_noise(&self) -> Option<EstimatedNoise> {
        let has_means = self.realisations.iter().any(|table| table.means != table.outcomes);
        let (mut squares, mut freedom) = (0.0, 0.0);
        for table in &self.realisations {
            let (people, dimension) = (table.people(), table.dimension());
            let lost = if has_means { 0 } else { dimension };
            freedom += table.arms as f64 * people.saturating_sub(lost) as f64;
            let predicted = if has_means { table.means.clone() } else { fitted(table, self.shape) };
            let residuals = table.outcomes.iter().zip(&predicted).map(|(outcome, mean)| outcome - mean);
            squares += residuals.map(|residual| residual * residual).sum::<f64>();
        }
        let deviation = (squares / freedom).sqrt();
        let source = if has_means { NoiseSource::ExpectedOutcomes } else { NoiseSource::Residuals };
        (freedom > 0.0 && deviation > 1e-9).then_some(EstimatedNoise { deviation, source })
    }

    /// The tables.
    pub fn realisations(&self) -> impl ExactSizeIterator<Item = &Counterfactuals> {
        self.realisations.iter().map(Arc::as_ref)
    }
}

impl Environment for CounterfactualTable {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn world(&self, seed: u64, run: u64) -> Box<dyn SimulatedWorld> {
        let count = self.realisations.len() as u64;
        let at = usize::try_from(run % count).unwrap_or(0);
        let table = Arc::clone(&self.realisations[at]);
        let mut rng = stream(seed, run, Stream::Arms);
        let order = shuffled(table.people(), &mut rng);
        let initial = (0..self.shape.parameters()).map(|_| rng.uniform()).collect();
        Box::new(Queue { table, order, next: 0, initial })
    }

    fn describe(&self) -> EnvironmentDescription {
        EnvironmentDescription {
            digest: Some(self.digest.clone()),
            people: Some(self.realisations[0].people()),
            tables: Some(self.realisations.iter().map(|table| table.label.clone()).collect()),
            ..EnvironmentDescription::new("table", self.shape)
        }
    }

    fn rounds(&self) -> Option<u64> {
        self.realisations.iter().map(|table| table.people() as u64).min()
    }
}

struct Queue {
    table: Arc<Counterfactuals>,
    order: Vec<usize>,
    next: usize,
    initial: Vec<f64>,
}

impl World for Queue {
    /// Past the last person the queue begins again.
    fn next(&mut self, round: &mut Round) {
        let person = self.order[self.next % self.order.len()];
        self.next += 1;
        let row = |values: &[f64], width: usize, out: &mut [f64]| {
            out.copy_from_slice(&values[person * width..(person + 1) * width]);
        };
        row(&self.table.contexts, self.table.dimension(), &mut round.context);
        row(&self.table.means, self.table.arms, &mut round.means);
        row(&self.table.outcomes, self.table.arms, &mut round.rewards);
    }
}

impl SimulatedWorld for Queue {
    fn initial(&self) -> &[f64] {
        &self.initial
    }

    fn truth(&self) -> Option<&[f64]> {
        None
    }

    /// Everybody.
    fn sample(&self, _: usize) -> JudgedSample {
        JudgedSample { contexts: self.table.contexts.clone(), means: self.table.means.clone() }
    }
}

/// The outcomes as least squares predicts them, arm by arm.
fn fitted(table: &Counterfactuals, shape: Shape) -> Vec<f64> {
    let sample = JudgedSample { contexts: table.contexts.clone(), means: table.outcomes.clone() };
    let parameters = linear_fit(shape, &sample);
    let mut means = vec![0.0; table.outcomes.len()];
    for (context, means) in table.contexts.chunks_exact(shape.dimension()).zip(means.chunks_exact_mut(shape.arms())) {
        linear_means(&parameters, context, means);
    }
    means
}

/// Fisher and Yates.
fn shuffled(count: usize, rng: &mut Rng) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        order.swap(last, rng.below(last + 1));
    }
    order
}
