//! A trend in time, told from the effect of an option.
//!
//! If everyone's outcomes rise while an option is given more and more often, the option seems to help. Within a stretch of time it cannot:
//! so the gain of a change is estimated once more with a constant for every stretch, `y = sᵀθ_a + γ_t + noise`, and a change must gain
//! by this estimate too.

use rarely_core::{Interval, Parameters};
use serde::{Deserialize, Serialize};

use crate::candidate_gain::multiplier_at;
use crate::error::ReviewError;
use crate::evidence_base::EvidenceBase;
use crate::moments::{Moments, packed_length};
use crate::normal_equations::NormalEquations;
use crate::stretch_sums::Stretch;
use crate::tally::Tally;

/// Rows below which stretches of time are not told apart.
const LEAST_ROWS: u64 = 200;
/// Stretches of time differ if the probability of so much difference is below this; …
const TREND: f64 = 0.05;
/// … the gain within them is then held against this share of the error probability.
const STRICTER: f64 = 0.01;

/// The gain of a change within stretches of time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct WithinTime {
    /// The gain per case; unbounded where options and stretches of time cannot be told apart.
    pub gain: Interval,
    /// The stretches.
    pub stretches: usize,
    /// The probability of stretches that differ so much if there is no trend.
    pub p_value: f64,
}

/// The regressions of all options with a constant for every stretch of time.
pub(crate) struct TrendFit {
    /// The stretches' constants come first, then the options' coefficients.
    equations: NormalEquations,
    constants: usize,
    /// Of one row, as clusters and weights let it count.
    variance: f64,
    degrees: f64,
    cases: u64,
    p_value: f64,
}

impl TrendFit {
    /// `None` if rows are in no order of time, or there are too few.
    pub(crate) fn new(base: &EvidenceBase<'_>, tally: &Tally) -> Option<Self> {
        let document = base.document;
        let stretches: Vec<&Stretch> = tally.stretches().all().iter().filter(|stretch| stretch.rows() > 0).collect();
        if !document.rows_are_in_time() || !document.has_intercept() || tally.rows() < LEAST_ROWS || stretches.len() < 2
        {
            return None;
        }
        let parts: Vec<Vec<Moments>> = stretches.iter().map(|stretch| stretch.both().collect()).collect();
        let whole = Problem::new(&parts, true);
        let plain = Problem::new(&parts, false);
        let (equations, without) = (whole.equations(), plain.equations());
        let rows: u64 = parts.iter().flatten().map(Moments::rows).sum();
        let squares: f64 = parts.iter().flatten().map(Moments::reward_squares).sum();
        let rank = equations.rank(0..whole.moment.len()) as u64;
        let degrees = rows.checked_sub(rank).filter(|&degrees| degrees > 0)? as f64;
        let residual = |equations: &NormalEquations, width: usize| (squares - equations.explained(0..width)).max(0.0);
        let left = residual(&equations, whole.moment.len());
        let added = rank.saturating_sub(without.rank(0..plain.moment.len()) as u64);
        let gained = (residual(&without, plain.moment.len()) - left).max(0.0);
        let residual_variance = left / degrees;
        let statistic =
            if added > 0 && residual_variance > 0.0 { gained / added as f64 / residual_variance } else { 0.0 };
        let effect = base.known_design_effect();
        let p_value = if added > 0 { effect.upper_tail(statistic, (added, rows - rank)) } else { 1.0 };
        Some(Self {
            equations,
            constants: whole.constants,
            variance: effect.factor * residual_variance,
            degrees: effect.degrees(degrees),
            cases: rows,
            p_value,
        })
    }

    /// The gain `⟨g,θ⟩` within stretches of time.
    ///
    /// # Errors
    /// [`ReviewError`] if the error probability is out of its range.
    pub(crate) fn gain(&self, base: &EvidenceBase<'_>, functional: &Parameters) -> Result<WithinTime, ReviewError> {
        let padded: Vec<f64> =
            std::iter::repeat_n(0.0, self.constants).chain(functional.values().iter().copied()).collect();
        let estimate: f64 =
            padded.iter().zip(self.equations.coefficients()).map(|(weight, value)| weight * value).sum();
        let error = (self.variance * self.equations.width_squared(&padded)).sqrt();
        // Where outcomes do change with time, this estimate alone stands between a trend and a change.
        let share = base.error_probability()?.get() * if self.p_value < TREND { STRICTER } else { 1.0 };
        let half_width = multiplier_at(base, self.degrees, self.cases, share) * error;
        let gain = Interval::around(estimate, half_width);
        Ok(WithinTime { gain, stretches: self.constants + 1, p_value: self.p_value })
    }
}

/// Normal equations of all options together, with or without a constant for every stretch but the first.
struct Problem {
    constants: usize,
    information: Vec<f64>,
    moment: Vec<f64>,
}

impl Problem {
    fn new(parts: &[Vec<Moments>], with_constants: bool) -> Self {
        let constants = if with_constants { parts.len() - 1 } else { 0 };
        let (arms, d) = (parts[0].len(), parts[0][0].dimension());
        let width = constants + arms * d;
        let mut problem = Self { constants, information: vec![0.0; packed_length(width)], moment: vec![0.0; width] };
        for (stretch, options) in parts.iter().enumerate() {
            for (arm, sums) in options.iter().enumerate() {
                problem.add(stretch, constants + arm * d, sums);
            }
        }
        problem
    }

    /// Adds one option's rows of one stretch. The context's first number is 1.
    fn add(&mut self, stretch: usize, start: usize, sums: &Moments) {
        let (_, information, moment) = sums.base();
        for i in 0..moment.len() {
            self.moment[start + i] += moment[i];
            for j in 0..=i {
                self.information[packed_length(start + i) + start + j] += information[packed_length(i) + j];
            }
        }
        if let Some(constant) = stretch.checked_sub(1).filter(|_| self.constants > 0) {
            self.moment[constant] += moment[0];
            // The rows, or the sum of their weights.
            self.information[packed_length(constant) + constant] += information[0];
            for i in 0..moment.len() {
                self.information[packed_length(start + i) + constant] += information[packed_length(i)];
            }
        }
    }

    fn equations(&self) -> NormalEquations {
        NormalEquations::new(&self.information, &self.moment)
    }
}

#[cfg(test)]
mod tests {
    use rarely_core::{Arm, Rng};
    use rarely_policy::PolicyDocument;

    use super::*;
    use crate::tally_row::TallyRow;

    /// Rows of clusters that come one after the other: without a trend, stretches of time differ because clusters do.
    #[test]
    fn clusters_are_no_trend() {
        let text = "policy = \"planted\"\noptions = [\"old\", \"new\"]\noutcome = { column = \"y\", range = [-1, 2] }\n\
                    [[features]]\ncolumn = \"x\"\nrange = [0, 1]\n[evidence]\ncluster = \"clinic\"\n\
                    [rule]\nthreshold = { feature = \"x\", cuts = [0.5], options = [\"old\", \"new\"] }\n";
        let document = PolicyDocument::parse(text, "planted.toml").expect("a document");
        let logs = 300;
        let (mut without, mut with, mut drifts) = (0, 0, 0);
        for seed in 0..logs {
            for drift in [0.0, 0.4] {
                let mut rng = Rng::new(seed, 51);
                let mut rows: Vec<([f64; 2], usize, f64, u64)> = Vec::new();
                for cluster in 0..100_u64 {
                    let level = 0.1 * rng.normal() + drift * cluster as f64 / 100.0;
                    for _ in 0..12 {
                        let (x, arm) = (rng.uniform(), rng.below(2));
                        rows.push(([1.0, x], arm, 0.4 + 0.2 * x + level + 0.1 * rng.normal(), cluster));
                    }
                }
                let row = |number: usize| {
                    let (context, arm, reward, cluster) = &rows[number];
                    let cluster = Some(*cluster);
                    TallyRow { cluster, ..TallyRow::new(number as u64, context, Arm::new(*arm), *reward) }
                };
                let mut tally = Tally::new(&document);
                (0..rows.len()).for_each(|number| tally.add_row(&row(number)));
                let base = EvidenceBase::of(&document, &tally, None).expect("it fits");
                let p_value = |base: &EvidenceBase<'_>| TrendFit::new(base, &tally).expect("time order").p_value;
                let plain = p_value(&base);
                let mut second = base.second_reading().expect("divided");
                (0..rows.len()).for_each(|number| second.add_row(&row(number)));
                let found = p_value(&base.with_second_reading(second));
                if drift == 0.0 {
                    without += u64::from(plain < TREND);
                    with += u64::from(found < TREND);
                } else {
                    drifts += u64::from(found < TREND);
                }
            }
        }
        println!(
            "a trend at 5 % in {without} of {logs} logs with rows as independent, {with} with the design effect; {drifts} with a trend"
        );
        // 5 % and three binomial deviations.
        assert!(without > logs / 2 && with <= 26, "{without}, {with}");
        assert!(drifts > logs / 2, "{drifts} of {logs} trends were seen");
    }
}
