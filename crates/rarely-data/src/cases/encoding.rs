//! How the columns of a row become a case.

use rarely_core::Arm;
use rarely_policy::{Encoder, Feature, FeatureKind, FieldValue, Missing, PolicyDocument, RowMissing, ValueError};

use super::gaps::RowGaps;
use super::row_columns::RowColumns;
use super::{Columns, LoggedCase};
use crate::log::{RowFields, Values, WantedColumn, WantedKind};
use crate::{LogRow, Rejection};

/// The meaning of each wanted column: the features come first, then the outcome and the option.
pub(super) struct Encoding {
    pub(super) encoder: Encoder,
    features: Vec<Short>,
    row_columns: RowColumns,
    pub(super) time: Option<usize>,
    pub(super) time_in_seconds: bool,
    /// The names of the columns, and empty counts.
    pub(super) gaps: RowGaps,
    /// −1 where lower outcomes are better.
    sign: f64,
}

/// A fast path for a feature.
enum Short {
    /// A number in its range, as nearly all are. It is scaled here as by [`Encoder::feature`], which handles every case and takes
    /// three times as long.
    Number { at: usize, low: f64, high: f64 },
    /// No fast path.
    Word,
}

impl Encoding {
    pub(super) fn new(document: &PolicyDocument) -> Self {
        let features = document.feature_columns().iter().enumerate().map(|(index, feature)| match feature.kind {
            // An indicator must be set back.
            _ if feature.missing() == Missing::Indicator => Short::Word,
            FeatureKind::Numeric { low, high, .. } => Short::Number { at: document.offset(index), low, high },
            FeatureKind::Levels(_) => Short::Word,
        });
        Self {
            encoder: document.encoder(),
            features: features.collect(),
            row_columns: RowColumns::default(),
            time: None,
            time_in_seconds: false,
            gaps: RowGaps::new(document),
            sign: document.outcome_sign(),
        }
    }

    /// With the names of the wanted columns.
    pub(super) fn of_cases(document: &PolicyDocument, columns: &Columns) -> (Self, Vec<WantedColumn>) {
        let encoding = Self::new(document);
        let mut wanted = wanted_features(document);
        wanted.push(WantedColumn::new(&document.outcome().column, WantedKind::Number));
        wanted.push(WantedColumn::new(&columns.option, WantedKind::Code));
        let row_columns = RowColumns::new(columns, &encoding.encoder, document.options().len(), &mut wanted);
        let time = columns.time.as_ref().map(|column| {
            wanted.push(WantedColumn::new(column, WantedKind::Word));
            wanted.len() - 1
        });
        let gaps =
            RowGaps { names: wanted.iter().map(|column| column.name.clone()).collect(), ..encoding.gaps.clone() };
        (Self { row_columns, time, time_in_seconds: columns.time_in_seconds, gaps, ..encoding }, wanted)
    }

    /// Writes a record's features into a context; false if the record is dropped.
    pub(super) fn read_context(
        &self,
        record: &LogRow<'_>,
        context: &mut [f64],
        gaps: &mut RowGaps,
    ) -> Result<bool, Box<Rejection>> {
        match record.fields() {
            RowFields::Csv(fields) => self.context(&fields, context, gaps),
            RowFields::Parquet(fields) => self.context(&fields, context, gaps),
            RowFields::Ndjson(fields) => self.context(&fields, context, gaps),
            RowFields::Table(fields) => self.context(&fields, context, gaps),
        }
    }

    /// Writes a record into a case; false if the record is dropped.
    pub(super) fn read_case(
        &self,
        record: &LogRow<'_>,
        case: &mut LoggedCase,
        gaps: &mut RowGaps,
    ) -> Result<bool, Box<Rejection>> {
        case.row_in_file = record.row();
        match record.fields() {
            RowFields::Csv(fields) => self.case(&fields, case, gaps),
            RowFields::Parquet(fields) => self.case(&fields, case, gaps),
            RowFields::Ndjson(fields) => self.case(&fields, case, gaps),
            RowFields::Table(fields) => self.case(&fields, case, gaps),
        }
    }

    #[inline]
    fn context(&self, fields: &impl Values, context: &mut [f64], gaps: &mut RowGaps) -> Result<bool, Box<Rejection>> {
        gaps.columns.clear();
        let mut is_kept = true;
        for (feature, short) in self.features.iter().enumerate() {
            if let Short::Number { at, low, high } = *short
                && let Some(number) = fields.number(feature)
                && low <= number
                && number <= high
            {
                context[at] = (number - low) / (high - low);
            } else {
                is_kept &= self.feature(fields, feature, context, gaps)?;
            }
        }
        self.encoder.derive(context);
        Ok(is_kept)
    }

    /// False if the record is dropped.
    #[inline(never)]
    fn feature(
        &self,
        fields: &impl Values,
        feature: usize,
        context: &mut [f64],
        gaps: &mut RowGaps,
    ) -> Result<bool, Box<Rejection>> {
        let mut encoded = self.encoder.feature(feature, fields.value(feature), context);
        if encoded.is_err()
            && matches!(self.features[feature], Short::Word)
            && let Some(code) = fields.number(feature)
            && let Ok(known) = self.encoder.feature(feature, FieldValue::Number(code), context)
        {
            // A level may be a code that is written as a number, as in `1,0`.
            encoded = Ok(known);
        }
        match encoded {
            Ok(true) => Ok(true),
            Ok(false) => {
                gaps.columns.push(feature);
                Ok(true)
            }
            Err(ValueError::Missing { .. }) if self.encoder.missing(feature) == Missing::Drop => {
                gaps.columns.push(feature);
                Ok(false)
            }
            Err(problem) => Err(rejection(fields, feature, problem)),
        }
    }

    /// The option, which may be a code and written as a number, as in `1,0`.
    #[inline]
    fn option(&self, fields: &impl Values, option: usize) -> Result<Arm, ValueError> {
        let coded = || self.encoder.option(FieldValue::Number(fields.number(option)?)).ok();
        self.encoder.option(fields.value(option)).or_else(|problem| coded().ok_or(problem))
    }

    #[inline]
    fn case(&self, fields: &impl Values, case: &mut LoggedCase, gaps: &mut RowGaps) -> Result<bool, Box<Rejection>> {
        let is_kept = self.context(fields, &mut case.context, gaps)?;
        let (outcome, option) = (self.features.len(), self.features.len() + 1);
        let reward = self.known(self.encoder.outcome(numeric(fields, outcome)), fields, outcome, gaps)?;
        let arm = self.known(self.option(fields, option), fields, option, gaps)?;
        let (Some(reward), Some(arm), true) = (reward, arm, is_kept) else {
            gaps.drop_row(arm, reward.map(|reward| self.sign * reward));
            return Ok(false);
        };
        (case.arm, case.reward) = (arm, reward - self.encoder.cost(arm));
        if let Err(rejection) = self.row_columns.read(fields, &self.encoder, case) {
            match rejection.missing_column() {
                Some(column) if self.encoder.row_missing() == RowMissing::Drop => {
                    gaps.drop_named(column, arm, self.sign * reward);
                    return Ok(false);
                }
                _ => return Err(rejection),
            }
        }
        gaps.keep_row(arm);
        Ok(true)
    }

    /// A value of a row, or `None` if it is missing and the row is dropped for it.
    #[inline]
    fn known<T>(
        &self,
        value: Result<T, ValueError>,
        fields: &impl Values,
        wanted: usize,
        gaps: &mut RowGaps,
    ) -> Result<Option<T>, Box<Rejection>> {
        match value {
            Ok(value) => Ok(Some(value)),
            Err(ValueError::Missing { .. }) if self.encoder.row_missing() == RowMissing::Drop => {
                gaps.columns.push(wanted);
                Ok(None)
            }
            Err(problem) => Err(rejection(fields, wanted, problem)),
        }
    }
}

/// The columns of the features.
pub(super) fn wanted_features(document: &PolicyDocument) -> Vec<WantedColumn> {
    let column = |feature: &Feature| match feature.kind {
        FeatureKind::Numeric { .. } => WantedColumn::new(&feature.column, WantedKind::Number),
        FeatureKind::Levels(_) => WantedColumn::new(&feature.column, WantedKind::Code),
    };
    document.feature_columns().iter().map(column).collect()
}

/// A value where a number is expected.
#[inline]
pub(super) fn numeric(fields: &impl Values, wanted: usize) -> FieldValue<'_> {
    fields.number(wanted).map_or_else(|| fields.value(wanted), FieldValue::Number)
}

#[cold]
pub(super) fn rejection(fields: &impl Values, wanted: usize, problem: ValueError) -> Box<Rejection> {
    Box::new(Rejection { location: fields.location(wanted), problem: problem.into() })
}
