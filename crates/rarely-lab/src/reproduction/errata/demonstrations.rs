//! The experiments that show the errata.

use rarely_core::{
    Algorithm, Certificates, Parameters, Profile, Round, SettingsError, Shape, TheoremThree, cosine, cosine_gradient,
    step,
};

use crate::contestant::Contestant;
use crate::environment::policy_stream;
use crate::experiment::runs_text;
use crate::judge::Judge;
use crate::metrics::Estimate;
use crate::reproduction::theorems::{projection_gap, solver_gap};
use crate::reproduction::{Feasibility, ReproductionEvidence, TrialResults};

/// Shows errata by what was measured.
pub(super) struct Demonstrations<'a> {
    pub(super) evidence: &'a ReproductionEvidence<'a>,
}

impl Demonstrations<'_> {
    fn trials(&self) -> &TrialResults {
        self.evidence.trials
    }

    fn regret(&self, id: &str, name: &str) -> Option<String> {
        Some(written(Estimate::of(&self.trials().result(id, name)?.regrets())))
    }

    fn changes(&self, id: &str, name: &str) -> Option<String> {
        let estimate = Estimate::of(&self.trials().result(id, name)?.change_counts());
        Some(format!("{:.1}", estimate.mean))
    }

    pub(super) fn theorem_one(&self) -> Option<String> {
        let row_of = |rounds| self.evidence.counter.iter().find(|row| row.rounds == rounds);
        let (row, longest) = (row_of(10_000)?, row_of(100_000)?);
        let stuck = self.trials().result("main/rigorous", "rs-greedy")?.summary();
        Some(format!(
            "k=2, d=1, s=1, θ=(0.5, 0.9), start with the worse arm: rs-greedy loses {:.0} in {} rounds, the printed bound is {:.0}; with \
             equipoise 0.05 it loses {:.0}. If β is a squared radius, it loses {:.0} in {} rounds and the bound is {:.0}. At k=4, d=5 with valid sets and no exploration rs-greedy's regret per step is {} at a \
             tenth of the rounds and {} at the end.",
            row.regret,
            row.rounds,
            row.bound,
            row.repaired,
            longest.regret,
            longest.rounds,
            longest.bound_squared,
            written(stuck.regret_per_step_tenth),
            written(stuck.regret_per_step),
        ))
    }

    pub(super) fn coverage(&self) -> Option<String> {
        let share = |id: &str| -> Option<String> {
            let covered = self.trials().result(id, "linucb")?.coverage()?;
            Some(format!("{:.0} %", 100.0 * covered))
        };
        Some(format!(
            "The truth stays in the set in {} of runs as published, and in {} with valid sets (LinUCB, k=4, d=5, δ = 1/T).",
            share("main/published")?,
            share("main/rigorous")?
        ))
    }

    pub(super) fn solver(&self) -> Result<Option<String>, SettingsError> {
        let size = self.trials().size;
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
             rs-conservative with valid sets and no exploration: regret per step {gradient} by the projected gradient, {exact} solved exactly.",
            gaps.len(),
        )))
    }

    pub(super) fn not_feasible(&self) -> Option<String> {
        let line = |found: &Feasibility| {
            let Feasibility { algorithm, rounds, excluded, excluded_exactly, .. } = found;
            format!("{algorithm}: {excluded_exactly} of {rounds} rounds, {excluded} by the arms' own intervals")
        };
        let lines: Vec<String> = self.evidence.feasible.iter().map(line).collect();
        (!lines.is_empty()).then(|| {
            format!("Rounds in which an excluded arm was played (k=4, d=3, valid sets). {}.", lines.join("; "))
        })
    }

    pub(super) fn theorem_three(&self) -> Option<String> {
        let gap = &self.evidence.gap;
        let result = self.trials().results("theorem-3/equipoise").first()?;
        let count = |condition: fn(&TheoremThree) -> bool| {
            let meeting =
                || result.certain_changes().filter(|change| change.theorem_three().is_some_and(|t| condition(&t)));
            (meeting().count(), meeting().filter(|change| change.harms()).count())
        };
        let (four, five) = (count(TheoremThree::holds_as_published), count(TheoremThree::certifies));
        Some(format!(
            "boundary-conservative, k=2, d=2, equipoise 0.05, {} runs whose sets held: {} changes meet the four conditions, {} of them raise \
             regret; {} meet all five, {} of them raise it. In a case built by hand, with the truth in the set, a change of {:.0}° that meets \
             the four gains {:.4} per decision.",
            result.runs.iter().filter(|run| run.rounds_outside == Some(0)).count(),
            four.0,
            four.1,
            five.0,
            five.1,
            gap.moved_degrees,
            gap.gain(),
        ))
    }

    fn pair(&self, other: &str) -> Option<String> {
        let line = |name: &str| -> Option<String> {
            let (before, after) = (format!("{name}, as published"), format!("{name}, {other}"));
            Some(format!("{name} {} → {}", self.regret("variants", &before)?, self.regret("variants", &after)?))
        };
        Some(format!("{}; {}", line("greedy")?, line("rs-greedy")?))
    }

    pub(super) fn start_at_ones(&self) -> Option<String> {
        Some(format!("Regret per step as published and with b starting at 0: {}.", self.pair("b starts at 0")?))
    }

    pub(super) fn penalty(&self) -> Option<String> {
        Some(format!(
            "Regret per step as published (λ = 1e-4·T = 1 at T = 10,000) and with λ = 1e-4: {}.",
            self.pair("λ = 1e-4")?
        ))
    }

    pub(super) fn widths(&self) -> Option<String> {
        Some(format!(
            "LinUCB's regret per step: {} as published, {} with a valid radius.",
            self.regret("main/published", "linucb")?,
            self.regret("main/rigorous", "linucb")?
        ))
    }

    pub(super) fn pairing(&self) -> Option<String> {
        let regrets = |id: &str, name: &str| Some(self.trials().result(id, name)?.regrets());
        let (right, wrong) = (regrets("ihdp/published", "greedy")?, regrets("ihdp/shifted", "greedy")?);
        let fixed = regrets("ihdp/published", "fixed")?;
        let line = |which: &str, chosen: &dyn Fn(f64) -> bool| {
            let runs: Vec<usize> = (0..fixed.len()).filter(|&run| chosen(fixed[run])).collect();
            let mean = |values: &[f64]| Estimate::of(&runs.iter().map(|&run| values[run]).collect::<Vec<_>>()).mean;
            let count = runs_text(runs.len() as u64);
            (!runs.is_empty()).then(|| format!("{:.2} → {:.2} {which} ({count})", mean(&right), mean(&wrong)))
        };
        let lines = [
            line("where one treatment for everyone loses less than 0.1 per child", &|lost| lost < 0.1),
            line("elsewhere", &|lost| lost >= 0.1),
        ];
        Some(format!(
            "Greedy as published on IHDP, regret per child with the pairing repaired → as it was: {}.",
            lines.into_iter().flatten().collect::<Vec<_>>().join(", ")
        ))
    }

    pub(super) fn one_realisation(&self) -> Option<String> {
        let line = |name: &str| -> Option<String> {
            Some(format!("{name} {} → {}", self.regret("ihdp/repaired", name)?, self.regret("ihdp/published", name)?))
        };
        let lines: Option<Vec<String>> =
            ["greedy", "rs-greedy", "linucb", "fixed"].iter().map(|name| line(name)).collect();
        Some(format!(
            "Regret per child as published, with the pairing repaired, on orders of the first realisation → on all realisations: {}.",
            lines?.join(", ")
        ))
    }

    pub(super) fn nine_tenths(&self) -> Option<String> {
        let line = |name: &str| -> Option<String> {
            let row = self.trials().result("main/published", name)?.summary();
            Some(format!(
                "{name} {:.0} % and {:.1} %",
                row.below_baseline_percent.mean, row.below_nine_tenths_percent.mean
            ))
        };
        let names = ["linucb", "rs-greedy", "rs-conservative", "feasible-greedy", "feasible-conservative"];
        let lines: Option<Vec<String>> = names.iter().map(|name| line(name)).collect();
        Some(format!("Rounds below the best fixed arm, and below 0.9 × it: {}.", lines?.join(", ")))
    }

    pub(super) fn shares(&self) -> Option<String> {
        let line = |name: &str| -> Option<String> {
            let result = self.trials().result("main/published", name)?;
            let most: Vec<f64> = result
                .runs
                .iter()
                .filter(|run| !run.changes.is_empty())
                .map(|run| 100.0 * (run.changes.len() - 1) as f64 / run.changes.len() as f64)
                .collect();
            let all: usize = result.runs.iter().map(|run| run.changes.len()).sum();
            let nothing = all - result.altering().count();
            let share = result.summary().improving_percent?.mean;
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

    pub(super) fn clucb(&self) -> Option<String> {
        Some(format!(
            "CLUCB's regret per step: {} as published, {} as its own paper has it, with valid sets.",
            self.regret("main/published", "clucb")?,
            self.regret("main/rigorous", "clucb")?
        ))
    }

    pub(super) fn projection(&self) -> Result<Option<String>, SettingsError> {
        let ratio = projection_gap(self.trials().size.seed, 500)?;
        Ok(Some(format!(
            "After 500 rounds the initial policy is “projected” to a squared distance of {ratio:.4} × that of the edge."
        )))
    }

    /// Rounds in which the authors' radius is the root of a negative number.
    pub(super) fn radius(&self) -> Result<Option<String>, SettingsError> {
        let Some(children) = self.evidence.children else { return Ok(None) };
        let trials = self.trials();
        let shape = children.shape();
        let rounds = children.rounds().unwrap_or(747);
        let mut world = children.world(trials.size.seed, 0);
        let judge = Judge::new(&*world, shape, 0);
        let contestant = Contestant::new(Algorithm::Greedy, Profile::Published);
        let mut policy = contestant.build(&*world, &judge, rounds, Certificates::Brief)?;
        let (mut rng, mut round) = (policy_stream(trials.size.seed, 0), Round::new(shape));
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
        Ok(Some(format!(
            "On IHDP the radius is the root of a negative number in the first {undefined} rounds of {rounds}."
        )))
    }
}

fn written(estimate: Estimate) -> String {
    format!("{:.4} ± {:.4}", estimate.mean, estimate.standard_error)
}

/// The angle of the tolerance, and the one printed.
pub(super) fn angles() -> String {
    let degrees = |cosine: f64| cosine.acos().to_degrees();
    format!("At Δ = 0.01: arccos(1−Δ) = {:.1}°, arccos(Δ) = {:.1}°.", degrees(0.99), degrees(0.01))
}

/// One step along the gradient raises the cosine, one against it lowers it.
pub(super) fn gradient_sign() -> Result<Option<String>, SettingsError> {
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

/// For a mistake that is a matter of reading.
#[expect(clippy::unnecessary_wraps, reason = "the form of a demonstration")]
pub(super) fn none(_: &Demonstrations<'_>) -> Result<Option<String>, SettingsError> {
    Ok(None)
}
