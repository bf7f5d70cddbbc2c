//! What the figures of the report show, and what differs between those that look alike.

use crate::reproduction::{GRID_ARMS, Reading, Reproduced, TrialResults, grid_id};
use crate::{ContestantResult, runs_text};

/// The captions of one report.
pub(super) struct Captions<'a> {
    trials: &'a TrialResults,
}

impl<'a> Captions<'a> {
    pub(super) fn of(reproduced: &'a Reproduced) -> Self {
        Self { trials: &reproduced.trials }
    }

    fn runs(&self, id: &str) -> String {
        runs_text(runs_of(self.trials.results(id)))
    }

    pub(super) fn figure_three_published(&self) -> String {
        format!(
            "What the authors ran: k=4 arms, d=5 context variables, {}. Their sets (β where β² belongs), L = 1, an optimistic start b = 1, \
             λ = 1e-4·T, and 100 steps of projected gradient. Bands: the middle 80 % of the runs; whiskers: 95 % intervals. In c) the full \
             bars count rounds below the best fixed arm, as the paper says, the paler ones rounds below 0.9 × it, as its program does.",
            self.runs("main/published")
        )
    }

    pub(super) fn figure_three_rigorous(&self) -> String {
        format!(
            "The same arms, contexts, noise and algorithms as above ({}). What differs: valid confidence sets, L = the true norm, b = 0, λ = 0.01, \
             exact updates. Nothing makes an algorithm explore, so that those which only follow their own estimate get stuck in some runs.",
            self.runs("main/rigorous")
        )
    }

    pub(super) fn figure_three_ours(&self) -> String {
        format!(
            "The same runs as the figure above ({}), other algorithms: ours, beside LinUCB and RS-LinUCB. `rarely` is our default.",
            self.runs("main/rigorous")
        )
    }

    pub(super) fn schedule(&self) -> String {
        format!(
            "Changing to the estimate at every perfect square (√t changes by round t) against the rarely-switching algorithms, as published: the \
             {} of Figure 3, as published.",
            self.runs("main/published")
        )
    }

    /// One of the grids.
    pub(super) fn grid(&self, family: &str, dimensions: &[usize]) -> String {
        let what = match family {
            "grid" => {
                "The supplement's grid as the authors ran it: regret per step above, changes below, for every number of arms and of context variables"
            }
            "grid-rigorous" => {
                "The same arms, contexts and noise. What differs: valid sets, exact updates, λ = 0.01, no optimistic start (and no RS-LinUCB, which is slow to judge)"
            }
            _ => {
                "The same worlds and sets as in the grid with valid sets. What differs: only our default, which explores, beside LinUCB"
            }
        };
        let counts = |d: usize| {
            let each = GRID_ARMS.iter().map(|&k| runs_of(self.trials.results(&grid_id(family, k, d))));
            (d, each.min().unwrap_or(0))
        };
        let runs: Vec<String> =
            dimensions.iter().map(|&d| counts(d)).map(|(d, runs)| format!("{runs} at d={d}")).collect();
        format!("{what}. Runs: {}.", runs.join(", "))
    }

    /// One of the figures of children, by its trial.
    pub(super) fn children(&self, id: &str) -> String {
        let what = match id {
            "ihdp/authors" => {
                "The authors' algorithms on what they ran: shuffles of the first realisation only, each child's covariates with the next \
                 child's outcomes, no intercept."
            }
            "ihdp/repaired" => {
                "The authors' algorithms again. What differs from the figure above: each child with its own outcomes."
            }
            "ihdp/published" => {
                "The authors' algorithms again. What differs from the figure above: every realisation of IHDP, not the first only."
            }
            "ihdp/rigorous" => {
                "The same children in the same order. What differs from the figure above: valid sets for σ = 1, λ = 0.01, exact updates; `rarely` is new."
            }
            _ => {
                "The same again with one more context variable, the constant 1, so that an arm may be better for everyone."
            }
        };
        format!("{what} {}. “fixed” is one treatment for everyone, the better one.", self.runs(id))
    }

    /// One of the sweeps on IHDP.
    pub(super) fn sweep(&self, setting: &str, profile: Reading) -> String {
        let letter = if setting == "tolerance" { "Δ" } else { "λ" };
        let what = match profile {
            Reading::Published => {
                "as the authors ran it: shuffles of the first realisation, covariates with the next child's outcomes."
            }
            Reading::Repaired => {
                "with the authors' algorithms. What differs: every realisation, each child with its own outcomes."
            }
            Reading::Rigorous | Reading::Exact => {
                "on the same children as above. What differs: valid sets for σ = 1, exact updates."
            }
        };
        let times = if setting == "penalty" && profile != Reading::Rigorous {
            " The program multiplies λ by the number of children."
        } else {
            ""
        };
        let id = crate::reproduction::swept_id(setting, profile, crate::reproduction::SWEPT[0]);
        format!("The supplement's sweep over {letter} on IHDP, {what}{times} {} of each value.", self.runs(&id))
    }
}

fn runs_of(results: &[ContestantResult]) -> u64 {
    results.iter().map(|result| result.runs.len() as u64).min().unwrap_or(0)
}
