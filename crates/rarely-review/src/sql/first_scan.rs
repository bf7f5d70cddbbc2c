//! The statement that computes what a review needs of a log: [`crate::Tally`] in SQL. Every arithmetic operation is that of our reader, in the
//! same order, so that every bit of every sum is the same.

use rarely_policy::{Feature, FeatureKind, Missing, MissingCounts, PolicyDocument};

use super::checked_rows::{CheckedRows, Fault, Gap, Part, by_arm, fault_number, gaps, select};
use super::layout::{BandOf, LevelOf, SumTerm, SumsLayout, Variable};
use super::template::{Branch, statement};
use super::{Dialect, LogTable};
use crate::bands::Bands;
use crate::fixed_point::ONE;
use crate::jump::Jumps;
use crate::running_variable::RunningVariable;
use crate::stretch_sums::{FIRST_LENGTH, Stretches};
use crate::tally::{Tally, bent_features, reward_grids};

/// Doublings of the length of a stretch until two of them hold all of the calendar.
const DOUBLINGS: u32 = 34;

/// The outcome of a row that is dropped.
pub(super) const LOST: &str = "lost_steps";

const OPTION_ENDS: &str = "SELECT used_arm AS arm_of_limits, sum(group_rows) AS arm_rows, min(group_lowest) AS lowest,
    max(group_highest) AS highest, min(group_first) AS first_second, max(group_last) AS last_second
  FROM surveyed WHERE fault = 0 AND cut = 0 GROUP BY used_arm";

/// Rows whose hash is in the first third propose a change.
pub(super) const PROPOSES: &str = "row_hash < '5555555555555556'";
/// What sums are grouped by.
pub(super) const GROUP: &str = "used_arm, part, stretch";

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
        parts.push(Part::new(
            "whole",
            "Whole numbers in place of real ones, and the running variable z of the rule.",
            self.whole(),
        ));
        parts.extend(self.survey_parts());
        parts.push(Part::new(
            "option_ends",
            "The lowest and the highest reward of each option, and the first and the last second.",
            OPTION_ENDS.to_owned(),
        ));
        parts.push(Part::new(
            "limits",
            "The same with the length of a stretch of time: the shortest for which there are not too many stretches.",
            self.limits(),
        ));
        parts.push(Part::new(
            "placed",
            "Every row that is used, with its part (1 proposes a change, 0 confirms it) and its stretch of time.",
            self.placed(),
        ));
        let mut branches = vec![self.survey()];
        branches.extend(self.missing());
        if self.dialect().stores_parts() {
            parts.push(
                Part::new(
                    "grouped",
                    "The sums of each option, part and stretch, and its people of the sample.",
                    self.grouped(),
                )
                .stored(),
            );
        }
        branches.extend([self.sums(), self.people()]);
        statement(self.rows.log, self.rows.document, digest, &parts, &branches)
    }

    pub(super) fn dialect(&self) -> Dialect {
        self.rows.log.dialect
    }

    pub(super) fn document(&self) -> &PolicyDocument {
        self.rows.document
    }

    pub(super) fn jumps(&self) -> Option<&Jumps> {
        self.jumps
    }

    pub(super) fn has_cuts(&self) -> bool {
        self.jumps.is_some_and(|jumps| jumps.cuts().len() > 0)
    }

    /// The whole number nearest to `value`, ties up, in double precision.
    pub(super) fn rounded(&self, value: &str) -> String {
        format!("floor({value} + {})", self.dialect().double(0.5))
    }

    /// The product of two whole numbers in double precision, rounded back to 26 bits: every step is exact below 2⁵³.
    pub(super) fn times(&self, one: &str, other: &str) -> String {
        let sql = self.dialect();
        let (half, step) = (sql.double((ONE / 2) as f64), sql.double(1.0 / ONE as f64));
        format!("floor(({one} * {other} + {half}) * {step})")
    }

    fn whole(&self) -> String {
        let sql = self.rows.log.dialect;
        let one = sql.double(ONE as f64);
        let mut lines: Vec<String> = ["fault", "reward", "row_second", "row_hash"].map(str::to_owned).into();
        if self.has_gaps() {
            lines.push(format!("CASE WHEN fault = 0 OR {} THEN arm END AS used_arm", self.is_dropped()));
            lines.extend(self.gap_columns().into_iter().filter(|column| column != LOST));
            lines.push(format!("{} AS {LOST}", self.lost()));
        } else {
            lines.push("CASE WHEN fault = 0 THEN arm END AS used_arm".to_owned());
        }
        if sql.stores_parts() {
            lines.extend(self.person_columns());
        }
        for (at, feature) in self.rows.document.features().iter().enumerate() {
            let name = at + 1;
            if feature.range().is_none() {
                lines.push(format!("level_{name}"));
                continue;
            }
            lines.push(format!("{} AS d_{name}", self.rounded(&format!("u_{name} * {one}"))));
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
        format!("{}\n  FROM {}{}", select(&lines), self.rows.rows(), sql.fence())
    }

    /// Whether values may be missing.
    pub(super) fn has_gaps(&self) -> bool {
        !gaps(self.rows.document).is_empty()
    }

    /// Whether the document drops a row.
    pub(super) fn is_dropped(&self) -> String {
        let number = |fault: Fault| fault_number(self.rows.document, fault);
        format!("fault IN ({}, {})", number(Fault::Dropped), number(Fault::DroppedForKey))
    }

    /// The columns that say what a row lacks, and the outcome of one that is dropped.
    pub(super) fn gap_columns(&self) -> Vec<String> {
        if !self.has_gaps() {
            return Vec::new();
        }
        gaps(self.rows.document).into_iter().map(Gap::name).chain([LOST.to_owned()]).collect()
    }

    /// The outcome of a row that is dropped, as a whole number; `NULL` in rows without an option.
    fn lost(&self) -> String {
        let sql = self.rows.log.dialect;
        let (start, step) = MissingCounts::grid(self.rows.document);
        let steps = self.rounded(&format!("(outcome - {}) / {}", sql.double(start), sql.double(step)));
        format!("CASE WHEN {} AND arm IS NOT NULL THEN {} END", self.is_dropped(), sql.whole(&steps))
    }

    /// The running variable: the sum of the products of coefficients and context, from left to right. `NULL` where a number is missing, which
    /// only counts as the middle of its range.
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
        let sum = products.join(" + ");
        let is_indicated = |(_, feature): &(usize, &Feature)| feature.missing() == Missing::Indicator;
        let indicated = self.rows.document.feature_columns().iter().enumerate().filter(is_indicated);
        let known: Vec<String> = indicated.map(|(at, _)| format!("{} = 0", Gap::Feature(at).name())).collect();
        if known.is_empty() { sum } else { format!("CASE WHEN {} THEN {sum} END", known.join(" AND ")) }
    }

    fn limits(&self) -> String {
        let sql = self.rows.log.dialect;
        let mut lines: Vec<String> = ["arm_of_limits", "lowest", "highest"].map(str::to_owned).into();
        lines.push("sum(arm_rows) OVER () AS all_rows".to_owned());
        if sql.stores_parts() {
            lines.push(self.sample_below());
        }
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
        let mut lines = vec!["used_arm".to_owned(), format!("CASE WHEN {PROPOSES} THEN 1 ELSE 0 END AS part")];
        if self.rows.document.log_columns().time.is_some() {
            let place = sql.floor(&format!("{} / stretch_length", sql.as_double("row_second")));
            lines.push(format!("{place} AS stretch"));
        } else {
            lines.push("0 AS stretch".to_owned());
        }
        for (at, feature) in self.rows.document.features().iter().enumerate() {
            let name = at + 1;
            if feature.range().is_none() {
                lines.push(format!("level_{name}"));
                continue;
            }
            lines.push(format!("{} AS n_{name}", sql.whole(&format!("d_{name}"))));
            if bent_features(self.rows.document).any(|bent| bent == at) {
                let centred = format!("(d_{name} - {})", sql.double((ONE / 2) as f64));
                lines.push(format!("{} AS q_{name}", sql.whole(&self.times(&centred, &centred))));
            }
            if self.bands.cells(at).is_some() {
                lines.push(format!("band_{name}"));
            }
        }
        lines.push(format!("{} AS y", sql.whole("steps")));
        lines.extend(["reward", "row_second", "lowest", "highest", "all_rows"].map(str::to_owned));
        if self.running.is_some() {
            lines.push("z".to_owned());
        }
        if sql.stores_parts() {
            lines.push(self.person());
        }
        let used = if self.has_gaps() { "\n  WHERE fault = 0" } else { "" };
        format!("{}\n  FROM whole JOIN limits ON used_arm = arm_of_limits{used}{}", select(&lines), sql.fence())
    }

    /// The sums of a group, as a text.
    pub(super) fn group_numbers(&self) -> String {
        let sql = self.rows.log.dialect;
        let mut numbers: Vec<String> = ["count(*)", "max(all_rows)", "min(row_second)", "max(row_second)"]
            .iter()
            .map(|number| sql.text_of(number))
            .collect();
        let conditions = ["reward = lowest", "reward = highest", "reward = 0"];
        numbers.extend(conditions.map(|condition| sql.text_of(&sql.count_where(condition))));
        numbers.extend(["min(lowest)", "max(highest)"].map(|number| sql.text_of_double(number)));
        numbers.push(sql.text_of(&match self.jumps {
            Some(jumps) => {
                let (low, high) = jumps.span_ends();
                // A count of a condition that is never known is NULL in some engines.
                let known = if self.has_gaps() { "z IS NOT NULL AND " } else { "" };
                sql.count_where(&format!("{known}(z < {} OR z > {})", sql.double(low), sql.double(high)))
            }
            None => "0".to_owned(),
        }));
        numbers.push(sql.text_of(if self.running.is_some() { "count(*) - count(z)" } else { "0" }));
        numbers.extend(self.layout.terms[1..].iter().map(|term| self.term(*term)));
        sql.joined(&numbers)
    }

    fn sums(&self) -> Branch {
        let (numbers, from) = if self.dialect().stores_parts() {
            ("numbers".to_owned(), "grouped".to_owned())
        } else {
            (self.group_numbers(), format!("placed\nGROUP BY {GROUP}"))
        };
        Branch {
            comment: "The sums of each option, part and stretch.",
            kind: "'sums'".to_owned(),
            option: "used_arm".to_owned(),
            part: "part".to_owned(),
            position: "stretch".to_owned(),
            numbers,
            from,
        }
    }

    /// The text of a sum.
    fn term(&self, term: SumTerm) -> String {
        let sql = self.rows.log.dialect;
        let name = |variable: Variable| match variable {
            Variable::Feature(at) => format!("n_{}", at + 1),
            Variable::Square(at) => format!("q_{}", at + 1),
            Variable::Outcome => "y".to_owned(),
        };
        let is = |LevelOf { feature, level }: LevelOf| format!("level_{} = {level}", feature + 1);
        let is_in = |BandOf { feature, band }: BandOf| format!("band_{} = {band}", feature + 1);
        let sum_within = |when: &str, value: &str| format!("coalesce(sum(CASE WHEN {when} THEN {value} END), 0)");
        let only = |when: &str, value: &str| format!("CASE WHEN {when} THEN {value} ELSE 0 END");
        let count = |when: &str| sql.text_of(&sql.count_where(when));
        match term {
            SumTerm::Rows => sql.text_of("count(*)"),
            SumTerm::Sum(variable) => sql.text_of(&format!("sum({})", name(variable))),
            SumTerm::Product(first, second) => sql.wide_sum(&format!("{} * {}", name(first), name(second))),
            SumTerm::Count(level) => count(&is(level)),
            SumTerm::SumWithin(variable, level) => sql.text_of(&sum_within(&is(level), &name(variable))),
            SumTerm::CountBoth(first, second) => count(&format!("{} AND {}", is(first), is(second))),
            SumTerm::SquareWithin(level) => sql.wide_sum(&only(&is(level), "y * y")),
            SumTerm::InBand(band) => count(&is_in(band)),
            SumTerm::OutcomeInBand(band) => sql.text_of(&sum_within(&is_in(band), "y")),
            SumTerm::SquareInBand(band) => sql.wide_sum(&only(&is_in(band), "y * y")),
        }
    }
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
