//! The certificate of a change: what it gains, for whom, and how sure that is.
//!
//! On a sample of contexts the gain of one policy over another is linear in the unknown parameters,
//! `G = (1/m)Σ_s sᵀ(θ^{π′(s)} − θ^{π(s)}) = ⟨g,θ⟩`, so that `⟨g,θ̂⟩ ± r·√(Σ_a g_aᵀV_a⁻¹g_a)` holds with probability `1−δ` for
//! every round and every pair of policies at once.

use std::fmt;

use crate::arm::Arm;
use crate::cone::Boundary;
use crate::confidence::{ConfidenceSet, Interval};
use crate::context::{Context, Contexts};
use crate::error::ContextError;
use crate::planar::{self, TheoremThree};
use crate::rule::{self, Rule};
use crate::statistics::Digest;
use crate::symmetric::add_scaled;

/// The gain of one policy over another on a sample.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Gain {
    /// Mean gain a decision.
    pub interval: Interval,
    /// Share of the sample whose arm changes.
    pub changed_share: f64,
}

/// A pair's boundary before and after a change.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BoundaryMove {
    /// Before.
    pub before: Boundary,
    /// After.
    pub after: Boundary,
    /// Angle between the two, in degrees.
    pub moved_degrees: f64,
}

/// Everything a change carries with it. `{}` prints its gain, `{:#}` all of it.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Certificate {
    /// What it gains on the sample.
    pub gain: Gain,
    /// Contexts in the sample.
    pub sample: usize,
    /// Share of the sample given an excluded arm before.
    pub excluded_before: f64,
    /// The same after.
    pub excluded_after: f64,
    /// Every pair's boundary.
    pub boundaries: Vec<BoundaryMove>,
    /// Theorem 3's conditions, for two context variables.
    pub theorem_three: Option<TheoremThree>,
    /// `r`.
    pub radius: f64,
    /// Fingerprint of the statistics.
    pub digest: Digest,
}

impl fmt::Display for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:.1} % of {} decisions change, gaining {} a decision",
            100.0 * self.gain.changed_share,
            self.sample,
            self.gain.interval
        )?;
        if !f.alternate() {
            return Ok(());
        }
        let percent = |share: f64| 100.0 * share;
        write!(
            f,
            "\n  given an arm that the data rule out: {:.1} % before, {:.1} % after",
            percent(self.excluded_before),
            percent(self.excluded_after)
        )?;
        for BoundaryMove { before, after, moved_degrees } in &self.boundaries {
            let now = if after.plausible { "plausible" } else { "implausible" };
            write!(f, "\n  boundary {before}; moved by {moved_degrees:.1}°, now {now}")?;
        }
        if let Some(theorem) = &self.theorem_three {
            let verdict = if theorem.certifies() { "certified by Theorem 3" } else { "not certified by Theorem 3" };
            write!(f, "\n  {verdict}")?;
        }
        write!(f, "\n  radius {:.4}, statistics {}", self.radius, self.digest)
    }
}

impl ConfidenceSet<'_> {
    /// The gain of playing `after` instead of `before` at these contexts.
    ///
    /// # Errors
    /// [`ContextError`] if there are no contexts or they do not fit.
    ///
    /// # Panics
    /// If there is not one arm of either list for each context, or an arm does not exist.
    pub fn gain(&self, contexts: Contexts<'_>, before: &[Arm], after: &[Arm]) -> Result<Gain, ContextError> {
        let shape = self.statistics().shape();
        contexts.check_dimension(shape.dimension())?;
        if contexts.is_empty() {
            return Err(ContextError::Empty);
        }
        assert!(
            before.len() == contexts.len() && after.len() == contexts.len(),
            "one arm before and after for each context"
        );
        let pairs = before.iter().zip(after).map(|(old, new)| (old.index(), new.index()));
        let decisions = contexts.iter().map(Context::values).zip(pairs);
        Ok(self.gain_over(decisions, &mut vec![0.0; shape.parameters()]))
    }

    /// The gain of some parameters over a rule on rows that fit; `functional` is scratch of length kd.
    pub(crate) fn gain_of(&self, from: &Rule, to: &[f64], rows: &[f64], functional: &mut [f64]) -> Gain {
        let rows = rows.chunks_exact(self.statistics().shape().dimension());
        self.gain_over(rows.map(|row| (row, (from.best(row), rule::best_of(to, row)))), functional)
    }

    fn gain_over<'r>(
        &self,
        decisions: impl Iterator<Item = (&'r [f64], (usize, usize))>,
        functional: &mut [f64],
    ) -> Gain {
        let d = self.statistics().shape().dimension();
        functional.fill(0.0);
        let (mut changed, mut total) = (0_usize, 0_usize);
        for (context, (old, new)) in decisions {
            total += 1;
            if old != new {
                changed += 1;
                add_scaled(&mut functional[old * d..(old + 1) * d], -1.0, context);
                add_scaled(&mut functional[new * d..(new + 1) * d], 1.0, context);
            }
        }
        let share = 1.0 / total.max(1) as f64;
        for value in &mut *functional {
            *value *= share;
        }
        Gain { interval: self.interval_of(functional), changed_share: changed as f64 * share }
    }

    /// The certificate of changing from one linear policy to another, judged on a sample. O(k²d³ + m·k·d²).
    ///
    /// # Errors
    /// [`ContextError`] if there are no contexts or they do not fit.
    ///
    /// # Panics
    /// If the policies do not have the shape of the statistics.
    pub fn certify(&self, from: &Rule, to: &Rule, contexts: Contexts<'_>) -> Result<Certificate, ContextError> {
        let gain = self.gain(contexts, &from.choose_many(contexts)?, &to.choose_many(contexts)?)?;
        let (before, after) = (self.boundaries(from.parameters()), self.boundaries(to.parameters()));
        let boundaries = before.into_iter().zip(after).map(|(before, after)| BoundaryMove {
            before,
            after,
            moved_degrees: planar::angle_between(from.parameters(), to.parameters(), before.arms).to_degrees(),
        });
        Ok(Certificate {
            gain,
            sample: contexts.len(),
            excluded_before: self.excluded_share(from, contexts)?,
            excluded_after: self.excluded_share(to, contexts)?,
            boundaries: boundaries.collect(),
            theorem_three: planar::theorem_three(self, from.parameters(), to.parameters()),
            radius: self.radius(),
            digest: self.statistics().digest(),
        })
    }
}
