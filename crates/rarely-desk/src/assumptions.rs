//! The assumptions that a person can change on the page.

use toml_edit::{DocumentMut, InlineTable, Item, Table, Value};

use crate::document::{number_value, set, set_or_remove};
use crate::fields::Fields;
use crate::problem::Problem;
use crate::rule_answers::number;

/// The assumptions, as they were typed. Empty fields are the document's defaults.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct AssumptionAnswers {
    /// "anytime", "once" or "looks".
    pub(crate) standard: String,
    pub(crate) looks: String,
    /// "fixed" or "adaptive".
    pub(crate) design: String,
    pub(crate) error_probability: String,
    pub(crate) noise: String,
    pub(crate) worth: String,
    pub(crate) minimum_gain: String,
    /// By option, in their order.
    pub(crate) costs: Vec<String>,
}

impl AssumptionAnswers {
    /// What a draft assumes.
    pub(crate) fn of_draft(tree: &DocumentMut) -> Self {
        let written = |table: &str, key: &str| {
            let value = tree.get(table).and_then(|table| table.get(key)).and_then(Item::as_value);
            value.map_or_else(String::new, |value| value.to_string().trim().to_owned())
        };
        Self {
            standard: "anytime".to_owned(),
            design: "fixed".to_owned(),
            error_probability: written("evidence", "error_probability"),
            minimum_gain: written("change", "minimum_gain"),
            ..Self::default()
        }
    }

    /// What the form of the assumptions says.
    pub(crate) fn of_form(&self, fields: &Fields, options: usize) -> Self {
        let mut answers = self.clone();
        let Self { standard, looks, design, error_probability, noise, worth, minimum_gain, costs } = &mut answers;
        fields.text("standard", standard);
        fields.text("looks", looks);
        fields.text("design", design);
        fields.text("error_probability", error_probability);
        fields.text("noise", noise);
        fields.text("worth", worth);
        fields.text("minimum_gain", minimum_gain);
        costs.resize(options, String::new());
        for (at, cost) in costs.iter_mut().enumerate() {
            fields.text(&format!("cost.{at}"), cost);
        }
        answers
    }

    /// Writes them into a document.
    pub(crate) fn write(&self, tree: &mut DocumentMut, options: &[String]) -> Result<(), Problem> {
        let optional = |text: &str, what: &str| match text {
            "" => Ok(None),
            text => number(text, what).map(|number| Some(number_value(number))),
        };
        let evidence = table(tree, "evidence");
        if let Some(error) = optional(&self.error_probability, "the probability of an error")? {
            set(evidence, "error_probability", error);
        }
        let noise = optional(&self.noise, "the noise")?;
        set(evidence, "noise", noise.unwrap_or_else(|| "bounded".into()));
        set_or_remove(evidence, "standard", self.standard()?);
        set_or_remove(evidence, "design", (self.design == "adaptive").then(|| "adaptive".into()));
        let change = table(tree, "change");
        if let Some(gain) = optional(&self.minimum_gain, "the gain that a change must bring")? {
            set(change, "minimum_gain", gain);
        }
        set_or_remove(change, "worth", optional(&self.worth, "the gain that is worth a change")?);
        let mut costs = InlineTable::new();
        for (option, cost) in options.iter().zip(&self.costs) {
            if let Some(cost) = optional(cost, &format!("the cost of {option}"))? {
                costs.insert(option, cost);
            }
        }
        set_or_remove(change, "cost", (!costs.is_empty()).then(|| costs.into()));
        Ok(())
    }

    fn standard(&self) -> Result<Option<Value>, Problem> {
        Ok(match self.standard.as_str() {
            "once" => Some("once".into()),
            "looks" => {
                let looks = self.looks.parse::<i64>().map_err(|_| {
                    Problem::new(
                        format!("the number of looks is “{}”", self.looks),
                        "write how often the evidence is looked at, such as 4",
                    )
                })?;
                Some(InlineTable::from_iter([("looks", Value::from(looks))]).into())
            }
            _ => None,
        })
    }
}

/// A table of the document, which a draft has.
fn table<'a>(tree: &'a mut DocumentMut, name: &str) -> &'a mut Table {
    let item = tree.entry(name).or_insert_with(|| Item::Table(Table::new()));
    if !item.is_table() {
        *item = Item::Table(Table::new());
    }
    item.as_table_mut().expect("a table was just put there")
}
