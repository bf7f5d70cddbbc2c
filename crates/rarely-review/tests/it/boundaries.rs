//! Boundaries at any time: how many cases until a wrong cut is called implausible, and how often a right one is.

use rarely_core::{Arm, Confidence, NormBound, Rng, Statistics};
use rarely_policy::PolicyDocument;
use rarely_review::{EvidenceBase, Tally};

const NOISE: f64 = 0.1;

/// Features in [0, 1] of which the first decides; each option's mean is `intercept + slope·x₀`.
struct World {
    means: &'static [(f64, f64)],
    features: usize,
}

/// Equal at x₀ = 0.6.
const TWO: World = World { means: &[(0.5, 0.0), (0.2, 0.5)], features: 1 };
/// Cross at 0.25 and 0.75, with steps of very different size.
const THREE: World = World { means: &[(0.5, 0.0), (0.45, 0.2), (-0.9, 2.0)], features: 1 };
const MANY_FEATURES: World = World { features: 10, ..TWO };

impl World {
    fn document(&self, cuts: &[f64], evidence: &str) -> PolicyDocument {
        let options: Vec<String> = (0..self.means.len()).map(|option| format!("option {option}")).collect();
        let column = |at: usize| format!("[[features]]\ncolumn = \"x{at}\"\nrange = [0, 1]\n");
        let columns: String = (0..self.features).map(column).collect();
        let text = format!(
            "policy = \"planted\"\noptions = {options:?}\noutcome = {{ column = \"y\" }}\n{columns}[evidence]\n\
             error_probability = 0.05\n{evidence}\n[rule]\nthreshold = {{ feature = \"x0\", cuts = {cuts:?}, options = {options:?} }}\n"
        );
        PolicyDocument::parse(&text, "planted.toml").unwrap_or_else(|error| panic!("{error}"))
    }

    /// A log that grows, with options by lot: `look` is called when it has each of these numbers of rows, until it returns true. Whether
    /// it did.
    fn looked_at(
        &self,
        document: &PolicyDocument,
        (mut tally, seed): (Tally, u64),
        sizes: &[u64],
        mut look: impl FnMut(u64, &EvidenceBase<'_>) -> bool,
    ) -> bool {
        let mut rng = Rng::new(seed, 11);
        let mut row = 0;
        sizes.iter().any(|&size| {
            while row < size {
                let context: Vec<f64> = std::iter::once(1.0).chain((0..self.features).map(|_| rng.uniform())).collect();
                let arm = rng.below(self.means.len());
                let (intercept, slope) = self.means[arm];
                tally.add(row, &context, Arm::new(arm), intercept + slope * context[1] + NOISE * rng.normal());
                row += 1;
            }
            look(size, &EvidenceBase::of(document, &tally, None).expect("it fits"))
        })
    }
}

fn is_implausible(base: &EvidenceBase<'_>) -> bool {
    let policy = base.most_plausible(base.document.rule());
    base.region().boundaries(&policy).iter().any(|boundary| !boundary.plausible)
}

/// Right rules, looked at whenever the log has grown by a half: at most 5 % are ever called implausible, with the true noise declared, with
/// half of the range, and with noise that is estimated; whether rows are divided and marks are edges of stretches, or not.
#[test]
fn right_boundaries_are_seldom_called_implausible() {
    let sizes: Vec<u64> =
        std::iter::successors(Some(60), |size| Some(size * 3 / 2)).take_while(|&size| size < 6000).collect();
    for (name, world, cuts, evidence) in [
        ("declared noise, fixed", TWO, vec![0.6], "noise = 0.1"),
        ("declared noise, adaptive", TWO, vec![0.6], "noise = 0.1\ndesign = \"adaptive\""),
        ("estimated noise", TWO, vec![0.6], ""),
        ("three options", THREE, vec![0.25, 0.75], "noise = 0.1"),
        ("ten features", MANY_FEATURES, vec![0.6], "noise = 0.1"),
    ] {
        let document = world.document(&cuts, evidence);
        let logs = if world.features > 1 { 200 } else { 1000 };
        let wrong = (0..logs).filter(|&seed| {
            world.looked_at(&document, (Tally::new(&document), seed), &sizes, |_, base| is_implausible(base))
        });
        let wrong = wrong.count();
        println!("{name}: {wrong} of {logs} right rules were called implausible at one of {} looks", sizes.len());
        assert!(wrong as f64 <= 0.05 * logs as f64, "{name}: {wrong} of {logs}");
    }
}

/// The cases after which half of the logs call a wrong cut implausible, by the joint set with a norm bound, by mark 0 alone, and by all
/// marks. Sharp sets need clearly fewer.
#[test]
fn wrong_cuts_are_ruled_out_with_fewer_cases() {
    let sizes: Vec<u64> =
        std::iter::successors(Some(40), |size| Some(size + size / 12)).take_while(|&size| size < 60_000).collect();
    println!("options, numbers per option, cut | joint | mark 0 | marks");
    for (world, cuts, most) in [
        (TWO, vec![0.5], 0.75),
        (TWO, vec![0.55], 0.75),
        (THREE, vec![0.25, 0.7], 0.75),
        (MANY_FEATURES, vec![0.5], 0.75),
    ] {
        let document = world.document(&cuts, "noise = 0.1");
        let unmarked = world.document(&cuts, "noise = 0.1\norder = \"any\"");
        // The length of the true parameters: no declared bound could be smaller.
        let length = world.means.iter().map(|(one, two)| one * one + two * two).sum::<f64>().sqrt();
        let joint = |base: &EvidenceBase<'_>| {
            let confidence = Confidence { norm_bound: Some(NormBound::new(length).unwrap()), ..base.confidence() };
            let policy = base.most_plausible(base.document.rule());
            let statistics: &Statistics = &base.statistics;
            confidence.set(statistics).boundaries(&policy).iter().any(|boundary| !boundary.plausible)
        };
        let median = |document: &PolicyDocument, refuted: &dyn Fn(&EvidenceBase<'_>) -> bool| {
            let mut needed: Vec<u64> = (0..31)
                .map(|seed| {
                    let mut needed = u64::MAX;
                    world.looked_at(document, (Tally::new(document), 900 + seed), &sizes, |size, base| {
                        let found = refuted(base);
                        needed = if found { size } else { needed };
                        found
                    });
                    needed
                })
                .collect();
            needed.sort_unstable();
            needed[15]
        };
        let [joint, start, marks] =
            [median(&document, &joint), median(&unmarked, &is_implausible), median(&document, &is_implausible)];
        println!("{}, {}, {cuts:?} | {joint} | {start} | {marks}", world.means.len(), world.features + 1);
        assert!((marks as f64) < most * joint as f64, "{cuts:?}: {marks} with marks, {joint} with the joint set");
    }
}
