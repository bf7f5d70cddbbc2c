//! The children of the study: which of them were treated, and their covariates as the simulations use them.

use std::sync::LazyLock;

use super::{CHILDREN, COVARIATES};

/// The covariates as they are public: see `data/ihdp/README.md`.
const EMBEDDED: &str = include_str!("../../data/ihdp/covariates.csv");
/// Columns that the simulations leave out.
const LEFT_OUT: [&str; 4] = ["site8", "momwhite", "momblack", "momhisp"];
/// The continuous covariates come first.
const CONTINUOUS: usize = 6;

/// The 747 children.
pub(super) struct Covariates {
    /// Names of the 25 covariates.
    pub(super) names: Vec<&'static str>,
    /// Whether each child was treated.
    pub(super) treated: Vec<bool>,
    /// Children × covariates, row by row.
    pub(super) values: Vec<f64>,
}

impl Covariates {
    /// The embedded ones, prepared once.
    pub(super) fn embedded() -> &'static Self {
        static PREPARED: LazyLock<Covariates> = LazyLock::new(|| Covariates::prepare(EMBEDDED));
        &PREPARED
    }

    /// `[hill-2011, section 4]` leaves out the treated children of mothers who are not white, which makes the treated and the others
    /// differ as they would in an observational study. The published files standardise the continuous covariates of those who are
    /// left, and code `first` as 1 and 2.
    fn prepare(text: &'static str) -> Self {
        let mut lines = text.lines();
        let header: Vec<&'static str> = lines.next().unwrap_or_default().split(',').collect();
        let column = |name: &str| {
            let at = header.iter().position(|&found| found == name);
            at.unwrap_or_else(|| panic!("the embedded covariates have a column {name}"))
        };
        let (treatment, white, first) = (column("treat"), column("momwhite"), column("first"));
        let used: Vec<usize> =
            (0..header.len()).filter(|&at| at != treatment && !LEFT_OUT.contains(&header[at])).collect();
        let mut children = Self {
            names: used.iter().map(|&at| header[at]).collect(),
            treated: Vec::with_capacity(CHILDREN),
            values: Vec::with_capacity(CHILDREN * COVARIATES),
        };
        for line in lines {
            let row: Vec<f64> = line.split(',').map(number).collect();
            if row[treatment] == 1.0 && row[white] == 0.0 {
                continue;
            }
            children.treated.push(row[treatment] == 1.0);
            children.values.extend(used.iter().map(|&at| if at == first { row[at] + 1.0 } else { row[at] }));
        }
        assert_eq!(children.names.len(), COVARIATES, "the simulations use {COVARIATES} covariates");
        assert_eq!(children.treated.len(), CHILDREN, "{CHILDREN} children are left");
        (0..CONTINUOUS).for_each(|covariate| children.standardise(covariate));
        children
    }

    /// Makes the mean 0 and the standard deviation (with n − 1) 1.
    fn standardise(&mut self, covariate: usize) {
        let count = self.treated.len() as f64;
        let column = || self.values.iter().skip(covariate).step_by(COVARIATES);
        let mean = column().sum::<f64>() / count;
        let variance = column().map(|value| (value - mean) * (value - mean)).sum::<f64>() / (count - 1.0);
        let deviation = variance.sqrt();
        for value in self.values.iter_mut().skip(covariate).step_by(COVARIATES) {
            *value = (*value - mean) / deviation;
        }
    }
}

fn number(field: &str) -> f64 {
    field.parse().unwrap_or_else(|_| panic!("the embedded covariates are numbers, not {field:?}"))
}
