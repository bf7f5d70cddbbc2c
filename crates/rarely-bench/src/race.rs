//! Runners that take turns.

use std::time::Instant;

/// Pieces of work, each run once in every lap.
#[derive(Default)]
pub(crate) struct Race<'a> {
    runners: Vec<Runner<'a>>,
}

struct Runner<'a> {
    name: &'static str,
    /// What one call does this many of.
    units: f64,
    work: Box<dyn FnMut() + 'a>,
    /// Nanoseconds per unit, lap by lap.
    times: Vec<f64>,
}

impl<'a> Race<'a> {
    /// Adds a piece of work, one call of which does `units` of what is reported.
    pub(crate) fn enter(&mut self, name: &'static str, units: usize, work: impl FnMut() + 'a) {
        self.runners.push(Runner { name, units: units as f64, work: Box::new(work), times: Vec::new() });
    }

    /// One lap to warm up, then as many as asked.
    pub(crate) fn run(&mut self, laps: usize) {
        for lap in 0..=laps {
            for runner in &mut self.runners {
                let start = Instant::now();
                (runner.work)();
                let time = start.elapsed().as_secs_f64() * 1e9 / runner.units;
                if lap > 0 {
                    runner.times.push(time);
                }
            }
        }
    }

    /// In the order of entering.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.runners.iter().map(|runner| runner.name)
    }

    /// Nanoseconds per unit.
    pub(crate) fn median(&self, name: &str) -> f64 {
        middle(self.times(name).to_vec())
    }

    /// The median over laps of one's time over the other's in the same lap.
    pub(crate) fn ratio(&self, name: &str, base: &str) -> f64 {
        middle(self.times(name).iter().zip(self.times(base)).map(|(time, base)| time / base).collect())
    }

    fn times(&self, name: &str) -> &[f64] {
        self.runners.iter().find(|runner| runner.name == name).map_or(&[], |runner| &runner.times)
    }
}

fn middle(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}
