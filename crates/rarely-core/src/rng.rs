//! Random numbers that are the same on every machine.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use rand_distr::{Distribution as _, StandardNormal};

/// A stream of random numbers: ChaCha8, chosen by a seed and a stream number. Streams of one seed are independent, so that
/// a decision can be derived again from the seed and its number alone.
///
/// ```
/// use rarely_core::Rng;
/// let (mut one, mut again) = (Rng::new(7, 0), Rng::new(7, 0));
/// assert_eq!(one.uniform(), again.uniform());
/// assert_ne!(Rng::new(7, 1).uniform(), Rng::new(7, 0).uniform());
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Rng(ChaCha8Rng);

impl Rng {
    /// The stream with this number of this seed.
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        generator.set_stream(stream);
        Self(generator)
    }

    /// 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform on `[0, 1)`.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        const UNIT: f64 = 1.0 / (1_u64 << 53) as f64;
        (self.bits() >> 11) as f64 * UNIT
    }

    /// Uniform on `0..count`; `count` is far below 2⁵³, and the bias of this is below 2⁻⁴⁰.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub fn below(&mut self, count: usize) -> usize {
        ((self.uniform() * count as f64) as usize).min(count.saturating_sub(1))
    }

    /// Standard normal.
    #[inline]
    pub fn normal(&mut self) -> f64 {
        StandardNormal.sample(&mut self.0)
    }
}
