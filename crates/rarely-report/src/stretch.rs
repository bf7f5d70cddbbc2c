//! What holds along one number: the option that a rule gives, the cuts that the data allow.

use rarely_core::Parameters;

/// A stretch of a number at which one option is given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stretch {
    pub(super) option: usize,
    pub(super) from: f64,
    pub(super) to: f64,
}

/// The options that a policy gives as one coordinate of a context goes from 0 to 1 and the others stay.
pub(super) fn along(policy: &Parameters, base: &[f64], coordinate: usize) -> Vec<Stretch> {
    let line = |option: usize| {
        let parameters = policy.arm(option);
        let terms = parameters.iter().zip(base).enumerate().filter(|(at, _)| *at != coordinate);
        (terms.map(|(_, (parameter, value))| parameter * value).sum::<f64>(), parameters[coordinate])
    };
    let lines: Vec<(f64, f64)> = (0..policy.shape().arms()).map(line).collect();
    let pairs =
        lines.iter().enumerate().flat_map(|(at, first)| lines[at + 1..].iter().map(move |second| (first, second)));
    let crossings = pairs.map(|(first, second)| -(first.0 - second.0) / (first.1 - second.1));
    let mut places: Vec<f64> = crossings.filter(|place| *place > 0.0 && *place < 1.0).chain([0.0, 1.0]).collect();
    places.sort_by(f64::total_cmp);
    let mut found: Vec<Stretch> = Vec::new();
    for pair in places.windows(2).filter(|pair| pair[0] < pair[1]) {
        let middle = 0.5 * (pair[0] + pair[1]);
        let option = best(lines.iter().map(|(constant, slope)| constant + slope * middle));
        match found.last_mut() {
            Some(last) if last.option == option => last.to = pair[1],
            _ => found.push(Stretch { option, from: pair[0], to: pair[1] }),
        }
    }
    found
}

/// The place of the largest value; ties go to the first.
pub(super) fn best(values: impl Iterator<Item = f64>) -> usize {
    values.enumerate().fold((0, f64::NEG_INFINITY), |best, next| if next.1 > best.1 { next } else { best }).0
}

/// The stretches of `[0, 1]` at which something holds; their ends are found by halving between `steps` looks.
pub(super) fn where_holds(steps: u32, holds: impl Fn(f64) -> bool) -> Vec<(f64, f64)> {
    let edge = |mut no: f64, mut yes: f64| {
        for _ in 0..20 {
            let middle = 0.5 * (no + yes);
            *(if holds(middle) { &mut yes } else { &mut no }) = middle;
        }
        yes
    };
    let mut found: Vec<(f64, f64)> = Vec::new();
    let mut before: Option<(f64, bool)> = None;
    for step in 0..=steps {
        let x = f64::from(step) / f64::from(steps);
        let now = holds(x);
        match (before, now) {
            (None, true) => found.push((x, x)),
            (Some((last, false)), true) => found.push((edge(last, x), x)),
            (Some((last, true)), false) => found.last_mut().expect("a stretch was begun").1 = edge(x, last),
            (Some((_, true)), true) => found.last_mut().expect("a stretch was begun").1 = x,
            _ => {}
        }
        before = Some((x, now));
    }
    found
}
