//! Any CSV file in which the outcome of every arm is known for every person.
//!
//! ```text
//! age,income,outcome:call,outcome:letter,mean:call,mean:letter
//! 41,2.3,0.9,0.2,0.7,0.3
//! ```
//!
//! The first line names the columns. `outcome:<arm>` is the outcome of a person under that arm, for two arms or more, numbered
//! in the order of their columns. `mean:<arm>` is the expected outcome, for all arms or for none; without it the outcomes are used.
//! Every other column is a context variable. Every field is a finite number.

use std::collections::HashMap;
use std::path::Path;

use rarely_core::{MAX_CONTEXT_ENTRY, MAX_REWARD};

use crate::log::CsvRows;
use crate::{CounterfactualFormat, Counterfactuals, DataError, number};

const FORMAT: CounterfactualFormat = CounterfactualFormat::Table;

/// Reads a file, row by row.
///
/// # Errors
/// A [`DataError`] that names the file, the line, the column and the remedy.
pub fn read(path: &Path) -> Result<Counterfactuals, DataError> {
    let mut rows = CsvRows::open(path, b',')?;
    if !rows.advance()? {
        return Err(DataError::NoHeader { file: path.to_owned(), found: "an empty file".to_owned() });
    }
    let header = Header::read(path, &rows)?;
    let columns = header.roles.iter().zip(&header.names).filter(|(role, _)| **role == ColumnRole::Context);
    let mut people = Counterfactuals {
        label: path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
        columns: columns.map(|(_, name)| name.clone()).collect(),
        contexts: Vec::new(),
        arms: header.arms,
        outcomes: Vec::new(),
        means: Vec::new(),
    };
    while rows.advance()? {
        header.read_person(&rows, &mut people)?;
    }
    if people.outcomes.is_empty() {
        return Err(DataError::NoRows { file: path.to_owned() });
    }
    Ok(people)
}

/// What a column is.
#[derive(Clone, Copy, PartialEq)]
enum ColumnRole {
    Context,
    Outcome(usize),
    Mean(usize),
}

struct Header {
    names: Vec<String>,
    roles: Vec<ColumnRole>,
    arms: usize,
    has_means: bool,
}

impl Header {
    fn read(file: &Path, row: &CsvRows) -> Result<Self, DataError> {
        if row.fields().all(|field| number::finite(field).is_some()) {
            return Err(DataError::NoHeader { file: file.to_owned(), found: numbers_shown(row) });
        }
        let names: Vec<String> = row.fields().map(|field| String::from_utf8_lossy(field).trim().to_owned()).collect();
        check_names(file, &names)?;
        let arms: Vec<String> =
            names.iter().filter_map(|name| name.strip_prefix("outcome:")).map(ToOwned::to_owned).collect();
        if arms.len() < 2 {
            let outcomes = arms.iter().map(|arm| format!("outcome:{arm}")).collect();
            return Err(DataError::TooFewOutcomes { file: file.to_owned(), outcomes });
        }
        let numbers: HashMap<&str, usize> =
            arms.iter().enumerate().map(|(number, arm)| (arm.as_str(), number)).collect();
        let mut roles = Vec::with_capacity(names.len());
        for (index, name) in names.iter().enumerate() {
            roles.push(if let Some(arm) = name.strip_prefix("outcome:") {
                ColumnRole::Outcome(numbers[arm])
            } else if let Some(arm) = name.strip_prefix("mean:") {
                let unknown = || DataError::UnknownArm {
                    file: file.to_owned(),
                    column: index + 1,
                    name: name.clone(),
                    arms: arms.clone(),
                };
                ColumnRole::Mean(*numbers.get(arm).ok_or_else(unknown)?)
            } else {
                ColumnRole::Context
            });
        }
        let has_means = roles.iter().any(|role| matches!(role, ColumnRole::Mean(_)));
        let without = (0..arms.len()).find(|&arm| !roles.contains(&ColumnRole::Mean(arm)));
        if let Some(arm) = without.filter(|_| has_means) {
            return Err(DataError::MissingMean { file: file.to_owned(), arm: arms[arm].clone() });
        }
        if !roles.contains(&ColumnRole::Context) {
            return Err(DataError::NoContext { file: file.to_owned() });
        }
        Ok(Self { names, roles, arms: arms.len(), has_means })
    }

    fn read_person(&self, row: &CsvRows, people: &mut Counterfactuals) -> Result<(), DataError> {
        row.check_width(&self.names, FORMAT)?;
        let first = people.outcomes.len();
        people.outcomes.resize(first + self.arms, 0.0);
        people.means.resize(first + self.arms, 0.0);
        for (index, &role) in self.roles.iter().enumerate() {
            let limit = if role == ColumnRole::Context { MAX_CONTEXT_ENTRY } else { MAX_REWARD };
            let value = number::read(row.field(index), limit, FORMAT, || row.location(&self.names, index))?;
            match role {
                ColumnRole::Context => people.contexts.push(value),
                ColumnRole::Outcome(arm) => {
                    people.outcomes[first + arm] = value;
                    if !self.has_means {
                        people.means[first + arm] = value;
                    }
                }
                ColumnRole::Mean(arm) => people.means[first + arm] = value,
            }
        }
        Ok(())
    }
}

/// Checks that every column has a name, and a name of its own.
fn check_names(file: &Path, names: &[String]) -> Result<(), DataError> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for (index, name) in names.iter().enumerate() {
        let column = index + 1;
        let arm = name.strip_prefix("outcome:").or_else(|| name.strip_prefix("mean:"));
        if arm.unwrap_or(name).trim().is_empty() {
            let found = number::shown(name.as_bytes());
            return Err(DataError::Unnamed { file: file.to_owned(), column, found });
        }
        if let Some(first) = seen.insert(name, column) {
            return Err(DataError::DuplicateColumn {
                file: file.to_owned(),
                name: number::shown(name.as_bytes()),
                first,
                second: column,
            });
        }
    }
    Ok(())
}

fn numbers_shown(row: &CsvRows) -> String {
    let fields: Vec<&[u8]> = row.fields().collect();
    number::shown(&fields.join(&b','))
}
