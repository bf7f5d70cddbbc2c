//! The part of the first statement about the rule's cuts: [`crate::Jumps`] in SQL.

use super::checked_rows::{Part, select};
use super::first_scan::FirstScan;
use super::template::Branch;
use crate::fixed_point::ONE;
use crate::jump::{BINS, EDGE};

impl FirstScan<'_> {
    /// From the distance of every row from every cut to the powers of its distance from the start of its bin.
    pub(super) fn jump_parts(&self) -> Vec<Part> {
        vec![
            Part { name: "cuts", comment: "The rule's cuts along its running variable z.", select: self.cuts() },
            Part {
                name: "beside",
                comment: "The signed distance of every row from every cut, as a share of the span of z.",
                select: self.beside(),
            },
            Part {
                name: "sided",
                comment: "The side of a row, the option that the rule gives there, and the distance in bins.",
                select: self.sided(),
            },
            Part {
                name: "binned",
                comment: "The bin of a row. Bins count from the cut outward.",
                select: self.binned(),
            },
            Part {
                name: "inside",
                comment: "How far into its bin a row is, as a whole number, where it got the option that the rule gives.",
                select: self.inside(),
            },
            Part {
                name: "squared",
                comment: "Its square, and that of the outcome, rounded back.",
                select: self.squared(),
            },
            Part { name: "cubed", comment: "Its third power.", select: self.cubed() },
            Part { name: "powered", comment: "Its powers up to the sixth.", select: self.powered() },
        ]
    }

    fn cuts(&self) -> String {
        let sql = self.dialect();
        let Some(jumps) = self.jumps() else { return String::new() };
        let cut = |(at, cut): (usize, &crate::Cut)| {
            let (below, above) = jumps.bins_beside(cut.at);
            format!(
                "SELECT {at} AS cut, {} AS cut_at, {} AS lower_arm, {} AS upper_arm, {below} AS bins_below, {above} AS bins_above",
                sql.double(cut.at),
                cut.lower,
                cut.upper
            )
        };
        jumps.cuts().enumerate().map(cut).collect::<Vec<_>>().join("\n  UNION ALL ")
    }

    fn beside(&self) -> String {
        let sql = self.dialect();
        let (low, high) = self.jumps().map_or((0.0, 1.0), crate::Jumps::span_ends);
        let distance = format!("(z - cut_at) * {} AS signed_distance", sql.double(1.0 / (high - low)));
        let lines = ["cut", "arm", "steps", "lower_arm", "upper_arm", "bins_below", "bins_above", &distance];
        format!(
            "{}\n  FROM whole CROSS JOIN cuts\n  WHERE fault = 0 AND z >= {} AND z <= {}",
            select(&lines.map(str::to_owned)),
            sql.double(low),
            sql.double(high)
        )
    }

    fn sided(&self) -> String {
        let bins = self.dialect().double(BINS);
        let by_side = |below: &str, above: &str| format!("CASE WHEN signed_distance < 0 THEN {below} ELSE {above} END");
        let lines = [
            "cut".to_owned(),
            "arm".to_owned(),
            "steps".to_owned(),
            "signed_distance".to_owned(),
            format!("{} AS given_arm", by_side("lower_arm", "upper_arm")),
            format!("{} - 1 AS last_bin", by_side("bins_below", "bins_above")),
            format!("abs(signed_distance) * {bins} AS bins_away"),
        ];
        format!("{}\n  FROM beside", select(&lines))
    }

    fn binned(&self) -> String {
        let sql = self.dialect();
        let bin = sql.floor(&format!("bins_away + {}", sql.double(EDGE)));
        let lines = [
            "cut".to_owned(),
            "arm".to_owned(),
            "given_arm".to_owned(),
            "steps".to_owned(),
            "signed_distance".to_owned(),
            "bins_away".to_owned(),
            format!("CASE WHEN {bin} < last_bin THEN {bin} ELSE last_bin END AS bin"),
        ];
        format!("{}\n  FROM sided", select(&lines))
    }

    fn inside(&self) -> String {
        let sql = self.dialect();
        let rest = format!("bins_away - {}", sql.as_double("bin"));
        let (zero, one) = (sql.double(0.0), sql.double(1.0));
        let within = format!("CASE WHEN {rest} < {zero} THEN {zero} WHEN {rest} > {one} THEN {one} ELSE {rest} END");
        let whole = self.rounded(&format!("{within} * {}", sql.double(ONE as f64)));
        let lines = [
            "cut".to_owned(),
            "arm".to_owned(),
            "CASE WHEN signed_distance < 0 THEN -1 - bin ELSE bin END AS bin_place".to_owned(),
            format!("CASE WHEN arm = given_arm THEN {whole} END AS w_1"),
            "CASE WHEN arm = given_arm THEN steps END AS y_1".to_owned(),
        ];
        format!("{}\n  FROM binned{}", select(&lines), sql.fence())
    }

    fn squared(&self) -> String {
        let lines = [
            "cut".to_owned(),
            "arm".to_owned(),
            "bin_place".to_owned(),
            "w_1".to_owned(),
            "y_1".to_owned(),
            format!("{} AS w_2", self.times("w_1", "w_1")),
            format!("{} AS y_2", self.times("y_1", "y_1")),
        ];
        format!("{}\n  FROM inside{}", select(&lines), self.dialect().fence())
    }

    fn cubed(&self) -> String {
        let lines =
            ["cut", "arm", "bin_place", "w_1", "y_1", "w_2", "y_2", &format!("{} AS w_3", self.times("w_2", "w_1"))];
        format!("{}\n  FROM squared{}", select(&lines.map(str::to_owned)), self.dialect().fence())
    }

    fn powered(&self) -> String {
        let mut lines: Vec<String> =
            ["cut", "arm", "bin_place", "w_1", "y_1", "w_2", "y_2", "w_3"].map(str::to_owned).into();
        lines.extend([
            format!("{} AS w_4", self.times("w_2", "w_2")),
            format!("{} AS w_5", self.times("w_2", "w_3")),
            format!("{} AS w_6", self.times("w_3", "w_3")),
        ]);
        format!("{}\n  FROM cubed{}", select(&lines), self.dialect().fence())
    }

    /// The product of two whole numbers, rounded back to 26 bits.
    fn times(&self, one: &str, other: &str) -> String {
        self.dialect().shifted(&format!("{one} * {other} + {}", ONE / 2))
    }

    /// Rows, then the sums of `half.rs`: those with the power 0 are sent without their factor 2²⁶.
    pub(super) fn jump(&self) -> Branch {
        let sql = self.dialect();
        let mut numbers = vec![sql.text_of("count(*)")];
        numbers.extend((1..=6).map(|power| sql.text_of(&format!("sum(w_{power})"))));
        numbers.push(sql.text_of("sum(y_1)"));
        numbers.extend((1..=5).map(|power| sql.wide_sum(&format!("w_{power} * y_1"))));
        numbers.push(sql.text_of("sum(y_2)"));
        numbers.extend((1..=4).map(|power| sql.wide_sum(&format!("w_{power} * y_2"))));
        Branch {
            comment: "The rows of each option in each bin of each cut (part), and the sums of powers of those with the option that the rule \
                      gives. Bins below a cut are −1, −2, … outward.",
            kind: "'jump'".to_owned(),
            option: "arm".to_owned(),
            part: "cut".to_owned(),
            position: "bin_place".to_owned(),
            // Only the option that the rule gives has powers.
            numbers: format!("CASE WHEN count(w_1) = 0 THEN {} ELSE {} END", numbers[0], sql.joined(&numbers)),
            from: "powered\nGROUP BY cut, arm, bin_place".to_owned(),
        }
    }
}
