//! People for whom the outcome under every arm is known.

use crate::DataError;

/// A table of people for whom the outcome under every arm is known.
#[derive(Debug, Clone, PartialEq)]
pub struct Counterfactuals {
    /// Where it comes from, for example `ihdp_npci_3.csv`.
    pub label: String,
    /// Names of the context variables.
    pub columns: Vec<String>,
    /// People × columns, row by row.
    pub contexts: Vec<f64>,
    /// Number of arms.
    pub arms: usize,
    /// People × arms, row by row: what would be seen.
    pub outcomes: Vec<f64>,
    /// People × arms, row by row: expected outcomes; equal to `outcomes` where the source has none.
    pub means: Vec<f64>,
}

impl Counterfactuals {
    /// Number of people.
    pub fn people(&self) -> usize {
        self.outcomes.len().checked_div(self.arms).unwrap_or(0)
    }

    /// Number of context variables.
    pub fn dimension(&self) -> usize {
        self.columns.len()
    }

    /// A person's context.
    ///
    /// # Panics
    /// If there is no such person.
    pub fn context(&self, person: usize) -> &[f64] {
        &self.contexts[person * self.dimension()..(person + 1) * self.dimension()]
    }

    /// The outcome of a person under each arm.
    ///
    /// # Panics
    /// If there is no such person.
    pub fn outcomes_of(&self, person: usize) -> &[f64] {
        &self.outcomes[person * self.arms..(person + 1) * self.arms]
    }

    /// The expected outcome of a person under each arm.
    ///
    /// # Panics
    /// If there is no such person.
    pub fn means_of(&self, person: usize) -> &[f64] {
        &self.means[person * self.arms..(person + 1) * self.arms]
    }

    /// The same people with a context variable `intercept`, always 1, before the others.
    #[must_use]
    pub fn with_intercept(mut self) -> Self {
        let dimension = self.dimension();
        let mut contexts = Vec::with_capacity(self.contexts.len() + self.people());
        for person in 0..self.people() {
            contexts.push(1.0);
            contexts.extend_from_slice(&self.contexts[person * dimension..(person + 1) * dimension]);
        }
        self.contexts = contexts;
        self.columns.insert(0, "intercept".to_owned());
        self
    }

    /// Reproduces the authors' mistake: each person's context with the *next* person's outcomes and means, and the last person's with
    /// the first's. The label says that it was done.
    ///
    /// ```
    /// let right = rarely_data::ihdp::realisation(1)?;
    /// let wrong = right.clone().paired_with_next();
    /// assert_eq!(wrong.context(5), right.context(5));
    /// assert_eq!(wrong.means_of(5), right.means_of(6));
    /// assert_eq!(wrong.means_of(746), right.means_of(0));
    /// # Ok::<(), rarely_data::DataError>(())
    /// ```
    #[must_use]
    pub fn paired_with_next(mut self) -> Self {
        if self.people() > 0 {
            self.outcomes.rotate_left(self.arms);
            self.means.rotate_left(self.arms);
        }
        self.label.push_str(", paired with the next person's outcomes");
        self
    }

    /// Checks that there are people, at least two arms and a context variable, that the parts fit together, and that every
    /// number is finite. What this crate reads or draws is valid; a table put together by hand may not be.
    ///
    /// # Errors
    /// [`DataError::TooFew`], [`DataError::Length`] or [`DataError::Value`] for the first thing that is wrong.
    pub fn validate(&self) -> Result<(), DataError> {
        let people = self.people();
        for (what, found, at_least) in
            [("arms", self.arms, 2), ("people", people, 1), ("context variables", self.dimension(), 1)]
        {
            if found < at_least {
                return Err(DataError::TooFew { label: self.label.clone(), what, found, at_least });
            }
        }
        self.validate_part("outcomes", &self.outcomes, self.arms)?;
        self.validate_part("contexts", &self.contexts, self.dimension())?;
        self.validate_part("means", &self.means, self.arms)
    }

    fn validate_part(&self, field: &'static str, numbers: &[f64], each: usize) -> Result<(), DataError> {
        let (label, people) = (self.label.clone(), self.people());
        let expected = people * each;
        if numbers.len() != expected {
            return Err(DataError::Length { label, field, found: numbers.len(), people, each, expected });
        }
        match numbers.iter().position(|number| !number.is_finite()) {
            None => Ok(()),
            Some(at) => Err(DataError::Value { label, field, person: at / each, entry: at % each, found: numbers[at] }),
        }
    }
}
