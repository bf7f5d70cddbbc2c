//! The probability that each of several independent normals is the largest (mathematics §15).
//!
//! `p_a = ∫ φ_a(x) Π_{c≠a} Φ_c(x) dx`. Where one leads every other clearly there is no integral; between two there is a closed form.

use crate::arm::FEW_ARMS;
use crate::rule::argmax;

/// Standard deviations beyond which a normal has less mass than 1e-10.
const TAIL: f64 = 6.5;
/// A deviation smaller than this share of the largest is a point for every purpose; it is widened to it, so that it has a density.
const NARROW: f64 = 1e-9;

/// A normal distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Normal {
    pub(crate) mean: f64,
    pub(crate) deviation: f64,
}

impl Normal {
    pub(crate) const POINT: Self = Self { mean: 0.0, deviation: 0.0 };

    /// `P(X ≤ x)`.
    #[inline]
    fn below(&self, x: f64) -> f64 {
        0.5 * libm::erfc((self.mean - x) / (self.deviation * std::f64::consts::SQRT_2))
    }

    #[inline]
    fn density(&self, x: f64) -> f64 {
        const ROOT: f64 = 0.398_942_280_401_432_7;
        let z = (x - self.mean) / self.deviation;
        ROOT * libm::exp(-0.5 * z * z) / self.deviation
    }

    fn low(&self) -> f64 {
        self.mean - TAIL * self.deviation
    }

    fn high(&self) -> f64 {
        self.mean + TAIL * self.deviation
    }
}

/// The normal that leads every other by more than the tails of both, if there is one: it is the largest, but for 1e-10.
#[inline]
pub(crate) fn clear_leader(normals: &[Normal]) -> Option<usize> {
    let best = argmax(normals.iter().map(|normal| normal.mean));
    let Normal { mean, deviation } = normals[best];
    let clear = normals.iter().enumerate().all(|(arm, other)| {
        let lead = mean - other.mean;
        arm == best
            || lead * lead > TAIL * TAIL * (deviation * deviation + other.deviation * other.deviation) && lead > 0.0
    });
    clear.then_some(best)
}

/// The probability of each normal to be the largest, to about 1e-9; they add up to 1. If none varies, the largest mean is, and of
/// equal ones the first.
pub(crate) fn best_probabilities(normals: &mut [Normal], out: &mut [f64]) {
    out.fill(0.0);
    let widest = normals.iter().fold(0.0, |widest: f64, normal| widest.max(normal.deviation));
    if let Some(leader) = clear_leader(normals).or_else(|| (widest == 0.0).then(|| argmax(means(normals)))) {
        out[leader] = 1.0;
        return;
    }
    for normal in &mut *normals {
        normal.deviation = normal.deviation.max(NARROW * widest);
    }
    let floor = normals.iter().map(Normal::low).fold(f64::NEG_INFINITY, f64::max);
    let contends = |normal: &Normal| normal.high() > floor;
    let mut contenders = (0..normals.len()).filter(|&arm| contends(&normals[arm]));
    if let (Some(first), Some(second), None) = (contenders.next(), contenders.next(), contenders.next()) {
        let (one, other) = (normals[first], normals[second]);
        let spread = one.deviation.hypot(other.deviation);
        out[first] = Normal { mean: other.mean, deviation: spread }.below(one.mean);
        out[second] = Normal { mean: one.mean, deviation: spread }.below(other.mean);
    } else {
        integrate(normals, floor, out);
    }
    let total: f64 = out.iter().sum();
    for probability in out {
        *probability /= total;
    }
}

fn means(normals: &[Normal]) -> impl Iterator<Item = f64> {
    normals.iter().map(|normal| normal.mean)
}

/// All integrals at once, from the highest point that some normal is certain to exceed: panels of one standard deviation of the
/// narrowest normal that still varies there, each by the 8-point Gauss–Legendre rule.
fn integrate(normals: &[Normal], floor: f64, out: &mut [f64]) {
    /// Nodes and weights on [0, 1], half of them.
    const NODES: [(f64, f64); 4] = [
        (0.091_717_321_247_824_9, 0.181_341_891_689_181),
        (0.262_766_204_958_164_5, 0.156_853_322_938_943_64),
        (0.398_333_238_706_813_37, 0.111_190_517_226_687_24),
        (0.480_144_928_248_768_12, 0.050_614_268_145_188_13),
    ];
    let end = normals.iter().map(Normal::high).fold(f64::NEG_INFINITY, f64::max);
    let mut x = floor;
    while x < end {
        let varying = normals.iter().filter(|normal| x < normal.high());
        let step = varying.fold(end - x, |step, normal| step.min(normal.deviation));
        // Advance even if that is lost in rounding.
        let step = step.max(8.0 * f64::EPSILON * x.abs()).min(end - x);
        for (offset, weight) in NODES {
            for node in [x + (0.5 - offset) * step, x + (0.5 + offset) * step] {
                add_node(normals, node, weight * step, floor, out);
            }
        }
        x += step;
    }
}

/// Adds one node of every integral: `φ_a(x)·Π_{c≠a} Φ_c(x)`, as a product of all divided by one.
#[inline]
fn add_node(normals: &[Normal], x: f64, weight: f64, floor: f64, out: &mut [f64]) {
    let contenders = || normals.iter().enumerate().filter(|(_, normal)| normal.high() > floor);
    // The distribution functions wait in their places until the product is known; most are 1 far above a normal.
    let mut below = [1.0; FEW_ARMS];
    let few = normals.len() <= FEW_ARMS;
    let mut all = weight;
    for (arm, normal) in contenders().filter(|(_, normal)| x < normal.high()) {
        let value = normal.below(x);
        all *= value;
        if few {
            below[arm] = value;
        }
    }
    for (arm, normal) in contenders().filter(|(_, normal)| x < normal.high() && x > normal.low()) {
        let own = if few { below[arm] } else { normal.below(x) };
        out[arm] += all * normal.density(x) / own;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probabilities(normals: &[(f64, f64)]) -> Vec<f64> {
        let mut normals: Vec<Normal> = normals.iter().map(|&(mean, deviation)| Normal { mean, deviation }).collect();
        let mut out = vec![f64::NAN; normals.len()];
        best_probabilities(&mut normals, &mut out);
        out
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    /// The integral by the trapezoidal rule on a grid so fine that only truncation could matter.
    fn by_brute_force(normals: &[(f64, f64)]) -> Vec<f64> {
        let narrowest = normals.iter().fold(f64::INFINITY, |least: f64, normal| least.min(normal.1));
        let (low, high) = normals.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &(mean, deviation)| {
            (low.min(mean - 10.0 * deviation), high.max(mean + 10.0 * deviation))
        });
        let step = narrowest / 20.0;
        let nodes = ((high - low) / step) as usize + 1;
        let mut out = vec![0.0; normals.len()];
        for node in 0..nodes {
            let x = low + node as f64 * step;
            for (arm, out) in out.iter_mut().enumerate() {
                let own = Normal { mean: normals[arm].0, deviation: normals[arm].1 };
                let others = (0..normals.len()).filter(|&other| other != arm);
                *out += step
                    * own.density(x)
                    * others
                        .map(|other| Normal { mean: normals[other].0, deviation: normals[other].1 }.below(x))
                        .product::<f64>();
            }
        }
        out
    }

    #[test]
    fn probabilities_agree_with_a_fine_grid() {
        let cases: [&[(f64, f64)]; 8] = [
            &[(0.0, 1.0), (0.0, 1.0), (0.0, 1.0)],
            &[(0.3, 1.0), (0.0, 0.2), (-0.5, 3.0), (0.1, 0.05)],
            &[(0.0, 1.0), (9.0, 1.0), (9.1, 0.01)],
            &[(0.0, 1.0), (0.5, 2.0)],
            &[(5.0, 0.1), (0.0, 0.1)],
            &[(1.0, 1e-2), (1.0, 1.0), (0.9, 10.0)],
            &[(0.0, 1.0), (1.0, 1.0), (2.0, 1.0), (3.0, 1.0), (3.1, 0.5), (2.9, 0.7), (0.0, 3.0), (-1.0, 0.1)],
            &[(1e3, 1e-2), (1e3, 2e-2), (1e3, 3e-2)],
        ];
        for case in cases {
            let found = probabilities(case);
            assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{case:?}");
            for (found, expected) in found.iter().zip(by_brute_force(case)) {
                assert!((found - expected).abs() < 1e-9, "{case:?}: {found} instead of {expected}");
            }
        }
    }

    #[test]
    fn points_and_clear_leads_need_no_integral() {
        assert_eq!(probabilities(&[(1.0, 0.0), (1.0, 0.0), (0.5, 0.0)]), [1.0, 0.0, 0.0]);
        assert_eq!(probabilities(&[(0.0, 1.0), (20.0, 1.0), (0.0, 1.0)]), [0.0, 1.0, 0.0]);
        let beside_a_point = probabilities(&[(0.0, 0.0), (0.0, 1.0)]);
        assert!((beside_a_point[0] - 0.5).abs() < 1e-9);
        let above_two_points = probabilities(&[(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)]);
        assert!((above_two_points[2] - 0.158_655_253_931_457_05).abs() < 1e-8 && above_two_points[0] < 1e-9);
    }
}
