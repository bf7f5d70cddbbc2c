//! Reads the result of the first statement into the tally that our reader would have made of the same rows.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use rarely_core::{Arm, OutcomeEnds};
use rarely_policy::{Encoder, FeatureKind, FieldValue, MissingCounts, PolicyDocument};

use super::checked_rows::{Fault, Gap, faults, gaps};
use super::error::SumsError;
use super::layout::SumsLayout;
use super::sample_scan::people_kept;
use super::{SumsRow, first_digest, refuse};
use crate::bands::Bands;
use crate::fixed_point::ONE;
use crate::jump::PowerSums;
use crate::moments::Moments;
use crate::stretch_sums::PartSums;
use crate::tally::Tally;

/// Numbers before the sums of a row of kind `sums`.
const HEAD: usize = 11;
/// Numbers of a row of kind `jump` of the option that the rule gives.
const POWERS: usize = 18;
/// Rows up to which two sums of 64 bits hold a sum of products.
const MOST_ROWS: u64 = 1 << 36;

/// What an engine found in a log.
#[derive(Debug, Clone, PartialEq)]
pub struct SummedLog {
    /// The statistics of the rows that can be used; the others are counted in it.
    pub tally: Tally,
    /// Rows whose outcome is not known yet. They are not counted as rejected.
    pub waiting: u64,
    /// Rows that cannot be used, by the reason.
    pub rejected: Vec<RejectedRows>,
}

/// Rows that cannot be used for one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RejectedRows {
    /// The reason, in words.
    pub reason: String,
    /// How many there are.
    pub rows: u64,
}

impl fmt::Display for RejectedRows {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", counted(self.rows), self.reason)
    }
}

impl SummedLog {
    /// Reads the result of [`LogTable::first_scan`](super::LogTable::first_scan), whose rows may come in any order.
    ///
    /// # Errors
    /// [`SumsError`] if the document cannot be reviewed by sums, or the result is of another one, incomplete or damaged.
    pub fn read(document: &PolicyDocument, rows: impl IntoIterator<Item = SumsRow>) -> Result<Self, SumsError> {
        refuse(document)?;
        let mut reader = Reader::new(document);
        for (at, row) in rows.into_iter().enumerate() {
            let SumsRow { kind, .. } = &row;
            let problem = |problem| SumsError::Row { row: at + 1, kind: kind.clone(), problem };
            match kind.as_str() {
                "document" => reader.document_row(&row)?,
                "sums" => reader.sums(&row).map_err(problem)?,
                "jump" => reader.jump(&row).map_err(problem)?,
                "person" => reader.person(&row).map_err(problem)?,
                "rejected" => reader.rejected(&row).map_err(problem)?,
                "missing" => reader.missing_row(&row).map_err(problem)?,
                _ => return Err(problem("is none that a first statement gives".to_owned())),
            }
        }
        reader.finish()
    }

    /// Checks that not more rows than these cannot be used.
    ///
    /// # Errors
    /// [`SumsError::Rejected`] if there are more.
    pub fn check_rejected(&self, limit: u64) -> Result<(), SumsError> {
        let rows = self.tally.rejected();
        if rows <= limit {
            return Ok(());
        }
        let reasons: Vec<String> = self.rejected.iter().map(ToString::to_string).collect();
        Err(SumsError::Rejected { rows: counted(rows), reasons: reasons.join("; ") })
    }
}

struct Reader<'a> {
    document: &'a PolicyDocument,
    encoder: Encoder,
    layout: SumsLayout,
    log: SummedLog,
    faults: Vec<Fault>,
    gaps: Vec<Gap>,
    missing: MissingCounts,
    is_of_document: bool,
    /// The places that were read, so that none counts twice.
    seen: BTreeSet<(bool, i64, i64, i64)>,
    /// All rows, as every row of sums says.
    all_rows: Option<u64>,
    /// Rows in the bins of each cut.
    in_bins: Vec<u64>,
    /// Rows that are nowhere along the running variable.
    without_place: u64,
    people: usize,
}

impl<'a> Reader<'a> {
    fn new(document: &'a PolicyDocument) -> Self {
        let tally = Tally::keeping_rows(document);
        let cuts = tally.jumps().map_or(0, |jumps| jumps.cuts().len());
        Self {
            document,
            encoder: document.encoder(),
            layout: SumsLayout::new(document, &Bands::of(document)),
            log: SummedLog { tally, waiting: 0, rejected: Vec::new() },
            faults: faults(document),
            gaps: gaps(document),
            missing: MissingCounts::new(document),
            is_of_document: false,
            seen: BTreeSet::new(),
            all_rows: None,
            in_bins: vec![0; cuts],
            without_place: 0,
            people: 0,
        }
    }

    fn document_row(&mut self, row: &SumsRow) -> Result<(), SumsError> {
        super::check_head(row, &first_digest(self.document))?;
        self.is_of_document = true;
        Ok(())
    }

    fn sums(&mut self, row: &SumsRow) -> Result<(), String> {
        let texts: Vec<&str> = row.numbers.split(',').collect();
        expect_length(texts.len(), HEAD - 1 + self.layout.terms.len())?;
        let (arm, proposes) = (self.arm(row.option)?, part(row.part)?);
        self.once((true, row.option, row.part, row.position))?;
        let count = |at: usize| read_number::<u64>(texts[at]);
        let (rows, all_rows, outside) = (count(0)?, count(1)?, count(9)?);
        self.without_place = self.without_place.saturating_add(count(10)?);
        let (first, last) = (read_number::<i64>(texts[2])?, read_number::<i64>(texts[3])?);
        if *self.all_rows.get_or_insert(all_rows) != all_rows || rows == 0 || rows > all_rows {
            return Err("does not fit the number of all rows".to_owned());
        }
        if first > last {
            return Err("ends before it begins".to_owned());
        }
        let outcomes = OutcomeEnds::counted(
            rows,
            count(6)?,
            (read_double(texts[7])?, count(4)?),
            (read_double(texts[8])?, count(5)?),
        );
        let outcomes = outcomes.ok_or("counts more outcomes than rows")?;
        let mut sums = vec![i128::from(rows)];
        for text in &texts[HEAD..] {
            sums.push(read_sum(text, all_rows)?);
        }
        let (triangle, bands) = (self.layout.triangle(&sums), self.layout.bands(&sums));
        let (triangle, (bands, band_outcomes)) = triangle.zip(bands).ok_or("has sums that do not fit together")?;
        let part = |like: &Moments| Some(PartSums { moments: like.of_sums(rows, triangle)?, outcomes });
        let part = part(&self.log.tally.options()[arm.index()]).ok_or("has sums that are not possible")?;
        self.log.tally.add_part(arm, proposes, (first, last), part, (&bands, &band_outcomes, outside));
        Ok(())
    }

    fn jump(&mut self, row: &SumsRow) -> Result<(), String> {
        let texts: Vec<&str> = row.numbers.split(',').collect();
        let arm = self.arm(row.option)?;
        self.once((false, row.option, row.part, row.position))?;
        let rows = read_number::<u64>(texts[0])?;
        let cut = usize::try_from(row.part).ok().filter(|&cut| cut < self.in_bins.len());
        let cut = cut.ok_or("is about a cut that the rule does not have")?;
        let powers = if texts.len() == 1 { None } else { Some(read_powers(&texts)?) };
        let jumps = self.log.tally.jumps_mut().ok_or("is about a cut, and the rule has none")?;
        if !jumps.set_bin(cut, row.position, arm.index(), rows, powers.as_ref()) {
            return Err("is about a bin that the cut does not have, or lacks its sums".to_owned());
        }
        self.in_bins[cut] = self.in_bins[cut].saturating_add(rows);
        Ok(())
    }

    fn person(&mut self, row: &SumsRow) -> Result<(), String> {
        let texts: Vec<&str> = row.numbers.split(',').collect();
        expect_length(texts.len(), 2 + self.document.feature_columns().len())?;
        let arm = self.arm(row.option)?;
        let priority = u64::from_str_radix(texts[0], 16).ok().filter(|_| texts[0].len() == 16);
        let priority =
            priority.ok_or_else(|| format!("has {:?} where a priority of 16 digits is expected", texts[0]))?;
        let outcome = FieldValue::Number(read_double(texts[1])?);
        let reward = self.encoder.outcome(outcome).map_err(|error| format!("has a wrong outcome: {error}"))?;
        let mut context = self.encoder.blank();
        for (at, (feature, text)) in self.document.feature_columns().iter().zip(&texts[2..]).enumerate() {
            let value = match &feature.kind {
                FeatureKind::Numeric { .. } if text.is_empty() => FieldValue::Missing,
                FeatureKind::Numeric { .. } => FieldValue::Number(read_double(text)?),
                FeatureKind::Levels(levels) => {
                    let level = read_number::<usize>(text).ok().and_then(|level| levels.get(level));
                    FieldValue::Text(level.ok_or_else(|| format!("has level {text:?} of {}", feature.column))?)
                }
            };
            let encoded = self.encoder.feature(at, value, &mut context);
            encoded.map_err(|error| format!("has a wrong feature: {error}"))?;
        }
        self.encoder.derive(&mut context);
        self.people += 1;
        self.log.tally.add_person(priority, &context, arm, reward - self.encoder.cost(arm));
        Ok(())
    }

    fn rejected(&mut self, row: &SumsRow) -> Result<(), String> {
        let rows = read_number::<u64>(&row.numbers)?;
        let fault = usize::try_from(row.position).ok().and_then(|number| self.faults.get(number.checked_sub(1)?));
        let fault = *fault.ok_or("has an unknown reason")?;
        match fault {
            Fault::Waiting => {
                self.log.waiting += rows;
                return Ok(());
            }
            // They are counted by what they lack.
            Fault::Dropped | Fault::DroppedForKey => return Ok(()),
            _ => {}
        }
        self.log.tally.reject(rows);
        self.log.rejected.push(RejectedRows { reason: reason(self.document, fault), rows });
        Ok(())
    }

    fn missing_row(&mut self, row: &SumsRow) -> Result<(), String> {
        let texts: Vec<&str> = row.numbers.split(',').collect();
        expect_length(texts.len(), 4 + self.gaps.len())?;
        let is_optionless = usize::try_from(row.option).is_ok_and(|option| option == self.document.options().len());
        let arm = if is_optionless { None } else { Some(self.arm(row.option)?) };
        let rows = read_number::<u64>(texts[0])?;
        for (gap, text) in self.gaps.iter().zip(&texts[1..]) {
            self.missing.add_rows(gap.column(self.document), arm, read_number(text)?);
        }
        if row.position == 0 {
            return Ok(());
        }
        let fault = usize::try_from(row.position).ok().and_then(|number| self.faults.get(number.checked_sub(1)?));
        if fault == Some(&Fault::DroppedForKey) {
            self.missing.add_rows(self.document.log_columns().key.as_deref().unwrap_or_default(), arm, rows);
        }
        let [known, sum, squares] = [0, 1, 2].map(|at| texts[1 + self.gaps.len() + at]);
        let (known, sum, squares) = (read_number::<u64>(known)?, read_sum(sum, rows)?, read_sum(squares, rows)?);
        let without = rows.checked_sub(known).ok_or("has more outcomes than rows")?;
        self.missing.drop_rows(arm, (known, sum, squares), without);
        Ok(())
    }

    fn finish(mut self) -> Result<SummedLog, SumsError> {
        let incomplete = |problem: String| Err(SumsError::Incomplete(problem));
        if !self.is_of_document {
            return incomplete("the row of kind \"document\" is missing".to_owned());
        }
        let (found, expected) = (self.log.tally.rows(), self.all_rows.unwrap_or(0));
        if found != expected {
            return incomplete(format!("rows of kind \"sums\" are missing: they hold {found} of {expected} rows"));
        }
        let needed = expected.min(people_kept(self.log.tally.jumps()) as u64);
        if (self.people as u64) < needed {
            self.log.tally.check_keys(self.document)?;
            let found = self.people;
            return incomplete(format!(
                "{found} of {needed} rows of kind \"person\" are there; there are too few also where most rows share their key"
            ));
        }
        let outside = self.log.tally.jumps().map_or(0, crate::Jumps::outside);
        let elsewhere = outside.saturating_add(self.without_place);
        if self.in_bins.iter().any(|rows| rows.checked_add(elsewhere) != Some(expected)) {
            return incomplete("rows of kind \"jump\" are missing".to_owned());
        }
        self.log.rejected.sort_by(|one, other| one.reason.cmp(&other.reason));
        self.log.tally.add_missing(&self.missing);
        self.log.tally.name_source();
        Ok(self.log)
    }

    fn arm(&self, option: i64) -> Result<Arm, String> {
        let known = usize::try_from(option).ok().filter(|&arm| arm < self.document.options().len());
        known.map(Arm::new).ok_or_else(|| format!("is about option {option}, which there is not"))
    }

    fn once(&mut self, place: (bool, i64, i64, i64)) -> Result<(), String> {
        if self.seen.insert(place) { Ok(()) } else { Err("is there twice".to_owned()) }
    }
}

fn counted(rows: u64) -> String {
    if rows == 1 { "1 row".to_owned() } else { format!("{rows} rows") }
}

/// Why rows are not used, in words.
fn reason(document: &PolicyDocument, fault: Fault) -> String {
    let feature = |at: usize| &document.features()[at];
    match fault {
        Fault::Waiting => "the outcome is not known yet".to_owned(),
        Fault::Missing(at) if feature(at).range().is_some() => {
            format!("{:?} is missing or not a number", feature(at).column)
        }
        Fault::Missing(at) => format!("{:?} is missing", feature(at).column),
        Fault::NotAllowed(at) => match feature(at).range() {
            Some((low, high)) => format!("{:?} is outside {low} to {high}", feature(at).column),
            None => format!("{:?} has an unknown level", feature(at).column),
        },
        Fault::Outcome => format!("{:?} is outside its range or not a number", document.outcome().column),
        Fault::Option => format!("{:?} is missing or no option of the policy", document.option_column()),
        Fault::Key => format!("{:?}, the key, is missing", document.log_columns().key.as_deref().unwrap_or_default()),
        Fault::Time => {
            format!("{:?}, the time, is missing", document.log_columns().time.as_deref().unwrap_or_default())
        }
        Fault::Dropped | Fault::DroppedForKey => "a value is missing, and the document drops such rows".to_owned(),
    }
}

fn part(part: i64) -> Result<bool, String> {
    match part {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(format!("is about part {part}, which there is not")),
    }
}

fn expect_length(found: usize, expected: usize) -> Result<(), String> {
    if found == expected {
        return Ok(());
    }
    Err(format!("has {found} numbers where {expected} are expected: some are NULL, or it was cut off"))
}

pub(super) fn read_number<T: FromStr>(text: &str) -> Result<T, String> {
    text.trim().parse().map_err(|_| format!("has {text:?} where a whole number is expected"))
}

fn read_double(text: &str) -> Result<f64, String> {
    let finite = text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    finite.ok_or_else(|| format!("has {text:?} where a number is expected"))
}

/// A sum, or the sums of the parts above and below 2²⁶ of its terms.
pub(super) fn read_sum(text: &str, rows: u64) -> Result<i128, String> {
    let Some((high, low)) = text.split_once(':') else { return read_number(text) };
    if rows > MOST_ROWS {
        return Err(format!("is about more than {MOST_ROWS} rows, which its sums of 64 bits cannot hold"));
    }
    let (high, low) = (read_number::<i64>(high)?, read_number::<i64>(low)?);
    Ok(i128::from(high) * i128::from(ONE) + i128::from(low))
}

/// The sums of powers of a bin, in the order of `jump/half.rs`.
fn read_powers(texts: &[&str]) -> Result<PowerSums, String> {
    expect_length(texts.len(), POWERS)?;
    let mut powers = [0; POWERS - 1];
    for (at, (power, text)) in powers.iter_mut().zip(&texts[1..]).enumerate() {
        let sum = read_sum(text, 0)?;
        // The power 0 with the outcome and with its square: these are sent without their factor.
        *power = if matches!(at, 6 | 12) { sum * i128::from(ONE) } else { sum };
    }
    Ok(powers)
}
