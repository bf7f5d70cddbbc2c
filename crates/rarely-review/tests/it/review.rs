//! Logs drawn from a known truth: what the review must find, in at least 1−δ of a thousand logs.

use rarely_core::{Arm, Rng, Thresholds};
use rarely_policy::{PolicyDocument, ThresholdRule, WrittenRule};
use rarely_review::{EvidenceBase, Review, Tally, Verdict, VerdictReason, review};

const NOISE: f64 = 0.1;
/// δ of every document here.
const DELTA: f64 = 0.01;

/// One feature in [80, 220] mmHg, scaled to x in [0,1]; each option's mean is `intercept + slope·x`.
struct World {
    options: &'static [&'static str],
    means: &'static [(f64, f64)],
}

/// Equal at x = 2/3: 173.33 mmHg.
const CLINICAL: World = World { options: &["watch", "treat"], means: &[(0.6, 0.0), (0.2, 0.6)] };
/// Passes from low to middle at x = 1/4 and to high at x = 3/4; the steps there are of very different size.
const THREE: World = World { options: &["low", "middle", "high"], means: &[(0.5, 0.0), (0.45, 0.2), (-0.9, 2.0)] };

impl World {
    fn mean(&self, arm: usize, x: f64) -> f64 {
        let (intercept, slope) = self.means[arm];
        intercept + slope * x
    }

    fn document(&self, cuts: &[f64]) -> PolicyDocument {
        let text = format!(
            "policy = \"planted\"\noptions = {:?}\noutcome = {{ column = \"y\", range = [-2.0, 3.0] }}\n\
             [[features]]\ncolumn = \"systolic\"\nunit = \"mmHg\"\nrange = [80, 220]\n\
             [evidence]\nnoise = {NOISE}\nnorm_bound = 3.0\nerror_probability = {DELTA}\n\
             [rule]\nthreshold = {{ feature = \"systolic\", cuts = {cuts:?}, options = {:?} }}\n",
            self.options, self.options
        );
        PolicyDocument::parse(&text, "planted.toml").expect("a document")
    }

    /// A log in which options are drawn by lot.
    fn log(&self, document: &PolicyDocument, rows: u64, seed: u64) -> Tally {
        let mut rng = Rng::new(seed, 0);
        let mut tally = Tally::new(document);
        for row in 0..rows {
            let x = rng.uniform();
            let arm = rng.below(self.means.len());
            tally.add(row, &[1.0, x], Arm::new(arm), self.mean(arm, x) + NOISE * rng.normal());
        }
        tally
    }

    fn reviewed(&self, cuts: &[f64], rows: u64, seed: u64) -> Found {
        let document = self.document(cuts);
        let tally = self.log(&document, rows, seed);
        let base = EvidenceBase::of(&document, &tally, None).expect("it fits");
        let review = review(&base, &tally).expect("it runs");
        let people = base.people.clone();
        Found { document, people, review }
    }

    /// The true gain of a proposal on the people it was certified on.
    fn true_gain(&self, found: &Found, to: &WrittenRule) -> f64 {
        let decide = |rule: &WrittenRule| {
            let rule = rarely_core::Rule::new(rule.parameters(&found.document));
            rule.choose_many(rarely_core::Contexts::new(&found.people, 2).unwrap()).unwrap()
        };
        let (before, after) = (decide(found.document.rule()), decide(to));
        let people = found.people.chunks_exact(2).zip(before.iter().zip(&after));
        let total: f64 =
            people.map(|(s, (old, new))| self.mean(new.index(), s[1]) - self.mean(old.index(), s[1])).sum();
        total / before.len() as f64
    }
}

struct Found {
    document: PolicyDocument,
    people: Vec<f64>,
    review: Review,
}

fn cuts(rule: &WrittenRule) -> &[f64] {
    match rule {
        WrittenRule::Threshold(ThresholdRule { cuts, .. }) => cuts,
        other => panic!("a threshold stays a threshold: {other:?}"),
    }
}

/// How many of so many logs may fail when each does with probability δ at most: δn + 4√(δn).
fn allowed(logs: u64) -> u64 {
    let expected = DELTA * logs as f64;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let allowed = (expected + 4.0 * expected.sqrt()) as u64;
    allowed
}

/// Truths are changed towards with a true certificate; right rules are not changed. (Wrong changes at a given error probability, and the
/// cases it takes, are in `planted`.)
#[test]
fn wrong_rules_are_changed_in_the_right_direction_with_a_true_certificate() {
    let (truth, logs) = (80.0 + 140.0 * 2.0 / 3.0, 200);
    let mut failed = 0;
    for seed in 0..logs {
        // Wrong by 10 to 40 mmHg, on either side.
        let wrong = truth + if seed % 2 == 0 { 1.0 } else { -1.0 } * (10.0 + 30.0 * (seed % 37) as f64 / 36.0);
        let found = CLINICAL.reviewed(&[(wrong * 100.0).round() / 100.0], 20_000, seed);
        let right = found.review.judgement.verdict == Verdict::Change
            && found.review.judgement.proposal.as_ref().is_some_and(|proposal| {
                let gain = proposal.certificate.gain.interval;
                let new = cuts(&proposal.rule)[0];
                let nearer = (new - truth).abs() < (wrong - truth).abs() && (new - wrong) * (truth - wrong) > 0.0;
                let simple = format!("{new}").len() <= 6;
                nearer
                    && simple
                    && gain.contains(CLINICAL.true_gain(&found, &proposal.rule))
                    && CLINICAL.true_gain(&found, &proposal.rule) > 0.0
            });
        failed += u64::from(!right);
    }
    assert!(failed <= allowed(logs), "{failed} of {logs} failed");
}

#[test]
fn right_rules_are_kept() {
    let logs = 200;
    let failed = (0..logs).filter(|&seed| {
        let found = CLINICAL.reviewed(&[80.0 + 140.0 * 2.0 / 3.0], 20_000, 10_000 + seed);
        found.review.judgement.verdict != Verdict::Keep
    });
    let failed = failed.count() as u64;
    assert!(failed <= allowed(logs), "{failed} of {logs} failed");
}

/// With three options the rule says nothing of how much better an option is beyond its cut: any steps must do.
#[test]
fn so_it_is_with_three_options() {
    let (right, wrong, logs) = ([115.0, 185.0], [115.0, 160.0], 100);
    let (mut kept, mut changed) = (0, 0);
    for seed in 0..logs {
        kept += u64::from(THREE.reviewed(&right, 20_000, seed).review.judgement.verdict == Verdict::Keep);
        let found = THREE.reviewed(&wrong, 20_000, seed);
        changed += u64::from(found.review.judgement.proposal.as_ref().is_some_and(|proposal| {
            let gain = proposal.certificate.gain.interval;
            let new = cuts(&proposal.rule);
            new.len() == 2 && (new[1] - 185.0).abs() < 15.0 && gain.contains(THREE.true_gain(&found, &proposal.rule))
        }));
    }
    assert!(logs - kept <= allowed(logs), "{kept} of {logs} kept");
    assert!(logs - changed <= allowed(logs), "{changed} of {logs} changed");
}

#[test]
fn too_few_rows_cannot_tell_and_say_what_would() {
    let found = CLINICAL.reviewed(&[140.0], 3, 1).review;
    assert_eq!(found.judgement.verdict, Verdict::CannotTell);
    assert_eq!(found.judgement.reasons, [VerdictReason::NothingToCompare { options: vec![0, 1] }]);
    let forecast = found.gaps.forecast.expect("a forecast");
    assert_eq!(forecast.explore, "equipoise:0.05");
    assert!(forecast.settled > 10 && forecast.cases.is_some_and(|cases| cases < 10_000), "{forecast:?}");
    // With a few more, there is something to compare and the gain is not yet shown.
    let further = (20..200).step_by(10).find_map(|rows| {
        let found = CLINICAL.reviewed(&[110.0], rows, 1).review.judgement;
        match found.reasons[..] {
            [VerdictReason::NotShown { further_cases, .. }] if found.verdict == Verdict::CannotTell => further_cases,
            _ => None,
        }
    });
    assert!(further.is_some_and(|further| (10..1_000_000).contains(&further)), "{further:?}");
}

/// Intervals of the threshold cover the true one in 1−δ of the logs, whatever shape they have.
#[test]
fn threshold_intervals_cover_the_truth_in_every_shape() {
    let worlds = [
        CLINICAL,
        World { options: &["watch", "treat"], means: &[(0.5, 0.0), (0.47, 0.06)] },
        World { options: &["watch", "treat"], means: &[(0.5, 0.3), (0.1, 0.32)] },
    ];
    let mut shapes = [0; 4];
    let mut missed = 0;
    let mut logs = 0;
    for (run, seed) in (0..450).enumerate() {
        let world = &worlds[run % 3];
        let rows = [3, 30, 120, 500, 4000][run / 3 % 5];
        let ((a, b), (c, d)) = (world.means[0], world.means[1]);
        let truth = 80.0 + 140.0 * (a - c) / (d - b);
        let review = world.reviewed(&[150.0], rows, seed).review;
        let interval = review.judgement.standing.boundaries[0].interval.expect("one feature");
        shapes[match interval {
            Thresholds::Between { .. } => 0,
            Thresholds::AtMost { .. } | Thresholds::AtLeast { .. } => 1,
            Thresholds::Outside { .. } => 2,
            Thresholds::Everything => 3,
            Thresholds::Nothing => panic!("some threshold is always plausible"),
        }] += 1;
        missed += u64::from(!interval.contains(truth));
        logs += 1;
    }
    // Of two half-lines one has the other option above: a rule with this order of options may only be on the other.
    assert!(shapes[0] > 20 && shapes[1] > 20 && shapes[2] == 0 && shapes[3] > 20, "{shapes:?}");
    assert!(missed <= allowed(logs), "{missed} of {logs} missed");
}

/// The same test as docs/mathematics.md §§5 and 12 print it, from the rows themselves with explicit 2×2 inverses: nothing of the engine's
/// path is used. A boundary is plausible if and only if its cut is among those that the review allows.
#[test]
fn plausibility_is_as_printed_and_the_allowed_cuts_say_the_same() {
    for seed in 0..40 {
        let rows = 2000 + 500 * seed;
        let printed = Printed::from_rows(&CLINICAL, rows, seed, 3.0);
        for cut in [100.0, 140.0, 160.0, 173.0, 176.0, 180.0, 215.0] {
            let found = CLINICAL.reviewed(&[cut], rows, seed).review.judgement.standing;
            assert_eq!(found.radius, None, "a pair's sets have a radius at each mark");
            let expected = printed.iter().all(|set| set.plausible([(cut - 80.0) / 140.0, -1.0]));
            assert_eq!(found.boundaries[0].plausible, expected, "{seed}: {cut}");
            assert_eq!(found.boundaries[0].interval.expect("one feature").contains(cut), expected, "{seed}: {cut}");
        }
    }
}

type Matrix = [[f64; 2]; 2];

fn det(m: Matrix) -> f64 {
    m[0][0] * m[1][1] - m[0][1] * m[1][0]
}

fn inverse(m: Matrix) -> Matrix {
    [[m[1][1] / det(m), -m[0][1] / det(m)], [-m[1][0] / det(m), m[0][0] / det(m)]]
}

fn times(m: Matrix, x: [f64; 2]) -> [f64; 2] {
    [m[0][0] * x[0] + m[0][1] * x[1], m[1][0] * x[0] + m[1][1] * x[1]]
}

fn sum(one: Matrix, other: Matrix) -> Matrix {
    [[one[0][0] + other[0][0], one[0][1] + other[0][1]], [one[1][0] + other[1][0], one[1][1] + other[1][1]]]
}

/// The set of the two options at one mark.
struct Printed {
    radius_squared: f64,
    /// `c = θ_watch − θ_treat`.
    difference: [f64; 2],
    /// `M = (W_watch⁻¹ + W_treat⁻¹)⁻¹`.
    metric: Matrix,
}

/// One option's `Σssᵀ` and `Σys`.
#[derive(Clone, Copy, Default)]
struct Sums(Matrix, [f64; 2]);

impl Printed {
    /// The sets at every mark, and that of the norm bound.
    fn from_rows(world: &World, rows: u64, seed: u64, norm_bound: f64) -> Vec<Self> {
        const PENALTY: Matrix = [[0.01, 0.0], [0.0, 0.01]];
        // Stretches have 64 rows, doubled until there are at most 64 of them. Planned are 16·4^i: a stretch ends there if it is no longer.
        let stretch = (0..20).map(|twice| 64 << twice).find(|stretch| rows <= 64 * stretch).unwrap();
        let planned = (1_i32..10).map(|number| (number, 16_u64 << (2 * (number - 1))));
        let ends: Vec<(i32, u64)> = planned.filter(|(_, round)| *round >= stretch && 2 * round <= rows).collect();
        let mut marks = vec![(0, [Sums::default(); 2])];
        let mut now = [Sums::default(); 2];
        let mut rng = Rng::new(seed, 0);
        for row in 0..rows {
            marks.extend(ends.iter().filter(|(_, round)| *round == row).map(|(number, _)| (*number, now)));
            let s = [1.0, rng.uniform()];
            let arm = rng.below(2);
            let y = world.mean(arm, s[1]) + NOISE * rng.normal();
            for i in 0..2 {
                for j in 0..2 {
                    now[arm].0[i][j] += s[i] * s[j];
                }
                now[arm].1[i] += y * s[i];
            }
        }
        assert!(marks.len() > 2, "{rows} rows");
        let variance = NOISE * NOISE;
        let mut sets: Vec<Self> = Vec::new();
        for (number, then) in marks {
            let weight = if number == 0 { 0.5 } else { 0.5 / f64::from(number * (number + 1)) };
            let set = Self::around(
                2.0 * variance * (1.0 / (DELTA * weight)).ln(),
                [0, 1].map(|arm| {
                    let (now, then) = (now[arm], then[arm]);
                    let q = sum(PENALTY, then.0);
                    let w = [
                        [now.0[0][0] - then.0[0][0], now.0[0][1] - then.0[0][1]],
                        [now.0[1][0] - then.0[1][0], now.0[1][1] - then.0[1][1]],
                    ];
                    let (m, centre) =
                        (times(inverse(q), then.1), times(inverse(w), [now.1[0] - then.1[0], now.1[1] - then.1[1]]));
                    let gap = [centre[0] - m[0], centre[1] - m[1]];
                    let weighted = times(inverse(sum(inverse(w), inverse(q))), gap);
                    let pays = variance * (det(sum(q, w)) / det(q)).ln() + gap[0] * weighted[0] + gap[1] * weighted[1];
                    (w, centre, pays)
                }),
            );
            if number == 0 {
                let own = |arm: usize| {
                    let v = sum(PENALTY, now[arm].0);
                    (v, times(inverse(v), now[arm].1), variance * (det(v) / det(PENALTY)).ln())
                };
                let bias = 0.01 * norm_bound * norm_bound;
                sets.push(Self::around(2.0 * variance * (2.0 / DELTA).ln() + bias, [own(0), own(1)]));
            }
            sets.push(set);
        }
        sets
    }

    /// From what the set pays anyway, and each option's matrix, centre and what it adds to `r²`.
    fn around(budget: f64, options: [(Matrix, [f64; 2], f64); 2]) -> Self {
        let [(first, one, pays), (second, two, more)] = options;
        Self {
            radius_squared: budget + pays + more,
            difference: [one[0] - two[0], one[1] - two[1]],
            metric: inverse(sum(inverse(first), inverse(second))),
        }
    }

    /// `ψ = θ̃_watch − θ̃_treat`.
    fn plausible(&self, psi: [f64; 2]) -> bool {
        let product = |x: [f64; 2], y: [f64; 2]| -> f64 {
            (0..2).map(|i| (0..2).map(|j| x[i] * self.metric[i][j] * y[j]).sum::<f64>()).sum()
        };
        let (along, m2, r2) =
            (product(psi, self.difference), product(self.difference, self.difference), self.radius_squared);
        m2 <= r2 || along > 0.0 && along * along >= (m2 - r2) * product(psi, psi)
    }
}
