//! What the person said: the role of every column, the options, the outcome, the rule, the assumptions.

use rarely_policy::{ColumnSketch, ColumnValues};
use toml_edit::{DocumentMut, Item, Value};

use crate::assumptions::AssumptionAnswers;
use crate::fields::Fields;
use crate::rule_answers::RuleAnswers;

/// What a column is to the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnRole {
    Option,
    Outcome,
    Feature,
    Time,
    Key,
    Cluster,
    Weight,
    Propensity,
    /// The probability of one option, which the draft found: every option has such a column.
    OptionPropensity,
    Fairness,
    Ignored,
}

impl ColumnRole {
    pub(crate) const ALL: [Self; 11] = [
        Self::Option,
        Self::Outcome,
        Self::Feature,
        Self::Time,
        Self::Key,
        Self::Cluster,
        Self::Weight,
        Self::Propensity,
        Self::OptionPropensity,
        Self::Fairness,
        Self::Ignored,
    ];

    /// Its name in a form.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Option => "option",
            Self::Outcome => "outcome",
            Self::Feature => "feature",
            Self::Time => "time",
            Self::Key => "key",
            Self::Cluster => "cluster",
            Self::Weight => "weight",
            Self::Propensity => "propensity",
            Self::OptionPropensity => "option-propensity",
            Self::Fairness => "fairness",
            Self::Ignored => "ignored",
        }
    }

    /// What a person reads.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Option => "the option that was given",
            Self::Outcome => "the outcome",
            Self::Feature => "a feature: known before the option is chosen",
            Self::Time => "the time of the case",
            Self::Key => "the key: tells rows apart",
            Self::Cluster => "the cluster: its cases resemble each other",
            Self::Weight => "the weight of the case",
            Self::Propensity => "the probability of the option that was given",
            Self::OptionPropensity => "the probability of one of the options",
            Self::Fairness => "compared by: shows who changes",
            Self::Ignored => "ignored",
        }
    }

    fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name() == name)
    }

    /// The key of `[evidence]` that names its column.
    pub(crate) fn evidence_key(self) -> Option<&'static str> {
        match self {
            Self::Time => Some("time"),
            Self::Key => Some("key"),
            Self::Cluster => Some("cluster"),
            Self::Weight => Some("weight"),
            Self::Propensity => Some("propensity"),
            _ => None,
        }
    }
}

/// What the person said of a column. Numbers are as they were typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ColumnAnswer {
    pub(crate) role: ColumnRole,
    /// Whether its values are levels, not numbers.
    pub(crate) has_levels: bool,
    pub(crate) low: String,
    pub(crate) high: String,
    pub(crate) unit: String,
    /// One on each line; the first is the reference.
    pub(crate) levels: String,
    /// What happens without a value, as a document writes it.
    pub(crate) missing: String,
}

/// Everything the person said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answers {
    pub(crate) policy: String,
    /// One on each line, in order.
    pub(crate) options: String,
    pub(crate) outcome_low: String,
    pub(crate) outcome_high: String,
    /// "higher" or "lower".
    pub(crate) better: String,
    /// Rows without an option or an outcome are left out.
    pub(crate) drop_rows: bool,
    pub(crate) reject_limit: String,
    /// In the order of the file.
    pub(crate) columns: Vec<ColumnAnswer>,
    pub(crate) rule: RuleAnswers,
    pub(crate) assumptions: AssumptionAnswers,
}

impl Answers {
    /// What a draft guesses.
    pub(crate) fn of_draft(columns: &[ColumnSketch], draft: &str) -> Self {
        let tree: DocumentMut = draft.parse().unwrap_or_default();
        let text = |item: Option<&Item>| item.and_then(Item::as_str).unwrap_or_default().to_owned();
        let outcome = tree.get("outcome");
        let options = lines(tree.get("options"));
        let mut answers = Self {
            policy: text(tree.get("policy")),
            rule: RuleAnswers::everyone_gets(options.lines().next().unwrap_or_default()),
            options,
            outcome_low: element(outcome.and_then(|outcome| outcome.get("range")), 0),
            outcome_high: element(outcome.and_then(|outcome| outcome.get("range")), 1),
            better: text(outcome.and_then(|outcome| outcome.get("better"))),
            drop_rows: tree.get("evidence").and_then(|evidence| evidence.get("missing")).is_some(),
            reject_limit: "0".to_owned(),
            columns: columns.iter().map(ColumnAnswer::of_sketch).collect(),
            assumptions: AssumptionAnswers::of_draft(&tree),
        };
        answers.take_features(columns, &tree);
        answers.take_roles(columns, &tree);
        answers
    }

    fn take_features(&mut self, columns: &[ColumnSketch], tree: &DocumentMut) {
        for table in tree.get("features").and_then(Item::as_array_of_tables).into_iter().flatten() {
            let name = table.get("column").and_then(Item::as_str);
            let Some(at) = columns.iter().position(|column| Some(column.name.as_str()) == name) else { continue };
            let answer = &mut self.columns[at];
            answer.role = ColumnRole::Feature;
            answer.has_levels = table.get("levels").is_some();
            if answer.has_levels {
                answer.levels = lines(table.get("levels"));
            } else {
                (answer.low, answer.high) = (element(table.get("range"), 0), element(table.get("range"), 1));
            }
            let text = |key: &str| table.get(key).and_then(Item::as_str).unwrap_or_default().to_owned();
            (answer.unit, answer.missing) = (text("unit"), text("missing"));
            if answer.missing.is_empty() {
                "refuse".clone_into(&mut answer.missing);
            }
        }
    }

    fn take_roles(&mut self, columns: &[ColumnSketch], tree: &DocumentMut) {
        let mut take = |name: Option<&str>, role: ColumnRole| {
            let found = columns.iter().position(|column| Some(column.name.as_str()) == name);
            if let Some(at) = found {
                self.columns[at].role = role;
            }
        };
        take(tree.get("option_column").and_then(Item::as_str), ColumnRole::Option);
        take(tree.get("outcome").and_then(|outcome| outcome.get("column")).and_then(Item::as_str), ColumnRole::Outcome);
        let Some(evidence) = tree.get("evidence") else { return };
        for role in ColumnRole::ALL {
            take(role.evidence_key().and_then(|key| evidence.get(key)).and_then(Item::as_str), role);
        }
        let options = evidence.get("propensities").and_then(Item::as_table_like);
        for (_, column) in options.into_iter().flat_map(|table| table.iter().collect::<Vec<_>>()) {
            take(column.as_str(), ColumnRole::OptionPropensity);
        }
    }

    /// The same with what the form of the columns says. What it leaves out stays as it was.
    pub(crate) fn with_columns(&self, fields: &Fields) -> Self {
        let mut answers = self.clone();
        fields.text("policy", &mut answers.policy);
        fields.text("options", &mut answers.options);
        fields.text("better", &mut answers.better);
        fields.text("reject_limit", &mut answers.reject_limit);
        answers.take_outcome_range(fields);
        if fields.has("policy") {
            answers.drop_rows = fields.has("drop_rows");
        }
        for (at, column) in answers.columns.iter_mut().enumerate() {
            column.role = fields.get(&format!("role.{at}")).and_then(ColumnRole::of).unwrap_or(column.role);
            column.has_levels = fields.get(&format!("kind.{at}")).map_or(column.has_levels, |kind| kind == "levels");
            fields.text(&format!("low.{at}"), &mut column.low);
            fields.text(&format!("high.{at}"), &mut column.high);
            fields.text(&format!("unit.{at}"), &mut column.unit);
            fields.text(&format!("levels.{at}"), &mut column.levels);
            fields.text(&format!("missing.{at}"), &mut column.missing);
        }
        // The rule of a draft, which nobody has touched, follows the first option.
        if self.rule == self.first_rule() {
            answers.rule = answers.first_rule();
        }
        answers
    }

    /// Everyone gets the first option.
    pub(crate) fn first_rule(&self) -> RuleAnswers {
        RuleAnswers::everyone_gets(self.option_names().first().map_or("", String::as_str))
    }

    /// The range of the outcome, which is an assumption too.
    pub(crate) fn take_outcome_range(&mut self, fields: &Fields) {
        fields.text("outcome_low", &mut self.outcome_low);
        fields.text("outcome_high", &mut self.outcome_high);
    }

    /// The options, in order.
    pub(crate) fn option_names(&self) -> Vec<String> {
        names(&self.options)
    }

    /// The columns with a role.
    pub(crate) fn with_role(&self, role: ColumnRole) -> impl Iterator<Item = usize> {
        let having = self.columns.iter().enumerate().filter(move |(_, column)| column.role == role);
        having.map(|(at, _)| at)
    }
}

impl ColumnAnswer {
    /// What is known of a column that is nothing yet.
    fn of_sketch(column: &ColumnSketch) -> Self {
        let (low, high) = match column.kind {
            ColumnValues::Numbers { low, high } => (low.to_string(), high.to_string()),
            ColumnValues::Words(_) => (String::new(), String::new()),
        };
        let missing = if column.missing > 0 { "drop" } else { "refuse" };
        let levels: Vec<&str> = column.written.iter().map(|word| word.trim()).collect();
        Self {
            role: ColumnRole::Ignored,
            has_levels: matches!(column.kind, ColumnValues::Words(_)),
            low,
            high,
            unit: String::new(),
            levels: levels.join("\n"),
            missing: missing.to_owned(),
        }
    }
}

/// The lines of a field that are not blank.
pub(crate) fn names(text: &str) -> Vec<String> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// An array of strings, one on each line.
fn lines(item: Option<&Item>) -> String {
    let array = item.and_then(Item::as_array).into_iter().flatten();
    array.filter_map(Value::as_str).collect::<Vec<_>>().join("\n")
}

/// An element of an array as it is written.
fn element(item: Option<&Item>, at: usize) -> String {
    let value = item.and_then(Item::as_array).and_then(|array| array.get(at));
    value.map_or_else(String::new, |value| value.to_string().trim().to_owned())
}
