//! The part of the page about the model: whether straight lines fit, what they are, and what was assumed.

use rarely_core::Interval;
use rarely_policy::FeatureKind;
use rarely_policy::number::short;
use rarely_review::Check;
use rarely_review::words::{self, percent};

use super::{Report, interval, three, together};
use rarely_plot::{PageCell, Tone};

impl Report<'_> {
    pub(super) fn checks(&mut self) {
        self.page.heading("Is a straight line good enough?").paragraph(
            "The review takes each option's mean outcome to be a straight line in every feature. The checks look for places where it is not.",
        );
        let warnings: Vec<String> = self.review.checks.iter().filter_map(Check::warning).map(str::to_owned).collect();
        if !warnings.is_empty() {
            self.page.paragraph("Be careful:").list(warnings);
        }
        let bends: Vec<Vec<PageCell>> = self.review.checks.iter().filter_map(bend).collect();
        let jumps: Vec<Vec<PageCell>> = self.review.checks.iter().filter_map(|check| self.jump(check)).collect();
        if !bends.is_empty() {
            self.page.subheading("Do the lines bend?").paragraph(&format!(
                "The largest bend, in {}, between the middle and the ends of a feature; and how likely so much bend is by chance if the line is straight.",
                self.document.outcome().column
            ));
            let header = ["option", "cases", "largest bend", "along", "by chance", ""];
            self.page.table(&header, bends);
        }
        let scatters: Vec<Vec<PageCell>> = self.review.checks.iter().filter_map(scatter).collect();
        if !scatters.is_empty() {
            self.page.subheading("Is the noise as declared?").paragraph(
                "How far outcomes lie from their option's line, as a standard deviation. If that is more than was assumed, every range here is too short.",
            );
            self.page.table(&["option", "found", "assumed", ""], scatters);
        }
        if !jumps.is_empty() {
            self.page.subheading("What do people next to a cut say?").paragraph(
                "Where one option gives way to the next, people just below and just above the cut are alike. The difference between their outcomes is \
                 compared with what the straight lines say there. After ± stands the standard error.",
            );
            let header = [
                "at the cut",
                "difference",
                "people next to it say",
                "cases below + above",
                "within",
                "the lines say",
                "",
            ];
            self.page.table(&header, jumps);
        }
    }

    fn jump(&self, check: &Check) -> Option<Vec<PageCell>> {
        let Check::Jump {
            options: [lower, upper],
            cut,
            bandwidth,
            local,
            standard_error,
            rows,
            model,
            model_interval,
            ..
        } = check
        else {
            return None;
        };
        let unit = words::unit(self.document);
        let near = match (local, standard_error) {
            (Some(local), Some(error)) => together(&format!("{} ± {}", three(*local), three(*error))),
            _ => "too few cases".to_owned(),
        };
        let cases = rows.map_or_else(|| "–".to_owned(), |(below, above)| together(&format!("{below} + {above}")));
        let within = bandwidth.map_or_else(|| "–".to_owned(), |width| with_unit(&three(width), unit));
        let [low, high] = *model_interval;
        Some(vec![
            PageCell::Text(with_unit(&short(*cut), unit)),
            PageCell::Text(format!("{upper} less {lower}")),
            PageCell::Text(near),
            PageCell::Text(cases),
            PageCell::Text(within),
            PageCell::Text(interval(Interval { estimate: *model, lower: low, upper: high })),
            badge(check),
        ])
    }

    pub(super) fn estimates(&mut self) {
        let (document, review) = (self.document, self.review);
        let (sign, column) = (document.outcome_sign(), &document.outcome().column);
        self.page.heading("What each option is estimated to do").paragraph(&format!(
            "The estimated mean {column} of an option is its constant plus what each feature adds. A feature with a unit adds so much for each unit; a \
             level adds so much compared with the first level."
        ));
        let options = document.raw_coefficients(&review.standing.estimates);
        let mut header = vec![String::new(), "unit".to_owned()];
        header.extend(document.options().iter().cloned());
        let cases = review.per_option.iter().map(|rows| PageCell::Text(rows.to_string()));
        let mut rows = vec![
            [PageCell::Text("cases".to_owned()), PageCell::Text(String::new())]
                .into_iter()
                .chain(cases)
                .collect::<Vec<PageCell>>(),
        ];
        for (at, (name, unit)) in self.coefficient_names().into_iter().enumerate() {
            let values = options.iter().map(|option| PageCell::Text(three(sign * option[at].1)));
            rows.push([PageCell::Text(name), PageCell::Text(unit)].into_iter().chain(values).collect());
        }
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        self.page.table(&header, rows);
        self.pictures(&["estimates"]);
    }

    /// Every coefficient, with its unit.
    fn coefficient_names(&self) -> Vec<(String, String)> {
        let column = &self.document.outcome().column;
        let mut names = vec![("constant".to_owned(), column.clone())];
        for feature in self.document.features() {
            match &feature.kind {
                FeatureKind::Numeric { unit, .. } => {
                    let unit = unit.as_deref().unwrap_or("unit");
                    names.push((feature.column.clone(), format!("{column} for each {unit}")));
                }
                FeatureKind::Levels(levels) => {
                    let level = |level: &String| (format!("{} = {level}", feature.column), column.clone());
                    names.extend(levels[1..].iter().map(level));
                }
            }
        }
        names
    }

    pub(super) fn assumptions(&mut self) {
        self.page.heading("What was assumed").paragraph(
            "Everything above follows from the log and from these statements in the policy document. If one of them is wrong, so may be the answer.",
        );
        let cells = words::assumptions(self.document).into_iter().map(|(name, value, meaning)| {
            vec![PageCell::Text(name.to_owned()), PageCell::Text(value), PageCell::Text(meaning)]
        });
        self.page.table(&["assumption", "value", "what it means"], cells);
    }
}

fn scatter(check: &Check) -> Option<Vec<PageCell>> {
    let Check::Noise { option, declared, found, .. } = check else { return None };
    let cells = [option.clone(), three(*found), three(*declared)].map(PageCell::Text);
    Some(cells.into_iter().chain([badge(check)]).collect())
}

fn bend(check: &Check) -> Option<Vec<PageCell>> {
    let Check::Curvature { option, rows, p_value, largest_bend, feature, .. } = check else { return None };
    let chance =
        p_value.map_or_else(|| "–".to_owned(), |p| if p < 0.001 { "below 0.1 %".to_owned() } else { percent(p) });
    Some(vec![
        PageCell::Text(option.clone()),
        PageCell::Text(rows.to_string()),
        PageCell::Text(largest_bend.map_or_else(|| "–".to_owned(), three)),
        PageCell::Text(feature.clone().unwrap_or_else(|| "–".to_owned())),
        PageCell::Text(together(&chance)),
        badge(check),
    ])
}

fn badge(check: &Check) -> PageCell {
    let (tone, word) = if check.warning().is_some() { (Tone::Fair, "careful") } else { (Tone::Good, "fine") };
    PageCell::Badge(tone, word.to_owned())
}

fn with_unit(value: &str, unit: &str) -> String {
    if unit.is_empty() { value.to_owned() } else { together(&format!("{value} {unit}")) }
}
