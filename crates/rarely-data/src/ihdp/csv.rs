//! A realisation of IHDP as a CSV file.

use std::path::Path;

use rarely_core::{MAX_CONTEXT_ENTRY, MAX_REWARD};

use super::{CHILDREN, COVARIATES, by_arm, covariate_names, file_name};
use crate::log::CsvRows;
use crate::{CounterfactualFormat, Counterfactuals, DataError, number};

/// Columns before the covariates.
const BEFORE: [&str; 5] = ["treatment", "y_factual", "y_cfactual", "mu0", "mu1"];
const FORMAT: CounterfactualFormat = CounterfactualFormat::IhdpFile;

/// Reads a file.
pub(super) fn read(file: &Path) -> Result<Counterfactuals, DataError> {
    let columns = covariate_names();
    let names: Vec<String> = BEFORE.iter().map(|&name| name.to_owned()).chain(columns.clone()).collect();
    let mut children = Counterfactuals {
        label: file_name(file),
        columns,
        contexts: Vec::with_capacity(CHILDREN * COVARIATES),
        arms: 2,
        outcomes: Vec::with_capacity(CHILDREN * 2),
        means: Vec::with_capacity(CHILDREN * 2),
    };
    let mut rows = CsvRows::open(file, b',')?;
    let mut found = 0;
    while rows.advance()? {
        found += 1;
        if found <= CHILDREN {
            read_child(&rows, &names, &mut children)?;
        }
    }
    if found != CHILDREN {
        return Err(DataError::Rows { file: file.to_owned(), expected: CHILDREN, found });
    }
    Ok(children)
}

fn read_child(row: &CsvRows, names: &[String], children: &mut Counterfactuals) -> Result<(), DataError> {
    row.check_width(names, FORMAT)?;
    let mut before = [0.0; BEFORE.len()];
    for (column, value) in before.iter_mut().enumerate() {
        *value = number::read(row.field(column), MAX_REWARD, FORMAT, || row.location(names, column))?;
    }
    let [treatment, factual, counterfactual, mean_untreated, mean_treated] = before;
    if treatment != 0.0 && treatment != 1.0 {
        return Err(DataError::Treatment { location: row.location(names, 0), found: treatment });
    }
    children.outcomes.extend(by_arm(treatment == 1.0, factual, counterfactual));
    children.means.extend([mean_untreated, mean_treated]);
    for column in BEFORE.len()..names.len() {
        let value = number::read(row.field(column), MAX_CONTEXT_ENTRY, FORMAT, || row.location(names, column))?;
        children.contexts.push(value);
    }
    Ok(())
}
