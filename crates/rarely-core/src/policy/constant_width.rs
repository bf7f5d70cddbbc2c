//! LinUCB with a constant width: the arm with the largest `sᵀθ̂ + α‖s‖_{V⁻¹}` [li-2010, Alg. 1]. The width does not follow from a
//! confidence set, so that nothing is guaranteed; it is what most libraries call LinUCB.

use crate::algorithm::Algorithm;
use crate::decision::{Decision, Reason};
use crate::number::Deviations;
use crate::policy::indexed::{ArmIndex, IndexChoice, Indexed};
use crate::rng::Rng;
use crate::rule::argmax_among;
use crate::snapshot::State;

/// α.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct ConstantWidth {
    pub(crate) alpha: Deviations,
}

impl IndexChoice for ConstantWidth {
    const ALGORITHM: Algorithm = Algorithm::LinUcbAlpha;

    fn choose(&self, index: &impl ArmIndex, mask: Option<&[bool]>, _: &mut Rng) -> Decision {
        let alpha = self.alpha.get();
        let bounds = (0..index.arms()).map(|arm| index.mean(arm) + alpha * index.width_squared(arm).sqrt());
        Decision::certain(argmax_among(mask, bounds), Reason::Optimistic)
    }

    fn state(policy: Indexed<Self>) -> State {
        State::LinUcbAlpha(Box::new(policy))
    }
}
