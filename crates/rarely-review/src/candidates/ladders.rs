//! The best cuts along a direction: by dynamic programming over the people, in the order of their scores.

use crate::least_squares::dot;

/// Orders of options that are tried at most.
const MOST_ORDERS: usize = 200;

/// People along a direction, with sums of their values.
pub(super) struct LadderSearch {
    /// The score of each person, ascending.
    scores: Vec<f64>,
    /// For each option, the value of the first `i` people together.
    sums: Vec<Vec<f64>>,
}

/// Cuts, the options between them, and the value of all people together.
pub(super) struct FoundLadder {
    pub(super) value: f64,
    pub(super) cuts: Vec<f64>,
    pub(super) options: Vec<usize>,
}

impl LadderSearch {
    pub(super) fn new(direction: &[f64], people: &[f64], values: &[f64], arms: usize) -> Self {
        let scored = people.chunks_exact(direction.len()).map(|person| dot(direction, person));
        let mut order: Vec<(f64, usize)> = scored.zip(0..).collect();
        order.sort_unstable_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        let sums = (0..arms).map(|arm| {
            let mut sum = 0.0;
            let before = order.iter().map(|&(_, person)| {
                sum += values[person * arms + arm];
                sum
            });
            std::iter::once(0.0).chain(before).collect()
        });
        Self { sums: sums.collect(), scores: order.iter().map(|&(score, _)| score).collect() }
    }

    /// The best cuts for options in this order; an option that nobody should get is left out.
    pub(super) fn best(&self, order: &[usize]) -> Option<FoundLadder> {
        let people = self.scores.len();
        // The best value of the first i people if the last of them gets at most this option, and where its stretch starts.
        let mut best: Vec<f64> = self.sums[*order.first()?].clone();
        let mut starts: Vec<Vec<usize>> = Vec::new();
        for &option in &order[1..] {
            let sums = &self.sums[option];
            let (mut lead, mut start) = (f64::NEG_INFINITY, 0);
            let mut next = Vec::with_capacity(people + 1);
            let mut began = Vec::with_capacity(people + 1);
            for i in 0..=people {
                // People with one score cannot be divided.
                let divides = i == 0 || i == people || self.scores[i - 1] < self.scores[i];
                if divides && best[i] - sums[i] > lead {
                    (lead, start) = (best[i] - sums[i], i);
                }
                next.push(lead + sums[i]);
                began.push(start);
            }
            starts.push(began);
            best = next;
        }
        let value = best[people];
        if !value.is_finite() {
            return None;
        }
        let mut until = people;
        let (mut cuts, mut options) = (Vec::new(), Vec::new());
        for (at, &option) in order.iter().enumerate().rev() {
            let start = if at == 0 { 0 } else { starts[at - 1][until] };
            if start < until {
                options.push(option);
                if until < people {
                    cuts.push(0.5 * (self.scores[until - 1] + self.scores[until]));
                }
            }
            until = start;
        }
        cuts.reverse();
        options.reverse();
        Some(FoundLadder { value, cuts, options })
    }
}

/// Every order of up to `length` different options, of those that can be given.
pub(super) fn orders(usable: &[bool], length: usize) -> Vec<Vec<usize>> {
    let arms: Vec<usize> = (0..usable.len()).filter(|&arm| usable[arm]).collect();
    let mut found: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..length.min(arms.len()) {
        let longer = found.iter().flat_map(|order| {
            let free = arms.iter().filter(move |arm| !order.contains(arm));
            free.map(move |&arm| order.iter().copied().chain([arm]).collect::<Vec<usize>>())
        });
        let longer: Vec<Vec<usize>> = longer.take(MOST_ORDERS).collect();
        found = longer;
    }
    found.retain(|order| order.len() > 1);
    found
}
