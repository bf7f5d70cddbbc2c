//! The assumptions that are derived from the outcome's range.

use crate::document::{Guardrail, PolicyDocument, RowOrder};
use crate::number::short;

impl PolicyDocument {
    /// Whether a trend can be told from an effect: rows have times, or come in their order.
    pub fn rows_are_in_time(&self) -> bool {
        self.log_columns.time.is_some() || self.evidence.order == RowOrder::Time
    }

    /// `σ`: as written, or half the outcome's range, for which outcomes in that range are sub-gaussian (Hoeffding). `None` where there is
    /// neither: a review estimates it.
    pub fn noise(&self) -> Option<f64> {
        self.evidence.noise.or(self.outcome.range.map(|(low, high)| 0.5 * (high - low)))
    }

    /// The smallest gain per decision that is worth a change: as written, or 1 % of the outcome's range; `None` where there is neither.
    pub fn worth(&self) -> Option<f64> {
        let hundredth = self.outcome.range.map(|(low, high)| 0.01 * (high - low));
        self.change.worth.or(hundredth.map(|worth| worth.max(self.change.minimum_gain)))
    }

    /// `L`: as written, or derived as [`PolicyDocument::norm_bound_reason`] explains.
    /// `None` where the outcome has no range either.
    pub fn norm_bound(&self) -> Option<f64> {
        self.evidence.norm_bound.or(self.outcome.range.map(|range| self.automatic_norm_bound(range)))
    }

    /// `L` of a guard-rail's outcome, by the same derivation.
    pub fn guardrail_norm_bound(&self, guardrail: &Guardrail) -> f64 {
        self.automatic_norm_bound(guardrail.good_range())
    }

    /// The origin of the norm bound, in a sentence.
    pub fn norm_bound_reason(&self) -> String {
        let Some((low, high)) = self.outcome.range.filter(|_| self.evidence.norm_bound.is_none()) else {
            return "as written in the policy document".to_owned();
        };
        let square =
            |value: f64| if value < 0.0 { format!("({})²", short(value)) } else { format!("{}²", short(value)) };
        let mut terms = Vec::new();
        if self.intercept {
            let far = if low.abs() > high.abs() { low } else { high };
            terms.push(format!("{} for the intercept", square(far)));
        }
        if !self.features.is_empty() {
            let factor = self.most_level_coefficients();
            let times = if factor > 1 { format!("{factor} × ") } else { String::new() };
            terms.push(format!("{times}{} for the slopes", square(high - low)));
        }
        format!(
            "auto: if the mean outcome of every option stays within {} to {} for everyone the features allow, the coefficients \
             of one option have a squared length of at most {}; with {} options the length is at most {}",
            short(low),
            short(high),
            terms.join(" plus "),
            self.options.len(),
            short(self.automatic_norm_bound((low, high))),
        )
    }

    /// The longest that the stacked coefficients can be if every option's mean outcome stays within `[a, b]`, `R = b − a`.
    ///
    /// An option's mean is `c + Σβ_j x_j + Σ_f γ_{f,level}` with `x ∈ [0,1]`. At `x = 0` and the reference levels it is `c`,
    /// so `c² ≤ max(a², b²)`. Features vary freely, so the mean's spread over the box is
    /// `Σ|β_j| + Σ_f w_f ≤ R` with `w_f = max(0, γ_f) − min(0, γ_f)`. Each of the `m−1` coefficients of a feature with `m`
    /// levels is within `w_f`, so the squared slopes sum to at most `Σβ² + Σ(m_f−1)w_f² ≤ max(1, m−1)·R²`.
    fn automatic_norm_bound(&self, (low, high): (f64, f64)) -> f64 {
        let spread = high - low;
        let mut squared = 0.0;
        if self.intercept {
            squared += (low * low).max(high * high);
        }
        if !self.features.is_empty() {
            squared += spread * spread * self.most_level_coefficients() as f64;
        }
        (self.options.len() as f64 * squared).sqrt()
    }

    /// `max(1, m−1)` where `m` is the largest number of levels.
    fn most_level_coefficients(&self) -> usize {
        self.features.iter().map(crate::Feature::coordinates).max().unwrap_or(1)
    }
}
