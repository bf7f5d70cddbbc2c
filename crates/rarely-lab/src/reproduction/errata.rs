//! What is wrong in the paper and in its program, each with the experiment that shows it where one can.

use rarely_core::{
    Algorithm, Certificates, Parameters, Profile, Round, SettingsError, Shape, TheoremThree, cosine, cosine_gradient,
    step,
};
use serde::Serialize;

use super::{Evidence, Findings, TheoremTwo};
use crate::contestant::Contestant;
use crate::environment::{Environment, policy_stream};
use crate::judge::Judge;
use crate::metrics::Estimate;
use crate::reproduction::theorems::{CounterRow, TheoremThreeGap, projection_gap, solver_gap};

/// Where a mistake is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// In the paper.
    Paper,
    /// In its authors' program.
    Program,
}

/// One mistake.
#[derive(Debug, Clone, Serialize)]
pub struct Erratum {
    /// Its number.
    pub number: usize,
    /// Where it is.
    pub origin: Origin,
    /// What is wrong, and what is right.
    pub text: &'static str,
    /// The experiment that shows it, with its numbers; `None` if it is a matter of reading.
    pub shown: Option<String>,
}

/// The list.
///
/// # Errors
/// [`SettingsError`] if a demonstration cannot be built.
pub fn errata(evidence: &Evidence<'_>) -> Result<Vec<Erratum>, SettingsError> {
    let shown = Shown { findings: evidence.findings };
    let texts = [
        (Origin::Paper, TEXTS[0], shown.theorem_one(evidence.counter)),
        (Origin::Paper, TEXTS[1], gradient_sign()?),
        (Origin::Paper, TEXTS[2], shown.coverage()),
        (Origin::Paper, TEXTS[3], shown.solver()?),
        (Origin::Paper, TEXTS[4], Shown::not_feasible(evidence.feasible)),
        (Origin::Paper, TEXTS[5], Some(angles())),
        (Origin::Paper, TEXTS[6], shown.theorem_three(&evidence.gap)),
        (Origin::Program, TEXTS[7], shown.start_at_ones()),
        (Origin::Program, TEXTS[8], shown.widths()),
        (Origin::Program, TEXTS[9], shown.coverage()),
        (Origin::Program, TEXTS[10], Some(projection(evidence.findings.size.seed)?)),
        (
            Origin::Program,
            TEXTS[11],
            evidence.children.map(|children| radius(children, evidence.findings)).transpose()?,
        ),
        (Origin::Program, TEXTS[12], shown.pairing()),
        (Origin::Program, TEXTS[13], None),
        (Origin::Program, TEXTS[14], shown.penalty()),
        (Origin::Program, TEXTS[15], shown.nine_tenths()),
        (Origin::Program, TEXTS[16], shown.shares()),
        (Origin::Program, TEXTS[17], shown.clucb()),
        (Origin::Program, TEXTS[18], None),
        (Origin::Program, TEXTS[19], None),
        (Origin::Program, TEXTS[20], None),
    ];
    let numbered = texts.into_iter().enumerate();
    Ok(numbered.map(|(at, (origin, text, shown))| Erratum { number: at + 1, origin, text, shown }).collect())
}

const TEXTS: [&str; 21] = [
    "Theorem 1 does not hold. Its proof bounds regret by the uncertainty of arms that are plausible, and sums it with a lemma about arms that are played; an arm that is never played stays plausible for ever. (And d should be kd in the theorem and its corollary.) Repaired by drawing a plausible arm with probability ε (equipoise).",
    "The gradient of the cosine is printed with the opposite sign.",
    "β is a radius in Theorem B1 but a squared radius in the confidence set; Algorithm 1 compares it with a norm, Algorithm 2 with a squared norm; λ^d should be λ^(kd), σ is missing, and sub-gaussianity needs c²σ²/2. Sets built that way do not hold.",
    "The projected gradient does not solve the stated problem: a Euclidean gradient with a radial projection has other fixed points than the optimum. Solved exactly and without exploration the RS algorithms switch less and do worse: the published regret depends on the solver not converging.",
    "Δ = 0.01 on one joint cosine is not Theorem 2's condition on every pair: the RS algorithms as run are not shown to be feasible.",
    "The angle that belongs to a tolerance Δ is arccos(1−Δ), not arccos(Δ).",
    "Theorem 3's four conditions do not suffice: if the old boundary is plausible with its two arms exchanged, the boundary can sweep over the true one on its way and regret can rise. A fifth condition repairs it. (Found here.)",
    "The vector b starts at ones: an optimistic prior mean of 1/λ that the paper does not mention and the results depend on.",
    "LinUCB's width uses β where the RS sets use √β: most of the reported gap between them.",
    "L = 1 is declared where the norm of the parameters is about 4.6, and the sets do not hold.",
    "The “projection” θ̂ + (β/‖φ−θ̂‖²)(φ−θ̂) is not the projection: it puts a point from outside well inside the set.",
    "ln λ is counted d times instead of kd times: on IHDP the radius is not a number in the first rounds.",
    "IHDP: each child's covariates are paired with the next child's outcomes. Harmless on the one realisation used, where treating everyone is nearly optimal; ruinous on others.",
    "IHDP: the “100 realisations” are shuffles of the first one.",
    "λ is multiplied by the number of rounds before it is used.",
    "Figure 3c counts rounds below 0.9 × the baseline, and its RS bars are the feasible algorithms'.",
    "Figure 3d divides n−1 differences by n, so that five changes cannot exceed 80 %, and compares independent samples, so that changes which alter nothing count as coin flips.",
    "CLUCB adds per-arm widths and bounds arms not yet played by 0: most of “CLUCB is slow”.",
    "Every algorithm had its own draw of the arms.",
    "The program's gradient also lacks its divisor ‖θ̃‖_J, so that step sizes depend on the scale of the policy. (Found here.)",
    "The program's CLUCB does not learn from the rounds in which it plays the baseline. (Found here.)",
];

struct Shown<'a> {
    findings: &'a Findings,
}

impl Shown<'_> {
    fn regret(&self, id: &str, name: &str) -> Option<String> {
        Some(written(Estimate::of(&self.findings.outcome(id, name)?.regrets())))
    }

    fn changes(&self, id: &str, name: &str) -> Option<String> {
        let estimate = Estimate::of(&self.findings.outcome(id, name)?.change_counts());
        Some(format!("{:.1}", estimate.mean))
    }

    fn theorem_one(&self, counter: &[CounterRow]) -> Option<String> {
        let row = counter.iter().find(|row| row.rounds == 10_000)?;
        let stuck = self.findings.outcome("main/rigorous", "rs-greedy")?.summary();
        Some(format!(
            "k=2, d=1, s=1, θ=(0.5, 0.9), start with the worse arm: rs-greedy loses {:.0} in {} rounds, the printed bound is {:.0}; with \
             equipoise 0.05 it loses {:.0}. At k=4, d=5 with valid sets and no exploration rs-greedy's regret a step is {} at a \
             tenth of the rounds and {} at the end.",
            row.regret,
            row.rounds,
            row.bound,
            row.repaired,
            written(stuck.regret_per_step_tenth),
            written(stuck.regret_per_step),
        ))
    }

    fn coverage(&self) -> Option<String> {
        let share = |id: &str| -> Option<String> {
            let covered = self.findings.outcome(id, "linucb")?.coverage()?;
            Some(format!("{:.0} %", 100.0 * covered))
        };
        Some(format!(
            "The truth stays in the set in {} of runs as published, and in {} with valid sets (LinUCB, k=4, d=5, δ = 1/T).",
            share("main/published")?,
            share("main/rigorous")?
        ))
    }

    fn solver(&self) -> Result<Option<String>, SettingsError> {
        let size = self.findings.size;
        let gaps = solver_gap(size.seed, size.at_most.min(10), size.rounds.min(1_000))?;
        if gaps.is_empty() {
            return Ok(None);
        }
        let (median, most) = (gaps[gaps.len() / 2], gaps[gaps.len() - 1]);
        let line = |solver: &str| -> Option<String> {
            let name = format!("rs-conservative, valid sets, {solver}");
            Some(format!("{} with {} changes", self.regret("variants", &name)?, self.changes("variants", &name)?))
        };
        let (Some(exact), Some(gradient)) = (line("exact"), line("projected gradient")) else { return Ok(None) };
        Ok(Some(format!(
            "In {} states of simulated runs 100 steps fall short of the best cosine by {median:.3} (median), {most:.2} at most. \
             rs-conservative with valid sets and no exploration: regret a step {gradient} by the projected gradient, {exact} solved exactly.",
            gaps.len(),
        )))
    }

    fn not_feasible(feasible: &[TheoremTwo]) -> Option<String> {
        let line = |found: &TheoremTwo| format!("{}: {} of {} rounds", found.algorithm, found.excluded, found.rounds);
        let lines: Vec<String> = feasible.iter().map(line).collect();
        (!lines.is_empty()).then(|| {
            format!("Rounds in which an excluded arm was played (k=4, d=3, valid sets). {}.", lines.join("; "))
        })
    }

    fn theorem_three(&self, gap: &TheoremThreeGap) -> Option<String> {
        let outcome = self.findings.outcomes("theorem-3/equipoise").first()?;
        let count = |condition: fn(&TheoremThree) -> bool| {
            let meeting =
                || outcome.certain_changes().filter(|change| change.theorem_three().is_some_and(|t| condition(&t)));
            (meeting().count(), meeting().filter(|change| change.harms()).count())
        };
        let (four, five) = (count(TheoremThree::holds_as_published), count(TheoremThree::certifies));
        Some(format!(
            "boundary-conservative, k=2, d=2, equipoise 0.05, {} runs whose sets held: {} changes meet the four conditions, {} of them raise \
             regret; {} meet all five, {} of them raise it. In a case built by hand, with the truth in the set, a change of {:.0}° that meets \
             the four gains {:.4} a decision.",
            outcome.runs.iter().filter(|run| run.rounds_outside == Some(0)).count(),
            four.0,
            four.1,
            five.0,
            five.1,
            gap.moved_degrees,
            gap.gain,
        ))
    }

    fn pair(&self, other: &str) -> Option<String> {
        let line = |name: &str| -> Option<String> {
            let (before, after) = (format!("{name}, as published"), format!("{name}, {other}"));
            Some(format!("{name} {} → {}", self.regret("variants", &before)?, self.regret("variants", &after)?))
        };
        Some(format!("{}; {}", line("greedy")?, line("rs-greedy")?))
    }

    fn start_at_ones(&self) -> Option<String> {
        Some(format!("Regret a step as published and with b starting at 0: {}.", self.pair("b starts at 0")?))
    }

    fn penalty(&self) -> Option<String> {
        Some(format!(
            "Regret a step as published (λ = 1e-4·T = 1 at T = 10,000) and with λ = 1e-4: {}.",
            self.pair("λ = 1e-4")?
        ))
    }

    fn widths(&self) -> Option<String> {
        Some(format!(
            "LinUCB's regret a step: {} as published, {} with a valid radius.",
            self.regret("main/published", "linucb")?,
            self.regret("main/rigorous", "linucb")?
        ))
    }

    fn pairing(&self) -> Option<String> {
        let by_realisation = |id: &str| -> Option<Vec<f64>> {
            let regrets = self.findings.outcome(id, "greedy")?.regrets();
            let of = |last: bool| {
                let chosen = regrets.iter().enumerate().filter(move |(run, _)| (run % 10 >= 8) == last);
                Estimate::of(&chosen.map(|(_, regret)| *regret).collect::<Vec<_>>()).mean
            };
            Some(vec![of(false), of(true)])
        };
        let (right, wrong) = (by_realisation("ihdp/published")?, by_realisation("ihdp/shifted")?);
        let kind = if self.findings.synthetic { "synthetic children" } else { "IHDP" };
        Some(format!(
            "Greedy as published on {kind}, regret a child with the pairing repaired → as it was: realisations 1–8 {:.2} → {:.2}, \
             realisations 9–10 {:.2} → {:.2}.",
            right[0], wrong[0], right[1], wrong[1]
        ))
    }

    fn nine_tenths(&self) -> Option<String> {
        let line = |name: &str| -> Option<String> {
            let row = self.findings.outcome("main/published", name)?.summary();
            Some(format!(
                "{name} {:.0} % and {:.1} %",
                row.below_baseline_percent.mean, row.below_nine_tenths_percent.mean
            ))
        };
        let names = ["linucb", "rs-greedy", "rs-conservative", "feasible-greedy", "feasible-conservative"];
        let lines: Option<Vec<String>> = names.iter().map(|name| line(name)).collect();
        Some(format!("Rounds below the best fixed arm, and below 0.9 × it: {}.", lines?.join(", ")))
    }

    fn shares(&self) -> Option<String> {
        let line = |name: &str| -> Option<String> {
            let outcome = self.findings.outcome("main/published", name)?;
            let most: Vec<f64> = outcome
                .runs
                .iter()
                .filter(|run| !run.changes.is_empty())
                .map(|run| 100.0 * (run.changes.len() - 1) as f64 / run.changes.len() as f64)
                .collect();
            let all: usize = outcome.runs.iter().map(|run| run.changes.len()).sum();
            let nothing = all - outcome.altering().count();
            let share = outcome.summary().improving_percent?.mean;
            Some(format!(
                "{name}: at most {:.0} % could improve by their count, {:.0} % of changes alter nothing, {share:.0} % of the others improve",
                Estimate::of(&most).mean,
                100.0 * nothing as f64 / all as f64
            ))
        };
        let lines: Option<Vec<String>> =
            ["rs-greedy", "rs-conservative", "feasible-conservative"].iter().map(|name| line(name)).collect();
        Some(format!("{}.", lines?.join("; ")))
    }

    fn clucb(&self) -> Option<String> {
        Some(format!(
            "CLUCB's regret a step: {} as published, {} as its own paper has it, with valid sets.",
            self.regret("main/published", "clucb")?,
            self.regret("main/rigorous", "clucb")?
        ))
    }
}

fn written(estimate: Estimate) -> String {
    format!("{:.4} ± {:.4}", estimate.mean, estimate.standard_error)
}

fn angles() -> String {
    let degrees = |cosine: f64| cosine.acos().to_degrees();
    format!("At Δ = 0.01: arccos(1−Δ) = {:.1}°, arccos(Δ) = {:.1}°.", degrees(0.99), degrees(0.01))
}

/// One step along the gradient raises the cosine, one against it lowers it.
fn gradient_sign() -> Result<Option<String>, SettingsError> {
    let shape = Shape::new(2, 2)?;
    let policy = Parameters::new(shape, vec![1.0, 0.0, 0.0, 0.5])?;
    let at = vec![0.2, 1.0, -0.3, 0.1];
    let here = Parameters::new(shape, at.clone())?;
    let gradient = cosine_gradient(&policy, &here);
    let moved = |step: f64| -> Result<f64, SettingsError> {
        let values = at.iter().zip(gradient.values()).map(|(value, slope)| value + step * slope).collect();
        Ok(cosine(&policy, &Parameters::new(shape, values)?))
    };
    Ok(Some(format!(
        "At one point: cosine {:.4}; after a step of 0.01 along the right gradient {:.4}, along the printed one {:.4}.",
        cosine(&policy, &here),
        moved(0.01)?,
        moved(-0.01)?
    )))
}

fn projection(seed: u64) -> Result<String, SettingsError> {
    let ratio = projection_gap(seed, 500)?;
    Ok(format!(
        "After 500 rounds the initial policy is “projected” to a squared distance of {ratio:.4} × that of the edge."
    ))
}

/// Rounds in which the authors' radius is the root of a negative number.
fn radius(children: &dyn Environment, findings: &Findings) -> Result<String, SettingsError> {
    let shape = children.shape();
    let rounds = children.rounds().unwrap_or(747);
    let mut world = children.world(findings.size.seed, 0);
    let judge = Judge::new(&*world, shape, 0);
    let contestant = Contestant::new(Algorithm::Greedy, Profile::Published);
    let mut policy = contestant.build(&*world, &judge, rounds, Certificates::Brief)?;
    let (mut rng, mut round) = (policy_stream(findings.size.seed, 0), Round::new(shape));
    let (penalty, mut undefined) = (1e-4 * rounds as f64, 0_u64);
    for _ in 0..rounds {
        let determinant = policy.learner().map_or(0.0, |learner| learner.statistics().log_det());
        let root = 2.0 * (rounds as f64).ln() + determinant - shape.dimension() as f64 * penalty.ln();
        if root >= 0.0 {
            break;
        }
        undefined += 1;
        if step(policy.as_mut(), &mut *world, &mut round, &mut rng, |_, _, _| {}).is_err() {
            break;
        }
    }
    let kind = if findings.synthetic { "synthetic children" } else { "IHDP" };
    Ok(format!("On {kind} the radius is the root of a negative number in the first {undefined} rounds of {rounds}."))
}
