//! The assumptions that are derived from the outcome's range.

use crate::document::PolicyDocument;
use crate::number::short;

impl PolicyDocument {
    /// `σ`: as written, or half the outcome's range, for which outcomes in that range are sub-gaussian (Hoeffding).
    pub fn noise(&self) -> f64 {
        match (self.evidence.noise, self.outcome.range) {
            (Some(noise), _) => noise,
            (None, Some((low, high))) => 0.5 * (high - low),
            (None, None) => unreachable!("a checked document has a noise or a range"),
        }
    }

    /// `L`: as written, or derived as [`PolicyDocument::norm_bound_reason`] explains.
    pub fn norm_bound(&self) -> f64 {
        match (self.evidence.norm_bound, self.outcome.range) {
            (Some(bound), _) => bound,
            (None, Some(range)) => self.automatic_norm_bound(range),
            (None, None) => unreachable!("a checked document has a norm bound or a range"),
        }
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
            short(self.norm_bound()),
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
