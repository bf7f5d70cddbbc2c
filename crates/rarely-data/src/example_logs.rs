//! Draws the logs of the two examples: the option chosen, its outcome, and the probability of the choice.
//!
//! The people in them are not real. `cargo run -p rarely-data --example draw -- clinical` prints one; the files in
//! `examples/` are what it printed, and a test compares.

use std::fmt::Write as _;

use rarely_core::Rng;

/// An example with a synthetic log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExampleLog {
    /// A threshold on blood pressure between watching and treating. The two are equally good at 128 mmHg; the clinic treats from 140,
    /// and in one of five cases the doctor deviates.
    Clinical,
    /// Three price plans by a score of four features; the sales team follows it in three of five cases.
    Pricing,
}

impl ExampleLog {
    /// The example with this name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "clinical" => Some(Self::Clinical),
            "pricing" => Some(Self::Pricing),
            _ => None,
        }
    }

    /// Its log as CSV.
    pub fn csv(self) -> String {
        match self {
            Self::Clinical => clinical(&mut Rng::new(1, 0)),
            Self::Pricing => pricing(&mut Rng::new(2, 0)),
        }
    }
}

fn clinical(rng: &mut Rng) -> String {
    let mut text = "week,systolic,treatment,probability,wellbeing\n".to_owned();
    for row in 0..8000 {
        let systolic = (138.0 + 20.0 * rng.normal()).round().clamp(85.0, 215.0);
        let by_rule = systolic >= 140.0;
        let deviates = rng.uniform() < 0.2;
        let treated = by_rule != deviates;
        // Equal at 128 mmHg; each 10 mmHg beyond it is worth 0.03 more to those who are treated.
        let watched = 0.75 - 0.004 * (systolic - 100.0);
        let mean = watched + if treated { 0.003 * (systolic - 128.0) } else { 0.0 };
        let wellbeing = (mean + 0.1 * rng.normal()).clamp(0.0, 1.0);
        let option = if treated { "treat" } else { "watch" };
        let probability = if deviates { 0.2 } else { 0.8 };
        let _ = writeln!(text, "{},{systolic},{option},{probability},{wellbeing:.3}", row / 160 + 1);
    }
    text
}

fn pricing(rng: &mut Rng) -> String {
    let plans = ["basic", "standard", "premium"];
    let mut text = "month,usage,household,tenure,business,plan,probability,margin\n".to_owned();
    for row in 0..12_000 {
        let usage = (500.0 * rng.uniform() * rng.uniform().sqrt()).round();
        let household = 1.0 + rng.below(6) as f64;
        let tenure = rng.below(121) as f64;
        let business = rng.uniform() < 0.25;
        let score = usage + 20.0 * household + if business { 60.0 } else { 0.0 };
        let by_rule = usize::from(score >= 200.0) + usize::from(score >= 350.0);
        let followed = rng.uniform() < 0.4;
        let plan = if followed { by_rule } else { rng.below(3) };
        let probability = if plan == by_rule { 0.6 } else { 0.2 };
        // What the customer would bear: business customers more than the list thinks, households less.
        let need = usage + 10.0 * household + if business { 120.0 } else { 0.0 };
        let mean = [12.0 + 0.01 * need, 3.0 + 0.06 * need, -27.0 + 0.14 * need][plan] + 0.02 * tenure;
        let margin = (mean + 6.0 * rng.normal()).clamp(-60.0, 120.0);
        let word = if business { "yes" } else { "no" };
        let _ = writeln!(
            text,
            "{},{usage},{household},{tenure},{word},{},{probability},{margin:.2}",
            row / 1000 + 1,
            plans[plan]
        );
    }
    text
}
