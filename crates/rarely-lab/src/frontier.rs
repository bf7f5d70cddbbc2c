//! Regret against number of changes: how close is an algorithm to the Pareto frontier?

use rarely_core::{Algorithm, Exploration, Profile, Share};

use crate::contestant::Contestant;
use crate::contestant_result::{ContestantResult, Summary};
use crate::metrics::Interval95;
use rarely_output::ColumnTable;

/// One algorithm with one setting, and whether nothing beats it in both regret and changes.
#[derive(Debug, Clone)]
pub struct FrontierPoint {
    /// The algorithm's name in the table, or "custom".
    pub algorithm: &'static str,
    /// The contestant's summary.
    pub summary: Summary,
    /// Whether it is on the frontier.
    pub on_frontier: bool,
}

/// Algorithms × settings: each algorithm over the range of the setting that trades regret for changes, and over its amount of
/// exploration.
///
/// # Panics
/// Never: all numbers are in range.
pub fn candidates() -> Vec<Contestant> {
    const NONE: (u32, f64) = (0, 0.0);
    let mut all = Vec::new();
    let mut add =
        |algorithm: Algorithm, setting: String, (pilot, equipoise): (u32, f64), tune: &dyn Fn(&mut Contestant)| {
            let mut contestant = Contestant::new(algorithm, Profile::Rigorous);
            if algorithm.is_switching() {
                let equipoise = Share::new(equipoise).expect("a share");
                contestant.explore = Some(Exploration { pilot, equipoise, ..Exploration::NONE });
            }
            tune(&mut contestant);
            contestant.name = if setting.is_empty() { algorithm.to_string() } else { format!("{algorithm} {setting}") };
            all.push(contestant);
        };
    let explorations = [(6, 0.0), (6, 0.02), (6, 0.05), (20, 0.02), (20, 0.1)];
    let switching = [
        Algorithm::BoundaryGreedy,
        Algorithm::BoundaryConservative,
        Algorithm::FeasibleGreedy,
        Algorithm::FeasibleConservative,
        Algorithm::Scheduled,
        Algorithm::PopulationGreedy,
    ];
    for algorithm in switching {
        for explore in explorations {
            add(algorithm, format!("pilot {} equipoise {}", explore.0, explore.1), explore, &|_| {});
        }
        add(algorithm, "without exploration".to_owned(), NONE, &|_| {});
    }
    for algorithm in [Algorithm::RsGreedy, Algorithm::RsConservative] {
        for explore in [NONE, (6, 0.02), (20, 0.1)] {
            for tolerance in [0.001, 0.01, 0.1] {
                let setting = format!("Δ {tolerance} pilot {} equipoise {}", explore.0, explore.1);
                add(algorithm, setting, explore, &|contestant| contestant.tuned.tolerance = Some(tolerance));
            }
        }
    }
    for growth in [0.1, 0.3, 1.0, 10.0, 100.0, 1_000.0, 100_000.0] {
        let tune = |contestant: &mut Contestant| contestant.tuned.growth = Some(growth);
        add(Algorithm::RsLinUcb, format!("C {growth}"), NONE, &tune);
    }
    for algorithm in [Algorithm::LinUcb, Algorithm::Thompson, Algorithm::Greedy, Algorithm::Clucb, Algorithm::Fixed] {
        add(algorithm, String::new(), NONE, &|_| {});
    }
    // Ours explore as they do by themselves.
    all.extend([Algorithm::Rarely, Algorithm::RarelyQuick].map(|ours| Contestant::new(ours, Profile::Rigorous)));
    all
}

/// The [candidates] of some algorithms, with this noise declared; an algorithm that is not among them plays with its own settings.
pub fn candidates_of(algorithms: &[Algorithm], noise: f64) -> Vec<Contestant> {
    let known = candidates();
    let of = |&algorithm: &Algorithm| {
        let own: Vec<Contestant> = known.iter().filter(|candidate| candidate.algorithm == algorithm).cloned().collect();
        if own.is_empty() { vec![Contestant::new(algorithm, Profile::Rigorous)] } else { own }
    };
    algorithms.iter().flat_map(of).map(|contestant| contestant.declaring_noise(noise)).collect()
}

/// Where a contestant lies relative to the frontier of the others.
#[derive(Debug, Clone, PartialEq)]
pub struct FrontierPlace {
    /// The contestant.
    pub summary: Summary,
    /// Its runs.
    pub runs: usize,
    /// The other with the least regret among those that change at most as often, if it has less.
    pub less_regret: Option<BetterPoint>,
    /// The other with the fewest changes among those with at most as much regret, if it has fewer.
    pub fewer_changes: Option<BetterPoint>,
}

/// A point that is better in one respect and not worse in the other.
#[derive(Debug, Clone, PartialEq)]
pub struct BetterPoint {
    /// Its summary.
    pub summary: Summary,
    /// The contestant's number over its: of regret, or of changes.
    pub ratio: Interval95,
}

impl FrontierPlace {
    /// Of a contestant, by name; `None` if it is not among the results.
    pub fn of(results: &[ContestantResult], name: &str) -> Option<Self> {
        let own = results.iter().find(|result| result.name() == name)?;
        let summary = own.summary();
        let (changes, regret) = (summary.changes.mean, summary.regret_per_step.mean);
        let others: Vec<(&ContestantResult, Summary)> = results
            .iter()
            .filter(|other| other.name() != name)
            .map(|other| (other, other.summary()))
            .filter(|(_, other)| other.changes.mean <= changes && other.regret_per_step.mean <= regret)
            .collect();
        let best = |of: fn(&Summary) -> f64, values: fn(&ContestantResult) -> Vec<f64>| {
            let least = others.iter().min_by(|one, other| of(&one.1).total_cmp(&of(&other.1)));
            let (other, theirs) = least.filter(|(_, theirs)| of(theirs) < of(&summary))?;
            let ratio = Interval95::of_ratio(&values(own), &values(other));
            Some(BetterPoint { summary: theirs.clone(), ratio })
        };
        Some(Self {
            runs: own.runs.len(),
            less_regret: best(|row| row.regret_per_step.mean, ContestantResult::regrets),
            fewer_changes: best(|row| row.changes.mean, ContestantResult::change_counts),
            summary,
        })
    }

    /// Whether nothing is better in one respect and not worse in the other.
    pub fn is_on_frontier(&self) -> bool {
        self.less_regret.is_none() && self.fewer_changes.is_none()
    }
}

/// Marks the results that no other beats in both regret and number of changes.
pub fn points(results: &[ContestantResult]) -> Vec<FrontierPoint> {
    let summaries: Vec<Summary> = results.iter().map(ContestantResult::summary).collect();
    let place = |summary: &Summary| (summary.changes.mean, summary.regret_per_step.mean);
    let beaten = |one: &Summary| {
        let (changes, regret) = place(one);
        summaries.iter().any(|other| {
            let (c, r) = place(other);
            c <= changes && r <= regret && (c < changes || r < regret)
        })
    };
    let marked = results.iter().zip(&summaries);
    marked
        .map(|(result, summary)| FrontierPoint {
            algorithm: result.contestant.algorithm.name(),
            summary: summary.clone(),
            on_frontier: !beaten(summary),
        })
        .collect()
}

/// A row for each point.
pub fn frame(points: &[FrontierPoint]) -> ColumnTable {
    let number = |value: fn(&Summary) -> f64| points.iter().map(move |point| value(&point.summary));
    ColumnTable::default()
        .texts("contestant", points.iter().map(|point| point.summary.name.clone()))
        .texts("algorithm", points.iter().map(|point| point.algorithm))
        .texts("on_frontier", points.iter().map(|point| if point.on_frontier { "yes" } else { "no" }))
        .numbers("changes", number(|row| row.changes.mean))
        .numbers("changes_se", number(|row| row.changes.standard_error))
        .numbers("renewals", number(|row| row.renewals.mean))
        .optional("off_rule_percent", points.iter().map(|point| point.summary.off_rule_percent.map(|share| share.mean)))
        .numbers("stuck_runs", number(|row| row.stuck_runs as f64))
        .numbers("regret_per_step", number(|row| row.regret_per_step.mean))
        .numbers("regret_per_step_se", number(|row| row.regret_per_step.standard_error))
        .optional(
            "improving_percent",
            points.iter().map(|point| point.summary.improving_percent.map(|share| share.mean)),
        )
        .numbers("regret_per_step_p10", number(|row| row.regret_quantiles.low))
        .numbers("regret_per_step_median", number(|row| row.regret_quantiles.median))
        .numbers("regret_per_step_p90", number(|row| row.regret_quantiles.high))
}
