//! How often intervals miss, over many runs with fixed seeds.

use rarely_core::Rng;

/// Runs of every measurement.
pub(crate) const RUNS: u64 = 2000;
/// `δ` of every measurement.
pub(crate) const DELTA: f64 = 0.1;
/// `δ` and three standard errors of a share of [`RUNS`]: 3·√(0.1·0.9/2000) = 0.0201.
pub(crate) const AT_MOST: f64 = DELTA + 0.0201;

/// The share of runs in which `missed`, each with a generator of its own, printed under a name.
pub(crate) fn miss_rate(name: &str, seed: u64, mut missed: impl FnMut(&mut Rng) -> bool) -> f64 {
    let misses = (0..RUNS).filter(|&run| missed(&mut Rng::new(seed, run))).count();
    let rate = misses as f64 / RUNS as f64;
    println!(
        "{name}: misses in {:.2} % of {RUNS} runs (δ = {:.0} % unless it says otherwise)",
        100.0 * rate,
        100.0 * DELTA
    );
    rate
}

/// Exponential with mean 1.
pub(crate) fn exponential(rng: &mut Rng) -> f64 {
    -(1.0 - rng.uniform()).ln()
}
