//! What a log says of a row besides features, option and outcome: key, cluster, weight and propensities.

use rarely_policy::{Encoder, ValueError};

use super::encoding::{numeric, rejection};
use super::{Columns, LoggedCase};
use crate::Rejection;
use crate::log::{Values, WantedColumn, WantedKind};

/// How far the propensities of a row may add up to something else than 1.
const SUM_SLACK: f64 = 1e-6;

/// Where these columns stand among the wanted ones, with their names.
#[derive(Default)]
pub(super) struct RowColumns {
    propensity: Option<usize>,
    key: Option<(usize, String)>,
    cluster: Option<(usize, String)>,
    weight: Option<(usize, String)>,
    propensities: Vec<(usize, String)>,
    guardrails: Vec<usize>,
    levels: Vec<(usize, String)>,
    group: Option<(usize, String)>,
    /// With two options the probability of the given one is that of both.
    two_options: bool,
}

impl RowColumns {
    /// Adds the names of the columns to the wanted ones.
    pub(super) fn new(columns: &Columns, encoder: &Encoder, options: usize, wanted: &mut Vec<WantedColumn>) -> Self {
        let mut place = |column: &String, kind| {
            wanted.push(WantedColumn::new(column, kind));
            (wanted.len() - 1, column.clone())
        };
        Self {
            propensity: columns.propensity.as_ref().map(|column| place(column, WantedKind::Number).0),
            key: columns.key.as_ref().map(|column| place(column, WantedKind::Word)),
            cluster: columns.cluster.as_ref().map(|column| place(column, WantedKind::Word)),
            weight: columns.weight.as_ref().map(|column| place(column, WantedKind::Number)),
            propensities: columns.propensities.iter().map(|column| place(column, WantedKind::Number)).collect(),
            guardrails: if columns.guardrails {
                encoder.guardrail_columns().map(|column| place(column, WantedKind::Number).0).collect()
            } else {
                Vec::new()
            },
            levels: columns.levels.iter().map(|column| place(column, WantedKind::Word)).collect(),
            group: columns.group.as_ref().map(|column| place(column, WantedKind::Word)),
            two_options: options == 2,
        }
    }

    /// Reads them into a case whose option is known.
    #[inline]
    pub(super) fn read(
        &self,
        fields: &impl Values,
        encoder: &Encoder,
        case: &mut LoggedCase,
    ) -> Result<(), Box<Rejection>> {
        case.propensity = None;
        if let Some(wanted) = self.propensity {
            let propensity = Encoder::propensity(numeric(fields, wanted));
            case.propensity = Some(propensity.map_err(|problem| rejection(fields, wanted, problem))?);
        }
        if let Some((wanted, name)) = &self.key {
            let key = Encoder::key(name, fields.value(*wanted));
            case.key = Some(key.map_err(|problem| rejection(fields, *wanted, problem))?);
        }
        if let Some((wanted, name)) = &self.cluster {
            let cluster = Encoder::cluster(name, fields.value(*wanted));
            case.cluster = Some(cluster.map_err(|problem| rejection(fields, *wanted, problem))?);
        }
        if let Some((wanted, name)) = &self.weight {
            let weight = Encoder::weight(name, numeric(fields, *wanted));
            case.weight = weight.map_err(|problem| rejection(fields, *wanted, problem))?;
        }
        if !(self.guardrails.is_empty() && self.levels.is_empty() && self.group.is_none()) {
            self.read_further(fields, encoder, case)?;
        }
        self.read_propensities(fields, case)
    }

    /// Guard-rails, levels of fairness columns, and the group.
    fn read_further(
        &self,
        fields: &impl Values,
        encoder: &Encoder,
        case: &mut LoggedCase,
    ) -> Result<(), Box<Rejection>> {
        case.guardrails.clear();
        for (at, &wanted) in self.guardrails.iter().enumerate() {
            let value = encoder.guardrail(at, numeric(fields, wanted));
            case.guardrails.push(value.map_err(|problem| rejection(fields, wanted, problem))?);
        }
        case.levels.resize_with(self.levels.len(), String::new);
        let names = self.levels.iter().zip(&mut case.levels).chain(self.group.iter().zip([&mut case.group]));
        for ((wanted, column), name) in names {
            Encoder::name(column, fields.value(*wanted), name)
                .map_err(|problem| rejection(fields, *wanted, problem))?;
        }
        Ok(())
    }

    #[inline]
    fn read_propensities(&self, fields: &impl Values, case: &mut LoggedCase) -> Result<(), Box<Rejection>> {
        case.propensities.clear();
        if let (true, Some(given)) = (self.two_options && self.propensities.is_empty(), case.propensity) {
            case.propensities.extend([1.0 - given; 2]);
            case.propensities[case.arm.index()] = given;
        }
        for (wanted, name) in &self.propensities {
            let probability = Encoder::probability(name, numeric(fields, *wanted));
            case.propensities.push(probability.map_err(|problem| rejection(fields, *wanted, problem))?);
        }
        let Some((wanted, name)) = self.propensities.get(case.arm.index()) else { return Ok(()) };
        let given = case.propensities[case.arm.index()];
        if !(given > 0.0) {
            let problem = unexpected(name, "0", "above 0, because its option was given");
            return Err(rejection(fields, *wanted, problem));
        }
        let sum: f64 = case.propensities.iter().sum();
        if (sum - 1.0).abs() > SUM_SLACK {
            let names: Vec<&str> = self.propensities.iter().map(|(_, name)| name.as_str()).collect();
            let problem = unexpected(&format!("the sum of {}", names.join(", ")), &format!("{sum:.7}"), "1");
            return Err(rejection(fields, *wanted, problem));
        }
        case.propensity.get_or_insert(given);
        Ok(())
    }
}

#[cold]
fn unexpected(column: &str, found: &str, expected: &str) -> ValueError {
    ValueError::NotNumber { column: column.into(), found: found.into(), expected: expected.into() }
}
