//! The certificate of a change: its gain with an interval, and the share of decisions that change.
//!
//! On a sample of contexts the gain of one policy over another is linear in the unknown parameters,
//! `G = (1/m)Σ_s sᵀ(θ^{π′(s)} − θ^{π(s)}) = ⟨g,θ⟩`, so that `⟨g,θ̂⟩ ± r·√(Σ_a g_aᵀV_a⁻¹g_a)` holds with probability `1−δ` for
//! every round and every pair of policies at once.

use std::fmt;

use crate::arm::{Arm, Parameters};
use crate::block::{self, Lanes, WIDTH};
use crate::cone::Boundary;
use crate::confidence::{ConfidenceSet, Interval};
use crate::context::Contexts;
use crate::error::ContextError;
use crate::planar::{self, TheoremThree};
use crate::rule::Rule;
use crate::statistics::Digest;
use crate::symmetric::add_scaled;

/// The gain of one policy over another on a sample.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Gain {
    /// Mean gain per decision.
    pub interval: Interval,
    /// Share of the sample whose arm changes.
    pub changed_share: f64,
}

/// The part of a gain that comes from people who change between two arms.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct GainPart {
    /// The arms `i < j`, by number.
    pub arms: (usize, usize),
    /// Share of the sample that changes from `i` to `j`.
    pub there: f64,
    /// Share of the sample that changes from `j` to `i`.
    pub back: f64,
    /// What they gain together, as a mean over the whole sample.
    pub interval: Interval,
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

impl BoundaryMove {
    /// Every pair's boundary of two policies.
    pub(crate) fn all(from: &Parameters, to: &Parameters, before: Vec<Boundary>, after: Vec<Boundary>) -> Vec<Self> {
        let moved = |(before, after): (Boundary, Boundary)| Self {
            before,
            after,
            moved_degrees: planar::angle_between(from, to, before.arms).to_degrees(),
        };
        before.into_iter().zip(after).map(moved).collect()
    }
}

/// The certificate of a change. `{}` prints the gain, `{:#}` everything.
///
/// *What it promises.* With probability at least `1−δ`, for all rounds, changes and certificates of one policy together, the mean of
/// `sᵀθ^{π(s)}` over the listed contexts changes by a number in the gain's interval, if mean rewards are linear in the context, `θ` is
/// constant, and the noise is conditionally σ-sub-gaussian given context, arm and past; a declared norm bound must hold, and noise that
/// is not declared must be Gaussian. Nothing is claimed for other contexts, for subgroups, or for the randomisation around the rule.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Certificate {
    /// The gain on the sample.
    pub gain: Gain,
    /// Contexts in the sample.
    pub sample: usize,
    /// Share of the sample given an excluded arm before.
    pub excluded_before: f64,
    /// The same after.
    pub excluded_after: f64,
    /// Every pair's boundary.
    pub boundaries: Vec<BoundaryMove>,
    /// The gain by pairs of arms, under sharp sets.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub parts: Vec<GainPart>,
    /// Theorem 3's conditions, for two context variables and one ellipsoid.
    pub theorem_three: Option<TheoremThree>,
    /// `r`; sharp sets have a radius for each pair and mark instead.
    pub radius: Option<f64>,
    /// Fingerprint of the statistics.
    pub digest: Digest,
}

impl fmt::Display for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:.1} % of {} decisions change, gaining {} per decision",
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
            "\n  played an arm that the data rule out: {:.1} % before, {:.1} % after",
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
        for GainPart { arms: (i, j), there, back, interval } in &self.parts {
            let (there, back) = (percent(*there), percent(*back));
            write!(f, "\n  arm {i} to arm {j}: {there:.1} % there, {back:.1} % back, gaining {interval} per decision")?;
        }
        write!(
            f,
            "\n  holds over these {} contexts if means are linear and constant and the noise is as declared; nothing is claimed \
             for others",
            self.sample
        )?;
        if let Some(radius) = self.radius {
            write!(f, "\n  radius {radius:.4}, statistics {}", self.digest)
        } else {
            write!(f, "\n  statistics {}", self.digest)
        }
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
        let mut tally = Tally::new(vec![0.0; shape.parameters()]);
        for (context, (old, new)) in contexts.iter().zip(before.iter().zip(after)) {
            tally.count(context.values(), old.index(), new.index());
        }
        Ok(tally.gain(self, contexts.len()))
    }

    /// The gain of some parameters over a policy on rows that fit. `played` says which arms the policy plays at a block, from its
    /// first row and its variables; `functional` is scratch of length kd, `columns` is scratch for a block.
    pub(crate) fn gain_of(
        &self,
        played: impl Fn(usize, &[Lanes]) -> [usize; WIDTH],
        to: &[f64],
        rows: &[f64],
        functional: &mut [f64],
        columns: &mut [Lanes],
    ) -> Gain {
        let d = columns.len();
        functional.fill(0.0);
        let mut tally = Tally::new(functional);
        let mut row = 0;
        block::for_each(rows, columns, |columns, count| {
            let (before, after) = (played(row, columns), block::best_of(to, columns));
            for (old, new) in before.into_iter().zip(after).take(count) {
                tally.count(&rows[row * d..(row + 1) * d], old, new);
                row += 1;
            }
        });
        tally.gain(self, row)
    }

    /// The gain on rows that fit, given what calls its argument with each row at which another arm is played: the row's number and the
    /// arms before and after. `functional` is scratch of length kd.
    pub(crate) fn gain_of_differences(
        &self,
        rows: &[f64],
        functional: &mut [f64],
        for_each_difference: impl FnOnce(&mut dyn FnMut(usize, usize, usize)),
    ) -> Gain {
        let d = self.statistics().shape().dimension();
        functional.fill(0.0);
        let mut tally = Tally::new(functional);
        for_each_difference(&mut |row, old, new| tally.count(&rows[row * d..(row + 1) * d], old, new));
        tally.gain(self, rows.len() / d)
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
        let boundaries = BoundaryMove::all(from.parameters(), to.parameters(), before, after);
        Ok(Certificate {
            gain,
            sample: contexts.len(),
            excluded_before: self.excluded_share(from, contexts)?,
            excluded_after: self.excluded_share(to, contexts)?,
            boundaries,
            parts: Vec::new(),
            theorem_three: planar::theorem_three(self, from.parameters(), to.parameters()),
            radius: Some(self.radius()),
            digest: self.statistics().digest(),
        })
    }
}

/// Adds up the functional `g` of a gain. Starts from zeros.
struct Tally<F> {
    functional: F,
    changed: usize,
}

impl<F: AsMut<[f64]>> Tally<F> {
    fn new(functional: F) -> Self {
        Self { functional, changed: 0 }
    }

    /// One context's arm before and after.
    #[inline]
    fn count(&mut self, context: &[f64], old: usize, new: usize) {
        if old != new {
            self.changed += 1;
            let (functional, d) = (self.functional.as_mut(), context.len());
            add_scaled(&mut functional[old * d..(old + 1) * d], -1.0, context);
            add_scaled(&mut functional[new * d..(new + 1) * d], 1.0, context);
        }
    }

    /// The gain over as many contexts.
    fn gain(mut self, set: &ConfidenceSet<'_>, contexts: usize) -> Gain {
        let share = 1.0 / contexts.max(1) as f64;
        let functional = self.functional.as_mut();
        for value in &mut *functional {
            *value *= share;
        }
        Gain { interval: set.interval_of(functional), changed_share: self.changed as f64 * share }
    }
}
