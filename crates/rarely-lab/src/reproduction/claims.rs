//! The paper's claims, in our words, and what we measured.

use serde::Serialize;

use super::{Evidence, Findings, GRID_ARMS, GRID_DIMENSIONS, SWEPT, TheoremTwo, WIDE, grid_id};
use crate::metrics::{Between, Estimate};
use crate::outcome::Outcome;

/// What became of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Verdict {
    /// Also with valid confidence sets.
    #[serde(rename = "holds")]
    Holds,
    /// Only with what the authors ran.
    #[serde(rename = "holds only as published")]
    OnlyAsPublished,
    /// Neither way.
    #[serde(rename = "does not hold")]
    DoesNotHold,
}

impl Verdict {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::OnlyAsPublished => "holds only as published",
            Self::DoesNotHold => "does not hold",
        }
    }
}

/// One number that bears on a claim, with its 95 % interval where it has one.
#[derive(Debug, Clone, Serialize)]
pub struct Measurement {
    /// `published`, `rigorous`, or `exact` for what has no profile.
    pub profile: &'static str,
    /// What was measured.
    pub what: String,
    /// The number.
    pub value: f64,
    /// Lower end of its interval.
    pub low: Option<f64>,
    /// Upper end of its interval.
    pub high: Option<f64>,
    /// When the claim holds for it.
    pub holds_if: String,
    /// Whether it does.
    pub holds: bool,
    /// Whether the whole interval agrees with that.
    pub clear: bool,
}

/// One claim.
#[derive(Debug, Clone, Serialize)]
pub struct Claim {
    /// A short name.
    pub id: &'static str,
    /// In our words.
    pub text: &'static str,
    /// Where the paper makes it.
    pub figure: &'static str,
    /// What the paper says or shows there, in numbers where it gives any.
    pub paper: &'static str,
    /// What we measured.
    pub measured: Vec<Measurement>,
    /// What became of it.
    pub verdict: Verdict,
    /// Whether it does not hold only because an interval reaches over a limit: more runs may change the verdict.
    pub close: bool,
    /// Whether it is ours rather than the paper's.
    pub ours: bool,
}

/// A condition on a number.
#[derive(Clone, Copy)]
enum Is {
    Above(f64),
    AtLeast(f64),
    AtMost(f64),
    Within(f64, f64),
}

impl Is {
    fn holds(self, value: f64) -> bool {
        match self {
            Self::Above(limit) => value > limit,
            Self::AtLeast(limit) => value >= limit,
            Self::AtMost(limit) => value <= limit,
            Self::Within(low, high) => value >= low && value <= high,
        }
    }

    fn words(self) -> String {
        match self {
            Self::Above(limit) => format!("above {limit}"),
            Self::AtLeast(limit) => format!("at least {limit}"),
            Self::AtMost(limit) => format!("at most {limit}"),
            Self::Within(low, high) => format!("from {low} to {high}"),
        }
    }
}

fn measurement(profile: &'static str, what: impl Into<String>, between: Between, is: Is) -> Measurement {
    let Between { mean, low, high } = between;
    let holds = is.holds(mean);
    let clear = is.holds(low) == holds && is.holds(high) == holds;
    let has_interval = low < high;
    Measurement {
        profile,
        what: what.into(),
        value: mean,
        low: has_interval.then_some(low),
        high: has_interval.then_some(high),
        holds_if: is.words(),
        holds,
        clear,
    }
}

fn exactly(value: f64) -> Between {
    Between { mean: value, low: value, high: value }
}

fn claim(
    (id, figure): (&'static str, &'static str),
    text: &'static str,
    paper: &'static str,
    measured: Vec<Measurement>,
) -> Claim {
    let all = |profile: &str, condition: fn(&Measurement) -> bool| {
        let mut of_profile = measured.iter().filter(|found| found.profile == profile).peekable();
        of_profile.peek().is_some() && of_profile.all(condition)
    };
    let verdict_by = |condition: fn(&Measurement) -> bool| {
        if all("rigorous", condition) || all("exact", condition) {
            Verdict::Holds
        } else if all("published", condition) {
            Verdict::OnlyAsPublished
        } else {
            Verdict::DoesNotHold
        }
    };
    let verdict = verdict_by(|found| found.holds && found.clear);
    let close = verdict != verdict_by(|found| found.holds || !found.clear);
    Claim { id, text, figure, paper, measured, verdict, close, ours: false }
}

/// The outcomes of one trial under one profile.
#[derive(Clone, Copy)]
struct Look<'a> {
    profile: &'static str,
    outcomes: &'a [Outcome],
}

impl<'a> Look<'a> {
    fn find(&self, name: &str) -> Option<&'a Outcome> {
        self.outcomes.iter().find(|outcome| outcome.name() == name)
    }

    /// Mean over the runs of a paired difference.
    fn difference(&self, one: &str, other: &str, values: fn(&Outcome) -> Vec<f64>) -> Option<Between> {
        let (one, other) = (values(self.find(one)?), values(self.find(other)?));
        Some(Estimate::of_differences(&one, &other).between(one.len()))
    }

    fn is(&self, what: impl Into<String>, between: Option<Between>, is: Is) -> Option<Measurement> {
        between.map(|between| measurement(self.profile, what, between, is))
    }

    fn regret_above(&self, one: &str, other: &str) -> Option<Measurement> {
        let between = self.difference(one, other, Outcome::regrets);
        self.is(format!("regret a step of {one} minus that of {other}"), between, Is::Above(0.0))
    }

    fn changes_above(&self, one: &str, other: &str) -> Option<Measurement> {
        let between = self.difference(one, other, Outcome::change_counts);
        self.is(format!("changes of {one} minus those of {other}"), between, Is::Above(0.0))
    }

    /// The ratio of two mean regrets over the same worlds; its error to first order.
    fn regret_ratio(&self, one: &str, other: &str) -> Option<Between> {
        let (one, other) = (self.find(one)?.regrets(), self.find(other)?.regrets());
        let (a, b) = (Estimate::of(&one).mean, Estimate::of(&other).mean);
        let parts: Vec<f64> = one.iter().zip(&other).map(|(one, other)| (one - a / b * other) / b).collect();
        let Between { mean, low, high } = Estimate::of(&parts).between(parts.len());
        Some(Between { mean: a / b, low: a / b + low - mean, high: a / b + high - mean })
    }

    fn changes(&self, name: &str) -> Option<Between> {
        let counts = self.find(name)?.change_counts();
        Some(Estimate::of(&counts).between(counts.len()))
    }

    fn improving(&self, name: &str) -> Option<Between> {
        self.find(name)?.summary().improving_percent
    }

    /// The difference of two shares of improving changes; its interval from the two intervals, as if they were independent.
    fn improving_above(&self, one: &str, other: &str) -> Option<Measurement> {
        let (a, b) = (self.improving(one)?, self.improving(other)?);
        let mean = a.mean - b.mean;
        let low = mean - (a.mean - a.low).hypot(b.high - b.mean);
        let high = mean + (a.high - a.mean).hypot(b.mean - b.low);
        let what = format!("% improving of {one} minus that of {other}");
        self.is(what, Some(Between { mean, low, high }), Is::Above(0.0))
    }

    /// The others of a list against one.
    fn lowest(&self, name: &str, others: &[&str]) -> Vec<Measurement> {
        others.iter().filter_map(|other| self.regret_above(other, name)).collect()
    }
}

/// Everything the paper claims, and what of it we found.
pub fn claims(evidence: &Evidence<'_>) -> Vec<Claim> {
    let findings = evidence.findings;
    let mut all = figure_three_regret(findings);
    all.extend(figure_three_safety(findings));
    all.extend(figure_three_changes(findings));
    all.extend(supplement(findings));
    all.extend(figure_four(findings));
    all.extend(theorems(evidence));
    all.push(house(findings));
    all
}

fn both<'a>(findings: &'a Findings, published: &str, rigorous: &str) -> [Look<'a>; 2] {
    [
        Look { profile: "published", outcomes: findings.outcomes(published) },
        Look { profile: "rigorous", outcomes: findings.outcomes(rigorous) },
    ]
}

fn gather(looks: &[Look<'_>], measure: &dyn Fn(Look<'_>) -> Vec<Option<Measurement>>) -> Vec<Measurement> {
    looks.iter().flat_map(|&look| measure(look)).flatten().collect()
}

/// Figure 3a, and the schedule of the supplement.
fn figure_three_regret(findings: &Findings) -> Vec<Claim> {
    let looks = both(findings, "main/published", "main/rigorous");
    let gather = |measure: &dyn Fn(Look<'_>) -> Vec<Option<Measurement>>| gather(&looks, measure);
    let rest =
        ["linucb", "rs-linucb", "rs-greedy", "rs-conservative", "feasible-greedy", "feasible-conservative", "clucb"];
    vec![
        claim(
            ("greedy-lowest", "Figure 3a"),
            "Following the estimate every round (greedy) has the lowest regret a step of all.",
            "greedy lowest",
            gather(&|look| look.lowest("greedy", &rest).into_iter().map(Some).collect()),
        ),
        claim(
            ("rs-beat-linucb", "Figure 3a"),
            "The rarely-switching algorithms do almost as well as greedy, and better than LinUCB and RS-LinUCB.",
            "RS below LinUCB and RS-LinUCB",
            gather(&|look| {
                ["rs-greedy", "rs-conservative"]
                    .iter()
                    .flat_map(|rs| [look.regret_above("linucb", rs), look.regret_above("rs-linucb", rs)])
                    .collect()
            }),
        ),
        claim(
            ("clucb-worst", "Figure 3a"),
            "CLUCB is the slowest to learn and ends with the highest regret a step.",
            "CLUCB highest",
            gather(&|look| {
                ["linucb", "rs-linucb", "rs-greedy", "rs-conservative"]
                    .iter()
                    .map(|other| look.regret_above("clucb", other))
                    .collect()
            }),
        ),
        claim(
            ("handful-of-changes", "Figure 3b"),
            "RS-greedy reaches low regret with about five changes of policy.",
            "about 5 changes",
            gather(&|look| {
                vec![
                    look.is("changes of rs-greedy", look.changes("rs-greedy"), Is::AtMost(10.0)),
                    look.regret_above("linucb", "rs-greedy"),
                ]
            }),
        ),
        claim(
            ("schedule-worse", "Suppl. figure, deterministic schedule"),
            "Changing to the estimate on a fixed √t schedule has higher regret than the rarely-switching algorithms, with more changes.",
            "higher regret, more changes",
            gather(&|look| {
                ["rs-greedy", "rs-conservative"]
                    .iter()
                    .flat_map(|rs| [look.regret_above("scheduled", rs), look.changes_above("scheduled", rs)])
                    .collect()
            }),
        ),
    ]
}

/// Figure 3c.
fn figure_three_safety(findings: &Findings) -> Vec<Claim> {
    let looks = both(findings, "main/published", "main/rigorous");
    let gather = |measure: &dyn Fn(Look<'_>) -> Vec<Option<Measurement>>| gather(&looks, measure);
    let below = |look: Look<'_>, name: &str, is: Is| {
        let share = look.find(name).map(|outcome| outcome.summary().below_baseline_percent);
        look.is(format!("% of rounds of {name} below the best fixed arm"), share, is)
    };
    let as_counted = |look: Look<'_>, name: &str, is: Is| {
        let share = look.find(name).map(|outcome| outcome.summary().below_nine_tenths_percent);
        look.is(format!("% of rounds of {name} below 0.9 × the best fixed arm"), share, is)
    };
    vec![
        claim(
            ("seldom-below-baseline", "Figure 3c"),
            "The rarely-switching algorithms are seldom below the cumulative reward of the best fixed arm.",
            "a few per cent of rounds",
            gather(&|look| {
                ["rs-greedy", "rs-conservative"].iter().map(|rs| below(look, rs, Is::AtMost(10.0))).collect()
            }),
        ),
        claim(
            ("seldom-below-nine-tenths", "Figure 3c, as its program counts"),
            "The same with 0.9 × the best fixed arm, which is what the authors' program counts: RS seldom below, LinUCB more often.",
            "RS about 1 %, LinUCB about 6 %",
            gather(&|look| {
                vec![
                    as_counted(look, "rs-greedy", Is::AtMost(10.0)),
                    as_counted(look, "rs-conservative", Is::AtMost(10.0)),
                    as_counted(look, "linucb", Is::Above(1.0)),
                ]
            }),
        ),
        claim(
            ("clucb-never-below", "Figure 3c"),
            "CLUCB essentially never falls below (1−α) of the baseline.",
            "0 %",
            gather(&|look| vec![as_counted(look, "clucb", Is::AtMost(1.0))]),
        ),
    ]
}

/// Figures 3b and 3d.
fn figure_three_changes(findings: &Findings) -> Vec<Claim> {
    let looks = both(findings, "main/published", "main/rigorous");
    let gather = |measure: &dyn Fn(Look<'_>) -> Vec<Option<Measurement>>| gather(&looks, measure);
    vec![
        claim(
            ("fewer-than-rs-linucb", "Figure 3b"),
            "Both rarely-switching algorithms change far less often than RS-LinUCB.",
            "about 250 changes for RS-LinUCB",
            gather(&|look| {
                vec![
                    look.changes_above("rs-linucb", "rs-greedy"),
                    look.changes_above("rs-linucb", "rs-conservative"),
                    look.is("changes of rs-linucb", look.changes("rs-linucb"), Is::Within(150.0, 400.0)),
                ]
            }),
        ),
        claim(
            ("conservative-improves-more", "Figure 3d"),
            "A larger share of RS-conservative's changes lowers expected regret than of RS-greedy's or RS-LinUCB's.",
            "RS-conservative highest",
            gather(&|look| {
                vec![
                    look.improving_above("rs-conservative", "rs-greedy"),
                    look.improving_above("rs-conservative", "rs-linucb"),
                ]
            }),
        ),
        claim(
            ("greedy-changes-are-chance", "Figure 3d"),
            "Of RS-greedy's and RS-LinUCB's changes about half are improvements.",
            "about 50 % each",
            gather(&|look| {
                ["rs-greedy", "rs-linucb"]
                    .iter()
                    .map(|name| look.is(format!("% improving of {name}"), look.improving(name), Is::Within(40.0, 60.0)))
                    .collect()
            }),
        ),
        claim(
            ("feasible-change-more", "Figure 3b"),
            "The feasible algorithms change more often than the rarely-switching ones.",
            "more changes for both",
            gather(&|look| {
                vec![
                    look.changes_above("feasible-greedy", "rs-greedy"),
                    look.changes_above("feasible-conservative", "rs-conservative"),
                ]
            }),
        ),
        claim(
            ("feasible-conservative-improves-less", "Figure 3d"),
            "Feasible-conservative's changes are less often improvements than RS-conservative's.",
            "clearly lower",
            gather(&|look| vec![look.improving_above("rs-conservative", "feasible-conservative")]),
        ),
    ]
}

/// The grid and the sweeps.
fn supplement(findings: &Findings) -> Vec<Claim> {
    let mut planar = Vec::new();
    let mut higher = Vec::new();
    for arms in GRID_ARMS {
        for dimension in GRID_DIMENSIONS {
            let look = Look { profile: "published", outcomes: findings.outcomes(&grid_id("grid", arms, dimension)) };
            for rs in ["rs-greedy", "rs-conservative"] {
                let between = look.difference("linucb", rs, Outcome::regrets);
                let what = format!("k={arms}, d={dimension}: regret a step of linucb minus that of {rs}");
                if dimension == 2 {
                    let between = between.map(|b| Between { mean: -b.mean, low: -b.high, high: -b.low });
                    let what = format!("k={arms}, d=2: regret a step of {rs} minus that of linucb");
                    planar.extend(look.is(what, between, Is::Above(0.0)));
                } else {
                    higher.extend(look.is(what, between, Is::Above(0.0)));
                }
            }
        }
    }
    let swept = |setting: &str, profile: &'static str, values: fn(&Outcome) -> Vec<f64>, is: Is, what: &str| {
        ["rs-greedy", "rs-conservative"].map(|name| {
            let means: Vec<f64> = SWEPT
                .iter()
                .filter_map(|value| findings.outcome(&format!("{setting}/{profile}/{value}"), name))
                .map(|outcome| Estimate::of(&values(outcome)).mean)
                .collect();
            let most = means.iter().copied().fold(0.0, f64::max);
            let least = means.iter().copied().fold(f64::INFINITY, f64::min);
            measurement(profile, format!("{name}: largest over smallest {what}"), exactly(most / least.max(1e-12)), is)
        })
    };
    let both_profiles = |setting: &str, regret: Is, changes: Is| -> Vec<Measurement> {
        ["published", "rigorous"]
            .into_iter()
            .flat_map(|profile| {
                let regrets = swept(setting, profile, Outcome::regrets, regret, "regret a step");
                let counts = swept(setting, profile, Outcome::change_counts, changes, "number of changes");
                regrets.into_iter().chain(counts)
            })
            .collect()
    };
    vec![
        claim(
            ("grid-high", "Suppl. figure, k × d grid"),
            "For d ≥ 5 the results are as in the main setting: the rarely-switching algorithms beat LinUCB for every k.",
            "similar for d ≥ 5",
            higher,
        ),
        claim(
            ("grid-planar", "Suppl. figure, k × d grid"),
            "For d = 2 the rarely-switching algorithms do worse than LinUCB.",
            "not as well for d = 2",
            planar,
        ),
        claim(
            ("tolerance", "Suppl. figure, Δ on IHDP"),
            "Δ from 1e-4 to 1e-1 hardly affects regret, but the number of changes.",
            "little impact on regret; changes differ",
            both_profiles("tolerance", Is::AtMost(1.25), Is::Above(1.5)),
        ),
        claim(
            ("penalty", "Suppl. figure, λ on IHDP"),
            "λ from 1e-4 to 1e-1 affects both regret and the number of changes.",
            "both differ",
            both_profiles("penalty", Is::Above(1.1), Is::Above(1.1)),
        ),
    ]
}

fn figure_four(findings: &Findings) -> Vec<Claim> {
    let looks = both(findings, "ihdp/authors", "ihdp/rigorous");
    let gather = |measure: &dyn Fn(Look<'_>) -> Vec<Option<Measurement>>| gather(&looks, measure);
    let learners =
        ["greedy", "linucb", "rs-linucb", "feasible-greedy", "feasible-conservative", "rs-greedy", "rs-conservative"];
    let late = |look: Look<'_>, name: &str| -> Option<Measurement> {
        let share = Estimate::of(&look.find(name)?.late_regrets()).mean
            / Estimate::of(&look.find("random")?.late_regrets()).mean;
        let what = format!("regret of {name} in the last tenth over that of a randomised trial");
        look.is(what, Some(exactly(share)), Is::AtMost(0.1))
    };
    vec![
        claim(
            ("ihdp-all-learn", "Figure 4a"),
            "Every algorithm learns a nearly optimal treatment rule within the 747 children.",
            "all learn within the trial",
            gather(&|look| learners.iter().map(|name| late(look, name)).collect()),
        ),
        claim(
            ("ihdp-faster", "Figure 4a"),
            "Greedy and the rarely-switching algorithms learn faster than LinUCB and RS-LinUCB.",
            "lower regret a step throughout",
            gather(&|look| {
                ["greedy", "rs-greedy", "rs-conservative"]
                    .iter()
                    .flat_map(|name| [look.regret_above("linucb", name), look.regret_above("rs-linucb", name)])
                    .collect()
            }),
        ),
        claim(
            ("ihdp-changes", "Figure 4b"),
            "The rarely-switching algorithms need about 35 changes of policy.",
            "about 35",
            gather(&|look| {
                ["rs-greedy", "rs-conservative"]
                    .iter()
                    .map(|name| look.is(format!("changes of {name}"), look.changes(name), Is::Within(20.0, 50.0)))
                    .collect()
            }),
        ),
        claim(
            ("ihdp-feasible", "Figure 4"),
            "The feasible algorithms have similar regret but change significantly more often.",
            "similar regret, more changes",
            gather(&|look| {
                vec![
                    look.changes_above("feasible-greedy", "rs-greedy"),
                    look.changes_above("feasible-conservative", "rs-conservative"),
                    look.is(RATIO, look.regret_ratio("feasible-greedy", "rs-greedy"), Is::Within(0.67, 1.5)),
                ]
            }),
        ),
    ]
}

const RATIO: &str = "regret a step of feasible-greedy over that of rs-greedy";

fn theorems(evidence: &Evidence<'_>) -> Vec<Claim> {
    let Evidence { findings, counter, feasible, gap, .. } = *evidence;
    let ratio = counter.iter().find(|row| row.rounds == 10_000).map_or(f64::NAN, |row| row.regret / row.bound);
    let share = |count: u64, found: &TheoremTwo| {
        let (count, rounds) =
            (usize::try_from(count).unwrap_or(usize::MAX), usize::try_from(found.rounds).unwrap_or(1));
        Between::share(&[(count, rounds)]).map_or(exactly(0.0), |share| if count == 0 { exactly(0.0) } else { share })
    };
    let two = feasible.iter().map(|found| {
        let what = format!(
            "% of rounds in which {} plays an excluded arm although all its boundaries are plausible",
            found.algorithm
        );
        measurement("exact", what, share(found.despite_plausible, found), Is::AtMost(0.0))
    });
    let as_run = feasible.iter().filter(|found| found.algorithm.name().starts_with("rs-")).map(|found| {
        let what = format!("% of rounds in which {} plays an arm that its data rule out", found.algorithm);
        measurement("exact", what, share(found.excluded, found), Is::AtMost(0.0))
    });
    let raised = |condition: &dyn Fn(rarely_core::TheoremThree) -> bool, words: &str| -> Vec<Measurement> {
        ["theorem-3/greedy", "theorem-3/equipoise"]
            .into_iter()
            .filter_map(|id| {
                let outcome = findings.outcomes(id).first()?;
                let held = outcome.runs.iter().filter(|run| run.rounds_outside == Some(0));
                let changes: Vec<_> = held
                    .flat_map(|run| &run.changes)
                    .filter(|change| change.certificate.as_ref().and_then(|c| c.theorem_three).is_some_and(condition))
                    .collect();
                let worse = changes.iter().filter(|change| change.gain < -1e-12).count();
                let what = format!(
                    "changes that raise regret among {} {words} ({})",
                    changes.len(),
                    if id.ends_with("greedy") { "without exploration" } else { "with equipoise 0.05" }
                );
                Some(measurement("exact", what, exactly(worse as f64), Is::AtMost(0.0)))
            })
            .collect()
    };
    vec![
        claim(
            ("theorem-1", "Theorem 1"),
            "Every feasible algorithm has a regret of order d√T, with an explicit bound.",
            "regret at most the printed bound",
            vec![measurement(
                "exact",
                "regret over the printed bound in the counter-example, T = 10,000",
                exactly(ratio),
                Is::AtMost(1.0),
            )],
        ),
        claim(
            ("theorem-2", "Theorem 2"),
            "A policy whose boundaries are all plausible never plays an excluded arm.",
            "never",
            two.collect(),
        ),
        claim(
            ("rs-feasible", "Discussion"),
            "The rarely-switching algorithms, as run, are feasible: they never play an arm that their data rule out.",
            "both are feasible",
            as_run.collect(),
        ),
        claim(
            ("theorem-3", "Theorem 3"),
            "In the plane, a change that meets four conditions does not raise expected regret, with high probability.",
            "never, while the sets hold",
            raised(&|theorem| theorem.holds_as_published(), "that meet the paper's four conditions")
                .into_iter()
                .chain([measurement(
                    "exact",
                    "gain of a change that meets all four, with the truth in the set, in a case built by hand",
                    exactly(gap.gain),
                    Is::AtLeast(0.0),
                )])
                .collect(),
        ),
        Claim {
            ours: true,
            ..claim(
                ("theorem-3-repaired", "Theorem 3, with a fifth condition"),
                "With a fifth condition (the reversed old boundary is implausible) it does not raise expected regret.",
                "–",
                raised(&|theorem| theorem.certifies(), "that meet all five conditions"),
            )
        },
    ]
}

/// Our own claim, by the same rules.
fn house(findings: &Findings) -> Claim {
    let mut measured = Vec::new();
    for arms in GRID_ARMS {
        for dimension in GRID_DIMENSIONS.into_iter().chain([WIDE]) {
            let look = Look { profile: "rigorous", outcomes: findings.outcomes(&grid_id("house", arms, dimension)) };
            let at = format!("k={arms}, d={dimension}");
            measured.extend(look.is(
                format!("{at}: regret of rarely over LinUCB's"),
                look.regret_ratio("rarely", "linucb"),
                Is::AtMost(1.1),
            ));
            measured.extend(look.is(format!("{at}: changes of rarely"), look.changes("rarely"), Is::AtMost(10.0)));
            measured.extend(look.is(
                format!("{at}: % of them that improve"),
                look.improving("rarely"),
                Is::Above(90.0),
            ));
        }
    }
    let text = "The house default reaches LinUCB's regret with a handful of changes, nearly all of them improvements, over the whole grid.";
    Claim { ours: true, ..claim(("house-default", "ours, k × d grid"), text, "–", measured) }
}
