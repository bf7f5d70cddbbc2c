//! Quantiles of the t, F and χ² distributions, for any degrees of freedom and far into the tails.
//!
//! A certificate at `δ = 0.001`, shared by looks, candidates and arms, needs tails of 1e-7, and a log can have 10⁸ rows. Library
//! functions that subtract logarithms of Γ, or that stop after a fixed number of terms, fail there: at 10⁷ degrees of freedom
//! `statrs` 0.18 gives 1.39 for the 95 % point of t, which is 1.645, and no number for χ² with 10⁶. Here densities are computed
//! without cancellation [loader-2000], tails by series and continued fractions to full precision [dlmf, 8.11.4, 8.9.2; didonato-1992, eq. 9], and
//! quantiles by Newton's method on the logarithm of the tail, kept inside a bracket. Upper quantiles take the probability of the
//! tail, because `1 − tail` would round it off.

use std::f64::consts::PI;

/// A term that changes a sum or a fraction by less than this ends it.
const PRECISION: f64 = 1e-16;
/// Terms are needed in the order of the root of the degrees of freedom: some 10⁵ for the largest log.
const MAX_TERMS: u32 = 10_000_000;
/// Steps of Newton's method or of bisection. Newton's alone needs about six.
const MAX_STEPS: u32 = 200;

/// The `t` with `P(T > t) = tail`, for a tail of at most ½.
pub(crate) fn student_t_upper(degrees: f64, tail: f64) -> f64 {
    if tail < 0.5 { f_upper(1.0, degrees, 2.0 * tail).sqrt() } else { 0.0 }
}

/// The `x` with `P(F > x) = tail`.
///
/// # Panics
/// If the degrees of freedom are not positive, or the tail is not strictly between 0 and 1.
pub fn f_upper(numerator: f64, denominator: f64, tail: f64) -> f64 {
    assert!(numerator > 0.0 && denominator > 0.0, "degrees of freedom are positive");
    let (a, b) = (0.5 * denominator, 0.5 * numerator);
    // P(F > x) = I_z(a,b) at z = a/(a + bx), and ln(z/(1−z)) falls as fast as ln x rises.
    let beta = |ln_x: f64| {
        let odds = b * libm::exp(ln_x) / a;
        IncompleteBeta::new(a, b, 1.0 / (1.0 + odds), if odds > 1e300 { 1.0 } else { odds / (1.0 + odds) })
    };
    let ln_x = if tail <= 0.5 {
        solve(tail, 0.0, -1.0, |ln_x| (beta(ln_x).below(), beta(ln_x).kernel))
    } else {
        solve(1.0 - tail, 0.0, 1.0, |ln_x| (beta(ln_x).above(), beta(ln_x).kernel))
    };
    libm::exp(ln_x)
}

/// The `x` with `P(χ² ≤ x) = probability`.
pub(crate) fn chi_squared_quantile(degrees: f64, probability: f64) -> f64 {
    assert!(degrees > 0.0, "degrees of freedom are positive");
    let a = 0.5 * degrees;
    let gamma = |ln_x: f64| Gamma::new(a, libm::exp(ln_x));
    let start = libm::log(a);
    let ln_x = if probability <= 0.5 {
        solve(probability, start, 1.0, |ln_x| (gamma(ln_x).below(), gamma(ln_x).kernel))
    } else {
        solve(1.0 - probability, start, -1.0, |ln_x| (gamma(ln_x).above(), gamma(ln_x).kernel))
    };
    2.0 * libm::exp(ln_x)
}

/// The place `u` where a tail that rises (`sign = 1`) or falls (`sign = −1`) in `u` is `target`. `tail` gives its probability and
/// the size of its slope.
fn solve(target: f64, start: f64, sign: f64, tail: impl Fn(f64) -> (f64, f64)) -> f64 {
    assert!(target > 0.0 && target < 1.0, "a quantile is asked for a probability strictly between 0 and 1");
    let aim = libm::log(target);
    // How far the tail is above its target, in the direction of growing u.
    let excess = |probability: f64| sign * (libm::log(probability) - aim);
    let (mut low, mut high) = (start, start);
    let mut width = 1.0;
    while excess(tail(low).0) > 0.0 {
        high = low;
        low -= width;
        width *= 2.0;
    }
    width = 1.0;
    while low == high || excess(tail(high).0) < 0.0 {
        if low != high {
            low = high;
        }
        high += width;
        width *= 2.0;
    }
    let mut u = 0.5 * (low + high);
    for _ in 0..MAX_STEPS {
        let (probability, slope) = tail(u);
        let off = excess(probability);
        if off > 0.0 {
            high = u;
        } else {
            low = u;
        }
        let newton = u - off * probability / slope;
        let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        let moved = (next - u).abs();
        u = next;
        if moved <= 4.0 * f64::EPSILON * u.abs().max(1.0) {
            break;
        }
    }
    u
}

/// The incomplete beta function at `z` and `1 − z`, both given so that neither is rounded off.
struct IncompleteBeta {
    a: f64,
    b: f64,
    z: f64,
    rest: f64,
    /// `z^a (1−z)^b / B(a,b)`.
    kernel: f64,
}

impl IncompleteBeta {
    fn new(a: f64, b: f64, z: f64, rest: f64) -> Self {
        let sum = a + b;
        let exponent = stirling_error(sum)
            - stirling_error(a)
            - stirling_error(b)
            - deviance(a, sum * z)
            - deviance(b, sum * rest);
        Self { a, b, z, rest, kernel: libm::exp(exponent) * (a * b / (2.0 * PI * sum)).sqrt() }
    }

    /// `I_z(a,b)`.
    fn below(&self) -> f64 {
        if self.is_below_the_mean() { self.fraction() } else { 1.0 - self.mirrored().fraction() }
    }

    /// `1 − I_z(a,b)`.
    fn above(&self) -> f64 {
        if self.is_below_the_mean() { 1.0 - self.fraction() } else { self.mirrored().fraction() }
    }

    fn is_below_the_mean(&self) -> bool {
        self.z * (self.a + self.b + 2.0) < self.a + 1.0
    }

    fn mirrored(&self) -> Self {
        Self { a: self.b, b: self.a, z: self.rest, rest: self.z, kernel: self.kernel }
    }

    /// The continued fraction of `I_z(a,b)` in the form that never subtracts `z` from 1 [didonato-1992, eq. 9].
    fn fraction(&self) -> f64 {
        let Self { a, b, z, rest, kernel } = *self;
        let denominator = |m: f64| {
            let inner = a * rest - b * z + 1.0 + m * (1.0 + rest);
            // The middle term is 0 at m = 0, even where a + 2m − 1 is.
            let middle = if m == 0.0 { 0.0 } else { m * (b - m) * z / (a + 2.0 * m - 1.0) };
            m + middle + (a + m) * inner / (a + 2.0 * m + 1.0)
        };
        let step = |term: u32| {
            let m = f64::from(term);
            let odd = a + 2.0 * m - 1.0;
            ((a + m - 1.0) / odd * (a + b + m - 1.0) / odd * m * (b - m) * z * z, denominator(m))
        };
        kernel / continued_fraction(denominator(0.0), step)
    }
}

/// The incomplete gamma function.
struct Gamma {
    a: f64,
    x: f64,
    /// `x^a e^{−x} / Γ(a)`.
    kernel: f64,
}

impl Gamma {
    fn new(a: f64, x: f64) -> Self {
        let kernel = libm::exp(-stirling_error(a) - deviance(a, x)) * (a / (2.0 * PI)).sqrt();
        Self { a, x, kernel }
    }

    /// `P(a,x)`.
    fn below(&self) -> f64 {
        if self.x < self.a + 1.0 { self.series() } else { 1.0 - self.fraction() }
    }

    /// `Q(a,x)`.
    fn above(&self) -> f64 {
        if self.x < self.a + 1.0 { 1.0 - self.series() } else { self.fraction() }
    }

    /// The series of `P(a,x)` [dlmf, 8.11.4].
    fn series(&self) -> f64 {
        let (mut term, mut sum) = (1.0 / self.a, 1.0 / self.a);
        for m in 1..MAX_TERMS {
            term *= self.x / (self.a + f64::from(m));
            sum += term;
            if term <= PRECISION * sum {
                break;
            }
        }
        self.kernel * sum
    }

    /// The continued fraction of `Q(a,x)` [dlmf, 8.9.2].
    fn fraction(&self) -> f64 {
        let Self { a, x, kernel } = *self;
        let step = |term: u32| {
            let m = f64::from(term);
            (m * (a - m), x + 1.0 - a + 2.0 * m)
        };
        kernel / continued_fraction(x + 1.0 - a, step)
    }
}

/// `b₀ + a₁/(b₁ + a₂/(b₂ + …))` by Lentz's method, with `(aₘ, bₘ)` from `step(m)`.
fn continued_fraction(first: f64, step: impl Fn(u32) -> (f64, f64)) -> f64 {
    let not_zero = |value: f64| if value == 0.0 { f64::MIN_POSITIVE } else { value };
    let mut value = not_zero(first);
    let (mut c, mut d) = (value, 0.0);
    for term in 1..MAX_TERMS {
        let (a, b) = step(term);
        d = 1.0 / not_zero(b + a * d);
        c = not_zero(b + a / c);
        let factor = c * d;
        value *= factor;
        if (factor - 1.0).abs() <= PRECISION {
            break;
        }
    }
    value
}

/// `ln Γ(x+1) − ((x+½) ln x − x + ½ ln 2π)`: what Stirling's formula leaves [loader-2000, §2].
fn stirling_error(x: f64) -> f64 {
    if x < 16.0 {
        return libm::lgamma(x + 1.0) - (x + 0.5) * libm::log(x) + x - 0.5 * libm::log(2.0 * PI);
    }
    let inverse = 1.0 / (x * x);
    (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - (1.0 / 1680.0 - inverse / 1188.0) * inverse) * inverse) * inverse) / x
}

/// `x ln(x/m) + m − x`, without cancellation where the two are close [loader-2000, §3].
fn deviance(x: f64, mean: f64) -> f64 {
    let difference = x - mean;
    if difference.abs() >= 0.1 * (x + mean) {
        return x * libm::log(x / mean) + mean - x;
    }
    let ratio = difference / (x + mean);
    let square = ratio * ratio;
    let (mut power, mut sum) = (2.0 * x * ratio, difference * ratio);
    for odd in 1..MAX_TERMS {
        power *= square;
        let next = sum + power / f64::from(2 * odd + 1);
        if next == sum {
            break;
        }
        sum = next;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A distribution, its degrees of freedom, a probability, and the quantile by mpmath with 50 digits.
    type Answer = (String, f64, f64, f64, f64);

    #[test]
    fn quantiles_agree_with_fifty_digits() {
        let stored = include_str!("../tests/python/quantile-golden.json");
        let answers: Vec<Answer> = serde_json::from_str(stored).expect("a list of answers");
        for (distribution, first, second, probability, expected) in answers {
            let found = match distribution.as_str() {
                "t" => student_t_upper(first, probability),
                "F" => f_upper(first, second, probability),
                _ => chi_squared_quantile(first, probability),
            };
            let error = (found / expected - 1.0).abs();
            assert!(error < 1e-12, "{distribution} {first} {second} at {probability:e}: {found} instead of {expected}");
        }
    }

    /// Beyond what mpmath can sum, the expansions around the normal quantile are exact to 1e-13 [abramowitz-1964, 26.7.5, 26.4.14].
    #[test]
    fn hundreds_of_millions_of_degrees() {
        let close = |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 1e-12, "{found}, {expected}");
        close(student_t_upper(3e8, 2.5e-5), 4.055_627_040_091_591);
        close(chi_squared_quantile(2.7e8, 1e-6), 269_889_554.797_227_5);
    }

    #[test]
    fn a_quantile_of_the_middle() {
        assert_eq!(student_t_upper(7.0, 0.5), 0.0);
        assert!((f_upper(9.0, 9.0, 0.5) - 1.0).abs() < 1e-14);
    }
}
