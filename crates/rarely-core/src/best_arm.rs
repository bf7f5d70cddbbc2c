//! The probability that each of several independent normals is the largest (mathematics §15).
//!
//! `p_a = ∫ φ_a(x) Π_{c≠a} Φ_c(x) dx`. Where one leads every other clearly there is no integral; between two there is a closed form.

mod normal_table;

use crate::rule::argmax;

use normal_table::{NormalTable, distribution};

/// Standard deviations beyond which a normal has less mass than 1e-10.
const TAIL: f64 = 6.5;
/// A deviation smaller than this share of the largest is a point for every purpose; it is widened to it, so that it has a density.
const NARROW: f64 = 1e-9;
/// Length of a panel of the integral, in standard deviations of the narrowest normal that varies there.
const PANEL: f64 = 2.0;

/// A normal distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Normal {
    pub(crate) mean: f64,
    pub(crate) deviation: f64,
}

impl Normal {
    pub(crate) const POINT: Self = Self { mean: 0.0, deviation: 0.0 };

    /// Whether it exceeds another, but for 1e-10.
    #[inline]
    fn leads(&self, other: &Self) -> bool {
        let lead = self.mean - other.mean;
        let variance = self.deviation * self.deviation + other.deviation * other.deviation;
        lead > 0.0 && lead * lead > TAIL * TAIL * variance
    }
}

/// A normal that may be the largest, with what an integral needs of it.
#[derive(Clone, Copy)]
struct Contender {
    arm: usize,
    mean: f64,
    deviation: f64,
    /// `1/deviation`.
    scale: f64,
    /// Above this it has less mass than 1e-10.
    high: f64,
}

impl Contender {
    const NONE: Self = Self { arm: 0, mean: 0.0, deviation: 0.0, scale: 0.0, high: 0.0 };

    fn new(arm: usize, mean: f64, deviation: f64) -> Self {
        Self { arm, mean, deviation, scale: 1.0 / deviation, high: mean + TAIL * deviation }
    }

    fn low(&self) -> f64 {
        self.mean - TAIL * self.deviation
    }

    /// `P(X > other)`.
    fn exceeds(&self, other: &Self) -> f64 {
        distribution((self.mean - other.mean) / self.deviation.hypot(other.deviation))
    }
}

/// The normal that leads every other by more than the tails of both, if there is one: it is the largest, but for 1e-10.
#[inline]
pub(crate) fn clear_leader(normals: &[Normal]) -> Option<usize> {
    let best = argmax(normals.iter().map(|normal| normal.mean));
    let leader = normals[best];
    let clear = normals.iter().enumerate().all(|(arm, other)| arm == best || leader.leads(other));
    clear.then_some(best)
}

/// The probability of each normal to be the largest, to about 1e-9; they add up to 1. If none varies, the largest mean is, and of
/// equal ones the first. There are at most `MOST` normals.
pub(crate) fn best_probabilities<const MOST: usize>(normals: &[Normal], out: &mut [f64]) {
    out.fill(0.0);
    let widest = normals.iter().fold(0.0, |widest: f64, normal| widest.max(normal.deviation));
    if widest == 0.0 {
        out[argmax(normals.iter().map(|normal| normal.mean))] = 1.0;
        return;
    }
    let mut room = [Contender::NONE; MOST];
    let mut count = 0;
    for (arm, normal) in normals.iter().enumerate() {
        if !normals.iter().any(|other| other.leads(normal)) {
            room[count] = Contender::new(arm, normal.mean, normal.deviation.max(NARROW * widest));
            count += 1;
        }
    }
    match &mut room[..count] {
        [only] => out[only.arm] = 1.0,
        [one, other] => {
            out[one.arm] = one.exceeds(other);
            out[other.arm] = other.exceeds(one);
        }
        contenders => integrate::<MOST>(contenders, out),
    }
    let total: f64 = out.iter().sum();
    for probability in out {
        *probability /= total;
    }
}

/// All integrals at once, from the highest point that some normal is certain to exceed, by the 8-point Gauss–Legendre rule.
/// Where only one normal still varies, it is the largest if it is above.
fn integrate<const MOST: usize>(contenders: &mut [Contender], out: &mut [f64]) {
    /// Distances from the middle of a panel of length 1 and weights, half of them.
    const NODES: [(f64, f64); 4] = [
        (0.091_717_321_247_824_9, 0.181_341_891_689_181),
        (0.262_766_204_958_164_5, 0.156_853_322_938_943_64),
        (0.398_333_238_706_813_37, 0.111_190_517_226_687_24),
        (0.480_144_928_248_768_12, 0.050_614_268_145_188_13),
    ];
    let table = NormalTable::get();
    contenders.sort_unstable_by(|one, other| other.high.total_cmp(&one.high));
    let mut x = contenders.iter().map(Contender::low).fold(f64::NEG_INFINITY, f64::max);
    loop {
        let varying = &contenders[..contenders.partition_point(|contender| x < contender.high)];
        let step = match varying {
            [] => return,
            [last] => {
                out[last.arm] += distribution((last.mean - x) * last.scale);
                return;
            }
            _ => varying
                .iter()
                .fold(f64::INFINITY, |step, contender| step.min(PANEL * contender.deviation).min(contender.high - x)),
        };
        // Advance even if that is lost in rounding.
        let step = step.max(8.0 * f64::EPSILON * x.abs());
        let middle = x + 0.5 * step;
        for (offset, weight) in NODES {
            for node in [middle - offset * step, middle + offset * step] {
                add_node::<MOST>(table, varying, node, weight * step, out);
            }
        }
        x += step;
    }
}

/// Adds one node of every integral: `φ_a(x)·Π_{c≠a} Φ_c(x)`, as a product of all divided by one.
#[inline]
fn add_node<const MOST: usize>(table: &NormalTable, varying: &[Contender], x: f64, weight: f64, out: &mut [f64]) {
    let mut ratios = [0.0; MOST];
    let mut all = weight;
    for (ratio, contender) in ratios.iter_mut().zip(varying) {
        let (below, density) = table.distribution_and_density((x - contender.mean) * contender.scale);
        all *= below;
        *ratio = contender.scale * density / below;
    }
    for (ratio, contender) in ratios.iter().zip(varying) {
        out[contender.arm] += all * ratio;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probabilities(normals: &[(f64, f64)]) -> Vec<f64> {
        let normals: Vec<Normal> = normals.iter().map(|&(mean, deviation)| Normal { mean, deviation }).collect();
        let mut out = vec![f64::NAN; normals.len()];
        best_probabilities::<16>(&normals, &mut out);
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
                let at = |arm: usize| (x - normals[arm].0) / normals[arm].1;
                let others = (0..normals.len()).filter(|&other| other != arm);
                let below: f64 = others.map(|other| distribution(at(other))).product();
                *out += step * normal_table::density(at(arm)) / normals[arm].1 * below;
            }
        }
        out
    }

    #[test]
    fn probabilities_agree_with_a_fine_grid() {
        let cases: [&[(f64, f64)]; 10] = [
            &[(0.0, 1.0), (0.0, 1.0), (0.0, 1.0)],
            &[(0.3, 1.0), (0.0, 0.2), (-0.5, 3.0), (0.1, 0.05)],
            &[(0.0, 1.0), (9.0, 1.0), (9.1, 0.01)],
            &[(0.0, 1.0), (0.5, 2.0)],
            &[(5.0, 0.1), (0.0, 0.1)],
            &[(1.0, 1e-2), (1.0, 1.0), (0.9, 10.0)],
            &[(0.0, 1.0), (1.0, 1.0), (2.0, 1.0), (3.0, 1.0), (3.1, 0.5), (2.9, 0.7), (0.0, 3.0), (-1.0, 0.1)],
            &[(1e3, 1e-2), (1e3, 2e-2), (1e3, 3e-2)],
            &[(0.0, 1.0); 16],
            &[(0.0, 1.0), (3.0, 0.1), (6.0, 0.1), (-2.0, 4.0)],
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
