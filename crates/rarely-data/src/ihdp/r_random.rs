//! The random numbers of R: `set.seed`, `runif`, `rnorm` and `sample`, as R had them before version 3.6.
//!
//! The published outcomes of IHDP were drawn with them, so that whoever wants the same outcomes needs the same numbers.

use super::normal_quantile::normal_quantile;

/// Words of the Mersenne Twister's state.
const WORDS: usize = 624;
/// Distance of the words that are mixed.
const MIDDLE: usize = 397;
/// Steps of the congruential generator before its words are used.
const DISCARDED: usize = 50;
/// Bits of the first uniform number that go into a normal one.
const TWO_TO_27: f64 = 134_217_728.0;

/// R's default generator, the Mersenne Twister MT19937 `[matsumoto-1998]`.
pub(super) struct RRandom {
    words: [u32; WORDS],
    next: usize,
}

impl RRandom {
    /// `set.seed(seed)`: a congruential generator fills the state.
    pub(super) fn new(seed: u32) -> Self {
        let mut word = seed;
        let mut congruential = || {
            word = word.wrapping_mul(69_069).wrapping_add(1);
            word
        };
        // One more word than R discards: it keeps the position in the state there, and then overwrites it.
        for _ in 0..=DISCARDED {
            congruential();
        }
        Self { words: std::array::from_fn(|_| congruential()), next: WORDS }
    }

    /// The generator's next 32 bits.
    fn bits(&mut self) -> u32 {
        if self.next == WORDS {
            self.twist();
            self.next = 0;
        }
        let mut bits = self.words[self.next];
        self.next += 1;
        bits ^= bits >> 11;
        bits ^= (bits << 7) & 0x9d2c_5680;
        bits ^= (bits << 15) & 0xefc6_0000;
        bits ^ (bits >> 18)
    }

    fn twist(&mut self) {
        for at in 0..WORDS {
            let joined = (self.words[at] & 0x8000_0000) | (self.words[(at + 1) % WORDS] & 0x7fff_ffff);
            let mixed = (joined >> 1) ^ if joined & 1 == 1 { 0x9908_b0df } else { 0 };
            self.words[at] = self.words[(at + MIDDLE) % WORDS] ^ mixed;
        }
    }

    /// `runif(1)`: strictly between 0 and 1.
    pub(super) fn uniform(&mut self) -> f64 {
        // R's constants: 2^−32, and half of 1/(2^32 − 1) in place of 0.
        const UNIT: f64 = 2.328_306_436_538_696_3e-10;
        const LEAST: f64 = 0.5 * 2.328_306_437_080_797e-10;
        (f64::from(self.bits()) * UNIT).clamp(LEAST, 1.0 - LEAST)
    }

    /// `rnorm(1)`: by inversion, of a number with the digits of two uniform ones.
    pub(super) fn normal(&mut self) -> f64 {
        let high = (TWO_TO_27 * self.uniform()).floor();
        normal_quantile((high + self.uniform()) / TWO_TO_27)
    }

    /// `sample(count, 1) - 1`, by rounding down.
    pub(super) fn below(&mut self, count: u32) -> u32 {
        let rounded = (f64::from(count) * self.uniform()).floor();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to count − 1")]
        {
            rounded as u32
        }
    }
}

/// `sample(n, replace = TRUE, prob = weights)`, by walking along the weights from the largest.
pub(super) struct WeightedChoice {
    order: Vec<usize>,
    cumulative: Vec<f64>,
}

impl WeightedChoice {
    /// A choice with these probabilities.
    pub(super) fn new(probabilities: &[f64]) -> Self {
        let order = descending(probabilities);
        let mut sum = 0.0;
        let add = |&at: &usize| {
            sum += probabilities[at];
            sum
        };
        let cumulative = order.iter().map(add).collect();
        Self { order, cumulative }
    }

    /// The position that is chosen.
    pub(super) fn draw(&self, random: &mut RRandom) -> usize {
        let uniform = random.uniform();
        let last = self.order.len() - 1;
        let at = self.cumulative[..last].iter().position(|&sum| uniform <= sum);
        self.order[at.unwrap_or(last)]
    }
}

/// Positions from the largest number to the smallest. It is a heap sort, because the order of equal numbers is then R's.
fn descending(numbers: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    for root in (0..numbers.len() / 2).rev() {
        sift_down(&mut order, numbers, root);
    }
    for end in (1..numbers.len()).rev() {
        order.swap(0, end);
        sift_down(&mut order[..end], numbers, 0);
    }
    order
}

/// Moves what is at `root` down, until none of its children is smaller.
fn sift_down(heap: &mut [usize], numbers: &[f64], mut root: usize) {
    loop {
        let (left, right) = (2 * root + 1, 2 * root + 2);
        if left >= heap.len() {
            return;
        }
        let right_is_smaller = right < heap.len() && numbers[heap[right]] < numbers[heap[left]];
        let child = if right_is_smaller { right } else { left };
        if numbers[heap[root]] <= numbers[heap[child]] {
            return;
        }
        heap.swap(root, child);
        root = child;
    }
}

#[cfg(test)]
mod tests {
    use super::{RRandom, WeightedChoice, descending};

    /// What R itself prints after `set.seed`, to the digits that it prints.
    #[test]
    fn numbers_are_those_of_r() {
        let mut random = RRandom::new(123);
        for expected in [0.287_577_5, 0.788_305_1, 0.408_976_9, 0.883_017_4, 0.940_467_3] {
            assert!((random.uniform() - expected).abs() < 5.1e-8);
        }
        let mut random = RRandom::new(123);
        for expected in [-0.560_475_65, -0.230_177_49, 1.558_708_31, 0.070_508_39, 0.129_287_74] {
            assert!((random.normal() - expected).abs() < 5.1e-9);
        }
        let mut random = RRandom::new(42);
        for expected in [1.370_958_4, -0.564_698_2, 0.363_128_4, 0.632_862_6, 0.404_268_3] {
            assert!((random.normal() - expected).abs() < 5.1e-8);
        }
    }

    /// Numbers of the reference program of docs/mathematics.md, section 16, after more than one twist of the state.
    #[test]
    fn numbers_after_a_twist() {
        let mut random = RRandom::new(570);
        let bits: Vec<u32> = (0..2_000).map(|_| random.bits()).collect();
        assert_eq!((bits[0], bits[623], bits[624], bits[1_999]), BITS_OF_570);
    }

    const BITS_OF_570: (u32, u32, u32, u32) = (2_295_243_041, 1_677_399_561, 415_070_771, 12_041_824);

    #[test]
    fn equal_weights_are_in_the_order_of_r() {
        assert_eq!(descending(&[0.6, 0.1, 0.1, 0.1, 0.1]), [0, 2, 3, 4, 1]);
        assert_eq!(descending(&[0.2; 5]), [1, 2, 3, 4, 0]);
        assert_eq!(descending(&[1.0, 2.0, 2.0, 1.0, 3.0, 3.0, 0.5, 2.0]), [4, 5, 2, 1, 7, 0, 3, 6]);
        assert_eq!(descending(&[]), [0; 0]);
        assert_eq!(descending(&[1.0]), [0]);
        assert_eq!(descending(&[3.0, 5.0, 4.0, 1.0]), [1, 2, 0, 3]);
    }

    /// 100,000 draws; four standard errors of a frequency are at most 4·√(0.24/100,000) = 0.0062.
    #[test]
    fn weights_are_frequencies() {
        let weights = [0.6, 0.1, 0.05, 0.15, 0.1];
        let (choice, mut random) = (WeightedChoice::new(&weights), RRandom::new(1));
        let mut counts = [0_u32; 5];
        for _ in 0..100_000 {
            counts[choice.draw(&mut random)] += 1;
        }
        for (count, weight) in counts.into_iter().zip(weights) {
            assert!((f64::from(count) / 1e5 - weight).abs() < 0.0062, "{counts:?}");
        }
    }
}
