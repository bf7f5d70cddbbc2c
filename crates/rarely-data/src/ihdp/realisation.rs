//! The simulated outcomes of IHDP, drawn as their authors drew them.

use super::covariates::Covariates;
use super::r_random::{RRandom, WeightedChoice};
use super::{COVARIATES, REALISATIONS};
use crate::{Counterfactuals, DataError};

/// Average effect of the treatment on the treated.
const EFFECT_ON_TREATED: f64 = 4.0;
/// Added to every covariate in the mean without treatment.
const OFFSET: f64 = 0.5;
/// What a coefficient can be, with its probability.
const COEFFICIENTS: [(f64, f64); 5] = [(0.0, 0.6), (0.1, 0.1), (0.2, 0.1), (0.3, 0.1), (0.4, 0.1)];
/// What the intercept can be: −1 and every quarter up to 1.
const INTERCEPTS: u32 = 9;

/// One of the 1,000 published realisations, numbered from 1: the children, whose covariates are the same in each, with outcomes from
/// response surface B of `[hill-2011, section 4.1]` (docs/mathematics.md, section 16):
///
/// ```text
/// y⁰ ~ N(exp(β₀ + (x + ½)ᵀβ), 1)      y¹ ~ N(β₀ + xᵀβ − ω, 1)
/// ```
///
/// with ω such that the average effect on the [`treated`](super::treated) is 4. It has the outcomes of the published files to the
/// digits that they have, and the same bits on every machine. The article draws the intercept like the other coefficients; the
/// published files have one of −1, −¾, …, 1, and so has this.
///
/// # Errors
/// [`DataError::NoRealisation`] if the number is not from 1 to 1,000.
///
/// ```
/// let children = rarely_data::ihdp::realisation(1)?;
/// assert_eq!((children.people(), children.dimension(), children.arms), (747, 25, 2));
/// assert_eq!(children.columns[0], "bw"); // birth weight, standardised
/// assert!((children.means_of(0)[1] - 6.854457).abs() < 1e-6);
/// # Ok::<(), rarely_data::DataError>(())
/// ```
pub fn realisation(number: u32) -> Result<Counterfactuals, DataError> {
    if !(1..=REALISATIONS).contains(&number) {
        return Err(DataError::NoRealisation { number });
    }
    let children = Covariates::embedded();
    let mut random = RRandom::new(seed(number));
    let [without, with] = means(children, &mut random);
    // All outcomes without treatment are drawn before the first with it.
    let mut outcomes_of = |means: &[f64]| -> Vec<f64> { means.iter().map(|mean| mean + random.normal()).collect() };
    let (untreated, treated) = (outcomes_of(&without), outcomes_of(&with));
    Ok(Counterfactuals {
        label: format!("IHDP, realisation {number}"),
        columns: children.names.iter().map(|&name| name.to_owned()).collect(),
        contexts: children.values.clone(),
        arms: 2,
        outcomes: by_child(&untreated, &treated),
        means: by_child(&without, &with),
    })
}

/// The published realisations have seeds five apart; their second half was drawn apart from the first.
fn seed(number: u32) -> u32 {
    5 * number + if number <= 500 { 565 } else { 7_565 }
}

/// Expected outcomes without and with treatment, for coefficients that are drawn here.
fn means(children: &Covariates, random: &mut RRandom) -> [Vec<f64>; 2] {
    let intercept = -1.0 + 0.25 * f64::from(random.below(INTERCEPTS));
    let choice = WeightedChoice::new(&COEFFICIENTS.map(|(_, probability)| probability));
    let coefficients: [f64; COVARIATES] = std::array::from_fn(|_| COEFFICIENTS[choice.draw(random)].0);
    let sum = |child: &[f64], offset: f64| {
        let terms = child.iter().zip(&coefficients).map(|(value, coefficient)| (value + offset) * coefficient);
        intercept + terms.sum::<f64>()
    };
    let rows = || children.values.chunks_exact(COVARIATES);
    let without: Vec<f64> = rows().map(|child| libm::exp(sum(child, OFFSET))).collect();
    let linear: Vec<f64> = rows().map(|child| sum(child, 0.0)).collect();
    let treated = || (0..linear.len()).filter(|&child| children.treated[child]);
    let effect = treated().map(|child| linear[child] - without[child]).sum::<f64>() / treated().count() as f64;
    let with = linear.iter().map(|sum| sum - (effect - EFFECT_ON_TREATED)).collect();
    [without, with]
}

/// Two numbers of each child, one after the other.
fn by_child(without: &[f64], with: &[f64]) -> Vec<f64> {
    without.iter().zip(with).flat_map(|(&without, &with)| [without, with]).collect()
}
