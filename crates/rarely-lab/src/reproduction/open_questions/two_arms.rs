//! The simplest case: two arms, no context, a known gap between them. When is the best moment to stop exploring?

use serde::Serialize;

/// Two arms with normal outcomes whose means differ by a known gap; which is better is not known, and neither is their level.
/// The arms are played in turn until one is chosen for the remaining rounds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TwoArmedTrial {
    /// `Δ`, what the worse arm loses per round.
    pub gap: f64,
    /// `σ`.
    pub noise: f64,
    /// `T`.
    pub rounds: u64,
}

/// The best moment to stop exploring.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BestSchedule {
    /// Least expected regret of a rule that looks at the outcomes before each pair of rounds.
    pub regret: f64,
    /// Expected number of rounds in which it explores.
    pub explored: f64,
    /// Least expected regret with a number of exploring rounds that is fixed beforehand.
    pub fixed_regret: f64,
    /// That number.
    pub fixed_explored: u64,
}

/// Grid points to the standard deviation of one pair's difference.
const FINENESS: f64 = 8.0;

impl TwoArmedTrial {
    /// Both schedules: the sequential one by dynamic programming over (pairs played, sum of their differences), the fixed one by search.
    pub fn best_schedule(&self) -> BestSchedule {
        let (fixed_regret, fixed_explored) = self.best_fixed();
        let (regret, explored) = self.best_sequential();
        BestSchedule { regret, explored, fixed_regret, fixed_explored }
    }

    /// Expected regret of `pairs` pairs and the better-looking arm afterwards: `nΔ + (T−2n)Δ·Φ(−Δ√(n/2)/σ)`.
    pub fn fixed_regret(&self, pairs: u64) -> f64 {
        let n = pairs as f64;
        let wrong = 0.5 * libm::erfc(self.gap * n.sqrt() / (2.0 * self.noise));
        self.gap * (n + (self.rounds as f64 - 2.0 * n) * wrong)
    }

    fn best_fixed(&self) -> (f64, u64) {
        let all = (0..=self.rounds / 2).map(|pairs| (self.fixed_regret(pairs), 2 * pairs));
        all.fold((f64::INFINITY, 0), |best, other| if other.0 < best.0 { other } else { best })
    }

    /// With `D` the sum of the differences, each `N(±Δ, 2σ²)`, the log likelihood ratio is `ℓ = DΔ/σ²` and the better-looking arm is wrong with
    /// probability `1/(1+e^{|ℓ|})`. The cost-to-go `V_n(D)` is the smaller of stopping, `(T−2n)Δ/(1+e^{|ℓ|})`, and of one more pair, `Δ + E V_{n+1}`.
    /// For `U = V·cosh(ℓ/2)` the mixture over both signs is one normal kernel, and `V(D) = V(−D)`: only `D ≥ 0` is kept.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn best_sequential(&self) -> (f64, f64) {
        let step = std::f64::consts::SQRT_2 * self.noise / FINENESS;
        let half_ratio = |at: usize| 0.5 * at as f64 * step * self.gap / (self.noise * self.noise);
        // Beyond this the arm that looks better is chosen: one more pair costs Δ, and can save less than T·Δ·e^{−ℓ}.
        let certain = (self.rounds as f64).ln() + 4.0;
        let points = (certain / (2.0 * half_ratio(1))) as usize + 2;
        let reach = (6.0 * FINENESS) as usize;
        let mut kernel: Vec<f64> = (0..=reach).map(|at| libm::exp(-0.5 * (at as f64 / FINENESS).powi(2))).collect();
        // So that a constant cost stays what it is: Σ w·cosh = 1.
        let total: f64 =
            kernel.iter().enumerate().map(|(at, w)| if at == 0 { *w } else { 2.0 * w * half_ratio(at).cosh() }).sum();
        for w in &mut kernel {
            *w /= total;
        }
        let stop =
            |pairs: u64, at: usize| 0.5 * self.gap * (self.rounds - 2 * pairs) as f64 * libm::exp(-half_ratio(at));
        let last = self.rounds / 2;
        let mut costs: Vec<f64> = (0..points).map(|at| stop(last, at)).collect();
        let mut lengths = vec![0.0; points];
        for pairs in (0..last).rev() {
            let after = |at: usize, grid: &[f64], beyond: &dyn Fn(usize) -> f64| -> f64 {
                let value = |at: usize| if at < points { grid[at] } else { beyond(at) };
                let around = kernel.iter().enumerate().skip(1);
                kernel[0] * value(at)
                    + around.map(|(off, w)| w * (value(at + off) + value(at.abs_diff(off)))).sum::<f64>()
            };
            let next: Vec<(f64, f64)> = (0..points)
                .map(|at| {
                    let (now, scale) = (stop(pairs, at), half_ratio(at).cosh());
                    let more = self.gap * scale + after(at, &costs, &|at| stop(pairs + 1, at));
                    if now <= more { (now, 0.0) } else { (more, 2.0 * scale + after(at, &lengths, &|_| 0.0)) }
                })
                .collect();
            (costs, lengths) = next.into_iter().unzip();
        }
        (costs[0], lengths[0])
    }
}
