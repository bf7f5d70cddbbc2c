//! Arguments of R's functions by name. The R side has checked that they are of one value; what they mean is checked here.

use extendr_api::prelude::*;

use crate::problem::{ARGUMENT, Problem};

/// The largest whole number up to which R counts exactly.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// A list of arguments by name; one that is absent or `NULL` is not given.
pub(crate) struct Arguments(List);

impl Arguments {
    pub(crate) fn new(list: List) -> Self {
        Self(list)
    }

    /// The argument, if it is given.
    pub(crate) fn get(&self, name: &str) -> Option<Robj> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| value).filter(|value| !value.is_null())
    }

    /// Whether it is given as a text.
    pub(crate) fn is_text(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| value.is_string())
    }

    /// A text, if it is given.
    pub(crate) fn text(&self, name: &str) -> Result<Option<String>, Problem> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let text = value.as_str().filter(|_| value.len() == 1 && !value.is_na());
        text.map(|text| Some(text.to_owned())).ok_or_else(|| wrong(name, "one text"))
    }

    /// A text that has to be given.
    pub(crate) fn required_text(&self, name: &str) -> Result<String, Problem> {
        self.text(name)?.ok_or_else(|| wrong(name, "one text"))
    }

    /// Texts, if they are given.
    pub(crate) fn texts(&self, name: &str) -> Result<Option<Vec<String>>, Problem> {
        let Some(value) = self.get(name) else { return Ok(None) };
        value.as_string_vector().map(Some).ok_or_else(|| wrong(name, "texts"))
    }

    /// A number, if it is given.
    pub(crate) fn number(&self, name: &str) -> Result<Option<f64>, Problem> {
        let Some(value) = self.get(name) else { return Ok(None) };
        match reals(&value).as_deref() {
            Some(&[number]) if !number.is_nan() => Ok(Some(number)),
            _ => Err(wrong(name, "one number")),
        }
    }

    /// Numbers, if they are given.
    pub(crate) fn numbers(&self, name: &str) -> Result<Option<Vec<f64>>, Problem> {
        let Some(value) = self.get(name) else { return Ok(None) };
        reals(&value).map(Some).ok_or_else(|| wrong(name, "numbers"))
    }

    /// A whole number from 0, if it is given.
    pub(crate) fn whole(&self, name: &str) -> Result<Option<u64>, Problem> {
        let Some(number) = self.number(name)? else { return Ok(None) };
        whole_number(number).map(Some).ok_or_else(|| wrong(name, "a whole number from 0 to 2^53"))
    }

    /// A whole number within a range, if it is given.
    pub(crate) fn within(&self, name: &str, (low, high): (u64, u64)) -> Result<Option<u64>, Problem> {
        let number = self.whole(name)?;
        match number {
            Some(number) if !(low..=high).contains(&number) => {
                Err(Problem::new(ARGUMENT, format!("`{name}` = {number} is outside {low} to {high}")))
            }
            _ => Ok(number),
        }
    }

    /// A whole number as a count, if it is given.
    pub(crate) fn size(&self, name: &str) -> Result<Option<usize>, Problem> {
        Ok(self.whole(name)?.map(|number| usize::try_from(number).unwrap_or(usize::MAX)))
    }

    /// True or false; false if it is not given.
    pub(crate) fn flag(&self, name: &str) -> Result<bool, Problem> {
        let Some(value) = self.get(name) else { return Ok(false) };
        value.as_bool().filter(|_| value.len() == 1).ok_or_else(|| wrong(name, "TRUE or FALSE"))
    }
}

/// The numbers of a vector or a matrix, which has them column by column.
pub(crate) fn reals(value: &Robj) -> Option<Vec<f64>> {
    if let Some(values) = value.as_real_slice() {
        return Some(values.to_vec());
    }
    if value.inherits("factor") {
        return None;
    }
    let values = value.as_integer_slice()?;
    let number = |&value: &i32| if value == i32::MIN { f64::NAN } else { f64::from(value) };
    Some(values.iter().map(number).collect())
}

/// A number that is whole and not negative.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range, as just checked")]
pub(crate) fn whole_number(number: f64) -> Option<u64> {
    (number.fract() == 0.0 && (0.0..=EXACT).contains(&number)).then_some(number as u64)
}

fn wrong(name: &str, wanted: &str) -> Problem {
    Problem::new(ARGUMENT, format!("`{name}` is not {wanted}"))
}
