//! The statement of the second reading: the squares of [`StreamedErrors`] in SQL, with the candidates' numbers in it.

use rarely_core::{ArmScores, Digest, ErrorSums, StreamedErrors};
use rarely_policy::PolicyDocument;
use sha2::{Digest as _, Sha256};

use super::checked_rows::{CheckedRows, Part, by_arm, select};
use super::error::SumsError;
use super::first_scan::{Coordinate, PROPOSES, coordinates};
use super::layout::LevelOf;
use super::reader::{read_number, read_sum};
use super::template::{Branch, statement};
use super::{Dialect, LogTable, SumsRow, check_head, refuse};
use crate::evidence_base::EvidenceBase;

/// The statement, if the rows are divided.
pub(super) fn text(log: &LogTable<'_>, base: &EvidenceBase<'_>) -> Option<String> {
    let second = base.second_reading()?;
    let errors = second.errors()?;
    let rows = CheckedRows { document: base.document, log };
    let candidates = estimable(errors);
    let scan = SecondScan { sql: log.dialect, document: base.document, rows: rows.rows(), errors, candidates };
    let mut parts = rows.parts();
    parts.push(Part::new(
        "confirming",
        "The rows that confirm: the context of each times the inverse root of its option's sums, and what its line \
         leaves.",
        scan.confirming(),
    ));
    parts.push(Part::new(
        "weighed",
        "The leverage that a row leaves, and its weight in the gain of each candidate.",
        scan.weighed(),
    ));
    parts.push(Part::new("scored", "Its score for each candidate.", scan.scored()));
    parts.push(Part::new(
        "squared",
        "The square of each score in whole numbers; NULL where a row leaves nothing.",
        scan.squared(),
    ));
    Some(statement(log, base.document, &digest(base, errors), &parts, &[scan.branch()]))
}

impl EvidenceBase<'_> {
    /// Uses the errors of the result of [`LogTable::second_scan`].
    ///
    /// # Errors
    /// [`SumsError`] if the result is of another statement, or damaged.
    pub fn with_second_scan(self, rows: impl IntoIterator<Item = SumsRow>) -> Result<Self, SumsError> {
        refuse(self.document)?;
        let Some(mut second) = self.second_reading() else { return Ok(self) };
        let Some(errors) = second.errors() else { return Ok(self) };
        let (mut is_of_candidates, mut sums) = (false, None);
        for (at, row) in rows.into_iter().enumerate() {
            let problem = |problem| SumsError::Row { row: at + 1, kind: row.kind.clone(), problem };
            match row.kind.as_str() {
                "document" => {
                    check_head(&row, &digest(&self, errors))?;
                    is_of_candidates = true;
                }
                "errors" if sums.is_none() => sums = Some(read(errors, &row.numbers).map_err(problem)?),
                "errors" => return Err(problem("is there twice".to_owned())),
                _ => return Err(problem("is none that a second statement gives".to_owned())),
            }
        }
        let missing = |kind: &str| SumsError::Incomplete(format!("the row of kind {kind:?} is missing"));
        if !is_of_candidates {
            return Err(missing("document"));
        }
        let sums = sums.ok_or_else(|| missing("errors"))?;
        let expected = self.confirming().map_or(0, |part| part.fit.cases());
        if sums.rows != expected {
            return Err(SumsError::Changed { expected, found: sums.rows });
        }
        // There is a sum for each candidate.
        let _ = second.add_sums(&sums);
        Ok(self.with_second_reading(second))
    }
}

/// The numbers of a row of kind `errors`: the rows, then the sum and the rows of full leverage of every candidate that has an error.
fn read(errors: &StreamedErrors, numbers: &str) -> Result<ErrorSums, String> {
    let mut texts = numbers.split(',');
    let mut next = || texts.next().ok_or("has too few numbers: some are NULL, or it was cut off");
    let rows = read_number::<u64>(next()?)?;
    let mut sums: Vec<Option<i128>> = vec![None; errors.sums().sums.len()];
    for candidate in estimable(errors) {
        let (sum, full) = (read_sum(next()?, rows)?, read_number::<u64>(next()?)?);
        if sum < 0 {
            return Err("has a sum of squares below 0".to_owned());
        }
        sums[candidate] = (full == 0).then_some(sum);
    }
    if texts.next().is_some() { Err("has too many numbers".to_owned()) } else { Ok(ErrorSums { rows, sums }) }
}

/// The candidates whose gains have an error.
fn estimable(errors: &StreamedErrors) -> Vec<usize> {
    (0..errors.sums().sums.len()).filter(|&candidate| errors.unit(candidate).is_ok()).collect()
}

/// What a result of the second statement depends on.
fn digest(base: &EvidenceBase<'_>, errors: &StreamedErrors) -> String {
    let units: Vec<Option<f64>> = (0..errors.sums().sums.len()).map(|candidate| errors.unit(candidate).ok()).collect();
    let text = format!("{} {:?} {units:?}", base.digest(), errors.arms());
    Digest(Sha256::digest(text).into()).to_string()
}

struct SecondScan<'a> {
    sql: Dialect,
    document: &'a PolicyDocument,
    /// The part that has the rows.
    rows: &'static str,
    errors: &'a StreamedErrors,
    candidates: Vec<usize>,
}

impl SecondScan<'_> {
    fn dimension(&self) -> usize {
        self.document.shape().dimension()
    }

    /// An expression of each option that a candidate concerns; 0 for the others.
    fn of_arms(&self, expression: impl Fn(&ArmScores) -> String) -> String {
        let zero = self.sql.double(0.0);
        by_arm(self.errors.arms().iter().map(|arm| arm.as_ref().map_or_else(|| zero.clone(), &expression)))
    }

    /// The dot product of numbers with the context, from left to right.
    fn with_context(&self, numbers: &[f64]) -> String {
        let products = numbers.iter().zip(coordinates(self.document)).filter(|(number, _)| **number != 0.0);
        let product = |(&number, coordinate): (&f64, Coordinate)| {
            let number = self.sql.double(number);
            match coordinate {
                Coordinate::One => number,
                Coordinate::Feature(at) => format!("{number} * u_{}", at + 1),
                Coordinate::Level(LevelOf { feature, level }) => {
                    format!("CASE WHEN level_{} = {level} THEN {number} ELSE {} END", feature + 1, self.sql.double(0.0))
                }
            }
        };
        self.sum(products.map(product))
    }

    /// A sum from left to right.
    fn sum(&self, terms: impl Iterator<Item = String>) -> String {
        let terms: Vec<String> = terms.collect();
        if terms.is_empty() { self.sql.double(0.0) } else { terms.join(" + ") }
    }

    fn confirming(&self) -> String {
        let mut lines = vec!["arm".to_owned()];
        let residual = self.of_arms(|arm| format!("reward - ({})", self.with_context(&arm.estimate)));
        lines.push(format!("{residual} AS residual"));
        for at in 0..self.dimension() {
            let whitened = self.of_arms(|arm| self.with_context(&arm.inverse_root[at]));
            lines.push(format!("{whitened} AS b_{}", at + 1));
        }
        format!("{}\n  FROM {} WHERE fault = 0 AND NOT {PROPOSES}{}", select(&lines), self.rows, self.sql.fence())
    }

    fn weighed(&self) -> String {
        let squares = (1..=self.dimension()).map(|at| format!("b_{at} * b_{at}"));
        let left = format!("{} - ({}) AS left_over", self.sql.double(1.0), self.sum(squares));
        let mut lines = vec!["residual".to_owned(), left];
        for &candidate in &self.candidates {
            let weight = self.of_arms(|arm| {
                let direction = arm.directions.iter().find(|(of, _)| *of == candidate);
                let numbers = direction.map_or(&[][..], |(_, numbers)| numbers);
                let products = numbers.iter().enumerate().filter(|(_, number)| **number != 0.0);
                self.sum(products.map(|(at, &number)| format!("b_{} * {}", at + 1, self.sql.double(number))))
            });
            lines.push(format!("{weight} AS weight_{}", candidate + 1));
        }
        format!("{}\n  FROM confirming{}", select(&lines), self.sql.fence())
    }

    fn scored(&self) -> String {
        let full = self.sql.double(StreamedErrors::FULL_LEVERAGE);
        let mut lines = Vec::new();
        for candidate in self.candidates.iter().map(|candidate| candidate + 1) {
            let weight = format!("weight_{candidate}");
            lines.push(format!(
                "CASE WHEN {weight} = 0 THEN {} WHEN left_over > {full} THEN {weight} * residual / left_over END AS score_{candidate}",
                self.sql.double(0.0)
            ));
        }
        if lines.is_empty() {
            lines.push("residual".to_owned());
        }
        format!("{}\n  FROM weighed{}", select(&lines), self.sql.fence())
    }

    fn squared(&self) -> String {
        let (scale, half) = (self.sql.double(StreamedErrors::SCALE), self.sql.double(0.5));
        let largest = self.sql.double(StreamedErrors::LARGEST);
        let mut lines = Vec::new();
        for &candidate in &self.candidates {
            let Ok(unit) = self.errors.unit(candidate) else { continue };
            let at = candidate + 1;
            let square = format!("score_{at} * score_{at} / {} * {scale} + {half}", self.sql.double(unit));
            let whole = self.sql.floor(&format!("least({square}, {largest})"));
            lines.push(format!(
                "CASE WHEN score_{at} = 0 THEN 0 WHEN score_{at} IS NOT NULL THEN {whole} END AS square_{at}"
            ));
        }
        if lines.is_empty() {
            lines.push("0 AS square_0".to_owned());
        }
        format!("{}\n  FROM scored{}", select(&lines), self.sql.fence())
    }

    fn branch(&self) -> Branch {
        let mut numbers = vec![self.sql.text_of("count(*)")];
        for candidate in self.candidates.iter().map(|candidate| candidate + 1) {
            numbers.push(self.sql.wide_sum(&format!("coalesce(square_{candidate}, 0)")));
            numbers.push(self.sql.text_of(&self.sql.count_where(&format!("square_{candidate} IS NULL"))));
        }
        Branch {
            comment: "The rows, then of each candidate the sum of squares and the rows that leave nothing.",
            kind: "'errors'".to_owned(),
            option: "0".to_owned(),
            part: "0".to_owned(),
            position: "0".to_owned(),
            numbers: self.sql.joined(&numbers),
            from: "squared".to_owned(),
        }
    }
}
