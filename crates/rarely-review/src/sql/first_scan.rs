//! The statement that computes what a review needs of a log: [`crate::Tally`] in SQL. Every arithmetic operation is that of our reader, in the
//! same order, so that every bit of every sum is the same.

use rarely_policy::{FeatureKind, PolicyDocument};

use super::checked_rows::{CheckedRows, Part, by_arm, select};
use super::layout::{BandOf, LevelOf, SumTerm, SumsLayout, Variable};
use super::template::{Branch, statement};
use super::{Dialect, LogTable};
use crate::bands::Bands;
use crate::fixed_point::ONE;
use crate::jump::Jumps;
use crate::next_to_cut::ROWS_KEPT;
use crate::people_sample::SAMPLE_SIZE;
use crate::running_variable::RunningVariable;
use crate::stretch_sums::{FIRST_LENGTH, Stretches};
use crate::tally::{Tally, reward_grids};

/// Doublings of the length of a stretch until two of them hold all of the calendar.
const DOUBLINGS: u32 = 34;

const OPTION_ENDS: &str = "SELECT arm, count(*) AS arm_rows, min(reward) AS lowest, max(reward) AS highest,
    min(row_second) AS first_second, max(row_second) AS last_second
  FROM coded WHERE fault = 0 GROUP BY arm";

/// Writes the first statement.
pub(super) struct FirstScan<'a> {
    rows: CheckedRows<'a>,
    bands: Bands,
    layout: SumsLayout,
    running: Option<&'a RunningVariable>,
    jumps: Option<&'a Jumps>,
    most_stretches: usize,
}

impl<'a> FirstScan<'a> {
    /// For an empty tally of the document.
    pub(super) fn new(document: &'a PolicyDocument, log: &'a LogTable<'a>, empty: &'a Tally) -> Self {
        let bands = Bands::of(document);
        Self {
            rows: CheckedRows { document, log },
            layout: SumsLayout::new(document, &bands),
            bands,
            running: empty.running_variable(),
            jumps: empty.jumps(),
            most_stretches: Stretches::most_of(empty.options()),
        }
    }

    pub(super) fn text(&self, digest: &str) -> String {
        let mut parts = self.rows.parts();
        parts.push(Part {
            name: "whole",
            comment: "Whole numbers in place of real ones: their sums do not depend on the order of the rows.",
            select: self.whole(),
        });
        parts.push(Part {
            name: "option_ends",
            comment: "The lowest and the highest reward of each option, and the first and the last second of all rows.",
            select: OPTION_ENDS.to_owned(),
        });
        parts.push(Part {
            name: "limits",
            comment: "The same with the length of a stretch of time: the shortest for which there are not too many stretches.",
            select: self.limits(),
        });
        parts.push(Part {
            name: "placed",
            comment: "Every row with its part (1 proposes a change, 0 confirms it) and its stretch of time.",
            select: self.placed(),
        });
        let mut branches = vec![self.sums()];
        if self.jumps.is_some_and(|jumps| jumps.cuts().len() > 0) {
            parts.extend(self.jump_parts());
            branches.push(self.jump());
        }
        branches.push(self.people());
        statement(self.rows.log, self.rows.document, digest, &parts, &branches)
    }

    pub(super) fn dialect(&self) -> Dialect {
        self.rows.log.dialect
    }

    pub(super) fn jumps(&self) -> Option<&Jumps> {
        self.jumps
    }

    /// The whole number nearest to `value`, ties up.
    pub(super) fn rounded(&self, value: &str) -> String {
        let sql = self.rows.log.dialect;
        sql.floor(&format!("{value} + {}", sql.double(0.5)))
    }

    fn whole(&self) -> String {
        let sql = self.rows.log.dialect;
        let one = sql.double(ONE as f64);
        let mut lines: Vec<String> = ["fault", "arm", "reward", "row_second", "row_hash"].map(str::to_owned).into();
        for (at, feature) in self.rows.document.features().iter().enumerate() {
            let name = at + 1;
            if feature.range().is_none() {
                lines.push(format!("level_{name}"));
                continue;
            }
            lines.push(format!("{} AS n_{name}", self.rounded(&format!("u_{name} * {one}"))));
            if let Some((offset, scale)) = self.bands.cells(at) {
                let (offset, scale) = (sql.double(offset), sql.double(scale));
                lines.push(format!("{} AS band_{name}", sql.floor(&format!("{offset} + {scale} * u_{name}"))));
            }
        }
        let steps = reward_grids(self.rows.document).into_iter().map(|grid| {
            let (start, step) = (sql.double(grid.start()), sql.double(grid.step()));
            self.rounded(&format!("(reward - {start}) / {step}"))
        });
        lines.push(format!("{} AS steps", by_arm(steps)));
        if let Some(running) = self.running {
            lines.push(format!("{} AS z", self.score(running)));
        }
        format!("{}\n  FROM coded{}", select(&lines), sql.fence())
    }

    /// The running variable: the sum of the products of coefficients and context, from left to right.
    fn score(&self, running: &RunningVariable) -> String {
        let sql = self.rows.log.dialect;
        let products: Vec<String> = coordinates(self.rows.document)
            .iter()
            .zip(&running.ladder.direction)
            .filter(|(_, coefficient)| **coefficient != 0.0)
            .map(|(coordinate, &coefficient)| match coordinate {
                Coordinate::One => sql.double(coefficient),
                Coordinate::Feature(at) => format!("{} * u_{}", sql.double(coefficient), at + 1),
                Coordinate::Level(LevelOf { feature, level }) => {
                    let (then, otherwise) = (sql.double(coefficient), sql.double(0.0));
                    format!("CASE WHEN level_{} = {level} THEN {then} ELSE {otherwise} END", feature + 1)
                }
            })
            .collect();
        products.join(" + ")
    }

    fn limits(&self) -> String {
        let sql = self.rows.log.dialect;
        let mut lines = vec![
            "arm AS arm_of_limits".to_owned(),
            "lowest".to_owned(),
            "highest".to_owned(),
            "sum(arm_rows) OVER () AS all_rows".to_owned(),
        ];
        if self.rows.document.log_columns().time.is_some() {
            let last = sql.as_double("max(last_second) OVER ()");
            let first = sql.as_double("min(first_second) OVER ()");
            let most = self.most_stretches;
            let cases = (0..DOUBLINGS).map(|doubling| {
                let length = sql.double((FIRST_LENGTH << doubling) as f64);
                format!("\n      WHEN floor({last} / {length}) - floor({first} / {length}) < {most} THEN {length}")
            });
            lines.push(format!("CASE{} END AS stretch_length", cases.collect::<String>()));
        }
        format!("{}\n  FROM option_ends", select(&lines))
    }

    fn placed(&self) -> String {
        let sql = self.rows.log.dialect;
        let used = |value: &str| format!("CASE WHEN fault = 0 THEN {value} END");
        let part = "CASE WHEN substr(row_hash, 1, 16) <= '5555555555555555' THEN 1 ELSE 0 END";
        let mut lines =
            vec!["fault".to_owned(), format!("{} AS used_arm", used("arm")), format!("{} AS part", used(part))];
        if self.rows.document.log_columns().time.is_some() {
            let place = sql.floor(&format!("{} / stretch_length", sql.as_double("row_second")));
            lines.push(format!("{} AS stretch", used(&place)));
        } else {
            lines.push("0 AS stretch".to_owned());
        }
        for (at, feature) in self.rows.document.features().iter().enumerate() {
            let name = at + 1;
            if feature.range().is_none() {
                lines.push(format!("level_{name}"));
                continue;
            }
            let middle = ONE / 2;
            let square = format!("(n_{name} - {middle}) * (n_{name} - {middle}) + {middle}");
            lines.extend([
                format!("n_{name}"),
                format!("{} AS q_{name}", sql.shifted(&square)),
                format!("band_{name}"),
            ]);
        }
        lines.extend(["steps", "reward", "row_second", "lowest", "highest", "all_rows"].map(str::to_owned));
        if self.running.is_some() {
            lines.push("z".to_owned());
        }
        format!("{}\n  FROM whole LEFT JOIN limits ON arm = arm_of_limits{}", select(&lines), sql.fence())
    }

    fn sums(&self) -> Branch {
        let sql = self.rows.log.dialect;
        let mut numbers: Vec<String> = [
            "count(*)",
            "max(all_rows)",
            "min(row_second)",
            "max(row_second)",
            "count(CASE WHEN reward = lowest THEN 1 END)",
            "count(CASE WHEN reward = highest THEN 1 END)",
            "count(CASE WHEN reward = 0 THEN 1 END)",
        ]
        .iter()
        .map(|number| sql.text_of(number))
        .collect();
        numbers.extend(["min(lowest)", "max(highest)"].map(|number| sql.text_of_double(number)));
        numbers.push(sql.text_of(&match self.jumps {
            Some(jumps) => {
                let (low, high) = jumps.span_ends();
                format!("count(CASE WHEN z < {} OR z > {} THEN 1 END)", sql.double(low), sql.double(high))
            }
            None => "0".to_owned(),
        }));
        numbers.extend(self.layout.terms[1..].iter().map(|term| self.term(*term)));
        Branch {
            comment: "The sums of each option, part and stretch; of rows that are not used, how many there are with each fault.",
            kind: "CASE WHEN fault = 0 THEN 'sums' ELSE 'rejected' END".to_owned(),
            option: "coalesce(used_arm, 0)".to_owned(),
            part: "coalesce(part, 0)".to_owned(),
            position: "CASE WHEN fault = 0 THEN stretch ELSE fault END".to_owned(),
            numbers: format!("CASE WHEN fault = 0 THEN {} ELSE {} END", sql.joined(&numbers), sql.text_of("count(*)")),
            from: "placed\nGROUP BY fault, used_arm, part, stretch".to_owned(),
        }
    }

    /// The text of a sum.
    fn term(&self, term: SumTerm) -> String {
        let sql = self.rows.log.dialect;
        let name = |variable: Variable| match variable {
            Variable::Feature(at) => format!("n_{}", at + 1),
            Variable::Square(at) => format!("q_{}", at + 1),
            Variable::Outcome => "steps".to_owned(),
        };
        let is = |LevelOf { feature, level }: LevelOf| format!("level_{} = {level}", feature + 1);
        let is_in = |BandOf { feature, band }: BandOf| format!("band_{} = {band}", feature + 1);
        let only = |when: &str, value: &str| format!("CASE WHEN {when} THEN {value} ELSE 0 END");
        let count = |when: &str| sql.text_of(&format!("count(CASE WHEN {when} THEN 1 END)"));
        match term {
            SumTerm::Rows => sql.text_of("count(*)"),
            SumTerm::Sum(variable) => sql.text_of(&format!("sum({})", name(variable))),
            SumTerm::Product(first, second) => sql.wide_sum(&format!("{} * {}", name(first), name(second))),
            SumTerm::Count(level) => count(&is(level)),
            SumTerm::SumWithin(variable, level) => sql.text_of(&format!("sum({})", only(&is(level), &name(variable)))),
            SumTerm::CountBoth(first, second) => count(&format!("{} AND {}", is(first), is(second))),
            SumTerm::SquareWithin(level) => sql.wide_sum(&only(&is(level), "steps * steps")),
            SumTerm::InBand(band) => count(&is_in(band)),
            SumTerm::OutcomeInBand(band) => sql.text_of(&format!("sum({})", only(&is_in(band), "steps"))),
            SumTerm::SquareInBand(band) => sql.wide_sum(&only(&is_in(band), "steps * steps")),
        }
    }

    fn people(&self) -> Branch {
        let sql = self.rows.log.dialect;
        let (mut columns, mut numbers) = (vec!["arm".to_owned()], vec!["priority".to_owned()]);
        columns.push("substr(row_hash, 17, 16) AS priority".to_owned());
        columns.push("outcome".to_owned());
        numbers.push(sql.text_of_double("outcome"));
        for (at, feature) in self.rows.document.features().iter().enumerate() {
            let (name, text) = match feature.kind {
                FeatureKind::Numeric { .. } => {
                    let name = format!("x_{}", at + 1);
                    (name.clone(), sql.text_of_double(&name))
                }
                FeatureKind::Levels(_) => {
                    let name = format!("level_{}", at + 1);
                    (name.clone(), sql.text_of(&name))
                }
            };
            columns.push(name);
            numbers.push(text);
        }
        let most = people_kept(self.jumps);
        Branch {
            comment: "A sample of the people: the rows with the smallest priorities, each with its priority, outcome and features.",
            kind: "'person'".to_owned(),
            option: "arm".to_owned(),
            part: "0".to_owned(),
            position: "0".to_owned(),
            numbers: sql.joined(&numbers),
            from: format!(
                "(SELECT {}\n  FROM coded WHERE fault = 0\n  ORDER BY priority LIMIT {most}) AS people",
                columns.join(", ")
            ),
        }
    }
}

/// The rows that a sample has at most: those next to the cuts are looked at one by one.
pub(super) fn people_kept(jumps: Option<&Jumps>) -> usize {
    if jumps.is_some() { ROWS_KEPT } else { SAMPLE_SIZE }
}

/// A coordinate of a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coordinate {
    One,
    /// A numeric feature.
    Feature(usize),
    Level(LevelOf),
}

/// The coordinates of a context, in order.
pub(super) fn coordinates(document: &PolicyDocument) -> Vec<Coordinate> {
    let mut all: Vec<Coordinate> = document.has_intercept().then_some(Coordinate::One).into_iter().collect();
    for (feature, described) in document.features().iter().enumerate() {
        match &described.kind {
            FeatureKind::Numeric { .. } => all.push(Coordinate::Feature(feature)),
            FeatureKind::Levels(levels) => {
                all.extend((1..levels.len()).map(|level| Coordinate::Level(LevelOf { feature, level })));
            }
        }
    }
    all
}
