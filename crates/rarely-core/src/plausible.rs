//! Excluded and plausible arms at a context, and how often a policy plays an excluded one.

use crate::arm::{Arm, FEW_ARMS};
use crate::confidence::ConfidenceSet;
use crate::context::{Context, Contexts};
use crate::error::{ContextError, MAX_ARMS};
use crate::rule::Rule;

impl ConfidenceSet<'_> {
    /// `J(s)`: the arms that are not excluded at a context. Arm `j` is excluded if some arm's difference interval over it lies
    /// wholly above 0 [lansdell-2019, Def. 1, with the exact difference interval]. Never empty. O(kd² + k²).
    ///
    /// # Errors
    /// [`ContextError::DimensionMismatch`].
    pub fn plausible_arms(&self, context: Context<'_>) -> Result<Vec<Arm>, ContextError> {
        let context = context.fitting(self.statistics().shape().dimension())?;
        let mut arms = Vec::new();
        self.for_each_plausible(context, |arm| arms.push(Arm::new(arm)));
        Ok(arms)
    }

    /// The share of contexts at which a policy plays an excluded arm.
    ///
    /// # Errors
    /// [`ContextError::DimensionMismatch`], [`ContextError::Empty`].
    ///
    /// # Panics
    /// If the rule does not have the shape of the statistics.
    pub fn excluded_share(&self, rule: &Rule, contexts: Contexts<'_>) -> Result<f64, ContextError> {
        assert_eq!(rule.parameters().shape(), self.statistics().shape(), "a rule has the shape of the statistics");
        contexts.check_dimension(self.statistics().shape().dimension())?;
        if contexts.is_empty() {
            return Err(ContextError::Empty);
        }
        let excluded = contexts.iter().filter(|context| {
            let mut plausible = false;
            let arm = rule.best(context.values());
            self.for_each_plausible(context.values(), |other| plausible |= other == arm);
            !plausible
        });
        Ok(excluded.count() as f64 / contexts.len() as f64)
    }

    /// Calls `visit` with every plausible arm, in order, without allocating.
    #[inline]
    pub(crate) fn for_each_plausible(&self, context: &[f64], visit: impl FnMut(usize)) {
        if self.statistics().shape().arms() <= FEW_ARMS {
            self.visit_plausible::<FEW_ARMS>(context, visit);
        } else {
            self.visit_plausible::<MAX_ARMS>(context, visit);
        }
    }

    #[inline]
    fn visit_plausible<const MOST: usize>(&self, context: &[f64], mut visit: impl FnMut(usize)) {
        let mut estimates = [0.0; MOST];
        let mut widths_squared = [0.0; MOST];
        let arms = self.statistics().arms();
        for (arm, ridge) in arms.iter().enumerate() {
            estimates[arm] = ridge.predict(context);
            widths_squared[arm] = ridge.width_squared(context);
        }
        for arm in 0..arms.len() {
            if !self.is_excluded(arm, &estimates[..arms.len()], &widths_squared[..arms.len()]) {
                visit(arm);
            }
        }
    }

    /// Whether some arm is certainly better than `arm`, given every arm's `sᵀθ̂` and `‖s‖²_{V⁻¹}`.
    #[inline]
    pub(crate) fn is_excluded(&self, arm: usize, estimates: &[f64], widths_squared: &[f64]) -> bool {
        (0..estimates.len()).any(|other| {
            estimates[other] > estimates[arm]
                && estimates[other] - estimates[arm]
                    > self.half_width([(other, widths_squared[other]), (arm, widths_squared[arm])])
        })
    }
}
