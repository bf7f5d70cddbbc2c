//! Reviews of drawn logs: every shape of document, rule and answer.

use rarely_core::{Arm, Rng, Rule};
use rarely_policy::{FeatureKind, PolicyDocument};
use rarely_review::{EvidenceBase, Review, Tally, TallyRow, review};

/// A document, what is true of it, and how its log was made.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) document: PolicyDocument,
    /// The options' parameters of the reward, in context coordinates.
    truth: Vec<Vec<f64>>,
    rows: u64,
    /// How the log's options were chosen.
    choice: Choice,
    /// Whether outcomes are 1 and 0, with the mean as the probability of 1.
    is_yes_or_no: bool,
}

/// How options were chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    /// By lot, each with the same probability.
    ByLot,
    /// By the rule.
    ByRule,
    /// The option of the rule with probability 0.7, which is logged.
    MostlyByRule,
}

impl Case {
    fn new(name: &'static str, text: &str, truth: &[&[f64]], rows: u64) -> Self {
        let document = PolicyDocument::parse(text, name).expect("a document");
        let truth = truth.iter().map(|option| option.to_vec()).collect();
        Self { name, document, truth, rows, choice: Choice::ByLot, is_yes_or_no: false }
    }

    /// Passes every row of the log.
    pub(crate) fn each_row(&self, mut take: impl FnMut(&TallyRow<'_>)) {
        let mut rng = Rng::new(7, 0);
        let rule = Rule::new(self.document.rule().parameters(&self.document));
        let options = self.truth.len();
        for row in 0..self.rows {
            let context = person(&self.document, &mut rng);
            let drawn = rng.below(options);
            let fitting = rarely_core::Context::new(&context).expect("a context");
            let given = rule.choose(fitting).expect("it fits").index();
            let mut propensities = Vec::new();
            let option = match self.choice {
                Choice::ByLot => drawn,
                Choice::ByRule => given,
                Choice::MostlyByRule => {
                    propensities = vec![0.3 / (options - 1) as f64; options];
                    propensities[given] = 0.7;
                    let other = (given + 1 + rng.below(options - 1)) % options;
                    if rng.uniform() < 0.7 { given } else { other }
                }
            };
            let mean: f64 = self.truth[option].iter().zip(&context).map(|(a, b)| a * b).sum();
            let noise = self.document.noise().unwrap_or(0.0) * rng.normal();
            let reward = if self.is_yes_or_no { f64::from(u8::from(rng.uniform() < mean)) } else { mean + noise };
            let row = TallyRow::new(row, &context, Arm::new(option), reward);
            take(&TallyRow { propensities: &propensities, ..row });
        }
    }

    pub(crate) fn tally(&self) -> Tally {
        let mut tally = Tally::new(&self.document);
        self.each_row(|row| tally.add_row(row));
        tally
    }

    /// The base and the review.
    pub(crate) fn reviewed(&self) -> (EvidenceBase<'_>, Review) {
        let tally = self.tally();
        let mut base = EvidenceBase::of(&self.document, &tally, None).expect("it fits");
        if let Some(mut second) = base.second_reading().filter(|_| self.choice == Choice::MostlyByRule) {
            self.each_row(|row| second.add_row(row));
            base = base.with_second_reading(second);
        }
        let found = review(&base, &tally).expect("it runs");
        (base, found)
    }
}

/// Numbers about the middle of their range, levels drawn alike.
fn person(document: &PolicyDocument, rng: &mut Rng) -> Vec<f64> {
    let mut context: Vec<f64> = document.has_intercept().then_some(1.0).into_iter().collect();
    for feature in document.features() {
        match &feature.kind {
            FeatureKind::Numeric { .. } => context.push(0.5 * (rng.uniform() + rng.uniform())),
            FeatureKind::Levels(levels) => {
                let level = rng.below(levels.len());
                context.extend((1..levels.len()).map(|at| f64::from(u8::from(at == level))));
            }
        }
    }
    context
}

const SYSTOLIC: &str = "[[features]]\ncolumn = \"systolic\"\nunit = \"mmHg\"\nrange = [80, 220]\n";
const AGE: &str = "[[features]]\ncolumn = \"age\"\nunit = \"years\"\nrange = [40, 90]\n";
const DIABETIC: &str = "[[features]]\ncolumn = \"diabetic\"\nlevels = [\"no\", \"yes\"]\n";
const SMOKES: &str = "[[features]]\ncolumn = \"smokes\"\nlevels = [\"never\", \"formerly\", \"now\"]\n";
const SHOP: &str = "policy = \"discount\"\noptions = [\"none\", \"five per cent\", \"ten per cent\"]\noutcome = { column = \"margin\", range = [-20, 60] }\n\
    [evidence]\nnoise = 5.0\nnorm_bound = 80.0\nerror_probability = 0.01\n\
    [[features]]\ncolumn = \"basket\"\nunit = \"EUR\"\nrange = [0, 200]\n\
    [[features]]\ncolumn = \"visits\"\nunit = \"a month\"\nrange = [0, 20]\n\
    [[features]]\ncolumn = \"tenure\"\nunit = \"years\"\nrange = [0, 10]\n\
    [[features]]\ncolumn = \"channel\"\nlevels = [\"shop\", \"web\", \"app\"]\n";

const FIVE: &str = "policy = \"dose in five steps\"\noptions = [\"none\", \"quarter\", \"half\", \"most\", \"full\"]\n\
    outcome = { column = \"relief\", range = [0, 10] }\n\
    [evidence]\nnoise = 0.8\nnorm_bound = 15\nerror_probability = 0.01\n\
    [[features]]\ncolumn = \"weight\"\nunit = \"kg\"\nrange = [40, 140]\n\
    [rule]\nthreshold = { feature = \"weight\", cuts = [60, 80, 100, 120], options = [\"none\", \"quarter\", \"half\", \"most\", \"full\"] }";
const YES_OR_NO: &str = "policy = \"reminder\"\noptions = [\"letter\", \"call\"]\noutcome = { column = \"attended\", range = [0, 1] }\n\
    [evidence]\nerror_probability = 0.05\n\
    [[features]]\ncolumn = \"missed before\"\nrange = [0, 10]\n\
    [rule]\nthreshold = { feature = \"missed before\", cuts = [2], options = [\"letter\", \"call\"] }";
const PROPENSITIES: &str = "policy = \"dose\"\noptions = [\"low\", \"middle\", \"high\"]\noutcome = { column = \"relief\", range = [-5, 15] }\n\
    [evidence]\nnoise = 0.8\nerror_probability = 0.05\norder = \"any\"\npropensities = { low = \"p_low\", middle = \"p_middle\", high = \"p_high\" }\n\
    [[features]]\ncolumn = \"weight\"\nunit = \"kg\"\nrange = [40, 140]\n\
    [rule]\nthreshold = { feature = \"weight\", cuts = [60, 100], options = [\"low\", \"middle\", \"high\"] }";

fn clinic(features: &str, outcome: &str, rule: &str) -> String {
    format!(
        "policy = \"hypertension-treatment\"\noptions = [\"watch\", \"treat\"]\noutcome = {{ column = \"wellbeing\", range = [-1.0, 2.0]{outcome} }}\n\
         [evidence]\nnoise = 0.1\nnorm_bound = 2.0\nerror_probability = 0.01\n{features}[rule]\n{rule}\n"
    )
}

fn cut(at: f64) -> String {
    format!("threshold = {{ feature = \"systolic\", cuts = [{at}], options = [\"watch\", \"treat\"] }}")
}

/// One of each kind.
pub(crate) fn cases() -> Vec<Case> {
    let one: [&[f64]; 2] = [&[0.6, 0.0], &[0.2, 0.6]];
    let lower: [&[f64]; 2] = [&[-0.4, -0.6], &[-0.8, 0.1]];
    let two: [&[f64]; 2] = [&[0.6, 0.0, 0.0], &[0.0, 0.6, 0.5]];
    let levels: [&[f64]; 2] = [&[0.6, 0.0, 0.0], &[0.1, 0.6, 0.25]];
    let smokers: [&[f64]; 2] = [&[0.6, 0.0, 0.0, 0.0], &[0.1, 0.2, 0.4, 0.6]];
    let everyone = "threshold = { feature = \"systolic\", cuts = [], options = [\"watch\"] }";
    let three = "policy = \"dose\"\noptions = [\"low\", \"middle\", \"high\"]\noutcome = { column = \"relief\", range = [0, 10] }\n\
        [evidence]\nnoise = 0.8\nnorm_bound = 15\nerror_probability = 0.01\n\
        [[features]]\ncolumn = \"weight\"\nunit = \"kg\"\nrange = [40, 140]\n\
        [rule]\nthreshold = { feature = \"weight\", cuts = [60, 100], options = [\"low\", \"middle\", \"high\"] }";
    let sum = "score = { coefficients = { systolic = 1, age = 1 }, cuts = [180], options = [\"watch\", \"treat\"] }";
    let prices: [&[f64]; 3] =
        [&[20.0, 10.0, 0.0, 5.0, 0.0, 0.0], &[14.0, 20.0, 4.0, 5.0, 2.0, 1.0], &[4.0, 34.0, 8.0, 5.0, 4.0, 2.0]];
    let ladder = "[rule]\nscore = { coefficients = { basket = 1, visits = 3, channel = { web = 10, app = 5 } }, cuts = [60, 120], \
        options = [\"none\", \"five per cent\", \"ten per cent\"] }";
    let lines = "[rule]\n[rule.linear]\n\"none\" = { intercept = 20 }\n\"five per cent\" = { intercept = 10, basket = 0.1 }\n\
        \"ten per cent\" = { intercept = 0, basket = 0.15, visits = 0.2 }\n";
    let all_none = "[rule]\nscore = { coefficients = { basket = 1 }, cuts = [], options = [\"none\"] }";
    let wide: [&[f64]; 2] = [&[0.6, 0.0, 0.0, 0.0], &[0.1, 0.6, 0.25, 0.05]];
    let all = format!("{SYSTOLIC}{AGE}{DIABETIC}");
    let clinical = |name, rows, at: f64| Case::new(name, &clinic(SYSTOLIC, "", &cut(at)), &one, rows);
    let linear = "[rule.linear]\nwatch = { intercept = 0.1 }\ntreat = { systolic = 0.001 }";
    vec![
        clinical("change", 5000, 140.0),
        clinical("keep", 5000, 173.0),
        clinical("cannot-tell", 12, 140.0),
        Case { choice: Choice::ByRule, ..clinical("stuck", 3000, 140.0) },
        Case::new("everyone", &clinic(SYSTOLIC, "", everyone), &one, 4000),
        Case::new("lower", &clinic(SYSTOLIC, ", better = \"lower\"", &cut(110.0)), &lower, 4000),
        Case::new("lower-linear", &clinic(SYSTOLIC, ", better = \"lower\"", linear), &lower, 4000),
        Case::new("three", three, &[&[5.0, -2.0], &[4.0, 1.0], &[2.0, 4.0]], 6000),
        Case::new("plane", &clinic(&format!("{SYSTOLIC}{AGE}"), "", sum), &two, 6000),
        Case::new("plane-few", &clinic(&format!("{SYSTOLIC}{AGE}"), "", &cut(140.0)), &two, 300),
        Case::new("levels", &clinic(&format!("{SYSTOLIC}{DIABETIC}"), "", &cut(140.0)), &levels, 6000),
        Case::new("levels-first", &clinic(&format!("{SMOKES}{SYSTOLIC}"), "", &cut(150.0)), &smokers, 6000),
        Case::new("wide", &clinic(&all, "", &cut(140.0)), &wide, 6000),
        Case::new("shop", &format!("{SHOP}{ladder}"), &prices, 40_000),
        Case::new("shop-linear", &format!("{SHOP}{lines}"), &prices, 8000),
        Case::new("shop-everyone", &format!("{SHOP}{all_none}"), &prices, 8000),
        Case::new("five", FIVE, &[&[5.0, -2.0], &[4.5, 0.0], &[4.0, 1.0], &[3.0, 2.5], &[2.0, 4.0]], 6000),
        Case { is_yes_or_no: true, ..Case::new("yes-or-no", YES_OR_NO, &[&[0.9, -0.8], &[0.1, 0.85]], 3000) },
        Case {
            choice: Choice::MostlyByRule,
            ..Case::new("propensities", PROPENSITIES, &[&[5.0, -2.0], &[4.0, 1.0], &[2.0, 4.0]], 5000)
        },
    ]
}
