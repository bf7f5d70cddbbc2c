//! Synthetic data to use in place of the IHDP files.

use rarely_core::Rng;

use super::{CHILDREN, COVARIATES, covariate_names};
use crate::Counterfactuals;

/// Largest expected outcome without treatment that a synthetic realisation may have. Response surface B has the exponential
/// of a sum, and a rare draw of coefficients makes it explode; of the 100 published realisations the largest value is 342.
/// Coefficients that exceed the limit for any child are drawn again, all of them, which happens to 7 draws in 1,000; no outcome
/// is ever clipped.
pub const LARGEST_EXPECTED_OUTCOME: f64 = 400.0;

/// Treated children, as in the published files.
const TREATED: usize = 139;
/// Average effect of the treatment on the treated `[hill-2011, section 4.1]`.
const EFFECT_ON_TREATED: f64 = 4.0;
/// Added to every covariate in response surface B.
const OFFSET: f64 = 0.5;
/// Streams of random numbers, far from those that runs of experiments use.
const CHILDREN_STREAM: u64 = 1 << 40;
const TREATED_STREAM: u64 = (1 << 40) + 1;
const REALISATION_STREAM: u64 = 1 << 41;

/// How a covariate is distributed.
enum Marginal {
    /// Quantiles at [`FRACTIONS`], with straight lines between them; standardised after drawing.
    Continuous([f64; FRACTIONS.len()]),
    /// The lower of two codes, and how many of the 747 have the higher one, which is the next integer.
    Binary { lower: f64, higher_of_747: usize },
    /// Values, and how many of the 747 have each; standardised after drawing.
    Levels([(f64, usize); 4]),
}

const FRACTIONS: [f64; 11] = [0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0];

/// The marginals of x1 to x25, counted in the published `ihdp_npci_1.csv` (the covariates of all realisations are the same);
/// what the covariates are is from the program that accompanies `[hill-2011]`.
#[rustfmt::skip]
const MARGINALS: [Marginal; COVARIATES] = [
    Marginal::Continuous([-2.731, -2.277, -1.91, -1.521, -0.678, 0.165, 0.814, 1.203, 1.376, 1.495, 1.505]), // birth weight
    Marginal::Continuous([-3.801, -2.602, -1.802, -1.402, -0.603, 0.197, 0.597, 0.996, 1.396, 1.796, 2.595]), // head circumference
    Marginal::Continuous([-1.85, -1.478, -1.478, -1.106, -0.733, -0.361, 0.756, 1.129, 1.873, 2.618, 2.99]), // weeks pre-term
    Marginal::Levels([(-0.880, 346), (0.162, 236), (1.203, 100), (2.244, 65)]), // birth order
    Marginal::Continuous([-5.13, -3.317, -1.754, -1.192, -0.567, 0.121, 0.684, 1.121, 1.371, 2.059, 2.372]), // neonatal health index
    Marginal::Continuous([-1.851, -1.686, -1.52, -1.189, -0.858, -0.03, 0.633, 1.461, 1.626, 2.455, 2.951]), // mother's age
    binary(384), // sex
    binary(70),  // twin
    binary(389), // mother married at birth
    binary(272), // mother left school before its end
    binary(201), // mother finished school
    binary(164), // mother has some college
    binary(268), // smoked during pregnancy
    Marginal::Binary { lower: 1.0, higher_of_747: 346 }, // first-born, coded 1 and 2
    binary(105), // drank alcohol during pregnancy
    binary(717), // drugs, as coded
    binary(444), // worked during pregnancy
    binary(720), // had prenatal care
    binary(101), // sites: Arkansas,
    binary(101), // Einstein,
    binary(117), // Harvard,
    binary(61),  // Miami,
    binary(55),  // Pennsylvania,
    binary(96),  // Texas,
    binary(118), // Washington
];

/// 747 children drawn from the published marginals, with the outcomes of response surface B of `[hill-2011, section 4.1]`:
///
/// ```text
/// y⁰ ~ N(exp(β₀ + (x + ½)ᵀβ), 1)      y¹ ~ N(β₀ + (x + ½)ᵀβ − ω, 1)
/// ```
///
/// Each coefficient, the intercept's too, is 0, 0.1, 0.2, 0.3 or 0.4 with probabilities 0.6, 0.1, 0.1, 0.1, 0.1; ω makes the
/// average of the expected effects over the [`treated`] exactly 4. (Adding ½ to `x` under treatment as well, as the published
/// program does, only shifts ω.) Coefficients whose outcomes explode are drawn again: [`LARGEST_EXPECTED_OUTCOME`].
///
/// One seed has the same children in every realisation. Covariates are drawn independently of each other: no dependence
/// between them is claimed, and even sites and schooling, of which a real child has one each, are not exclusive. The published
/// files draw their intercept from a wider range (−1 to 1 in steps of ¼) than the article says; this follows the article.
pub fn synthetic(seed: u64, realisation: u64) -> Counterfactuals {
    let contexts = children(seed);
    let treated = treated(seed);
    let mut rng = Rng::new(seed, REALISATION_STREAM.wrapping_add(realisation));
    let (linear, exponential) = surface(&contexts, &mut rng);
    let effects = (0..CHILDREN).filter(|&child| treated[child]).map(|child| linear[child] - exponential[child]);
    let omega = effects.sum::<f64>() / TREATED as f64 - EFFECT_ON_TREATED;
    let means: Vec<f64> = exponential.iter().zip(&linear).flat_map(|(&without, &sum)| [without, sum - omega]).collect();
    let outcomes = means.iter().map(|mean| mean + rng.normal()).collect();
    Counterfactuals {
        label: format!("synthetic IHDP, realisation {realisation}"),
        synthetic: true,
        columns: covariate_names(),
        contexts,
        arms: 2,
        outcomes,
        means,
    }
}

/// Which of the 747 children of a seed are "the treated", over whom the average effect is 4: 139, as in the published files,
/// chosen at random and the same in every realisation. (In the study they were not a random choice; for a bandit, which
/// chooses treatments itself, they only fix ω.)
pub fn treated(seed: u64) -> Vec<bool> {
    let mut rng = Rng::new(seed, TREATED_STREAM);
    let mut order: Vec<usize> = (0..CHILDREN).collect();
    let mut treated = vec![false; CHILDREN];
    for at in 0..TREATED {
        order.swap(at, at + rng.below(CHILDREN - at));
        treated[order[at]] = true;
    }
    treated
}

const fn binary(higher_of_747: usize) -> Marginal {
    Marginal::Binary { lower: 0.0, higher_of_747 }
}

/// The children's covariates, row by row.
fn children(seed: u64) -> Vec<f64> {
    let mut rng = Rng::new(seed, CHILDREN_STREAM);
    let mut contexts = vec![0.0; CHILDREN * COVARIATES];
    for (covariate, marginal) in MARGINALS.iter().enumerate() {
        let mut column: Vec<f64> = (0..CHILDREN).map(|_| marginal.draw(&mut rng)).collect();
        if !matches!(marginal, Marginal::Binary { .. }) {
            standardise(&mut column);
        }
        for (child, value) in column.into_iter().enumerate() {
            contexts[child * COVARIATES + covariate] = value;
        }
    }
    contexts
}

impl Marginal {
    fn draw(&self, rng: &mut Rng) -> f64 {
        match self {
            Self::Continuous(quantiles) => {
                let fraction = rng.uniform();
                let upper = FRACTIONS.iter().position(|&end| fraction < end).unwrap_or(FRACTIONS.len() - 1);
                let share = (fraction - FRACTIONS[upper - 1]) / (FRACTIONS[upper] - FRACTIONS[upper - 1]);
                quantiles[upper - 1] + share * (quantiles[upper] - quantiles[upper - 1])
            }
            Self::Binary { lower, higher_of_747 } => lower + f64::from(u8::from(rng.below(CHILDREN) < *higher_of_747)),
            Self::Levels(levels) => {
                let mut left = rng.below(CHILDREN);
                for &(value, count) in levels {
                    if left < count {
                        return value;
                    }
                    left -= count;
                }
                levels[levels.len() - 1].0
            }
        }
    }
}

/// Makes the mean 0 and the standard deviation (with n − 1, as in the published files) 1.
fn standardise(column: &mut [f64]) {
    let count = column.len() as f64;
    let mean = column.iter().sum::<f64>() / count;
    let variance = column.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / (count - 1.0);
    let deviation = variance.sqrt();
    for value in column {
        *value = (*value - mean) / deviation;
    }
}

/// Each child's `β₀ + (x + ½)ᵀβ` and its exponential, for coefficients that do not explode.
fn surface(contexts: &[f64], rng: &mut Rng) -> (Vec<f64>, Vec<f64>) {
    loop {
        let intercept = coefficient(rng);
        let coefficients: [f64; COVARIATES] = std::array::from_fn(|_| coefficient(rng));
        let sum = |child: &[f64]| {
            let terms = child.iter().zip(&coefficients).map(|(value, coefficient)| (value + OFFSET) * coefficient);
            intercept + terms.sum::<f64>()
        };
        let linear: Vec<f64> = contexts.chunks_exact(COVARIATES).map(sum).collect();
        let exponential: Vec<f64> = linear.iter().map(|&sum| libm::exp(sum)).collect();
        if exponential.iter().all(|&expected| expected <= LARGEST_EXPECTED_OUTCOME) {
            return (linear, exponential);
        }
    }
}

/// 0 with probability 0.6; 0.1, 0.2, 0.3 and 0.4 with probability 0.1 each.
fn coefficient(rng: &mut Rng) -> f64 {
    let tenth = rng.below(10);
    tenth.saturating_sub(5) as f64 / 10.0
}
